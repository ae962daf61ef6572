"""The checkers are checked: each planted fault must be caught within a stated number of scenes and walks."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import pytest

from ..planting import Look, first_to_notice
from .mutants_of_rules import MUTANTS
from .scenes import SCENES, follow_scene
from .walk import walk

BUDGET = 30
"""Walks of each kind, 40 groups of operations long, besides each scene as listed, reversed and under 2 schedules."""

HINTS = 3
"""Walks in the listed order that come first, since they are quick."""


def _looks() -> Iterator[Look]:
    for seed in range(HINTS):
        yield f"walk {seed}", partial(walk, seed)
    for name in SCENES:
        yield name, partial(follow_scene, name, orders=1, schedules=2)
    for seed in range(HINTS, BUDGET):
        yield f"walk {seed}", partial(walk, seed)
    for seed in range(BUDGET):
        yield f"walk {seed}, shuffled", partial(walk, seed, shuffled=True)


def test_without_a_mutant_nothing_is_found() -> None:
    for name in SCENES:
        follow_scene(name, orders=1, schedules=2)
    for seed in range(3):
        walk(seed)
        walk(seed, shuffled=True)


@pytest.mark.parametrize("name", MUTANTS)
def test_a_mutant_is_caught(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    MUTANTS[name](monkeypatch)
    assert first_to_notice(_looks(), Exception) is not None, f"{name} survived {BUDGET} walks of each kind"
