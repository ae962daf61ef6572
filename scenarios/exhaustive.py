"""Every order, once: a depth-first search over the schedules of a scenario that tries only what can make a difference.

Rules. Runs that differ only in the order of independent events are one. The search looks at each run for races: two
events that depend on each other, with nothing between that orders them. For each race some run is due in which the
second comes before the first; where none is that begins so, one is added (source sets). A step that was tried at some
point sleeps in what is tried there after it, until something comes that depends on it; where every step sleeps, the run
has been seen in another order and is cut off (sleep sets). So each class of runs is run to its end exactly once.

What orders two events: that one actor handled both, that one led to the other, or that their footprints meet. Events of
different instants are in no race, since time moves only at rest.

Nothing is kept but the path that is being tried. Every run begins anew.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..actors.footprints import Footprint, independent
from ..actors.scheduled import Event, Schedule, Step
from ..protocol.errors import DragomanError

__all__ = ["Cut", "NotRepeatable", "Search"]


class Cut(Exception):
    """Everything that may come next in this run has been seen in another order."""


class NotRepeatable(DragomanError):
    """The same choices have led to another run: something depends on more than the messages."""

    fields = ("place",)

    def __init__(self, place: int) -> None:
        super().__init__(f"the same choices lead to other steps at step {place + 1}: the run cannot be repeated")
        self.place = place


class _Point:
    """A point of the path: the steps that there are, which of them are to be tried, and the event that was taken.

    `before` are the places of the events that come before this one in every order of its class, as bits, its own too.
    """

    __slots__ = ("before", "due", "event", "instant", "sleeping", "step", "steps", "tried")

    def __init__(self, steps: tuple[str, ...], sleeping: dict[str, Footprint], instant: int) -> None:
        self.steps = steps
        self.sleeping = sleeping
        self.instant = instant
        self.tried: dict[str, Footprint] = {}
        self.due: list[str] = []
        self.step = ""
        self.event: Event | None = None
        self.before = 0

    def begin(self) -> bool:
        """Try the plainest step that does not sleep; whether there is one."""
        for step in self.steps:
            if step not in self.sleeping:
                self.step = step
                return True
        return False

    def turn(self) -> bool:
        """Go to the next step that is due here; whether there is one."""
        if self.event is not None:
            self.tried[self.step] = self.event.footprint
            self.event = None
        while self.due:
            step = self.due.pop(0)
            if step not in self.sleeping and step not in self.tried:
                self.step = step
                return True
        return False

    def want(self, steps: Sequence[str]) -> None:
        """See to it that one of `steps` is tried here; each will do."""
        if not any(step == self.step or step in self.tried or step in self.due for step in steps):
            self.due.append(steps[0])

    def asleep_behind(self) -> dict[str, Footprint]:
        """What sleeps after the event that was taken here."""
        assert self.event is not None
        taken = self.event.footprint
        asleep = {step: known for step, known in self.sleeping.items() if independent(known, taken)}
        asleep.update((step, known) for step, known in self.tried.items() if independent(known, taken))
        return asleep


class Search(Schedule):
    """The search; one for all its runs. A run is abandoned where `choose` raises `Cut`."""

    def __init__(self) -> None:
        self._path: list[_Point] = []
        self._places: dict[str, int] = {}
        self._depth = 0
        self._instant = 0

    def rested(self) -> None:
        self._find_missed()
        self._instant = self._depth

    def choose(self, steps: Sequence[Step]) -> int:
        names = tuple(step.id for step in steps)
        if self._depth < len(self._path):
            point = self._path[self._depth]
            if point.steps != names:
                raise NotRepeatable(self._depth)
        else:
            point = _Point(names, self._path[-1].asleep_behind() if self._path else {}, self._instant)
            if not point.begin():
                raise Cut
            self._path.append(point)
        self._depth += 1
        return names.index(point.step)

    def took(self, event: Event) -> None:
        place = self._depth - 1
        point = self._path[place]
        self._places[event.name] = place
        if point.event is None:
            point.event = event
            self._find_races(place, point, event)
        elif point.event.footprint != event.footprint:
            raise NotRepeatable(place)

    def go_on(self) -> bool:
        """Prepare the next run; False if every order has been seen."""
        self._find_missed()
        self._depth = self._instant = 0
        self._places.clear()
        while self._path:
            if self._path[-1].turn():
                return True
            self._path.pop()
        return False

    def _find_races(self, place: int, point: _Point, event: Event) -> None:
        """Order the newest event behind those that it depends on, and have each race that it is in turned round."""
        before = 1 << place
        cause = self._places.get(event.cause)
        if cause is not None:
            before |= self._path[cause].before
        for earlier in range(place - 1, point.instant - 1, -1):
            other = self._path[earlier]
            if before >> earlier & 1:
                continue
            assert other.event is not None
            if other.step == point.step:
                before |= other.before
            elif not independent(other.event.footprint, event.footprint):
                before |= other.before
                point.before = before
                other.want(list(self._first_without(earlier, place)))
        point.before = before
        for step in event.ends:
            # It will not come any more, so that nobody meets it: it is in a race with what has ended it.
            if step in point.steps:
                point.want([step])

    def _find_missed(self) -> None:
        """For each step that was ended in this instant as it slept: see whether something would have woken it first.

        It sleeps since it was tried before, among what does not depend on it. What was still to come may, and the step
        may come behind that, if what has ended it comes even later.
        """
        for place in range(self._instant, self._depth):
            point = self._path[place]
            assert point.event is not None
            for step in point.event.ends:
                if step in point.sleeping:
                    self._find_waker(place, point.sleeping[step])

    def _find_waker(self, place: int, footprint: Footprint) -> None:
        """Have the first event that wakes what has this footprint come before the one at `place`, if it may."""
        for later in range(place + 1, self._depth):
            other = self._path[later]
            assert other.event is not None
            if not other.before >> place & 1 and not independent(footprint, other.event.footprint):
                self._path[place].want(list(self._first_without(place, later)))
                return

    def _first_without(self, left_out: int, last: int) -> Iterator[str]:
        """What can come first if the event at `left_out`, and what follows from it, does not come before `last`.

        These are the events up to `last` that do not follow from the one that is left out, nor from one another.
        """
        taken = 0
        for place in range(left_out + 1, last + 1):
            point = self._path[place]
            if place != last and point.before >> left_out & 1:
                continue
            if not point.before & taken & ~(1 << left_out):
                yield point.step
            taken |= 1 << place
