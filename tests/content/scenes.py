"""Meetings that a random walk finds too rarely: what has happened, and what then comes at once."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from .operations import Operation
from .walk import SESSION_TTL, Limits, Step, Walk, agreement, follow

__all__ = ["SCENES", "follow_scene"]

TIGHT = Limits(max_entries=2, max_bytes=64, total_bytes=10**6)
WAITING_BYTES = Limits(max_bytes=64)
NESTED = Limits(max_entries=3, max_bytes=64, total_bytes=10**6, capture_nested=True)


def _call(call: str, value: str = "short", *, session: str = "s1", depth: int = 0, keep: bool = False) -> Operation:
    return "record", session, call, depth, keep, False, value


def _error(call: str, *, depth: int = 0) -> Operation:
    return "record", "s1", call, depth, False, True, "short"


def _fetch(name: str, session: str = "s1") -> Operation:
    return "fetch", session, name


def _refer(child: str) -> Operation:
    return "refer", "s1", "c9", child


def _follow(say: str = "the last answer", named: str | None = None, max_bytes: int | None = None) -> Operation:
    return "follow", "s1", say if named is None else f"show {named}", named, max_bytes


def _applied(proposal: str, **change: Any) -> list[Step]:
    return [(0, [operation]) for operation in (*agreement(proposal, change), ("apply", proposal, "ines"))]


def _agreed(proposal: str, **change: Any) -> list[Step]:
    return [(0, [operation]) for operation in agreement(proposal, change)]


def _one_by_one(*operations: Operation) -> list[Step]:
    return [(0, [operation]) for operation in operations]


def _register(request: str, *parents: str, session: str = "s1") -> Operation:
    return "register", request, session, parents


def _ack(request: str, parent: str = "p1", text: str = "ab") -> Operation:
    return "ack", request, parent, text


SCENES: dict[str, tuple[Limits, list[Step], list[Operation]]] = {
    "more bytes than may wait, and a value over the quarter": (
        WAITING_BYTES,
        _one_by_one(_call("c1", depth=1), _call("c2", "list", depth=1)),
        [_call("c3", "long", depth=1), _call("c4", "empty text", depth=1), _refer("c1"), _refer("c2")],
    ),
    "one id for two proposals": (
        TIGHT,
        [],
        [
            ("propose", "q0", (("store_max_entries", 1),), "seen in the field"),
            ("propose", "q0", (("store_max_entries", 5),), "seen in the field"),
            ("approve", "q0", "mira"),
            ("approve", "q0", "scout"),
        ],
    ),
    "one who decides alone": (
        TIGHT,
        _one_by_one(("propose", "q0", (("store_max_entries", 0),), "seen in the field"), _call("c1")),
        [("approve", "q0", "mira"), ("acknowledge", "q0", "mira"), ("apply", "q0", "mira"), _fetch("c1")],
    ),
    "a failed call that was captured": (
        Limits(capture_errors=True),
        _one_by_one(_error("c1")),
        [_follow(named="c1"), _fetch("c1"), _follow(), _call("c2")],
    ),
    "a hit saves its session, and a call needs its place": (
        Limits(max_sessions=2),
        _one_by_one(_call("c1"), _call("c1", session="s2")),
        [_fetch("c1"), _call("c1", session="s3"), _fetch("c1", "s2"), _follow(max_bytes=0)],
    ),
    "a smaller limit, and what waits": (
        WAITING_BYTES,
        [*_one_by_one(_call("c1", depth=1), _call("c2", "list", depth=1)), *_agreed("q0", store_max_bytes=20)],
        [("apply", "q0", "ines"), _refer("c1"), _call("c3", "zero", depth=1), _refer("c2")],
    ),
    "a life time that is over as soon as it is in force": (
        Limits(max_entries=5),
        [
            *_one_by_one(_call("c1")),
            (500_000, [_call("c2")]),
            *_agreed("q0", store_ttl=0.3),
            *_agreed("q1", store_ttl=None),
        ],
        [("apply", "q0", "ines"), _fetch("c1"), ("apply", "q1", "mira"), _fetch("c2")],
    ),
    "the life time of a child counts from its reference": (
        Limits(ttl=0.7),
        [*_one_by_one(_call("c1", depth=1)), (400_000, [_refer("c1")]), (400_000, [])],
        [_fetch("c1"), _refer("c1"), _call("c2")],
    ),
    "a reference is refused, and later it is not": (
        Limits(max_bytes=400),
        [
            *_one_by_one(_error("c1", depth=1), _refer("c1"), _call("c2", "huge", depth=1)),
            *_applied("q0", store_total_bytes=50),
            *_one_by_one(_refer("c2")),
            *_agreed("q1", store_total_bytes=10**6, capture_errors=True),
        ],
        [("apply", "q1", "ines"), _refer("c1"), _refer("c2"), _fetch("c2")],
    ),
    "smaller bounds of each session and of all": (
        Limits(max_entries=5, max_bytes=200, total_bytes=10**6),
        [
            *_one_by_one(_call("c1", session="s2"), _call("c1", "long"), _call("c2", "long")),
            *_agreed("q0", store_max_bytes=20, store_total_bytes=24),
        ],
        [("apply", "q0", "ines"), _fetch("c1", "s2"), _fetch("c1"), _fetch("c2")],
    ),
    "nothing is kept": (
        Limits(enabled=False),
        _one_by_one(_register("r1", "p1"), _call("c1", depth=1)),
        [_ack("r1"), _error("c2"), _refer("c1"), _fetch("r1/p1")],
    ),
    "two references to one child and a look-up": (
        TIGHT,
        _one_by_one(_call("c1", depth=1)),
        [_refer("c1"), _fetch("c1"), _refer("c1")],
    ),
    "one id for two calls, and who asks for it": (
        TIGHT,
        [],
        [_call("c1", "list"), _call("c1", "umlauts"), _fetch("c1"), _follow()],
    ),
    "a nested call, its reference and another of its id": (
        TIGHT,
        [],
        [_call("c1", depth=1), _refer("c1"), _call("c1"), _fetch("c1")],
    ),
    "a read saves one entry from two that need room": (
        TIGHT,
        _one_by_one(_call("c1"), _call("c2")),
        [_fetch("c1"), _call("c3"), _fetch("c2"), _call("c4")],
    ),
    "nested ones make room for each other and for the top": (
        NESTED,
        _one_by_one(_call("c1"), _call("c2", depth=1), _call("c3", depth=2)),
        [_call("c4", depth=1), _call("c5"), _fetch("c2"), _fetch("c3")],
    ),
    "a nested write into a store full of the top": (
        NESTED,
        _one_by_one(_call("c1"), _call("c2"), _call("c3")),
        [_call("c4", depth=1), _fetch("c1"), _fetch("c4"), _call("c5", depth=1)],
    ),
    "a session is cleared among its calls": (
        TIGHT,
        _one_by_one(_call("c1"), _register("r1", "p1")),
        [("clear", "s1"), _call("c2"), _fetch("c1"), _ack("r1")],
    ),
    "a session is cleared twice among its look-ups": (
        TIGHT,
        _one_by_one(_call("c1")),
        [("clear", "s1"), _follow(), ("clear", "s1"), _fetch("c1")],
    ),
    "a follow-up saves its session, a miss and a summary do not": (
        Limits(max_sessions=2),
        _one_by_one(_call("c1"), _call("c1", session="s2")),
        [_follow(max_bytes=0), _fetch("c9"), _call("c1", session="s3"), _fetch("c1")],
    ),
    "an open handle keeps its session": (
        Limits(max_sessions=1),
        _one_by_one(_register("r1", "p1")),
        [_call("c1", session="s2"), ("cancel", "r1"), _call("c1"), _ack("r1")],
    ),
    "turns among calls": (
        TIGHT,
        _one_by_one(_register("r1", "p1", "p2"), _ack("r1", "p2")),
        [_ack("r1", "p1"), _call("c1"), _fetch("r1/p1"), ("read", "s1")],
    ),
    "a turn that is too large, and one that is not": (
        Limits(max_bytes=8),
        _one_by_one(_register("r1", "p1"), _register("r2", "p1")),
        [_ack("r1", "p1", "long " * 4), _fetch("r1/p1"), _ack("r2"), ("read", "s1")],
    ),
    "one name for a turn and a call": (
        TIGHT,
        _one_by_one(_register("r1", "p1")),
        [_ack("r1"), _call("r1/p1", "umlauts"), _fetch("r1/p1"), _follow(named="r1/p1")],
    ),
    "a request of that name once more": (
        TIGHT,
        _one_by_one(_register("r1", "p1"), _ack("r1"), _register("r1", "p1")),
        [_ack("r1", text="äö"), _fetch("r1/p1"), ("read", "s1"), _call("c1")],
    ),
    "a smaller limit among calls": (
        Limits(max_entries=5, max_bytes=200, total_bytes=10**6),
        [*_one_by_one(_call("c1"), _call("c2"), _call("c3")), *_agreed("q0", store_max_entries=1)],
        [("apply", "q0", "ines"), _call("c4"), _fetch("c1"), ("apply", "q0", "mira")],
    ),
    "a smaller bound over all sessions": (
        Limits(max_entries=5, max_bytes=200, total_bytes=10**6),
        [
            *_one_by_one(_call("c1", "long"), _call("c1", "long", session="s2"), _call("c2", "long")),
            *_agreed("q0", store_total_bytes=50),
        ],
        [("apply", "q0", "ines"), _fetch("c1"), _call("c2", session="s2"), _fetch("c1", "s2")],
    ),
    "a change of something else leaves the life time as it was": (
        Limits(ttl=0.7),
        [*_one_by_one(_call("c1")), *_agreed("q0", capture_nested=True)],
        [("apply", "q0", "ines"), _call("c2", depth=1), _fetch("c1")],
    ),
    "captured from now on": (
        TIGHT,
        [*_one_by_one(_error("c1", depth=1)), *_agreed("q0", capture_errors=True, capture_nested=True)],
        [("apply", "q0", "ines"), _refer("c1"), _error("c2"), _call("c3", depth=1)],
    ),
    "three who decide": (
        TIGHT,
        _one_by_one(("propose", "q0", (("store_max_entries", 0),), "seen in the field")),
        [("approve", "q0", "mira"), ("refuse", "q0", "tomas"), ("acknowledge", "q0", "ines"), ("apply", "q0", "mira")],
    ),
    "more values than may wait": (
        Limits(max_bytes=200, max_entries=40),
        _one_by_one(*(_call(f"n{number}", "zero", depth=1) for number in range(32))),
        [_call("n32", "zero", depth=1), _refer("n0"), _refer("n1"), _call("n33", "zero", depth=1)],
    ),
    "a record that leaves takes along what waits": (
        Limits(max_call_records=2),
        _one_by_one(_call("c1", depth=1), _call("c2", depth=1)),
        [_call("c3"), _refer("c1"), _refer("c2"), _fetch("c2")],
    ),
    "a record leaves, and its id comes again": (
        Limits(max_call_records=1),
        _one_by_one(_call("c1"), _call("c2")),
        [_call("c1", "list"), _fetch("c1"), _follow(named="c1"), _call("c2", "list")],
    ),
    "what was evicted, until it is forgotten": (
        Limits(max_entries=1, max_bytes=64, total_bytes=10**6),
        _one_by_one(*(_call(f"c{number}") for number in range(1, 6))),
        [_fetch("c1"), _call("c6"), _call("c7"), _fetch("c2")],
    ),
    "a read does not lengthen a life": (
        Limits(ttl=0.7),
        [*_one_by_one(_call("c1"), _call("c2")), (700_000, [_fetch("c1")]), (1, [])],
        [_fetch("c1"), _fetch("c2"), _follow()],
    ),
    "a session and its content end at one instant": (
        Limits(ttl=SESSION_TTL / 1e6),
        [*_one_by_one(_call("c1"), _call("c1", session="s2")), (SESSION_TTL, [_fetch("c1")]), (1, [])],
        [_fetch("c1"), _fetch("c1", "s2"), _call("c2")],
    ),
    "a life time of nothing": (
        Limits(ttl=0),
        [],
        [_call("c1"), _fetch("c1"), _call("c2", session="s2"), _follow()],
    ),
    "a change that is applied after another": (
        Limits(ttl=0.7),
        [*_one_by_one(_call("c1")), *_applied("q0", store_ttl=1.1), (900_000, []), *_agreed("q1", store_ttl=0.7)],
        [_fetch("c1"), ("apply", "q1", "ines"), _call("c2"), _fetch("c2")],
    ),
}


def follow_scene(name: str, *, orders: int | None, schedules: int) -> None:
    """The group in so many orders (None: in all) as listed, then under random schedules."""
    limits, before, group = SCENES[name]
    for order in itertools.islice(itertools.permutations(group), orders):
        _play(limits, before, list(order), 0, shuffled=False)
    for seed in range(schedules):
        _play(limits, before, group, seed, shuffled=True)


def _play(limits: Limits, before: list[Step], group: list[Operation], seed: int, *, shuffled: bool) -> None:
    def steps(_walking: Walk) -> Iterator[Step]:
        yield from before
        yield 0, group

    follow(steps, limits, seed, shuffled=shuffled)
