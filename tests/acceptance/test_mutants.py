"""The checkers are checked: each planted fault must be caught within a stated number of walks."""

from __future__ import annotations

from typing import Any

import pytest

from dragoman import SimulatedDispatcher
from dragoman.actors.actor import Actor
from dragoman.actors.timers import TimerFired

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
    superseded: Any = alarm._timers["bell"][1]  # type: ignore[index]
    alarm.start_timer("bell", 20)
    alarm.mailbox.tell(TimerFired("bell", superseded))
    alarm.dispatcher.run()  # type: ignore[attr-defined]
    if alarm.rung:
        raise Divergence("a superseded timer rang")


def hunt() -> str | None:
    """Who notices that something is wrong, if anybody."""
    try:
        ring_with_a_superseded_timer()
    except Divergence:
        return "timer"
    for name in SCRIPTS:
        try:
            follow_script(name, 20)
        except (Divergence, AssertionError):
            return name
    for seed in range(BUDGET):
        for shuffled in (False, True):
            try:
                walk(seed, shuffled=shuffled)
            except (Divergence, AssertionError):
                return f"walk {seed}{' shuffled' if shuffled else ''}"
    return None


def test_without_a_mutant_nothing_is_found() -> None:
    ring_with_a_superseded_timer()
    for seed in range(20):
        walk(seed)
        walk(seed, shuffled=True)


@pytest.mark.parametrize("name", MUTANTS)
def test_a_mutant_is_caught(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    MUTANTS[name](monkeypatch)
    assert hunt() is not None, f"{name} survived {BUDGET} walks of each kind"
