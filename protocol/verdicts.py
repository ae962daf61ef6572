"""What is right and what is wrong with the answer to a call (language page, "Contract violations").

Facts only: what follows from them (recovery, a retry, an error) is decided elsewhere. A structured answer maps to its
units by id and never by position; the texts of a machine provider map by position, if there are as many as asked for.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from enum import StrEnum
from types import MappingProxyType

import attrs

from .content import is_blank
from .markers import contains_marker, split
from .parsing import Item, Parsed, parse
from .redaction import redacted
from .statuses import CallFormat
from .units import Unit

__all__ = ["Verdict", "Violation", "judge"]

_FENCE = re.compile(r"(`{3,}+|~{3,}+)[^\n`]*+\n")
_SCALAR_ENVELOPE = re.compile(
    r"""(?:(?:`{3,}+|~{3,}+)\w*+\s*+)?(?:\{\s*(["'])translations\1\s*:|\[\s*\{\s*(["'])(?:id|text)\2\s*:)"""
)


class Violation(StrEnum):
    """What can be wrong with a unit, or, where the mapping is not to be trusted, with the whole answer."""

    UNPARSEABLE = "UNPARSEABLE"
    """The answer cannot be read."""
    DUPLICATE_ID = "DUPLICATE_ID"
    """A unit is there twice."""
    UNKNOWN_ID = "UNKNOWN_ID"
    """There is a unit that nobody asked for."""
    MISSING = "MISSING"
    """The unit is not there."""
    NOT_TEXT = "NOT_TEXT"
    """Its text is no text."""
    BLANK = "BLANK"
    """Its text is blank, and its source is not."""
    MARKERS = "MARKERS"
    """Markers between segments are missing, in another order, or foreign."""
    BLANK_SEGMENT = "BLANK_SEGMENT"
    """A segment is blank, and its source is not."""
    WRONG_COUNT = "WRONG_COUNT"
    """A machine provider gave more or fewer texts than it got."""
    NOT_PLAIN = "NOT_PLAIN"
    """A plain text holds an envelope or a marker."""


@attrs.frozen
class Verdict:
    """The units of a call, each valid or invalid.

    `valid` holds the translated pieces of a unit by its id, without markers and escapes; it is read-only. `invalid`
    tells what is wrong with each other unit. Both are in the order of the units. `unsafe` is why the mapping cannot be
    trusted (`UNPARSEABLE`, `DUPLICATE_ID`, `UNKNOWN_ID`, `WRONG_COUNT`); then every unit is invalid for that reason.
    `repaired` tells that the JSON of the answer was broken and is read all the same.
    """

    valid: Mapping[str, tuple[str, ...]] = attrs.field(repr=redacted)
    invalid: tuple[tuple[str, Violation], ...] = ()
    unsafe: Violation | None = None
    repaired: bool = False

    @property
    def good(self) -> bool:
        """Whether every unit is valid."""
        return not self.invalid


def judge(
    format: CallFormat,  # noqa: A002 (the word of the calls)
    units: Sequence[Unit],
    token: str,
    text: str | None,
    texts: tuple[str, ...] | None,
) -> Verdict:
    """Judge the answer to a call for `units` in `format`: its body `text`, or for `TEXTS` its `texts`.

    `SCALAR` asks for exactly one unit. An answer to `TEXTS` may be a `text` where one plain text was asked for.
    Raises nothing, whatever the answer holds.
    """
    if format is CallFormat.TEXTS:
        return _judge_texts(units, text, texts)
    if not isinstance(text, str):
        return _unsafe(units, Violation.UNPARSEABLE)
    if format is CallFormat.SCALAR:
        return _judge_scalar(units, token, text)
    return _judge_items(units, token, parse(text))


def _verdict(units: Sequence[Unit], found: Sequence[tuple[str, ...] | Violation], repaired: bool = False) -> Verdict:
    valid = {unit.id: pieces for unit, pieces in zip(units, found, strict=True) if not isinstance(pieces, Violation)}
    invalid = tuple((unit.id, wrong) for unit, wrong in zip(units, found, strict=True) if isinstance(wrong, Violation))
    return Verdict(MappingProxyType(valid), invalid, repaired=repaired)


def _unsafe(units: Sequence[Unit], why: Violation, repaired: bool = False) -> Verdict:
    return Verdict(MappingProxyType({}), tuple((unit.id, why) for unit in units), why, repaired)


def _judge_items(units: Sequence[Unit], token: str, parsed: Parsed | None) -> Verdict:
    if parsed is None:
        return _unsafe(units, Violation.UNPARSEABLE)
    if parsed.doubled:
        return _unsafe(units, Violation.DUPLICATE_ID, parsed.repaired)
    if len(units) == len(parsed.items) == 1 and parsed.items[0].id is None and not parsed.items[0].odd_id:
        return _verdict(units, [_judge_item(units[0], token, parsed.items[0])], parsed.repaired)
    asked = {unit.id for unit in units}
    answered: dict[str, Item] = {}
    unknown = False
    for item in parsed.items:
        if item.id is None or item.id not in asked:
            unknown |= item.id is not None or item.odd_id
        elif item.id in answered:
            return _unsafe(units, Violation.DUPLICATE_ID, parsed.repaired)
        else:
            answered[item.id] = item
    if unknown and len(answered) < len(asked):
        return _unsafe(units, Violation.UNKNOWN_ID, parsed.repaired)
    found = [_judge_item(unit, token, answered.get(unit.id)) for unit in units]
    return _verdict(units, found, parsed.repaired)


def _judge_item(unit: Unit, token: str, item: Item | None) -> tuple[str, ...] | Violation:
    if item is None:
        return Violation.MISSING
    return Violation.NOT_TEXT if item.text is None else _judge_wire(unit, token, item.text)


def _judge_wire(unit: Unit, token: str, text: str) -> tuple[str, ...] | Violation:
    if is_blank(text) and not is_blank(unit.source):
        return Violation.BLANK
    pieces = split(text, token, unit.first_marker)
    if pieces is None or len(pieces) != len(unit.pieces):
        return Violation.MARKERS
    if any(is_blank(piece) and not is_blank(source) for piece, source in zip(pieces, unit.pieces, strict=True)):
        return Violation.BLANK_SEGMENT
    return pieces


def _judge_scalar(units: Sequence[Unit], token: str, text: str) -> Verdict:
    text = _without_fence(text.strip()).strip()
    if _SCALAR_ENVELOPE.match(text):
        return _judge_items(units, token, parse(text))
    parsed = parse(text) if text.startswith(("{", "[")) else None
    if parsed and parsed.whole and any(item.id is not None or item.text is not None for item in parsed.items):
        return _judge_items(units, token, parsed)
    return _verdict(units, [_judge_wire(unit, token, text) for unit in units])


def _without_fence(text: str) -> str:
    """`text` without the code fence that encloses the whole of it, if one does."""
    opening = _FENCE.match(text)
    if not opening:
        return text
    fence = opening[1]
    inner, line_break, last = text[opening.end() - 1 :].rpartition("\n")
    if not line_break or last.strip() != fence or any(line.strip() == fence for line in inner.split("\n")):
        return text
    return inner


def _judge_texts(units: Sequence[Unit], text: object, texts: object) -> Verdict:
    count = sum(len(unit.pieces) for unit in units)
    if texts is None and text is not None and count == 1:
        texts = (text,)
    if texts is None:
        return _unsafe(units, Violation.UNPARSEABLE)
    if not isinstance(texts, list | tuple) or len(texts) != count:
        return _unsafe(units, Violation.WRONG_COUNT)
    answers = iter(texts)
    return _verdict(units, [_judge_plain(unit, tuple(next(answers) for _ in unit.pieces)) for unit in units])


def _judge_plain(unit: Unit, texts: tuple[object, ...]) -> tuple[str, ...] | Violation:
    plain: list[str] = []
    for source, text in zip(unit.pieces, texts, strict=True):
        if not isinstance(text, str):
            return Violation.NOT_TEXT
        if is_blank(text) and not is_blank(source):
            return Violation.BLANK if len(texts) == 1 else Violation.BLANK_SEGMENT
        if contains_marker(text) or (_is_container(text) and not _is_container(source)):
            return Violation.NOT_PLAIN
        plain.append(text)
    return tuple(plain)


def _is_container(text: str) -> bool:
    """Whether `text` as a whole is a JSON object or array."""
    body = text.strip()
    if not body.startswith(("{", "[")):
        return False
    try:
        json.loads(body, parse_int=str)
    except (ValueError, RecursionError):
        return False
    return True
