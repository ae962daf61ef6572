"""The mailbox: FIFO, one message at a time, handled to the end.

Rules. `put` and `close` share one lock: an envelope either is in the queue before the mailbox closes, or is answered
with `ActorStopped` and counted as a dead letter; none is lost between the two. An enqueue is complete before `put`
returns, so that order holds pairwise and causally: what was put before something else was even sent is handled before
it, if both go to one mailbox. At most one thread runs a mailbox at a time.

A mailbox is also the address of its actor: pykka's `ActorRef` wraps it, and the actors hold it directly.

The right to run is one slot of the mailbox that whoever takes it deletes: a single step under the interpreter lock, at
a tenth of what a lock costs. It is not there before an actor is bound, and from the moment in which a message has to
wait until the last one was handled. Whoever gives it back looks for messages once more; whoever puts one in takes it if
it is there: so no message is left behind between the two.

The actors that ACKs pass through are *prompt*: as long as nothing runs or waits in its mailbox, a message to one is
handled by the thread that sends it, before the send returns. To the actors that looks like another thread that was
quick: the sender's own mailbox stays taken meanwhile, what comes back to it waits there. Such a chain is as deep as the
actors that are prompt, since each mailbox is in it once.

Not promised: any order between messages of senders that know nothing of each other; that a send returns while a prompt
actor is stuck in a handler (none may block); that what comes while a question is answered at once at the very end of a
stack is handled before the next message comes; that an actor is whole after an exception that was raised into it from
outside, as a signal handler of the program may do (see `interrupts`); interpreters without an interpreter lock.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final, Literal

import pykka
from pykka import messages
from pykka._envelope import Envelope

from ..protocol.errors import ActorStopped
from .answering import CallFailed, ReplyTo, answer, refuse
from .running import DELIVERING, stack_is_deep

if TYPE_CHECKING:
    from .actor import Actor
    from .dispatcher import Dispatcher
    from .futures import Future

__all__ = [
    "LATER",
    "STOP",
    "ActorGone",
    "DeadReason",
    "Envelope",
    "FaultAtOnce",
    "Mailbox",
]

_BATCH = 64
STOP = messages._ActorStop()


class _Later:
    __slots__ = ()


LATER: Final = _Later()
"""Instead of an answer at once: the message has to take its way through the queue."""


class FaultAtOnce(Exception):
    """An actor that was asked at once has failed; `answer` is what its asker gets."""

    def __init__(self, answer: Future[Any]) -> None:
        super().__init__()
        self.answer = answer


DeadReason = Literal["stopped", "closed"]
"""Why a letter is dead: its actor stopped with it in the queue, or had stopped before it came."""


class ActorGone(ActorStopped, pykka.ActorDeadError):
    """`ActorStopped` as pykka's callers know it."""


class Mailbox:
    """The queue of one actor; see the module for its rules.

    Two lists, not a deque: senders append to one, the runner pops from the other. A mailbox in which nothing ever had
    to wait has neither; an empty deque would weigh more than all the rest of it.
    """

    __slots__ = (
        "_at_once",
        "_at_rest",
        "_closed",
        "_current",
        "_handled",
        "_incoming",
        "_lock",
        "_outgoing",
        "_prompt",
        "_queued",
        "actor",
        "dispatcher",
    )

    def __init__(self) -> None:
        # `_at_rest`, the right to run, is not there yet: until an actor is bound, nothing may be run.
        self._incoming: list[Envelope[Any]] | None = None
        self._outgoing: list[Envelope[Any]] | None = None
        self._lock = threading.Lock()
        self._closed = False
        self._prompt = False
        self._current: Envelope[Any] | None = None
        self._queued = 0
        self._at_once = 0
        self.actor: Actor | None = None
        self.dispatcher: Dispatcher | None = None
        self._handled = 0

    def __repr__(self) -> str:
        return f"<Mailbox of {self.actor.name if self.actor is not None else 'nobody'}>"

    @property
    def accepted(self) -> int:
        """The messages that it took; exact while nothing runs."""
        return self._queued + self._at_once

    @property
    def handled(self) -> int:
        """The messages that were delivered to the actor."""
        return self._handled + self._at_once

    def bind(self, actor: Actor, dispatcher: Dispatcher, first: Envelope[Any] | None = None) -> None:
        """Begin to deliver to `actor`: `first`, then what has come already."""
        with self._lock:
            self.actor = actor
            self.dispatcher = dispatcher
            self._prompt = actor.prompt and dispatcher.delivers_at_once
            if first is not None:
                self._incoming = [first, *(self._incoming or ())]
                self._queued += 1
            has_messages = bool(self._incoming)
            if not has_messages:
                self._at_rest = None
        if has_messages:
            dispatcher.ready(self)

    def put(self, envelope: Envelope[Any], /) -> None:
        """Enqueue, or deliver at once where that is as good; a closed mailbox answers with `ActorStopped` instead."""
        if self._prompt:
            try:
                del self._at_rest
            except AttributeError:
                pass
            else:
                try:
                    if not self._incoming and not self._closed:
                        self._deliver(envelope)
                        return
                finally:
                    # Without a call: also where the stack is exhausted, the right to run comes back.
                    self._at_rest = None
                    if self._incoming:
                        self._resume(leave=False)
        if self._enqueue(envelope):
            if self._prompt:
                self.run_batch()
            else:
                self.dispatcher.ready(self)  # type: ignore[union-attr]  # bound, or it would not be at rest

    def leave(self, envelope: Envelope[Any]) -> None:
        """`put`, for a sender that must not get stuck in a handler: another thread delivers it."""
        if self._enqueue(envelope):
            self.dispatcher.ready(self)  # type: ignore[union-attr]

    def ask_at_once(self, question: object) -> Any:
        """The answer of an actor that rests and can give it at once; `LATER`, and nothing was done, if it cannot."""
        try:
            del self._at_rest
        except AttributeError:
            return LATER
        try:
            actor: Any = self.actor
            if self._incoming or self._closed:
                return LATER
            answer = actor.answer_at_once(question)
            if answer is not LATER:
                self._at_once += 1
            return answer
        except FaultAtOnce:
            self._at_once += 1
            raise
        except (RecursionError, MemoryError):
            return LATER  # the answer changes something at its very end only, and without a call
        except BaseException as error:
            self._at_once += 1
            raise FaultAtOnce(actor.fail_at_once(question, error)) from None
        finally:
            self._at_rest = None
            if self._incoming:
                try:  # noqa: SIM105 (a context manager takes calls, for which there may be no room)
                    self._resume(leave=stack_is_deep())
                except RecursionError:
                    pass  # it rests with a message in it, which is handled with the next one; the answer counts

    def _enqueue(self, envelope: Envelope[Any]) -> bool:
        """Let an envelope wait its turn; whether the right to run is ours since nobody had it."""
        with self._lock:
            closed = self._closed
            if not closed:
                if self._incoming is None:
                    self._incoming = [envelope]
                else:
                    self._incoming.append(envelope)
                self._queued += 1
                try:
                    del self._at_rest
                except AttributeError:
                    return False  # whoever has it finds this before giving it back
        if closed:
            self._refuse(envelope, "closed")
        return not closed

    def _deliver(self, envelope: Envelope[Any]) -> None:
        """Handle a message in the thread that sends it: nothing is before it, and the right to run is ours."""
        self._at_once += 1
        self._current = envelope
        actor = self.actor
        if actor is None:
            _answer_stopped(envelope)  # closed by another thread in this moment
        else:
            actor.receive(envelope)
        self._current = None

    def _resume(self, *, leave: bool) -> None:
        """Run, or leave to a worker, what came as the right to run was given back: its sender found it taken."""
        try:
            del self._at_rest
        except AttributeError:
            return
        if leave:
            self.dispatcher.ready(self)  # type: ignore[union-attr]
        else:
            self.run_batch()

    def run_batch(self, until: Future[Any] | None = None) -> None:
        """Deliver a batch, or until `until` is done, for whoever has the right to run; what is left is ready again."""
        more = True
        try:
            more = self.run(_BATCH, until)
        finally:
            if more:
                self.dispatcher.ready(self)  # type: ignore[union-attr]

    def tell(self, message: object) -> None:
        """Enqueue a message that needs no answer."""
        self.put(Envelope(message))

    def ask(self, message: object, reply_to: ReplyTo) -> None:
        """Enqueue a message whose answer goes to `reply_to`."""
        self.put(Envelope(message, reply_to))  # type: ignore[arg-type]  # pykka names only its futures

    def settle(self, value: Any, error: BaseException | None) -> bool:
        """Take an answer that the actor of this mailbox asked another for: it arrives as a message."""
        self.put(Envelope(value if error is None else CallFailed(error)))
        return True

    def __len__(self) -> int:
        return len(self._incoming or ()) + len(self._outgoing or ())

    def __bool__(self) -> bool:
        return True

    def waiting(self) -> Iterator[Envelope[Any]]:
        """What is in the queue, next first, for a dispatcher that looks before it delivers."""
        yield from reversed(self._outgoing or ())
        yield from self._incoming or ()

    def is_set(self) -> bool:
        """Whether the actor has stopped: the name of pykka's `actor_stopped`."""
        return self._closed

    def run(self, limit: int, until: Future[Any] | None) -> bool:
        """Deliver up to `limit` messages, or until `until` is done; whether messages are left (and it stays scheduled).

        Only the dispatcher calls this, for a mailbox that it was told is ready, from one thread at a time.
        """
        actor = self.actor
        outgoing = self._outgoing
        while True:
            if not outgoing:
                with self._lock:
                    if not self._incoming:
                        self._at_rest = None
                        return False
                    outgoing = self._turn(self._incoming)
            try:
                envelope = outgoing.pop()
            except IndexError:  # closed by another thread in this moment
                continue
            self._handled += 1
            limit -= 1
            self._current = envelope
            if actor is None or self._closed:
                # Abandoned between the two lines before: whoever did it could not see this one.
                _answer_stopped(envelope)
            else:
                actor.receive(envelope)
            self._current = None
            if (limit <= 0 or (until is not None and until.done)) and (outgoing or self._incoming):
                return True

    def close(self, *, abandon: bool = False) -> int | None:
        """Take no more; what is queued is answered with `ActorStopped` and counted as dead.

        With `abandon`, what is being handled is answered so too: its handler may never end. How many were queued; None
        if the mailbox is closed already.
        """
        with self._lock:
            if self._closed:
                return None
            self._closed = True
            left, self._incoming = self._incoming or [], None
        refused = len(left)
        while self._outgoing:
            # The runner may be in the middle of this list; each envelope is popped by exactly one of the two.
            try:
                envelope = self._outgoing.pop()
            except IndexError:
                break
            refused += 1
            self._refuse(envelope, "stopped")
        for envelope in left:
            self._refuse(envelope, "stopped")
        actor, self.actor = self.actor, None
        current = self._current
        if abandon and current is not None:
            _answer_stopped(current)
        if actor is not None:
            for envelope in tuple(actor.owed()):
                _answer_stopped(envelope)
            actor.retired()
        return refused

    def _turn(self, incoming: list[Envelope[Any]]) -> list[Envelope[Any]]:
        """Make what has come in the next to go out; the last of that list is the oldest."""
        incoming.reverse()
        self._incoming, self._outgoing = self._outgoing, incoming
        return incoming

    def _refuse(self, envelope: Envelope[Any], reason: DeadReason) -> None:
        if self.dispatcher is not None:
            self.dispatcher.dead_letter(envelope.message, reason)
        _answer_stopped(envelope)


DELIVERING.add(Mailbox._deliver.__code__)
DELIVERING.add(Mailbox.run_batch.__code__)
DELIVERING.add(Mailbox.ask_at_once.__code__)


def _answer_stopped(envelope: Envelope[Any]) -> None:
    if isinstance(envelope.message, messages._ActorStop):
        answer(envelope, None)
    else:
        refuse(envelope, ActorGone("the actor"))
