"""Ids, types, settings and durations of a scenario file: bad ones are told with their place."""

from __future__ import annotations

import pytest

from .conftest import Failures, Read, Refusal

STEP = "scenario: x\ntimeline:\n  - "
THEN = "scenario: x\ntimeline: []\nthen: "

NOT_TEXT = ["1", "-3", "1.5", "0x1F", "1_000", "12:30:45", ".inf", "yes", "no", "on", "true", "null", "~", "2020-01-01"]


@pytest.mark.parametrize("id_", NOT_TEXT)
@pytest.mark.parametrize(
    ("before", "after", "place"),
    [
        (STEP + "{at: 0s, activate: ", "}", "3:24"),
        (STEP + "{at: 0s, clear_session: ", "}", "3:29"),
        (STEP + "{at: 0s, register: {request: ", ", session: s, parents: {p: a}}}", "3:34"),
        (STEP + "{at: 0s, ack: {request: r1, parent: ", ", result: a}}", "3:41"),
        (STEP + "{at: 0s, register: {request: r, session: s, parents: {", ": a}}}", "3:59"),
        (STEP + "{at: 0s, register: {request: r, session: s, parents: [{id: ", ", order: 0, source: a}]}}", "3:64"),
        (THEN + "{history: {", ": []}}", "3:18"),
        (THEN + "{handles: {r1: {", ": PENDING}}}", "3:23"),
        (THEN + "{closed: {", ": EXPIRED}}", "3:17"),
        (THEN + "{turn_counter: {", ": 0}}", "3:23"),
        (THEN + "{sessions: [s1, ", "]}", "3:23"),
    ],
)
def test_an_id_that_yaml_does_not_read_as_text_must_be_quoted(
    refusal: Refusal, read: Read, before: str, after: str, place: str, id_: str
) -> None:
    told = refusal(f"{before}{id_}{after}")
    assert told.startswith(f"{place}: ")
    assert "quote" in told
    assert read(f'{before}"{id_}"{after}').name == "x"


@pytest.mark.parametrize("id_", ["[r1]", "{r1: r2}", "!!binary aGFsbG8="])
def test_an_id_is_text_and_nothing_else(refusal: Refusal, id_: str) -> None:
    assert refusal(STEP + f"{{at: 0s, activate: {id_}}}").startswith("3:24: ")


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("scenario: 1\ntimeline: []\n", "1:11"),
        ("scenario: [x]\ntimeline: []\n", "1:11"),
        ("scenario:\ntimeline: []\n", "1:10"),
        ("scenario: x\nabout: [y]\ntimeline: []\n", "2:8"),
        ("scenario: x\nclauses: one\ntimeline: []\n", "2:10"),
        ("scenario: x\nclauses: [1]\ntimeline: []\n", "2:11"),
        ("scenario: x\nsettings: [1]\ntimeline: []\n", "2:11"),
        ("scenario: x\nsettings:\ntimeline: []\n", "2:10"),
        ("scenario: x\nproviders: deepl\ntimeline: []\n", "2:12"),
        ("scenario: x\nproviders: {deepl: machine}\ntimeline: []\n", "2:20"),
        ("scenario: x\ntimeline: 5\n", "2:11"),
        ("scenario: x\ntimeline: {}\n", "2:11"),
        (STEP + "wait", "3:5"),
        (STEP + "[]", "3:5"),
        (STEP + "{at: 0s, register: r1}", "3:24"),
        (STEP + "{at: 0s, ack: [r1, p1]}", "3:19"),
        (STEP + "{at: 0s, configure: {history_enabled: 1}}", "3:43"),
        (STEP + '{at: 0s, configure: {history_enabled: "true"}}', "3:43"),
        (STEP + "{at: 0s, fail_commits: {session: s, times: -1}}", "3:48"),
        (STEP + "{at: 0s, fail_commits: {session: s, times: 1.5}}", "3:48"),
        (STEP + "{at: 0s, fail_commits: {session: s, times: true}}", "3:48"),
        (STEP + "{at: 0s, fail_commits: {session: s, times: }}", "3:48"),
        (STEP + '{at: 0s, read_history: {session: s, max_turns: "1"}}', "3:52"),
        (STEP + "{at: 0s, read_history: {session: s, max_chars: -1}}", "3:52"),
        (STEP + "{at: 0s, read_history: {session: s, mode: 1}}", "3:47"),
        (STEP + "{at: 0s, wait: 5s}", "3:20"),
        (STEP + "{at: 0s, wait: {}}", "3:20"),
        (STEP + "{at: 0s, ack: {request: r, parent: p, result: {marked: []}}}", "3:51"),
        (STEP + "{at: 0s, ack: {request: r, parent: p, result: {marked: a}}}", "3:60"),
        (STEP + "{at: 0s, ack: {request: r, parent: p, result: {marked: [1]}}}", "3:61"),
        (STEP + "{at: 0s, cancel: r, expect: {one_of: DISPOSED}}", "3:42"),
        (THEN + "[]", "3:7"),
        (THEN + "5", "3:7"),
        (THEN + "{history: []}", "3:17"),
        (THEN + "{history: {s1: 5}}", "3:22"),
        (THEN + "{history: {s1: }}", "3:22"),
        (THEN + "{handles: [r1]}", "3:17"),
        (THEN + "{handles: {r1: PENDING}}", "3:22"),
        (THEN + "{handles: {r1: {p1: 1}}}", "3:27"),
        (THEN + "{closed: {r1: [EXPIRED]}}", "3:21"),
        (THEN + "{open_handles: none}", "3:22"),
        (THEN + "{sessions: s1}", "3:18"),
        (THEN + "{turn_counter: {s1: many}}", "3:27"),
    ],
)
def test_a_wrong_type_is_told_at_the_value(refusal: Refusal, text: str, place: str) -> None:
    told = refusal(text)
    assert told.startswith(f"{place}: ")


@pytest.mark.parametrize(
    "setting",
    [
        "max_turns: -1",
        "max_turns: 1.5",
        "max_turns: yes",
        'max_turns: "5"',
        "max_turns:",
        "max_turns: [1]",
        "batch_units: 0",
        "ack_window: -1s",
        "ack_window: 3 weeks",
        "ack_window: .inf",
        "ack_window: []",
        "session_ttl: null",
        "session_ttl: true",
        "commit_order: sesion",
        "history_enabled: 1",
        "history_enabled: [true]",
        "eligible_modes: select-element",
        "eligible_modes: [1]",
        'eligible_modes: [""]',
        "maintainers: {ann: bob}",
    ],
)
def test_a_bad_setting_is_told_on_its_line(refusal: Refusal, setting: str) -> None:
    told = refusal(f"scenario: x\nsettings:\n  capture_errors: true\n  {setting}\ntimeline: []\n")
    assert told.startswith("4:")


@pytest.mark.parametrize(
    "policy", ["kind: machin", "recovery: none", "keys: 0", "keys: one", "max_chars: 0.5", "kind: [ai]"]
)
def test_a_bad_value_of_a_provider_is_told_on_its_line(refusal: Refusal, policy: str) -> None:
    told = refusal(f"scenario: x\nproviders:\n  deepl:\n    {policy}\ntimeline: []\n")
    assert told.startswith("4:")
    assert "deepl" in told


def test_a_life_time_of_the_store_may_be_null(read: Read) -> None:
    assert read("scenario: x\nsettings: {store_ttl: null}\ntimeline: []\n").settings.store_ttl is None


GOOD_DURATIONS = [
    ("0", 0),
    ("0s", 0),
    ("5", 5_000_000),
    ("0.5", 500_000),
    ("10ms", 10_000),
    ("0.1ms", 100),
    ("1s", 1_000_000),
    ("1.1s", 1_100_000),
    ("2.5min", 150_000_000),
    ("30min", 1_800_000_000),
    ("1h", 3_600_000_000),
    ('"1h"', 3_600_000_000),
    ("1000000h", 3_600_000_000_000_000),
]
BAD_DURATIONS = ["-1s", "-1", "1m", "1d", "1 week", "s", "1s2", "'1,5s'", "1s 5ms", "''", "true", ".nan", ".inf", "[]"]


@pytest.mark.parametrize(("text", "microseconds"), GOOD_DURATIONS)
def test_a_duration_is_a_number_with_a_unit_or_seconds(read: Read, text: str, microseconds: int) -> None:
    scenario = read(f"scenario: x\nsettings: {{ack_window: {text}}}\ntimeline:\n  - {{at: {text}, wait: }}\n")
    assert scenario.timeline[0].at_us == microseconds
    assert scenario.settings.ack_window == microseconds / 1_000_000


@pytest.mark.parametrize("text", BAD_DURATIONS)
def test_anything_else_is_no_duration(refusal: Refusal, text: str) -> None:
    assert refusal(STEP + f"{{at: {text}, wait: }}").startswith("3:10: ")
    assert refusal(f"scenario: x\nsettings: {{ack_window: {text}}}\ntimeline: []\n").startswith("2:")


@pytest.mark.parametrize("unit", ["", "s", "h"])
def test_a_time_beyond_all_measure_is_refused(refusal: Refusal, unit: str) -> None:
    text = "1" + "0" * 400 + unit
    assert refusal(f"scenario: x\nsettings: {{ack_window: {text}}}\ntimeline: []\n").startswith("2:")


@pytest.mark.parametrize("number", ["1" + "0" * 400, "1" + "0" * 5000])
def test_a_number_beyond_all_measure_breaks_nothing(refusal: Refusal, number: str) -> None:
    assert refusal(STEP + f"{{at: {number}, wait: }}").startswith("3:10: ")


def test_an_empty_id_is_text(failures: Failures) -> None:
    assert not failures(STEP + '{at: 0s, activate: "", expect: UNKNOWN_REQUEST}')
