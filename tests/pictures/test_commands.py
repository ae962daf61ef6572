"""`--html` and `--trace`: what is written where, and what is told where that cannot be."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from dragoman.cli import run

from .runs import LATE
from .test_page import data_of


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "good.yaml").write_text(LATE.replace("EXPECTED", "STALE"), encoding="utf-8")
    (tmp_path / "bad.yaml").write_text(LATE.replace("EXPECTED", "ACCEPTED"), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_replay_draws_all_scenarios_the_failing_ones_first(folder: Path) -> None:
    assert run(["replay", "good.yaml", "bad.yaml", "--html", "out.html"]) == 1
    content = (folder / "out.html").read_bytes()
    assert [entry["passed"] for entry in data_of(content, "head")["index"]] == [False, True]
    assert data_of(content, "picture-0")["failures"][0][2:4] == ['"ACCEPTED"', '"STALE"']


def test_replay_writes_a_trace_with_a_process_for_each_scenario(folder: Path) -> None:
    assert run(["replay", "good.yaml", "good.yaml", "--trace", "out.json"]) == 0
    events = json.loads((folder / "out.json").read_bytes())["traceEvents"]
    assert {event["pid"] for event in events} == {1, 2}


def test_explore_draws_the_plain_run_where_no_order_failed(folder: Path) -> None:
    assert run(["explore", "good.yaml", "--schedules", "3", "--html", "out.html"]) == 0
    data = data_of((folder / "out.html").read_bytes(), "picture-0")
    assert data["passed"] is True
    assert "none failed" in data["remarks"][0]


def test_explore_draws_what_failed_with_its_step(folder: Path) -> None:
    assert run(["explore", "bad.yaml", "--schedules", "3", "--html", "out.html"]) == 1
    data = data_of((folder / "out.html").read_bytes(), "picture-0")
    assert data["passed"] is False
    (failure,) = data["failures"]
    assert data["events"][failure[5]][3] == "STALE"


@pytest.mark.parametrize("mode", ["threads", "simulated"])
def test_load_draws_its_run_without_a_text(folder: Path, mode: str) -> None:
    options = ["--requests", "6", "--parents", "5", "--mode", mode, "--trace", "out.json", "--html", "out.html"]
    assert run(["load", *options]) == 0
    data = data_of((folder / "out.html").read_bytes(), "picture-0")
    assert len(data["lanes"]) >= 6
    assert data["remarks"][-1] == "verdict: clean"
    texts = [parent[1] for lane in data["lanes"] for parent in lane[4]]
    assert texts
    assert all(isinstance(text, int) for text in texts)
    assert json.loads((folder / "out.json").read_bytes())["traceEvents"]


def test_translate_draws_its_run_without_a_text(folder: Path) -> None:
    (folder / "in.txt").write_text("The kingfisher waits.\n", encoding="utf-8")
    (folder / "program.py").write_text("import sys; print('Espera: ' + sys.stdin.read()[::-1])\n", encoding="utf-8")
    program = f"{sys.executable} program.py"
    options = ["--to", "es", "--from", "en", "--command", program, "--history", "history.db", "--html", "out.html"]
    assert run(["translate", "in.txt", *options]) == 0
    content = (folder / "out.html").read_bytes()
    assert b"kingfisher" not in content.lower()
    data = data_of(content, "picture-0")
    ((_parent, source, result, _state),) = data["lanes"][0][4]
    assert source == len("The kingfisher waits.")
    assert isinstance(result, int)
    assert result > source


@pytest.mark.parametrize(
    "command",
    [
        ["replay", "good.yaml", "--html"],
        ["replay", "good.yaml", "--trace"],
        ["explore", "good.yaml", "--html"],
        ["load", "--requests", "1", "--html"],
        ["load", "--requests", "1", "--trace"],
    ],
    ids=" ".join,
)
@pytest.mark.usefixtures("folder")
def test_a_place_that_cannot_be_written_is_told_before_anything_runs(
    command: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    assert run([*command, "nowhere/out"]) == 2
    told = capfd.readouterr()
    assert told.err == f"dragoman: {command[-1]}: nowhere/out is in a folder that does not exist\n"
    assert not told.out
