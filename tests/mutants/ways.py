"""The four ways of noticing a fault, each as a sequence of looks that are cheap enough to be counted.

Rules. A look says how much it has looked at, in the unit of its way, and raises `Noticed` where something is wrong; any
other error is wrong as well. The sequence of looks is the same for every mutant, except that the scenarios and property
tests of its own part come first. Where a look takes a seed, the seed is its number: the
looks in virtual time are repeatable, those on real threads are not.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from enum import StrEnum
from functools import partial
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any

import attrs
import pytest

from dragoman.scenarios import SHIPPED, explore, explorer, load_callers, read_scenario, replay_file
from dragoman.scenarios import load as loads
from dragoman.scenarios.load import run_load
from dragoman.scenarios.load_options import LoadOptions

from ..acceptance.scripts import SCRIPTS, follow_script
from ..acceptance.timed import timed_walk
from ..acceptance.walk import pipelined_walk
from ..acceptance.walk import threaded_walk as threaded_acceptance
from ..acceptance.walk import walk as acceptance_walk
from ..content.scenes import SCENES as CONTENT_SCENES
from ..content.scenes import follow_scene as follow_content
from ..content.walk import threaded_walk as threaded_content
from ..content.walk import walk as content_walk
from ..execution.scenes import SCENES as EXECUTION_SCENES
from ..execution.scenes import follow_scene as follow_execution
from ..execution.walk import threaded_walk as threaded_execution
from ..execution.walk import walk as execution_walk
from .kernel_checks import KERNEL, impatient, kernel_checks

__all__ = ["LOAD", "SCHEDULES", "UNITS", "Caught", "Missed", "Noticed", "Way", "look_for", "looks_of", "prepare"]


class Way(StrEnum):
    """How a fault may be noticed."""

    SCENARIOS = "scenarios"
    EXPLORER = "explorer"
    LOAD = "load"
    PROPERTIES = "properties"


UNITS = {
    Way.SCENARIOS: ("file", "files"),
    Way.EXPLORER: ("schedule", "schedules"),
    Way.LOAD: ("parent", "parents"),
    Way.PROPERTIES: ("walk", "walks"),
}


class Noticed(Exception):
    """Something is wrong; `after` is how much of this look it took."""

    def __init__(self, after: int) -> None:
        super().__init__(f"after {after}")
        self.after = after


@attrs.frozen
class Caught:
    """A fault that was noticed: after how much in all, and by which look."""

    after: int
    by: str


@attrs.frozen
class Missed:
    """A fault that was not noticed in so much."""

    looked_at: int


Look = tuple[str, Callable[[], int]]
Check = tuple[str, Callable[[], object]]

SCHEDULES = {"random": 20, "pct": 20, "exhaustive": 300, "others": 20}
LOAD = {"sessions": 6, "parents": 8, "callers": 6, "count": 800}
_LOADS = 5
_WALKS = 25


def look_for(way: Way, suite: str, *, limit: int | None = None, budget_s: float | None = None) -> Caught | Missed:
    """Look in a way until something is noticed, or so much was looked at, or the processor has worked so long on it."""
    deadline = None if budget_s is None else time.process_time() + budget_s
    looked_at = 0
    for name, look in looks_of(way, suite):
        if (limit is not None and looked_at >= limit) or (deadline is not None and time.process_time() >= deadline):
            break
        try:
            looked_at += look()
        except Noticed as noticed:
            return Caught(looked_at + noticed.after, name)
        except (Exception, pytest.fail.Exception):
            return Caught(looked_at + 1, name)
    return Missed(looked_at)


def prepare(patch: pytest.MonkeyPatch, patience_s: float) -> None:
    """Make the looks end at the first sign: no shrinking, one breach, little patience with answers that do not come."""
    impatient(patch, patience_s)
    patch.setattr(explorer, "_SHRINKING_RUNS", 0)
    patch.setattr(loads, "_MAX_BREACHES", 1)
    patch.setattr(load_callers, "_ANSWER_TIMEOUT_S", patience_s)


def looks_of(way: Way, suite: str) -> Iterator[Look]:
    """The looks of a way, for a mutant of the part that a suite looks at."""
    if way is Way.SCENARIOS:
        return _scenarios(suite)
    if way is Way.EXPLORER:
        return _explorations()
    return _loads() if way is Way.LOAD else _properties(suite)


def _files(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.yaml"))


def _scenarios(suite: str) -> Iterator[Look]:
    """Those of its own part first."""
    first = {"execution": "execution", "content": "continuity"}.get(suite, "contract")
    for file in sorted(_files(SHIPPED), key=lambda file: (file.relative_to(SHIPPED).parts[0] != first, file)):
        yield file.relative_to(SHIPPED).as_posix(), partial(_replay, file)


def _replay(file: Path) -> int:
    if not replay_file(file).passed:
        raise Noticed(1)
    return 1


def _explorations() -> Iterator[Look]:
    """The small scenarios that ship for it by each strategy, then every other one in which things happen together."""
    small = _files(SHIPPED / "explorations")
    others = [file for file in _files(SHIPPED) if file not in small and "together:" in file.read_text(encoding="utf-8")]
    rounds = (
        ("random", "random", small),
        ("pct", "pct", small),
        ("exhaustive", "exhaustive", small),
        ("random", "others", others),
    )
    for strategy, which, files in rounds:
        for file in files:
            yield f"{strategy}, {file.stem}", partial(_explore, file, strategy, SCHEDULES[which])


def _explore(file: Path, strategy: str, schedules: int) -> int:
    found = explore(read_scenario(file), strategy=strategy, schedules=schedules)
    if found.finding is not None:
        raise Noticed(found.finding.found_at)
    return found.schedules


def _loads() -> Iterator[Look]:
    for seed in range(_LOADS):
        for mode in ("simulated", "threads", "async"):
            yield f"{mode}, seed {seed}", partial(_run_load, mode, seed)


def _run_load(mode: Any, seed: int) -> int:
    eager = None if mode == "simulated" else 1e-5
    report = run_load(LoadOptions(mode=mode, faults="hardest", seed=seed, switch_interval_s=eager, **LOAD))  # type: ignore[arg-type]
    if not report.verdict.clean:
        raise Noticed(max(1, report.verdict.accepted))
    return report.verdict.accepted


def _properties(suite: str) -> Iterator[Look]:
    suites: dict[str, Iterator[Check]] = {
        "kernel": kernel_checks(suite),
        "acceptance": _of_acceptance(),
        "execution": _of_execution(),
        "content": _of_content(),
    }
    first = suites.pop("kernel" if suite in KERNEL else suite)
    for name, check in chain(first, *suites.values()):
        yield name, partial(_one, check)


def _one(check: Callable[[], object]) -> int:
    check()
    return 1


def _of_acceptance() -> Iterator[Check]:
    for name in SCRIPTS:
        yield f"story: {name}", partial(follow_script, name, 10)
    yield from _in_turn(
        ("acceptance walk", acceptance_walk),
        ("shuffled acceptance walk", partial(acceptance_walk, shuffled=True)),
        ("acceptance walk beside timers", timed_walk),
        ("acceptance walk on threads", threaded_acceptance),
        ("acceptance walk in a pipeline", pipelined_walk),
    )


def _of_execution() -> Iterator[Check]:
    for name in EXECUTION_SCENES:
        yield f"scene: {name}", partial(follow_execution, name, orders=1, schedules=4)
    yield from _in_turn(
        ("execution walk", execution_walk),
        ("shuffled execution walk", partial(execution_walk, shuffled=True)),
        ("execution walk on threads", threaded_execution),
    )


def _of_content() -> Iterator[Check]:
    for name in CONTENT_SCENES:
        yield f"scene: {name}", partial(follow_content, name, orders=1, schedules=2)
    yield from _in_turn(
        ("content walk", content_walk),
        ("shuffled content walk", partial(content_walk, shuffled=True)),
        ("content walk on threads", threaded_content),
    )


def _in_turn(*walks: tuple[str, Callable[[int], object]]) -> Iterator[Check]:
    kinds = [[(f"{name} {seed}", partial(walk, seed)) for seed in range(_WALKS)] for name, walk in walks]
    for together in zip_longest(*kinds):
        yield from (one for one in together if one is not None)
