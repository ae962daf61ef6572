"""How what was asked gets its answer: a future, or the mailbox of an actor that asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from pykka._envelope import Envelope

if TYPE_CHECKING:
    from .mailbox import Mailbox

__all__ = ["Asked", "CallFailed", "ReplyTo", "answer", "refuse"]


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
