"""Every order, once: a depth-first search over the schedules of a scenario, with sleep sets.

Rules. Runs that differ only in the order of independent steps are one: at each point of a run, a step whose turn was
tried there before sleeps in what is tried after it, until something comes that depends on it. A run whose every step
sleeps has been seen in another order, and is cut off there. Each class of runs is run to its end exactly once.

Nothing is kept but the path that is being tried: for each point, which steps there were, which were tried, and what
they read and wrote. Every run begins anew.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..actors.footprints import Footprint, independent
from ..actors.scheduled import Schedule, Step
from ..protocol.errors import DragomanError

__all__ = ["Cut", "NotRepeatable", "SleepSets"]


class Cut(Exception):  # noqa: N818 (what happened, like the errors of the package)
    """Everything that may come next in this run has been seen in another order."""


class NotRepeatable(DragomanError):
    """The same choices have led to another run: something depends on more than the messages."""

    fields = ("place",)

    def __init__(self, place: int) -> None:
        super().__init__(f"the same choices gave other steps to choose from at step {place + 1}: the run is not repeatable")
        self.place = place


class _Point:
    """A point of the path: the steps that there were, the one that is tried, and what need not be."""

    __slots__ = ("chosen", "footprint", "sleeping", "steps", "tried")

    def __init__(self, steps: tuple[str, ...], sleeping: dict[str, Footprint]) -> None:
        self.steps = steps
        self.sleeping = sleeping
        self.tried: dict[str, Footprint] = {}
        self.chosen = -1
        self.footprint: Footprint | None = None

    def turn(self) -> bool:
        """Go to the next step that is to be tried here; whether there is one."""
        if self.footprint is not None:
            self.tried[self.steps[self.chosen]] = self.footprint
            self.footprint = None
        for place in range(self.chosen + 1, len(self.steps)):
            if self.steps[place] not in self.sleeping:
                self.chosen = place
                return True
        return False

    def asleep_behind(self) -> dict[str, Footprint]:
        """What sleeps after the step that is tried here."""
        assert self.footprint is not None
        taken = self.footprint
        asleep = {name: known for name, known in self.sleeping.items() if independent(known, taken)}
        asleep.update((name, known) for name, known in self.tried.items() if independent(known, taken))
        return asleep


class SleepSets(Schedule):
    """The search; one for all its runs. A run is abandoned where `choose` raises `Cut`."""

    def __init__(self) -> None:
        self._path: list[_Point] = []
        self._depth = 0

    def choose(self, steps: Sequence[Step]) -> int:
        names = tuple(step.id for step in steps)
        if self._depth < len(self._path):
            point = self._path[self._depth]
            if point.steps != names:
                raise NotRepeatable(self._depth)
        else:
            point = _Point(names, self._path[-1].asleep_behind() if self._path else {})
            if not point.turn():
                raise Cut
            self._path.append(point)
        self._depth += 1
        return point.chosen

    def took(self, step: Step, footprint: Footprint) -> None:
        self._path[self._depth - 1].footprint = footprint

    def go_on(self) -> bool:
        """Prepare the next run; False if every order has been seen."""
        self._depth = 0
        while self._path:
            if self._path[-1].turn():
                return True
            self._path.pop()
        return False
