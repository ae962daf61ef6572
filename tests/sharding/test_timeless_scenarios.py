"""The scenarios that need no timers hold on shards as they hold in one process, unchanged."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dragoman.scenarios import SHIPPED, Scenario, read_scenario
from dragoman.scenarios.timeless import replay_timeless, why_not_timeless
from dragoman.sharding import RayRuntime
from dragoman.sharding.launching import Done, RayLauncher, Remote

from .in_threads import ThreadLauncher

ALL = {path: read_scenario(path) for path in sorted(SHIPPED.rglob("*.yaml"))}
TIMELESS = [path for path, scenario in ALL.items() if why_not_timeless(scenario) is None]


def failures(scenario: Scenario, launcher: Any, shards: int) -> list[str]:
    with RayRuntime(scenario.settings, providers=scenario.providers, shards=shards, launcher=launcher) as runtime:
        found = replay_timeless(scenario, runtime)
    return [f"line {failure.line}: {failure.message}" for failure in found]


def test_there_are_many_of_them_and_the_rest_is_told_why() -> None:
    assert len(TIMELESS) >= 60
    reasons = {why_not_timeless(scenario) for scenario in ALL.values()}
    assert {
        None,
        "a timer may be due in its timeline",
        "it executes requests (translate)",
        "it bounds something over all sessions (max_sessions)",
        "it changes the policy together with other steps",
        "it asks for the order of the sessions",
        "its settings name times that a replay may come near to",
    } <= reasons


@pytest.mark.parametrize("path", TIMELESS, ids=[path.stem for path in TIMELESS])
def test_a_timeless_scenario_holds_on_shards(path: Path, launcher: ThreadLauncher) -> None:
    assert not failures(ALL[path], launcher, 3)


class Kept(RayLauncher):
    """Uses a process again whose runtime has been closed: to start one takes a second."""

    def __init__(self) -> None:
        super().__init__({"num_cpus": 0.1})
        self.free: dict[int, list[Remote]] = {}

    def launch(self, shard: int) -> Remote:
        free = self.free.setdefault(shard, [])
        return _Kept(free.pop() if free else super().launch(shard), free)

    def end(self) -> None:
        for remote in (remote for free in self.free.values() for remote in free):
            remote.kill()


class _Kept:
    def __init__(self, remote: Remote, free: list[Remote]) -> None:
        self._remote, self._free = remote, free

    def call(self, method: str, *arguments: Any, done: Done) -> None:
        self._remote.call(method, *arguments, done=done)

    def kill(self) -> None:
        self._free.append(self._remote)


@pytest.fixture(scope="module")
def kept(cluster: object) -> Iterator[Kept]:
    del cluster  # this process is connected to it
    kept = Kept()
    yield kept
    kept.end()


def test_every_timeless_scenario_holds_on_a_cluster(kept: Kept) -> None:
    assert {path.name: failures(ALL[path], kept, 2) for path in TIMELESS} == {path.name: [] for path in TIMELESS}
    assert sum(map(len, kept.free.values())) == 2


def test_a_scenario_that_does_not_hold_is_told(launcher: ThreadLauncher, tmp_path: Path) -> None:
    file = tmp_path / "wrong.yaml"
    file.write_text(
        "scenario: wrong\n"
        "timeline:\n"
        "  - at: 0s\n"
        "    register: {request: r1, session: s1, parents: {p1: Hello}}\n"
        "  - at: 0s\n"
        "    ack: {request: r1, parent: p1, result: Hallo}\n"
        "    expect: STALE\n"
        "then:\n"
        "  history: {s1: []}\n",
        encoding="utf-8",
    )
    assert failures(read_scenario(file), launcher, 2) == [
        "line 5: ack.status is not as expected",
        "line 9: history.s1 is not as expected",
    ]
