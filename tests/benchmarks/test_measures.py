"""Every measure runs at a tiny size, its committed orders are checked, and the report has a row for each figure."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from benchmarks import figures as figures_module
from benchmarks import others as others_module
from benchmarks import sharding as sharding_module
from benchmarks.__main__ import main
from benchmarks.committed import Order
from benchmarks.contestants import RUNTIME_CONTESTANTS, callers_of_all_sessions, plain, seconds
from benchmarks.figures import Comparison, Figure, compare
from benchmarks.measures import MEASURES
from benchmarks.report import as_json, as_text
from benchmarks.sizes import SIZES
from benchmarks.stock_pykka import stock_blocking, stock_pipelined
from benchmarks.task_per_handle import tasks_awaiting, tasks_from_a_thread, tasks_in_flight
from benchmarks.workload import make_workload
from dragoman import Settings

ASKED_FOR = {
    "acceptance": [(2, 1.25), (2.5, 1.75), (6, 4), (1.5, 1.2)],
    "acceptance-of-many": [(2, 1.25), (2.5, 1.75), (6, 4), (1.5, 1.2)],
    "growing-requests": [(1.25, 1.1)],
    "open-handles": [(1.3, 1.15), (2048, 1536), (4, 3)],
    "documents": [(1.3, None)],
    "journal": [(1.15, None)],
    "metrics": [(1.03, None)],
    "content-store": [(1.5, 1.2)],
    "content-workload": [(1.5, 1.25)],
}
"""The limits and aims that the issue names, by measure."""


@pytest.fixture(autouse=True)
def each_side_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figures_module, "STEADY_S", 0.0)


@pytest.fixture
def without_ray(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that was connected to one cluster cannot start actors in another, as other tests here do."""
    for module in (others_module, sharding_module):
        monkeypatch.setattr(module, "why_no_ray", lambda: "Ray has a test of its own")


@pytest.mark.skipif(find_spec("ray") is None, reason="Ray is not installed")
def test_the_figures_with_ray_are_taken_in_a_process_of_their_own(tmp_path: Path) -> None:
    saved = tmp_path / "figures.json"
    asked = [sys.executable, "-m", "benchmarks", "--only", "sharding", "--size", "tiny", "--runs", "1", "--json", saved]
    subprocess.run(asked, check=True, timeout=110, cwd=Path(__file__).parents[2], stdout=subprocess.DEVNULL)
    rows = json.loads(saved.read_text(encoding="utf-8"))["measures"]["sharding"]
    assert rows
    assert all(len(row["values"]) == 1 and row["values"][0] > 0 for row in rows)


@pytest.mark.parametrize("name", MEASURES)
@pytest.mark.usefixtures("without_ray")
def test_a_measure_has_its_figures(name: str) -> None:
    rows = MEASURES[name](SIZES["tiny"], 1)
    assert rows
    for figure in rows:
        assert figure.skipped or (len(figure.values) == 1 and figure.values[0] >= 0), figure.title
    limits = {(figure.at_most, figure.aim) for figure in rows}
    assert limits >= set(ASKED_FOR.get(name, []))
    text = as_text({name: rows})
    assert all(figure.title in text for figure in rows)
    assert len({figure.title for figure in rows}) == len(rows)
    assert [entry["title"] for entry in as_json({name: rows})["measures"][name]] == [figure.title for figure in rows]


CONTESTANTS = {
    "plain": plain,
    **RUNTIME_CONTESTANTS,
    "callers_of_all_sessions": callers_of_all_sessions,
    "stock_blocking": stock_blocking,
    "stock_pipelined": stock_pipelined,
    "tasks_awaiting": tasks_awaiting,
    "tasks_in_flight": tasks_in_flight,
    "tasks_from_a_thread": tasks_from_a_thread,
}


ORDERS = {"callers_of_all_sessions": Order.ANY}


@pytest.mark.parametrize("name", CONTESTANTS)
def test_a_contestant_commits_every_parent_in_order(name: str) -> None:
    """With sessions that keep all turns, so that every one of them is looked at, and not the newest alone."""
    workload = make_workload(requests=9, sessions=3, parents=8, doubled=0.1, unknown=0.1)
    order = Order.REGISTERED if name in RUNTIME_CONTESTANTS else ORDERS.get(name, Order.APART)
    took_s = seconds(CONTESTANTS[name], workload, Settings(max_turns=1000), order=order)
    assert took_s > 0


def test_the_two_sides_of_a_ratio_take_turns() -> None:
    calls: list[str] = []

    def side(name: str, cost: float) -> Any:
        def run() -> float:
            calls.append(name)
            return cost

        return run

    (figure,) = compare(
        [Comparison(title="a / b", over=side("a", 3.0), under=side("b", 2.0), names=("a", "b"), at_most=2.0)], runs=4
    )
    assert calls == ["a", "b", "b", "a", "a", "b", "b", "a"]
    assert figure.values == (1.5,) * 4
    assert figure.of_best == 1.5
    assert figure.sides == {"a": (3e6,) * 4, "b": (2e6,) * 4}


@pytest.mark.parametrize(("value", "verdict"), [(2.5, "above"), (2.0, "within"), (1.5, "aim reached")])
def test_a_figure_is_put_beside_its_limit_and_its_aim(value: float, verdict: str) -> None:
    row = as_text({"x": [Figure(title="y", values=(value, value - 0.1, value + 0.1), at_most=2, aim=1.5)]})
    assert verdict in row
    assert f"{value:.2f}" in row


def test_the_command_prints_and_saves(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "figures.json"
    main(["--size", "tiny", "--only", "waiting", "--runs", "2", "--json", str(path)])
    saved = json.loads(path.read_text(encoding="utf-8"))
    (figure,) = saved["measures"]["waiting"]
    assert len(figure["values"]) == 2
    assert all(len(values) == 2 for values in figure["microseconds"].values())
    assert figure["title"] in capsys.readouterr().out


def test_the_command_profiles_a_contestant(capsys: pytest.CaptureFixture[str]) -> None:
    main(["--size", "tiny", "--profile", "blocking"])
    assert "handle.py" in capsys.readouterr().out


@pytest.mark.parametrize("wrong", [["--only", "nothing"], ["--runs", "0"], ["--runs", "x"], ["--size", "huge"]])
def test_a_bad_option_is_refused_by_its_name(wrong: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(wrong)
    assert ended.value.code == 2
    assert wrong[0] in capsys.readouterr().err
