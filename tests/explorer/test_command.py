"""`dragoman explore` and `dragoman replay --schedule`: exit statuses, what is printed where, what is saved."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import pytest

from dragoman.cli import run
from dragoman.scenarios import SHIPPED

from .faults import FAULTS

RACE = (SHIPPED / "edges" / "race-a-timer-is-never-in-a-race.yaml").read_text(encoding="utf-8")
SMALL = (SHIPPED / "explorations" / "a-cancel-against-an-ack.yaml").read_text(encoding="utf-8")
WRONG = "scenario: a wrong one\ntimeline:\n  - {at: 1s, activate: r1, expect: ACTIVATED}\n"
INVALID = "scenario: no one\ntimelin: []\n"

INTERRUPTED_WHILE_IMPORTING = """
import signal, sys
from dragoman.__main__ import main

class Interrupts:
    def find_spec(self, name, path, target=None):
        if name == "dragoman.cli":
            signal.raise_signal(signal.SIGINT)

sys.meta_path.insert(0, Interrupts())
main()
"""


@attrs.frozen
class Said:
    """What a command left behind."""

    status: int
    out: str
    err: str

    @property
    def results(self) -> Any:
        return json.loads(self.out)


Command = Callable[..., Said]


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Command:
    for name, text in (("race", RACE), ("small", SMALL), ("wrong", WRONG), ("invalid", INVALID)):
        (tmp_path / f"{name}.yaml").write_text(text, encoding="utf-8")
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path)

    def ran(*arguments: str) -> Said:
        capfd.readouterr()
        status = run(arguments)
        return Said(status, *capfd.readouterr())

    return ran


@pytest.fixture
def faulty(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    FAULTS["does_not_wait_for_answers_on_their_way"](monkeypatch)
    return monkeypatch


@pytest.mark.parametrize("json_too", [(), ("--json",)])
@pytest.mark.parametrize(
    ("files", "status"),
    [
        (["small.yaml"], 0),
        (["wrong.yaml"], 1),
        (["small.yaml", "wrong.yaml"], 1),
        (["invalid.yaml", "small.yaml"], 2),
        (["wrong.yaml", "invalid.yaml"], 2),
        (["nowhere.yaml"], 2),
        (["empty"], 2),
    ],
)
def test_the_exit_status_is_that_of_the_worst_file(
    command: Command, files: list[str], status: int, json_too: tuple[str, ...]
) -> None:
    assert command("explore", *files, "--schedules", "5", *json_too).status == status


def test_a_complete_exploration_says_so_with_the_number(command: Command) -> None:
    said = command("explore", "small.yaml", "--strategy", "exhaustive")
    assert "every one of 5 orders" in said.out
    assert said.err == ""


def test_an_exploration_that_was_ended_says_that_it_is_not_complete(command: Command) -> None:
    said = command("explore", "race.yaml", "--strategy", "exhaustive", "--schedules", "4")
    assert "4 schedules; the number of schedules ended before every order was seen" in said.out
    said = command("explore", "race.yaml", "--strategy", "exhaustive", "--budget", "0.001ms")
    assert "the time ended before every order was seen" in said.out
    assert said.status == 0


@pytest.mark.parametrize("strategy", ["random", "pct"])
def test_a_budget_that_ended_early_is_told_on_the_line_that_passed(command: Command, strategy: str) -> None:
    said = command("explore", "race.yaml", "--strategy", strategy, "--budget", "0.001ms")
    passed = said.out.splitlines()[0]
    assert passed.startswith("passed")
    assert "1 order in 1 schedule; the time ended before every schedule was run" in passed
    said = command("explore", "race.yaml", "--strategy", strategy, "--schedules", "1", "--budget", "0.001ms")
    assert "ended" not in said.out


def test_the_json_is_one_array_and_nothing_else(command: Command) -> None:
    said = command("explore", "small.yaml", "invalid.yaml", "--strategy", "exhaustive", "--json")
    small, invalid = said.results
    digest = small.pop("digest")
    assert len(digest) == 32
    assert small == {
        "file": "small.yaml",
        "scenario": "a cancel against an ACK",
        "passed": True,
        "invalid": None,
        "strategy": "exhaustive",
        "seed": 0,
        "schedules": 5,
        "cut_off": 0,
        "orders": 5,
        "complete": True,
        "serial_outcomes": 2,
        "undecided": 0,
        "out_of_time": False,
        "failure": None,
    }
    assert invalid["passed"] is False
    assert invalid["invalid"].startswith("invalid.yaml:2:1: unknown key timelin")


def test_a_failure_is_shown_saved_and_repeated_exactly(command: Command, faulty: pytest.MonkeyPatch) -> None:
    said = command("explore", "small.yaml", "race.yaml", "--save", "found.json")
    assert said.status == 1
    assert "dragoman replay --schedule found.json" in said.out
    marked = [line for line in said.out.splitlines() if "  choice  " in line]
    assert 1 <= len(marked) <= 3

    saved = json.loads(Path("found.json").read_text())
    assert saved["scenario"] == "race.yaml"
    assert saved.keys() == {"version", "scenario", "sha256", "seed", "tape", "kind", "order"}

    again = command("replay", "--schedule", "found.json", "--timeline")
    assert again.status == 1
    assert [line for line in again.out.splitlines() if "  choice  " in line] == marked
    message = "no order of whole steps comes to this"
    assert message in said.out
    assert message in again.out

    told = command("replay", "--schedule", "found.json", "--json").results
    assert [result["passed"] for result in told] == [False]
    assert message in told[0]["failures"][0]["message"]

    faulty.undo()
    mended = command("replay", "race.yaml", "--schedule", "found.json")
    assert mended.status in (0, 2)


@pytest.mark.usefixtures("faulty")
def test_each_failure_has_a_file_of_its_own(command: Command) -> None:
    Path("other.yaml").write_text(RACE, encoding="utf-8")
    said = command("explore", "race.yaml", "other.yaml", "--save", "found.json", "--json")
    assert [result["failure"]["saved"] for result in said.results] == ["found.json", "found-2.json"]
    assert json.loads(Path("found-2.json").read_text())["scenario"] == "other.yaml"


@pytest.mark.usefixtures("faulty")
def test_a_failure_whose_schedule_cannot_be_written_is_shown_all_the_same(command: Command) -> None:
    Path("found.json").symlink_to("nowhere/found.json")
    said = command("explore", "race.yaml", "--save", "found.json")
    assert said.status == 1
    assert "no order of whole steps comes to this" in said.out
    assert any("  choice  " in line for line in said.out.splitlines())
    assert "saved" not in said.out
    (line,) = said.err.splitlines()
    assert line == "dragoman: --save found.json: the schedule cannot be written: No such file or directory"

    told = command("explore", "race.yaml", "--save", "found.json", "--json")
    assert told.status == 1
    assert told.results[0]["failure"]["saved"] is None
    assert told.err.splitlines() == [line]


@pytest.mark.parametrize(
    ("place", "words"),
    [
        ("nowhere/found.json", "--save nowhere/found.json: it is in a folder that does not exist"),
        ("race.yaml/found.json", "--save race.yaml/found.json: it is in a folder that does not exist"),
        ("empty", "--save empty: it is a folder"),
        ("", "--save '': must be the name of a file"),
        ("small.yaml", "--save small.yaml: it exists and is not a schedule: it is not JSON"),
        ("/dev/null", "--save /dev/null: it exists and is no file"),
        ("n" * 300, f"--save {'n' * 300}: it cannot be looked at: File name too long"),
    ],
)
def test_a_place_where_no_schedule_may_go_is_refused_before_anything_runs(
    command: Command, place: str, words: str
) -> None:
    said = command("explore", "small.yaml", "--save", place)
    assert (said.status, said.out, said.err) == (2, "", f"dragoman: {words}\n")
    assert Path("small.yaml").read_text(encoding="utf-8") == SMALL


def test_the_place_that_nobody_chose_is_looked_at_too(command: Command) -> None:
    Path("schedule.json").write_text('{"version": 1}')
    said = command("explore", "small.yaml")
    assert said.status == 2
    assert said.err.startswith("dragoman: --save schedule.json: it exists and is not a schedule: it lacks the key")
    assert Path("schedule.json").read_text() == '{"version": 1}'


@pytest.mark.usefixtures("schedule")
def test_a_schedule_is_replaced_and_any_other_file_is_passed_over(command: Command) -> None:
    Path("other.yaml").write_text(RACE, encoding="utf-8")
    Path("found-2.json").write_text("[]")
    said = command("explore", "other.yaml", "race.yaml", "--save", "found.json", "--json")
    assert [result["failure"]["saved"] for result in said.results] == ["found.json", "found-3.json"]
    assert json.loads(Path("found.json").read_text())["scenario"] == "other.yaml"
    assert Path("found-2.json").read_text() == "[]"


@pytest.fixture
def schedule(command: Command, request: pytest.FixtureRequest) -> dict[str, Any]:
    """A schedule of `race.yaml` that was saved as `found.json`, with the fault still there."""
    request.getfixturevalue("faulty")
    command("explore", "race.yaml", "--save", "found.json", "--json")
    found: dict[str, Any] = json.loads(Path("found.json").read_text())
    return found


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"tape": [0, 0, 99]}, "choice 3 is 99"),
        ({"tape": [0] * 300 + [1]}, "the run ends after"),
        ({"tape": [-1]}, "tape must be"),
        ({"tape": [True]}, "tape must be"),
        ({"order": "0" * 32}, "another order"),
        ({"sha256": "0" * 64}, "another digest"),
        ({"version": 2}, "version must be 1"),
        ({"version": True}, "version must be of the type int"),
        ({"kind": "BAD"}, "kind must be one of"),
        ({"seed": None}, "seed must be of the type int"),
        ({"scenario": "nowhere.yaml"}, "the scenario that it names, nowhere.yaml:1:1: cannot be read"),
        ({"scenario": "empty"}, "the scenario that it names, empty:1:1: cannot be read"),
        ({"scenario": "no\nwhere.yaml"}, "the scenario that it names, 'no\\nwhere.yaml':1:1: cannot be read"),
        ({"scenario": ""}, "scenario must be the way to a file"),
        ({"scenario": "race\0.yaml"}, "scenario must be the way to a file"),
        ({"scenario": "race\ud800.yaml"}, "scenario must be the way to a file"),
        ({"more": 1}, "keys too many"),
    ],
)
def test_a_schedule_that_does_not_fit_is_a_clear_error(
    command: Command, schedule: dict[str, Any], change: dict[str, Any], words: str
) -> None:
    Path("changed.json").write_text(json.dumps(schedule | change))
    said = command("replay", "--schedule", "changed.json")
    assert said.status == 2
    assert len(said.err.splitlines()) == 1
    assert said.err.startswith("changed.json: ")
    assert words in said.err


def test_a_schedule_that_lacks_a_key_or_is_none_is_a_clear_error(command: Command, schedule: dict[str, Any]) -> None:
    del schedule["tape"]
    Path("short.json").write_text(json.dumps(schedule))
    assert "lacks the key tape" in command("replay", "--schedule", "short.json").err
    for body in (b"\xff", b"[]", b"{", b"[" * 100_000):
        Path("none.json").write_bytes(body)
        assert command("replay", "--schedule", "none.json").status == 2
    assert command("replay", "--schedule", "nowhere.json").status == 2
    assert command("replay", "small.yaml", "race.yaml", "--schedule", "found.json").status == 2


@pytest.mark.parametrize(
    "arguments",
    [
        ["--strategy", "best"],
        ["--schedules", "0"],
        ["--schedules", "many"],
        ["--budget", "soon"],
        ["--budget", "-1s"],
        ["--budget", "nan"],
        ["--no-such-option"],
    ],
)
def test_a_usage_error_is_one_line_and_status_2(command: Command, arguments: list[str]) -> None:
    said = command("explore", "small.yaml", *arguments)
    assert said.status == 2
    assert said.out == ""
    assert len(said.err.splitlines()) == 1


@pytest.mark.parametrize("budget", ["0", "0ms", "0.0min"])
def test_a_budget_of_nothing_is_refused(command: Command, budget: str) -> None:
    said = command("explore", "small.yaml", "--budget", budget)
    assert (said.status, said.out, said.err) == (2, "", "dragoman: --budget must be more than 0\n")


@pytest.mark.parametrize("budget", ["30s", "500ms", "1min", "2.5"])
def test_a_budget_is_a_duration_of_the_language(command: Command, budget: str) -> None:
    assert command("explore", "small.yaml", "--schedules", "3", "--budget", budget).status == 0


def test_without_a_path_the_shipped_explorations_run(command: Command) -> None:
    said = command("explore", "--schedules", "2", "--json")
    assert len(said.results) == len(list((SHIPPED / "explorations").glob("*.yaml")))
    assert said.status == 0


def test_the_help_names_the_options_and_the_exit_statuses(command: Command) -> None:
    said = command("explore", "--help")
    assert said.status == 0
    assert all(option in said.out for option in ("--schedules", "--strategy", "--seed", "--budget", "--json", "--save"))
    assert all(f"{status} if" in " ".join(said.out.split()) for status in (0, 1, 2))


def test_an_interrupt_while_the_command_is_imported_has_the_status_of_any_other(tmp_path: Path) -> None:
    words = [sys.executable, "-c", INTERRUPTED_WHILE_IMPORTING]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "dragoman: interrupted\n")
