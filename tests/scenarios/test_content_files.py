"""The verbs of content and what `then` says of it: what makes a file invalid, what is passed on, how it is compared."""

from __future__ import annotations

from typing import Any

import pytest
from loguru import logger

from dragoman.actors.content_store import ContentStore
from dragoman.protocol.content_messages import StoreCall
from dragoman.protocol.payloads import Payload
from dragoman.scenarios import replay_file
from dragoman.scenarios.logs import LogWatch

from .conftest import Failures, Read, Refusal, Write

STEP = "scenario: x\ntimeline:\n  - "
CALL = STEP + "{at: 0s, call: {session: s1, id: c1, value: 1}}\n"


@pytest.mark.parametrize(
    ("step", "told"),
    [
        ("call: {session: s, id: c}", "call lacks the key value or error"),
        ("call: {session: s, value: 1}", "call lacks the key id"),
        ("call: {id: c, value: 1}", "call lacks the key session"),
        ("call: {session: s, id: c, value: 1, error: {type: a, message: b}}", "either value or error"),
        ("call: {session: s, id: c, error: {type: a}}", "the error of a call lacks the key message"),
        ("call: {session: s, id: c, error: null}", "the error of a call must be a mapping"),
        ("call: {session: s, id: 5, value: 1}", "an id must be text"),
        ("call: {session: s, id: c, value: 1, depth: -1}", "whole number"),
        ("call: {session: s, id: c, value: 1, keep: 1}", "true or false"),
        ("call: {session: s, id: c, valu: 1}", "did you mean value?"),
        ("call: {session: s, id: c, value: {a: 1, a: 2}}", "the key a stands twice"),
        ("call: {session: s, id: c, value: !mystery a}", "mystery"),
        ("call: {session: s, id: c, value: [!mystery [a]]}", "mystery"),
        ("fetch: {session: s, ref: c}, expect: {value: {1: a, '1': b}}", "stands twice"),
        ("refer: {session: s, from: c}", "refer lacks the key to"),
        ("refer: {session: s, form: c, to: d}", "did you mean from?"),
        ("fetch: {session: s}", "fetch lacks the key ref"),
        ("follow_up: {session: s, say: 5}", "must be text"),
        ("follow_up: {session: s, say: a, max_bytes: -1}", "whole number"),
        ("propose: {by: ann, change: {}, evidence: e, rollback: r}", "propose lacks the key id"),
        ("propose: {id: q, evidense: e}", "did you mean evidence?"),
        ("approve: {id: q}", "approve lacks the key by"),
        ("call: {session: s, id: c, value: 1}, expect: {sotred: true}", "did you mean stored?"),
        ("fetch: {session: s, ref: c}, expect: {value: !mystery a}", "mystery"),
        ("fetch: {session: s, ref: c}, expect: {value: {? [a] : 1}}", "a key of content is text or a number"),
        ("propose: {id: q}, expect: PROPOSD", "did you mean PROPOSED?"),
    ],
)
def test_an_invalid_step_is_told(refusal: Refusal, step: str, told: str) -> None:
    assert told in refusal(STEP + f"{{at: 0s, {step}}}\n")


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        ("store: {s1: {entrys: 1}}", "did you mean entries?"),
        ("store: {counters: {hit: 1}}", "did you mean hits?"),
        ("store: {s1: 1}", "must be a mapping"),
        ("call_records: {s1: {id: c1}}", "must be a list"),
        ("call_records: {s1: [{status: okay}]}", "did you mean ok?"),
        ("proposals: {q1: aplied}", "did you mean applied?"),
    ],
)
def test_an_invalid_entry_of_then_is_told(refusal: Refusal, entry: str, told: str) -> None:
    assert told in refusal(CALL + f"then: {{{entry}}}\n")


def test_an_opaque_object_stands_only_in_what_a_call_returned(read: Read, refusal: Refusal) -> None:
    assert read(STEP + "{at: 0s, call: {session: s, id: c, value: [!opaque lamp]}}\n")
    assert "opaque" in refusal(STEP + "{at: 0s, ack: {request: r, parent: p, result: !opaque lamp}}\n")


def test_only_what_a_call_returned_may_contain_itself(failures: Failures, refusal: Refusal) -> None:
    expected = "expect: {stored: false, reason: serialization_failed}"
    assert not failures(STEP + f"{{at: 0s, call: {{session: s, id: c, value: &a [*a]}}, {expected}}}\n")
    assert "contains itself" in refusal(STEP + "{at: 0s, fetch: {session: s, ref: c}, expect: {value: &a [*a]}}\n")
    elsewhere = "{at: 0s, call: {session: s, id: c, value: &a [*a]}, expect: {reason: *a}}\n"
    assert "contains itself" in refusal(STEP + elsewhere)


@pytest.mark.parametrize("levels", [190, 250, 450])
def test_only_what_a_call_returned_may_nest_that_deep(failures: Failures, refusal: Refusal, levels: int) -> None:
    deep = "[" * levels + "]" * levels
    expected = "expect: {stored: false, reason: serialization_failed}"
    assert not failures(STEP + f"{{at: 0s, call: {{session: s, id: c, value: {deep}}}, {expected}}}\n")
    if levels > 200:
        place = STEP + f"{{at: 0s, fetch: {{session: s, ref: c}}, expect: {{value: {deep}}}}}\n"
        assert "nests deeper than 200 levels" in refusal(place)


def test_a_value_that_nests_beyond_all_bounds_is_told(refusal: Refusal) -> None:
    deep = "[" * 600 + "]" * 600
    assert "nests deeper than 500" in refusal(STEP + f"{{at: 0s, call: {{session: s, id: c, value: {deep}}}}}\n")


@pytest.mark.parametrize(
    "argument",
    [
        "{id: q1}",
        "{id: q1, change: 5}",
        "{id: q1, by: ann, change: {5: 1}, evidence: e, rollback: r}",
        "{id: q1, by: 7, evidence: [e]}",
    ],
)
def test_what_stands_inside_a_proposal_is_for_the_runtime_to_refuse(failures: Failures, argument: str) -> None:
    assert not failures(STEP + f"{{at: 0s, propose: {argument}, expect: INVALID_PROPOSAL}}\n")


def test_a_life_time_in_a_proposal_is_written_like_any_duration(failures: Failures) -> None:
    proposal = "{id: q1, by: ann, change: {store_ttl: 10min}, evidence: e, rollback: r}"
    assert not failures(STEP + f"{{at: 0s, propose: {proposal}, expect: PROPOSED}}\n")
    wrong = "{id: q1, by: ann, change: {store_ttl: soon}, evidence: e, rollback: r}"
    assert not failures(STEP + f"{{at: 0s, propose: {wrong}, expect: INVALID_PROPOSAL}}\n")


@pytest.mark.parametrize(
    ("value", "expected", "holds"),
    [
        ("null", "{value: null}", True),
        ("null", "{miss: content_ref_not_found}", False),
        ("[]", "{value: null}", False),
        ('""', '{value: ""}', True),
        ("1", "{value: true}", False),
        ("true", "{value: 1}", False),
        ("1", "{value: 1.0}", True),
        ("{a: null}", "{value: {}}", False),
        ("{a: 1, b: 2}", "{value: {a: 1}}", False),
        ("{a: 1, b: 2}", "{value: {b: 2, a: 1}}", True),
        ("{1: a}", "{value: {1: a}}", True),
        ("2024-01-02", "{value: 2024-01-02}", True),
        ("{d: [2024-01-02, .nan, !opaque lamp]}", "{value: {d: [2024-01-02, .nan, !opaque lamp]}}", True),
        ("2024-01-02", "{value: 2024-01-03}", False),
        ("[a]", "{value: {one_of: [[a], [b]]}}", True),
        ("[a, b]", "{value: [a, {one_of: [b, c]}]}", True),
    ],
)
def test_a_value_is_equal_all_the_way_down(failures: Failures, value: str, expected: str, holds: bool) -> None:
    file = (
        STEP
        + f"{{at: 0s, call: {{session: s1, id: c1, value: {value}}}}}\n"
        + f"  - {{at: 1s, fetch: {{session: s1, ref: c1}}, expect: {expected}}}\n"
    )
    assert (not failures(file)) == holds


def test_null_stands_for_the_kind_of_a_null(failures: Failures) -> None:
    file = STEP + "{at: 0s, call: {session: s1, id: c1, value: null}, expect: {kind: null}}\n"
    assert not failures(file + "then: {call_records: {s1: [{kind: null}]}}\n")
    assert failures(file.replace("value: null", "value: 1"))


def test_null_stands_in_the_record_of_what_was_not_stored(failures: Failures) -> None:
    file = "scenario: x\nsettings: {content_enabled: false}\ntimeline:\n"
    file += "  - {at: 0s, call: {session: s1, id: c1, value: 1}}\n"
    for nothing in ("{kind: null, bytes: null, has_ref: false}", "{bytes: 0}"):
        assert not failures(file + f"then: {{call_records: {{s1: [{nothing}]}}}}\n")
    assert failures(file + "then: {call_records: {s1: [{kind: number}]}}\n")


def test_a_reply_has_no_keys_of_another_answer(failures: Failures) -> None:
    assert failures(CALL + "  - {at: 1s, fetch: {session: s1, ref: c1}, expect: {miss: null}}\n")
    assert failures(CALL + '  - {at: 1s, follow_up: {session: s1, say: "how long is c1"}, expect: {value: null}}\n')


def test_what_never_was_is_nothing_in_the_store(failures: Failures) -> None:
    assert not failures(
        CALL + "then: {store: {s2: {entries: 0, bytes: 0}, counters: {hits: 0}}, call_records: {s2: []}}\n"
    )


def test_a_step_that_the_runtime_does_not_take_fails_and_the_next_one_runs(failures: Failures) -> None:
    long = "again " * 200_000
    follow_up = f"{{at: 0s, follow_up: {{session: s1, say: {long}}}}}"
    (failure,) = failures(STEP + f"{follow_up}\n  - {{at: 1s, activate: r1, expect: UNKNOWN_REQUEST}}\n")
    assert (failure.step, failure.actual) == (0, "InvalidArgument")


@pytest.mark.parametrize("key", ["session", "id", "role", "method"])
def test_any_text_is_a_name(failures: Failures, key: str) -> None:
    names = {"session": "s1", "id": "c1", "role": "assistant", "method": "ask", key: '""'}
    argument = ", ".join(f"{name}: {text}" for name, text in names.items())
    assert not failures(STEP + f"{{at: 0s, call: {{{argument}, value: 1}}, expect: {{stored: true}}}}\n")


@pytest.mark.parametrize(
    ("step", "texts", "names"),
    [
        (
            "call: {session: s, id: c, role: r, method: m, parent: p, value: {kept: [told, {deep: under}]}}",
            {"kept", "told", "deep", "under"},
            {"s", "c", "r", "m", "p"},
        ),
        (
            "call: {session: s, id: c, error: {type: Hoarse, message: no voice}}",
            {"type", "message", "Hoarse", "no voice"},
            {"s", "c"},
        ),
        ("call: {session: s, id: c, value: &a [told, *a]}", {"told"}, {"s", "c"}),
        ("refer: {session: s, from: c, to: d}", set(), {"s", "c", "d"}),
        ("fetch: {session: s, ref: c}", set(), {"s", "c"}),
        ("follow_up: {session: s, say: put that in a table}", {"put that in a table"}, {"s"}),
        ("propose: {id: q, by: ann, evidence: it is full, rollback: go back}", {"it is full", "go back"}, {"q", "ann"}),
        ("approve: {id: q, by: ann}", set(), {"q", "ann"}),
    ],
)
def test_what_a_verb_brings_is_known_to_who_watches_the_log(
    read: Read, step: str, texts: set[str], names: set[str]
) -> None:
    (moment,) = read(STEP + f"{{at: 0s, {step}}}\n").timeline
    verb = moment.steps[0].verb
    assert set(verb.texts()) == texts
    assert names <= set(verb.ids())


def test_content_in_a_log_line_is_a_failure_of_the_step(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    def telling(self: ContentStore, message: StoreCall, envelope: object) -> object:
        assert isinstance(message.content, Payload)
        speaking.debug("content {event}", event=message.content.body.decode())
        return stored(self, message, envelope)

    speaking = logger.patch(lambda record: record.update(name="dragoman.somewhere"))
    stored: Any = ContentStore.handlers[StoreCall]
    monkeypatch.setitem(ContentStore.handlers, StoreCall, telling)
    path = write(STEP + "{at: 0s, call: {session: s1, id: c1, value: a told secret}}\n")
    with LogWatch() as watch:
        (failure,) = replay_file(path, watch=watch).failures
    assert "log line" in failure.message
