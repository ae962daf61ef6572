"""Traces what the actors tell each other: who handled what, when, and who had sent it.

Rules. A tracer watches a dispatcher from before its first actor starts. Each mailbox then changes its class to one that
notes who puts a message into it, and stands between it and its actor, to note when that handles one. Nothing of this
exists where there is no tracer. A trace holds the types of messages and the names of actors, never what a message says.

Not promised: what an actor does with a message that it let wait, which is not told a second time; messages after the
bound, which are counted.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable
from typing import Any, ClassVar, cast

import attrs

from .actor import Actor
from .dispatcher import Dispatcher
from .mailbox import LATER, Envelope, Mailbox

__all__ = ["MAX_HANDLED", "OUTSIDE", "Handled", "Tracer"]

OUTSIDE = ""
"""The name of whoever sends from outside of the actors: the callers, and the timers."""
MAX_HANDLED = 200_000
_AT_ONCE = "AckAtOnce"


@attrs.frozen
class Handled:
    """A message that an actor has handled. `sent_while` is the number of what its sender handled as it sent it."""

    number: int
    actor: str
    message: str
    sender: str
    sent_while: int | None
    sent_us: int
    begin_us: int
    end_us: int
    order: int
    """The place of its beginning among the beginnings of all."""


class _Here(threading.local):
    """What this thread handles: the actor and the number of the message, the innermost last."""

    def __init__(self) -> None:
        self.stack: list[tuple[str, int]] = []


class Tracer:
    """Collects what is handled, up to `max_handled` messages; `left_out` counts the others."""

    def __init__(self, *, max_handled: int = MAX_HANDLED) -> None:
        self.handled: list[Handled] = []
        self.left_out = 0
        self.virtual = False
        """Whether its time is that of a simulation, in which no handler takes any."""
        self._now_us: Callable[[], int] = int
        self._max_handled = max_handled
        self._numbers = itertools.count(1)
        self._order = itertools.count()
        self._here = _Here()
        self._sent: dict[int, tuple[str, int | None, int]] = {}
        """Of each envelope under way: its sender, what that handled, and when."""
        self._counting = threading.Lock()
        self._traced = type("Mailbox", (_TracedMailbox,), {"__slots__": (), "tracer": self})

    def watch(self, dispatcher: Dispatcher) -> None:
        """Trace what happens from now on; before the runtime is made that this dispatcher serves."""
        self._now_us = dispatcher.now_us
        self.virtual = not dispatcher.delivers_at_once
        dispatcher.tracer = self._trace

    def _trace(self, mailbox: Mailbox) -> None:
        mailbox.__class__ = self._traced

    def sent(self, envelope: Envelope[Any]) -> None:
        """Note who sends an envelope; of one that is passed on, whoever does it last."""
        stack = self._here.stack
        sender, number = stack[-1] if stack else (OUTSIDE, None)
        self._sent[id(envelope)] = sender, number, self._now_us()

    def handle(self, actor: Actor, envelope: Envelope[Any]) -> None:
        """Have a message handled, and note it."""
        sender, sent_while, sent_us = self._sent.pop(id(envelope), (OUTSIDE, None, self._now_us()))
        number, order, begin_us = next(self._numbers), next(self._order), self._now_us()
        name, message = actor.name, type(envelope.message).__name__
        self._here.stack.append((name, number))
        try:
            actor.receive(envelope)
        finally:
            self._here.stack.pop()
            self._keep(number, name, message, (sender, sent_while, sent_us), begin_us, order)

    def at_once(self, actor: Actor, question: Any) -> Any:
        """Have a question answered at once, and note it if it was."""
        order, begin_us = next(self._order), self._now_us()
        answer = actor.answer_at_once(question)
        if answer is not LATER:
            self._keep(next(self._numbers), actor.name, _AT_ONCE, (OUTSIDE, None, begin_us), begin_us, order)
        return answer

    def _keep(
        self, number: int, actor: str, message: str, sent: tuple[str, int | None, int], begin_us: int, order: int
    ) -> None:
        if len(self.handled) < self._max_handled:
            self.handled.append(Handled(number, actor, message, *sent, begin_us, self._now_us(), order))
        else:
            with self._counting:
                self.left_out += 1


class _TracedMailbox(Mailbox):
    __slots__ = ()

    tracer: ClassVar[Tracer]

    def bind(self, actor: Actor, dispatcher: Dispatcher, first: Envelope[Any] | None = None) -> None:
        super().bind(cast(Actor, _Traced(actor, self.tracer)), dispatcher, first)

    def put(self, envelope: Envelope[Any], /) -> None:
        self.tracer.sent(envelope)
        super().put(envelope)

    def leave(self, envelope: Envelope[Any]) -> None:
        self.tracer.sent(envelope)
        super().leave(envelope)


class _Traced:
    """Stands between a mailbox and its actor; the actor in every respect but that."""

    __slots__ = ("_actor", "_tracer")

    def __init__(self, actor: Actor, tracer: Tracer) -> None:
        self._actor = actor
        self._tracer = tracer

    def __getattr__(self, name: str) -> Any:
        return getattr(self._actor, name)

    def receive(self, envelope: Envelope[Any]) -> None:
        self._tracer.handle(self._actor, envelope)

    def answer_at_once(self, question: Any) -> Any:
        return self._tracer.at_once(self._actor, question)
