"""The actors of one runtime: started together, introduced to each other, stopped in order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .actors.content_store import ContentStore
from .actors.coordinator import AcceptanceCoordinator
from .actors.dispatcher import Dispatcher
from .actors.feature_history import FeatureHistory
from .actors.gateway import ProviderGateway
from .actors.governor import RetentionGovernor
from .actors.io_loop import IoLoop
from .actors.mailbox import Mailbox
from .actors.outside import ServedBy
from .actors.sessions import ReportTo, SessionManager
from .actors.statistics import Statistics
from .actors.translations import TranslationService
from .protocol.participation import ProviderPolicy
from .protocol.settings import Settings

__all__ = ["Crew"]


class Crew:
    """Their mailboxes, and the event loop of the providers. Whoever asks another is stopped before it."""

    def __init__(self, dispatcher: Dispatcher, settings: Settings, policies: Mapping[str, ProviderPolicy]) -> None:
        self.loop = IoLoop()
        self.store = _mailbox(ContentStore.start(dispatcher, settings))
        self.governor = _mailbox(RetentionGovernor.start(dispatcher, settings, self.store))
        self.sessions = _mailbox(SessionManager.start(dispatcher, settings, self.store))
        self.statistics = _mailbox(Statistics.start(dispatcher))
        self.feature_history = _mailbox(FeatureHistory.start(dispatcher, settings.feature_history, lazy=True))
        self.gateway = _mailbox(ProviderGateway.start(dispatcher, settings, self.statistics, self.loop))
        recording = None if settings.feature_history is None else self.feature_history
        self.coordinator = _mailbox(
            AcceptanceCoordinator.start(dispatcher, settings, policies, self.sessions, recording)
        )
        self.service = _mailbox(
            TranslationService.start(
                dispatcher,
                settings,
                policies,
                coordinator=self.coordinator,
                sessions=self.sessions,
                gateway=self.gateway,
                feature_history=recording,
            )
        )
        self.sessions.tell(ReportTo(self.coordinator))
        self.coordinator.tell(ServedBy(self.service))
        self.in_order_of_stopping = (
            self.coordinator,
            self.service,
            self.gateway,
            self.feature_history,
            self.governor,
            self.sessions,
            self.store,
            self.statistics,
        )


def _mailbox(started: Any) -> Mailbox:
    """The mailbox behind a reference of pykka."""
    mailbox: Mailbox = started.actor_inbox.mailbox
    return mailbox
