"""The checkers are checked: each planted fault must be caught within a stated number of walks and scenes."""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import partial

import pytest

from ..planting import Look, first_to_notice
from .fragments import Limits, mapped, translate_in_fragments
from .mutants import MUTANTS
from .scenes import SCENES, follow_scene
from .walk import walk

BUDGET = 40
"""Walks of each kind, 20 groups of operations long, besides each scene as listed and under 8 schedules."""

HINTS = 3
"""Walks in the listed order that come first, since they are quick."""


def _looks() -> Iterator[Look]:
    for seed in range(5):
        yield f"fragments {seed}", partial(_join, seed)
    for seed in range(HINTS):
        yield f"walk {seed}", partial(walk, seed, 20)
    for name in SCENES:
        yield name, partial(follow_scene, name, orders=1, schedules=8)
    for seed in range(HINTS, BUDGET):
        yield f"walk {seed}", partial(walk, seed, 20)
    for seed in range(BUDGET):
        yield f"walk {seed}, shuffled", partial(walk, seed, 20, shuffled=True)


def _join(seed: int) -> None:
    source = "ab cd ef gh ij kl"
    result = translate_in_fragments({"p1": source}, Limits(5, 1, 4), random.Random(seed), trouble=0.3)
    assert result.turns == (("p1", source, mapped(source)),)


@pytest.mark.parametrize("name", MUTANTS)
def test_a_mutant_is_caught(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    MUTANTS[name](monkeypatch)
    assert first_to_notice(_looks(), Exception) is not None, f"{name} survived {BUDGET} walks of each kind"
