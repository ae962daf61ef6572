"""The one recovery pass of an attempt: selective or full, and atomic (language page "Recovery", C5, C6)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.protocol.batches import Ask, BatchRun, BatchState, Failed, Resolved, Retry, Step
from dragoman.protocol.calls import Completion
from dragoman.protocol.statuses import CallFormat, Termination
from dragoman.protocol.verdicts import Violation

from .scripted import BROKEN, ROWS, answer, batch

DOUBLED = Completion('[{"id": "a", "text": "A"}, {"id": "a", "text": "A"}, {"id": "b", "text": "B"}]')
UNKNOWN = Completion('[{"id": "a", "text": "A"}, {"id": "x", "text": "B"}]')
NOTHING_VALID = Completion('[{"id": "a", "text": " "}, {"id": "b", "text": 5}]')


def asked(step: object) -> Ask:
    assert isinstance(step, Ask)
    return step


def recovering(run: BatchRun, first: Completion | None = None) -> Ask:
    """The first call of the recovery after an answer that, if it is not given, lacks unit b."""
    ask = asked(run.start())
    run.placed(1)
    recovery = asked(run.answered(first or answer(ask, {"b": None})))
    run.placed(1)
    assert recovery.recovers
    assert recovery.key is None
    return recovery


def test_the_invalid_units_are_asked_for_again_while_a_valid_one_stays() -> None:
    run = batch("a", "b", "c", "d")
    ask = asked(run.start())
    recovery = asked(run.answered(answer(ask, {"b": None, "d": "\n"})))
    assert recovery == Ask(
        (run.units[1], run.units[3]),
        CallFormat.STRUCTURED,
        recovers=True,
        repair=(("b", Violation.MISSING), ("d", Violation.BLANK)),
    )
    assert run.state is BatchState.SELECTIVE_RECOVERY
    assert run.answered(answer(recovery, mark="!")) == Resolved(
        (("a", ("A",)), ("b", ("B!",)), ("c", ("C",)), ("d", ("D!",))), recovered=True
    )


@pytest.mark.parametrize(
    "body", [BROKEN, DOUBLED, UNKNOWN, NOTHING_VALID], ids=["broken", "doubled", "unknown", "none"]
)
def test_an_unsafe_mapping_and_a_body_without_a_valid_unit_are_recovered_unit_by_unit(body: Completion) -> None:
    run = batch("a", "b")
    recovery = recovering(run, body)
    assert run.state is BatchState.FULL_RECOVERY
    for unit, last in zip(run.units, (False, True), strict=True):
        assert (recovery.units, recovery.format, recovery.recovers) == ((unit,), CallFormat.SCALAR, True)
        assert {unit_id for unit_id, _violation in recovery.repair} == {unit.id}
        step = run.answered(answer(recovery))
        if not last:
            recovery = asked(step)
    assert step == Resolved((("a", ("A",)), ("b", ("B",))), recovered=True)


def test_the_policy_full_recovers_every_unit_the_valid_ones_too() -> None:
    run = batch("a", "b", recovery="full")
    first = recovering(run)
    assert (first.units, first.format, first.repair) == (run.units[:1], CallFormat.SCALAR, ())
    second = asked(run.answered(answer(first, mark="!")))
    assert (second.units, second.repair) == (run.units[1:], (("b", Violation.MISSING),))
    assert run.answered(answer(second)) == Resolved((("a", ("A!",)), ("b", ("B",))), recovered=True)


def test_a_single_unit_is_recovered_by_one_scalar_call() -> None:
    run = batch("a")
    ask = asked(run.start())
    recovery = asked(run.answered(answer(ask, {"a": " "})))
    assert (recovery.units, recovery.format) == (run.units, CallFormat.SCALAR)
    assert isinstance(run.answered(answer(recovery)), Resolved)


def test_a_blank_answer_on_the_direct_path_is_followed_by_one_recovery_call() -> None:
    run = batch("r1", direct=True)
    run.start()
    run.placed(1)
    recovery = asked(run.answered(Completion(" \n")))
    assert recovery == Ask(run.units, CallFormat.SCALAR, recovers=True, repair=(("r1", Violation.BLANK),))
    assert run.answered(Completion("Hallo")) == Resolved((("r1", ("Hallo",)),), recovered=True)


def test_the_violations_of_the_recovery_are_those_of_its_own_units() -> None:
    run = batch("a", "b", "c")
    recovery = recovering(run)
    assert recovery.units == run.units[1:2]
    assert isinstance(run.answered(answer(recovery, {"a": "again", "x": "more"})), Resolved)
    other = batch("a", "b", "c")
    step = other.answered(answer(recovering(other), {"b": None, "x": "instead"}))
    assert step == Retry(1)


@pytest.mark.parametrize("first", [None, BROKEN], ids=["selective", "full"])
@pytest.mark.parametrize("error", sorted({*ROWS} - {"API_RESPONSE_INVALID"}))
def test_a_call_that_fails_ends_the_pass_with_its_own_error(first: Completion | None, error: str) -> None:
    run = batch("a", "b")
    recovering(run, first)
    assert run.failed(error) == (Retry(1) if ROWS[error] > 1 else Failed(error))
    assert run.open_ask is None


@pytest.mark.parametrize("first", [None, BROKEN], ids=["selective", "full"])
def test_a_violation_in_the_pass_ends_it_and_each_attempt_has_one_pass(first: Completion | None) -> None:
    run = batch("a", "b")
    recovering(run, first)
    assert run.answered(Completion("")) == Retry(1)
    recovering(run, first)
    assert run.answered(Completion("")) == Failed("API_RESPONSE_INVALID")


def test_the_pass_stops_at_the_first_unit_that_fails() -> None:
    run = batch("a", "b", "c")
    second = asked(run.answered(answer(recovering(run, BROKEN))))
    assert second.units == run.units[1:2]
    assert run.failed("SERVER_ERROR") == Retry(1)
    assert asked(run.start()).units == run.units


def test_a_recovery_call_moves_to_another_key_like_any_other() -> None:
    run = batch("a", "b", keys=2)
    recovery = recovering(run)
    moved = asked(run.failed("RATE_LIMIT_REACHED"))
    assert (moved.units, moved.recovers, moved.repair, moved.key) == (recovery.units, True, recovery.repair, 2)
    run.placed(2)
    assert run.failed_over
    assert isinstance(run.answered(answer(moved)), Resolved)


def test_each_call_of_a_full_recovery_begins_with_the_key_that_last_succeeded() -> None:
    run = batch("a", "b", keys=2)
    recovering(run, BROKEN)
    moved = asked(run.failed("QUOTA_EXCEEDED"))
    run.placed(2)
    second = asked(run.answered(answer(moved)))
    assert second.key is None
    run.placed(2)
    assert asked(run.failed("QUOTA_EXCEEDED")).key == 1


@pytest.mark.parametrize("kind", ["ai", "machine"])
@pytest.mark.parametrize("direct", [False, True])
def test_a_violating_answer_that_was_stopped_by_policy_is_neither_recovered_nor_retried(
    kind: str, direct: bool
) -> None:
    run = batch("a", kind=kind, direct=direct)
    run.start()
    assert run.answered(Completion(" ", termination=Termination.POLICY)) == Failed("POLICY")


def test_a_recovery_stopped_by_policy_ends_the_batch() -> None:
    run = batch("a", "b")
    recovering(run)
    assert run.answered(Completion("", termination=Termination.POLICY)) == Failed("POLICY")


@pytest.mark.parametrize("termination", [Termination.TRUNCATED, Termination.PROVIDER_ERROR, Termination.UNKNOWN])
def test_any_other_termination_of_a_violating_answer_is_recovered(termination: Termination) -> None:
    run = batch("a", "b")
    ask = asked(run.start())
    assert asked(run.answered(answer(ask, {"b": None}, termination=termination))).recovers


def test_nothing_of_a_failed_attempt_is_used_again() -> None:
    run = batch("a", "b")
    ask = asked(run.start())
    run.answered(answer(ask, {"b": None}, mark=" of the first attempt"))
    run.failed("NETWORK_ERROR")
    ask = asked(run.start())
    recovery = asked(run.answered(answer(ask, {"a": None})))
    assert recovery.units == run.units[:1]
    assert run.answered(answer(recovery)) == Resolved((("a", ("A",)), ("b", ("B",))), recovered=True)


def test_the_notes_tell_of_a_pass_how_it_began_and_ended() -> None:
    run = batch("a", "b")
    recovering(run)
    run.answered(BROKEN)
    recovering(run, BROKEN)
    assert [(note.code.value, note.subject, note.detail) for note in run.take_notes()] == [
        ("VIOLATION", "b", "MISSING"),
        ("RECOVERY_STARTED", "batch 7", "selective"),
        ("VIOLATION", "batch 7", "UNPARSEABLE"),
        ("RECOVERY_FAILED", "batch 7", "API_RESPONSE_INVALID"),
        ("RETRIED", "batch 7", "API_RESPONSE_INVALID"),
        ("VIOLATION", "batch 7", "UNPARSEABLE"),
        ("RECOVERY_STARTED", "batch 7", "full"),
    ]


def test_a_repaired_body_is_noted_and_no_note_holds_text() -> None:
    run = batch("a", "b")
    ask = asked(run.start())
    run.answered(Completion('{"translations": [{"id": "a", "text": "canary"}, {"id": "b", "text": "canary"},]}'))
    notes = run.take_notes()
    assert [note.code.value for note in notes] == ["REPAIRED"]
    assert "canary" not in repr(notes)
    assert "source of" not in repr(ask)


@given(st.data(), st.sampled_from(["selective", "full"]), st.integers(1, 3))
def test_whatever_is_answered_a_batch_ends_with_texts_of_its_last_attempt_alone(
    data: st.DataObject, recovery: str, keys: int
) -> None:
    run = batch("a", "b", "c", recovery=recovery, keys=keys)
    passes = 0
    step: Step = run.start()
    recovers = False
    while not isinstance(step, Resolved | Failed):
        if isinstance(step, Retry):
            assert step.failed_attempt == run.attempt < 5
            step, recovers, passes = run.start(), False, 0
            continue
        passes += step.recovers and not recovers
        recovers = step.recovers
        assert passes <= 1
        run.placed(step.key or data.draw(st.integers(1, keys)))
        done = data.draw(st.sampled_from(["valid", "valid", "violating", "empty", "failed"]))
        mark = f"@{run.attempt}"
        if done == "failed":
            step = run.failed(data.draw(st.sampled_from(sorted(ROWS))))
        elif done == "empty":
            step = run.answered(Completion("", termination=data.draw(st.sampled_from(Termination))))
        else:
            left_out = data.draw(st.sampled_from(step.units)).id
            step = run.answered(answer(step, {left_out: None} if done == "violating" else None, mark=mark))
    if isinstance(step, Resolved):
        assert step.pieces == tuple((name, (name.upper() + f"@{run.attempt}",)) for name in "abc")
        assert step.recovered == bool(passes)
    assert run.state.value == type(step).__name__.upper()
    assert run.open_ask is None
