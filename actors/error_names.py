"""Errors by name, of which a provider may invent as many as it likes."""

from __future__ import annotations

from collections import Counter

__all__ = ["ErrorNames"]

_MOST_NAMES = 32
_OTHER = "OTHER"


class ErrorNames:
    """Counts the first names each by itself, and all that come later as `OTHER`."""

    __slots__ = ("counts",)

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()

    def add(self, name: str) -> None:
        known = name in self.counts or len(self.counts) < _MOST_NAMES
        self.counts[name if known else _OTHER] += 1

    @property
    def total(self) -> int:
        return self.counts.total()
