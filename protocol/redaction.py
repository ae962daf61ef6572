"""How values that hold text show themselves: by length, never by content (C14)."""

from __future__ import annotations

__all__ = ["redacted"]


def redacted(text: object) -> str:
    """What a `repr` shows in the place of a text."""
    return f"<{len(text)} characters>" if isinstance(text, str) else f"<{type(text).__name__}>"
