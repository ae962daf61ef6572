"""The heap of timers: what falls due when, and in which order.

Timers fall due in the order of their instants, and of their starting where those are equal. A cancelled timer stays in
the heap as an empty entry; once the empty ones outnumber the live ones the heap is rebuilt, so that its size is bounded
by twice the live timers and a cancel costs a constant on average. Not thread-safe: the dispatcher locks.
"""

from __future__ import annotations

import heapq
import itertools
from typing import TYPE_CHECKING

import attrs

if TYPE_CHECKING:
    from .mailbox import Mailbox

__all__ = ["TimerEntry", "TimerFired", "TimerHeap"]

_SMALL = 64


@attrs.frozen
class TimerFired:
    """Posted when a timer falls due. `generation` tells a superseded timer of that key from the current one."""

    key: str
    generation: int


class TimerEntry(list["int | Mailbox | str | None"]):
    """`[due_us, stamp, generation, mailbox, key]`: a list, which the heap compares in C; no mailbox once it is over.

    No two have one generation, so that the comparison never gets beyond it; a stamp may come again.
    """

    __slots__ = ()

    @property
    def generation(self) -> int:
        return self[2]  # type: ignore[return-value]


class TimerHeap:
    """Live and cancelled timers by their due instant."""

    def __init__(self) -> None:
        self._heap: list[TimerEntry] = []
        self._stamps = itertools.count(1)
        self.newest = 0
        """The generation of the timer that was started last."""
        self._cancelled = 0

    def __len__(self) -> int:
        """The live timers."""
        return len(self._heap) - self._cancelled

    def stamp(self) -> int:
        """The place of a timer that would be started now, among those that fall due at the same instant."""
        return next(self._stamps)

    def start(self, due_us: int, mailbox: Mailbox, key: str, stamp: int | None = None) -> TimerEntry:
        """Put a timer in; `stamp` is where it belongs if it counts as started earlier."""
        stamp = next(self._stamps) if stamp is None else stamp
        self.newest += 1
        entry = TimerEntry((due_us, stamp, self.newest, mailbox, key))
        heapq.heappush(self._heap, entry)
        return entry

    def cancel(self, entry: TimerEntry) -> None:
        """Take a timer out; one that has fired or was cancelled is left alone."""
        if entry[3] is None:
            return
        entry[3] = None
        self._cancelled += 1
        if self._cancelled > _SMALL and self._cancelled * 2 > len(self._heap):
            self._heap = [live for live in self._heap if live[3] is not None]
            heapq.heapify(self._heap)
            self._cancelled = 0

    def next_due_us(self) -> int | None:
        """The instant at which the next live timer falls due."""
        while self._heap and self._heap[0][3] is None:
            heapq.heappop(self._heap)
            self._cancelled -= 1
        return self._heap[0][0] if self._heap else None  # type: ignore[return-value]

    def pop_due(self, now_us: int) -> tuple[Mailbox, TimerFired, int] | None:
        """Take out the first timer due at or before `now_us`: its mailbox, its message, its due instant."""
        due_us = self.next_due_us()
        if due_us is None or due_us > now_us:
            return None
        entry = heapq.heappop(self._heap)
        _due, _stamp, generation, mailbox, key = entry
        entry[3] = None
        return mailbox, TimerFired(key, generation), due_us  # type: ignore[return-value, arg-type]

    def due(self, now_us: int) -> list[TimerEntry]:
        """Every live timer due at or before `now_us`, in their order."""
        due_us = self.next_due_us()
        if due_us is None or due_us > now_us:
            return []
        return sorted(entry for entry in self._heap if entry[3] is not None and entry[0] <= now_us)  # type: ignore[operator]

    def take(self, entry: TimerEntry) -> tuple[Mailbox, TimerFired]:
        """Let a live timer fall due before its turn: its mailbox, its message."""
        _due, _stamp, generation, mailbox, key = entry
        self.cancel(entry)
        return mailbox, TimerFired(key, generation)  # type: ignore[return-value, arg-type]
