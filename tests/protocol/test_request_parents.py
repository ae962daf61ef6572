"""Which parents of a request commit, in which order, and at what cost (design "Order within a request", C15)."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from types import FrameType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.protocol import parents as module
from dragoman.protocol.handoff import Parent
from dragoman.protocol.parents import RequestParents
from dragoman.protocol.statuses import ParentState

from ..strategies import acknowledgements
from ..strategies import parents as known_parents

Acks = tuple[tuple[Parent, ...], list[tuple[int, bool]]]


def acknowledge(parents: RequestParents, known: Sequence[Parent], place: int, accepts: bool) -> None:
    if accepts:
        assert parents.accept(known[place].id, f"result {place}") == "ACCEPTED"
    else:
        assert parents.reject(known[place].id) == "REJECTED"


def commit(parents: RequestParents, failing: frozenset[int] = frozenset()) -> tuple[str, ...]:
    """One commit pass, in which the turns at the places `failing` cannot be written."""
    run = parents.due()
    return parents.settle(run, frozenset(position for position, place in enumerate(run) if place in failing))


@given(acknowledgements())
def test_a_parent_commits_with_the_ack_that_settles_all_before_it(acks: Acks) -> None:
    known, order = acks
    parents = RequestParents(known)
    given_acks: dict[int, bool] = {}
    committed: list[str] = []
    for place, accepts in order:
        acknowledge(parents, known, place, accepts)
        given_acks[place] = accepts
        committed += commit(parents)
        prefix = next((at for at in range(len(known)) if at not in given_acks), len(known))
        assert committed == [known[at].id for at in range(prefix) if given_acks[at]]


@given(acknowledgements())
def test_a_request_that_had_to_wait_commits_everything_at_once_in_source_order(acks: Acks) -> None:
    known, order = acks
    parents = RequestParents(known)
    for place, accepts in order:
        acknowledge(parents, known, place, accepts)
    accepted = {place for place, accepts in order if accepts}
    assert commit(parents) == tuple(known[place].id for place in sorted(accepted))
    assert commit(parents) == ()
    assert parents.settled


@given(acknowledgements(), st.sets(st.integers(0, 11)))
def test_a_failed_commit_stops_nothing_behind_it(acks: Acks, failing: set[int]) -> None:
    known, order = acks
    parents = RequestParents(known)
    committed: list[str] = []
    for place, accepts in order:
        acknowledge(parents, known, place, accepts)
        committed += commit(parents, frozenset(failing))
    accepted = {place for place, accepts in order if accepts}
    assert committed == [known[place].id for place in sorted(accepted - failing)]
    for place, state in enumerate(parents.states):
        kept = "COMMIT_FAILED" if place in failing else "COMMITTED"
        assert state == (kept if place in accepted else "REJECTED")


@given(acknowledgements())
def test_what_is_due_holds_the_texts_of_the_ack(acks: Acks) -> None:
    known, order = acks
    parents = RequestParents(known)
    for place, accepts in order:
        acknowledge(parents, known, place, accepts)
    for place in parents.due():
        assert parents.texts(place) == (known[place].id, known[place].source, f"result {place}")


@given(acknowledgements(), st.integers(0, 12))
def test_closing_discards_what_is_pending_and_keeps_every_other_state(acks: Acks, heard: int) -> None:
    known, order = acks
    parents = RequestParents(known)
    for place, accepts in order[:heard]:
        acknowledge(parents, known, place, accepts)
        commit(parents)
    before = parents.states
    parents.close()
    assert parents.states == tuple(ParentState.DISCARDED if state is ParentState.PENDING else state for state in before)
    assert parents.ids == tuple(parent.id for parent in known)


@given(acknowledgements())
def test_a_request_holds_something_back_until_its_last_commit(acks: Acks) -> None:
    known, order = acks
    parents = RequestParents(known)
    for place, accepts in order:
        assert not parents.settled
        acknowledge(parents, known, place, accepts)
    assert parents.settled == (not any(accepts for _place, accepts in order))


def texts_within(value: object) -> Iterator[str]:
    """Every text that is reached from `value` through containers and slots."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from texts_within([*value.keys(), *value.values()])
    elif isinstance(value, list | tuple | set | frozenset):
        for item in value:
            yield from texts_within(item)
    else:
        for name in getattr(type(value), "__slots__", ()):
            yield from texts_within(getattr(value, name, None))


@given(known_parents())
def test_the_place_of_a_parent_is_its_place_in_source_order(known: tuple[Parent, ...]) -> None:
    found = RequestParents(known)
    assert [found.place_of(parent.id) for parent in known] == list(range(len(known)))
    with pytest.raises(KeyError):
        found.place_of("no such parent")


def test_closing_releases_every_text() -> None:
    parents = RequestParents((Parent("p1", 0, "canary one"), Parent("p2", 1, "canary two")))
    parents.accept("p2", "canary zwei")
    assert sum("canary" in text for text in texts_within(parents)) == 3
    parents.close()
    assert not any("canary" in text for text in texts_within(parents))
    assert parents.states == (ParentState.DISCARDED, ParentState.ACCEPTED)


class CountingParents(Sequence[Parent]):
    """Counts how often a parent is looked at."""

    def __init__(self, count: int) -> None:
        self._parents = [Parent(f"p{place}", place, "text") for place in range(count)]
        self.looked_at = 0

    def __len__(self) -> int:
        return len(self._parents)

    def __getitem__(self, place: Any) -> Any:
        self.looked_at += 1
        return self._parents[place]


def lines_run(act: Callable[[], None]) -> int:
    """How many lines of the module under test `act` runs."""
    count = 0

    def trace(frame: FrameType, event: str, _argument: object) -> Any:
        nonlocal count
        if frame.f_code.co_filename != module.__file__:
            return None
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        act()
    finally:
        sys.settrace(before)
    return count


def work(count: int, order: Sequence[int]) -> tuple[int, int]:
    """Parents looked at and lines run for a request of `count` parents whose ACKs come in `order`."""
    known = CountingParents(count)

    def act() -> None:
        parents = RequestParents(known)
        for place in order:
            parents.accept(f"p{place}", "text")
            commit(parents)
        assert parents.settled

    lines = lines_run(act)
    return known.looked_at, lines


def test_the_work_is_linear_in_the_parents_whatever_the_order_of_the_acks() -> None:
    def orders(count: int) -> Iterator[Sequence[int]]:
        forwards = range(count)
        yield forwards
        yield forwards[::-1]
        yield [*forwards[1::2], *forwards[::2]]
        yield sorted(forwards, key=lambda place: place * 7919 % 104729)

    for short, long in zip(orders(50), orders(500), strict=True):
        looked_at, lines = work(50, short)
        looked_at_tenfold, lines_tenfold = work(500, long)
        assert looked_at_tenfold <= 10 * looked_at
        assert lines_tenfold <= 11 * lines
