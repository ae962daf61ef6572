"""The mailbox: FIFO, one message at a time, handled to the end.

Rules. `put` and `close` share one lock: an envelope either is in the queue before the mailbox closes, or is answered
with `ActorStopped` and counted as a dead letter; none is lost between the two. An enqueue is complete before `put`
returns, so that order holds pairwise and causally: what was put before something else was even sent is handled before
it, if both go to one mailbox. At most one thread runs a mailbox at a time.

A mailbox is also the address of its actor: pykka's `ActorRef` wraps it, and the actors hold it directly.

Not promised: any order between messages of senders that know nothing of each other.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, Literal, Protocol

import pykka
from pykka import messages
from pykka._envelope import Envelope

from ..protocol.errors import ActorStopped

if TYPE_CHECKING:
    from .actor import Actor
    from .dispatcher import Dispatcher
    from .futures import Future

__all__ = [
    "STOP",
    "ActorGone",
    "Asked",
    "CallFailed",
    "DeadReason",
    "Envelope",
    "Inbox",
    "Mailbox",
    "ReplyTo",
    "answer",
    "refuse",
]

STOP = messages._ActorStop()

DeadReason = Literal["stopped", "closed"]
"""Why a letter is dead: its actor stopped with it in the queue, or had stopped before it came."""


class ActorGone(ActorStopped, pykka.ActorDeadError):
    """`ActorStopped` as pykka's callers know it."""


class ReplyTo(Protocol):
    """Where an answer goes: a future, or the mailbox of an actor that asked."""

    def settle(self, value: Any, error: BaseException | None) -> bool: ...


class CallFailed:
    """In the place of an answer to an actor: the one that it asked could not give one."""

    __slots__ = ("error", "question")

    def __init__(self, error: BaseException, question: object = None) -> None:
        self.error = error
        self.question = question


class Asked:
    """Where an actor that asks several things at once wants an answer: in its mailbox, a failure with its question."""

    __slots__ = ("_mailbox", "_question")

    def __init__(self, mailbox: Mailbox, question: object) -> None:
        self._mailbox = mailbox
        self._question = question

    def settle(self, value: Any, error: BaseException | None) -> bool:
        self._mailbox.tell(value if error is None else CallFailed(error, self._question))
        return True


class Mailbox:
    """The queue of one actor; see the module for its rules.

    Two lists, not a deque: senders append to one, the runner pops from the other, and an idle mailbox weighs a tenth
    of what an empty deque would.
    """

    __slots__ = (
        "_closed",
        "_current",
        "_incoming",
        "_lock",
        "_outgoing",
        "_scheduled",
        "accepted",
        "actor",
        "dispatcher",
        "handled",
    )

    def __init__(self) -> None:
        self._incoming: list[Envelope[Any]] = []
        self._outgoing: list[Envelope[Any]] = []
        self._lock = threading.Lock()
        self._closed = False
        self._current: Envelope[Any] | None = None
        self._scheduled = True  # until an actor is bound, nothing may be run
        self.actor: Actor | None = None
        self.dispatcher: Dispatcher | None = None
        self.accepted = 0
        self.handled = 0

    def __repr__(self) -> str:
        return f"<Mailbox of {self.actor.name if self.actor is not None else 'nobody'}>"

    def bind(self, actor: Actor, dispatcher: Dispatcher, first: Envelope[Any] | None = None) -> None:
        """Begin to deliver to `actor`: `first`, then what has come already."""
        with self._lock:
            self.actor = actor
            self.dispatcher = dispatcher
            if first is not None:
                self._incoming.insert(0, first)
                self.accepted += 1
            self._scheduled = has_messages = bool(self._incoming)
        if has_messages:
            dispatcher.ready(self)

    def put(self, envelope: Envelope[Any], /) -> None:
        """Enqueue; a closed mailbox answers with `ActorStopped` instead."""
        with self._lock:
            closed = self._closed
            if not closed:
                self._incoming.append(envelope)
                self.accepted += 1
                if self._scheduled:
                    return
                self._scheduled = True
        if closed:
            self._refuse(envelope, "closed")
        else:
            self.dispatcher.ready(self)  # type: ignore[union-attr]  # bound, or it would be scheduled

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
        return len(self._incoming) + len(self._outgoing)

    def __bool__(self) -> bool:
        return True

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
                        self._scheduled = False
                        return False
                    outgoing = self._turn()
            try:
                envelope = outgoing.pop()
            except IndexError:  # closed by another thread in this moment
                continue
            self.handled += 1
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
            left = self._incoming
            self._incoming = []
        refused = len(left)
        while True:
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

    def _turn(self) -> list[Envelope[Any]]:
        """Make what has come in the next to go out; the last of that list is the oldest."""
        outgoing = self._incoming
        self._incoming, self._outgoing = self._outgoing, outgoing
        outgoing.reverse()
        return outgoing

    def _refuse(self, envelope: Envelope[Any], reason: DeadReason) -> None:
        if self.dispatcher is not None:
            self.dispatcher.dead_letter(envelope.message, reason)
        _answer_stopped(envelope)


def _answer_stopped(envelope: Envelope[Any]) -> None:
    if isinstance(envelope.message, messages._ActorStop):
        answer(envelope, None)
    else:
        refuse(envelope, ActorGone("the actor"))


def answer(envelope: Envelope[Any], reply: object) -> None:
    """Give an envelope that was kept its answer, if it wants one."""
    reply_to: Any = envelope.reply_to
    if reply_to is not None:
        reply_to.settle(reply, None)


def refuse(envelope: Envelope[Any], error: BaseException) -> None:
    """Give an envelope that was kept an error for its answer, if it wants one."""
    reply_to: Any = envelope.reply_to
    if reply_to is not None:
        reply_to.settle(None, error)


class Inbox:
    """The mailbox as pykka's `ActorRef` sees it: the door for whoever is no actor of this runtime."""

    __slots__ = ("mailbox",)

    def __init__(self) -> None:
        self.mailbox = Mailbox()

    def put(self, envelope: Envelope[Any], /) -> None:
        dispatcher = self.mailbox.dispatcher
        if dispatcher is None:
            self.mailbox.put(envelope)
            return
        reply_to: Any = envelope.reply_to
        if reply_to is not None:
            reply_to.dispatcher = dispatcher
        dispatcher.post(self.mailbox, envelope)

    def get(self) -> Envelope[Any]:
        raise NotImplementedError("the dispatcher runs the mailbox")

    def empty(self) -> bool:
        return not len(self.mailbox)
