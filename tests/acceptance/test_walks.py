"""The runtime beside the model, on random walks: in the listed order, under random schedules, and from threads."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from dragoman import Handoff, Parent, Runtime, Settings

from .scripts import SCRIPTS, follow_script
from .timed import timed_walk
from .walk import pipelined_walk, threaded_walk, walk


@pytest.fixture(params=[5e-3, 1e-5, 1e-6], ids=["5ms", "10us", "1us"])
def switch_interval(request: pytest.FixtureRequest) -> Iterator[float]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(request.param)
    yield request.param
    sys.setswitchinterval(before)


@pytest.mark.parametrize("block", range(5))
def test_in_a_replay_a_group_is_its_steps_in_the_listed_order(block: int) -> None:
    for seed in range(block * 40, block * 40 + 40):
        walk(seed)


@pytest.mark.parametrize("block", range(5))
def test_under_any_schedule_a_group_is_its_steps_in_some_order(block: int) -> None:
    for seed in range(block * 35, block * 35 + 35):
        walk(seed, shuffled=True)


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_story_ends_as_in_the_model(name: str) -> None:
    follow_script(name, 50)


@pytest.mark.usefixtures("switch_interval")
def test_from_threads_a_group_is_its_operations_in_some_order() -> None:
    for seed in range(12):
        threaded_walk(seed)


@pytest.mark.usefixtures("switch_interval")
def test_from_one_thread_that_does_not_wait_its_own_order_holds() -> None:
    for seed in range(20):
        pipelined_walk(seed)


def test_timers_that_race_with_operations_take_effect_as_a_whole() -> None:
    for seed in range(250):
        timed_walk(seed)


def test_what_follows_a_registration_that_waits_elsewhere_waits_behind_it() -> None:
    """The one open handle may be given up for it: whatever is asked of the waiting request comes after that."""
    for _ in range(50):
        with Runtime(Settings(max_open_handles=2)) as runtime:
            runtime.register(_handoff("r0", "s0"))
            futures = [
                runtime.register(_handoff("r1", "s1")),
                runtime.register(_handoff("r2", "s2")),
                runtime.cancel("r1"),
                runtime.activate("r2"),
                runtime.register(_handoff("r3", "s1")),
                runtime.cancel("r3"),
            ]
            statuses = [str(future.get(10).status) for future in futures]
            assert statuses[0] == "REGISTERED"
            assert statuses[2] == "DISPOSED"
            assert (statuses[1], statuses[3]) in {("REGISTERED", "ACTIVATED"), ("OVERLOADED", "UNKNOWN_REQUEST")}
            assert (statuses[4], statuses[5]) in {("REGISTERED", "DISPOSED"), ("OVERLOADED", "UNKNOWN_REQUEST")}


def _handoff(request: str, session: str) -> Handoff:
    return Handoff(request, session, "openai", "select-element", (Parent("p1", 0, "source"),))
