"""The timeline of a scenario file: `at`, `together`, and what may be empty."""

from __future__ import annotations

import pytest

from .conftest import Failures, Read, Refusal

STEP = "scenario: x\ntimeline:\n  - "


@pytest.mark.parametrize("timeline", ["timeline: []", "timeline:", "timeline: null"])
def test_an_empty_timeline_is_legal(failures: Failures, timeline: str) -> None:
    assert not failures(f"scenario: x\n{timeline}\nthen: {{open_handles: 0, sessions: []}}\n")


def test_then_with_nothing_behind_it_is_invalid(refusal: Refusal) -> None:
    assert refusal("scenario: x\ntimeline: []\nthen:\n").startswith("3:6: ")


@pytest.mark.parametrize("nothing", ["", " null", " ~"])
def test_together_with_nothing_behind_it_is_invalid(refusal: Refusal, nothing: str) -> None:
    assert refusal(STEP + f"at: 0s\n    together:{nothing}\n").startswith("4:")


def test_a_time_that_goes_back_is_told_at_its_step(refusal: Refusal) -> None:
    told = refusal(STEP + "{at: 5s, wait: }\n  - {at: 1min, wait: }\n  - {at: 59.999s, wait: }\n")
    assert told.startswith("5:5: ")
    assert "at" in told.split()


def test_a_time_that_stands_still_is_legal(read: Read) -> None:
    assert len(read(STEP + "{at: 5s, wait: }\n  - {at: 5000ms, wait: }\n").timeline) == 2


def test_together_holds_the_steps_of_one_instant(read: Read) -> None:
    (moment,) = read(STEP + "at: 5s\n    together:\n      - {cancel: r1}\n      - {activate: r1}\n").timeline
    assert moment.at_us == 5_000_000
    assert [(step.verb.what, step.line) for step in moment.steps] == [("cancel", 5), ("activate", 6)]


def test_a_step_inside_together_has_no_at_of_its_own(refusal: Refusal) -> None:
    told = refusal(STEP + "at: 5s\n    together:\n      - {cancel: r1}\n      - {at: 5s, activate: r1}\n")
    assert told.startswith("6:")
    assert "together" in told


def test_together_does_not_hold_together(refusal: Refusal) -> None:
    told = refusal(STEP + "at: 5s\n    together:\n      - together: [{cancel: r1}]\n")
    assert told.startswith("5:")


@pytest.mark.parametrize("beside", ["cancel: r1", "expect: DISPOSED"])
def test_nothing_but_at_stands_beside_together(refusal: Refusal, beside: str) -> None:
    told = refusal(STEP + f"at: 5s\n    together:\n      - {{cancel: r1}}\n    {beside}\n")
    assert told.startswith("6:")


@pytest.mark.parametrize("value", ["cancel", "{cancel: r1}", "5"])
def test_together_is_a_list(refusal: Refusal, value: str) -> None:
    assert refusal(STEP + f"at: 5s\n    together: {value}\n").startswith("4:15: ")


@pytest.mark.parametrize(
    ("argument", "verb"),
    [
        ("{request: r, session: s, parents: {p: a}}", "translate"),
        ("{request: r, session: s, source: a}", "direct"),
        ("{call: r/1, text: a}", "respond"),
        ("{call: r/1, error: NETWORK_ERROR}", "fail"),
        ("r", "fail_dispatch"),
        ("r", "time_out"),
        ("{request: r, parent: p, text: a}", "edit_source"),
        ("{session: s, id: c, value: 1}", "call"),
        ("{session: s, from: c, to: d}", "refer"),
        ("{session: s, ref: c}", "fetch"),
        ("{session: s, say: again}", "follow_up"),
        ("{id: q, by: ann, change: {}, evidence: e, rollback: r}", "propose"),
        ("{id: q, by: ann}", "approve"),
        ("{id: q, by: ann}", "acknowledge"),
        ("{id: q, by: ann}", "refuse"),
        ("{id: q, by: ann}", "apply"),
    ],
)
def test_a_verb_of_execution_or_content_stands_alone_or_inside_together(read: Read, argument: str, verb: str) -> None:
    (alone,) = read(STEP + f"{{at: 0s, {verb}: {argument}}}\n").timeline
    (inside,) = read(STEP + f"at: 0s\n    together:\n      - {{{verb}: {argument}}}\n").timeline
    assert [step.verb.what for step in (*alone.steps, *inside.steps)] == [verb, verb]


@pytest.mark.parametrize(
    ("key", "nothing"),
    [
        ("calls", "{}"),
        ("outcomes", "{}"),
        ("document", "{}"),
        ("stats", "{}"),
        ("feature_history", "[]"),
        ("store", "{}"),
        ("call_records", "{}"),
        ("proposals", "{}"),
    ],
)
def test_a_key_of_then_that_tells_of_execution_or_content_is_read(failures: Failures, key: str, nothing: str) -> None:
    assert not failures(f"scenario: x\ntimeline: []\nthen:\n  {key}: {nothing}\n")


def test_an_invalid_file_runs_nothing_and_is_told_at_its_first_fault(refusal: Refusal) -> None:
    told = refusal(STEP + "{at: 0s, activate: r1, expect: STALE}\n  - {at: 0s, activate: 1}\n  - {at: 0s}\n")
    assert told.startswith("4:24: ")
