"""The kernel's own log lines. A sink of the program that raises (loguru's `catch=False`) must not break an answer."""

from __future__ import annotations

import itertools
import traceback

from loguru import logger

__all__ = ["lost_lines", "place_of", "report"]

_of_caller = logger.opt(depth=1)

lost_lines = itertools.count()
"""Counts the lines that a sink could not take."""


def report(level: str, template: str, /, **fields: object) -> None:
    """Write a log line, for the one who calls this; its fields are ids, sizes and names of types only."""
    try:
        _of_caller.log(level, template, **fields)
    except Exception:
        next(lost_lines)


def place_of(error: BaseException) -> tuple[str, int]:
    """Where an error was raised: its module and line, which show no text."""
    frames = traceback.extract_tb(error.__traceback__)
    return (frames[-1].filename.rpartition("/")[2], frames[-1].lineno or 0) if frames else ("?", 0)
