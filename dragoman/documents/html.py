"""HTML pages (and XHTML, read as browsers read it when it is served as HTML).

A parent is a run of text and phrasing content between the tags of block elements; its segments are the text nodes in
it that are not blank. White space is as HTML collapses it, and the white space around a parent is no part of it. Where
a blank text node, a line break or an element without translatable text, such as `code` or `img`, stands between two
segments, the first one ends with a space in the clean text, so that no words run together; a space that does not stand
in the text node itself is not written back.

Never touched: attributes, comments, the elements of `html_elements.UNTOUCHED`, and what is marked with
`translate="no"` or the class `notranslate`. The innermost mark or element decides, so `translate="yes"` opens any of
them whose content is markup. Not promised: that a text in a table outside of its cells, or in formatting elements that
overlap with others, is judged by just the element to which a browser moves it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ..languages import right_to_left
from ..protocol.features import ParentRefused
from .document import Block, Document, Edit, adds
from .html_declared import declared_encoding
from .html_elements import BLOCK, RAW, STANDING
from .html_runs import Run, written_stretch
from .html_text import UNSAFE, raw
from .html_tokens import Kind, Token, Tokens
from .html_tree import OpenElements

__all__ = ["HtmlDocument"]


class HtmlDocument(Document):
    """An HTML page, or a fragment of one, that is translated parent by parent.

    Its encoding is that of its byte order mark, else `encoding`, else the one it declares, else UTF-8. Characters that
    the encoding lacks are written as references. Once something was translated into a language that is written from
    right to left, the page says so: by `dir="rtl"` at its `html` element, else at `body`, else at the block elements
    that hold what was translated. A translation with control characters is refused as `STRUCTURE`.
    """

    def __init__(
        self,
        page: bytes | str,
        *,
        document: str = "page.html",
        target_language: str | None = None,
        source_language: str | None = None,
        encoding: str | None = None,
    ) -> None:
        self._root: Token | None = None
        self._holders: dict[str, Token | None] = {}
        super().__init__(
            page,
            document=document,
            target_language=target_language,
            source_language=source_language,
            encoding=encoding,
        )

    def _declared(self, source: bytes | str) -> str | None:
        return declared_encoding(source) if isinstance(source, bytes) else None

    def _encode(self, text: str) -> bytes:
        return self._decoded.encode(text, errors="xmlcharrefreplace")

    def _read(self, source: str) -> Iterator[Block]:
        tokens, tree, run = Tokens(source), OpenElements(), Run()
        roots: dict[str, Token] = {}
        for token in tokens:
            if token.kind is Kind.TEXT:
                tree.text(blank=not source[token.start : token.end].strip())
                if tree.translated:
                    run.text(token.start, token.end, tree.block)
                else:
                    run.part()
                continue
            if token.kind is Kind.DOCTYPE:
                tree.doctype()
            elif token.kind is Kind.START:
                opens = tree.start(token)
                is_html = not tree.in_svg_or_math
                if is_html and token.name in RAW:
                    tokens.read_raw(token.name, Kind.TEXT if token.name == "title" else Kind.RAW)
                if is_html and opens and token.name in ("html", "body"):
                    roots.setdefault(token.name, token)
            elif token.kind is Kind.END:
                opens = tree.end(token)
            else:
                continue
            tokens.foreign = tree.in_svg_or_math
            if token.name in BLOCK and opens:
                yield from self._block(run, source)
                run = Run()
            elif token.name in STANDING:
                run.part()
        yield from self._block(run, source)
        self._root = roots.get("html", roots.get("body"))

    def _block(self, run: Run, source: str) -> Iterator[Block]:
        segments = run.segments(source)
        if any(character.isalpha() for segment in segments for character in segment.text):
            block = Block(f"b{len(self._holders) + 1}", segments)
            self._holders[block.id] = run.holder
            yield block

    def _written(self, block: Block, segments: Sequence[str]) -> Iterator[Edit]:
        for segment, translation in zip(block.segments, segments, strict=True):
            if adds(UNSAFE, translation, segment.text):
                raise ParentRefused("STRUCTURE")
            if translation != segment.text:
                yield Edit(segment.start, segment.end, raw(written_stretch(segment, self._source, translation)))

    def _further_edits(self) -> Iterable[Edit]:
        if not right_to_left(self.target_language):
            return ()
        tags = [self._root] if self._root is not None else [self._holders[block_id] for block_id in self.translated]
        return [_direction(tag) for tag in {tag.start: tag for tag in tags if tag is not None}.values()]


def _direction(tag: Token) -> Edit:
    """What makes the content of an element run from right to left."""
    found = tag.attributes.get("dir")
    if found is None:
        return Edit(tag.name_end, tag.name_end, ' dir="rtl"')
    if found.start == found.end == found.name_end:
        return Edit(found.start, found.end, '="rtl"')
    return Edit(found.start, found.end, '"rtl"')
