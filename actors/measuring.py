"""Timing: how long the handling of messages takes, for a sample, and how long requests wait; nothing until asked for.

Rules. An actor is timed by a `receive` of its own in the place of its class's; one of a runtime that is not measured
has no line of code more for it, and neither have mailboxes. Of the messages of a lasting actor each 64th is timed; of
executions each 8th, with all its messages; of the requests each 8th, by its handle, from one event to another. A
handler that delivers to another prompt actor counts that one's time as well: so handles, which are many and get their
messages from the coordinator, have no times of handling.

Not promised: that the sample has every kind of message; the time of ACKs that are answered at once, which are no
messages.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ..protocol.histogram import HANDLING_BOUNDS_S, WINDOW_BOUNDS_S, Histogram
from .distribution import Distribution
from .mailbox import Envelope, Mailbox

if TYPE_CHECKING:
    from .actor import Actor
    from .dispatcher import Dispatcher

__all__ = ["ACTIVE_TIMES", "TURN_WAITS", "Measuring"]

TURN_WAITS = "turn waits"
"""How long an accepted parent waited for earlier requests of its session."""
ACTIVE_TIMES = "active times"
"""How long a handle was active."""
_BOUNDS_S = {TURN_WAITS: WINDOW_BOUNDS_S, ACTIVE_TIMES: WINDOW_BOUNDS_S}

_EACH_MESSAGE = 64
_EACH_CHILD = 8
_EACH_REQUEST = 8


class Measuring:
    """The times of one dispatcher's actors: of handling messages, by kind, and those that they take themselves."""

    def __init__(self, dispatcher: Dispatcher) -> None:
        self._dispatcher = dispatcher
        self._changing = threading.Lock()
        self._times: dict[str, Distribution] = {}

    def begin(self, live: Iterable[Actor | None]) -> None:
        """Time the lasting ones of the actors that are `live`, and of their children the new ones."""
        adopt, next_child = self._dispatcher.adopt, itertools.count().__next__

        def adopt_measured(mailbox: Mailbox) -> None:
            adopt(mailbox)
            actor = mailbox.actor
            if actor is not None and not actor.prompt and not next_child() % _EACH_CHILD:
                self._time(actor, each=1)

        self._dispatcher.adopt = adopt_measured  # type: ignore[method-assign]
        for actor in live:
            if actor is not None and actor.in_registry:
                self._time(actor, each=_EACH_MESSAGE)

    def _time(self, actor: Actor, *, each: int) -> None:
        receive, add, now_ns, kind = actor.receive, self.add, self._dispatcher.now_ns, type(actor).__name__
        seen = 0

        def timed(envelope: Envelope[Any], again: bool = False) -> None:
            nonlocal seen
            seen += 1
            if seen % each:
                receive(envelope, again)
                return
            began_ns = now_ns()
            receive(envelope, again)
            add(kind, now_ns() - began_ns)

        actor.receive = timed  # type: ignore[method-assign]

    def add(self, kind: str, taken_ns: int) -> None:
        with self._changing:
            times = self._times.get(kind)
            if times is None:
                times = self._times[kind] = Distribution(_BOUNDS_S.get(kind, HANDLING_BOUNDS_S))
            times.add(taken_ns)

    def add_us(self, what: str, taken_us: int) -> None:
        self.add(what, taken_us * 1000)

    def times_request(self, place: int) -> bool:
        """Whether the request that was registered as the `place`-th is in the sample."""
        return place % _EACH_REQUEST == 1

    def read(self) -> dict[str, Histogram]:
        with self._changing:
            return {kind: times.read() for kind, times in self._times.items()}
