"""What counts as a clean result (C3.2): the checks that an accepting ACK must pass."""

from __future__ import annotations

import json
import re
from typing import Any

from .markers import contains_marker, markers_of

__all__ = ["is_blank", "is_clean_anyhow", "is_clean_result", "is_envelope"]

_MAX_LEVELS = 100
"""What is nested deeper is not looked into: whether that can be done must not depend on whose stack it is."""
_BRACKETS = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[\[\]{}]', re.DOTALL)
"""Brackets, and the strings in which they are none."""


def is_blank(text: str) -> bool:
    """Whether `text` is empty or Unicode white space only."""
    return not text or text.isspace()


def _is_item(item: Any) -> bool:
    return isinstance(item, dict) and "id" in item and "text" in item


def _without_depths(body: str) -> str:
    """A JSON text with 0 in the place of each value that is nested deeper than `_MAX_LEVELS`."""
    parts: list[str] = []
    level = kept = 0
    for token in _BRACKETS.finditer(body):
        if token.group() in "[{":
            level += 1
            if level == _MAX_LEVELS + 1:
                parts += body[kept : token.start()], "0"
        elif token.group() in "]}":
            if level == _MAX_LEVELS + 1:
                kept = token.end()
            level -= 1
    return "".join(parts) + body[kept:]


def is_envelope(text: str) -> bool:
    """Whether `text` as a whole is the runtime's own wire envelope.

    That is a mapping with the key `translations`, or a bare list, of one or more items with `id` and `text`.
    Any other JSON is ordinary text. Raises `RecursionError` where the stack has no room to look a hundred levels deep.
    """
    body = text.strip()
    if not (body.startswith("{") and body.endswith("}")) and not (body.startswith("[") and body.endswith("]")):
        return False
    if body.count("[") + body.count("{") > _MAX_LEVELS:
        body = _without_depths(body)
    try:
        # Numbers are not looked at, and Python refuses to read one of some thousand digits.
        value = json.loads(body, parse_int=str)
    except ValueError:
        return False
    items = value.get("translations") if isinstance(value, dict) else value
    return isinstance(items, list) and bool(items) and all(_is_item(item) for item in items)


def is_clean_anyhow(result: object) -> bool:
    """Whether `result` is clean whatever its source is: as most are, with nothing in them that needs a closer look."""
    return type(result) is str and result != "" and "<" not in result and "{" not in result and not result.isspace()


def is_clean_result(result: object, source: str) -> bool:
    """Whether an accepting ACK may carry `result` for `source`.

    Not clean: no text; blank though the source is not; a marker of the runtime (what looks like one and stands in the
    source is a literal); the runtime's envelope.
    """
    if not isinstance(result, str):
        return False
    if is_blank(result) and not is_blank(source):
        return False
    if contains_marker(result) and not all(marker in source for marker in markers_of(result)):
        return False
    return not is_envelope(result)
