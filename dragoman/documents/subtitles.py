"""Subtitles: SRT, WebVTT and ASS (or SSA), as pysubs2 reads them.

A parent is a cue, in the order in which cues are heard; its segments are the texts between its styling tags. A line
break in a cue is one in the clean text, and a hard space of ASS a no-break space. Never touched: times, numbers,
settings, tags, styles, notes, comments and drawings.

A translation is taken if the cue alone, read again, has the same times and tags, and the translated texts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import attrs

from ..protocol.features import ParentRefused
from .document import Block, Document, Edit, Segment, adds
from .invalid import InvalidDocument
from .subtitles_cues import Cue, format_of, read_cues
from .subtitles_text import CueText, Part, read_text, written

__all__ = ["Subtitles"]

_BREAK = re.compile(r"\r\n?|\n")
_UNSAFE = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")
_NOT_IN_TEXT = re.compile(r"-->|\\[Nnh]")
"""What begins a cue, and what some programs read as a line break or a space of ASS in any file."""

_BRACES = re.compile(r"\{[^}]*\}")
_SPACE = r"(?:\s|\\[Nnh]|&nbsp;)"
_LEADING = re.compile(rf"{_SPACE}*")
_TRAILING = re.compile(rf"(?<!\s){_SPACE}*\Z")  # it is not tried again at each of many blanks


@attrs.frozen
class _Spoken:
    cue: Cue
    text: CueText
    parts: tuple[Part, ...]


class Subtitles(Document):
    """A subtitle file that is translated cue by cue.

    The parent `c12` is the twelfth cue by start time; cues without letters are none. `format` is `srt`, `vtt`, `ass`
    or `ssa`. A translation that would change the cues or tags of the file (a blank line, `-->`, a tag) or has control
    characters is refused as `STRUCTURE`; one with characters that the encoding of the file lacks as `ENCODING`.
    """

    def __init__(
        self,
        source: bytes | str,
        *,
        document: str = "subtitles.srt",
        target_language: str | None = None,
        source_language: str | None = None,
        encoding: str | None = None,
    ) -> None:
        self.format = ""
        self._spoken: dict[str, _Spoken] = {}
        super().__init__(
            source,
            document=document,
            target_language=target_language,
            source_language=source_language,
            encoding=encoding,
        )

    def _read(self, source: str) -> Iterator[Block]:
        self.format = format_of(source, self.document)
        line_break = _BREAK.search(source)
        self._line_break = line_break[0] if line_break is not None else "\n"
        cues = [cue for cue in read_cues(source, self.format, self.document) if not cue.is_comment]
        for number, cue in enumerate(sorted(cues, key=lambda cue: cue.starts_ms), 1):
            text = read_text(source[cue.start : cue.end], self._dialect)
            parts = text.parts
            if any(character.isalpha() for part in parts for character in part.text):
                block = Block(
                    f"c{number}", tuple(Segment(*self._stretch(cue, text, part), part.clean) for part in parts)
                )
                self._spoken[block.id] = _Spoken(cue, text, parts)
                yield block

    @property
    def _dialect(self) -> str:
        return "ass" if self.format == "ssa" else self.format

    def _stretch(self, cue: Cue, text: CueText, part: Part) -> tuple[int, int]:
        run = text.runs[part.run]
        start, end = cue.start + run.start, cue.start + run.end
        raw = self._source[start:end]
        if part.head:
            start += len(_leading(raw))
        if part.tail:
            end -= len(_trailing(raw))
        return start, end

    def _written(self, block: Block, segments: Sequence[str]) -> list[Edit]:
        spoken = self._spoken[block.id]
        edits: list[Edit] = []
        texts = [run.text for run in spoken.text.runs]
        last = len(segments) - 1
        for number, (segment, part, translation) in enumerate(zip(block.segments, spoken.parts, segments, strict=True)):
            if adds(_UNSAFE, translation, segment.text):
                raise ParentRefused("STRUCTURE")
            if self._dialect != "ass" and adds(_NOT_IN_TEXT, translation, segment.text):
                raise ParentRefused("STRUCTURE")
            text = _BREAK.sub("\n", translation)
            if text == segment.text:
                continue
            if part.space and text[-1:].isspace():
                text = text.rstrip()
            if number == 0:
                text = text.lstrip()
            if number == last:
                text = text.rstrip()
            texts[part.run] = part.head + text + part.tail
            raw = written(text, self._dialect, self._break_in(self._source[segment.start : segment.end]))
            edits.append(Edit(segment.start, segment.end, raw))
        if not any(texts[part.run].strip() for part in spoken.parts):
            raise ParentRefused("STRUCTURE")
        if edits and not self._keeps(spoken, edits, texts):
            raise ParentRefused("STRUCTURE")
        return edits

    def _break_in(self, raw: str) -> str:
        """How a line is broken in the place of this text."""
        if self._dialect == "ass":
            return "\\n" if "\\n" in raw and "\\N" not in raw else "\\N"
        found = _BREAK.search(raw)
        return found[0] if found is not None else self._line_break

    def _keeps(self, spoken: _Spoken, edits: Sequence[Edit], texts: Sequence[str]) -> bool:
        """Whether the cue alone, with these edits, is the same cue with just these texts."""
        cue = spoken.cue
        pieces, reached = ["WEBVTT\n\n"] if self.format == "vtt" else [], cue.head
        for edit in edits:
            pieces += [self._source[reached : edit.start], edit.raw]
            reached = edit.end
        alone = "".join([*pieces, self._source[reached : cue.tail]])
        try:
            cues = read_cues(alone, self.format, self.document)
        except InvalidDocument:
            return False
        if [(it.starts_ms, it.ends_ms) for it in cues] != [(cue.starts_ms, cue.ends_ms)]:
            return False
        raw, before = alone[cues[0].start : cues[0].end], self._source[cue.start : cue.end]
        if self._dialect == "ass":
            if any(raw.count(brace) != before.count(brace) for brace in "{}"):
                return False
        elif _blank_lines(raw) != _blank_lines(before) or _overrides(raw) != _overrides(before):
            return False
        text = read_text(raw, self._dialect)
        return text.tags == spoken.text.tags and [run.text for run in text.runs] == list(texts)


def _blank_lines(raw: str) -> int:
    return sum(not line.strip() for line in _BREAK.split(raw))


def _overrides(raw: str) -> list[tuple[int, str]]:
    """What pysubs2 reads as tags of ASS in any file: a brace that is left open takes in what is behind it."""
    return [(it.count("{"), it[it.rfind("{") :]) for it in _BRACES.findall(raw) if "\\" in it]


def _leading(raw: str) -> str:
    """The white space in front of a raw text, with that of ASS."""
    found = _LEADING.match(raw)
    return found[0] if found is not None else ""


def _trailing(raw: str) -> str:
    found = _TRAILING.search(raw)
    return found[0] if found is not None else ""
