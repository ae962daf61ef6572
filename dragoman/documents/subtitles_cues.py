"""Where the cues of a subtitle file stand, in agreement with how pysubs2 reads it.

pysubs2 reads times and texts, and does not say from where; what it would write is not the file that it read. So the
cues are located here, by the same rules, and each has to be what pysubs2 reads: then its stretch can be replaced.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import PurePath
from types import MappingProxyType

import attrs
import pysubs2
from pysubs2.formats.subrip import SubripFormat
from pysubs2.formats.substation import SubstationFormat
from pysubs2.formats.webvtt import WebVTTFormat

from .invalid import InvalidDocument

__all__ = ["Cue", "format_of", "read_cues"]

_LINE = re.compile(r"([^\r\n]*)(?:\r\n?|\n|\Z)")
_BREAK = re.compile(r"\r\n?|\n")
_NUMBER_BEHIND = re.compile(r"(?:\r\n?|\n)+ *\d+ *\Z")
_VTT_TIME = r"(?:\d{0,4}:)?\d{2}:\d{2}\.\d{2,3}"
_VTT_TIMING = re.compile(rf"\s*{_VTT_TIME}\s*-->\s*{_VTT_TIME}(?!\d)")
_VTT_TIME_TAG = re.compile(rf"<{_VTT_TIME}>")
_SECTION = re.compile(r".{,3}\[([^]]*[a-z][^]]*)]")
_EVENTS = re.compile(r"^\[Events\]\s*$", re.MULTILINE)
_STYLES = re.compile(r"V4\+? Styles", re.IGNORECASE)
_NO_EVENTS = ("Info", "Aegisub", "Fonts", "Graphics")
_EVENT_FIELDS = 10
_EXTENSIONS = {".srt": "srt", ".vtt": "vtt", ".ass": "ass", ".ssa": "ssa"}


@attrs.frozen
class Cue:
    """A cue: it stands in `head:tail`, and its text, with its tags and without white space around, in `start:end`.

    Its times are in milliseconds. `is_comment`: it is a line that is not shown.
    """

    head: int
    start: int
    end: int
    tail: int
    starts_ms: int = 0
    ends_ms: int = 0
    is_comment: bool = False


def format_of(source: str, document: str) -> str:
    """`srt`, `vtt`, `ass` or `ssa`, by the content; by the extension of `document` where the content leaves it open.

    Raises `InvalidDocument` if it is none of them.
    """
    text = source.removeprefix("\ufeff")
    if _EVENTS.search(text) and not _STYLES.search(text):
        return "ass"  # without styles, which is how pysubs2 knows it, its times look like those of SRT
    for kind in (SubstationFormat, WebVTTFormat, SubripFormat):
        found = kind.guess_format(text)
        if found is not None:
            return found
    found = _EXTENSIONS.get(PurePath(document).suffix.lower())
    if found is None:
        raise InvalidDocument(document, "is no subtitle file: neither SRT nor WebVTT nor ASS")
    return found


def read_cues(source: str, kind: str, document: str) -> list[Cue]:
    """The cues of a subtitle file, in the order in which they stand in it.

    Raises `InvalidDocument` if pysubs2 cannot read it, or reads a cue otherwise, and for a text without any cue that
    does not say what it is.
    """
    cues = list(_LOCATE[kind](source, document))
    if kind == "srt" and not cues and source.strip("\ufeff \t\r\n"):
        raise InvalidDocument(document, "holds no cue: is it a subtitle file?")
    try:
        events = _events(source, kind, cues)
    except Exception:  # whatever a parser of others makes of a broken file; its message would show texts
        raise InvalidDocument(document, f"cannot be read as {kind.upper()} by pysubs2") from None
    for number, (cue, event) in enumerate(zip(cues, events, strict=False), 1):
        if _read_text(event.text) != _read_text(_checked_text(source, kind, cue)):
            raise InvalidDocument(document, f"cue {number} (line {_line(source, cue)}) is not what pysubs2 reads there")
    if len(cues) != len(events):
        where = (
            f"; the last one in common is in line {_line(source, cues[min(len(cues), len(events)) - 1])}"
            if cues
            else ""
        )
        raise InvalidDocument(document, f"has {len(cues)} cues where pysubs2 reads {len(events)}{where}")
    return [
        attrs.evolve(cue, starts_ms=event.start, ends_ms=event.end) for cue, event in zip(cues, events, strict=True)
    ]


def _events(source: str, kind: str, cues: Sequence[Cue]) -> list[pysubs2.SSAEvent]:
    if kind != "vtt":
        text = _BREAK.sub("\n", source.removeprefix("\ufeff"))
        options = {"keep_html_tags": True} if kind == "srt" else {}
        return pysubs2.SSAFile.from_string(text, format_=kind, **options).events
    # pysubs2 takes notes, styles and identifiers of WebVTT for text, and times in a text for those of a cue. It drops
    # a last line of digits, as the number of the next cue: here this one is it.
    shown = (
        f"{next(_lines(source, cue.head))[2]}\n{_BREAK.sub(chr(10), _checked_text(source, kind, cue))}\n\n1\n"
        for cue in cues
    )
    return pysubs2.SSAFile.from_string("".join(shown), format_="vtt", keep_html_tags=True).events


def _checked_text(source: str, kind: str, cue: Cue) -> str:
    text = source[cue.start : cue.end]
    return _VTT_TIME_TAG.sub("", text).strip() if kind == "vtt" else text


def _read_text(text: str) -> str:
    return _BREAK.sub("\n", text.replace("\\N", "\n")).strip()


def _line(source: str, cue: Cue) -> int:
    return len(_BREAK.findall(source, 0, cue.head)) + 1


def _lines(source: str, start: int = 0) -> Iterator[tuple[int, int, str]]:
    """Each line from there: where it starts, where the next one does, and what is in it."""
    while start < len(source):
        found = _LINE.match(source, start)
        if found is None:  # not possible: the pattern takes anything
            return
        yield start, found.end(), found[1]
        start = found.end()


def _trimmed(source: str, start: int, end: int) -> tuple[int, int]:
    text = source[start:end]
    return start + len(text) - len(text.lstrip()), start + len(text.rstrip())


def _srt(source: str, _document: str) -> Iterator[Cue]:
    """A cue begins with a line that has two times; what follows up to the next one, but its number, is the text."""
    heads = [
        (start, following)
        for start, following, line in _lines(source)
        if len(SubripFormat.TIMESTAMP.findall(line)) == 2
    ]
    for place, (head, following) in enumerate(heads):
        tail = heads[place + 1][0] if place + 1 < len(heads) else len(source)
        *above, last = _BREAK.split(_without_last_break(source[following:tail]))
        if above and not any(map(str.strip, above)) and last.strip().isdecimal():
            yield Cue(head, following, following, tail)  # no text, and the number of the next one
            continue
        start, end = _trimmed(source, following, tail)
        number = _NUMBER_BEHIND.search(source[start:end])
        if number is not None:
            start, end = _trimmed(source, start, start + number.start())
        yield Cue(head, min(start, end), end, tail)


def _without_last_break(text: str) -> str:
    return re.sub(r"(?:\r\n?|\n)\Z", "", text)


def _vtt(source: str, _document: str) -> Iterator[Cue]:
    """A cue begins with a line of times, and ends with an empty line or the next one."""
    head: int | None = None
    first = last = 0
    for start, following, line in _lines(source):
        timing = _VTT_TIMING.match(line) is not None
        if head is not None and (timing or not line):
            yield _vtt_cue(source, head, first, last)
            head = None
        if timing:
            head, first = start, following
        last = following
    if head is not None:
        yield _vtt_cue(source, head, first, last)


def _vtt_cue(source: str, head: int, first: int, last: int) -> Cue:
    start, end = _trimmed(source, first, last)
    return Cue(head, min(start, end), end, last)


def _ass(source: str, document: str) -> Iterator[Cue]:
    """A cue is an event; its text is its last field."""
    holds_events = True
    for number, (line_start, following, line) in enumerate(_lines(source), 1):
        start, end = _trimmed(source, line_start, line_start + len(line))
        text = source[start:end]
        section = _SECTION.match(text)
        if section is not None:
            holds_events = not any(name in section[1] for name in _NO_EVENTS)
        elif not holds_events:
            continue
        elif text.startswith("Format:") and "text" in text.lower():
            fields = [field.strip().lower() for field in text.removeprefix("Format:").split(",")]
            if len(fields) != _EVENT_FIELDS or fields[1:3] != ["start", "end"] or fields[-1] != "text":
                raise InvalidDocument(document, f"has events with other fields than usual (line {number})")
        elif text.startswith(("Dialogue:", "Comment:")):
            at = start
            for _ in range(_EVENT_FIELDS - 1):
                comma = source.find(",", at, end)
                at = comma + 1 if comma >= 0 else end
            yield Cue(line_start, at, end, following, is_comment=text.startswith("Comment:"))


_LOCATE: Mapping[str, Callable[[str, str], Iterator[Cue]]] = MappingProxyType(
    {"srt": _srt, "vtt": _vtt, "ass": _ass, "ssa": _ass}
)
