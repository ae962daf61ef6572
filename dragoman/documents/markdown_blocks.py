"""The blocks of Markdown that hold text, and their segments."""

from __future__ import annotations

import re
from collections.abc import Iterator

import attrs
from markdown_it.token import Token

from ..protocol.redaction import redacted
from .markdown_inline import Inline, Markup, Run, read_inline
from .markdown_parser import Parsed, Parser, References
from .markdown_places import Places, places_of

__all__ = ["Leaf", "Part", "leaves", "skeleton"]

_TASK = re.compile(r"\[[ xX]\][ \t]+(?=\S)")
_ALERT = re.compile(r"\[![A-Za-z]+\][ \t]*(?=\n|\Z)")
_VOID_ELEMENT = re.compile(r"<(?:br|hr|img|input)\b", re.IGNORECASE)
_BLANK = " \t\n"


@attrs.frozen
class Part:
    """A segment: the stretch `start:end` of the text of its block, in the run of that number.

    `head` and `tail` is what the run reads as in front of the stretch and behind it. `spaced`: the clean text ends with
    a space that stands elsewhere.
    """

    run: int
    start: int
    end: int
    head: str
    tail: str
    text: str = attrs.field(repr=redacted)
    spaced: bool


@attrs.frozen
class Leaf:
    """A block with text: where it stands, what is in it, and its segments.

    `lead` characters in front are markup. `tokens` is the block alone, parsed, and `index` the one with its text.
    """

    places: Places
    inline: Inline
    parts: tuple[Part, ...]
    lead: int
    tokens: tuple[Markup, ...] = attrs.field(repr=False)
    index: int


def leaves(text: str, parsed: Parsed, parser: Parser) -> Iterator[Leaf | None]:
    """The blocks that hold text with letters, in order; None for one of which it cannot be shown where it stands."""
    tokens, references = parsed.tokens, parsed.references
    column = 0
    for number, token in enumerate(tokens):
        if token.type == "tr_open":
            column = -1
        elif token.type in ("th_open", "td_open"):
            column += 1
        if token.type != "inline" or not any(letter.isalpha() or letter == "&" for letter in token.content):
            continue
        opening = tokens[number - 1]
        lead = _lead(token.content, tokens[number - 2].type if number > 1 else "")
        inline = read_inline(token.content, parser.inline(token.content, references), lead)
        if inline is None:
            yield None
            continue
        parts = _parts(token.content, inline)
        if any(map(str.isalpha, "".join(part.text for part in parts))):
            places = places_of(text, opening, token, column, parsed.behind_definitions)
            yield None if places is None else _checked(places, inline, parts, lead, parser, references)


def skeleton(tokens: list[Token]) -> tuple[Markup, ...]:
    """The tokens of blocks, each with all but its place; with the texts in them."""
    return tuple(
        (token.type, token.tag, token.nesting, token.markup, token.info, tuple(token.attrs.items()), token.content)
        for token in tokens
    )


def _checked(
    places: Places, inline: Inline, parts: tuple[Part, ...], lead: int, parser: Parser, references: References
) -> Leaf | None:
    """The leaf, if the block alone is the same block with the same text."""
    tokens = parser.blocks(places.alone, references)
    columns = max(1, sum(token.type == "th_open" for token in tokens))
    texts = [index for index, token in enumerate(tokens) if token.type == "inline"]
    if columns - places.column > len(texts):
        return None
    index = texts[places.column - columns]
    if tokens[index].content != places.content:
        return None
    return Leaf(places, inline, parts, lead, skeleton(tokens), index)


def _lead(content: str, container: str) -> int:
    """How many characters in front are the box of a task, or the kind of an alert."""
    pattern = {"list_item_open": _TASK, "blockquote_open": _ALERT}.get(container)
    found = pattern.match(content) if pattern is not None else None
    return found.end() if found is not None else 0


def _parts(content: str, inline: Inline) -> tuple[Part, ...]:
    """The segments: runs that are not blank, without the white space around the whole block.

    Where a blank run, or markup that is no pair around text, stands between two segments that are not parted by white
    space, the first one ends with a space, so that no words run together.
    """
    numbers = [number for number, run in enumerate(inline.runs) if run.text.strip() and not run.fixed]
    parts = []
    for place, number in enumerate(numbers):
        run = inline.runs[number]
        start, end = run.start, run.end
        if place == 0:
            start += len(content[start:end]) - len(content[start:end].lstrip(_BLANK))
        spaced = False
        if place == len(numbers) - 1:
            end = start + len(content[start:end].rstrip(_BLANK))
        else:
            following = numbers[place + 1]
            spaced = (
                not run.text[-1].isspace()
                and not inline.runs[following].text[0].isspace()
                and (_stands(inline.markups[number:following]) or _has_text(inline.runs[number + 1 : following]))
            )
        text = run.text
        head = text[: len(text) - len(text.lstrip(_BLANK))] if start > run.start else ""
        tail = text[len(text.rstrip(_BLANK)) :] if end < run.end else ""
        text = text[len(head) : len(text) - len(tail)]
        parts.append(Part(number, start, end, head, tail, text + " " * spaced, spaced))
    return tuple(parts)


def _stands(markups: tuple[Markup, ...]) -> bool:
    """Whether one of these markups stands between words, as code, images and breaks do."""
    return any(
        markup[0] in ("code_inline", "image", "hardbreak", "literal")
        or (markup[0] == "html_inline" and _VOID_ELEMENT.match(str(markup[-1])))
        or markup[4] == "auto"
        for markup in markups
    )


def _has_text(runs: tuple[Run, ...]) -> bool:
    return any(run.text for run in runs)
