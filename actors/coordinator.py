"""The acceptance coordinator: routing, order between requests, admission, the ledger (C2, C15, C18).

Rules. Every operation that names a request or a session enters here, and those of one session pass one after another
along its lane, in the order in which they came. An operation on a handle holds the lane until its answer is given; the
next one on the same handle need not wait, for the handle itself handles one at a time. What comes for a request whose
registration waits, waits behind it. Registration, the end of a window, clearing, expiry and passing over hold the lane
until they are done, and so does whatever the closing of a request releases behind it.

With `commit_order="session"` only the first open handle of a lane may commit; when it closes, the next one is told.

A lane exists while its session has open handles, or while one of the operations above is on its way; so the lanes are
bounded by the open handles. What waits in them is bounded by what the callers have in flight.

Not promised: any order between what happens at the same time in different sessions where only the limits tell: which of
two closed requests a full ledger forgets first, and whether a registration finds the place of a request that closes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..protocol.errors import ActorFailed, RuntimeClosed
from ..protocol.handoff import Handoff
from ..protocol.messages import (
    Acknowledge,
    Activate,
    CheckIdle,
    Close,
    HandleClosed,
    Inspect,
    MayCommit,
    OpenSession,
    PassedOver,
    PassOver,
    ReadStatus,
    Register,
    Reject,
    SessionChecked,
    SessionOpened,
    ShutDown,
    TurnTaken,
    Unpin,
    WaitedTooLong,
    WindowEnded,
)
from ..protocol.participation import ProviderPolicy
from ..protocol.replies import (
    NO_REQUEST,
    AckReply,
    ActivateReply,
    CloseReply,
    RegisterReply,
)
from ..protocol.settings import Settings, microseconds
from ..protocol.statuses import (
    AckStatus,
    ActivateStatus,
    CloseCause,
    CloseStatus,
    RegisterStatus,
)
from .actor import DEFERRED, STOP_ENVELOPE, handles
from .dispatcher import Dispatcher
from .futures import Future
from .handle import AcceptanceHandle
from .lanes import Lane, Route, hold_of
from .ledger import Ledger
from .mailbox import CallFailed, Envelope, Mailbox, answer, refuse
from .session_operations import EXPIRY, SessionOperations

__all__ = ["AcceptanceCoordinator"]

_OPENING = "opening"
_PASSING = "passing over"

_UNKNOWN = {
    Acknowledge: AckReply(AckStatus.STALE),
    Reject: AckReply(AckStatus.STALE),
    Activate: ActivateReply(ActivateStatus.UNKNOWN_REQUEST),
    Close: CloseReply(CloseStatus.UNKNOWN_REQUEST),
}
"""What a request without an open handle answers."""


class AcceptanceCoordinator(SessionOperations):
    """Owns which request is open where, and lets the operations of a session pass one after another."""

    def __init__(
        self,
        dispatcher: Dispatcher,
        settings: Settings,
        providers: Mapping[str, ProviderPolicy],
        sessions: Mailbox,
    ) -> None:
        super().__init__(dispatcher, settings, providers, sessions)
        self._max_open_handles = settings.max_open_handles
        self._in_session_order = settings.commit_order == "session"
        self._window_us = microseconds(settings.ack_window)
        self._ledger = Ledger(settings.ledger_entries, microseconds(settings.session_ttl), dispatcher.now_us)
        self._routes: dict[str, Route] = {}
        self._opening: dict[str, tuple[Envelope[Any], Lane]] = {}
        self._waiting: dict[str, tuple[Lane, int]] = {}
        self._registered = 0
        self._closing = False
        self._shut_down: tuple[Envelope[Any], int] | None = None

    @handles(Register)
    def _register(self, message: Register, envelope: Envelope[Any]) -> Any:
        handoff = message.handoff
        request_id = handoff.request_id
        resumes = self._lanes.resumes(envelope)
        if resumes:
            self._no_longer_waits(request_id)
        if self._closing:
            refuse(envelope, RuntimeClosed())
            return DEFERRED
        if not resumes and not self._takes_part(handoff):
            return RegisterReply(RegisterStatus.NOT_PARTICIPATING)
        lane = self._lanes.get(handoff.session_id)
        if lane is not None and not lane.open:
            return self._register_later(lane, envelope)
        before = self._registration_before(request_id)
        if before is not None:
            return self._register_later(before, envelope)
        if request_id in self._routes or request_id in self._ledger:
            return RegisterReply(RegisterStatus.DUPLICATE_REQUEST)
        if len(self._routes) >= self._max_open_handles:
            return RegisterReply(RegisterStatus.OVERLOADED)
        if len(self._routes) + len(self._opening) >= self._max_open_handles:
            # Whether there is room depends on a registration that the session manager has yet to judge.
            return self._register_later(next(iter(self._opening.values()))[1], envelope)
        if lane is None:
            lane = self._lanes.add(handoff.session_id)
        lane.hold(_OPENING)
        self._opening[request_id] = envelope, lane
        self._ask_sessions(OpenSession(handoff.session_id, request_id))
        return DEFERRED

    def _register_later(self, lane: Lane, envelope: Envelope[Any]) -> Any:
        """Let a registration wait in `lane`; whatever comes for its request waits there behind it."""
        request_id = envelope.message.handoff.request_id
        _lane, count = self._waiting.get(request_id, (lane, 0))
        self._waiting[request_id] = lane, count + 1
        return self._lanes.wait(lane, envelope)

    def _no_longer_waits(self, request_id: str) -> None:
        lane, count = self._waiting.pop(request_id)
        if count > 1:
            self._waiting[request_id] = lane, count - 1

    def _registration_before(self, request_id: str) -> Lane | None:
        """The lane of a registration of that id which has come earlier and is not answered yet."""
        waiting = self._waiting.get(request_id)
        if waiting is not None and not waiting[0].resuming:
            return waiting[0]
        opening = self._opening.get(request_id)
        return None if opening is None else opening[1]

    @handles(SessionOpened)
    def _opened(self, message: SessionOpened, _envelope: Envelope[Any]) -> None:
        envelope, lane = self._opening[message.request_id]
        if message.opened and not self._closing:
            self._open(envelope.message.handoff, lane)
        # Not earlier: as long as it is listed, a fault refuses the registration and frees the lane; see `_fail`.
        del self._opening[message.request_id]
        lane.release(_OPENING)
        if not message.opened:
            answer(envelope, RegisterReply(RegisterStatus.OVERLOADED))
        elif self._closing:
            refuse(envelope, RuntimeClosed())
            self._end_shut_down()
        else:
            answer(envelope, RegisterReply(RegisterStatus.REGISTERED))
        self._lanes.go_on(lane)

    def _open(self, handoff: Handoff, lane: Lane) -> None:
        self._registered += 1
        handle = AcceptanceHandle(
            self.dispatcher,
            handoff,
            place=self._registered,
            coordinator=self.mailbox,
            sessions=self._sessions,
            window_us=self._window_us,
            may_commit=not (self._in_session_order and lane.routes),
        )
        route = Route(handoff.request_id, handle.spawn(), lane, self._registered)
        self._routes[handoff.request_id] = route
        lane.add(route, exposed=self._in_session_order)
        self.observe(("handle", handoff.request_id, "REGISTERED"))

    @handles(Acknowledge, Reject, Activate, Close)
    def _to_handle(self, message: Any, envelope: Envelope[Any]) -> Any:
        before = self._registration_before(message.request_id)
        if before is not None:
            return self._lanes.wait(before, envelope)
        route = self._routes.get(message.request_id)
        if route is None:
            return _UNKNOWN[type(message)]
        lane = route.lane
        if not lane.lets_pass(route):
            return self._lanes.wait(lane, envelope)
        lane.enter(route, envelope.reply_to)  # type: ignore[arg-type]
        route.mailbox.put(envelope)
        return DEFERRED

    @handles(ReadStatus)
    def _read_status(self, message: ReadStatus, envelope: Envelope[Any]) -> Any:
        if message.request_id in self._routes or self._registration_before(message.request_id) is not None:
            return self._to_handle(message, envelope)
        return self._ledger.status(message.request_id) or NO_REQUEST

    @handles(HandleClosed)
    def _handle_closed(self, message: HandleClosed, _envelope: Envelope[Any]) -> AckReply | CloseReply | None:
        try:
            self._ledger.enter(message)
        finally:
            self._account(message)
        return message.reply

    def _account(self, message: HandleClosed) -> None:
        """What has to be done for a closed handle, whatever else goes wrong."""
        route = self._route(message)
        if route is None:
            return
        del self._routes[message.request_id]
        lane = route.lane
        was_first = lane.remove(route)
        route.mailbox.put(STOP_ENVELOPE)
        if not message.unpinned:
            self._sessions.tell(Unpin(message.session_id))
        if lane.emptying is not None:
            self.empty_next(lane)
        elif was_first and self._in_session_order and not self._closing:
            self._pass_turn(lane)
        if lane.asked is route:
            self._pass_over_next(lane)
        self._lanes.go_on(lane)
        self._end_shut_down()

    def _route(self, message: HandleClosed | TurnTaken | WaitedTooLong | PassedOver | WindowEnded) -> Route | None:
        """The open route of the handle that a message is from; its id may have been registered anew."""
        route = self._routes.get(message.request_id)
        return route if route is not None and route.place == message.place else None

    @handles(WindowEnded)
    def _window_ended(self, message: WindowEnded, envelope: Envelope[Any]) -> Any:
        """The end of a window passes along the lane like any operation, so that nothing is torn by it."""
        route = self._route(message)
        if route is None:
            return None
        if not route.lane.open:
            return self._lanes.wait(route.lane, envelope)
        closed: Future[CloseReply] = Future(self.dispatcher)
        route.lane.enter(route, closed)
        route.mailbox.ask(Close(route.request_id, CloseCause.EXPIRED), closed)
        return None

    def _pass_turn(self, lane: Lane) -> None:
        following = lane.first()
        if following is not None:
            lane.hold(hold_of(following))
            following.mailbox.tell(MayCommit())

    @handles(TurnTaken)
    def _turn_taken(self, message: TurnTaken, _envelope: Envelope[Any]) -> None:
        route = self._route(message)
        if route is not None:
            route.lane.release(hold_of(route))
            self._lanes.go_on(route.lane)

    @handles(WaitedTooLong)
    def _waited_too_long(self, message: WaitedTooLong, envelope: Envelope[Any]) -> Any:
        route = self._route(message)
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
        route = self._route(message)
        if route is not None and route.lane.asked is route:
            # It was activated or is complete, and stays so: it need not be asked again.
            route.lane.exposed.pop(message.request_id, None)
            self._pass_over_next(route.lane)

    @handles(Inspect)
    def _inspect(self, _message: Inspect, _envelope: Envelope[Any]) -> tuple[str, ...]:
        return tuple(self._routes)

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
            checked = self._lanes.get(question.session_id)
            if checked is not None:
                checked.release(EXPIRY)
                self._lanes.go_on(checked)

    def _fail(self, envelope: Envelope[Any], failure: ActorFailed, told: BaseException | None) -> None:
        """A fault while an answer was taken must not leave a lane held for ever."""
        super()._fail(envelope, failure, told)
        message = envelope.message
        if isinstance(message, SessionOpened) and message.request_id in self._opening:
            if message.opened:
                self._sessions.tell(Unpin(message.session_id))
            self._call_failed(CallFailed(failure, OpenSession(message.session_id, message.request_id)), envelope)
        elif isinstance(message, SessionChecked):
            self._call_failed(CallFailed(failure, CheckIdle(message.session_id)), envelope)
        elif isinstance(message, HandleClosed):
            self._account(message)
        elif isinstance(message, TurnTaken | PassedOver) and (route := self._route(message)) is not None:
            route.lane.release(hold_of(route) if isinstance(message, TurnTaken) else _PASSING)
            self._lanes.go_on(route.lane)

    def owed(self) -> Iterator[Envelope[Any]]:
        for envelope, _lane in self._opening.values():
            yield envelope
        for lane in self._lanes:
            yield from lane.owed()
        if self._shut_down is not None:
            yield self._shut_down[0]
