"""Markdown as markdown-it-py parses it (CommonMark, tables, strikethrough), with the places of lines and texts.

Its tokens say from which lines they come and no more. Here the states of its parsers also note, in `Token.meta`, where
the lines of a block begin behind the markers of its containers, and where a text token begins in the text of its block.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import MutableMapping
from typing import Any, Literal, TypeAlias

import attrs
from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

__all__ = ["Line", "Parsed", "Parser", "References"]

References: TypeAlias = MutableMapping[str, Any]
"""The link reference definitions of a document by their labels, as markdown-it-py keeps them."""


@attrs.frozen
class Line:
    """A line of a block: its number, `text[start:end]` without what stands in front, its indentation in the block."""

    number: int
    start: int
    end: int
    indentation: str


@attrs.frozen
class Parsed:
    """A document: its block tokens, its reference definitions, and the lines behind these."""

    tokens: list[Token]
    references: References
    behind_definitions: frozenset[int]


class Parser:
    """Parses texts with LF line ends."""

    def __init__(self) -> None:
        self._md = (
            MarkdownIt("commonmark", {"store_labels": True})
            .enable(["table", "strikethrough"])
            .disable("fragments_join")
        )
        self._md.inline.ruler.before("text", "text_start", _note_text_start)

    def document(self, text: str) -> Parsed:
        """Parse a document.

        The `meta` of an inline token has its `lines`, with the underline of a heading; for the cell of a table the
        one line of its row, and as `head` the two lines with which the table begins.
        """
        references: References = {}
        env: dict[str, Any] = {"references": references}
        tokens = self._blocks(text, env)
        definitions = (*references.values(), *env.get("duplicate_refs", ()))
        return Parsed(tokens, references, frozenset(definition["map"][1] for definition in definitions))

    def blocks(self, text: str, references: References) -> list[Token]:
        """The block tokens of another text where these definitions are known."""
        return self._blocks(text, {"references": ChainMap({}, references)})

    def _blocks(self, text: str, env: dict[str, Any]) -> list[Token]:
        state = _BlockState(text, self._md, env, [])
        self._md.block.tokenize(state, 0, state.lineMax)
        return state.tokens

    def inline(self, content: str, references: References) -> list[Token]:
        """The tokens in a block. The `meta` of each has `at`: for texts, escapes and breaks, where it begins."""
        state = _InlineState(content, self._md, {"references": references}, [])
        self._md.inline.tokenize(state)
        for rule in self._md.inline.ruler2.getRules(""):
            rule(state)
        return state.tokens


class _BlockState(StateBlock):
    _table: Token | None = None
    _head: tuple[Line, ...] = ()

    def push(self, ttype: str, tag: str, nesting: Literal[-1, 0, 1]) -> Token:
        # When a block closes, its tokens are complete, and the marks are still those of its own container.
        if nesting < 0 and self.tokens and self.tokens[-1].type == "inline":
            inline, opening = self.tokens[-1], self.tokens[-2]
            first, end = opening.map or inline.map or (0, 0)
            inline.meta["lines"] = tuple(map(self._line, range(first, end)))
            if ttype in ("th_close", "td_close") and self._table is not None and self._table.map is not None:
                start = self._table.map[0]
                if not self._head:
                    self._head = (self._line(start), self._line(start + 1))
                inline.meta["head"] = self._head
        token = super().push(ttype, tag, nesting)
        if ttype == "table_open":
            self._table, self._head = token, ()
        return token

    def _line(self, number: int) -> Line:
        start, end = self.bMarks[number] + self.tShift[number], self.eMarks[number]
        line = self.getLines(number, number + 1, self.blkIndent, False)
        return Line(number, start, end, line[: max(0, len(line) - (end - start))])


class _InlineState(StateInline):
    text_start = 0

    def push(self, ttype: str, tag: str, nesting: Literal[-1, 0, 1]) -> Token:
        token = super().push(ttype, tag, nesting)
        before = self.tokens[-2] if len(self.tokens) > 1 else None
        at = self.pos
        if before is not None and before.type == "text" and before.meta.get("rule_at") == at:
            at = before.meta["at"] + len(before.content)  # the next marker of a run of them
        token.meta["at"], token.meta["rule_at"] = at, self.pos
        return token

    def pushPending(self) -> Token:  # noqa: N802 (the name of markdown-it-py)
        token = super().pushPending()
        token.meta["at"] = self.text_start
        return token


def _note_text_start(state: StateInline, silent: bool) -> bool:
    """The first rule that is tried at each place: what becomes pending text while there is none begins here."""
    if not silent and isinstance(state, _InlineState) and not state.pending:
        state.text_start = state.pos
    return False
