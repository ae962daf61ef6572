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
    suite: str
    """Whose walks look at this part: those of a folder of tests, or the tests of that part of the kernel."""
    plant: Plant


REGISTERED: dict[str, Mutant] = {}


_SUITES = {
    "operation": "execution",
    "recovery": "execution",
    "store": "content",
    **{part: part for part in ("timers", "dispatcher", "mailbox", "futures")},
}


def _register(area: str, where: str, breaks: str, plant: Plant, suite: str | None = None) -> None:
    assert area in AREAS, area
    assert plant.__name__ not in REGISTERED, plant.__name__
    REGISTERED[plant.__name__] = Mutant(
        plant.__name__, area, where, breaks, suite or _SUITES.get(area, "acceptance"), plant
    )


def planted(area: str, where: str, suite: str | None = None) -> Callable[[Plant], Plant]:
    """Register a fault; its docstring is the sentence that says what it breaks. `suite`, if its part does not tell."""

    def add(plant: Plant) -> Plant:
        assert plant.__doc__ is not None, plant.__name__
        _register(area, where, " ".join(plant.__doc__.split()), plant, suite)
        return plant

    return add


def reuse(mutants: Mutants, name: str, area: str, where: str, breaks: str, suite: str | None = None) -> None:
    """Register a fault that another suite plants; `suite`, if its part does not tell."""
    _register(area, where, breaks, mutants[name], suite)
