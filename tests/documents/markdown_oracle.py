"""What stock markdown-it-py says of a Markdown page, apart from what Dragoman makes of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from markdown_it import MarkdownIt
from markdown_it.token import Token

from dragoman.documents.document import Document

__all__ = ["apply", "reversed_words", "runs", "skeleton", "translate"]

_PARSER = MarkdownIt("commonmark").enable(["table", "strikethrough"])


def _tokens(page: str) -> list[Token]:
    return _PARSER.parse(page)


def skeleton(page: str) -> list[tuple[object, ...]]:
    """All tokens of a page, without the texts, and without breaks that are spaces."""
    found: list[tuple[object, ...]] = []
    for block in _tokens(page):
        found.append(_signature(block, "" if block.type == "inline" else block.content))
        automatic = False
        for token in block.children or ():
            if token.type not in ("text", "softbreak"):
                found.append(_signature(token, token.content))
                automatic = token.type == "link_open" and token.info == "auto"
            elif automatic:
                found.append(("address", token.content))
    return found


def _signature(token: Token, content: str) -> tuple[object, ...]:
    return (token.type, token.tag, token.nesting, token.markup, token.info, str(token.attrs), content)


def runs(page: str) -> list[list[str]]:
    """For each block with text, the texts between its markup that are not blank, without white space around them."""
    return [found for block in _tokens(page) if block.type == "inline" and (found := _runs(block))]


def _runs(block: Token) -> list[str]:
    texts = [""]
    automatic = False
    for token in block.children or ():
        if token.type == "link_open" and token.info == "auto":
            automatic = True
        elif token.type == "link_close":
            automatic = False
        if token.type == "softbreak":
            texts[-1] += " "
        elif token.type != "text":
            texts.append("")
        elif not automatic:
            texts[-1] += token.content
    return [text.strip() for text in texts if text.strip()]


def apply(document: Document, parent_id: str, *segments: str) -> str:
    """The page with this translation of one of its parents."""
    for replacement in document.dispatch(parent_id, segments):
        replacement.apply()
    return document.render().decode()


def translate(document: Document, translation: Callable[[Sequence[str]], tuple[str, ...]]) -> str:
    """The page with a translation of all its parents."""
    for parent_id, segments in document.parents.items():
        for replacement in document.dispatch(parent_id, translation(segments)):
            replacement.apply()
    return document.render().decode()


def reversed_words(segments: Sequence[str]) -> tuple[str, ...]:
    """A fake translation: all words are other ones, and as long."""
    return tuple(re.sub(r"[^\W\d_]+", lambda word: word[0][::-1] + "q", segment) for segment in segments)
