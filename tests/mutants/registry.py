"""The list of the planted faults: the part that each belongs to, the file that it changes, what it breaks."""

from __future__ import annotations

from collections.abc import Callable

import attrs

from ..planting import Mutants, Plant

__all__ = ["AREAS", "REGISTERED", "Mutant", "planted", "reuse"]

AREAS = (
    "coordinator",
    "handle",
    "sessions",
    "operation",
    "recovery",
    "store",
    "timers",
    "dispatcher",
    "mailbox",
    "futures",
)


@attrs.frozen
class Mutant:
    """One fault. `plant` puts it in, and the `MonkeyPatch` that it is given takes it out again."""

    name: str
    area: str
    where: str
    """The file that it changes the behaviour of."""
    breaks: str
    plant: Plant


REGISTERED: dict[str, Mutant] = {}


def _register(area: str, where: str, breaks: str, plant: Plant) -> None:
    assert area in AREAS, area
    assert plant.__name__ not in REGISTERED, plant.__name__
    REGISTERED[plant.__name__] = Mutant(plant.__name__, area, where, breaks, plant)


def planted(area: str, where: str) -> Callable[[Plant], Plant]:
    """Register a fault; its docstring is the sentence that says what it breaks."""

    def add(plant: Plant) -> Plant:
        assert plant.__doc__ is not None, plant.__name__
        _register(area, where, " ".join(plant.__doc__.split()), plant)
        return plant

    return add


def reuse(mutants: Mutants, name: str, area: str, where: str, breaks: str) -> None:
    """Register a fault that another suite plants."""
    _register(area, where, breaks, mutants[name])
