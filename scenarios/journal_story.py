"""The texts of a timeline that is made from a journal: which placeholder stands for what, and what became of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any

from ..actors.journal_reader import Line
from ..protocol.history import cut
from ..protocol.markers import escape
from ..protocol.settings import Settings
from ..protocol.units import ParentPlan, plan_parent
from .placeholders import Placeholders

__all__ = ["Story"]

UNCLEAN = escape("<dm-aaaaaaaa-1/>")
"""What a unit has to become so that its parent is no clean result: an escaped marker."""

Name = tuple[str, str]
"""A request and one of its parents."""


class Story:
    """Sources, results and recorded values by their names, as the timeline goes on."""

    def __init__(self, settings: Settings) -> None:
        self._batch_chars = settings.batch_chars
        self.placeholders = Placeholders()
        self.sources: dict[Name, str] = {}
        self.results: dict[Name, str] = {}
        self.values: dict[Name, Any] = {}
        """Of each session and call id."""
        self.refs: dict[str, Name] = {}
        """What a ref leads to, by its digest: a session and the name of a call, or of a turn."""
        self._acknowledged: set[Name] = set()
        """Parents whose result came with an ACK by hand, which counts whatever comes later."""
        self._begun: Counter[str] = Counter()
        self._plans: dict[str, dict[str, ParentPlan]] = {}
        self._pieces: dict[str, dict[str, Sequence[str]]] = {}

    def _begin(self, request: str) -> None:
        """A request begins; one that had its id before is another, and what is left of that is not known by names."""
        self._begun[request] += 1
        self._plans[request], self._pieces[request] = {}, {}
        for known in (self.sources, self.results):
            for name in [name for name in known if name[0] == request] if self._begun[request] > 1 else ():
                del known[name]
        self._acknowledged = {name for name in self._acknowledged if name[0] != request}

    def register(self, line: Line) -> list[dict[str, Any]] | dict[str, str]:
        """The parents of a handoff, as a scenario writes them."""
        texts = {parent: self.placeholders.text(source) for parent, source in line["parents"].items()}
        self._begin(line["request"])
        for parent, text in texts.items():
            self.sources[line["request"], parent] = text
        orders = line.get("orders")
        if orders is None:
            return texts
        parents = zip(texts.items(), orders, strict=True)
        return [{"id": parent, "order": order, "source": text} for (parent, text), order in parents]

    def translate(self, line: Line) -> dict[str, Any]:
        """The parents of a translation, as a scenario writes them."""
        request = line["request"]
        parents: dict[str, Any] = {}
        self._begin(request)
        plans = self._plans[request]
        layouts = line.get("layouts", {})
        for parent, told in line["parents"].items():
            segments = self._segments(parent, told, layouts.get(parent))
            plans[parent] = plan_parent(parent, segments, self._batch_chars)
            self.sources[request, parent] = "".join(segments)
            parents[parent] = segments[0] if len(segments) == 1 else list(segments)
        return parents

    def _segments(self, parent: str, told: str | Sequence[str], layout: Sequence[int] | None) -> tuple[str, ...]:
        texts = self.placeholders.texts(told)
        first = told if isinstance(told, str) else told[0]
        if layout is None or first.count(":") > 2:
            return texts
        whole = self.placeholders.stretches(f"{parent} {first}", layout)
        ends = tuple(accumulate(map(len, texts)))
        return tuple(whole[start:end] for start, end in zip((0, *ends), ends, strict=False))

    def direct(self, line: Line) -> str:
        """The source of a direct call."""
        request = line["request"]
        self._begin(request)
        text = self.placeholders.text(line["source"])
        self._plans[request][request] = plan_parent(request, (text,), max(1, len(text)))
        self.sources[request, request] = text
        return text

    def answered(
        self, request: str, valid: Mapping[str, str | Sequence[str]], unclean: frozenset[str]
    ) -> dict[str, Any]:
        """What units became: as a scenario writes it, and kept for what is put together of them."""
        plans = self._plans.get(request, {})
        of_unit = {unit.id: plan for plan in plans.values() for unit in plan.units}
        pieces = self._pieces.setdefault(request, {})
        texts: dict[str, Any] = {}
        for unit, told in valid.items():
            found = self.placeholders.texts(told)
            plan = of_unit.get(unit)
            if plan is not None and plan.id in unclean:
                found = (UNCLEAN, *found[1:])
            pieces[unit] = found
            texts[unit] = found[0] if len(found) == 1 else list(found)
            whole = plan is not None and all(one.id in pieces for one in plan.units)
            if plan is not None and whole and (request, plan.id) not in self._acknowledged:
                self.results[request, plan.id] = "".join(plan.assemble(pieces))
        return texts

    def accepted(self, request: str, parent: str, result: str) -> None:
        """An ACK by hand was accepted."""
        self.results[request, parent] = result
        self._acknowledged.add((request, parent))

    def turn(self, request: str, parent: str, max_chars: int | None = None) -> list[str] | None:
        """A turn as a scenario writes it; None where its texts are not known."""
        if self._begun[request] > 1:
            return None
        source, result = self.sources.get((request, parent)), self.results.get((request, parent))
        if source is None or result is None:
            return None
        return [cut(source, max_chars), cut(result, max_chars)]

    def turns(self, names: Sequence[Sequence[Any]], max_chars: int | None = None) -> list[list[str]] | None:
        """Turns by their names; None where the texts of any are not known."""
        found = [self.turn(request, parent, max_chars) for request, parent, *_ref in names]
        known = [turn for turn in found if turn is not None]
        return known if len(known) == len(found) else None
