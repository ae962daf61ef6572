"""Attempts and keys of a batch (language page "Retries", design "Attempts", C7, C12)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.protocol.batches import Ask, BatchState, Failed, Resolved, Retry
from dragoman.protocol.calls import Completion
from dragoman.protocol.outcomes import DiagnosticCode
from dragoman.protocol.statuses import CallFormat, Termination

from .scripted import ROWS, answer, batch, failing

MOVES_ON = ("API_KEY_INVALID", "QUOTA_EXCEEDED", "INSUFFICIENT_BALANCE", "RATE_LIMIT_REACHED")


def asked(step: object) -> Ask:
    assert isinstance(step, Ask)
    return step


@pytest.mark.parametrize(("error", "attempts"), ROWS.items())
def test_an_error_that_comes_again_and_again_gets_the_attempts_of_its_row(error: str, attempts: int) -> None:
    run = batch("a", "b")
    for attempt in range(1, attempts):
        asked(run.start())
        assert failing(run, error) == Retry(attempt)
        assert run.state is BatchState.WAITING
    asked(run.start())
    assert failing(run, error) == Failed(error)
    assert (run.state, run.attempt) == (BatchState.FAILED, attempts)


@given(st.lists(st.sampled_from(sorted(ROWS)), min_size=6, max_size=6))
def test_the_row_of_the_last_error_decides(errors: list[str]) -> None:
    run = batch("a")
    for attempt, error in enumerate(errors, 1):
        run.start()
        step = failing(run, error)
        assert run.attempt == attempt
        if attempt >= ROWS[error]:
            assert step == Failed(error)
            return
        assert step == Retry(attempt)
    pytest.fail("no row gives six attempts")


def test_an_attempt_asks_for_the_whole_batch_anew() -> None:
    run = batch("a", "b")
    first = asked(run.start())
    failing(run, "NETWORK_ERROR")
    assert run.start() == first == Ask(run.units, CallFormat.STRUCTURED, recovers=False)


def test_a_good_answer_resolves_every_unit() -> None:
    run = batch("b", "a")
    ask = asked(run.start())
    assert run.answered(answer(ask)) == Resolved((("b", ("B",)), ("a", ("A",))), recovered=False)
    assert run.open_ask is None


@pytest.mark.parametrize("termination", list(Termination))
def test_termination_does_not_decide_about_a_valid_answer(termination: Termination) -> None:
    run = batch("a")
    ask = asked(run.start())
    assert isinstance(run.answered(answer(ask, termination=termination)), Resolved)


@pytest.mark.parametrize("error", MOVES_ON)
@given(keys=st.integers(1, 5), data=st.data())
def test_keys_are_tried_in_a_circle_each_once_from_the_one_it_began_with(
    error: str, keys: int, data: st.DataObject
) -> None:
    first = data.draw(st.integers(1, keys))
    run = batch("a", "b", keys=keys)
    begun = asked(run.start())
    assert begun.key is None
    step, tried = failing(run, error, first), [first]
    while isinstance(step, Ask):
        assert (step.units, step.format, step.recovers) == (begun.units, begun.format, begun.recovers)
        assert step.key is not None
        tried.append(step.key)
        assert run.attempt == 1
        step = failing(run, error, step.key)
    assert tried == [(first - 1 + place) % keys + 1 for place in range(keys)]
    assert step == (Retry(1) if ROWS[error] > 1 else Failed(error))
    assert run.failed_over == (keys > 1)


@pytest.mark.parametrize("error", sorted({*ROWS} - {*MOVES_ON}))
def test_any_other_error_stays_with_its_key(error: str) -> None:
    run = batch("a", keys=3)
    run.start()
    assert not isinstance(failing(run, error), Ask)
    assert not run.failed_over


@pytest.mark.parametrize("error", ["NETWORK_ERROR", "VALIDATION"])
def test_an_error_on_the_next_key_goes_by_its_own_row(error: str) -> None:
    run = batch("a", keys=3)
    run.start()
    assert failing(run, "API_KEY_INVALID", 2) == Ask(run.units, CallFormat.STRUCTURED, recovers=False, key=3)
    assert failing(run, error, 3) == (Retry(1) if ROWS[error] > 1 else Failed(error))


def test_each_attempt_tries_all_the_keys_again() -> None:
    run = batch("a", keys=2)
    for attempt in (1, 2):
        assert asked(run.start()).key is None
        assert asked(failing(run, "QUOTA_EXCEEDED", 2)).key == 1
        assert failing(run, "QUOTA_EXCEEDED", 1) == Retry(attempt)


def test_a_call_that_was_to_move_on_has_moved_only_when_it_is_made() -> None:
    run = batch("a", keys=2)
    run.start()
    asked(failing(run, "RATE_LIMIT_REACHED", 1))
    assert not run.failed_over
    run.placed(2)
    assert run.failed_over


def test_failover_is_remembered_through_later_attempts() -> None:
    run = batch("a", keys=2)
    run.start()
    asked(failing(run, "RATE_LIMIT_REACHED", 1))
    failing(run, "NETWORK_ERROR", 2)
    run.start()
    run.placed(1)
    assert run.failed_over


def test_a_call_that_was_never_made_moves_to_no_other_key() -> None:
    run = batch("a", keys=2)
    run.start()
    assert run.failed("CIRCUIT_BREAKER_OPEN") == Failed("CIRCUIT_BREAKER_OPEN")


@pytest.mark.parametrize("direct", [False, True])
@pytest.mark.parametrize("kind", ["ai", "machine"])
def test_a_unit_longer_than_the_provider_takes_fails_before_any_call(kind: str, direct: bool) -> None:
    run = batch("a", "bb", direct=direct, kind=kind, max_chars=len("source of a"))
    assert run.start() == Failed("TEXT_TOO_LONG")
    assert (run.state, run.attempt, run.open_ask) == (BatchState.FAILED, 0, None)
    assert [note.code for note in run.take_notes()] == [DiagnosticCode.BATCH_FAILED]


def test_a_unit_as_long_as_the_provider_takes_is_sent() -> None:
    asked(batch("a", "b", max_chars=len("source of a")).start())


@pytest.mark.parametrize(
    ("kind", "direct", "wanted"),
    [
        ("ai", False, CallFormat.STRUCTURED),
        ("ai", True, CallFormat.SCALAR),
        ("machine", False, CallFormat.TEXTS),
        ("machine", True, CallFormat.TEXTS),
    ],
)
def test_the_format_is_that_of_the_provider_and_the_path(kind: str, direct: bool, wanted: CallFormat) -> None:
    run = batch("a", kind=kind, direct=direct)
    ask = asked(run.start())
    assert ask == Ask(run.units, wanted, recovers=False)
    assert run.answered(answer(ask)) == Resolved((("a", ("A",)),), recovered=False)


@pytest.mark.parametrize("texts", [("A",), ("A", "B", "C"), ("A", " "), None])
def test_a_machine_provider_gets_no_recovery_pass(texts: tuple[str, ...] | None) -> None:
    run = batch("a", "b", kind="machine")
    run.start()
    run.placed(1)
    assert run.answered(Completion(texts=texts)) == Retry(1)
    run.start()
    run.placed(1)
    assert run.answered(Completion(texts=texts)) == Failed("API_RESPONSE_INVALID")


def test_the_notes_tell_what_happened_once_and_in_order() -> None:
    run = batch("a", keys=2)
    run.start()
    failing(run, "RATE_LIMIT_REACHED", 1)
    failing(run, "NETWORK_ERROR", 2)
    notes = run.take_notes()
    assert [(note.code.value, note.subject, note.detail) for note in notes] == [
        ("CALL_FAILED", "batch 7", "RATE_LIMIT_REACHED"),
        ("FAILOVER", "batch 7", "RATE_LIMIT_REACHED"),
        ("CALL_FAILED", "batch 7", "NETWORK_ERROR"),
        ("RETRIED", "batch 7", "NETWORK_ERROR"),
    ]
    assert not run.take_notes()
