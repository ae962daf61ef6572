"""The grammar of an answer: what a model that decodes under it can say is the wire format, and nothing else (C3.4).

An answer is literals and slots in turn. The literals are the JSON envelope with the ids of the call, the markers of
each unit, and the white space around each segment as its source has it. A slot is the translation of one segment: it
begins and ends with something visible, holds no control character, a line break or tab only where its source has one,
and nothing that reads as a marker. A segment without letters is no slot: it stays as it is.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator

import attrs

from ..protocol.calls import ProviderCall
from ..protocol.markers import markers_of, unescape
from ..protocol.redaction import redacted
from ..protocol.statuses import CallFormat
from .grammar_rules import START, SlotKind, Way, quoted, rules_of

__all__ = ["AnswerGrammar", "Cursor", "Slot", "grammar_of"]

_SPACED = re.compile(r"\s{2}")
_MARKER_OPENS = "<dm-"
_UP_TO_QUOTE = re.compile(r'(?:[^"\\]|\\.)*+"')


@attrs.frozen
class Slot:
    """The place of one translated segment. `source` is its clean text without outer white space."""

    source: str = attrs.field(repr=redacted)
    kind: SlotKind

    def alone(self) -> AnswerGrammar:
        """The grammar of an answer that is this slot in plain text."""
        return AnswerGrammar((Slot(self.source, attrs.evolve(self.kind, escaped=False)),))


@attrs.frozen
class AnswerGrammar:
    """The answers to one call: `parts` are slots, and literals as they stand on the wire; no two of a sort in a row."""

    parts: tuple[str | Slot, ...] = attrs.field(repr=redacted)

    @property
    def slots(self) -> tuple[Slot, ...]:
        return tuple(part for part in self.parts if isinstance(part, Slot))

    def filled(self, translations: Iterable[str]) -> str:
        """The answer that has these plain texts in its slots."""
        texts = iter(translations)
        return "".join(
            part if isinstance(part, str) else _in_json(next(texts)) if part.kind.escaped else next(texts)
            for part in self.parts
        )

    @property
    def gbnf(self) -> str:
        """The grammar as llama.cpp reads it; `root` is its start."""
        names = {kind: f"k{number}" for number, kind in enumerate(dict.fromkeys(slot.kind for slot in self.slots))}
        root = (f"{names[part.kind]}-{START}" if isinstance(part, Slot) else quoted(part) for part in self.parts)
        lines = [f"root ::= {' '.join(root)}"]
        for kind, name in names.items():
            for rule, ways in rules_of(kind).items():
                lines.append(f"{name}-{rule} ::= {' | '.join(_written(way, name) for way in ways)}")
        return "\n".join(lines) + "\n"


def _written(way: Way, name: str) -> str:
    if not way:
        return '""'
    terminal, rule = way
    return f"{quoted(terminal) if isinstance(terminal, str) else terminal} {name}-{rule}"


def grammar_of(call: ProviderCall) -> AnswerGrammar:
    """The grammar of the answers to a call in the format `STRUCTURED` or `SCALAR`."""
    if call.format is CallFormat.SCALAR:
        return AnswerGrammar(_merged(_unit_parts(call.units[0].text, escaped=False)))
    parts: list[str | Slot] = ['{"translations":[']
    for place, unit in enumerate(call.units):
        parts.append(f'{"," if place else ""}{{"id":"{_in_json(unit.id)}","text":"')
        parts += _unit_parts(unit.text, escaped=True)
        parts.append('"}')
    return AnswerGrammar(_merged([*parts, "]}"]))


def _unit_parts(text: str, *, escaped: bool) -> Iterator[str | Slot]:
    write = _in_json if escaped else str
    markers = markers_of(text)
    for place, segment in enumerate(_segments(text, markers)):
        if place:
            yield markers[place - 1]
        if not _needs_translation(segment):
            yield write(segment)
            continue
        core = segment.strip()
        breaks = "".join(char for char in "\n\t" if char in core)
        kind = SlotKind(escaped, breaks, spaced=bool(_SPACED.search(core)), leads=not (escaped or place))
        yield write(segment[: len(segment) - len(segment.lstrip())])
        yield Slot(unescape(core), kind)
        yield write(segment[len(segment.rstrip()) :])


def _needs_translation(segment: str) -> bool:
    """Whether a segment says anything; numbers, marks and white space alone stay as they are."""
    return any(char.isalpha() for char in segment) or not _can_be_sent(segment)


def _can_be_sent(text: str) -> bool:
    """Whether it has an encoding: half of a surrogate pair has none."""
    return not any("\ud800" <= char <= "\udfff" for char in text)


def _in_json(text: str) -> str:
    """`text` as it stands inside a JSON string."""
    return json.dumps(text, ensure_ascii=not _can_be_sent(text))[1:-1]


def _segments(text: str, markers: tuple[str, ...]) -> Iterator[str]:
    for marker in markers:
        segment, _, text = text.partition(marker)
        yield segment
    yield text


def _merged(parts: Iterator[str | Slot] | list[str | Slot]) -> tuple[str | Slot, ...]:
    """The parts, with literals that follow one another as one, and no empty ones."""
    merged: list[str | Slot] = []
    for part in parts:
        if isinstance(part, str) and merged and isinstance(merged[-1], str):
            merged[-1] += part
        elif part:
            merged.append(part)
    return tuple(merged)


class Cursor:
    """Follows an answer through its grammar, as it is written.

    `place` counts the parts that are behind. `rest` is what must come next: the rest of a literal; empty in a slot,
    for only what follows tells where a slot ends, and at the end.
    """

    def __init__(self, grammar: AnswerGrammar) -> None:
        self._parts = grammar.parts
        self.place = 0
        self._slot = ""
        self.rest = ""
        self._enter(0)

    @property
    def slot(self) -> Slot | None:
        """The slot that is being written."""
        part = self._parts[self.place] if self.place < len(self._parts) else None
        return part if isinstance(part, Slot) else None

    @property
    def done(self) -> bool:
        """Whether the whole answer is written, where its end is a literal."""
        return self.place == len(self._parts)

    @property
    def following(self) -> str:
        """The literal behind the slot that is being written; empty at the end of the answer."""
        following = self._parts[self.place + 1 : self.place + 2]
        return following[0] if following and isinstance(following[0], str) else ""

    def feed(self, text: str) -> None:
        """Go on by `text`, which the grammar admits."""
        while text:
            if self.slot is not None:
                self._slot += text
                literal = self.following
                closing = _closing(literal)
                at = _end_of_slot(self._slot, closing) if closing else -1
                if at < 0:
                    return
                text = self._slot[at:]
                self._enter(self.place + 1)
                self.rest = literal[literal.index(closing) :]
            taken = len(self.rest)
            if not taken:
                return
            self.rest, text = self.rest[len(text) :], text[taken:]
            if not self.rest:
                self._enter(self.place + 1)

    def _enter(self, place: int) -> None:
        self.place = place
        self._slot = ""
        part = self._parts[place] if place < len(self._parts) else ""
        self.rest = part if isinstance(part, str) else ""


def _closing(literal: str) -> str:
    """What of the literal behind a slot cannot be part of the slot."""
    marker, quote = literal.find(_MARKER_OPENS), literal.find('"')
    if marker >= 0 and not 0 <= quote < marker:
        return _MARKER_OPENS
    return '"' if quote >= 0 else ""


def _end_of_slot(text: str, closing: str) -> int:
    """Where the literal begins that closes a slot, or -1."""
    if closing == _MARKER_OPENS:
        return text.find(closing)
    found = _UP_TO_QUOTE.match(text)
    return found.end() - 1 if found else -1
