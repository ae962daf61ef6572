"""Values in the place of those that were recorded: of the same kind, and as many bytes as JSON."""

from __future__ import annotations

from typing import Any

import attrs

from ..actors.journal_reader import Line
from .placeholders import Placeholders

__all__ = ["Opaque", "error_like", "value_like"]

_DEEP = 101
"""Levels that no value may have: it cannot be written."""
_MANY_DIGITS = 300


@attrs.frozen
class Opaque:
    """A value that JSON cannot express: `!opaque NAME`."""

    name: str


def value_like(line: Line, placeholders: Placeholders) -> Any:
    """A value that is stored as the one of a recorded call was, or is not for the same reason."""
    if "kind" not in line:
        return _too_deep() if line.get("skipped") == "serialization_failed" else None
    size, kind = line["bytes"], line["kind"]
    opaque = line["mode"] == "fallback"

    def text(chars: int) -> Any:
        found = placeholders.like(chars, chars, f"{line['session']} {line['id']}") if chars > 0 else ""
        return Opaque(found) if opaque else found

    if kind in ("string", "fallback"):
        return text(size - 2)
    if kind == "number":
        return int("1" * min(size, _MANY_DIGITS))
    if kind == "boolean":
        return size == len("true")
    if kind == "array":
        return [] if size < 3 else [0] if size == 3 else [text(size - 4)]
    if kind == "object":
        return {} if size < 6 else {"x" * (size - 6): 0} if size < 8 else {"x": text(size - 8)}
    return None


def error_like(line: Line) -> dict[str, str]:
    """The same for a call that failed: what is stored of it is its type and message."""
    empty = len('{"type":"","message":""}')
    chars = line.get("bytes", empty) - empty
    return {"type": "E" if chars > 0 else "", "message": "x" * max(0, chars - 1)}


def _too_deep() -> Any:
    value: Any = 0
    for _level in range(_DEEP):
        value = [value]
    return value
