"""The text of a cue: its tags, the runs of text around them, and the segments among these."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from itertools import zip_longest
from types import MappingProxyType

import attrs

from ..protocol.redaction import redacted

__all__ = ["CueText", "Part", "Run", "read_text", "written"]

_TAG: Mapping[str, re.Pattern[str]] = MappingProxyType(
    {
        # As pysubs2 knows them; and the braces which players that know them do not show.
        "srt": re.compile(r"< */? *[a-zA-Z][^>]*>|\{(?:\\|[CcFfoPSsYy]:)[^}]*\}"),
        "vtt": re.compile(r"<(?:[a-zA-Z/][^>]*(?:>|\Z)|[\d:.]+>)"),
        "ass": re.compile(r"\{[^}]*\}"),
    }
)
_DRAWING = re.compile(r"\\p(\d+)")
_ASS_ESCAPE = re.compile(r"\\[Nnh]")
_REFERENCE = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z][a-zA-Z0-9]{1,31});")
_BREAK = re.compile(r"\r\n?|\n")


@attrs.frozen
class Run:
    """The text between two tags, `raw[start:end]`; it may be empty. `drawn`: it is no text, but draws a figure."""

    start: int
    end: int
    text: str = attrs.field(repr=redacted)
    drawn: bool


@attrs.frozen
class CueText:
    """The tags in the text of a cue, and the runs around them: one more than there are tags."""

    tags: tuple[str, ...] = attrs.field(repr=lambda tags: f"<{len(tags)} tags>")
    runs: tuple[Run, ...]

    @property
    def parts(self) -> tuple[Part, ...]:
        """The segments: runs that are not blank, without the white space around the whole text.

        Where a blank run stands between two that are not parted by white space, the first one ends with its white
        space, so that no words run together.
        """
        numbers = [number for number, run in enumerate(self.runs) if run.text.strip() and not run.drawn]
        return tuple(
            self._part(number, first=number == numbers[0], following=following)
            for number, following in zip_longest(numbers, numbers[1:])
        )

    def _part(self, number: int, *, first: bool, following: int | None) -> Part:
        text = self.runs[number].text
        head = text[: len(text) - len(text.lstrip())] if first else ""
        tail = text[len(text.rstrip()) :] if following is None else ""
        text = text[len(head) : len(text) - len(tail)]
        space = ""
        if following is not None and not text[-1].isspace() and not self.runs[following].text[0].isspace():
            between = "".join(run.text for run in self.runs[number + 1 : following])
            space = "\n" if "\n" in between else " " if between else ""
        return Part(number, head, tail, text, space)


@attrs.frozen
class Part:
    """A segment: `text`, in the run of that number between `head` and `tail`; `space` behind it stands elsewhere."""

    run: int
    head: str
    tail: str
    text: str = attrs.field(repr=redacted)
    space: str

    @property
    def clean(self) -> str:
        return self.text + self.space


def read_text(raw: str, kind: str) -> CueText:
    """The tags and runs in the text of a cue of a file of that kind."""
    tags: list[str] = []
    runs: list[Run] = []
    reached, drawn = 0, False
    for found in _TAG[kind].finditer(raw):
        runs.append(Run(reached, found.start(), _clean(raw[reached : found.start()], kind), drawn))
        tags.append(found[0])
        reached = found.end()
        if kind == "ass":
            for scale in _DRAWING.findall(found[0]):
                drawn = int(scale) > 0
    runs.append(Run(reached, len(raw), _clean(raw[reached:], kind), drawn))
    return CueText(tuple(tags), tuple(runs))


def _clean(raw: str, kind: str) -> str:
    if kind == "ass":
        return _ASS_ESCAPE.sub(lambda found: "\xa0" if found[0] == "\\h" else "\n", raw)
    text = _BREAK.sub("\n", raw)
    return _REFERENCE.sub(lambda found: html.unescape(found[0]), text) if kind == "vtt" else text


def written(text: str, kind: str, line_break: str) -> str:
    """A clean text as it is written in a file of that kind."""
    if kind == "ass":
        text = text.replace("\xa0", "\\h")
    elif kind == "vtt":
        text = html.escape(text, quote=False)
    return text.replace("\n", line_break)
