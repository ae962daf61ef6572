"""Files that are hardly files: bytes, sizes, depths and aliases. Whatever it is, it is one error line with a place."""

from __future__ import annotations

from pathlib import Path

import pytest

from dragoman.scenarios import replay_file, source
from dragoman.scenarios.source import MAX_BYTES

from .conftest import Failures, Read, Refusal, Write

STEP = "scenario: x\ntimeline:\n  - "


def bomb(levels: int) -> str:
    """Nested lists that aliases make ten to the power of `levels` values long."""
    lines = ["&a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"&a{level} [{', '.join([f'*a{level - 1}'] * 10)}]" for level in range(1, levels)]
    return f"[{', '.join(lines)}]"


@pytest.mark.parametrize("body", ["", " \n\n", "# only a comment\n", "---\n", "\ufeff"])
def test_an_empty_file_is_invalid(refusal: Refusal, body: str) -> None:
    assert refusal(body)[:2] in ("1:", "2:")


@pytest.mark.parametrize("body", ["just text", "5", "- a list\n", "null", "true"])
def test_a_file_is_a_mapping(refusal: Refusal, body: str) -> None:
    assert refusal(body).startswith("1:1: ")


@pytest.mark.parametrize(
    ("body", "place"),
    [
        (b"scenario: x\nabout: gr\xfc\xdfe\n", "2:10"),
        (b"\xff\xfe\x00\x01", "1:1"),
        ("scenario: x\ntimeline: []\n".encode("utf-16"), "1:1"),
        (b"scenario: x\ntimeline: []\n# \xe2\x82", "3:3"),
        (b"\x7fELF\x02\x01\x01\x80", "1:8"),
    ],
)
def test_a_file_that_is_not_utf_8_is_told_at_the_byte(refusal: Refusal, body: bytes, place: str) -> None:
    assert refusal(body).startswith(f"{place}: ")


@pytest.mark.parametrize(("body", "place"), [("scenario: x\x00\n", "1:12"), ("scenario: x\nabout: \x07\n", "2:8")])
def test_a_character_that_yaml_does_not_allow_is_told_at_its_place(refusal: Refusal, body: str, place: str) -> None:
    assert refusal(body).startswith(f"{place}: ")


@pytest.mark.parametrize(
    ("body", "place"),
    [
        ("scenario: x\ntimeline:\n\t- {at: 0s, wait: }\n", "3:1"),
        ("scenario: x\ntimeline: []\n---\nscenario: y\ntimeline: []\n", "3:1"),
        (STEP + "{at: 0s, activate: *r1}\n", "3:24"),
        (STEP + "{at: 0s, activate: r1\n", "4:1"),
        ('scenario: "x\n', "2:1"),
        ("scenario: x: y\n", "1:12"),
    ],
)
def test_what_is_not_yaml_is_told_at_its_place(refusal: Refusal, body: str, place: str) -> None:
    assert refusal(body).startswith(f"{place}: ")


def test_a_byte_order_mark_is_no_part_of_the_text(failures: Failures) -> None:
    assert not failures("\ufeff" + STEP + "{at: 0s, activate: r1, expect: UNKNOWN_REQUEST}\n")


@pytest.mark.parametrize(
    "step",
    [
        "{at: 0s, read_history: {session: s1}, expect: %s}",
        "{at: 0s, ack: {request: r1, parent: p1, result: %s}}",
        "{at: 0s, register: {request: r1, session: s1, parents: %s}}",
    ],
)
def test_aliases_cannot_make_a_file_larger_than_it_is(
    refusal: Refusal, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source, "_MAX_VALUES", 100_000)
    line = refusal(STEP + step % bomb(9))
    assert line.startswith("3:")
    assert "100000 values" in line


@pytest.mark.parametrize(
    "body",
    [
        STEP + "{at: 0s, read_history: {session: s1}, expect: &a [*a]}",
        STEP + "{at: 0s, read_history: {session: s1}, expect: &a {b: *a}}",
        STEP + "{at: 0s, activate: r1, expect: &a {one_of: [*a]}}",
        STEP + "{at: 0s, activate: r1, expect: {status: &a {one_of: [*a]}}}",
        STEP + "{at: 0s, ack: {request: r1, parent: p1, result: &a [*a]}}",
        STEP + "{at: 0s, register: {request: r1, session: s1, parents: &a [*a]}}",
        STEP + "&a {at: 0s, together: [*a]}",
        "scenario: x\n\ntimeline: &a [*a]\n",
        "scenario: x\ntimeline: []\nthen: {history: {s1: &a [*a]}}\n",
        "scenario: x\ntimeline: []\nthen: {handles: &a {r1: *a}}\n",
        "scenario: x\ntimeline: []\nthen: {open_handles: &a {one_of: [*a]}}\n",
        "scenario: x\ntimeline: []\nthen: &a {history: *a}\n",
    ],
)
def test_a_value_that_contains_itself_is_refused(refusal: Refusal, body: str) -> None:
    assert refusal(body).startswith("3:")


def test_an_alias_that_is_none_of_these_is_legal(read: Read) -> None:
    scenario = read(STEP + "&step {at: 0s, activate: &r r1}\n  - *step\n  - {at: 1s, cancel: *r}\n")
    assert [moment.steps[0].verb.what for moment in scenario.timeline] == ["activate", "activate", "cancel"]


@pytest.mark.parametrize("depth", [1_000, 100_000])
@pytest.mark.parametrize(("left", "right"), [("[", "]"), ("{a: ", "}"), ("- ", "")])
def test_a_file_that_nests_too_deep_is_refused(refusal: Refusal, depth: int, left: str, right: str) -> None:
    assert refusal(f"scenario: x\ntimeline: []\nthen:\n  {left * depth}{right * depth}\n").startswith("4:")


def test_a_value_may_nest_as_deep_as_a_content_value_may(read: Read) -> None:
    deep = "[" * 100 + "]" * 100
    assert read(STEP + f"{{at: 0s, read_history: {{session: s1}}, expect: {deep}}}").timeline


def test_a_file_over_the_limit_of_size_is_refused_and_one_of_the_limit_is_read(write: Write) -> None:
    body = b"scenario: x\ntimeline: []\n#"
    path = write(body.ljust(MAX_BYTES, b"."))
    assert replay_file(path).passed
    assert replay_file(write(body.ljust(MAX_BYTES + 1, b"."))).invalid == (
        f"{path}:1:1: is larger than {MAX_BYTES} bytes; split it into several scenarios"
    )


def test_a_file_that_is_not_there_is_told_as_unreadable(tmp_path: Path) -> None:
    path = tmp_path / "nowhere.yaml"
    told = replay_file(path).invalid
    assert told is not None
    assert told.startswith(f"{path}:1:1: ")
    assert "No such file" in told


def test_nothing_in_a_file_is_ever_run(tmp_path: Path, refusal: Refusal) -> None:
    bait = tmp_path / "made-by-yaml"
    assert refusal(STEP + f'{{at: 0s, activate: !!python/object/apply:pathlib.Path.touch ["{bait}"]}}')
    assert not bait.exists()
