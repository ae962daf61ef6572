"""The life of a logical parent: state by event, against the design page ("ACK", "Closing", "Failed commit")."""

from __future__ import annotations

from itertools import product

import pytest

from dragoman.protocol.errors import DragomanError, IllegalTransition
from dragoman.protocol.handoff import Parent
from dragoman.protocol.parents import PARENT_TABLE, ParentEvent, RequestParents, next_state
from dragoman.protocol.statuses import ParentState

EXPECTED = {
    ("PENDING", "ACCEPT"): "ACCEPTED",
    ("PENDING", "REJECT"): "REJECTED",
    ("PENDING", "CLOSE"): "DISCARDED",
    ("ACCEPTED", "COMMIT"): "COMMITTED",
    ("ACCEPTED", "FAIL_COMMIT"): "COMMIT_FAILED",
    ("ACCEPTED", "CLOSE"): "ACCEPTED",
    ("REJECTED", "CLOSE"): "REJECTED",
    ("DISCARDED", "CLOSE"): "DISCARDED",
    ("COMMITTED", "CLOSE"): "COMMITTED",
    ("COMMIT_FAILED", "CLOSE"): "COMMIT_FAILED",
}

EVERY_PAIR = list(product(ParentState, ParentEvent))


def test_the_expectation_names_only_states_and_events_that_exist() -> None:
    pairs = {(state.value, event.value) for state, event in EVERY_PAIR}
    assert EXPECTED.keys() < pairs
    assert {event for _state, event in EXPECTED} == {event.value for event in ParentEvent}
    assert set(EXPECTED.values()) < {state.value for state in ParentState}


def test_every_state_has_a_row() -> None:
    assert set(PARENT_TABLE) == set(ParentState)


@pytest.mark.parametrize(("state", "event"), EVERY_PAIR)
def test_each_event_leads_where_the_page_says(state: ParentState, event: ParentEvent) -> None:
    following = PARENT_TABLE[state].get(event)
    assert (following and following.value) == EXPECTED.get((state.value, event.value))


@pytest.mark.parametrize(("state", "event"), [pair for pair in EVERY_PAIR if pair in EXPECTED])
def test_a_legal_event_gives_the_following_state(state: ParentState, event: ParentEvent) -> None:
    assert next_state(state, event) == EXPECTED[state.value, event.value]


@pytest.mark.parametrize(("state", "event"), [pair for pair in EVERY_PAIR if pair not in EXPECTED])
def test_an_illegal_event_is_an_error_that_names_both(state: ParentState, event: ParentEvent) -> None:
    with pytest.raises(IllegalTransition) as caught:
        next_state(state, event)
    assert isinstance(caught.value, DragomanError)
    assert (caught.value.state, caught.value.event) == (state, event)


def test_an_illegal_event_leaves_the_state_unchanged() -> None:
    parents = RequestParents((Parent("p1", 0, "one"), Parent("p2", 1, "two"), Parent("p3", 2, "three")))
    parents.reject("p2")
    parents.accept("p3", "drei")
    before = parents.states
    for place in (0, 1):
        with pytest.raises(IllegalTransition):
            parents.settle((place,), frozenset())
    assert parents.states == before == (ParentState.PENDING, ParentState.REJECTED, ParentState.ACCEPTED)


def test_the_table_cannot_be_changed() -> None:
    with pytest.raises(TypeError):
        PARENT_TABLE[ParentState.PENDING] = {}  # type: ignore[index]
    with pytest.raises(TypeError):
        PARENT_TABLE[ParentState.PENDING][ParentEvent.COMMIT] = ParentState.COMMITTED  # type: ignore[index]
