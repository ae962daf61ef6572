"""What the commands have in common: exit statuses, consoles, and the files that a path stands for."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

from rich.console import Console

__all__ = ["FAILED", "INTERRUPTED", "PASSED", "USAGE", "console", "scenario_files", "speaks_unicode"]

PASSED, FAILED, USAGE, INTERRUPTED = 0, 1, 2, 130


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
