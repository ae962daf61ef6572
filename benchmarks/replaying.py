"""How fast scenarios are replayed, and explored where this version can: scenarios and schedules by the second."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from dragoman import scenarios
from dragoman.scenarios import SHIPPED, read_scenario, replay_file, replay_scenario

from .clock import clock
from .committed import WrongAnswers
from .figures import Figure, undisturbed
from .sizes import Size

__all__ = ["replaying"]

_SCHEDULES = 20


def replaying(size: Size, runs: int) -> list[Figure]:
    """Shipped scenarios a second: from the file, and the replay alone; and schedules explored a second."""
    files = sorted(SHIPPED.rglob("*.yaml"))[:: size.every_scenario]
    read = [read_scenario(path) for path in files]
    figures = [
        _rate(f"{len(files)} shipped scenarios, read and replayed", runs, partial(_replay_files, files)),
        _rate(f"{len(files)} shipped scenarios, replayed", runs, partial(_replay_all, read)),
    ]
    explore = getattr(scenarios, "explore", None)
    if explore is None:
        return [*figures, Figure(title="schedules explored", skipped="this version has no dragoman.scenarios.explore")]
    return [
        *figures,
        _rate("schedules explored, random", runs, partial(_explore_all, explore, read[:: len(read) // 8 or 1])),
    ]


def _rate(title: str, runs: int, cost: Any) -> Figure:
    return Figure(title=title, values=tuple(1 / undisturbed(cost) for _ in range(runs)), unit="/s")


def _replay_files(files: list[Path]) -> float:
    began = clock.now()
    results = [replay_file(path) for path in files]
    took_s = clock.now() - began
    if not all(result.passed for result in results):
        raise WrongAnswers("a shipped scenario failed")
    return took_s / len(files)


def _replay_all(read: list[Any]) -> float:
    began = clock.now()
    failures = [failure for scenario in read for failure in replay_scenario(scenario)[0]]
    took_s = clock.now() - began
    if failures:
        raise WrongAnswers("a shipped scenario failed")
    return took_s / len(read)


def _explore_all(explore: Any, read: list[Any]) -> float:
    """Seconds for one schedule; each scenario is explored with as many."""
    began = clock.now()
    explored = [explore(scenario, strategy="random", schedules=_SCHEDULES, seed=1) for scenario in read]
    took_s = clock.now() - began
    if any(exploration.finding is not None for exploration in explored):
        raise WrongAnswers("a shipped scenario failed under some schedule")
    schedules: int = sum(exploration.schedules for exploration in explored)
    return took_s / schedules
