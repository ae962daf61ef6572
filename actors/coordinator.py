"""The acceptance coordinator: routing, order between requests, admission, the ledger (C2, C15, C18).

Rules. Every operation that names a request or a session enters here, and those of one session pass one after another
along its lane. An operation on a handle holds the lane until its answer is given; the next one on the same handle need
not wait, for the handle itself handles one at a time. Looking into the session needs no hold: it is put into the
session manager's mailbox before anything later is sent. Registration, clearing, expiry and passing over hold the
lane until they are done, and so does whatever the closing of a request releases behind it.

With `commit_order="session"` only the first open handle of a lane may commit; when it closes, the next one is told.

A lane exists while its session has open handles, or while one of the operations above is on its way; so the lanes are
bounded by the open handles. What waits in them is bounded by what the callers have in flight.

Not promised: which of two requests that close at the same time in different sessions the full ledger forgets first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..protocol.errors import RuntimeClosed
from ..protocol.handoff import Handoff
from ..protocol.messages import (
    Acknowledge,
    Activate,
    AskSession,
    CheckIdle,
    ClaimTurn,
    ClearSession,
    Close,
    Configure,
    DropIfIdle,
    FailCommits,
    HandleClosed,
    Inspect,
    MayCommit,
    OpenSession,
    PassedOver,
    PassOver,
    ReadHistory,
    ReadStatus,
    Register,
    Reject,
    SessionChecked,
    SessionIdle,
    SessionOpened,
    ShutDown,
    TurnTaken,
    Unpin,
    WaitedTooLong,
)
from ..protocol.participation import ProviderPolicy, participates
from ..protocol.replies import (
    NO_REQUEST,
    AckReply,
    ActivateReply,
    CloseReply,
    ConfigureReply,
    RegisterReply,
)
from ..protocol.settings import Settings, microseconds
from ..protocol.statuses import (
    AckStatus,
    ActivateStatus,
    CloseCause,
    CloseStatus,
    ConfigureStatus,
    RegisterStatus,
)
from .actor import DEFERRED, STOP_ENVELOPE, Actor, handles
from .dispatcher import Dispatcher
from .handle import AcceptanceHandle
from .lanes import Lane, LaneFree, Lanes, Route, hold_of
from .ledger import Ledger
from .mailbox import Asked, CallFailed, Envelope, Mailbox, answer, refuse

__all__ = ["AcceptanceCoordinator"]

_OPENING = "opening"
_EXPIRY = "expiry"
_EMPTYING = "emptying"
_PASSING = "passing over"

_UNKNOWN = {
    Acknowledge: AckReply(AckStatus.STALE),
    Reject: AckReply(AckStatus.STALE),
    Activate: ActivateReply(ActivateStatus.UNKNOWN_REQUEST),
    Close: CloseReply(CloseStatus.UNKNOWN_REQUEST),
}
"""What a request without an open handle answers."""


class AcceptanceCoordinator(Actor):
    """Owns which request is open where, and lets the operations of a session pass one after another."""

    def __init__(
        self,
        dispatcher: Dispatcher,
        settings: Settings,
        providers: Mapping[str, ProviderPolicy],
        sessions: Mailbox,
    ) -> None:
        super().__init__(dispatcher)
        self._providers = providers
        self._sessions = sessions
        self._history_enabled = settings.history_enabled
        self._eligible_modes = settings.eligible_modes
        self._max_open_handles = settings.max_open_handles
        self._in_session_order = settings.commit_order == "session"
        self._window_us = microseconds(settings.ack_window)
        self._ledger = Ledger(settings.ledger_entries, microseconds(settings.session_ttl), dispatcher.now_us)
        self._lanes = Lanes(self)
        self._routes: dict[str, Route] = {}
        self._opening: dict[str, tuple[Envelope[Any], Lane]] = {}
        self._registered = 0
        self._closing = False
        self._shut_down: tuple[Envelope[Any], int] | None = None

    @handles(Register)
    def _register(self, message: Register, envelope: Envelope[Any]) -> Any:
        handoff = message.handoff
        if self._closing:
            refuse(envelope, RuntimeClosed())
            return DEFERRED
        if not self._takes_part(handoff):
            return RegisterReply(RegisterStatus.NOT_PARTICIPATING)
        lane = self._lanes.get(handoff.session_id)
        if lane is not None and not lane.open:
            return self._lanes.wait(lane, envelope)
        request_id = handoff.request_id
        if request_id in self._opening:
            return self._lanes.wait(self._opening[request_id][1], envelope)
        if request_id in self._routes or request_id in self._ledger:
            return RegisterReply(RegisterStatus.DUPLICATE_REQUEST)
        if len(self._routes) >= self._max_open_handles:
            return RegisterReply(RegisterStatus.OVERLOADED)
        if len(self._routes) + len(self._opening) >= self._max_open_handles:
            # Whether there is room depends on a registration that the session manager has yet to judge.
            return self._lanes.wait(next(iter(self._opening.values()))[1], envelope)
        if lane is None:
            lane = self._lanes.add(handoff.session_id)
        lane.hold(_OPENING)
        self._opening[request_id] = envelope, lane
        self._ask_sessions(OpenSession(handoff.session_id, request_id))
        return DEFERRED

    @handles(SessionOpened)
    def _opened(self, message: SessionOpened, _envelope: Envelope[Any]) -> None:
        envelope, lane = self._opening.pop(message.request_id)
        lane.release(_OPENING)
        if not message.opened:
            answer(envelope, RegisterReply(RegisterStatus.OVERLOADED))
        elif self._closing:
            refuse(envelope, RuntimeClosed())
            self._end_shut_down()
        else:
            try:
                self._open(envelope.message.handoff, lane)
            except Exception as error:
                self._sessions.tell(Unpin(message.session_id))
                refuse(envelope, self._failure(error))
                self._lanes.go_on(lane)
                raise
            answer(envelope, RegisterReply(RegisterStatus.REGISTERED))
        self._lanes.go_on(lane)

    def _open(self, handoff: Handoff, lane: Lane) -> None:
        handle = AcceptanceHandle(
            self.dispatcher,
            handoff,
            coordinator=self.mailbox,
            sessions=self._sessions,
            window_us=self._window_us,
            may_commit=not (self._in_session_order and lane.routes),
        )
        self._registered += 1
        route = Route(handoff.request_id, handle.spawn(), lane, self._registered)
        self._routes[handoff.request_id] = route
        lane.add(route, exposed=self._in_session_order)
        self.observe(("handle", handoff.request_id, "REGISTERED"))

    @handles(Acknowledge, Reject, Activate, Close)
    def _to_handle(self, message: Any, envelope: Envelope[Any]) -> Any:
        request_id = message.request_id
        route = self._routes.get(request_id)
        if route is None:
            opening = self._opening.get(request_id)
            return _UNKNOWN[type(message)] if opening is None else self._lanes.wait(opening[1], envelope)
        lane = route.lane
        if not lane.lets_pass(route):
            return self._lanes.wait(lane, envelope)
        lane.enter(route, envelope.reply_to)  # type: ignore[arg-type]
        route.mailbox.put(envelope)
        return DEFERRED

    @handles(ReadStatus)
    def _read_status(self, message: ReadStatus, envelope: Envelope[Any]) -> Any:
        route = self._routes.get(message.request_id)
        if route is None and message.request_id not in self._opening:
            return self._ledger.status(message.request_id) or NO_REQUEST
        return self._to_handle(message, envelope)

    @handles(ReadHistory, ClaimTurn)
    def _to_session_if_taking_part(self, message: AskSession, envelope: Envelope[Any]) -> Any:
        if not self._takes_part(message):
            return 1 if isinstance(message, ClaimTurn) else ()
        return self._to_session(message, envelope)

    @handles(FailCommits)
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
            self._empty(lane, CloseCause.CLEARED, envelope)
        return DEFERRED

    @handles(SessionIdle)
    def _session_idle(self, message: SessionIdle, envelope: Envelope[Any]) -> Any:
        lane = self._lanes.get(message.session_id)
        if lane is None:
            self._sessions.tell(DropIfIdle(message.session_id))
        elif not lane.open:
            self._lanes.wait(lane, envelope)
        else:
            lane.hold(_EXPIRY)
            self._ask_sessions(CheckIdle(message.session_id))
        return DEFERRED

    @handles(SessionChecked)
    def _session_checked(self, message: SessionChecked, _envelope: Envelope[Any]) -> None:
        lane = self._lanes.of(message.session_id)
        lane.release(_EXPIRY)
        if message.idle:
            self._empty(lane, CloseCause.SESSION_EXPIRED, Envelope(DropIfIdle(message.session_id)))
        else:
            self._lanes.go_on(lane)

    def _empty(self, lane: Lane, cause: CloseCause, then: Envelope[Any]) -> None:
        """Close every handle of the lane, in order, and send `then` to the session manager when the last has closed."""
        lane.hold(_EMPTYING)
        lane.emptying = cause, then
        self._empty_next(lane)

    def _empty_next(self, lane: Lane) -> None:
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

    @handles(HandleClosed)
    def _handle_closed(self, message: HandleClosed, _envelope: Envelope[Any]) -> AckReply | CloseReply | None:
        route = self._routes.pop(message.request_id)
        lane = route.lane
        was_first = lane.remove(route)
        self._ledger.enter(message)
        route.mailbox.put(STOP_ENVELOPE)
        if not message.unpinned:
            self._sessions.tell(Unpin(message.session_id))
        if lane.emptying is not None:
            self._empty_next(lane)
        elif was_first and self._in_session_order and not self._closing:
            self._pass_turn(lane)
        if lane.asked is route:
            self._pass_over_next(lane)
        self._lanes.go_on(lane)
        self._end_shut_down()
        return message.reply

    def _pass_turn(self, lane: Lane) -> None:
        following = lane.first()
        if following is not None:
            lane.hold(hold_of(following))
            following.mailbox.tell(MayCommit())

    @handles(TurnTaken)
    def _turn_taken(self, message: TurnTaken, _envelope: Envelope[Any]) -> None:
        route = self._routes.get(message.request_id)
        if route is not None:
            route.lane.release(hold_of(route))
            self._lanes.go_on(route.lane)

    @handles(WaitedTooLong)
    def _waited_too_long(self, message: WaitedTooLong, envelope: Envelope[Any]) -> Any:
        route = self._routes.get(message.request_id)
        if route is None:
            return None
        if not route.lane.open:
            return self._lanes.wait(route.lane, envelope)
        route.lane.hold(_PASSING)
        route.lane.passing_before = route.place
        self._pass_over_next(route.lane)
        return None

    def _pass_over_next(self, lane: Lane) -> None:
        """Ask the earliest handle that may still be passed over, one at a time: each closing may release the next."""
        following = lane.next_exposed()
        if following is None:
            lane.release(_PASSING)
            self._lanes.go_on(lane)
        else:
            following.mailbox.tell(PassOver())

    @handles(PassedOver)
    def _passed_over(self, message: PassedOver, _envelope: Envelope[Any]) -> None:
        route = self._routes.get(message.request_id)
        if route is not None and route.lane.asked is route:
            # It was activated or is complete, and stays so: it need not be asked again.
            route.lane.exposed.pop(message.request_id, None)
            self._pass_over_next(route.lane)

    @handles(Inspect)
    def _inspect(self, _message: Inspect, _envelope: Envelope[Any]) -> int:
        return len(self._routes)

    @handles(ShutDown)
    def _begin_shut_down(self, _message: ShutDown, envelope: Envelope[Any]) -> Any:
        """What was sent before is handled first: the shutdown waits its turn in each lane that is taken."""
        taken = next((lane for lane in self._lanes if not lane.open), None)
        if taken is not None:
            return self._lanes.wait(taken, envelope)
        self._closing = True
        self._shut_down = envelope, len(self._routes)
        for route in tuple(self._routes.values()):
            route.mailbox.tell(Close(route.request_id, CloseCause.SHUT_DOWN))
        self._end_shut_down()
        return DEFERRED

    def _end_shut_down(self) -> None:
        if self._shut_down is not None and not self._routes and not self._opening:
            (envelope, closed), self._shut_down = self._shut_down, None
            answer(envelope, closed)

    def _ask_sessions(self, question: OpenSession | CheckIdle) -> None:
        self._sessions.ask(question, Asked(self.mailbox, question))

    @handles(CallFailed)
    def _call_failed(self, failed: CallFailed, _envelope: Envelope[Any]) -> None:
        """The session manager could not answer: what waits for it is refused, and its lane goes on."""
        question = failed.question
        if isinstance(question, OpenSession):
            envelope, lane = self._opening.pop(question.request_id)
            lane.release(_OPENING)
            refuse(envelope, failed.error)
            self._lanes.go_on(lane)
            self._end_shut_down()
        elif isinstance(question, CheckIdle):
            lane = self._lanes.of(question.session_id)
            lane.release(_EXPIRY)
            self._lanes.go_on(lane)

    def owed(self) -> Iterator[Envelope[Any]]:
        for envelope, _lane in self._opening.values():
            yield envelope
        for lane in self._lanes:
            yield from lane.owed()
        if self._shut_down is not None:
            yield self._shut_down[0]

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
