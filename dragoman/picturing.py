"""What the commands share that draw a picture or write a trace of what they ran: places, outcomes, and the files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from .actors.tracing import Tracer
from .pictures import Capture, Failed, Outcome, Picture, page, picture_of, trace
from .terminal import usage
from .whole_file import is_writable_place, write_whole

if TYPE_CHECKING:
    from .actors.journal_reader import Journal
    from .protocol.settings import Settings
    from .scenarios import Failure, Result, Scenario

__all__ = [
    "MAX_NOTES",
    "Pictures",
    "Traces",
    "scenario_picture",
    "unwritable",
    "write_journal",
    "write_run",
    "write_told",
]

MAX_NOTES = 40_000
"""Of a run that no scenario bounds, so many notes are drawn: about ten thousand events."""
_MAX_VALUE = 2_000
"""Characters of an expected or actual value that a page shows."""


def unwritable(**places: Path | None) -> int | None:
    """The exit status where one of the options names a place that cannot be written, which is told; None if all can."""
    for option, place in places.items():
        refused = None if place is None else is_writable_place(place)
        if refused is not None:
            return usage(f"--{option}: {place} {refused}")
    return None


def write_told(option: str, place: Path, content: bytes) -> int | None:
    """Write a file whole or not at all; the exit status where that fails, which is told."""
    try:
        write_whole(place, content)
    except OSError as error:
        return usage(f"--{option}: {place} cannot be written: {error.strerror or type(error).__name__}")
    return None


class Pictures:
    """The pictures of a command that runs scenarios, drawn as it goes; nothing if no page is asked for."""

    def __init__(self, place: Path | None) -> None:
        self._place = place
        self._drawn: list[Picture] = []

    def capture(self) -> Capture | None:
        """A journal for one run: its texts are the author's test data."""
        return None if self._place is None else Capture(texts=True)

    def draw(self, capture: Capture | None, result: Result, *remarks: str) -> None:
        """Draw a run that was captured; of an invalid file there is nothing to draw."""
        if capture is not None and result.source is not None:
            self._drawn.append(scenario_picture(capture, result.source, result, *remarks))

    def write(self) -> int | None:
        """Write the page; the exit status where that fails."""
        if self._place is None:
            return None
        return write_told("html", self._place, page(self._drawn))


class Traces:
    """The traces of a command that runs scenarios; nothing if no file is asked for."""

    def __init__(self, place: Path | None) -> None:
        self._place = place
        self._traced: list[tuple[str, Tracer]] = []

    def tracer(self) -> Tracer | None:
        return None if self._place is None else Tracer()

    def add(self, tracer: Tracer | None, name: str) -> None:
        if tracer is not None:
            self._traced.append((name, tracer))

    def write(self) -> int | None:
        """Write the trace; the exit status where that fails."""
        if self._place is None:
            return None
        return write_told("trace", self._place, trace(self._traced))


def scenario_picture(capture: Capture, scenario: Scenario, result: Result, *remarks: str) -> Picture:
    """The picture of a scenario that was run."""
    outcome = Outcome(
        title=scenario.name,
        passed=result.passed,
        about=(scenario.about or "").strip(),
        file=Path(result.file).name,
        remarks=remarks,
        failures=tuple(map(_failed, result.failures)),
    )
    return _drawn(capture, outcome, scenario.settings, virtual=True)


def _failed(failure: Failure) -> Failed:
    from .scenarios.expectations import shown

    nothing = failure.expected is None and failure.actual is None
    expected, actual = (None, None) if nothing else (shown(failure.expected), failure.actual)
    told = ["" if nothing else _value(value) for value in (expected, actual)]
    return Failed(failure.line, failure.step, told[0], told[1], failure.message)


def _value(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str, indent=1)
    if len(text) <= 80:
        text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _MAX_VALUE else f"{text[: _MAX_VALUE - 1]}…"


def _drawn(capture: Capture, outcome: Outcome, settings: Settings, *, virtual: bool) -> Picture:
    return picture_of(
        capture.lines(),
        outcome,
        settings=attrs.asdict(settings),
        left_out=capture.left_out,
        texts=capture.texts,
        virtual=virtual,
    )


def write_journal(place: Path, journal: Journal, title: str) -> int | None:
    """Write the page of what a journal tells, without its texts; the exit status where that fails."""
    drawn = picture_of(
        journal.lines[:MAX_NOTES],
        Outcome(title=title),
        settings=journal.head["settings"],
        left_out=max(0, len(journal.lines) - MAX_NOTES),
    )
    return write_told("html", place, page([drawn], title=title))


def write_run(
    place: Path, capture: Capture, settings: Settings, outcome: Outcome, *, virtual: bool = False
) -> int | None:
    """Write the page of one run without its texts; the exit status where that fails."""
    drawn = _drawn(capture, outcome, settings, virtual=virtual)
    return write_told("html", place, page([drawn], title=outcome.title))
