"""The runtime beside the model: in the listed order, under random schedules, beside timers, from threads."""

from __future__ import annotations

import random
from typing import Any

import pytest

from dragoman import Runtime, SimulatedDispatcher
from dragoman.actors.timers import TimerFired

from .operations import Operation, Step, post, replies_of
from .stage import Stage
from .walk import POLICIES, Limits, explained, state_of, threaded_walk, walk


@pytest.mark.parametrize("block", range(3))
def test_in_a_replay_a_group_is_its_steps_in_the_listed_order(block: int) -> None:
    for seed in range(block * 40, block * 40 + 40):
        walk(seed)


@pytest.mark.parametrize("block", range(3))
def test_under_any_schedule_a_group_is_its_steps_in_some_order(block: int) -> None:
    for seed in range(block * 15, block * 15 + 15):
        walk(seed, groups=20, shuffled=True)


def test_from_threads_a_group_is_its_steps_in_some_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dragoman.actors.operation.longest_delay_us", lambda _attempt: 10**12)
    for seed in range(6):
        threaded_walk(seed)


def _translate(request: str, *texts: str) -> Operation:
    parents = tuple((f"p{place}", text) for place, text in enumerate(texts, 1))
    return "translate", request, "s1", "keys of s1", parents, False, ()


BESIDE: dict[str, Step] = {
    "an answer": [("answer", "r0/1", "texts", (("p1", "ba"),))],
    "a cancel": [("cancel", "r0")],
    "a cancel and an answer": [("cancel", "r0"), ("answer", "r0/1", "texts", (("p1", "ba"),))],
    "a failing answer and a clear": [("answer", "r0/1", "error", "POLICY"), ("clear", "s1")],
    "an ACK": [("ack", "r0", "p1", "accepted"), ("answer", "r0/1", "texts", (("p1", "ba"),))],
}


@pytest.mark.parametrize("beside", BESIDE)
def test_a_time_out_that_falls_due_beside_other_steps_is_one_step_among_them(beside: str) -> None:
    for seed in range(40):
        _race([[_translate("r0", "ab", "cd")], [_translate("r1", "ef")]], ("fire", "r0", None), BESIDE[beside], seed)


@pytest.mark.parametrize("beside", BESIDE)
def test_a_retry_that_falls_due_beside_other_steps_is_one_step_among_them(beside: str) -> None:
    before = [
        [_translate("r0", "ab", "cd")],
        [_translate("r1", "ef")],
        [("answer", "r0/2", "error", "NETWORK_ERROR"), ("answer", "r1/1", "texts", (("p1", "fe"),))],
    ]
    for seed in range(40):
        _race(before, ("fire", "r0", 1), BESIDE[beside], seed)


def _race(before: list[Step], timer: Operation, group: Step, seed: int) -> None:
    """Let the first timer of `r0` come in the middle of `group`, as it may on threads and never does in a replay."""
    schedule = random.Random(seed)
    dispatcher = SimulatedDispatcher(seed, schedule.randrange)
    limits = Limits(batch_units=1)
    models = [limits.model()]
    with Runtime(limits.settings(), providers=POLICIES, dispatcher=dispatcher) as runtime:
        stage = Stage(runtime)
        for step in before:
            futures = [post(stage, operation) for operation in step]
            dispatcher.run()
            models = explained(models, step, replies_of(step, futures), state_of(stage), any_order=True)
        futures = [post(stage, operation) for operation in group]
        for _ in range(schedule.randrange(12)):
            dispatcher._step(None)
        rings = _ring(dispatcher, "retry" if timer[2] else "timeout")
        dispatcher.run()
        # A timer that was cancelled before it fell due is no step.
        steps = [*group, timer] if rings else group
        explained(models, steps, [*replies_of(group, futures), None], state_of(stage), any_order=True)


def _ring(dispatcher: SimulatedDispatcher, key: str) -> bool:
    """Let the first timer of that kind of `r0` fall due now; whether there is one."""
    heap: Any = dispatcher._timers
    for entry in heap._heap:
        _due, _stamp, generation, mailbox, name = entry
        if mailbox and mailbox.actor.name == "TranslationOperation(r0)" and name.startswith(key):
            heap.cancel(entry)
            mailbox.tell(TimerFired(name, generation))
            return True
    return False
