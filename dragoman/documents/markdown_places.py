"""From places in the text of a Markdown block to places in the document, and to a small document of that block alone.

markdown-it-py gives the text of a block without the markers, the indentation and the escapes of the blocks around it.
Here each of its pieces is found again, and compared with what stands in the document: a block for which one differs has
no places.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

import attrs
from markdown_it.token import Token

from .markdown_parser import Line

__all__ = ["Places", "places_of"]


@attrs.frozen
class Places:
    """Where the text of a block stands. `alone` is the block as a document of its own: it parses to the same block.

    `content` runs in pieces, each of which stands without a gap in the document and in `alone`. `in_cell`: it stands in
    a table, in the column of that number, where `|` ends it. `is_heading`: it stands behind `#`.
    `follows_definition`: a link reference definition ends right before it.
    """

    content: str = attrs.field(repr=False)
    alone: str = attrs.field(repr=False)
    in_cell: bool
    column: int
    is_heading: bool
    follows_definition: bool
    _starts: tuple[int, ...]
    _in_source: tuple[int, ...]
    _in_alone: tuple[int, ...]

    def in_source(self, place: int) -> int:
        return self._of(self._in_source, place)

    def in_alone(self, place: int) -> int:
        return self._of(self._in_alone, place)

    def _of(self, starts: Sequence[int], place: int) -> int:
        piece = max(0, bisect_right(self._starts, place) - 1)
        return starts[piece] + place - self._starts[piece]


def places_of(
    text: str, opening: Token, inline: Token, column: int, behind_definitions: frozenset[int]
) -> Places | None:
    """The places of the block `inline`; `column` is that of the cell in its row. None if they cannot be shown."""
    lines: tuple[Line, ...] = inline.meta.get("lines", ())
    if not lines:
        return None
    first = lines[0]
    follows_definition = first.number in behind_definitions
    if opening.type in ("th_open", "td_open"):
        return _of_cell(text, inline, column, follows_definition)
    if opening.type == "heading_open" and opening.markup.startswith("#"):
        line = text[first.start : first.end]
        at = len(opening.markup)
        at += len(line[at:]) - len(line[at:].lstrip())
        if not line.startswith(inline.content, at):
            return None
        return Places(inline.content, line, False, 0, True, follows_definition, (0,), (first.start + at,), (at,))
    return _of_lines(text, inline, lines, follows_definition)


def _of_lines(text: str, inline: Token, lines: Sequence[Line], follows_definition: bool) -> Places | None:
    alone = "\n".join(line.indentation + text[line.start : line.end] for line in lines)
    trimmed = alone.find(inline.content)
    if trimmed < 0 or alone[:trimmed].strip():
        return None
    starts, in_source, in_alone = [], [], []
    at = 0
    for line in lines:
        start = at + len(line.indentation) - trimmed
        skipped = max(0, -start)  # white space other than blanks in front of the whole block
        if start + skipped <= len(inline.content) and line.start + skipped <= line.end:
            starts.append(start + skipped)
            in_source.append(line.start + skipped)
            in_alone.append(at + len(line.indentation) + skipped)
        at += len(line.indentation) + line.end - line.start + 1
    if not starts or starts[0] != 0:
        return None
    return Places(
        inline.content, alone, False, 0, False, follows_definition, tuple(starts), tuple(in_source), tuple(in_alone)
    )


def _of_cell(text: str, inline: Token, column: int, follows_definition: bool) -> Places | None:
    (row,), head = inline.meta["lines"], inline.meta["head"]
    line = text[row.start : row.end]
    cells = _cells(line)
    if column >= len(cells):
        return None
    pieces = cells[column]
    raw = "".join(line[start:end] for start, end in pieces)
    trimmed = raw.find(inline.content)
    if trimmed < 0 or raw.strip() != inline.content.strip():
        return None
    rows = [text[it.start : it.end] for it in head]
    offset = 0
    if row.number != head[0].number:
        offset = sum(map(len, rows)) + 2
        rows.append(line)
    starts, in_line = [], []
    at = -trimmed
    for number, (start, end) in enumerate(pieces):
        skipped = max(0, -at)
        if start + skipped <= end:
            starts.append(at + skipped)
            # A piece behind the first one begins with an escaped "|", and its backslash is in front.
            in_line.append(start + skipped - (number > 0))
            if number > 0:
                starts.append(at + 1)
                in_line.append(start + 1)
        at += end - start
    return Places(
        inline.content,
        "\n".join(rows),
        True,
        column,
        False,
        follows_definition,
        tuple(starts),
        tuple(row.start + place for place in in_line),
        tuple(offset + place for place in in_line),
    )


def _cells(line: str) -> list[list[tuple[int, int]]]:
    """The cells of a row, each as its pieces in the line; a piece ends before the backslash of an escaped `|`."""
    cells: list[list[tuple[int, int]]] = [[]]
    start = 0
    end = len(line.rstrip())
    for place in range(end):
        if line[place] != "|":
            continue
        if place and line[place - 1] == "\\":
            cells[-1].append((start, place - 1))
            start = place
        else:
            cells[-1].append((start, place))
            cells.append([])
            start = place + 1
    cells[-1].append((start, end))
    if cells and not _length(cells[0]):
        cells.pop(0)
    if cells and not _length(cells[-1]):
        cells.pop()
    return cells


def _length(pieces: Sequence[tuple[int, int]]) -> int:
    return sum(end - start for start, end in pieces)
