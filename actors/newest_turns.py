"""The newest turns of a session, in the order of their commits (C16)."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from ..protocol.history import Turn, TurnRun

__all__ = ["NewestTurns"]


class NewestTurns:
    """At most `limit` turns: kept as they were committed, and made turns, for good, once they are read."""

    __slots__ = ("_count", "_limit", "_made", "_runs")

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._made: deque[Turn] = deque()
        self._runs: deque[TurnRun] = deque()
        self._count = 0

    def __iter__(self) -> Iterator[Turn]:
        for run in self._runs:
            self._made.extend(run)
        self._runs.clear()
        return iter(self._made)

    def extend(self, run: TurnRun) -> None:
        """Turns that come newest; the oldest ones make room."""
        if run:
            self._runs.append(run)
        self._count += len(run)
        over = self._count - self._limit
        if over <= 0:
            return
        self._count = self._limit
        while over and self._made:
            self._made.popleft()
            over -= 1
        while over:
            oldest = self._runs.popleft()
            left = len(oldest) - over
            if left > 0:
                self._runs.appendleft(oldest.newest(left))
            over = max(0, -left)
