"""What stands in for the actors of a runtime where they run in shards.

The face of a runtime sends each of its messages to a mailbox of the crew, through the dispatcher. Here most of these
mailboxes are doors: addresses that nobody runs, whose messages the dispatcher gives to the router. So every argument is
looked at by the same code, in the caller, before anything is sent. The governor alone is a real actor here, one for all
shards, and so is the feature history, in which nothing is kept.
"""

from __future__ import annotations

from typing import Any

from ..actors.actor import DEFERRED, Actor, handles
from ..actors.feature_history import FeatureHistory
from ..actors.futures import Future
from ..actors.governor import RetentionGovernor
from ..actors.io_loop import IoLoop
from ..actors.mailbox import Envelope, Mailbox
from ..actors.threads import ThreadDispatcher
from ..protocol.governance_messages import ApplyRetention, RetentionApplied
from ..protocol.settings import Settings
from .routing import Router

__all__ = ["Doors", "ShardDispatcher"]

_OF_THE_SHARDS = ("coordinator", "sessions", "service", "gateway", "store", "statistics")


class ShardDispatcher(ThreadDispatcher):
    """Runs the actors that live here, and sends what is for those of the shards."""

    def __init__(self) -> None:
        super().__init__()
        self.doors: dict[Mailbox, str] = {}
        self.router: Router | None = None

    def post(self, mailbox: Mailbox, envelope: Envelope[Any]) -> None:
        door = self.doors.get(mailbox)
        if door is None or self.router is None:
            super().post(mailbox, envelope)
        else:
            reply_to: Any = envelope.reply_to
            self.router.post(door, envelope.message, reply_to)

    def ask_at_once(self, mailbox: Mailbox, question: object) -> Future[Any] | None:
        """The future of the answer to an ACK: nothing is at once here, and the question is all that has to be sent."""
        router = self.router
        if router is None or self.doors.get(mailbox) != "coordinator" or not isinstance(question, tuple):
            return None
        future: Future[Any] = Future(self)
        router.settle_parent(question, future)
        return future


class Doors:
    """The crew of a sharded runtime: doors, and what lives here; with the names that a `Crew` has."""

    def __init__(self, dispatcher: ShardDispatcher, settings: Settings) -> None:
        self.loop = IoLoop()
        for name in _OF_THE_SHARDS:
            mailbox = Mailbox()
            dispatcher.doors[mailbox] = name
            setattr(self, name, mailbox)
        stores = _mailbox(_Stores.start(dispatcher))
        self.governor = _mailbox(RetentionGovernor.start(dispatcher, settings, stores))
        self.feature_history = _mailbox(FeatureHistory.start(dispatcher, None))
        self.in_order_of_stopping = (self.governor, stores, self.feature_history)


class _Stores(Actor):
    """The content stores of all shards, as the governor asks them."""

    def __init__(self, dispatcher: ShardDispatcher) -> None:
        super().__init__(dispatcher)
        self._shards = dispatcher

    @handles(ApplyRetention)
    def _apply(self, message: ApplyRetention, envelope: Envelope[Any]) -> Any:
        if self._shards.router is None:
            return RetentionApplied()
        reply_to: Any = envelope.reply_to
        self._shards.router.post("store", message, reply_to)
        return DEFERRED


def _mailbox(started: Any) -> Mailbox:
    """The mailbox behind a reference of pykka."""
    mailbox: Mailbox = started.actor_inbox.mailbox
    return mailbox
