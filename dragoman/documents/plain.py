"""Plain texts. A paragraph, the lines between blank lines, is a parent with one segment.

What a line break means there is seen from its place. In prose that was wrapped at some width, each line is so full that
the next word would not have fitted: such a paragraph is one line of clean text, and its translation is wrapped at the
same width again. Anywhere else, in lists, verses, addresses or logs, the lines are meant: the clean text has the same
lines, without their indentation, and a translation must have as many.
"""

from __future__ import annotations

import re
import textwrap
import unicodedata
from collections.abc import Iterator, Sequence
from itertools import pairwise

from ..protocol.features import ParentRefused
from .document import Block, Document, Edit, Segment, adds

__all__ = ["PlainText"]

_BREAK = re.compile(r"\r\n?|\n")
_BREAK_KEPT = re.compile(r"(\r\n?|\n)")
_LINE = re.compile(r"[^\r\n]+")
_CONTINUES = re.compile(r"\s*[\"'(\u00ab\u2018\u201c\u300c]*[^\W\d_]")
_HYPHENATED = re.compile(r"[^\W\d_]-\Z")
_UNSAFE = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_LEAST_WIDTH = 40
"""Paragraphs narrower than this are not taken for wrapped prose."""


class PlainText(Document):
    """A plain text that is translated paragraph by paragraph.

    Blank lines, the indentation and the end of each line stay. A translation with a blank line in it, with a control
    character, or with another number of lines where lines are meant is refused as `STRUCTURE`; one with characters
    that the encoding of the text lacks as `ENCODING`.
    """

    def __init__(
        self,
        text: bytes | str,
        *,
        document: str = "text.txt",
        target_language: str | None = None,
        source_language: str | None = None,
        encoding: str | None = None,
    ) -> None:
        super().__init__(
            text,
            document=document,
            target_language=target_language,
            source_language=source_language,
            encoding=encoding,
        )

    def _read(self, source: str) -> Iterator[Block]:
        count = 0
        for outer_start, outer_end in _paragraphs(source):
            raw = source[outer_start:outer_end]
            if not any(map(str.isalpha, raw)):
                continue
            count += 1
            lines = _BREAK.split(raw)
            stripped = [line.strip() for line in lines]
            clean = _unwrapped(stripped) if _is_wrapped(lines) else "\n".join(stripped)
            start = outer_start + len(_indentation(raw))
            yield Block(f"b{count}", (Segment(start, outer_start + len(raw.rstrip()), clean),))

    def _written(self, block: Block, segments: Sequence[str]) -> Iterator[Edit]:
        (segment,), (translation,) = block.segments, segments
        lines = [line.strip() for line in _BREAK.split(translation.strip())]
        if not all(lines) or adds(_UNSAFE, translation, segment.text):
            raise ParentRefused("STRUCTURE")
        if translation == segment.text:
            return
        raw = self._source[segment.start : segment.end]
        line_break = _BREAK.search(raw)
        if line_break is None:
            written = _unwrapped(lines)
        elif "\n" in segment.text:
            written = _line_by_line(lines, raw)
        else:
            written = _wrapped(_unwrapped(lines), self._before(segment.start), raw).replace("\n", line_break[0])
        yield Edit(segment.start, segment.end, written)

    def _before(self, place: int) -> str:
        """The indentation before a place."""
        start = place
        while start and self._source[start - 1].isspace() and self._source[start - 1] not in "\r\n":
            start -= 1
        return self._source[start:place]


def _paragraphs(source: str) -> Iterator[tuple[int, int]]:
    """Where the paragraphs begin and end: lines that are not blank, with one line break between each two."""
    start, end = 0, 0
    for line in _LINE.finditer(source):
        if not line[0].strip():
            continue
        if start < end and source[end : line.start()] not in ("\r\n", "\n", "\r"):
            yield start, end
            start = end = line.start()
        elif start == end:
            start = line.start()
        end = line.end()
    if start < end:
        yield start, end


def _is_wrapped(lines: Sequence[str]) -> bool:
    """Whether these are lines of prose that was wrapped: each is so full that the next word has no room in it."""
    widths = [_width(line.rstrip()) for line in lines]
    if len(lines) < 2 or max(widths) < _LEAST_WIDTH or len(set(map(_indentation, lines[1:]))) > 1:
        return False
    return all(
        _CONTINUES.match(following) and width + 1 + _width(following.split(maxsplit=1)[0]) > max(widths)
        for width, following in zip(widths, lines[1:], strict=False)
    )


def _unwrapped(lines: Sequence[str]) -> str:
    pieces = [lines[0]]
    for before, line in pairwise(lines):
        joined = _HYPHENATED.search(before) or (_is_ideographic(before[-1]) and _is_ideographic(line[0]))
        pieces.append(line if joined else " " + line)
    return "".join(pieces)


def _wrapped(text: str, indentation: str, raw: str) -> str:
    lines = _BREAK.split(indentation + raw)
    wrapped = textwrap.fill(
        text,
        width=max(map(_width, lines)),
        initial_indent=indentation,
        subsequent_indent=_indentation(lines[1]),
        expand_tabs=False,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return wrapped[len(indentation) :]


def _line_by_line(lines: Sequence[str], raw: str) -> str:
    """Put lines in the place of others, with their indentation, and with what white space they end."""
    pieces = _BREAK_KEPT.split(raw)
    if len(lines) != (len(pieces) + 1) // 2:
        raise ParentRefused("STRUCTURE")
    for place, line in enumerate(lines):
        piece = pieces[2 * place]
        pieces[2 * place] = _indentation(piece) + line + piece[len(piece.rstrip()) :]
    return "".join(pieces)


def _indentation(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def _width(text: str) -> int:
    """The columns of a text where wide characters take two."""
    return len(text) if text.isascii() else sum(1 + (unicodedata.east_asian_width(each) in "WF") for each in text)


def _is_ideographic(character: str) -> bool:
    """Whether no space stands between this character and its like."""
    return unicodedata.east_asian_width(character) in "WF" and not unicodedata.name(character, "").startswith("HANGUL")
