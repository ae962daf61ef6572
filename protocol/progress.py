"""How far the parents of a request have come: from resolved units to complete parents (C3.4).

A parent is complete when all its units have their texts, and unresolved as soon as one of them has failed for good. A
fragment that comes twice is ignored, and so is one of a parent that has failed: nothing of it is put together.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from .units import ParentPlan, Unit

__all__ = ["Progress"]


class Progress:
    """The parents of one request, in source order."""

    __slots__ = ("_fragments", "_missing", "_places", "_plans", "translated", "unresolved")

    def __init__(self, plans: Sequence[ParentPlan]) -> None:
        self._plans = plans
        self._places = {unit.id: place for place, plan in enumerate(plans) for unit in plan.units}
        self._missing = [len(plan.units) for plan in plans]
        self._fragments: dict[int, dict[str, tuple[str, ...]]] = {}
        self.translated: dict[str, tuple[str, ...]] = {}
        """The translated segments of each complete parent."""
        self.unresolved: dict[str, None] = {}
        """The parents that have failed for good."""

    def resolve(self, pieces: Iterable[tuple[str, tuple[str, ...]]]) -> tuple[tuple[ParentPlan, ...], int]:
        """Take the texts of units: the parents that are complete now, and how many fragments were suppressed."""
        complete: list[int] = []
        suppressed = 0
        for unit_id, texts in pieces:
            place = self._places[unit_id]
            plan = self._plans[place]
            if plan.id in self.unresolved or plan.id in self.translated or unit_id in self._fragments.get(place, ()):
                suppressed += 1
                continue
            self._fragments.setdefault(place, {})[unit_id] = texts
            self._missing[place] -= 1
            if not self._missing[place]:
                complete.append(place)
        for place in complete:
            plan = self._plans[place]
            self.translated[plan.id] = plan.assemble(self._fragments.pop(place))
        return tuple(self._plans[place] for place in sorted(complete)), suppressed

    def fail(self, units: Iterable[Unit]) -> tuple[str, ...]:
        """Units have failed for good: the parents that are unresolved by it, in source order."""
        newly = {self._places[unit.id]: unit.parent_id for unit in units if unit.parent_id not in self.unresolved}
        for place in sorted(newly):
            self.unresolved[newly[place]] = None
            self._fragments.pop(place, None)
        return tuple(newly[place] for place in sorted(newly))

    @property
    def dispatchable(self) -> bool:
        """Whether every parent is complete or unresolved: nothing more will be dispatched."""
        return len(self.translated) + len(self.unresolved) == len(self._plans)

    def in_source_order(self, parents: Mapping[str, object]) -> tuple[str, ...]:
        return tuple(plan.id for plan in self._plans if plan.id in parents)

    @property
    def open(self) -> tuple[str, ...]:
        """The parents that are neither complete nor unresolved, in source order."""
        return tuple(
            plan.id for plan in self._plans if plan.id not in self.translated and plan.id not in self.unresolved
        )
