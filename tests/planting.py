"""Planted faults: how a suite lists its own, and how it tells who notices one."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest

from dragoman.actors.actor import Actor

__all__ = ["Look", "Mutants", "Plant", "first_to_notice", "replace_handler"]

Plant = Callable[[pytest.MonkeyPatch], None]
Look = tuple[str, Callable[[], object]]
"""The name of a check, and the check, which raises where something is wrong."""


class Mutants(dict[str, Plant]):
    """The planted faults of a suite by their names."""

    def add(self, plant: Plant) -> Plant:
        self[plant.__name__] = plant
        return plant


def replace_handler(patch: pytest.MonkeyPatch, actor: type[Actor], message: str, wrap: Callable[..., Any]) -> None:
    """Put `wrap(original, self, message, envelope)` in the place of what handles a message of that name."""
    key = next(key for key in actor.handlers if key.__name__ == message)
    original = actor.handlers[key]
    patch.setitem(actor.handlers, key, lambda self, *values: wrap(original, self, *values))


def first_to_notice(looks: Iterable[Look], wrong: type[Exception] | tuple[type[Exception], ...]) -> str | None:
    """Who notices that something is wrong, by raising `wrong`; None if nobody does."""
    for name, look in looks:
        try:
            look()
        except wrong as noticed:
            return f"{name}: {noticed!r}"
    return None
