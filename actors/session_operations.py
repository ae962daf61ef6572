"""The operations on whole sessions: reading, claiming, recording, looking up, clearing, expiry (C3, C16, P).

Rules. Looking into a session waits for what is before it in the lane and holds nothing itself: it is put into the
session manager's mailbox before anything later is sent. Clearing and expiry hold the lane until the last handle has
closed, in order, and the session is dropped. Whether a call takes part is decided when it comes, not when it passes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..protocol.content_messages import FetchContent, FollowUp, ReadCalls, RecordCall, Refer, RenderRefs
from ..protocol.handoff import Handoff
from ..protocol.messages import (
    AskSession,
    CheckIdle,
    ClaimTurn,
    ClearSession,
    Close,
    Configure,
    DropIfIdle,
    FailCommits,
    OpenSession,
    ReadHistory,
    SessionChecked,
    SessionIdle,
)
from ..protocol.participation import ProviderPolicy, participates
from ..protocol.replies import ConfigureReply
from ..protocol.settings import Settings
from ..protocol.statuses import CloseCause, ConfigureStatus
from .actor import DEFERRED, Actor, handles
from .answering import Asked
from .dispatcher import Dispatcher
from .lanes import Lane, LaneFree, Lanes
from .mailbox import Envelope, Mailbox

__all__ = ["EXPIRY", "SessionOperations"]

EXPIRY = "expiry"
_EMPTYING = "emptying"


class SessionOperations(Actor):
    """The part of the coordinator that deals with whole sessions."""

    def __init__(
        self, dispatcher: Dispatcher, settings: Settings, providers: Mapping[str, ProviderPolicy], sessions: Mailbox
    ) -> None:
        super().__init__(dispatcher)
        self._providers = providers
        self._sessions = sessions
        self._history_enabled = settings.history_enabled
        self._eligible_modes = settings.eligible_modes
        self._lanes = Lanes(self)

    @handles(ReadHistory, ClaimTurn)
    def _to_session_if_taking_part(self, message: AskSession, envelope: Envelope[Any]) -> Any:
        if not self._lanes.resumes(envelope) and not self._takes_part(message):
            return 1 if isinstance(message, ClaimTurn) else ()
        return self._to_session(message, envelope)

    @handles(FailCommits, RecordCall, Refer, FetchContent, FollowUp, ReadCalls, RenderRefs)
    def _to_session(self, message: Any, envelope: Envelope[Any]) -> Any:
        lane = self._lanes.get(message.session_id)
        if lane is not None and not lane.open:
            return self._lanes.wait(lane, envelope)
        self._sessions.put(envelope)
        return DEFERRED

    @handles(ClearSession)
    def _clear(self, message: ClearSession, envelope: Envelope[Any]) -> Any:
        lane = self._lanes.get(message.session_id)
        if lane is None:
            self._sessions.put(envelope)
        elif not lane.open:
            self._lanes.wait(lane, envelope)
        else:
            self.empty(lane, CloseCause.CLEARED, envelope)
        return DEFERRED

    @handles(SessionIdle)
    def _session_idle(self, message: SessionIdle, envelope: Envelope[Any]) -> Any:
        lane = self._lanes.get(message.session_id)
        if lane is None:
            self._sessions.tell(DropIfIdle(message.session_id))
        elif not lane.open:
            self._lanes.wait(lane, envelope)
        else:
            lane.hold(EXPIRY)
            self._ask_sessions(CheckIdle(message.session_id))
        return DEFERRED

    @handles(SessionChecked)
    def _session_checked(self, message: SessionChecked, _envelope: Envelope[Any]) -> None:
        lane = self._lanes.of(message.session_id)
        lane.release(EXPIRY)
        if message.idle:
            self.empty(lane, CloseCause.SESSION_EXPIRED, Envelope(DropIfIdle(message.session_id)))
        else:
            self._lanes.go_on(lane)

    def empty(self, lane: Lane, cause: CloseCause, then: Envelope[Any]) -> None:
        """Close every handle of the lane, in order, and send `then` to the session manager when the last has closed."""
        lane.hold(_EMPTYING)
        lane.emptying = cause, then
        self.empty_next(lane)

    def empty_next(self, lane: Lane) -> None:
        if lane.emptying is None:
            return
        cause, then = lane.emptying
        following = lane.first()
        if following is not None:
            following.mailbox.tell(Close(following.request_id, cause))
            return
        lane.emptying = None
        self._sessions.put(then)
        lane.release(_EMPTYING)
        self._lanes.go_on(lane)

    @handles(LaneFree)
    def _lane_free(self, message: LaneFree, _envelope: Envelope[Any]) -> None:
        self._lanes.freed(message.session_id)

    @handles(Configure)
    def _configure(self, message: Configure, _envelope: Envelope[Any]) -> ConfigureReply:
        self._history_enabled = message.history_enabled
        return ConfigureReply(ConfigureStatus.CONFIGURED)

    def _ask_sessions(self, question: OpenSession | CheckIdle) -> None:
        self._sessions.ask(question, Asked(self.mailbox, question))

    def _takes_part(self, call: Handoff | AskSession) -> bool:
        return participates(
            provider=call.provider,
            providers=self._providers,
            history_enabled=self._history_enabled,
            mode=call.mode,
            eligible_modes=self._eligible_modes,
            purpose=call.purpose,
            session_id=call.session_id,
        )
