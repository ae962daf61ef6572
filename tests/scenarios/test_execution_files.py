"""The verbs and expectations of execution in a scenario file: what makes it invalid, and what is left to the run.

The mark ▸ stands before the place that must be told.
"""

from __future__ import annotations

import pytest

from .conftest import Failures, Read, Refusal
from .marked import MARK, unmarked

STEP = "scenario: x\ntimeline:\n  - "
THEN = "scenario: x\ntimeline: []\nthen: "

NOT_TEXT = ["1", "1.5", "0x1F", "yes", "null", "~", "2020-01-01"]


@pytest.mark.parametrize("id_", NOT_TEXT)
@pytest.mark.parametrize(
    ("before", "after"),
    [
        (STEP + "{at: 0s, translate: {request: ", ", session: s, parents: {p: a}}}"),
        (STEP + "{at: 0s, translate: {request: r, session: ", ", parents: {p: a}}}"),
        (STEP + "{at: 0s, translate: {request: r, session: s, parents: {p: a, ", ": b}}}"),
        (STEP + "{at: 0s, translate: {request: r, session: s, parents: {p: a}, accept: {reject: [p, ", "]}}}"),
        (STEP + "{at: 0s, direct: {request: ", ", session: s, source: a}}"),
        (STEP + "{at: 0s, direct: {request: r, session: ", ", source: a}}"),
        (STEP + "{at: 0s, respond: {call: r/1, translations: {p: a, ", ": b}}}"),
        (STEP + "{at: 0s, fail_dispatch: ", "}"),
        (STEP + "{at: 0s, time_out: ", "}"),
        (STEP + "{at: 0s, edit_source: {request: ", ", parent: p, text: a}}"),
        (STEP + "{at: 0s, edit_source: {request: r, parent: ", ", text: a}}"),
        (THEN + "{calls: {", ": []}}"),
        (THEN + "{outcomes: {", ": null}}"),
        (THEN + "{document: {", ": null}}"),
        (THEN + "{document: {r1: {", ": a}}}"),
        (THEN + "{stats: {", ": {calls: 0}}}"),
    ],
)
def test_an_id_that_yaml_does_not_read_as_text_must_be_quoted(
    refusal: Refusal, read: Read, before: str, after: str, id_: str
) -> None:
    text, place = unmarked(f"{before}{MARK}{id_}{after}")
    told = refusal(text)
    assert told.startswith(f"{place}: ")
    assert "quote" in told
    assert read(f'{before}"{id_}"{after}').name == "x"


@pytest.mark.parametrize(
    ("text", "unknown", "meant"),
    [
        (STEP + "{at: 0s, ▸translat: {}}", "translat", "translate"),
        (STEP + "{at: 0s, ▸responds: {}}", "responds", "respond"),
        (STEP + "{at: 0s, ▸timeout: r1}", "timeout", "time_out"),
        (STEP + "{at: 0s, ▸edit_sorce: {}}", "edit_sorce", "edit_source"),
        (STEP + "{at: 0s, translate: {request: r, ▸sesion: s, parents: {}}}", "sesion", "session"),
        (STEP + "{at: 0s, translate: {request: r, session: s, parents: {}, ▸acept: auto}}", "acept", "accept"),
        (
            STEP + "{at: 0s, translate: {request: r, session: s, parents: {}, ▸source_langage: en}}",
            "source_langage",
            "source_language",
        ),
        (
            STEP + "{at: 0s, translate: {request: r, session: s, parents: {}, accept: {▸rejct: [p]}}}",
            "rejct",
            "reject",
        ),
        (STEP + "{at: 0s, direct: {request: r, session: s, ▸sorce: a}}", "sorce", "source"),
        (STEP + "{at: 0s, respond: {call: r/1, ▸translation: {p: a}}}", "translation", "translations"),
        (STEP + "{at: 0s, respond: {call: r/1, text: a, ▸terminaton: NORMAL}}", "terminaton", "termination"),
        (STEP + "{at: 0s, fail: {call: r/1, ▸eror: NETWORK_ERROR}}", "eror", "error"),
        (STEP + "{at: 0s, edit_source: {request: r, ▸parents: p, text: a}}", "parents", "parent"),
        (STEP + "{at: 0s, respond: {call: r/1, text: a, termination: ▸TRUNCATD}}", "TRUNCATD", "TRUNCATED"),
        (STEP + "{at: 0s, respond: {call: r/1, text: a, termination: ▸policy}}", "policy", "POLICY"),
        (
            STEP + "{at: 0s, translate: {request: r, session: s, parents: {}}, expect: ▸STARTD}",
            "STARTD",
            "STARTED",
        ),
        (
            STEP + "{at: 0s, direct: {request: r, session: s, source: a}, expect: {status: ▸INVALID_HANDOF}}",
            "INVALID_HANDOF",
            "INVALID_HANDOFF",
        ),
        (
            STEP + "{at: 0s, direct: {request: r, session: s, source: a}, expect: {one_of: [STARTED, ▸OVERLODED]}}",
            "OVERLODED",
            "OVERLOADED",
        ),
        (
            STEP + "{at: 0s, direct: {request: r, session: s, source: a}, expect: {▸statsu: STARTED}}",
            "statsu",
            "status",
        ),
        (THEN + "{▸call: {}}", "call", "calls"),
        (THEN + "{▸outcome: {}}", "outcome", "outcomes"),
        (THEN + "{▸documents: {}}", "documents", "document"),
        (THEN + "{▸featur_history: []}", "featur_history", "feature_history"),
        (THEN + "{calls: {r1: [{key: 1}, {▸unit: [p1]}]}}", "unit", "units"),
        (THEN + "{outcomes: {r1: {▸qualty: NONE}}}", "qualty", "quality"),
        (THEN + "{outcomes: {r1: {execution: ▸COMPLETD}}}", "COMPLETD", "COMPLETED"),
        (THEN + "{outcomes: {r1: {execution: {one_of: [FAILED, ▸CANCELED]}}}}", "CANCELED", "CANCELLED"),
        (THEN + "{outcomes: {r1: {one_of: [null, {execution: ▸failed}]}}}", "failed", "FAILED"),
        (THEN + "{outcomes: {r1: {quality: ▸PARTAL}}}", "PARTAL", "PARTIAL"),
        (THEN + "{outcomes: {one_of: [{r1: {quality: ▸complete}}]}}", "complete", "COMPLETE"),
        (THEN + "{stats: {openai: {▸cals: 1}}}", "cals", "calls"),
        (THEN + "{feature_history: [{▸sorce: a}]}", "sorce", "source"),
    ],
)
def test_an_unknown_key_verb_or_word_is_told_with_what_was_meant(
    refusal: Refusal, text: str, unknown: str, meant: str
) -> None:
    text, place = unmarked(text)
    told = refusal(text)
    assert told.startswith(f"{place}: ")
    assert unknown in told
    assert told.endswith(f"did you mean {meant}?")


@pytest.mark.parametrize("beside", ["parents: {p1: a}", "accept: auto", "target_language: de"])
def test_what_belongs_to_a_translation_is_no_key_of_a_direct_call(refusal: Refusal, beside: str) -> None:
    text, place = unmarked(STEP + f"{{at: 0s, direct: {{request: r, session: s, source: a, ▸{beside}}}}}")
    assert refusal(text).startswith(f"{place}: ")


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        (STEP + "{at: 0s, translate: ▸{session: s, parents: {p: a}}}", "request"),
        (STEP + "{at: 0s, translate: ▸{request: r, parents: {p: a}}}", "session"),
        (STEP + "{at: 0s, translate: ▸{request: r, session: s}}", "parents"),
        (
            STEP + "{at: 0s, translate: {request: r, session: s, parents: {p: a}, accept: ▸{}}}",
            "reject, manual or undeliverable",
        ),
        (STEP + "{at: 0s, direct: ▸{session: s, source: a}}", "request"),
        (STEP + "{at: 0s, direct: ▸{request: r, source: a}}", "session"),
        (STEP + "{at: 0s, direct: ▸{request: r, session: s}}", "source"),
        (STEP + "{at: 0s, respond: ▸{text: a}}", "call"),
        (STEP + "{at: 0s, fail: ▸{error: NETWORK_ERROR}}", "call"),
        (STEP + "{at: 0s, fail: ▸{call: r/1}}", "error"),
        (STEP + "{at: 0s, edit_source: ▸{parent: p, text: a}}", "request"),
        (STEP + "{at: 0s, edit_source: ▸{request: r, text: a}}", "parent"),
        (STEP + "{at: 0s, edit_source: ▸{request: r, parent: p}}", "text"),
    ],
)
def test_a_missing_key_is_told_where_its_mapping_begins(refusal: Refusal, text: str, missing: str) -> None:
    text, place = unmarked(text)
    told = refusal(text)
    assert told.startswith(f"{place}: ")
    assert told.endswith(f"lacks the key {missing}")


@pytest.mark.parametrize(
    "text",
    [
        STEP + "{at: 0s, translate: {request: r, session: s, parents: {p: a, ▸p: b}}}",
        STEP + "{at: 0s, translate: {request: r, session: s, parents: {}, ▸parents: {}}}",
        STEP + "{at: 0s, respond: {call: r/1, translations: {p: a, ▸p: b}}}",
        STEP + "{at: 0s, respond: {call: r/1, text: a, ▸text: a}}",
        THEN + "{calls: {r1: [{key: 1, ▸key: 1}]}}",
        THEN + "{outcomes: {r1: {error: null, ▸error: null}}}",
        THEN + "{document: {r1: {p1: a, ▸p1: a}}}",
        THEN + "{stats: {openai: {by_purpose: {A: 1, ▸A: 1}}}}",
    ],
)
def test_a_key_that_stands_twice_is_told_at_its_second_place(refusal: Refusal, text: str) -> None:
    text, place = unmarked(text)
    told = refusal(text)
    assert told.startswith(f"{place}: ")
    assert "twice" in told


def test_an_answer_is_either_translations_or_a_text(refusal: Refusal, read: Read) -> None:
    for body in ("", ", text: a, translations: {p: a}", ", termination: NORMAL"):
        text, place = unmarked(STEP + f"{{at: 0s, respond: ▸{{call: r/1{body}}}}}")
        told = refusal(text)
        assert told.startswith(f"{place}: ")
        assert "translations" in told
        assert "text" in told
    for body in ('text: ""', "translations: {}", "text: a, termination: UNKNOWN"):
        assert read(STEP + f"{{at: 0s, respond: {{call: r/1, {body}}}}}").timeline


@pytest.mark.parametrize(
    "text",
    [
        STEP + "{at: 0s, translate: ▸r1}",
        STEP + "{at: 0s, translate: ▸[r1, s1]}",
        STEP + "{at: 0s, translate: {request: ▸[r], session: s, parents: {p: a}}}",
        STEP + "{at: 0s, translate: {request: r, session: s, parents: {▸[p]: a}}}",
        STEP + "{at: 0s, translate: {request: r, session: s, parents: {p: a}, accept: ▸by-hand}}",
        STEP + "{at: 0s, translate: {request: r, session: s, parents: {p: a}, accept: ▸true}}",
        STEP + "{at: 0s, translate: {request: r, session: s, parents: {p: a}, accept: ▸null}}",
        STEP + "{at: 0s, translate: {request: r, session: s, parents: {p: a}, accept: ▸[p]}}",
        STEP + "{at: 0s, translate: {request: r, session: s, parents: {p: a}, accept: {reject: ▸p}}}",
        STEP + "{at: 0s, direct: ▸r1}",
        STEP + "{at: 0s, respond: ▸r1/1}",
        STEP + "{at: 0s, respond: {call: ▸[r, 1], text: a}}",
        STEP + "{at: 0s, respond: {call: r/1, text: ▸5}}",
        STEP + "{at: 0s, respond: {call: r/1, text: ▸null}}",
        STEP + "{at: 0s, respond: {call: r/1, text: ▸[a]}}",
        STEP + "{at: 0s, respond: {call: r/1, text: ▸{p: a}}}",
        STEP + "{at: 0s, respond: {call: r/1, translations: ▸[a]}}",
        STEP + "{at: 0s, respond: {call: r/1, translations: ▸a}}",
        STEP + "{at: 0s, respond: {call: r/1, translations: ▸null}}",
        STEP + "{at: 0s, respond: {call: r/1, translations: {p: ▸5}}}",
        STEP + "{at: 0s, respond: {call: r/1, translations: {p: ▸null}}}",
        STEP + "{at: 0s, respond: {call: r/1, translations: {p: ▸{text: a}}}}",
        STEP + "{at: 0s, respond: {call: r/1, translations: {p: [a, ▸5]}}}",
        STEP + "{at: 0s, respond: {call: r/1, translations: {p: [a, ▸[b]]}}}",
        STEP + "{at: 0s, respond: {call: r/1, text: a, termination: ▸5}}",
        STEP + "{at: 0s, respond: {call: r/1, text: a, termination: ▸null}}",
        STEP + "{at: 0s, fail: ▸r1/1}",
        STEP + "{at: 0s, fail: {call: r/1, error: ▸5}}",
        STEP + "{at: 0s, fail: {call: r/1, error: ▸null}}",
        STEP + "{at: 0s, fail: {call: r/1, error: ▸[NETWORK_ERROR]}}",
        STEP + "{at: 0s, fail_dispatch: ▸{request: r}}",
        STEP + "{at: 0s, time_out: ▸[r]}",
        STEP + "{at: 0s, edit_source: {request: r, parent: p, text: ▸5}}",
        STEP + "{at: 0s, edit_source: {request: r, parent: p, text: ▸null}}",
        STEP + "{at: 0s, edit_source: {request: r, parent: p, text: [a, ▸1]}}",
        STEP + "{at: 0s, edit_source: {request: r, parent: p, text: ▸{a: b}}}",
        THEN + "{calls: ▸[r1]}",
        THEN + "{calls: ▸null}",
        THEN + "{calls: {r1: ▸5}}",
        THEN + "{calls: {r1: ▸{units: [p1]}}}",
        THEN + "{calls: {r1: [▸p1]}}",
        THEN + "{calls: {r1: [{units: [p1]}, ▸[p2]]}}",
        THEN + "{calls: {r1: {one_of: ▸p1}}}",
        THEN + "{outcomes: ▸[r1]}",
        THEN + "{outcomes: {r1: ▸COMPLETED}}",
        THEN + "{outcomes: {r1: {execution: ▸1}}}",
        THEN + "{outcomes: {r1: {execution: ▸[COMPLETED]}}}",
        THEN + "{outcomes: {r1: {quality: ▸true}}}",
        THEN + "{outcomes: {r1: {retries: ▸many}}}",
        THEN + "{outcomes: {r1: {retries: ▸true}}}",
        THEN + "{outcomes: {r1: {retries: ▸null}}}",
        THEN + "{outcomes: {r1: {retries: {one_of: [1, ▸many]}}}}",
        THEN + "{document: ▸[r1]}",
        THEN + "{document: {r1: ▸text}}",
        THEN + "{document: {r1: ▸[text]}}",
        THEN + "{stats: ▸[openai]}",
        THEN + "{stats: {openai: ▸5}}",
        THEN + "{stats: {openai: {calls: ▸many}}}",
        THEN + "{stats: {openai: {errors: ▸null}}}",
        THEN + "{stats: {openai: {by_purpose: ▸5}}}",
        THEN + "{stats: {openai: {by_purpose: {PRIMARY_TRANSLATION: ▸many}}}}",
        THEN + "{feature_history: ▸{source: a}}",
        THEN + "{feature_history: ▸null}",
        THEN + "{feature_history: [▸a]}",
        THEN + "{feature_history: [{source: a}, ▸[a, b]]}",
    ],
)
def test_a_wrong_type_is_told_at_the_value(refusal: Refusal, text: str) -> None:
    text, place = unmarked(text)
    assert refusal(text).startswith(f"{place}: ")


@pytest.mark.parametrize("verb", ["respond: {text: a, call: ▸%s}", "fail: {error: NETWORK_ERROR, call: ▸%s}"])
@pytest.mark.parametrize(
    "call", ["r1", "r1/", "/1", "r1/x", "r1/-1", "r1/1.5", "r1/1/", '""', '"r1/ 1"', '"r1/\N{ARABIC-INDIC DIGIT ONE}"']
)
def test_a_call_is_named_by_its_request_and_number(refusal: Refusal, verb: str, call: str) -> None:
    text, place = unmarked(STEP + f"{{at: 0s, {verb % call}}}")
    told = refusal(text)
    assert told.startswith(f"{place}: ")
    assert "REQUEST/N" in told


def test_a_slash_may_stand_in_the_id_of_a_request(failures: Failures) -> None:
    assert not failures(
        STEP + "{at: 0s, direct: {request: a/b/1, session: s, source: one}}\n"
        "  - {at: 1s, respond: {call: a/b/1/1, text: eins}}\n"
        "then: {history: {s: [[one, eins]]}}\n"
    )


@pytest.mark.parametrize(
    "name", ["network_error", "Network", '"NETWORK ERROR"', "NETWORK-ERROR", '""', "1ERROR", "ÄRGER"]
)
def test_an_error_is_a_name_in_capitals(refusal: Refusal, name: str) -> None:
    text, place = unmarked(STEP + f"{{at: 0s, fail: {{call: r/1, error: ▸{name}}}}}")
    told = refusal(text)
    assert told.startswith(f"{place}: ")
    assert "capitals" in told


@pytest.mark.parametrize("name", ["NETWORK_ERROR", "TEAPOT", "E42", "HTTP_418_ERROR"])
def test_any_name_in_capitals_is_an_error(failures: Failures, name: str) -> None:
    assert not failures(
        STEP + "{at: 0s, translate: {request: r1, session: s1, parents: {p1: one}}}\n"
        f"  - {{at: 1s, fail: {{call: r1/1, error: {name}}}}}\n"
        "  - {at: 1s, time_out: r1}\n"
        "then: {stats: {openai: {calls: 1, errors: 1}}}\n"
    )


def test_the_durable_store_is_no_setting_of_a_scenario(refusal: Refusal) -> None:
    told = refusal("scenario: x\nsettings: {max_turns: 5, feature_history: elsewhere}\ntimeline: []\n")
    assert told.startswith("2:26: ")
    assert "feature_history" in told


def test_every_key_that_the_page_names_is_read(read: Read) -> None:
    scenario = read(
        """\
scenario: x
timeline:
  - at: 0s
    translate:
      request: r1
      session: s1
      provider: deepl
      mode: page
      purpose: PRIMARY_TRANSLATION
      source_language: en
      target_language: fr
      accept: {reject: [p2]}
      parents: {p1: one, p2: [tw, o]}
  - {at: 0s, translate: {request: r2, session: s1, accept: manual, parents: {p1: one}}}
  - {at: 0s, translate: {request: r3, session: s1, accept: auto, parents: {p1: one}}}
  - {at: 0s, direct: {request: d1, session: s1, provider: deepl, mode: page, purpose: OTHER, source: one}}
  - {at: 0s, respond: {call: r1/1, translations: {p1: un, p2: [de, ux]}, termination: TRUNCATED}}
  - {at: 0s, respond: {call: r1/1, text: un, termination: PROVIDER_ERROR}}
  - {at: 0s, fail: {call: r1/1, error: HTTP_ERROR}}
  - {at: 0s, fail_dispatch: r1}
  - {at: 0s, time_out: r1}
  - {at: 0s, edit_source: {request: r1, parent: p2, text: [two, "!"]}}
  - {at: 0s, edit_source: {request: r1, parent: p1, text: one more}}
then:
  calls: {r1: [{purpose: PRIMARY_TRANSLATION, provider: deepl, key: 1, units: [p1], history: []}], r2: []}
  outcomes: {r1: {execution: COMPLETED, quality: null, error: null, retries: 0, failover: false}, r2: null}
  document: {r1: {p1: un, p2: [de, ux]}, r2: null}
  stats: {deepl: {calls: 1, errors: 0, by_purpose: {PRIMARY_TRANSLATION: 1}}}
  feature_history: [{source: one, translated: un}]
"""
    )
    assert [moment.steps[0].verb.what for moment in scenario.timeline] == [
        *["translate"] * 3,
        "direct",
        *["respond"] * 2,
        "fail",
        "fail_dispatch",
        "time_out",
        *["edit_source"] * 2,
    ]


NOT_PARENTS = [
    *("{}", "[]", "null", "5", "text", "[p1, p2]", "[{id: p1, order: 0, source: a}]"),
    *("{p1: []}", "{p1: 5}", "{p1: {a: b}}", "{p1: null}", "{p1: true}", "{p1: [a, 5]}", "{p1: [[a]]}"),
    *('{p1: ""}', '{p1: ["", ""]}', '{"": a}', "{p1: one, p2: 5}"),
]
NOTHING_DONE = """\
then:
  sessions: []
  open_handles: 0
  calls: {r1: []}
  outcomes: {r1: null}
  handles: {r1: null}
  stats: {openai: {calls: 0}}
  feature_history: []
"""


@pytest.mark.parametrize("parents", NOT_PARENTS)
def test_what_is_wrong_with_the_parents_is_left_to_the_runtime_to_refuse(failures: Failures, parents: str) -> None:
    step = f"{{at: 0s, translate: {{request: r1, session: s1, parents: {parents}}}, expect: INVALID_HANDOFF}}\n"
    assert not failures(STEP + step + NOTHING_DONE)


@pytest.mark.parametrize("source", ["5", "null", "true", '""', "[one]", "{p1: one}"])
def test_what_is_wrong_with_a_direct_text_is_left_to_the_runtime_to_refuse(failures: Failures, source: str) -> None:
    step = f"{{at: 0s, direct: {{request: r1, session: s1, source: {source}}}, expect: INVALID_HANDOFF}}\n"
    assert not failures(STEP + step + NOTHING_DONE)


@pytest.mark.parametrize(
    "wrong",
    [f"{name}: {value}" for name in ("provider", "mode") for value in ("null", "5", '""', "[a]", "{a: b}")],
)
@pytest.mark.parametrize("verb", ["translate: {parents: {p1: one}, ", "direct: {source: one, "])
def test_a_wrong_name_in_a_handoff_is_left_to_the_runtime_to_refuse(failures: Failures, verb: str, wrong: str) -> None:
    step = f"{{at: 0s, {verb}request: r1, session: s1, {wrong}}}, expect: {{status: INVALID_HANDOFF}}}}\n"
    assert not failures(STEP + step + NOTHING_DONE)


@pytest.mark.parametrize("verb", ["translate: {parents: {p1: one}, ", "direct: {source: one, "])
def test_an_empty_request_id_is_refused_and_an_empty_session_id_takes_no_part(failures: Failures, verb: str) -> None:
    assert not failures(
        STEP + f'{{at: 0s, {verb}request: "", session: s1}}, expect: INVALID_HANDOFF}}\n'
        f'  - {{at: 0s, {verb}request: r1, session: ""}}, expect: STARTED}}\n'
        "then: {sessions: [], calls: {r1: [{history: []}]}}\n"
    )
