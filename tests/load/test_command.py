"""`dragoman load`: its output, its exit status, and that no text of a conversation leaves it."""

from __future__ import annotations

import json

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
        (["--mode", "processes"], "mode"),
        (["--faults", "worst"], "faults"),
        (["--duration", "soon"], "duration"),
        (["--duration", "0s"], "duration"),
        (["--count", "0"], "count"),
        (["--count", "1", "--duration", "1s"], "count"),
        (["--sessions", "many"], "sessions"),
        (["--callers", "0"], "callers"),
    ],
)
def test_bad_usage_exits_with_2_and_names_the_option(
    arguments: list[str], named: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["load", *arguments]) == 2
    captured = capsys.readouterr()
    assert named in captured.err
    assert captured.out == ""


def test_an_interrupt_exits_with_130(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("dragoman.scenarios.load_callers._run_blocking", interrupted)
    with pytest.raises(SystemExit) as ended:
        run(["load", "--requests", "5"])
    assert ended.value.code == 130
