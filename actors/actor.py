"""The actor type: pykka's `Actor` on this kernel's mailbox and dispatcher.

Rules. Handlers are found by the type of the message. A handler returns the answer, or `DEFERRED` when it has passed
the envelope on or will answer later. It never blocks. An exception in a handler reaches the asker as `ActorFailed`, is
counted and logged by type and place, and is told to `on_failure`; it never stops the actor. All timers of an actor end
with it.

Not promised: what an actor that was interrupted in the middle of a handler left half-done; state is changed only after
everything that could raise.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator
from types import TracebackType
from typing import Any, ClassVar, Final, TypeVar

import pykka

from ..protocol.errors import ActorFailed, DragomanError
from . import interrupts
from .answering import refuse
from .dispatcher import Dispatcher
from .futures import Future
from .inbox import Inbox
from .mailbox import LATER, STOP, Envelope, Mailbox
from .reporting import place_of, report
from .timers import TimerEntry, TimerFired

__all__ = ["DEFERRED", "Actor", "handles"]


class _Deferred:
    __slots__ = ()


DEFERRED: Final = _Deferred()
"""What a handler returns when its answer is given elsewhere or later."""

Handler = Callable[[Any, Any, Envelope[Any]], Any]
F = TypeVar("F", bound=Callable[..., Any])


def handles(*messages: type) -> Callable[[F], F]:
    """Mark a method of an actor as the handler of these messages: `method(self, message, envelope)`."""

    def mark(method: F) -> F:
        method.__dict__["handles"] = messages
        return method

    return mark


class Actor(pykka.Actor):
    """An actor of a runtime; see the module for its rules."""

    __slots__ = ("_inbox", "_ref", "_timers", "dispatcher", "mailbox")

    handlers: ClassVar[dict[type, Handler]] = {}
    in_registry: ClassVar[bool] = True
    """Whether pykka's global registry knows this actor. Children are too many: leaving it is linear in its size."""

    prompt: ClassVar[bool] = False
    """Whether its messages may be handled by the thread that sends them. Not for handlers that call foreign code."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.handlers = dict(cls.handlers)
        for method in vars(cls).values():
            for message in getattr(method, "handles", ()):
                cls.handlers[message] = method

    def __init__(self, dispatcher: Dispatcher) -> None:
        # pykka's own initialiser makes a UUID, an Event and a ref, 11 µs that a handle never needs.
        self.dispatcher = dispatcher
        self._inbox: Inbox = self._create_actor_inbox()
        self.mailbox: Mailbox = self._inbox.mailbox
        self._ref: pykka.ActorRef[Any] | None = None
        self._timers: dict[str, TimerEntry] | None = None

    @staticmethod
    def _create_actor_inbox() -> Inbox:
        return Inbox()

    @staticmethod
    def _create_future() -> Future[Any]:
        return Future()

    def _start_actor_loop(self) -> None:
        self.mailbox.actor = self  # not bound to it yet, but counted as one of its kind
        self.dispatcher.adopt(self.mailbox)
        starts = type(self).on_start is not pykka.Actor.on_start
        self.mailbox.bind(self, self.dispatcher, Envelope(_START) if starts else None)

    def spawn(self) -> Mailbox:
        """Start as a child, outside of pykka's registry."""
        self._start_actor_loop()
        return self.mailbox

    @property
    def actor_urn(self) -> str:  # type: ignore[override]
        return f"urn:dragoman:{self.name}:{id(self):x}"

    @property
    def actor_inbox(self) -> Inbox:  # type: ignore[override]
        return self._inbox

    @property
    def actor_stopped(self) -> Mailbox:  # type: ignore[override]
        return self.mailbox

    @property
    def actor_ref(self) -> pykka.ActorRef[Any]:
        if self._ref is None:
            self._ref = pykka.ActorRef(self)
        return self._ref

    @property
    def name(self) -> str:
        """What logs, errors and timelines call this actor."""
        return type(self).__name__

    def receive(self, envelope: Envelope[Any], again: bool = False) -> None:
        """Handle one message to the end, and answer; `again` if it came before and had to wait.

        Only the mailbox calls this, and the actor itself for what it let wait.
        """
        message = envelope.message
        if self.dispatcher.watched:
            self._watched(envelope, again)
        handler = self.handlers.get(type(message))
        failure: ActorFailed | None = None
        told: BaseException | None = None
        answer = None
        try:
            answer = self._handle_receive(message) if handler is None else handler(self, message, envelope)
        except BaseException as error:
            failure, told = self._caught(error)
        if failure is not None:
            # Outside of the clause: what a callback raises must not be chained to the fault, which may show texts.
            self._fail(envelope, failure, told)
        elif answer is not DEFERRED and envelope.reply_to is not None:
            envelope.reply_to.settle(answer, None)  # type: ignore[attr-defined]

    def _watched(self, envelope: Envelope[Any], again: bool) -> None:
        """Tell whoever watches that a message is handled; of a call at the face, that this is where it takes effect.

        Of several such places the last one counts.
        """
        dispatcher = self.dispatcher
        if dispatcher.observer is not None and not again:
            dispatcher.observer("message", self.name, envelope.message)
        if dispatcher.journal is not None:
            self.took(envelope)

    def took(self, envelope: Envelope[Any]) -> None:
        """Note that a call at the face takes effect here, if the envelope is one's."""
        number = getattr(envelope.reply_to, "number", None)
        if number is not None:
            self.dispatcher.note("took", number)

    def answer_at_once(self, question: Any) -> Any:
        """The answer to `question` if it can be given without sending anything; else `LATER`, with nothing changed.

        What it changes it changes last, and without a call: where it runs out of stack, the question is asked later.
        """
        return LATER

    def fail_at_once(self, question: object, error: BaseException) -> Future[Any]:
        """What `receive` does about a fault, for a question that was to be answered at once; its answer."""
        answer: Future[Any] = Future(self.dispatcher)
        self._fail(Envelope(question, answer), *self._caught(error))
        return answer

    def owed(self) -> Iterator[Envelope[Any]]:
        """The envelopes that this actor keeps and has yet to answer; they are answered when it stops."""
        return iter(())

    def add_counts(self, counts: Counter[Hashable]) -> None:
        """Add what this actor has counted itself to the counts of its kind, under keys of that kind's own.

        Plain integers alone, read in whichever thread asks; once more, for good, when the actor stops.
        """

    def start_timer(self, key: str, delay_us: int, stamp: int | None = None) -> None:
        """Call `on_timer(key)` in `delay_us` microseconds; a running timer of that key is superseded."""
        if self.mailbox.is_set():
            return
        if self._timers is None:
            self._timers = {}
        self.cancel_timer(key)
        self._timers[key] = self.dispatcher.start_timer(delay_us, self.mailbox, key, stamp)
        if self.dispatcher.observer is not None:
            self.observe(("timer", key, "started for", f"{delay_us / 1e6:g} s"))

    def cancel_timer(self, key: str) -> None:
        """End a timer; if it has fired and its message waits in the mailbox, that will be ignored."""
        entry = self._timers.pop(key, None) if self._timers else None
        if entry is not None:
            self.dispatcher.cancel_timer(entry)
            self.observe(("timer", key, "cancelled"))

    def on_timer(self, key: str) -> None:
        """What a timer does."""

    def observe(self, what: object) -> None:
        """Tell whoever watches of a state change."""
        if self.dispatcher.observer is not None:
            self.dispatcher.observer("state", self.name, what)

    def _on_timer_fired(self, fired: TimerFired, _envelope: Envelope[Any]) -> None:
        entry = self._timers.get(fired.key) if self._timers else None
        if entry is None or entry.generation != fired.generation:
            return
        del self._timers[fired.key]  # type: ignore[union-attr]
        self.on_timer(fired.key)

    def _on_start_message(self, _start: _Start, _envelope: Envelope[Any]) -> None:
        self.on_start()

    def on_receive(self, message: Any) -> Any:
        """A message that no handler knows is a fault of its sender."""
        raise TypeError(f"{self.name} has no handler for {type(message).__name__}")

    def _stop(self) -> None:
        if self.mailbox.is_set():
            return
        self.dispatcher.retire(self.mailbox)
        failure: ActorFailed | None = None
        try:
            self.on_stop()
        except Exception as error:
            failure = self._failure(error)
        if failure is not None:
            self.dispatcher.handler_failed(failure)

    def retired(self) -> None:
        """The mailbox has closed: end the timers, leave the registry. Runs in whichever thread retires the actor."""
        for key in tuple(self._timers or ()):
            self.cancel_timer(key)
        if self._ref is not None and self.in_registry:
            pykka.ActorRegistry.unregister(self._ref)

    def _fail(self, envelope: Envelope[Any], failure: ActorFailed, told: BaseException | None) -> None:
        second: ActorFailed | None = None
        try:
            self.on_failure(ActorFailed, failure, None)
        except Exception as error:
            second = self._failure(error)
        self.dispatcher.handler_failed(failure)
        if second is not None:
            self.dispatcher.handler_failed(second)
        refuse(envelope, told or failure)
        if second is not None:
            self._stop()

    def _caught(self, error: BaseException) -> tuple[ActorFailed, BaseException]:
        """A fault of a handler: what is counted and logged, and what its asker is told."""
        failure = self._failure(error)
        interrupts.keep(error)
        return failure, _alone(error) if isinstance(error, DragomanError) else failure

    def _failure(self, error: BaseException) -> ActorFailed:
        return ActorFailed(self.name, type(error).__name__, *place_of(error))

    def _handle_failure(
        self,
        exception_type: type[BaseException] | None,
        exception_value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        # pykka would log the traceback here, which shows texts.
        report(
            "ERROR",
            "{actor} failed with {error_type}",
            actor=self.name,
            error_type=getattr(exception_type, "__name__", "?"),
        )


def _alone(error: DragomanError) -> DragomanError:
    """A typed error without what led to it, which may show texts."""
    error.__cause__ = error.__context__ = error.__traceback__ = None
    return error


class _Start:
    __slots__ = ()


_START = _Start()
Actor.handlers[TimerFired] = Actor._on_timer_fired
Actor.handlers[_Start] = Actor._on_start_message
STOP_ENVELOPE: Final[Envelope[Any]] = Envelope(STOP)
