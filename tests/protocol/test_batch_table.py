"""The life of a batch: state by event, in its table and in a run that has come to each state (style, habit 2)."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import pytest

from dragoman.protocol.batches import BATCH_TABLE, BatchEvent, BatchRun, BatchState
from dragoman.protocol.errors import IllegalTransition

from .scripted import BROKEN, answer, batch, failing

EXPECTED = {
    ("QUEUED", "START"): "PRIMARY",
    ("QUEUED", "FAIL"): "FAILED",
    ("PRIMARY", "RECOVER_SELECTIVELY"): "SELECTIVE_RECOVERY",
    ("PRIMARY", "RECOVER_FULLY"): "FULL_RECOVERY",
    ("PRIMARY", "RETRY"): "WAITING",
    ("PRIMARY", "RESOLVE"): "RESOLVED",
    ("PRIMARY", "FAIL"): "FAILED",
    ("SELECTIVE_RECOVERY", "RETRY"): "WAITING",
    ("SELECTIVE_RECOVERY", "RESOLVE"): "RESOLVED",
    ("SELECTIVE_RECOVERY", "FAIL"): "FAILED",
    ("FULL_RECOVERY", "RETRY"): "WAITING",
    ("FULL_RECOVERY", "RESOLVE"): "RESOLVED",
    ("FULL_RECOVERY", "FAIL"): "FAILED",
    ("WAITING", "START"): "PRIMARY",
}

EVERY_PAIR = list(product(BatchState, BatchEvent))

ACTS: dict[str, Callable[[BatchRun], object]] = {
    "start": lambda run: run.start(),
    "answered": lambda run: run.answered(BROKEN),
    "failed": lambda run: run.failed("NETWORK_ERROR"),
}

LEGAL = {
    "QUEUED": {"start"},
    "PRIMARY": {"answered", "failed"},
    "SELECTIVE_RECOVERY": {"answered", "failed"},
    "FULL_RECOVERY": {"answered", "failed"},
    "WAITING": {"start"},
    "RESOLVED": set(),
    "FAILED": set(),
}


EVERY_ACT = list(product(BatchState, ACTS))


def come_to(state: BatchState) -> BatchRun:
    """A batch of two units that has come to `state`."""
    run = batch("a", "b")
    if state is BatchState.QUEUED:
        return run
    ask = run.start()
    match state:
        case BatchState.SELECTIVE_RECOVERY:
            run.answered(answer(ask, {"b": None}))  # type: ignore[arg-type]
        case BatchState.FULL_RECOVERY:
            run.answered(BROKEN)
        case BatchState.WAITING:
            failing(run, "NETWORK_ERROR")
        case BatchState.RESOLVED:
            run.answered(answer(ask))  # type: ignore[arg-type]
        case BatchState.FAILED:
            failing(run, "VALIDATION")
    assert run.state is state
    return run


def test_the_expectation_names_only_states_and_events_that_exist() -> None:
    assert EXPECTED.keys() < {(state.value, event.value) for state, event in EVERY_PAIR}
    assert {event for _state, event in EXPECTED} == {event.value for event in BatchEvent}
    assert {*LEGAL} == {state.value for state in BatchState} == {*BATCH_TABLE}


@pytest.mark.parametrize(("state", "event"), EVERY_PAIR)
def test_each_event_leads_where_it_should(state: BatchState, event: BatchEvent) -> None:
    assert BATCH_TABLE[state].get(event) == EXPECTED.get((state, event))


def test_the_table_cannot_be_changed() -> None:
    with pytest.raises(TypeError):
        BATCH_TABLE[BatchState.FAILED] = {}  # type: ignore[index]
    with pytest.raises(TypeError):
        BATCH_TABLE[BatchState.FAILED][BatchEvent.START] = BatchState.PRIMARY  # type: ignore[index]


@pytest.mark.parametrize(("state", "act"), [pair for pair in EVERY_ACT if pair[1] in LEGAL[pair[0]]])
def test_what_may_happen_in_a_state_is_taken(state: BatchState, act: str) -> None:
    ACTS[act](come_to(state))


@pytest.mark.parametrize(("state", "act"), [pair for pair in EVERY_ACT if pair[1] not in LEGAL[pair[0]]])
def test_what_may_not_happen_in_a_state_is_an_error_and_changes_nothing(state: BatchState, act: str) -> None:
    run = come_to(state)
    before = (run.attempt, run.open_ask, tuple(run.notes))
    with pytest.raises(IllegalTransition) as caught:
        ACTS[act](run)
    assert caught.value.state is state
    assert run.state is state
    assert (run.attempt, run.open_ask, tuple(run.notes)) == before


@pytest.mark.parametrize("act", ["answered", "failed"])
def test_a_call_is_answered_once(act: str) -> None:
    run = batch("a")
    ask = run.start()
    run.answered(answer(ask))  # type: ignore[arg-type]
    with pytest.raises(IllegalTransition):
        ACTS[act](run)


def test_a_batch_that_has_not_started_again_takes_no_answer_of_the_attempt_before() -> None:
    run = batch("a")
    ask = run.start()
    failing(run, "NETWORK_ERROR")
    with pytest.raises(IllegalTransition):
        run.answered(answer(ask))  # type: ignore[arg-type]
    assert run.start() == ask
