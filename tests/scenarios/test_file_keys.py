"""Keys, verbs and words of a scenario file: unknown, doubled and missing ones are told with their place."""

from __future__ import annotations

import pytest

from .conftest import Read, Refusal

STEP = "scenario: x\ntimeline:\n  - "
THEN = "scenario: x\ntimeline: []\nthen: "


@pytest.mark.parametrize(
    ("text", "place", "unknown", "meant"),
    [
        ("scenaro: x\ntimeline: []\n", "1:1", "scenaro", "scenario"),
        ("scenario: x\ntimelin: []\n", "2:1", "timelin", "timeline"),
        ("scenario: x\nsettings: {ack_windw: 3s}\ntimeline: []\n", "2:12", "ack_windw", "ack_window"),
        ("scenario: x\nproviders: {deepl: {knd: ai}}\ntimeline: []\n", "2:21", "knd", "kind"),
        (STEP + "{at: 0s, activat: r1}", "3:14", "activat", "activate"),
        (STEP + "{at: 0s, activate: r1, expct: STALE}", "3:28", "expct", "expect"),
        (STEP + "{at: 0s, register: {request: r1, sesion: s1, parents: {}}}", "3:38", "sesion", "session"),
        (STEP + "{at: 0s, ack: {request: r1, parent: p1, reslt: a}}", "3:45", "reslt", "result"),
        (STEP + "{at: 0s, ack: {request: r, parent: p, result: {marke: [a]}}}", "3:52", "marke", "marked"),
        (STEP + "{at: 0s, fail_commits: {session: s1, tims: 2}}", "3:42", "tims", "times"),
        (STEP + "{at: 0s, activate: r1, expect: ACTIVATD}", "3:36", "ACTIVATD", "ACTIVATED"),
        (STEP + "{at: 0s, activate: r1, expect: activated}", "3:36", "activated", "ACTIVATED"),
        (STEP + "{at: 0s, activate: r1, expect: {status: ACTIVATD}}", "3:45", "ACTIVATD", "ACTIVATED"),
        (STEP + "{at: 0s, cancel: r1, expect: {one_of: [DISPOSED, DISPOSD]}}", "3:54", "DISPOSD", "DISPOSED"),
        (STEP + "{at: 0s, cancel: r1, expect: {status: {one_of: [DISPOSD]}}}", "3:53", "DISPOSD", "DISPOSED"),
        (STEP + "{at: 0s, reject: {request: r, parent: p}, expect: {comitted: []}}", "3:56", "comitted", "committed"),
        (STEP + "{at: 0s, claim_turn: {session: s1}, expect: OVERLOADD}", "3:49", "OVERLOADD", "OVERLOADED"),
        (THEN + "{histroy: {}}", "3:8", "histroy", "history"),
        (THEN + "{handles: {r1: {p1: COMITTED}}}", "3:27", "COMITTED", "COMMITTED"),
        (THEN + "{handles: {r1: {p1: {one_of: [PENDIN]}}}}", "3:37", "PENDIN", "PENDING"),
        (THEN + "{closed: {r1: EXPIRD}}", "3:21", "EXPIRD", "EXPIRED"),
    ],
)
def test_an_unknown_key_verb_or_word_is_told_with_what_was_meant(
    refusal: Refusal, text: str, place: str, unknown: str, meant: str
) -> None:
    told = refusal(text)
    assert told.startswith(f"{place}: ")
    assert unknown in told
    assert told.endswith(f"did you mean {meant}?")


def test_a_key_that_is_like_no_other_is_told_without_a_suggestion(refusal: Refusal) -> None:
    told = refusal("scenario: x\nqqqqqqqq: 1\ntimeline: []\n")
    assert told.startswith("2:1: ")
    assert "qqqqqqqq" in told
    assert "did you mean" not in told


def test_a_key_of_several_lines_is_still_told_in_one_line(refusal: Refusal) -> None:
    assert refusal('scenario: x\n"no\\nsuch": 1\ntimeline: []\n').startswith("2:1: ")


@pytest.mark.parametrize(
    ("text", "place", "doubled"),
    [
        ("scenario: x\ntimeline: []\nscenario: y\n", "3:1", "scenario"),
        ("scenario: x\ntimeline: []\nthen: {history: {}, history: {}}\n", "3:21", "history"),
        ("scenario: x\ntimeline: []\nthen: {closed: {r1: null, r1: null}}\n", "3:27", "r1"),
        ("scenario: x\nsettings: {max_turns: 1, max_turns: 1}\ntimeline: []\n", "2:26", "max_turns"),
        ("scenario: x\nproviders: {a: {}, a: {}}\ntimeline: []\n", "2:20", "a"),
        (STEP + "{at: 0s, activate: r1, activate: r2}", "3:28", "activate"),
        (STEP + "{at: 0s, register: {request: r, session: s, parents: {p1: a, p1: b}}}", "3:66", "p1"),
        (
            STEP + "{at: 0s, register: {request: r, session: s, parents: [{id: p, order: 0, order: 0, source: a}]}}",
            "3:77",
            "order",
        ),
        (STEP + "{at: 0s, cancel: r1, expect: {status: DISPOSED, status: DISPOSED}}", "3:53", "status"),
        (STEP + "{at: 0s, read_history: {session: s}, expect: [{a: 1, a: 2}]}", "3:58", "a"),
    ],
)
def test_a_key_that_stands_twice_is_told_at_its_second_place(
    refusal: Refusal, text: str, place: str, doubled: str
) -> None:
    told = refusal(text)
    assert told.startswith(f"{place}: ")
    assert f" {doubled} " in told
    assert "twice" in told


@pytest.mark.parametrize(
    ("text", "place", "missing"),
    [
        ("timeline: []\n", "1:1", "scenario"),
        ("# first\n\nscenario: x\n", "3:1", "timeline"),
        (STEP + "{activate: r1}", "3:5", "at"),
        (STEP + "{at: 0s}", "3:5", "verb"),
        (STEP + "{at: 0s, expect: STALE}", "3:5", "verb"),
        (STEP + "{at: 0s, register: {session: s1, parents: {p1: a}}}", "3:24", "request"),
        (STEP + "{at: 0s, register: {request: r1, parents: {p1: a}}}", "3:24", "session"),
        (STEP + "{at: 0s, register: {request: r1, session: s1}}", "3:24", "parents"),
        (STEP + "{at: 0s, ack: {request: r1, parent: p1}}", "3:19", "result"),
        (STEP + "{at: 0s, ack: {request: r1, result: a}}", "3:19", "parent"),
        (STEP + "{at: 0s, reject: {parent: p1}}", "3:22", "request"),
        (STEP + "{at: 0s, claim_turn: {}}", "3:26", "session"),
        (STEP + "{at: 0s, read_history: {max_turns: 1}}", "3:28", "session"),
        (STEP + "{at: 0s, configure: {}}", "3:25", "history_enabled"),
        (STEP + "{at: 0s, fail_commits: {times: 1}}", "3:28", "session"),
    ],
)
def test_a_missing_key_is_told_where_its_mapping_begins(refusal: Refusal, text: str, place: str, missing: str) -> None:
    told = refusal(text)
    assert told.startswith(f"{place}: ")
    assert "lacks" in told
    assert told.split()[-1] == missing


def test_a_step_has_one_verb(refusal: Refusal) -> None:
    told = refusal(STEP + "{at: 0s, activate: r1, cancel: r1}")
    assert told.startswith("3:")
    assert "cancel" in told


def test_every_key_that_the_page_names_is_read(read: Read) -> None:
    scenario = read(
        """\
scenario: a name
about: >
  One or two
  sentences.
clauses: ["contract 8", "contract 10"]
settings: {ack_window: 5s, maintainers: [ann, bob], eligible_modes: [page]}
providers: {deepl: {kind: machine, recovery: full, keys: 3, max_chars: 100}, other: {}}
timeline:
  - {at: 0s, activate: r1, expect: UNKNOWN_REQUEST}
then: {open_handles: 0}
"""
    )
    assert scenario.name == "a name"
    assert scenario.about == "One or two sentences.\n"
    assert scenario.clauses == ("contract 8", "contract 10")
    assert scenario.settings.ack_window == 5
    assert scenario.settings.maintainers == ("ann", "bob")
    assert scenario.settings.eligible_modes == ("page",)
    assert scenario.providers["deepl"].keys == 3
    assert scenario.providers["other"].kind == "ai"


def test_what_is_wrong_inside_a_handoff_is_left_to_the_runtime_to_refuse(read: Read) -> None:
    for parents in ("[]", "{}", "null", "5", "text", "{p1: 5}", "{p1: }", "[p1, p2]", "[null]", "[[]]"):
        assert read(STEP + f"{{at: 0s, register: {{request: r1, session: s1, parents: {parents}}}}}").timeline
    for parent in ("{id: p1}", "{id: p1, order: 0.5, source: a}", "{id: p1, order: 0, source: a, extra: 1}"):
        assert read(STEP + f"{{at: 0s, register: {{request: r1, session: s1, parents: [{parent}]}}}}").timeline
