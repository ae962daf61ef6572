"""`dragoman load`: its output, its exit status, and that no text of a conversation leaves it."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from dragoman.cli import run

from ..acceptance.mutants import MUTANTS

SHORT = ["load", "--mode", "simulated", "--faults", "heavy", "--requests", "12", "--parents", "8", "--sessions", "3"]


def test_a_clean_run_exits_with_0_and_tells_figures(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(SHORT) == 0
    out = capsys.readouterr().out
    assert out.endswith("verdict: clean\n")
    for word in ("parents/s", "p99.9", "memory", "digest", "judged"):
        assert word in out


def test_json_is_one_object_and_nothing_else(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*SHORT, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["clean"] is True
    assert told["requests"] == 12


def test_a_breach_exits_with_1_and_shows_ids_only(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    MUTANTS["commits_in_arrival_order"](monkeypatch)
    assert run(SHORT) == 1
    told = capsys.readouterr().out
    assert "broken: turns stand in canonical order" in told
    assert "ack r" in told
    assert "source " not in told
    assert "accepted source" not in told
    assert run([*SHORT, "--json"]) == 1
    told = capsys.readouterr().out
    assert json.loads(told)["breaches"]
    assert "source " not in told


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["--mode", "processes"], "--mode"),
        (["--faults", "worst"], "--faults"),
        (["--duration", "soon"], "--duration: "),
        (["--duration", "0s"], "--duration: "),
        (["--count", "0"], "--count: "),
        (["--count", "1", "--duration", "1s"], "--count and --duration: "),
        (["--requests", "1", "--count", "1"], "--requests and --count: "),
        (["--requests", "200", "--duration", "1s"], "--requests and --duration: "),
        (["--sessions", "many"], "--sessions"),
        (["--callers", "0"], "--callers: "),
        (["--seed", "-1"], "--seed: "),
        (["--switch-interval", "nan"], "--switch-interval: "),
        (["--switch-interval", "1e300"], "--switch-interval: "),
        (["--switch-interval", "0.001", "--mode", "simulated"], "--switch-interval: "),
    ],
)
def test_bad_usage_exits_with_2_and_names_the_option(
    arguments: list[str], named: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["load", *arguments]) == 2
    captured = capsys.readouterr()
    assert named in captured.err
    assert captured.out == ""


def test_a_count_is_of_parents_and_the_json_tells_what_was_run(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["load", "--mode", "simulated", "--faults", "light", "--count", "10", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["requests"], told["parents"]) == (1, 10)
    assert (told["options"]["requests"], told["options"]["count"]) == (1, 10)


def test_one_request_is_told_as_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*SHORT[:-6], "--requests", "1", "--parents", "2"]) == 0
    assert ": 1 request with 2 parents, 8 callers, 40 sessions at a time\n" in capsys.readouterr().out


def test_a_clean_verdict_tells_of_sessions_that_could_not_be_judged(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dragoman.scenarios.verdict_search._MAX_POSSIBILITIES", 0)
    assert run([*SHORT[:3], "--faults", "none", "--requests", "2", "--parents", "3", "--sessions", "1"]) == 0
    assert capsys.readouterr().out.endswith("\nverdict: clean, but 1 session could not be judged\n")


INTERRUPTED = """
import itertools
import sys
from dragoman.cli import run
from dragoman.scenarios import load_recorder

answer, answers = load_recorder.Recorder.answer, itertools.count()

def told(recorder, move, began_ns, reply):
    if next(answers) == 500:
        print("runs", flush=True)
    return answer(recorder, move, began_ns, reply)

load_recorder.Recorder.answer = told
sys.exit(run(sys.argv[1:]))
"""


@pytest.mark.parametrize("mode", ["threads", "async", "simulated"])
def test_an_interrupt_ends_a_run_at_once_and_without_noise(mode: str, tmp_path: Path) -> None:
    arguments = ["load", "--mode", mode, "--faults", "none", "--duration", "10min"]
    with subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED, *arguments],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as running:
        try:
            assert running.stdout is not None
            assert running.stdout.readline() == "runs\n"
            running.send_signal(signal.SIGINT)
            out, err = running.communicate(timeout=10)
        finally:
            running.kill()
    assert running.returncode == 130
    assert (out, err) == ("", "")


def test_an_interrupt_exits_with_130(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("dragoman.scenarios.load_callers._run_blocking", interrupted)
    with pytest.raises(SystemExit) as ended:
        run(["load", "--requests", "5"])
    assert ended.value.code == 130
