"""`dragoman timeline`: what it writes, what it says, and its exit status."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from dragoman import Handoff, Parent, Runtime, Settings
from dragoman.cli import run

from ..acceptance.mutants import MUTANTS


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    path = tmp_path / "journal"
    with Runtime(Settings(journal=path)) as runtime:
        for number in (1, 2):
            parents = (Parent("p1", 0, "Hello"), Parent("p2", 1, "World"))
            runtime.register(Handoff(f"r{number}", f"s{number}", "openai", "select-element", parents)).get()
            runtime.acknowledge(f"r{number}", "p2", "Welt").get()
            runtime.acknowledge(f"r{number}", "p1", "Hallo").get()
    return path


def test_a_journal_becomes_a_scenario_that_replays(
    journal: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scenario = tmp_path / "scenario.yaml"
    assert run(["timeline", str(journal), "-o", str(scenario)]) == 0
    assert capsys.readouterr().out == f"6 steps, 0 of them together with others\n{scenario}: replays to the same\n"
    assert run(["replay", str(scenario)]) == 0


def test_the_name_and_the_sessions_can_be_chosen(journal: Path, tmp_path: Path) -> None:
    scenario = tmp_path / "scenario.yaml"
    assert run(["timeline", str(journal), "-o", str(scenario), "--session", "s2", "--name", "only s2"]) == 0
    document = yaml.safe_load(scenario.read_text(encoding="utf-8"))
    assert document["scenario"] == "only s2"
    assert document["then"]["history"].keys() == {"s2"}


def test_a_scenario_that_comes_to_something_else_is_written_and_told(
    journal: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    MUTANTS["commits_in_arrival_order"](monkeypatch)
    scenario = tmp_path / "scenario.yaml"
    assert run(["timeline", str(journal), "-o", str(scenario)]) == 1
    assert "comes to something else" in capsys.readouterr().out
    assert scenario.exists()
    assert run(["timeline", str(journal), "-o", str(scenario), "--no-check"]) == 0


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["{tmp}/missing", "-o", "{tmp}/out"], "{tmp}/missing: there is no such file"),
        (["{tmp}/other", "-o", "{tmp}/out"], "{tmp}/other:1: is no line of a journal"),
        (["{tmp}/empty", "-o", "{tmp}/out"], "{tmp}/empty: is no journal"),
        (["{tmp}/journal", "-o", "{tmp}/no/out"], "--output: {tmp}/no/out "),
        (["{tmp}/journal", "-o", "{tmp}/out", "--session", "s9"], "does not tell of a session 's9'"),
        (["{tmp}/journal"], "--output"),
    ],
)
def test_what_is_wrong_is_said(
    arguments: list[str], told: str, journal: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "other").write_text("not of ours\n", encoding="utf-8")
    (tmp_path / "empty").write_bytes(b"")
    assert journal.exists()
    assert run(["timeline", *(argument.format(tmp=tmp_path) for argument in arguments)]) == 2
    assert told.format(tmp=tmp_path) in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_a_load_run_keeps_a_journal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    journal = tmp_path / "journal"
    options = ["--requests", "6", "--parents", "6", "--faults", "none"]
    assert run(["load", *options, "--journal", str(journal)]) == 0
    assert run(["timeline", str(journal), "-o", str(tmp_path / "scenario.yaml")]) == 0
    assert run(["load", *options, "--journal", str(tmp_path / "no" / "journal")]) == 2
    assert "--journal: cannot be written" in capsys.readouterr().err


ODD = (
    "no",
    "1e3",
    "12",
    "a: b",
    'e\n"q"',
    "x/y",
    "- z",
    "{a}",
    "~",
    "0x1F",
    "#c",
    "'",
    "\\",
    "\u2028",
    "\U0001f600",
    " lead",
    "=",
    "<<",
)


def test_odd_ids_come_out_of_it_as_they_were(tmp_path: Path) -> None:
    path, scenario = tmp_path / "journal", tmp_path / "scenario.yaml"
    with Runtime(Settings(journal=path)) as runtime:
        for name in ODD:
            parents = (Parent(name, 0, "Hello"), Parent("\\ud800", 1, " x "))
            runtime.register(Handoff(name, f"of {name}", "openai", "select-element", parents)).get()
            runtime.acknowledge(name, name, "Hallo").get()
            runtime.history(f"of {name}").get()
    assert run(["timeline", str(path), "-o", str(scenario)]) == 0
    assert yaml.safe_load(scenario.read_text(encoding="utf-8"))["then"]["history"].keys() == {
        f"of {name}" for name in ODD
    }


def test_an_id_that_no_file_can_hold_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "journal"
    with Runtime(Settings(journal=path)) as runtime:
        runtime.claim_turn("\ud800").get()
    assert run(["timeline", str(path), "-o", str(tmp_path / "scenario.yaml")]) == 2
    assert "half a surrogate pair" in capsys.readouterr().err
