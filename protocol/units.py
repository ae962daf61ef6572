"""Wire units: how parents are split, filled into batches, and put together again (C3.4).

A parent that is longer than the limit is split, greedy from the left, before white space; a word that is longer than
the limit is cut at the limit, be it inside a grapheme. The white space at a cut goes to no provider: the plan of the
parent keeps it and puts it back, so fragments never show in what a feature or the history gets. Lengths are those of
the clean text, without markers and escapes. White space is what `str.isspace` says. Whether a translation may be
trusted is not judged here.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, pairwise

import attrs

from .content import is_blank
from .markers import join
from .redaction import redacted

__all__ = ["Gap", "ParentPlan", "Unit", "fill_batches", "plan_parent", "unit_ids_clash"]

_WORD = re.compile(r"\S+")


@attrs.frozen
class Unit:
    """A wire unit (C3.4): a parent, or a fragment of one.

    `pieces` is its clean text, cut at the borders of segments inside it. `first_marker` is the number of the marker
    before the second piece, the others follow on: the first piece belongs to the segment of that number, from 1.
    """

    id: str
    parent_id: str
    pieces: tuple[str, ...] = attrs.field(repr=redacted)
    first_marker: int = 1

    @property
    def source(self) -> str:
        return "".join(self.pieces)

    @property
    def chars(self) -> int:
        """What the unit counts towards `batch_chars`."""
        return sum(map(len, self.pieces))

    def wire(self, token: str) -> str:
        """The text that is sent: the pieces, escaped, with markers of the request's `token` between them."""
        return join(self.pieces, token, self.first_marker)


@attrs.frozen
class Gap:
    """White space that splitting took, all of one segment (its place, from 0)."""

    segment: int
    text: str = attrs.field(repr=redacted)


@attrs.frozen
class ParentPlan:
    """One parent, its units, and how their translations become its own (C3.4).

    `layout` is the whole source in order, each stretch of it a unit or a gap.
    """

    id: str
    segments: tuple[str, ...] = attrs.field(repr=redacted)
    layout: tuple[Unit | Gap, ...] = attrs.field(repr=False)
    units: tuple[Unit, ...] = attrs.field(init=False)

    @units.default
    def _units_of_the_layout(self) -> tuple[Unit, ...]:
        return tuple(part for part in self.layout if isinstance(part, Unit))

    @property
    def source(self) -> str:
        """The clean source (C3.2)."""
        return "".join(self.segments)

    def assemble(self, results: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
        """The translated segments, as many as the parent has, from the translated pieces of each unit by its id.

        The white space that splitting took is back in its segments. A segment of which no unit holds a part is what
        splitting took of it: empty, or white space. Raises `KeyError` if a unit is missing and `ValueError` if one
        has not as many pieces as its source: a parent is assembled complete or not at all.
        """
        texts: list[list[str]] = [[] for _ in self.segments]
        for part in self.layout:
            if isinstance(part, Gap):
                texts[part.segment].append(part.text)
                continue
            first = part.first_marker - 1
            places = range(first, first + len(part.pieces))
            for place, piece in zip(places, results[part.id], strict=True):
                texts[place].append(piece)
        return tuple(map("".join, texts))


def _unit_ranges(text: str, batch_chars: int) -> Iterator[tuple[int, int]]:
    """Where the units of a text longer than `batch_chars` start and end; what lies between them is white space."""
    if is_blank(text):
        for start in range(0, len(text), batch_chars):
            yield start, min(start + batch_chars, len(text))
        return
    start = end = 0
    for word in _WORD.finditer(text):
        if word.end() - start > batch_chars:
            # Nothing is there to end when the white space in front does not fit together with the first word.
            if end > start:
                yield start, end
            start = word.start()
            while word.end() - start > batch_chars:
                yield start, start + batch_chars
                start += batch_chars
        end = word.end()
    yield start, len(text) if len(text) - start <= batch_chars else end


def plan_parent(parent_id: str, segments: tuple[str, ...], batch_chars: int) -> ParentPlan:
    """Plan the units of one parent, in time linear in its text and its segments.

    `segments` join, with nothing between them, to the source, which is not empty; some of them may be. A source of
    at most `batch_chars` (1 or more) characters is one unit with the parent's id, and all its segments are pieces.
    Any other is split into `ID.1`, `ID.2`, …, none of them empty or longer than `batch_chars`; a border of segments
    that falls on the edge of a unit or into a gap needs no marker.
    """
    text = "".join(segments)
    if len(text) <= batch_chars:
        return ParentPlan(parent_id, segments, (Unit(parent_id, parent_id, segments),))
    borders = tuple(accumulate(map(len, segments[:-1])))
    layout: list[Unit | Gap] = []

    def cut(start: int, end: int) -> tuple[int, tuple[str, ...]]:
        """The place of the segment in which a stretch begins, and the stretch cut at the borders inside it."""
        first = bisect_right(borders, start)
        edges = (start, *borders[first : bisect_left(borders, end)], end)
        return first, tuple(text[left:right] for left, right in pairwise(edges))

    def leave_out(start: int, end: int) -> None:
        if start < end:
            first, pieces = cut(start, end)
            layout.extend(Gap(place, piece) for place, piece in enumerate(pieces, first))

    reached = 0
    for number, (start, end) in enumerate(_unit_ranges(text, batch_chars), 1):
        leave_out(reached, start)
        first, pieces = cut(start, end)
        layout.append(Unit(f"{parent_id}.{number}", parent_id, pieces, first + 1))
        reached = end
    leave_out(reached, len(text))
    return ParentPlan(parent_id, segments, tuple(layout))


def unit_ids_clash(plans: Iterable[ParentPlan]) -> str | None:
    """The first id of a parent that is also the id of a unit of another parent, or None."""
    parents = {plan.id: plan for plan in plans}
    for plan in parents.values():
        for unit in plan.units:
            if unit.id != plan.id and unit.id in parents:
                return unit.id
    return None


def fill_batches(units: Sequence[Unit], batch_chars: int, batch_units: int) -> tuple[tuple[Unit, ...], ...]:
    """The units in their order, in batches of at most `batch_chars` characters and `batch_units` units.

    A unit joins the batch before it if it fits; one that is longer than `batch_chars` is a batch of its own.
    """
    batches: list[list[Unit]] = []
    chars = 0
    for unit in units:
        if not batches or chars + unit.chars > batch_chars or len(batches[-1]) >= batch_units:
            batches.append([])
            chars = 0
        batches[-1].append(unit)
        chars += unit.chars
    return tuple(map(tuple, batches))
