"""Registrations: how a request comes to be, by `register`, `translate` or `direct` (C2, C3.3).

Rules. One owner of request ids for all three. A registration holds the lane of its session until the session manager
has said whether there is room; what comes for its request meanwhile waits behind it. Whether a request takes part is
decided when it comes. One that does not registers nothing, and is executed all the same if it is to be.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..protocol.errors import RuntimeClosed
from ..protocol.messages import OpenSession, Reads, RefuseTaken, Register, SessionOpened
from ..protocol.outcomes import StartReply
from ..protocol.participation import ProviderPolicy
from ..protocol.replies import RegisterReply
from ..protocol.settings import Settings, microseconds
from ..protocol.statuses import RegisterStatus, StartStatus
from .actor import DEFERRED, handles
from .answering import answer, refuse
from .dispatcher import Dispatcher
from .execution_operations import ExecutionOperations
from .handle import AcceptanceHandle
from .lanes import Lane, Route
from .mailbox import Envelope, Mailbox
from .outside import Begin, BeginApart, recording_of

__all__ = ["OPENING", "Registrations"]

OPENING = "opening"


class _Waiting:
    """A registration that waits, in the order of arrival among those of its id, with the lane in which it does now.

    Each has its own: those of one id may wait in different sessions, and a lane without waiters is forgotten.
    """

    __slots__ = ("envelope", "lane")

    def __init__(self, envelope: Envelope[Any], lane: Lane) -> None:
        self.envelope = envelope
        self.lane = lane


class Registrations(ExecutionOperations):
    """The part of the coordinator that lets requests in."""

    def __init__(
        self,
        dispatcher: Dispatcher,
        settings: Settings,
        providers: Mapping[str, ProviderPolicy],
        sessions: Mailbox,
        feature_history: Mailbox | None = None,
    ) -> None:
        super().__init__(dispatcher, settings, providers, sessions)
        self._max_open_handles = settings.max_open_handles
        self._in_session_order = settings.commit_order == "session"
        self._window_us = microseconds(settings.ack_window)
        self._prompt = settings.prompt_turns, settings.prompt_chars
        self._feature_history = feature_history
        self._waiting: dict[str, list[_Waiting]] = {}
        self._registered = 0

    @handles(Register, Begin)
    def _register(self, message: Register | Begin, envelope: Envelope[Any]) -> Any:
        if not self._lanes.resumes(envelope) and not self._takes_part(message.handoff):
            return self._apart(message, envelope)
        return self._in_turn(self._judge, message, envelope)

    def _in_turn(self, judge: Callable[[Any, Envelope[Any]], Any], message: Any, envelope: Envelope[Any]) -> Any:
        """What `judge` says of a registration: its answer, or the lane in which it has to wait (again)."""
        judged: Any = DEFERRED
        try:
            if self._closing:
                refuse(envelope, RuntimeClosed())
            else:
                judged = judge(message, envelope)
        finally:
            if not isinstance(judged, Lane):
                self._no_longer_waits(envelope)
        return self._wait_as_registration(judged, envelope) if isinstance(judged, Lane) else judged

    def _judge(self, message: Register | Begin, envelope: Envelope[Any]) -> Any:
        handoff = message.handoff
        request_id = handoff.request_id
        lane = self._lanes.get(handoff.session_id)
        if lane is not None and not lane.open:
            return lane
        before = self._registration_before(request_id, envelope)
        if before is not None:
            return before
        if self._taken(request_id):
            return self._refusal(message, RegisterStatus.DUPLICATE_REQUEST)
        needs_handle = isinstance(message, Register) or not message.plan.direct
        for needed, used, limit in (
            (needs_handle, len(self._routes), self._max_open_handles),
            (isinstance(message, Begin), len(self._executing), self._max_open_executions),
        ):
            if needed and used >= limit:
                return self._refusal(message, RegisterStatus.OVERLOADED)
            if needed and self._opening and used + len(self._opening) >= limit:
                # Whether there is room depends on a registration that the session manager has yet to judge.
                return next(iter(self._opening.values()))[1]
        lane = self._lanes.get_or_add(handoff.session_id)
        lane.hold(OPENING)
        self._opening[request_id] = envelope, lane
        reads = Reads(*self._prompt, message.plan.history_until) if isinstance(message, Begin) else None
        self._ask_sessions(OpenSession(handoff.session_id, request_id, needs_handle, reads))
        return DEFERRED

    @handles(RefuseTaken)
    def _refuse_taken(self, message: RefuseTaken, envelope: Envelope[Any]) -> Any:
        request_id = message.handoff.request_id
        before = self._registration_before(request_id)
        if before is not None:
            return self._lanes.wait(before, envelope)
        if not self._taken(request_id):
            return None
        if message.executes:
            return StartReply(StartStatus.DUPLICATE_REQUEST)
        if not self._takes_part(message.handoff):
            return RegisterReply(RegisterStatus.NOT_PARTICIPATING)
        return RegisterReply(RegisterStatus.DUPLICATE_REQUEST)

    def _refusal(self, message: Register | Begin, status: RegisterStatus) -> RegisterReply | StartReply:
        """The refusal of a registration, in the words of the call that it came with."""
        self._counters.refused[status] += 1
        return RegisterReply(status) if isinstance(message, Register) else StartReply(StartStatus(status.value))

    def _apart(self, message: Register | Begin, envelope: Envelope[Any]) -> Any:
        """A request that takes no part: it registers nothing, and may be executed all the same (C3)."""
        if isinstance(message, Register):
            return self._refusal(message, RegisterStatus.NOT_PARTICIPATING)
        apart = BeginApart(message)
        return self._begin_apart(apart, Envelope(apart, envelope.reply_to))

    def _wait_as_registration(self, lane: Lane, envelope: Envelope[Any]) -> Any:
        """Let a registration wait in `lane`; whatever comes for its request waits there behind it."""
        waiting = self._waiting.setdefault(envelope.message.handoff.request_id, [])
        entry = next((entry for entry in waiting if entry.envelope is envelope), None)
        if entry is None:
            waiting.append(_Waiting(envelope, lane))
        else:
            entry.lane = lane
        return self._lanes.wait(lane, envelope)

    def _no_longer_waits(self, envelope: Envelope[Any]) -> None:
        request_id = envelope.message.handoff.request_id
        left = [entry for entry in self._waiting.pop(request_id, ()) if entry.envelope is not envelope]
        if left:
            self._waiting[request_id] = left

    def _registration_before(self, request_id: str, envelope: Envelope[Any] | None = None) -> Lane | None:
        lanes: list[Lane] = []
        for entry in self._waiting.get(request_id, ()):
            if entry.envelope is envelope:
                break
            lanes.append(entry.lane)
        for lane in reversed(lanes):
            if not lane.resuming:
                return lane
        opening = self._opening.get(request_id)
        return None if opening is None else opening[1]

    @handles(SessionOpened)
    def _opened(self, message: SessionOpened, _envelope: Envelope[Any]) -> None:
        envelope, lane = self._opening[message.request_id]
        begun = envelope.message
        route = None
        if message.opened and not self._closing and (isinstance(begun, Register) or not begun.plan.direct):
            route = self._open(begun, lane)
        if message.opened and not self._closing and isinstance(begun, Begin):
            self._execute(begun, envelope, lane, message, route)
        # Not earlier: as long as it is listed, a fault refuses the registration and frees the lane; see `_fail`.
        del self._opening[message.request_id]
        if not message.opened:
            answer(envelope, self._refusal(begun, RegisterStatus.OVERLOADED))
        elif self._closing:
            refuse(envelope, RuntimeClosed())
            self._end_shut_down()
        elif isinstance(begun, Register):
            answer(envelope, RegisterReply(RegisterStatus.REGISTERED))
        lane.release(OPENING)
        self._lanes.go_on(lane)

    def _open(self, begun: Register | Begin, lane: Lane) -> Route:
        handoff = begun.handoff
        self._registered += 1
        handle = AcceptanceHandle(
            self.dispatcher,
            handoff,
            place=self._registered,
            coordinator=self.mailbox,
            sessions=self._sessions,
            window_us=self._window_us,
            may_commit=not (self._in_session_order and lane.routes),
            recording=recording_of(begun, self._feature_history) if isinstance(begun, Begin) else None,
            by_hand=isinstance(begun, Begin) and begun.outside.by_hand,
        )
        route = Route(handoff.request_id, handle.spawn(), lane, self._registered)
        self._routes[handoff.request_id] = route
        lane.add(route, exposed=self._in_session_order)
        self.observe(("handle", handoff.request_id, "REGISTERED"))
        self.dispatcher.note("handle", handoff.request_id, "REGISTERED", handoff.session_id)
        return route
