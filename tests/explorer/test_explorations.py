"""The small scenarios that ship are explored to the end; an exploration repeats itself; plain FIFO is a replay."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from dragoman.protocol.errors import InvalidArgument
from dragoman.scenarios import SHIPPED, explore, read_scenario, replay_scenario
from dragoman.scenarios.explorer import Strategy
from dragoman.scenarios.scheduled_run import Runner
from dragoman.scenarios.schedules import Priorities, Tape, Uniform

EXPLORATIONS = SHIPPED / "explorations"
FILES = sorted(EXPLORATIONS.glob("*.yaml"))
MANY_ORDERS = EXPLORATIONS / "two-acks-against-the-end-of-the-window.yaml"

each_file = pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)

PROGRAM = """
import sys
from pathlib import Path
from dragoman.scenarios import explore, read_scenario
for strategy in ("random", "pct", "exhaustive"):
    for name in sys.argv[1:]:
        print(explore(read_scenario(Path(name)), strategy=strategy, schedules=15, seed=5).digest)
"""


def digests_in_a_process(hash_seed: str) -> list[str]:
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
    arguments = [sys.executable, "-c", PROGRAM, *map(str, FILES[::8])]
    done = subprocess.run(arguments, capture_output=True, text=True, env=environment, timeout=60, check=True)
    return done.stdout.split()


def test_at_least_ten_explorations_ship() -> None:
    assert len(FILES) >= 10


@each_file
def test_every_order_of_a_shipped_exploration_is_seen_and_none_fails(path: Path) -> None:
    found = explore(read_scenario(path), strategy="exhaustive")
    assert found.finding is None
    assert found.complete is True
    assert found.undecided == 0
    assert 1 < found.orders <= found.schedules
    assert found.serial_outcomes >= 1


@pytest.mark.parametrize("path", sorted(SHIPPED.rglob("race*.yaml")), ids=lambda path: path.stem)
def test_plain_fifo_under_a_schedule_is_a_replay(path: Path) -> None:
    scenario = read_scenario(path)
    failures, timeline = replay_scenario(scenario, seed=3, with_timeline=True)
    with Runner(scenario, 3) as runner:
        report = runner.run(Tape(()), with_timeline=True)
    assert report is not None
    assert report.tape == ()
    assert (*report.broken, *report.unmet) == failures
    # Only when a step was posted is told at another place, where timers fall due at its instant.
    assert [line for line in report.timeline if "  step  " not in line] == [
        line for line in timeline if "  step  " not in line
    ]


def test_an_exploration_has_the_same_digest_in_every_process() -> None:
    first = digests_in_a_process("0")
    assert first == digests_in_a_process("12345")
    assert len(set(first)) == len(first)


@pytest.mark.parametrize("strategy", ["random", "pct"])
def test_another_seed_sees_other_orders(strategy: str) -> None:
    scenario = read_scenario(MANY_ORDERS)
    digests = {explore(scenario, strategy=strategy, schedules=20, seed=seed).digest for seed in range(3)}
    assert len(digests) == 3


@pytest.mark.parametrize("strategy", ["random", "pct"])
def test_a_strategy_sees_orders_of_the_exhaustive_one_only(strategy: str) -> None:
    scenario = read_scenario(MANY_ORDERS)
    every = explore(scenario, strategy="exhaustive")
    some = explore(scenario, strategy=strategy, schedules=150)
    assert every.complete
    assert some.complete is None
    assert 5 < some.orders <= every.orders


def test_what_ends_before_every_order_was_seen_is_not_called_complete() -> None:
    scenario = read_scenario(MANY_ORDERS)
    few = explore(scenario, strategy="exhaustive", schedules=3)
    assert (few.complete, few.schedules, few.out_of_time) == (False, 3, False)
    late = explore(scenario, strategy="exhaustive", budget_s=0.0)
    assert (late.complete, late.schedules, late.out_of_time) == (False, 1, True)


def test_progress_is_told_after_each_run() -> None:
    told: list[tuple[int, int]] = []
    found = explore(read_scenario(FILES[0]), schedules=10, progress=lambda runs, orders: told.append((runs, orders)))
    assert [runs for runs, _orders in told] == list(range(1, 11))
    assert told[-1] == (found.schedules, found.orders)


@pytest.mark.parametrize(
    ("arguments", "field"),
    [({"strategy": "best"}, "strategy"), ({"schedules": 0}, "schedules"), ({"budget_s": -1.0}, "budget_s")],
)
def test_a_bad_argument_is_refused_by_its_name(arguments: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidArgument) as refused:
        explore(read_scenario(FILES[0]), **arguments)
    assert refused.value.field == field


def test_the_strategies_are_those_of_the_command() -> None:
    assert [strategy.value for strategy in Strategy] == ["random", "pct", "exhaustive"]


@pytest.mark.parametrize("number", range(3))
def test_a_tape_repeats_any_run(number: int) -> None:
    with Runner(read_scenario(MANY_ORDERS), 0) as runner:
        for schedule in (Uniform(0, number), Priorities(0, number, changes=3, length=40)):
            report = runner.run(schedule)
            assert report is not None
            again = runner.run(Tape(report.tape, strict=True))
            assert again is not None
            assert (again.order, again.outcome, again.tape) == (report.order, report.outcome, report.tape)
