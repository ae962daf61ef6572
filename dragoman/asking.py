"""How the public face asks its actors: the part that all of its methods share."""

from __future__ import annotations

import abc
import itertools
from typing import Any, TypeVar

from .actors.dispatcher import Dispatcher
from .actors.futures import Future
from .actors.mailbox import Envelope, Mailbox
from .crew import Crew
from .protocol.errors import RuntimeClosed
from .protocol.execution_messages import AnswerCall
from .protocol.messages import Inspect
from .protocol.settings import Settings

__all__ = ["AskingFace"]

T = TypeVar("T")


class AskingFace(abc.ABC):
    """A runtime that can be asked. Where a journal is kept, each call and its answer are entered."""

    settings: Settings
    _dispatcher: Dispatcher
    _crew: Crew
    _coordinator: Mailbox

    def __init__(self) -> None:
        self._closed = False
        self._calls = itertools.count(1)

    def _check_open(self) -> None:
        if self._closed:
            raise RuntimeClosed

    def _ask(self, message: object, mailbox: Mailbox | None = None) -> Future[Any]:
        """Ask the coordinator, through which whatever names a request or a session goes, or another actor."""
        if self._closed:
            raise RuntimeClosed
        if self._dispatcher.journal is not None:
            return self._send(mailbox or self._coordinator, message)
        return self._dispatcher.ask(mailbox or self._coordinator, message)

    def _send(self, mailbox: Mailbox, message: object, future: Future[Any] | None = None) -> Future[Any]:
        future = Future(self._dispatcher) if future is None else future
        if self._dispatcher.journal is not None and type(message) is not Inspect:
            self._enter(message, future)
        self._dispatcher.post(mailbox, Envelope(message, future))
        return future

    def _answered(self, reply: T, question: object = None, future: Future[T] | None = None) -> Future[T]:
        """Answer without asking an actor; `question` is what the journal is told of it."""
        self._check_open()
        future = Future(self._dispatcher) if future is None else future
        if question is not None and self._dispatcher.journal is not None:
            self._enter(question, future)
            self._dispatcher.note("took", future.number)
        future.set(reply)
        return future

    def _enter(self, message: object, future: Future[Any]) -> None:
        number = next(self._calls)
        note = self._dispatcher.note
        if type(message) is not AnswerCall:
            # The answer to a physical call takes effect where its operation notes it.
            future.number = number
        note("call", number, message)
        # Without the runtime: what it still has to answer must not keep one that is forgotten.
        future.add_done_callback(lambda answered: note("reply", number, answered.settled_with()))
