"""What the commands have in common: exit statuses, consoles, and the files that a path stands for."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from rich.console import Console

__all__ = [
    "FAILED",
    "INTERRUPTED",
    "PASSED",
    "USAGE",
    "ScenarioPaths",
    "Switch",
    "console",
    "scenario_files",
    "seconds",
    "speaks_unicode",
    "usage",
]

PASSED, FAILED, USAGE, INTERRUPTED = 0, 1, 2, 130

ScenarioPaths = Annotated[
    list[Path] | None, Parameter(name="path", show_default=False, json_list=False, json_dict=False)
]
"""Files or folders of scenarios; None for those that ship."""
Switch = Annotated[bool, Parameter(negative=(), show_default=False)]
"""What is off unless it is said."""


def console(stream: object) -> Console:
    """A console that styles on a terminal and writes plain, unwrapped text elsewhere."""
    return Console(file=stream, highlight=False, markup=False, emoji=False, soft_wrap=True)  # type: ignore[arg-type]


def scenario_files(path: Path) -> Iterator[Path]:
    """The scenario files that a path stands for; what looks like one and cannot be read is told later."""
    if path.is_dir():
        found = (Path(folder, name) for folder, _folders, names in os.walk(path) for name in names)
        yield from sorted(file for file in found if file.suffix == ".yaml")
    else:
        yield path


def speaks_unicode() -> bool:
    """Whether standard output can show any character."""
    return "utf" in (getattr(sys.stdout, "encoding", None) or "utf-8").lower()


def seconds(duration: str) -> float | None:
    """A duration of the scenario language, in seconds; None if it is none."""
    from .scenarios.reading import duration_us

    try:
        amount = duration_us(float(duration))
    except ValueError:
        amount = duration_us(duration)
    return None if amount is None else float(amount) / 1e6


def usage(what: str) -> int:
    """Say what is wrong with the options; the exit status for it."""
    console(sys.stderr).print(f"dragoman: {what}")
    return USAGE
