"""Meetings that a random walk finds too rarely: what has happened, and what then comes at once."""

from __future__ import annotations

import itertools

from dragoman import SimulatedDispatcher

from .operations import REQUESTS, SESSIONS, Operation, Step
from .records import Text
from .stage import Stage
from .walk import Divergence, Limits, follow, timers_of

__all__ = ["SCENES", "follow_scene"]


def _translate(
    request: str, *texts: Text, session: str = "s1", sort: str = "keys", by_hand: bool = False, owner: str = ""
) -> Operation:
    parents = tuple((f"p{place}", text) for place, text in enumerate(texts, 1))
    return "translate", request, session, f"{sort} of {owner or session}", parents, by_hand, ()


def _direct(request: str, *, session: str = "s1") -> Operation:
    return "direct", request, session, f"keys of {session}", "ab cd"


def _register(request: str, session: str) -> Operation:
    return "register", request, session, (("p1", "ab"),)


def _good(call: str, **texts: Text) -> Operation:
    return "answer", call, "texts", tuple(texts.items())


def _fails(call: str, error: str = "NETWORK_ERROR") -> Operation:
    return "answer", call, "error", error


def _after_the_first_of_two(*group: Operation) -> tuple[list[Step], Step]:
    return [[_translate("r0", "ab", "cd")], [_good("r0/1", p1="ba")]], list(group)


SCENES: dict[str, tuple[list[Step], Step]] = {
    "every end of a request": _after_the_first_of_two(
        ("cancel", "r0"), ("time_out", "r0"), _good("r0/2", p2="dc"), _fails("r0/2", "POLICY"), ("clear", "s1")
    ),
    "every end of a request without a translation": (
        [[_translate("r0", "ab")]],
        [("cancel", "r0"), ("time_out", "r0"), _good("r0/1", p1="ba"), _fails("r0/1", "POLICY")],
    ),
    "two ends and a third that comes twice": _after_the_first_of_two(
        ("cancel", "r0"), ("cancel", "r0"), ("time_out", "r0"), _good("r0/2", p2="dc")
    ),
    "the ends of one that takes no part": (
        [[_translate("r0", "ab", "cd", session="", sort="machine", owner="r0")], [_good("r0/1", p1="ba")]],
        [("cancel", "r0"), ("time_out", "r0"), _good("r0/2", p2="dc"), _fails("r0/2")],
    ),
    "answers that lead to further calls, and the ends": (
        [[_translate("r0", "ab", "cd", "ef", "gh", session="", sort="machine", owner="r0")]],
        [_good("r0/1", p1="ba"), _good("r0/2", p2="dc"), ("cancel", "r0"), _fails("r0/3", "POLICY")],
    ),
    "answers that lead to further calls in a session": (
        [[_translate("r0", "ab", "cd", "ef", "gh")]],
        [_good("r0/1", p1="ba"), _fails("r0/2", "API_KEY_INVALID"), ("time_out", "r0"), _good("r0/3", p3="fe")],
    ),
    "the ends while a retry is due": (
        [[_translate("r0", "ab")], [_fails("r0/1")]],
        [("cancel", "r0"), ("time_out", "r0"), _good("r0/1", p1="late"), ("clear", "s1")],
    ),
    "the ends of a recovery": (
        [[_translate("r0", ("ab ", "cd"), "ef")], [_good("r0/1", p1="flat"), _good("r0/2", p2=" ")]],
        [("cancel", "r0"), _good("r0/3", p1=("ba ", "dc")), _good("r0/4", p2="fe"), ("time_out", "r0")],
    ),
    "the ends while a call moves to another key": (
        [[_translate("r0", "ab", "cd")]],
        [_fails("r0/1", "API_KEY_INVALID"), _good("r0/2", p2="dc"), _good("r0/3", p1="ba"), ("cancel", "r0")],
    ),
    "a direct call and its ends": (
        [[_direct("r0")]],
        [_good("r0/1", r0="ba dc"), ("cancel", "r0"), ("time_out", "r0"), ("clear", "s1")],
    ),
    "a direct answer that violates": (
        [[_direct("r0")], [_good("r0/1", r0=" ")]],
        [_good("r0/2", r0="ba dc"), ("read", "s1", 3), _translate("r1", "ef"), ("cancel", "r0")],
    ),
    "a recovery sees no history and comes once": (
        [[_translate("r0", "ab")], [_good("r0/1", p1="ba")], [_translate("r1", "cd", "ef")]],
        [_good("r1/1", p1=" "), _good("r1/3", p1=" "), _good("r1/2", p2="fe"), ("time_out", "r1")],
    ),
    "a retry that waits while the others go on": (
        [[_translate("r0", "ab", "cd", "ef", "gh")]],
        [_fails("r0/1"), _good("r0/2", p2="dc"), _good("r0/3", p3="fe"), _good("r0/4", p4="hg")],
    ),
    "keys in a circle": (
        [[_translate("r0", "ab")], [_fails("r0/1", "API_KEY_INVALID")], [_good("r0/2", p1="ba")]],
        [_direct("r1"), _fails("r1/1", "API_KEY_INVALID"), _fails("r1/2", "API_KEY_INVALID"), ("cancel", "r1")],
    ),
    "failures in a row, and cancels among them": (
        [[_translate("r0", "ab"), _translate("r1", "cd"), _direct("r2")]],
        [("cancel", "r0"), _fails("r1/1"), _direct("r3"), _fails("r2/1")],
    ),
    "a direct call beside a translation": (
        [[_translate("r0", "ab"), _direct("r1")]],
        [_good("r0/1", p1="ba"), _good("r1/1", r1="ba dc"), ("cancel", "r0"), _translate("r2", "ef")],
    ),
    "a session that was cleared and made anew": (
        [[_direct("r0"), _translate("r1", "ab", "cd")], [("clear", "s1")], [_translate("r2", "ef")]],
        [_good("r0/1", r0="ba dc"), _good("r1/1", p1="ba"), _good("r2/1", p1="fe"), ("read", "s1", 3)],
    ),
    "two requests of one session": (
        [[_translate("r0", "ab")], [_translate("r1", "cd", "ef")], [_good("r1/1", p1="dc")]],
        [_good("r0/1", p1="ba"), _good("r1/2", p2="fe"), ("cancel", "r0"), ("time_out", "r1")],
    ),
    "the next request reads while the one before commits": (
        [[_translate("r0", "ab")], [_translate("r1", "cd")], [_good("r1/1", p1="dc")]],
        [_good("r0/1", p1="ba"), _translate("r2", "ef"), _direct("r3"), ("read", "s1", 3)],
    ),
    "two sessions": (
        [[_translate("r0", "ab")], [_translate("r1", "cd", session="s2")]],
        [_good("r0/1", p1="ba"), _good("r1/1", p1="dc"), ("clear", "s1"), ("cancel", "r1")],
    ),
    "one id for everything": (
        [],
        [_translate("r0", "ab"), _register("r0", "s2"), _direct("r0"), ("cancel", "r0")],
    ),
    "one id in two sessions and in none": (
        [],
        [
            _translate("r0", "ab"),
            _direct("r0", session="s2"),
            _translate("r0", "cd", session="", sort="machine", owner="r0"),
            _good("r0/1", p1="ba"),
        ],
    ),
    "ACKs by hand beside answers": (
        [[_translate("r0", "ab", "cd", by_hand=True)], [_good("r0/1", p1="ba")]],
        [("ack", "r0", "p1", "by hand"), _good("r0/2", p2="dc"), ("reject", "r0", "p2"), ("cancel", "r0")],
    ),
    "an ACK by hand for what fails": (
        [[_translate("r0", "ab", "cd", by_hand=True)], [_good("r0/1", p1="ba")]],
        [("ack", "r0", "p2", "by hand"), _fails("r0/2", "POLICY"), ("ack", "r0", "p1", "one"), ("time_out", "r0")],
    ),
    "an ACK in the place of the feature's": (
        [[_translate("r0", "ab", "cd")]],
        [("ack", "r0", "p1", "first"), _good("r0/1", p1="ba"), ("reject", "r0", "p2"), _good("r0/2", p2="dc")],
    ),
    "a rejection by hand, and answers that close the handle before its parent comes": (
        [[_translate("r0", "ab", "cd")]],
        [("reject", "r0", "p1"), _fails("r0/2", "POLICY"), _good("r0/1", p1="ba")],
    ),
    "the application edits and goes away": (
        [[_translate("r0", "ab", "cd")]],
        [("edit", "r0", "p1", "new"), _good("r0/1", p1="ba"), ("fail_dispatch", "r0"), _good("r0/2", p2="dc")],
    ),
    "a dispatch that fails and the ends": (
        [[_translate("r0", "ab", "cd")], [("fail_dispatch", "r0")]],
        [_good("r0/1", p1="ba"), ("cancel", "r0"), ("dispatch_failed", "r0"), _fails("r0/2", "POLICY")],
    ),
    "a commit that fails beside its causes": (
        [[_translate("r0", "ab", "cd")], [("fail_commits", "s1", 1)]],
        [_good("r0/1", p1="ba"), _good("r0/2", p2="dc"), ("read", "s1", 3), ("cancel", "r0")],
    ),
    "the switch is turned while requests begin": (
        [[_translate("r0", "ab")], [_good("r0/1", p1="ba")]],
        [("configure", False), _translate("r1", "cd"), _direct("r2"), ("configure", True)],
    ),
    "a parent in two batches, one of which fails": (
        [[_translate("r0", "gh ij kl mn op", "ab")]],
        [_fails("r0/1", "POLICY"), _good("r0/2", **{"p1.2": "po"}), _good("r0/3", p2="ba"), ("cancel", "r0")],
    ),
}


def follow_scene(name: str, *, orders: int | None, schedules: int) -> None:
    """The group in so many orders (None: in all) as listed, then under random schedules; nothing may be left."""
    before, group = SCENES[name]
    for order in itertools.islice(itertools.permutations(group), orders):
        _follow(before, list(order), 0, shuffled=False)
    for seed in range(schedules):
        _follow(before, group, seed, shuffled=True)


def _follow(before: list[Step], group: Step, seed: int, *, shuffled: bool) -> None:
    def watch(stage: Stage, following: Step) -> None:
        if not following:
            _end_everything(stage)

    follow(
        lambda _models: [*before, group],
        Limits(batch_units=1, circuit_failures=2),
        seed,
        shuffled=shuffled,
        watch=watch,
    )


def _end_everything(stage: Stage) -> None:
    """Cancel what runs and clear the sessions: from then on nothing moves, and no counter shows anything."""
    runtime, dispatcher = stage.runtime, stage.runtime.dispatcher
    assert isinstance(dispatcher, SimulatedDispatcher)
    running = runtime.snapshot().running
    over = {call.id for call in stage.provider.calls if call.request_id not in running}
    dispatcher.advance(3600 * 1_000_000)
    later = {call.id for call in stage.provider.calls if call.request_id not in running}
    if later != over:
        raise Divergence(f"calls of requests that are over: {later - over}")
    for request in REQUESTS:
        runtime.cancel(request).get()
    for session in SESSIONS:
        runtime.clear_session(session).get()
    made = len(stage.provider.calls)
    dispatcher.advance(3600 * 1_000_000)
    left = runtime.snapshot()
    if len(stage.provider.calls) != made or left.running or left.open_calls or left.open_requests or left.sessions:
        raise Divergence(f"left when everything has ended: {left}")
    if timers_of(runtime) or left.provider_tasks:
        raise Divergence(f"timers or tasks are left: {timers_of(runtime)}, {left.provider_tasks}")
