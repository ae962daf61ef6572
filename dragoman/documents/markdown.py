"""Markdown: CommonMark with tables and strikethrough, as markdown-it-py reads it.

A parent is a paragraph, a heading or the cell of a table; its segments are the texts between the markup in it. A line
break that means a space is one in the clean text, and what is written for a segment is one line. Never touched: front
matter (YAML or TOML), code, link destinations and titles, images, autolinks, raw HTML and the text of its `code` and
the like, reference definitions, footnote references, the boxes of tasks.

A translation is taken if the block alone, parsed again, has the same markup and the translated texts. Where white space
at the edge of a segment is in the way of the markup, as in `** bold**`, that of its source is written instead.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence

from ..protocol.features import ParentRefused
from .document import Block, Document, Edit, Segment, adds
from .markdown_blocks import Leaf, leaves
from .markdown_parser import Parser, References
from .markdown_writing import written

__all__ = ["MarkdownDocument"]

_FRONT_MATTER = re.compile(
    r"\ufeff?(?:---[ \t]*\n(?![ \t]*\n)(?:.*\n)*?(?:---|\.\.\.)|\+\+\+[ \t]*\n(?:.*\n)*?\+\+\+)[ \t]*(?:\n|\Z)"
)
_LINE_END = re.compile(r"\r\n?|\n")
_UNSAFE = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")


class MarkdownDocument(Document):
    """A Markdown page that is translated parent by parent.

    Characters that its encoding lacks are written as references. A translation that cannot be written without other
    markup than the source has, or with control characters, is refused as `STRUCTURE`. `unplaced` is the number of
    blocks of which it could not be shown where their text stands; they are no parents and stay as they are.
    """

    def __init__(
        self,
        source: bytes | str,
        *,
        document: str = "page.md",
        target_language: str | None = None,
        source_language: str | None = None,
        encoding: str | None = None,
    ) -> None:
        self._parser = Parser()
        self._references: References = {}
        self._leaves: dict[str, Leaf] = {}
        self._pairs: list[int] = []
        self.unplaced = 0
        super().__init__(
            source,
            document=document,
            target_language=target_language,
            source_language=source_language,
            encoding=encoding,
        )

    def _read(self, source: str) -> Iterator[Block]:
        text = _LINE_END.sub("\n", source)
        front = _FRONT_MATTER.match(text)
        start = front.end() if front is not None else int(text.startswith("\ufeff"))
        # Blank lines stand in for the front matter, so that places stay what they are.
        text = "\n" * start + text[start:]
        self._pairs = [found.start() - number for number, found in enumerate(re.finditer("\r\n", source))]
        parsed = self._parser.document(text)
        self._references = parsed.references
        for leaf in leaves(text, parsed, self._parser):
            if leaf is None:
                self.unplaced += 1
                continue
            block_id = f"b{len(self._leaves) + 1}"
            self._leaves[block_id] = leaf
            yield Block(
                block_id,
                tuple(
                    Segment(self._in_source(leaf, part.start), self._in_source(leaf, part.end), part.text)
                    for part in leaf.parts
                ),
            )

    def _written(self, block: Block, segments: Sequence[str]) -> Iterator[Edit]:
        for segment, translation in zip(block.segments, segments, strict=True):
            if adds(_UNSAFE, translation, segment.text):
                raise ParentRefused("STRUCTURE")
        leaf = self._leaves[block.id]
        changes = written(leaf, segments, self._parser, self._references, self._decoded.encoding)
        if changes is None:
            raise ParentRefused("STRUCTURE")
        for change in changes:
            yield Edit(self._in_source(leaf, change.start), self._in_source(leaf, change.end), change.raw)

    def _in_source(self, leaf: Leaf, place: int) -> int:
        """Where a place in a block is in the source: with the line ends before it of which one character was read."""
        read = leaf.places.in_source(place)
        return read + bisect_left(self._pairs, read)
