"""The lane of a session: what is open in it, in which order, and who may pass now.

A lane is *held* by operations of the coordinator that take several messages, each under a name of its own, and by the
handles that were just told to commit. Operations on one handle may pass to it one behind another, and have the lane
until all are answered. It is free when neither is so; what finds it taken, or others waiting, waits its turn.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Iterator
from typing import Any

import attrs

from ..protocol.statuses import CloseCause
from .actor import DEFERRED, Actor
from .futures import Future
from .mailbox import Envelope, Mailbox

__all__ = ["Lane", "LaneFree", "Lanes", "Route", "hold_of"]


@attrs.frozen
class LaneFree:
    """Coordinator → itself: the operation that a lane's waiters waited for has been answered."""

    session_id: str


class Route:
    """The way to one open handle. `place` counts registrations."""

    __slots__ = ("lane", "mailbox", "place", "rejects", "request_id")

    def __init__(self, request_id: str, mailbox: Mailbox, lane: Lane, place: int) -> None:
        self.request_id = request_id
        self.mailbox = mailbox
        self.lane = lane
        self.place = place
        self.rejects = False
        """Whether a rejection has come for it by hand."""


class Lane:
    """One session's order of operations; see the module."""

    __slots__ = (
        "_current_route",
        "_holds",
        "_unanswered",
        "asked",
        "awaited",
        "emptying",
        "exposed",
        "passing_before",
        "quiet",
        "resuming",
        "routes",
        "session_id",
        "waiting",
    )

    def __init__(self, session_id: str) -> None:
        self.session_id = session_id
        # Ordered, since they are emptied from the front: the first entry of a plain dict is then ever farther away.
        self.routes: OrderedDict[str, Route] = OrderedDict()
        self.waiting: deque[Envelope[Any]] = deque()
        self.resuming = False
        self._unanswered: deque[Future[Any]] = deque()
        self._current_route: Route | None = None
        self.awaited = False
        self.emptying: tuple[CloseCause, Envelope[Any]] | None = None
        self.exposed: OrderedDict[str, Route] = OrderedDict()
        self.passing_before = 0
        self.asked: Route | None = None
        self._holds: set[str] = set()
        self.quiet = True
        """Whether nothing holds it, waits, or is on its way; if not, that may be so all the same."""

    @property
    def held(self) -> bool:
        return bool(self._holds)

    @property
    def free(self) -> bool:
        """Whether nothing is on its way."""
        return not self._holds and self.next_answer is None

    @property
    def next_answer(self) -> Future[Any] | None:
        """The first answer that is still missing of the operations that passed to a handle."""
        self._forget_answered()
        return self._unanswered[0] if self._unanswered else None

    def _forget_answered(self) -> None:
        unanswered = self._unanswered
        while unanswered and unanswered[0].done:
            unanswered.popleft()

    @property
    def open(self) -> bool:
        """Whether an operation that has just come, or whose turn it is, may pass."""
        if self._holds or (self.waiting and not self.resuming):
            return False
        if self._unanswered and self.next_answer is not None:
            return False
        self.quiet = not self.waiting
        return True

    def passes_on(self, route: Route, envelope: Envelope[Any]) -> bool:
        """Pass an operation on to the handle of `route`, if it may pass: behind another one on that handle it may."""
        if self._holds or (self.waiting and not self.resuming):
            return False
        if self._unanswered and self._current_route is not route and self.next_answer is not None:
            return False
        route.mailbox.put(envelope)
        answer: Any = envelope.reply_to
        self.enter(route, None if answer is None or answer.done else answer)
        return True

    def enter(self, route: Route, answer: Future[Any] | None) -> None:
        """An operation on a handle passes; it has the lane until `answer` is given."""
        self._forget_answered()
        if answer is not None:
            self._unanswered.append(answer)
            self.quiet = False
        self._current_route = route

    def hold(self, name: str) -> None:
        self._holds.add(name)
        self.quiet = False

    def wait(self, envelope: Envelope[Any]) -> None:
        """An operation waits behind what was there before it."""
        self.waiting.append(envelope)
        self.quiet = False

    def release(self, name: str) -> None:
        """End a hold, if there is one of that name."""
        self._holds.discard(name)

    def add(self, route: Route, *, exposed: bool) -> None:
        """A new last handle; `exposed` if it can be passed over."""
        self.routes[route.request_id] = route
        if exposed:
            self.exposed[route.request_id] = route

    def remove(self, route: Route) -> bool:
        """Its handle has closed, and whatever was on its way to it has no effect any more; whether it was the first."""
        was_first = self.first() is route
        del self.routes[route.request_id]
        self.exposed.pop(route.request_id, None)
        self._holds.discard(hold_of(route))
        if self._current_route is route:
            self._unanswered.clear()
            self._current_route = None
        return was_first

    def owed(self) -> Iterator[Envelope[Any]]:
        """What this lane keeps and nobody has answered."""
        yield from self.waiting
        if self.emptying is not None:
            yield self.emptying[1]

    def first(self) -> Route | None:
        """The earliest registered of the open handles."""
        return next(iter(self.routes.values()), None)

    def next_exposed(self) -> Route | None:
        """The earliest handle that may still be passed over, among those before `passing_before`."""
        route = next(iter(self.exposed.values()), None)
        self.asked = route if route is not None and route.place < self.passing_before else None
        return self.asked


class Lanes:
    """The lanes of the coordinator by session, and what waits in them."""

    def __init__(self, coordinator: Actor) -> None:
        self._coordinator = coordinator
        self._lanes: dict[str, Lane] = {}
        self._resumed: Envelope[Any] | None = None

    def __iter__(self) -> Iterator[Lane]:
        return iter(self._lanes.values())

    def get(self, session_id: str) -> Lane | None:
        return self._lanes.get(session_id)

    def of(self, session_id: str) -> Lane:
        """The lane of a session that has one; `KeyError` if it has not."""
        return self._lanes[session_id]

    def get_or_add(self, session_id: str) -> Lane:
        lane = self._lanes.get(session_id)
        if lane is None:
            lane = self._lanes[session_id] = Lane(session_id)
        return lane

    def wait(self, lane: Lane, envelope: Envelope[Any]) -> Any:
        """Let an operation wait until what is before it in the lane has passed."""
        lane.wait(envelope)
        self._wake_when_free(lane)
        return DEFERRED

    def go_on(self, lane: Lane) -> None:
        """Let the next operations in, as far as the lane is free; forget a lane that nothing needs."""
        waiting = lane.waiting
        if lane.resuming:
            return
        lane.resuming = True
        while waiting and lane.free:
            outer, self._resumed = self._resumed, waiting.popleft()
            self._coordinator.receive(self._resumed, again=True)
            self._resumed = outer
        lane.resuming = False
        if waiting:
            self._wake_when_free(lane)
        elif not lane.routes and lane.free:
            self._lanes.pop(lane.session_id, None)

    def resumes(self, envelope: Envelope[Any]) -> bool:
        """Whether this very operation has waited in a lane and now has its turn."""
        return envelope is self._resumed

    def freed(self, session_id: str) -> None:
        """What the waiters of a lane waited for has been answered."""
        lane = self._lanes.get(session_id)
        if lane is not None:
            lane.awaited = False
            self.go_on(lane)

    def _wake_when_free(self, lane: Lane) -> None:
        """See to it that `go_on` comes once what has the lane is answered; a hold ends with it anyway."""
        if lane.awaited or lane.held:
            return
        lane.awaited = True
        free, mailbox = LaneFree(lane.session_id), self._coordinator.mailbox
        missing = lane.next_answer
        if missing is None:
            # It was answered in this very moment, by the thread that runs the handle.
            mailbox.tell(free)
        else:
            missing.add_done_callback(lambda _answer: mailbox.tell(free))


def hold_of(route: Route) -> str:
    """The name of the hold of a handle that was told to commit."""
    return f"request {route.request_id}"
