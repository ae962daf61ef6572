"""The runtime beside the model, on random walks: in the listed order, under random schedules, and from threads."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from .scripts import SCRIPTS, follow_script
from .walk import threaded_walk, walk


@pytest.fixture(params=[5e-3, 1e-5, 1e-6], ids=["5ms", "10us", "1us"])
def switch_interval(request: pytest.FixtureRequest) -> Iterator[float]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(request.param)
    yield request.param
    sys.setswitchinterval(before)


@pytest.mark.parametrize("block", range(5))
def test_in_a_replay_a_group_is_its_steps_in_the_listed_order(block: int) -> None:
    for seed in range(block * 60, block * 60 + 60):
        walk(seed)


@pytest.mark.parametrize("block", range(5))
def test_under_any_schedule_a_group_is_its_steps_in_some_order(block: int) -> None:
    for seed in range(block * 50, block * 50 + 50):
        walk(seed, shuffled=True)


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_story_ends_as_in_the_model(name: str) -> None:
    follow_script(name, 50)


@pytest.mark.usefixtures("switch_interval")
def test_from_threads_a_group_is_its_operations_in_some_order() -> None:
    for seed in range(12):
        threaded_walk(seed)
