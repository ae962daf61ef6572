"""At which virtual instants what a journal tells happens in the same order again.

In virtual time a timer fires exactly when it falls due, before what else comes at that instant; in real time it fires a
little later, and what came meanwhile came first. So the instants of the journal are kept as far as they can be, and
moved where they cannot: what took effect before a timer fired stands at least a microsecond before it falls due. Where
two timers fired in another order than they fell due, what belongs to the earlier due one is put before the other, as
long as they are of different sessions: between those the order of effects makes no difference but to the limits.

Calls that were under way at the same time become one `together`, in the order in which they took effect.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Sequence

import attrs

from .journal_items import NEVER, Item, Timer

__all__ = ["Moment", "Placed", "place_in_time"]

_LOOKED_AT = 16
"""Timers, of those that fall due next, for which room is left."""
_MAX_TOGETHER = 16
"""Steps of one `together`; other delivery orders of more of them than that nobody can look through."""


@attrs.frozen
class Moment:
    """Steps of one instant; several are a `together`."""

    at_us: int
    items: tuple[Item, ...]


@attrs.frozen(kw_only=True)
class Placed:
    """Where everything stands in virtual time."""

    moments: tuple[Moment, ...]
    end_us: int
    """The instant at which the journal ends."""
    misplaced: int
    """Timers that could not be placed among the rest as they fired."""


@attrs.define
class _Clock:
    """Virtual time so far, and the timers that run."""

    now_us: int = 0
    wanted_us: int = 0
    """The instant at which the item before really happened."""
    running: list[tuple[int, int, Timer]] = attrs.field(factory=list)
    started: int = 0

    def next_due(self) -> Timer | None:
        while self.running and self.running[0][2].is_over:
            heapq.heappop(self.running)
        return self.running[0][2] if self.running else None

    def go_on(self, wanted_us: int, item: Item) -> None:
        """Move on for `item`, at best to the instant that is wanted, and as far as no timer fires too early.

        What has to come before a timer gets a microsecond of its own where there is room, if it had one: timers that it
        starts fall due in that order, too.
        """
        self.next_due()
        at_us, latest_us = wanted_us, NEVER
        for due_us, _number, timer in heapq.nsmallest(_LOOKED_AT, self.running):
            if timer.is_over:
                continue
            room = 0 if timer.ended_by is None else max(0, timer.ended_by.number - item.number)
            at_us = min(at_us, due_us - 1 - room)
            latest_us = min(latest_us, due_us - 1)
        if at_us <= self.now_us and wanted_us > self.wanted_us:
            at_us = min(self.now_us + 1, latest_us)
        self.wanted_us = wanted_us
        self.now_us = max(self.now_us, at_us)

    def take(self, items: Sequence[Item]) -> None:
        """Let items happen now: the timers that they end are over, those that they start run."""
        for item in items:
            item.instant_us = self.now_us
            for timer in (*item.ends, *(() if item.due is None else (item.due,))):
                timer.is_over = True
            for timer in item.starts:
                self.started += 1
                timer.number = self.started
                timer.due_us = self.now_us + timer.delay_us
                heapq.heappush(self.running, (timer.due_us, timer.number, timer))


def place_in_time(items: Sequence[Item]) -> Placed:
    """Find an instant for each item, in their order."""
    for number, item in enumerate(items):
        item.number = number
    left = deque(items)
    clock = _Clock()
    began_us = items[0].t_us if items else 0
    moments: list[Moment] = []
    misplaced = 0
    while left:
        if left[0].kind == "due":
            misplaced += _fire(left, clock)
            continue
        together = _together(left)
        clock.go_on(together[0].t_us - began_us, together[-1])
        clock.take(together)
        moments.append(Moment(clock.now_us, tuple(together)))
    return Placed(moments=tuple(moments), end_us=clock.now_us, misplaced=misplaced)


def _together(left: deque[Item]) -> list[Item]:
    """Take the next items that were under way at the same time."""
    together = [left.popleft()]
    answered = together[0].answered
    while left and left[0].kind != "due" and left[0].called <= answered and len(together) < _MAX_TOGETHER:
        if min(answered, left[0].answered) < max(item.called for item in (*together, left[0])):
            break
        together.append(left.popleft())
        answered = min(answered, together[-1].answered)
    return together


def _fire(left: deque[Item], clock: _Clock) -> int:
    """Let the timer fire that comes next in the journal, or put first what has to come before; 1 if that cannot be."""
    item = left[0]
    timer = item.due
    if timer is None:
        left.popleft()
        return 1
    earlier = clock.next_due()
    if earlier is not None and (earlier.due_us, earlier.number) < (timer.due_us, timer.number):
        if earlier.ended_by is not None and earlier.ended_by.track != item.track and _put_first(left, earlier.ended_by):
            return 0
        left.popleft()
        clock.take([item])
        return 1
    left.popleft()
    clock.now_us = max(clock.now_us, timer.due_us)
    clock.take([item])
    return 0


def _put_first(left: deque[Item], last: Item) -> bool:
    """Put an item, and those of its track that come before it, in front of all others; whether it was still to come."""
    if last not in left:
        return False
    front: list[Item] = []
    others: list[Item] = []
    while True:
        item = left.popleft()
        (front if item.track == last.track else others).append(item)
        if item is last:
            break
    left.extendleft(reversed(others))
    left.extendleft(reversed(front))
    return True
