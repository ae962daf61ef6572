"""The checkers are checked: each planted fault must be caught within a stated number of walks."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import pytest

from dragoman import SimulatedDispatcher
from dragoman.actors.actor import Actor
from dragoman.actors.timers import TimerFired

from ..planting import Look, first_to_notice
from .mutants import MUTANTS
from .scripts import SCRIPTS, follow_script
from .walk import Divergence, walk

BUDGET = 60
"""Walks of each kind, 40 groups of operations long."""


def ring_with_a_superseded_timer() -> None:
    """The message of a timer that was superseded while it waited in the mailbox must be ignored."""

    class Alarm(Actor):
        rung = 0

        def on_timer(self, key: str) -> None:
            self.rung += 1

    alarm = Alarm(SimulatedDispatcher())
    alarm.spawn()
    alarm.start_timer("bell", 10)
    assert alarm._timers is not None
    superseded = alarm._timers["bell"].generation
    alarm.start_timer("bell", 20)
    alarm.mailbox.tell(TimerFired("bell", superseded))
    alarm.dispatcher.run()  # type: ignore[attr-defined]
    if alarm.rung:
        raise Divergence("a superseded timer rang")


def _looks() -> Iterator[Look]:
    yield "timer", ring_with_a_superseded_timer
    for name in SCRIPTS:
        yield name, partial(follow_script, name, 20)
    for seed in range(BUDGET):
        yield f"walk {seed}", partial(walk, seed)
        yield f"walk {seed} shuffled", partial(walk, seed, shuffled=True)


def test_without_a_mutant_nothing_is_found() -> None:
    ring_with_a_superseded_timer()
    for seed in range(20):
        walk(seed)
        walk(seed, shuffled=True)


@pytest.mark.parametrize("name", MUTANTS)
def test_a_mutant_is_caught(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    MUTANTS[name](monkeypatch)
    assert first_to_notice(_looks(), (Divergence, AssertionError)) is not None, (
        f"{name} survived {BUDGET} walks of each kind"
    )
