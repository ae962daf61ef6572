"""Writing YAML as the scenarios have it: a step a line, plain words where they may stand plain."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from .journal_values import Opaque

__all__ = ["flow", "scenario_text"]

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_./-]*(?<![./-])")
_NO_TEXT = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null"})
"""Words that YAML reads as something else, in any case of letters."""
_DURATION = re.compile(r"\d+(\.\d+)?s")


def flow(value: Any) -> str:
    """A value in flow style, on one line."""
    if isinstance(value, Opaque):
        return f"!opaque {_text(value.name)}"
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_text(str(key))}: {flow(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(flow, value)) + "]"
    return json.dumps(value)


def _text(text: str) -> str:
    if _DURATION.fullmatch(text) or (_PLAIN.fullmatch(text) and text.lower() not in _NO_TEXT):
        return text
    # JSON's strings are YAML's; but there a character beyond the first plane is no pair of escapes.
    return json.dumps(text, ensure_ascii=False).translate(_ESCAPED)


_ESCAPED = {code: f"\\u{code:04x}" for code in (0x7F, *range(0x80, 0xA0), 0x2028, 0x2029, 0xFEFF, 0xFFFE, 0xFFFF)}
_ESCAPED |= {code: f"\\u{code:04x}" for code in range(0xD800, 0xE000)}


def scenario_text(document: Mapping[str, Any]) -> str:
    """A scenario as a file: `document` has its keys, and each moment of the timeline its steps."""
    return "\n".join(_lines(document)) + "\n"


def _lines(document: Mapping[str, Any]) -> Iterator[str]:
    for key, value in document.items():
        if key == "timeline":
            yield "timeline:" if value else "timeline: []"
            for moment in value:
                yield from _moment(moment)
        elif key == "then":
            yield "then:"
            for name, entry in value.items():
                yield from _entry(name, entry)
        else:
            yield f"{key}: {flow(value)}"


def _moment(moment: Mapping[str, Any]) -> Iterator[str]:
    if "together" not in moment:
        yield f"  - {flow(moment)}"
        return
    yield f"  - at: {moment['at']}"
    yield "    together:"
    for step in moment["together"]:
        yield f"      - {flow(step)}"


def _entry(name: str, entry: Any) -> Iterator[str]:
    if not isinstance(entry, Mapping) or not entry:
        yield f"  {name}: {flow(entry)}"
        return
    yield f"  {name}:"
    for key, value in entry.items():
        yield f"    {_text(key)}: {flow(value)}"
