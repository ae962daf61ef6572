"""Texts of scenario files in which a mark stands before the place that must be told."""

from __future__ import annotations

__all__ = ["MARK", "unmarked"]

MARK = "▸"


def unmarked(text: str) -> tuple[str, str]:
    """The text without its mark, and the place of that as `LINE:COLUMN`."""
    before, mark, after = text.partition(MARK)
    assert mark
    return before + after, f"{before.count(chr(10)) + 1}:{len(before) - before.rfind(chr(10))}"
