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

from collections.abc import Iterator
from typing import Any

from ..protocol.errors import ActorFailed
from ..protocol.execution_messages import Broken, End
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
    ReadStatistics,
    ReadStatus,
    Reject,
    SessionChecked,
    SessionOpened,
    ShutDown,
    TurnTaken,
    Unpin,
    WaitedTooLong,
    WindowEnded,
)
from ..protocol.replies import (
    NO_REQUEST,
    AckReply,
    ActivateReply,
    CloseReply,
)
from ..protocol.runtime_statistics import UNKNOWN_CAUSE, AcceptanceStatistics
from ..protocol.statuses import (
    AckStatus,
    ActivateStatus,
    CloseCause,
    CloseStatus,
)
from .actor import DEFERRED, STOP_ENVELOPE, handles
from .answering import CallFailed, answer, refuse
from .futures import Future
from .lanes import Lane, Route, hold_of
from .mailbox import LATER, Envelope
from .registrations import OPENING, Registrations
from .session_operations import EXPIRY

__all__ = ["AcceptanceCoordinator"]

_PASSING = "passing over"

_STALE = AckReply(AckStatus.STALE)
_UNKNOWN = {
    Activate: ActivateReply(ActivateStatus.UNKNOWN_REQUEST),
    Close: CloseReply(CloseStatus.UNKNOWN_REQUEST),
}
"""What a request without an open handle answers, but to ACKs."""

_FromHandle = HandleClosed | TurnTaken | WaitedTooLong | PassedOver | WindowEnded | Broken
"""What is signed with the place of a handle."""


class AcceptanceCoordinator(Registrations):
    """Owns which request is open where, and lets the operations of a session pass one after another."""

    prompt = True

    @handles(Acknowledge, Reject, Activate)
    def _to_handle(self, message: Any, envelope: Envelope[Any]) -> Any:
        before = self._registration_before(message.request_id)
        if before is not None:
            return self._lanes.wait(before, envelope)
        route = self._routes.get(message.request_id)
        if route is None:
            known = _UNKNOWN.get(type(message))
            return self._stale(message.request_id) if known is None else known
        if not route.lane.passes_on(route, envelope):
            return self._lanes.wait(route.lane, envelope)
        if type(message) is Reject:
            route.rejects = True
        return DEFERRED

    def answer_at_once(self, question: tuple[str, ...]) -> Any:
        """An ACK, as `(request, parent, result)`, or a rejection, as `(request, parent)`; for the handle to answer."""
        if self._waiting or self._opening:
            return LATER
        route = self._routes.get(question[0])
        if route is None:
            self.dispatcher.note("acked", question, AckStatus.STALE)
            return self._stale(question[0])
        lane = route.lane
        if not lane.quiet and not lane.open:
            return LATER
        if len(question) == 2:
            route.rejects = True
        return route.mailbox.ask_at_once(question)

    def _stale(self, request_id: str) -> AckReply:
        """The answer to an ACK that comes too late or for nothing; counting it is the last thing, and takes no call."""
        stale, cause = self._counters.stale, self._ledger.cause(request_id) or UNKNOWN_CAUSE
        stale[cause] = stale.get(cause, 0) + 1
        return _STALE

    @handles(ReadStatus)
    def _read_status(self, message: ReadStatus, envelope: Envelope[Any]) -> Any:
        if message.request_id in self._routes or self._registration_before(message.request_id) is not None:
            return self._to_handle(message, envelope)
        return self._ledger.status(message.request_id) or NO_REQUEST

    @handles(HandleClosed)
    def _handle_closed(self, message: HandleClosed, _envelope: Envelope[Any]) -> object:
        try:
            self._ledger.enter(message)
        finally:
            self._account(message)
        return message.reply

    def _account(self, message: HandleClosed) -> None:
        """What has to be done for a closed handle, whatever else goes wrong."""
        self.dispatcher.note("closed", message)
        route = self._route(message)
        if route is None:
            return
        del self._routes[message.request_id]
        self._counters.closed[message.cause] += 1
        self._handle_left(message, route)
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

    def _route(self, message: _FromHandle) -> Route | None:
        """The open route of the handle that a message is from; its id may have been registered anew."""
        route = self._routes.get(message.request_id)
        return route if route is not None and route.place == message.place else None

    @handles(WindowEnded, Broken)
    def _close_in_turn(self, message: WindowEnded | Broken, envelope: Envelope[Any]) -> Any:
        """What closes a handle by itself passes along the lane like any operation, so that nothing is torn by it."""
        route = self._route(message)
        if route is None:
            return None
        if not route.lane.open:
            return self._lanes.wait(route.lane, envelope)
        cause = CloseCause.EXPIRED if isinstance(message, WindowEnded) else CloseCause.FAILED
        closed: Future[CloseReply] = Future(self.dispatcher)
        route.lane.enter(route, closed)
        route.mailbox.ask(Close(route.request_id, cause), closed)
        return None

    def _dispose(self, route: Route) -> None:
        self.mailbox.tell(Broken(route.request_id, route.place))

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
        self.dispatcher.note("handle", route.request_id, "PASSING_OVER")
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

    @handles(ReadStatistics)
    def _read_statistics(self, _message: ReadStatistics, _envelope: Envelope[Any]) -> AcceptanceStatistics:
        return self._counters.read(registered=self._registered, open_handles=len(self._routes), lanes=self._lanes)

    @handles(ShutDown)
    def _begin_shut_down(self, _message: ShutDown, envelope: Envelope[Any]) -> Any:
        """What was sent before is handled first: the shutdown waits its turn in each lane that is taken."""
        taken = next((lane for lane in self._lanes if not lane.open), None)
        if taken is not None:
            return self._lanes.wait(taken, envelope)
        self._closing = True
        self._shut_down = envelope, len(self._routes)
        for request_id in self._executing:
            self._service.tell(End(request_id, CloseCause.SHUT_DOWN))
        for route in tuple(self._routes.values()):
            route.mailbox.tell(Close(route.request_id, CloseCause.SHUT_DOWN))
        self._end_shut_down()
        return DEFERRED

    def _end_shut_down(self) -> None:
        if self._shut_down is not None and not self._routes and not self._opening and not self._executing:
            (envelope, closed), self._shut_down = self._shut_down, None
            answer(envelope, closed)

    @handles(CallFailed)
    def _call_failed(self, failed: CallFailed, _envelope: Envelope[Any]) -> None:
        """Whoever was asked could not answer: what waits for it is refused, and its lane goes on."""
        question = failed.question
        if isinstance(question, OpenSession):
            envelope, lane = self._opening.pop(question.request_id)
            lane.release(OPENING)
            refuse(envelope, failed.error)
            self._lanes.go_on(lane)
            self._end_shut_down()
        elif isinstance(question, CheckIdle):
            checked = self._lanes.get(question.session_id)
            if checked is not None:
                checked.release(EXPIRY)
                self._lanes.go_on(checked)
        else:
            self._question_failed(question, failed.error)

    def _fail(self, envelope: Envelope[Any], failure: ActorFailed, told: BaseException | None) -> None:
        """A fault while an answer was taken must not leave a lane held for ever."""
        super()._fail(envelope, failure, told)
        message = envelope.message
        if isinstance(message, SessionOpened) and message.request_id in self._opening:
            route = self._routes.get(message.request_id)
            running = self._executing.get(message.request_id)
            if running is not None:
                self._forget_execution(message.request_id, running.place)
                self._leave(running.place, failure)
            elif route is not None:
                self._dispose(route)
            elif message.pinned:
                self._sessions.tell(Unpin(message.session_id))
            self._call_failed(CallFailed(failure, OpenSession(message.session_id, message.request_id)), envelope)
        elif isinstance(message, SessionChecked):
            self._call_failed(CallFailed(failure, CheckIdle(message.session_id)), envelope)
        elif isinstance(message, HandleClosed):
            self._account(message)
        elif isinstance(message, TurnTaken | PassedOver) and (route := self._route(message)) is not None:
            route.lane.release(hold_of(route) if isinstance(message, TurnTaken) else _PASSING)
            self._lanes.go_on(route.lane)
        else:
            self._recover_execution(message, failure)

    def owed(self) -> Iterator[Envelope[Any]]:
        for envelope, _lane in self._opening.values():
            yield envelope
        yield from self._starting.values()
        for ending in self._ending.values():
            yield from (envelope for envelope, _session_id in ending)
        for lane in self._lanes:
            yield from lane.owed()
        if self._shut_down is not None:
            yield self._shut_down[0]
