"""A journal as it is read back: the parts that there are, in order, line by line, each with its place.

A line that a crash has cut off at the end is left out. Anything else that is not as the journal writes it is an error
that names the file and the line.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import attrs

from ..protocol.errors import DragomanError
from .dispatcher import Note
from .journal_file import JOURNAL_FILES, JOURNAL_VERSION
from .journal_lines import Lines, encode

__all__ = ["InvalidJournal", "Journal", "Line", "read_journal"]

Line = Mapping[str, Any]

_KEYS: Mapping[str, tuple[str, ...]] = {
    "head": ("journal", "run", "part", "settings", "providers"),
    "call": ("n", "op"),
    "took": ("n",),
    "reply": ("n",),
    "acked": ("op", "request", "parent", "status"),
    "settled": ("request", "acks"),
    "handle": ("request", "state"),
    "closed": ("request", "session", "cause", "states"),
    "session": ("session", "state"),
    "committed": ("session", "request", "parents", "failed"),
    "execution": ("request", "state"),
    "fired": ("request", "timer"),
    "retry": ("request", "batch", "delay"),
    "made": ("call", "purpose", "provider", "key", "units", "history"),
    "dropped": ("call",),
    "answer": ("call", "format"),
    "dispatched": ("request", "words"),
    "outcome": ("request", "execution", "quality"),
    "lost": ("notes",),
    "close": (),
}
"""What each kind of line has to have."""


class InvalidJournal(DragomanError, ValueError):
    """A journal that cannot be read; says the file, the line and what is wrong."""

    fields = ("place", "problem")

    def __init__(self, place: str, problem: str) -> None:
        super().__init__(f"{place}: {problem}")
        self.place = place
        self.problem = problem


@attrs.frozen(kw_only=True)
class Journal:
    """What one run of a runtime left in its journal."""

    head: Line
    """What the newest part begins with: settings and providers."""
    lines: tuple[Line, ...]
    places: tuple[str, ...] = attrs.field(repr=False)
    """Where each line stands, as `FILE:LINE`."""
    whole: bool
    """Whether the run is there from its beginning; if not, its oldest parts have gone."""
    ended: bool
    """Whether the runtime was closed; if not, it still runs, or its process ended in the middle."""

    @property
    def lost(self) -> int:
        """Notes that were left out since the journal could not be written fast enough."""
        return sum(line["notes"] for line in self.lines if line["k"] == "lost")

    @classmethod
    def of(cls, head: Line, notes: Iterable[Note]) -> Journal:
        """The journal of a run whose notes were kept in memory, as if it had been written and read."""
        told = Lines(b"")
        taken = tuple(json.loads(encode(told.line(note))) for note in notes)
        places = tuple(f"line {number}" for number in range(1, len(taken) + 1))
        ended = any(line["k"] == "close" for line in taken)
        return cls(head=head, lines=taken, places=places, whole=True, ended=ended)


def read_journal(path: Path) -> Journal:
    """The newest run in a journal: of `path` and the older parts beside it. Raises `InvalidJournal`."""
    newest = _part(path)
    if newest is None:
        raise InvalidJournal(str(path), "there is no such file")
    parts = [newest]
    for number in range(1, JOURNAL_FILES):
        head = parts[0][0][0]
        if head["part"] == 1:
            break
        older = _part(path.with_name(f"{path.name}.{number}"))
        if older is None or older[0][0]["run"] != head["run"] or older[0][0]["part"] != head["part"] - 1:
            break
        parts.insert(0, older)
    lines = [entry for part in parts for entry in part[1:]]
    return Journal(
        head=parts[-1][0][0],
        lines=tuple(line for line, _place in lines),
        places=tuple(place for _line, place in lines),
        whole=parts[0][0][0]["part"] == 1,
        ended=any(line["k"] == "close" for line, _place in lines),
    )


def _part(path: Path) -> list[tuple[Line, str]] | None:
    """The lines of one file with their places, its head first; None if there is none."""
    try:
        rows = path.read_bytes().split(b"\n")
    except FileNotFoundError:
        return None
    except OSError as error:
        raise InvalidJournal(str(path), f"cannot be read: {error.strerror or type(error).__name__}") from None
    # What stands behind the last line break was cut off in the middle.
    lines = [(_line(row, f"{path}:{number}"), f"{path}:{number}") for number, row in enumerate(rows[:-1], 1)]
    if not lines or lines[0][0]["k"] != "head":
        raise InvalidJournal(str(path), "is no journal: it does not begin with the head of one")
    head = lines[0][0]
    if head.get("journal") != JOURNAL_VERSION:
        raise InvalidJournal(str(path), "was written by another version of Dragoman")
    if not isinstance(head.get("part"), int) or not isinstance(head.get("settings"), dict):
        raise InvalidJournal(f"{path}:1", "is no head of a journal")
    return lines


def _line(row: bytes, place: str) -> Line:
    try:
        line = json.loads(row)
    except ValueError:
        raise InvalidJournal(place, "is no line of a journal: it is not JSON") from None
    if not isinstance(line, dict) or not isinstance(line.get("k"), str) or not isinstance(line.get("t"), int):
        raise InvalidJournal(place, "is no line of a journal: it lacks k or t")
    wanted = _KEYS.get(line["k"])
    if wanted is None:
        raise InvalidJournal(place, f"has a kind that is not known: {line['k']}")
    for key in wanted:
        if key not in line:
            raise InvalidJournal(place, f"is no line of a journal: a {line['k']} has to have {key}")
    return line
