"""The mailbox as pykka sees it."""

from __future__ import annotations

from typing import Any

from .mailbox import Envelope, Mailbox

__all__ = ["Inbox"]


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
