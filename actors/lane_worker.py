"""How an operation gets its turn: events one by one, in the lane of its session, one question open at a time.

Rules. An event that comes while a question is open, or while the lane is not had, waits in order. The lane is asked for
once, kept until the work is done, and given back by the answer to what gave it. Whoever is to be answered when the work
is done is answered then, the lane last of all.
"""

from __future__ import annotations

import abc
from collections import deque
from collections.abc import Iterator
from typing import Any

from ..protocol.execution_messages import LaneLeft
from .actor import DEFERRED, Actor, handles
from .answering import Asked, answer
from .dispatcher import Dispatcher
from .mailbox import Envelope, Mailbox
from .outside import CallEnded, Enter, Execute, Granted

__all__ = ["Event", "LaneWorker"]

Event = CallEnded | Envelope[Any] | str
"""What an operation takes one by one: the end of a call, an `AnswerCall` or `End`, the key of a timer that fired."""


class LaneWorker(Actor):
    """The part of an operation that waits for its turn."""

    in_registry = False

    def __init__(self, dispatcher: Dispatcher, execute: Execute, coordinator: Mailbox) -> None:
        super().__init__(dispatcher)
        self._request_id = execute.plan.handoff.request_id
        self._place = execute.place
        self._takes_part = execute.takes_part
        self._coordinator = coordinator
        self._events: deque[Event] = deque()
        self._asked: object = None
        self._answering: list[tuple[Envelope[Any], object]] = []
        self._lane: Envelope[Any] | None = None
        self._entering = False
        self._over = False

    @abc.abstractmethod
    def _work(self) -> None:
        """Do what is due, until an answer is missing or nothing is left; then call `_rest`."""

    @abc.abstractmethod
    def _reach(self, granted: Granted) -> None:
        """Take note of the handle of the request, if it has one (still)."""

    @handles(Granted)
    def _granted(self, message: Granted, envelope: Envelope[Any]) -> Any:
        self._entering = False
        self._lane = envelope
        self._reach(message)
        self._work()
        return DEFERRED

    def on_timer(self, key: str) -> None:
        self._take(key)

    def _take(self, event: Event) -> None:
        """An event has come: it is worked on now, or when those before it are done."""
        if self._over:
            return
        self._events.append(event)
        if self._asked is not None or self._lane is not None:
            return
        if not self._takes_part:
            self._work()
        elif not self._entering:
            self._entering = True
            self._coordinator.tell(Enter(self._request_id, self._place, self.mailbox))

    def _ask(self, mailbox: Mailbox, question: object) -> None:
        self._asked = question
        mailbox.ask(question, Asked(self.mailbox, question))

    def _rest(self) -> None:
        """The work is done, unless an answer is missing."""
        if self._asked is None:
            for envelope, reply in self._owed_answers():
                answer(envelope, reply)

    def _owed_answers(self) -> tuple[tuple[Envelope[Any], object], ...]:
        owed, self._answering = self._answering, []
        if self._lane is not None:
            owed.append((self._lane, LaneLeft(self._request_id, self._place)))
            self._lane = None
        return tuple(owed)

    def owed(self) -> Iterator[Envelope[Any]]:
        yield from (envelope for envelope, _reply in self._answering)
        yield from (event for event in self._events if isinstance(event, Envelope))
        if self._lane is not None:
            yield self._lane
