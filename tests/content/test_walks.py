"""The runtime beside the model: in the listed order, under random schedules, from threads, and a crowd without a model.

`DRAGOMAN_CONTENT_OPERATIONS=20000 pytest tests/content/test_walks.py` is the long form of the crowd.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

import pytest

from dragoman import Call, Outcome, Runtime, Settings, SimulatedDispatcher

from .scenes import SCENES, follow_scene
from .stress import Callers
from .walk import threaded_walk, walk

OPERATIONS = int(os.environ.get("DRAGOMAN_CONTENT_OPERATIONS", "1500"))
"""Of each thread."""


@pytest.fixture
def _often_switched() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


@pytest.mark.parametrize("block", range(3))
def test_in_a_replay_a_group_is_its_steps_in_the_listed_order(block: int) -> None:
    for seed in range(block * 20, block * 20 + 20):
        walk(seed)


@pytest.mark.parametrize("block", range(3))
def test_under_any_schedule_a_group_is_its_steps_in_some_order(block: int) -> None:
    for seed in range(block * 12, block * 12 + 12):
        walk(seed, shuffled=True)


@pytest.mark.parametrize("name", SCENES)
def test_a_meeting_ends_as_in_the_model_in_every_order(name: str) -> None:
    follow_scene(name, orders=None, schedules=3)


@pytest.mark.usefixtures("_often_switched")
def test_from_threads_a_group_is_its_steps_in_some_order() -> None:
    for seed in range(8):
        threaded_walk(seed)


@pytest.mark.usefixtures("_often_switched")
@pytest.mark.parametrize("lasting", [True, False], ids=["sessions last", "sessions end"])
def test_a_crowd_finds_its_own_values_within_the_bounds(lasting: bool) -> None:
    crowd = Callers.over(lasting=lasting)
    crowd.run(4, OPERATIONS)
    crowd.settle()


def test_asking_about_sessions_that_are_not_there_leaves_nothing_of_them() -> None:
    with Runtime(dispatcher=SimulatedDispatcher()) as runtime:
        for number in range(20):
            name = f"nobody {number}"
            runtime.calls(name).get()
            runtime.history(name).get()
            runtime.content_prompt(name).get()
            runtime.follow_up(name, "the last answer").get()
            runtime.refer(name, "c1", "c2").get()
        snapshot = runtime.snapshot()
        assert (len(snapshot.store.sessions), snapshot.sessions) == (0, ())


def test_a_change_of_something_else_leaves_the_life_times_as_they_are() -> None:
    dispatcher = SimulatedDispatcher()
    settings = Settings(store_ttl=10.0, maintainers=("mira", "tomas"))
    with Runtime(settings, dispatcher=dispatcher) as runtime:
        runtime.record_call("s1", Call("c1"), Outcome.ok("x")).get()
        runtime.propose("q1", "scout", {"capture_nested": True}, "seen in the field", "as before").get()
        runtime.approve("q1", "mira").get()
        runtime.acknowledge_proposal("q1", "tomas").get()
        assert runtime.apply("q1", "mira").get().status == "APPLIED"
        dispatcher.advance(10_000_000)
        assert runtime.snapshot().store.bytes == 3
        dispatcher.advance(1)
        assert runtime.snapshot().store.counters.expired == 1
