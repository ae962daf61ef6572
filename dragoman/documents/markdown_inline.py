"""What stands in a block of Markdown: markup, and the runs of text around it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TypeAlias

import attrs
from markdown_it.token import Token

from ..protocol.redaction import redacted

__all__ = ["Inline", "Label", "Markup", "Run", "read_inline"]

_FOOTNOTE = re.compile(r"(\[\^[^\[\]\s]+\]:?)")
_CODE_ELEMENT = re.compile(r"<(/?)(code|kbd|samp|var|tt|pre|script|style|svg|math)\b(?![^>]*/>)", re.IGNORECASE)
_SPACE = " \t"

Markup: TypeAlias = tuple[object, ...]
"""All that makes a token what it is, and nothing of its place."""


@attrs.frozen
class Run:
    """The text between two markups, `content[start:end]`; it may be empty. `fixed`: it is code, marked so by HTML."""

    start: int
    end: int
    text: str = attrs.field(repr=redacted)
    fixed: bool


@attrs.frozen
class Label:
    """The text of a link which is also the label of its definition, as in `[text]` and `[text][]`.

    It is in the runs from `first_run` to `last_run`. If they change, `raw` in `start:end` names the definition.
    """

    first_run: int
    last_run: int
    start: int
    end: int
    raw: str = attrs.field(repr=redacted)


@attrs.frozen
class Inline:
    """The markups in a block, and the runs around them: one more than there are markups."""

    markups: tuple[Markup, ...] = attrs.field(repr=lambda markups: f"<{len(markups)} markups>")
    runs: tuple[Run, ...]
    labels: tuple[Label, ...]


@attrs.frozen
class _Piece:
    start: int
    end: int
    text: str


def read_inline(content: str, tokens: Sequence[Token], lead: int = 0) -> Inline | None:
    """The markups and runs of a block, from the tokens of `Parser.inline`; None if their places cannot be shown.

    The first `lead` characters, and references to footnotes, are text for CommonMark and markup here.
    """
    markups: list[Markup] = []
    runs: list[Run] = []
    labels: list[Label] = []
    label_start = label_run = -1
    pieces: list[_Piece] = []
    reached = depth = 0

    def close() -> None:
        start = pieces[0].start if pieces else reached
        end = pieces[-1].end if pieces else reached
        runs.append(Run(start, end, "".join(piece.text for piece in pieces), depth > 0))
        pieces.clear()

    for token in _without_autolinks(tokens):
        for part in _parts(content, token, lead):
            if part is None:
                return None
            if isinstance(part, _Piece):
                if part.start < reached or (pieces and content[pieces[-1].end : part.start].strip(" \t\n")):
                    return None
                pieces.append(part)
                reached = part.end
                continue
            close()
            markups.append(part)
            if token.type == "link_open":
                label_start, label_run = token.meta["at"] if "label" in token.meta else -1, len(runs)
            elif token.type == "link_close" and label_start >= 0:
                labels.extend(_label(content, label_start, token.meta["at"], label_run, len(runs) - 1))
            code = _CODE_ELEMENT.match(token.content) if token.type == "html_inline" else None
            if code is not None:
                depth = max(0, depth - 1) if code[1] else depth + 1
    close()
    return Inline(tuple(markups), tuple(runs), tuple(labels))


def _label(content: str, start: int, end: int, first_run: int, last_run: int) -> Iterator[Label]:
    after = end + 1
    collapsed = content.startswith("[]", after)
    if collapsed or not content.startswith("[", after):
        raw = f"[{' '.join(content[start:end].split())}]"
        yield Label(first_run, last_run, after, after + 2 * collapsed, raw)


def _without_autolinks(tokens: Sequence[Token]) -> Iterator[Token]:
    inside = False
    for token in tokens:
        if token.type == "link_close":
            inside = False
        if not inside:
            yield token
        if token.type == "link_open" and token.info == "auto":
            inside = True


def _parts(content: str, token: Token, lead: int) -> Iterator[_Piece | Markup | None]:
    """A token as pieces of text and markups; None for a text that does not stand where it should."""
    if token.type not in ("text", "text_special", "softbreak"):
        yield _markup(token)
        return
    start: int = token.meta.get("at", -1)
    if token.type == "softbreak":
        yield _break(content, start)
    elif token.type == "text_special":
        yield (
            _Piece(start, start + len(token.markup), token.content) if content.startswith(token.markup, start) else None
        )
    elif not content.startswith(token.content, start):
        yield None
    else:
        yield from _texts(token.content, start, lead)


def _texts(text: str, start: int, lead: int) -> Iterator[_Piece | Markup]:
    if start < lead:
        taken = min(lead - start, len(text))
        yield _literal(text[:taken])
        text, start = text[taken:], start + taken
    for place, part in enumerate(_FOOTNOTE.split(text)):
        if place % 2:
            yield _literal(part)
        elif part:
            yield _Piece(start, start + len(part), part)
        start += len(part)


def _break(content: str, at: int) -> _Piece | None:
    if content[at : at + 1] != "\n":
        return None
    start, end = at, at + 1
    while start and content[start - 1] == " ":
        start -= 1
    while end < len(content) and content[end] in _SPACE:
        end += 1
    return _Piece(start, end, " ")


def _literal(text: str) -> Markup:
    return ("literal", "", 0, "", "", (), text)


def _markup(token: Token) -> Markup:
    return (
        token.type,
        token.tag,
        token.nesting,
        token.markup,
        token.info,
        tuple(token.attrs.items()),
        token.content,
    )
