"""The life of an execution: state by event; the first cause is the only outcome (design "Cancellation and timeout")."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.protocol.executions import ENDS_FROM_OUTSIDE, EXECUTION_TABLE, ExecutionEvent, ExecutionState
from dragoman.protocol.statuses import CloseCause, ExecutionStatus

EXPECTED = {
    ("RUNNING", "COMPLETE"): "COMPLETED",
    ("RUNNING", "FAIL"): "FAILED",
    ("RUNNING", "TIME_OUT"): "FAILED",
    ("RUNNING", "CANCEL"): "CANCELLED",
}


def test_a_state_but_the_first_is_an_execution_status() -> None:
    assert {state.value for state in ExecutionState} == {"RUNNING", *ExecutionStatus}
    assert {*EXECUTION_TABLE} == {*ExecutionState}


@pytest.mark.parametrize(("state", "event"), list(product(ExecutionState, ExecutionEvent)))
def test_each_event_leads_where_the_page_says(state: ExecutionState, event: ExecutionEvent) -> None:
    assert EXECUTION_TABLE[state].get(event) == EXPECTED.get((state, event))


@given(st.lists(st.sampled_from(ExecutionEvent), min_size=1))
def test_the_first_cause_wins_in_every_order(events: list[ExecutionEvent]) -> None:
    state = ExecutionState.RUNNING
    for event in events:
        state = EXECUTION_TABLE[state].get(event, state)
    assert state == EXPECTED["RUNNING", events[0]]


@pytest.mark.parametrize(
    ("cause", "execution", "error"),
    [
        (CloseCause.CANCELLED, "CANCELLED", "USER_CANCELLED"),
        (CloseCause.TIMED_OUT, "FAILED", "TRANSLATION_TIMEOUT"),
        (CloseCause.SHUT_DOWN, "CANCELLED", "SHUT_DOWN"),
    ],
)
def test_what_ends_an_execution_from_outside_gives_its_status_and_its_error(
    cause: CloseCause, execution: str, error: str
) -> None:
    event, told = ENDS_FROM_OUTSIDE[cause]
    assert EXECUTION_TABLE[ExecutionState.RUNNING][event] == execution
    assert told == error


def test_clearing_expiry_and_passing_over_do_not_end_an_execution() -> None:
    assert {*ENDS_FROM_OUTSIDE} == {CloseCause.CANCELLED, CloseCause.TIMED_OUT, CloseCause.SHUT_DOWN}


def test_the_tables_cannot_be_changed() -> None:
    with pytest.raises(TypeError):
        EXECUTION_TABLE[ExecutionState.FAILED] = {}  # type: ignore[index]
    with pytest.raises(TypeError):
        EXECUTION_TABLE[ExecutionState.FAILED][ExecutionEvent.COMPLETE] = ExecutionState.COMPLETED  # type: ignore[index]
    with pytest.raises(TypeError):
        ENDS_FROM_OUTSIDE[CloseCause.CLEARED] = (ExecutionEvent.CANCEL, "")  # type: ignore[index]
