"""The report: every figure as a row of text, and as JSON with each value behind it."""

from __future__ import annotations

import json
import platform
import statistics
import sys
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from .clock import clock
from .figures import Figure

__all__ = ["as_json", "as_text", "save"]

_HEADINGS = ("measure", "at most", "aim", "median", "from", "to", "best/best", "microseconds", "")
_COMPARED_WITH = ("pykka", "attrs", "cachetools", "ray")


def as_text(figures: Mapping[str, Sequence[Figure]]) -> str:
    """The report for a reader: a table a measure, the notes below it."""
    lines: list[str] = []
    for name, rows in figures.items():
        cells = [_HEADINGS, *(_cells(figure) for figure in rows)]
        widths = [max(len(row[column]) for row in cells) for column in range(len(_HEADINGS))]
        lines += ["", name, "=" * len(name)]
        for row in cells:
            first = row[0].ljust(widths[0])
            others = (cell.rjust(width) for cell, width in zip(row[1:-1], widths[1:-1], strict=True))
            lines.append("  ".join([first, *others, row[-1]]).rstrip())
        notes = dict.fromkeys(figure.note for figure in rows if figure.note)
        lines += [f"  {note}" for note in notes]
    return "\n".join(lines[1:])


def _cells(figure: Figure) -> tuple[str, ...]:
    if figure.skipped is not None:
        return figure.title, "", "", "", "", "", "", "", f"skipped: {figure.skipped}"
    verdict = ""
    if figure.at_most is not None and figure.median is not None:
        verdict = "above" if figure.median > figure.at_most else "within"
        if figure.aim is not None and figure.median <= figure.aim:
            verdict = "aim reached"
    return (
        figure.title,
        _number(figure.at_most, figure.unit),
        _number(figure.aim, figure.unit),
        _number(figure.median, figure.unit),
        _number(min(figure.values, default=None), figure.unit),
        _number(max(figure.values, default=None), figure.unit),
        _number(figure.of_best, figure.unit),
        " / ".join(f"{statistics.median(values):.3g}" for values in figure.sides.values()),
        verdict,
    )


def _number(value: float | None, unit: str) -> str:
    if value is None:
        return ""
    if unit == "x":
        return f"{value:.2f}"
    return f"{value:.0f} {unit}" if value >= 100 else f"{value:.3g} {unit}"


def as_json(figures: Mapping[str, Sequence[Figure]]) -> dict[str, Any]:
    """The report for a program: each figure with all its values, and what they were taken on."""
    return {
        "python": sys.version.split()[0],
        "implementation": sys.implementation.name,
        "system": platform.system(),
        "machine": platform.machine(),
        "clock": clock.name,
        "packages": _versions(),
        "measures": {name: [_entry(figure) for figure in rows] for name, rows in figures.items()},
    }


def _entry(figure: Figure) -> dict[str, Any]:
    return {
        "title": figure.title,
        "unit": figure.unit,
        "at_most": figure.at_most,
        "aim": figure.aim,
        "median": figure.median,
        "of_best": figure.of_best,
        "values": list(figure.values),
        "microseconds": {name: list(values) for name, values in figure.sides.items()},
        "note": figure.note,
        "skipped": figure.skipped,
    }


def _versions() -> dict[str, str]:
    found = {}
    for name in _COMPARED_WITH:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def save(figures: Mapping[str, Sequence[Figure]], path: Path) -> None:
    """Write the JSON of the report to `path`."""
    path.write_text(json.dumps(as_json(figures), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
