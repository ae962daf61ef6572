"""Putting translated texts into a block of Markdown, and the proof that it still is the same block."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import attrs

from ..protocol.redaction import redacted
from .markdown_blocks import Leaf, Part, skeleton
from .markdown_escapes import escaped, escaped_everywhere
from .markdown_inline import read_inline
from .markdown_parser import Parser, References

__all__ = ["Change", "written"]

_BREAK = re.compile(r"[ \t]*[\r\n][ \t\r\n]*")
_LEADING_BREAK = re.compile(r"[ \t]*\n[ \t]*")
_TRAILING_BREAK = re.compile(r"[ \t]*\n[ \t]*\Z")
_LEADING_SPACES = re.compile(r"\A\s+")
_TRAILING_SPACES = re.compile(r"\s+\Z")
_BLANK = " \t"


@attrs.frozen
class Change:
    """`raw` for the stretch `start:end` of the text of a block; its run of that number, if any, then is `text`."""

    run: int | None
    start: int
    end: int
    raw: str = attrs.field(repr=redacted)
    text: str = attrs.field(repr=redacted)


def written(
    leaf: Leaf, translations: Sequence[str], parser: Parser, references: References, encoding: str
) -> list[Change] | None:
    """The changes that put in a translation of each segment; None if no way is found that keeps the block."""
    texts = tuple(_BREAK.sub(" ", translation) for translation in translations)
    spaced = tuple(_with_spaces_of(text, part.text) for text, part in zip(texts, leaf.parts, strict=True))
    for attempt in dict.fromkeys((texts, spaced)):
        for everywhere in (False, True):
            changes = [
                _change(leaf, part, text, references, encoding, everywhere)
                for part, text in zip(leaf.parts, attempt, strict=True)
                if text != part.text
            ]
            changes = sorted([*changes, *_labels(leaf, changes)], key=lambda change: (change.start, change.end))
            if not changes or _keeps(leaf, changes, parser, references):
                return changes
    return None


def _with_spaces_of(text: str, source: str) -> str:
    """`text` with the white space at its edges that its source has."""
    stripped, core = text.strip(_BLANK), source.strip(_BLANK)
    start = source.find(core)
    return source[:start] + stripped + source[start + len(core) :]


def _change(leaf: Leaf, part: Part, text: str, references: References, encoding: str, everywhere: bool) -> Change:
    content = leaf.places.content
    start, end, head, tail = part.start, part.end, part.head, part.tail
    if part.spaced:
        text = text.removesuffix(" ")
    # Where the source breaks the line at the edge of a segment, and a space is wanted, the break stays.
    leading = _LEADING_BREAK.match(content, start, end)
    if leading is not None and text.startswith(" "):
        start, head = leading.end(), head + " "
    trailing = _TRAILING_BREAK.search(content[:end], start)
    if trailing is not None and text.endswith(" "):
        end, tail = trailing.start(), " " + tail
    starts_line, ends_line = _starts_line(content, start), _ends_line(content, end)
    if starts_line or start > part.start:
        text = text.lstrip(_BLANK)
    if ends_line or end < part.end:
        text = text.rstrip(_BLANK)
    if everywhere:
        raw = escaped_everywhere(text)
    else:
        raw = escaped(
            text,
            content[start - 1 : start],
            content[end : end + 1],
            references,
            line_start=starts_line,
            follows_definition=leaf.places.follows_definition and start == 0,
            ends_heading=leaf.places.is_heading and end == len(content),
        )
    if leaf.places.in_cell:
        raw = raw.replace("|", "\\|")
    if start == 0:
        raw = _LEADING_SPACES.sub(_as_references, raw)
    if end == len(content):
        raw = _TRAILING_SPACES.sub(_as_references, raw)
    raw = raw.encode(encoding, "xmlcharrefreplace").decode(encoding)
    return Change(part.run, start, end, raw, head + text + tail)


def _labels(leaf: Leaf, changes: Sequence[Change]) -> Iterator[Change]:
    """What names the definitions of links whose texts were their labels, and change."""
    changed = {change.run for change in changes}
    for label in leaf.inline.labels:
        if changed.intersection(range(label.first_run, label.last_run + 1)):
            raw = label.raw.replace("|", "\\|") if leaf.places.in_cell else label.raw
            yield Change(None, label.start, label.end, raw, "")


def _as_references(found: re.Match[str]) -> str:
    """White space that is cut off at the edges of a block, unless it is written so."""
    return "".join("&nbsp;" if space == "\xa0" else f"&#{ord(space)};" for space in found[0])


def _starts_line(content: str, place: int) -> bool:
    while place and content[place - 1] in _BLANK:
        place -= 1
    return not place or content[place - 1] == "\n"


def _ends_line(content: str, place: int) -> bool:
    while place < len(content) and content[place] in _BLANK:
        place += 1
    return place == len(content) or content[place] == "\n"


def _keeps(leaf: Leaf, changes: Sequence[Change], parser: Parser, references: References) -> bool:
    """Whether the block alone, with these changes, is the same block with just these texts."""
    tokens = skeleton(parser.blocks("".join(_changed(leaf, changes)), references))
    if len(tokens) != len(leaf.tokens):
        return False
    content = str(tokens[leaf.index][-1])
    if tokens != (*leaf.tokens[: leaf.index], (*leaf.tokens[leaf.index][:-1], content), *leaf.tokens[leaf.index + 1 :]):
        return False
    inline = read_inline(content, parser.inline(content, references), leaf.lead)
    if inline is None or inline.markups != leaf.inline.markups:
        return False
    texts = [run.text for run in leaf.inline.runs]
    for change in changes:
        if change.run is not None:
            texts[change.run] = change.text
    return texts == [run.text for run in inline.runs]


def _changed(leaf: Leaf, changes: Sequence[Change]) -> Iterator[str]:
    reached = 0
    for change in changes:
        yield leaf.places.alone[reached : leaf.places.in_alone(change.start)]
        yield change.raw
        reached = leaf.places.in_alone(change.end)
    yield leaf.places.alone[reached:]
