"""Steps and expectations of execution in a run: what was never made, what is compared, and on which line it is told."""

from __future__ import annotations

import pytest

from .conftest import Failures
from .marked import unmarked

STEP = "scenario: x\ntimeline:\n  - "

STARTED = """\
scenario: x
settings: {batch_units: 2}
timeline:
  - at: 0s
    translate: {request: r1, session: s1, parents: {p1: one, p2: two, p3: [thr, ee]}}
  - {at: 1s, respond: {call: r1/1, translations: {p1: eins, p2: zwei}}}
"""
"""One batch of the request is answered, and its second call is open."""
ENDED = STARTED + "  - {at: 2s, respond: {call: r1/2, translations: {p3: [dr, ei]}}}\n"


def line_of(text: str) -> tuple[str, int]:
    text, place = unmarked(text)
    return text, int(place.partition(":")[0])


NEVER_MADE = [
    "respond: {call: r1/3, text: a}",
    "respond: {call: r1/0, text: a}",
    "respond: {call: r9/1, translations: {p1: a}}",
    "respond: {call: r/1, text: a}",
    "fail: {call: r1/3, error: NETWORK_ERROR}",
    "fail: {call: r9/1, error: NETWORK_ERROR}",
    "edit_source: {request: r9, parent: p1, text: a}",
    "edit_source: {request: r1, parent: p9, text: a}",
]


@pytest.mark.parametrize("step", NEVER_MADE)
def test_what_names_a_call_or_parent_that_never_was_is_a_failure_of_its_step(failures: Failures, step: str) -> None:
    (failure,) = failures(STARTED + f"  - {{at: 5s, {step}}}\n  - {{at: 6s, wait: }}\n")
    assert (failure.line, failure.step) == (7, 2)


def test_a_call_that_never_was_fails_its_step_inside_together_too(failures: Failures) -> None:
    (failure,) = failures(
        STARTED + "  - at: 5s\n    together:\n      - {respond: {call: r1/2, translations: {p3: [dr, ei]}}}\n"
        "      - {respond: {call: r1/3, text: a}}\n"
        "then: {document: {r1: {p3: [dr, ei]}}}\n"
    )
    assert (failure.line, failure.step) == (10, 2)


def test_a_call_can_be_answered_in_the_step_that_makes_it(failures: Failures) -> None:
    assert not failures(
        STEP + "at: 0s\n    together:\n      - {direct: {request: r1, session: s1, source: one}}\n"
        "      - {respond: {call: r1/1, text: eins}}\n"
        "then: {history: {s1: [[one, eins]]}}\n"
    )


@pytest.mark.parametrize(
    "step",
    [
        "respond: {call: r1/2, text: a}",
        "fail: {call: r1/2, error: NETWORK_ERROR}",
        "edit_source: {request: r1, parent: p3, text: a}",
        "fail_dispatch: r1",
        "time_out: r1",
    ],
)
def test_verbs_without_a_reply_answer_null_and_nothing_else(failures: Failures, step: str) -> None:
    assert not failures(STARTED + f"  - {{at: 5s, {step}, expect: null}}\n")
    (failure,) = failures(STARTED + f"  - {{at: 5s, {step}, expect: DISPOSED}}\n")
    assert (failure.line, failure.step, failure.actual) == (7, 2, None)


@pytest.mark.parametrize("answered", [STARTED, ENDED])
def test_the_calls_of_a_request_are_compared_by_the_keys_that_each_names(failures: Failures, answered: str) -> None:
    assert not failures(answered + "then: {calls: {r1: [{units: [p1, p2]}, {key: 1, provider: openai}]}}\n")
    assert not failures(answered + "then: {calls: {r1: [{}, {}]}}\n")


@pytest.mark.parametrize(
    "then",
    [
        "  ▸calls: {r9: [{}]}",
        "  calls:\n    ▸r1: []",
        "  calls:\n    ▸r1: [{}]",
        "  calls:\n    ▸r1: [{}, {}, {}]",
        "  calls:\n    r1:\n      - {}\n      - {▸units: [p1]}",
        "  calls:\n    r1:\n      - {}\n      - key: 1\n        ▸units: [p2, p1]",
        "  calls:\n    r1:\n      - {}\n      - ▸history: [[one, eins]]",
        "  calls:\n    r1:\n      - ▸{one_of: [{key: 2}, {units: [p3]}]}\n      - {}",
        "  outcomes:\n    ▸r1: null",
        "  outcomes:\n    r1:\n      execution: COMPLETED\n      ▸quality: PARTIAL",
        "  outcomes:\n    r1:\n      ▸error: NETWORK_ERROR",
        "  outcomes:\n    r1:\n      ▸retries: 1",
        "  outcomes:\n    r1:\n      ▸failover: true",
        "  outcomes:\n    ▸r9: {execution: COMPLETED}",
        "  document:\n    r1:\n      p1: eins\n      ▸p2: drei",
        "  document:\n    r1:\n      ▸p3: drei",
        "  document:\n    r1:\n      ▸p3: [d, rei]",
        "  document:\n    r1:\n      ▸p9: neun",
        "  stats:\n    openai:\n      calls: 2\n      ▸errors: 1",
        "  stats:\n    openai:\n      by_purpose:\n        PRIMARY_TRANSLATION: 2\n        ▸STRUCTURED_RECOVERY: 1",
        "  stats:\n    openai: {calls: 2}\n    deepl:\n      ▸calls: 1",
        "  feature_history:\n    - {source: one}\n    - source: two\n      ▸translated: drei\n    - {}",
        "  ▸feature_history: [{}, {}]",
        "  ▸feature_history: []",
    ],
)
def test_an_expectation_that_does_not_hold_is_told_on_its_line(failures: Failures, then: str) -> None:
    text, line = line_of(ENDED + f"then:\n{then}\n")
    (failure,) = failures(text)
    assert (failure.line, failure.step) == (line, None)


def test_names_that_then_leaves_out_are_not_compared_and_what_never_was_is_nothing(failures: Failures) -> None:
    assert not failures(
        ENDED + "then:\n"
        "  calls: {r9: []}\n"
        "  outcomes: {r1: {quality: COMPLETE}, r9: null}\n"
        "  document: {r1: {p2: zwei}}\n"
        "  stats: {openai: {errors: 0}, deepl: {calls: 0, errors: 0, by_purpose: {PRIMARY_TRANSLATION: 0}}}\n"
        "  feature_history: [{translated: eins}, {}, {source: three, translated: drei}]\n"
    )
    assert not failures(ENDED + "then: {stats: {openai: {by_purpose: {STRUCTURED_RECOVERY: 0}}}, outcomes: {}}\n")


def test_a_running_request_has_the_outcome_null(failures: Failures) -> None:
    assert not failures(STARTED + "then: {outcomes: {r1: null}}\n")
    assert not failures(STARTED + "then: {outcomes: {r1: {one_of: [null, {execution: FAILED}]}}}\n")
    (failure,) = failures(STARTED + "then:\n  outcomes:\n    r1: {execution: COMPLETED}\n")
    assert failure.line == 9
    assert failure.actual is None


@pytest.mark.parametrize(
    "then",
    [
        "calls: {one_of: [{r1: []}, {r1: [{}, {}]}]}",
        "calls: {r1: {one_of: [[], [{}, {units: [p3]}]]}}",
        "calls: {r1: [{one_of: [{key: 2}, {units: [p1, p2]}]}, {}]}",
        "calls: {r1: [{key: {one_of: [2, 1]}}, {units: {one_of: [[p2], [p3]]}}]}",
        "calls: {r1: [{units: [{one_of: [p9, p1]}, p2]}, {history: {one_of: [[[a, b]], []]}}]}",
        "outcomes: {one_of: [{r1: null}, {r1: {retries: 0}}]}",
        "outcomes: {r1: {one_of: [null, {retries: 0}]}}",
        "outcomes: {r1: {execution: {one_of: [FAILED, COMPLETED]}, quality: {one_of: [NONE, COMPLETE]}}}",
        "outcomes: {r1: {error: {one_of: [NETWORK_ERROR, null]}, retries: {one_of: [1, 0]}}}",
        "outcomes: {r1: {failover: {one_of: [true, false]}}}",
        "document: {one_of: [{r1: {p1: one}}, {r1: {p1: eins}}]}",
        "document: {r1: {one_of: [{p1: one}, {p1: eins}]}}",
        "document: {r1: {p1: {one_of: [one, eins]}, p3: {one_of: [[thr, ee], [dr, ei]]}}}",
        "document: {r1: {p3: [{one_of: [thr, dr]}, ei]}}",
        "stats: {one_of: [{openai: {calls: 3}}, {openai: {calls: 2}}]}",
        "stats: {openai: {one_of: [{calls: 3}, {calls: 2}]}}",
        "stats: {openai: {calls: {one_of: [3, 2]}, by_purpose: {PRIMARY_TRANSLATION: {one_of: [1, 2]}}}}",
        "feature_history: {one_of: [[], [{}, {}, {}]]}",
        "feature_history: [{one_of: [{source: two}, {source: one}]}, {translated: {one_of: [zwei, deux]}}, {}]",
    ],
)
def test_one_of_may_stand_in_the_place_of_any_value(failures: Failures, then: str) -> None:
    assert not failures(ENDED + f"then: {{{then}}}\n")


@pytest.mark.parametrize(
    "then",
    [
        "calls: {one_of: [{r1: []}, {r1: [{}]}]}",
        "calls: {r1: [{key: {one_of: [2, 3]}}, {}]}",
        "outcomes: {r1: {execution: {one_of: [FAILED, CANCELLED]}}}",
        "outcomes: {r1: {one_of: [null, {retries: 1}]}}",
        "document: {r1: {p1: {one_of: [one, un]}}}",
        "stats: {openai: {calls: {one_of: [3, 4]}}}",
        "feature_history: {one_of: [[], [{}, {}]]}",
    ],
)
def test_one_of_fails_if_none_of_the_alternatives_holds(failures: Failures, then: str) -> None:
    (failure,) = failures(ENDED + f"then:\n  {then}\n")
    assert failure.line == 9
    assert "one_of" in str(failure.expected)
