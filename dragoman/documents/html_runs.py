"""Runs of text between the tags of block elements, and the segments in them."""

from __future__ import annotations

import attrs

from .document import Segment
from .html_text import clean, core
from .html_tokens import Token

__all__ = ["Run", "written_stretch"]


@attrs.define
class _Stretch:
    start: int
    end: int
    outer_end: int
    """Where it ends with the white space behind it."""
    has_space_after: bool = False
    """Whether white space or a part stands behind it that is in no segment."""


class Run:
    """What stands between two block tags. `holder` is the start tag of the block element that is around it."""

    def __init__(self) -> None:
        self.holder: Token | None = None
        self._pieces: list[tuple[int, int] | None] = []

    def text(self, start: int, end: int, holder: Token | None) -> None:
        """A text node that is to be translated."""
        if not self._pieces:
            self.holder = holder
        self._pieces.append((start, end))

    def part(self) -> None:
        """Something that is not translated, and stands between words."""
        if self._pieces:
            self._pieces.append(None)

    def segments(self, page: str) -> tuple[Segment, ...]:
        """The text nodes that are not blank; a space between two of them is at the end of the first, if in neither."""
        stretches: list[_Stretch] = []
        blank = part = False
        for piece in self._pieces:
            if piece is None:
                part = True
                continue
            start, outer_end = piece
            first, end = core(page, start, outer_end)
            if first == end:
                blank = True
                continue
            if not stretches:
                start = first
            elif stretches[-1].end < stretches[-1].outer_end:
                stretches[-1].end = stretches[-1].outer_end
                start = first
            elif blank or (part and start == first):
                stretches[-1].has_space_after = True
                start = first
            stretches.append(_Stretch(start, end, outer_end))
            blank = part = False
        return tuple(
            Segment(it.start, it.end, clean(page[it.start : it.end]) + " " * it.has_space_after) for it in stretches
        )


def written_stretch(segment: Segment, page: str, translation: str) -> str:
    """The clean text to write for a segment: without the space that stands elsewhere in the page."""
    if translation.endswith(" ") and clean(page[segment.start : segment.end]) != segment.text:
        return translation[:-1]
    return translation
