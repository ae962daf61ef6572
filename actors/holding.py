"""Operations that need another actor's answer before anything else may happen to their own state.

Rules. While such a question is open, whatever else comes waits in order, so that the operation looks like one step. The
answer, or the failure to give one, ends the hold; so does a fault while the answer is taken: nothing is held for ever,
and whoever asked gets the error.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Any, ClassVar

from ..protocol.errors import ActorFailed
from .actor import DEFERRED, Actor, handles
from .answering import CallFailed, answer, refuse
from .dispatcher import Dispatcher
from .mailbox import Envelope, Mailbox

__all__ = ["Holding"]


class Holding(Actor):
    """An actor that asks one question at a time; `answers` is the type of what it is answered with."""

    answers: ClassVar[type]

    def __init__(self, dispatcher: Dispatcher) -> None:
        super().__init__(dispatcher)
        self._held: tuple[Envelope[Any], Any] | None = None
        self._behind: deque[Envelope[Any]] = deque()

    def receive(self, envelope: Envelope[Any], again: bool = False) -> None:
        if self._held is not None and not isinstance(envelope.message, self.answers | CallFailed):
            self._behind.append(envelope)
            return
        super().receive(envelope, again)
        while self._behind and self._held is None:
            super().receive(self._behind.popleft())

    def _hold(self, envelope: Envelope[Any], context: Any, mailbox: Mailbox, question: object) -> Any:
        """Ask another actor for the sake of `envelope`; what a handler returns then."""
        self._held = envelope, context
        mailbox.ask(question, self.mailbox)
        return DEFERRED

    @property
    def _operation(self) -> tuple[Any, Any]:
        """The message of the operation that is held, and its context."""
        assert self._held is not None
        return self._held[0].message, self._held[1]

    def _end_hold(self, reply: object) -> None:
        """The operation is done: answer it."""
        assert self._held is not None
        (envelope, _context), self._held = self._held, None
        answer(envelope, reply)

    @handles(CallFailed)
    def _not_answered(self, failed: CallFailed, _envelope: Envelope[Any]) -> None:
        self._give_up(failed.error)

    def _fail(self, envelope: Envelope[Any], failure: ActorFailed, told: BaseException | None) -> None:
        super()._fail(envelope, failure, told)
        if isinstance(envelope.message, self.answers):
            self._give_up(failure)

    def _give_up(self, error: BaseException) -> None:
        if self._held is not None:
            (envelope, _context), self._held = self._held, None
            refuse(envelope, error)

    def owed(self) -> Iterator[Envelope[Any]]:
        if self._held is not None:
            yield self._held[0]
        yield from self._behind
