"""`dragoman replay`: exit statuses, and what it prints where (language page, first section)."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import pytest

from dragoman.cli import run

GOOD = "scenario: a good one\ntimeline:\n  - {at: 1s, activate: r1, expect: UNKNOWN_REQUEST}\n"
BAD = "scenario: a bad one\ntimeline:\n  - {at: 1s, activate: r1, expect: ACTIVATED}\nthen: {open_handles: 3}\n"
INVALID = "scenario: no one\ntimelin: []\n"


@attrs.frozen
class Said:
    """What a command left behind."""

    status: int
    out: str
    err: str

    @property
    def results(self) -> Any:
        """The one JSON document on standard output, by the letter of JSON."""

        def refuse(constant: str) -> None:
            raise AssertionError(f"{constant} is no JSON")

        return json.loads(self.out, parse_constant=refuse)


Command = Callable[..., Said]


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Command:
    """Run the command line in a folder with one file of each kind."""
    for name, text in (("good", GOOD), ("bad", BAD), ("invalid", INVALID)):
        (tmp_path / f"{name}.yaml").write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)

    def ran(*arguments: str) -> Said:
        capfd.readouterr()
        status = run(arguments)
        return Said(status, *capfd.readouterr())

    return ran


@pytest.mark.parametrize("json_too", [(), ("--json",), ("--timeline",), ("--json", "--timeline")])
@pytest.mark.parametrize(
    ("files", "status"),
    [
        (["good.yaml"], 0),
        (["bad.yaml"], 1),
        (["good.yaml", "bad.yaml"], 1),
        (["invalid.yaml"], 2),
        (["invalid.yaml", "good.yaml"], 2),
        (["bad.yaml", "invalid.yaml"], 2),
        (["nowhere.yaml"], 2),
        (["good.yaml", "nowhere.yaml"], 2),
        (["."], 2),
    ],
)
def test_the_exit_status_is_that_of_the_worst_file(
    command: Command, files: list[str], status: int, json_too: tuple[str, ...]
) -> None:
    assert command("replay", *files, *json_too).status == status


def test_the_json_is_that_of_the_page(command: Command) -> None:
    said = command("replay", "good.yaml", "bad.yaml", "invalid.yaml", "--json")
    good, bad, invalid = said.results
    assert good == {
        "file": "good.yaml",
        "scenario": "a good one",
        "passed": True,
        "invalid": None,
        "failures": [],
    }
    assert list(good) == list(bad) == list(invalid) == ["file", "scenario", "passed", "invalid", "failures"]
    assert (bad["file"], bad["scenario"], bad["passed"], bad["invalid"]) == ("bad.yaml", "a bad one", False, None)
    step, then = bad["failures"]
    assert list(step) == list(then) == ["line", "step", "expected", "actual", "message"]
    assert (step["line"], step["step"], step["expected"], step["actual"]) == (3, 0, "ACTIVATED", "UNKNOWN_REQUEST")
    assert (then["line"], then["step"], then["expected"], then["actual"]) == (4, None, 3, 0)
    assert all(isinstance(failure["message"], str) and failure["message"] for failure in bad["failures"])
    assert (invalid["file"], invalid["passed"], invalid["failures"]) == ("invalid.yaml", False, [])
    assert invalid["invalid"] == "invalid.yaml:2:1: unknown key timelin in a scenario; did you mean timeline?"


def test_the_json_is_the_only_thing_on_standard_output(command: Command) -> None:
    said = command("replay", ".", "nowhere.yaml", "--json", "--timeline")
    assert [result["file"] for result in said.results] == ["bad.yaml", "good.yaml", "invalid.yaml", "nowhere.yaml"]
    assert said.out.count("\n[") == 0
    assert "r1" in said.err


def test_a_value_that_json_does_not_know_is_still_json(command: Command, tmp_path: Path) -> None:
    text = "scenario: x\ntimeline:\n  - {at: 0s, read_history: {session: s1}, expect: [.nan, .inf, 2020-01-01]}\n"
    (tmp_path / "odd.yaml").write_text(text)
    (result,) = command("replay", "odd.yaml", "--json").results
    assert not result["passed"]
    assert result["failures"][0]["actual"] == []


def test_a_reply_is_json_whatever_it_holds(command: Command, tmp_path: Path) -> None:
    text = "scenario: Ölwechsel 東\ntimeline:\n  - {at: 0s, claim_turn: {session: s1}, expect: {one_of: [2, [ü]]}}\n"
    (tmp_path / "odd.yaml").write_text(text, encoding="utf-8")
    (result,) = command("replay", "odd.yaml", "--json").results
    assert result["scenario"] == "Ölwechsel 東"
    assert result["failures"][0]["expected"] == {"one_of": [2, ["ü"]]}
    assert result["failures"][0]["actual"] == 1


def test_a_folder_stands_for_all_yaml_files_below_it(command: Command, tmp_path: Path) -> None:
    below = tmp_path / "folder" / "deeper"
    below.mkdir(parents=True)
    for path in (below / "b.yaml", below / "a.yaml", below.parent / "c.yaml", below / "no.yml", below / "no.txt"):
        path.write_text(GOOD)
    (below / "not-a-file.yaml").mkdir()
    said = command("replay", "folder", "--json")
    assert said.status == 0
    assert [Path(result["file"]).name for result in said.results] == ["c.yaml", "a.yaml", "b.yaml"]


def test_a_file_may_have_any_name(command: Command, tmp_path: Path) -> None:
    (tmp_path / "[red] scenario.txt").write_text(GOOD.replace("activate", "activat"))
    said = command("replay", "[red] scenario.txt")
    assert said.status == 2
    assert "[red] scenario.txt:3:14: " in said.err


def test_a_folder_without_scenarios_is_nothing_found(command: Command, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    said = command("replay", "empty", "good.yaml", "--json")
    assert said.status == 2
    assert [result["file"] for result in said.results] == ["good.yaml"]
    assert command("replay", "empty", "--json").results == []


def test_an_invalid_file_is_one_error_line_and_the_others_still_run(command: Command) -> None:
    said = command("replay", "invalid.yaml", "good.yaml")
    lines = [line for line in (said.out + said.err).splitlines() if "invalid.yaml" in line]
    assert lines == ["invalid.yaml:2:1: unknown key timelin in a scenario; did you mean timeline?"]
    assert "a good one" in said.out


@pytest.mark.parametrize(
    "text",
    [
        f"scenario: x\nsettings: {{ack_window: 1{'0' * 400}}}\ntimeline: []\n",
        "scenario: x\ntimeline: []\nthen: {open_handles: &a {one_of: [*a]}}\n",
        "\x00",
        "[" * 10_000,
    ],
    ids=["a huge number", "an alternative of itself", "a control character", "a deep list"],
)
def test_whatever_is_wrong_with_a_file_the_others_still_run(command: Command, tmp_path: Path, text: str) -> None:
    (tmp_path / "a-strange.yaml").write_text(text)
    said = command("replay", "a-strange.yaml", "good.yaml", "--json")
    assert said.status == 2
    assert [result["passed"] for result in said.results] == [False, True]


def test_a_failure_is_told_with_its_place_and_what_was_so(command: Command) -> None:
    said = command("replay", "bad.yaml")
    assert "bad.yaml:3: " in said.out
    assert "bad.yaml:4: " in said.out
    assert "ACTIVATED" in said.out
    assert "UNKNOWN_REQUEST" in said.out


def test_text_in_a_pipe_is_plain_and_unwrapped(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    long = "a name that is longer than a line of any terminal " * 5
    (tmp_path / "long.yaml").write_text(f"scenario: {long}\ntimeline: []\n")
    said = command("replay", ".", "--timeline")
    assert "\x1b" not in said.out + said.err
    assert long.strip() in said.out


def test_the_timeline_shows_messages_timers_and_states_in_the_order_of_time(command: Command, tmp_path: Path) -> None:
    (tmp_path / "timers.yaml").write_text(
        """\
scenario: a window ends
settings: {ack_window: 5s}
timeline:
  - {at: 1s, register: {request: r1, session: s1, parents: {p1: canary source, p2: canary source}}}
  - {at: 2s, activate: r1}
  - {at: 3s, ack: {request: r1, parent: p1, result: canary translation}}
  - {at: 60s, wait: }
then: {history: {s1: [[canary source, canary translation]]}, closed: {r1: EXPIRED}}
"""
    )
    said = command("replay", "timers.yaml", "--timeline")
    assert said.status == 0
    events = [
        line.split() for line in said.out.splitlines() if line.split()[0].endswith("s") and "." in line.split()[0]
    ]
    times = [float(event[0].removesuffix("s")) for event in events]
    assert times == sorted(times)
    assert {1.0, 2.0, 3.0, 7.0} <= set(times)
    assert {"message", "timer", "state"} <= {event[1] for event in events}
    assert any("Acknowledge" in line for line in said.out.splitlines())
    assert any(event[0] == "7.000000s" and event[1] == "timer" for event in events)
    assert any("EXPIRED" in event for event in events)
    assert "canary" not in said.out + said.err


def test_a_timeline_of_any_length_of_time_can_be_shown(command: Command, tmp_path: Path) -> None:
    (tmp_path / "long.yaml").write_text(f"scenario: x\ntimeline:\n  - {{at: 1{'0' * 20}h, wait: }}\n")
    assert command("replay", "long.yaml", "--timeline").status == 0


def test_a_seed_gives_the_same_run_every_time(command: Command, tmp_path: Path) -> None:
    (tmp_path / "marked.yaml").write_text(
        """\
scenario: drawn from the seed
timeline:
  - {at: 0s, register: {request: r1, session: s1, parents: {p1: a}}, expect: REGISTERED}
  - {at: 0s, ack: {request: r1, parent: p1, result: {marked: [a, b]}}, expect: INVALID_RESULT}
"""
    )
    for seed in ("0", "1", "123456789012345678901234567890"):
        said = command("replay", "marked.yaml", "--seed", seed, "--json")
        assert said.status == 0
        assert said == command("replay", "marked.yaml", "--json", "--seed", seed)


def test_without_a_path_the_shipped_scenarios_run(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shipped = tmp_path / "shipped" / "deeper" / "one.yaml"
    shipped.parent.mkdir(parents=True)
    shipped.write_text(GOOD)
    monkeypatch.setattr("dragoman.scenarios.SHIPPED", tmp_path / "shipped")
    said = command("replay", "--json")
    assert said.status == 0
    assert [result["file"] for result in said.results] == [str(shipped)]


@pytest.mark.parametrize(
    "arguments",
    [
        ["replay", "--no-such-option"],
        ["replay", "good.yaml", "--seed"],
        ["replay", "good.yaml", "--seed", "one"],
        ["replay", "good.yaml", "--json=perhaps"],
        ["replai", "good.yaml"],
        ["--no-such-option"],
    ],
)
def test_a_usage_error_is_one_line_and_status_2(command: Command, arguments: list[str]) -> None:
    said = command(*arguments)
    assert said.status == 2
    assert said.out == ""
    assert len(said.err.splitlines()) == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--help"], ["replay", "--version"]),
        ([], ["replay"]),
        (["replay", "--help"], ["--seed", "--json", "--timeline", "yaml"]),
    ],
)
def test_help_is_no_error_and_names_what_there_is(command: Command, arguments: list[str], words: list[str]) -> None:
    said = command(*arguments)
    assert said.status == 0
    assert all(word.lower() in said.out.lower() for word in words)


def test_the_help_of_replay_tells_the_exit_statuses(command: Command) -> None:
    said = command("replay", "--help")
    assert all(f"{status} if" in " ".join(said.out.split()) for status in (0, 1, 2))
