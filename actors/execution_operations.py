"""The part of the coordinator that deals with executions: beginning, ending, and the lane while one works (C8, C9).

Rules. A request that takes part works in the lane of its session: whatever an event of its execution (an answer, a
time-out, the end of a back-off) leads to, ACKs and commits included, happens while the operation has the lane, so that
it looks like one step among the others. It is asked for by `Enter`, given by `Granted`, and given back by the answer to
that. Ending one from outside takes the lane too: first the operation ends, then the handle closes.

A request that takes no part has no lane; its operation alone puts its events in order.
"""

from __future__ import annotations

import abc
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

from ..protocol.errors import ActorFailed
from ..protocol.execution_messages import AnswerCall, End, Ended, ExecutionEnded, LaneLeft, ReadOutcome, TimeOut
from ..protocol.executions import ENDS_FROM_OUTSIDE
from ..protocol.messages import Close, HandleClosed, SessionOpened
from ..protocol.outcomes import StartReply
from ..protocol.participation import ProviderPolicy
from ..protocol.replies import CloseReply
from ..protocol.settings import Settings, microseconds
from ..protocol.statuses import CloseCause, CloseStatus, ParentState, StartStatus
from .acceptance_counters import AcceptanceCounters
from .actor import DEFERRED, handles
from .answering import Asked, answer, refuse
from .dispatcher import Dispatcher
from .lanes import Lane, Route
from .ledger import Ledger
from .mailbox import Envelope, Mailbox
from .outside import Begin, BeginApart, Enter, Execute, Granted, ServedBy
from .session_operations import SessionOperations

__all__ = ["ExecutionOperations"]

_ENDING = "ending"
_NOTHING_TO_END = CloseReply(CloseStatus.UNKNOWN_REQUEST)


class _Running:
    """A running execution. `session_id` is None for one that takes no part, `route` for one without a handle.

    `rejected` holds the parents that were rejected when its handle closed.
    """

    __slots__ = ("place", "rejected", "route", "session_id")

    def __init__(self, place: int, session_id: str | None, route: Route | None) -> None:
        self.rejected: frozenset[str] = frozenset()
        self.place = place
        self.session_id = session_id
        self.route = route


class ExecutionOperations(SessionOperations):
    """Owns which execution runs, beside which request is open where."""

    def __init__(
        self,
        dispatcher: Dispatcher,
        settings: Settings,
        providers: Mapping[str, ProviderPolicy],
        sessions: Mailbox,
    ) -> None:
        super().__init__(dispatcher, settings, providers, sessions)
        self._max_open_executions = settings.max_open_executions
        self._ledger = Ledger(settings.ledger_entries, microseconds(settings.session_ttl), dispatcher.now_us)
        self._counters = AcceptanceCounters()
        self._routes: dict[str, Route] = {}
        self._opening: dict[str, tuple[Envelope[Any], Lane]] = {}
        self._executing: dict[str, _Running] = {}
        self._executed = 0
        self._starting: dict[int, Envelope[Any]] = {}
        self._in_lane: dict[int, str] = {}
        self._ending: dict[str, deque[tuple[Envelope[Any], str | None]]] = {}
        self._closing = False
        self._shut_down: tuple[Envelope[Any], int] | None = None
        self._service: Mailbox

    @abc.abstractmethod
    def _registration_before(self, request_id: str, envelope: Envelope[Any] | None = None) -> Lane | None:
        """The lane of a registration of that id which has come earlier (than `envelope`) and is not answered yet."""

    @abc.abstractmethod
    def _in_turn(self, judge: Callable[[Any, Envelope[Any]], Any], message: Any, envelope: Envelope[Any]) -> Any:
        """What `judge` says of a registration: its answer, or the lane in which it has to wait."""

    @abc.abstractmethod
    def _to_handle(self, message: Any, envelope: Envelope[Any]) -> Any:
        """Pass an operation on to the handle of its request."""

    @abc.abstractmethod
    def _dispose(self, route: Route) -> None:
        """Close the handle of an execution that broke, when its turn in the lane comes."""

    @abc.abstractmethod
    def _end_shut_down(self) -> None:
        """Answer the shutdown, if that is under way and nothing is left."""

    @handles(ServedBy)
    def _served_by(self, message: ServedBy, _envelope: Envelope[Any]) -> None:
        self._service = message.service

    def _taken(self, request_id: str) -> bool:
        """Whether a request id is open, executed, or remembered: one owner for all three ways to use one."""
        return request_id in self._routes or request_id in self._executing or request_id in self._ledger

    @handles(BeginApart)
    def _begin_apart(self, message: BeginApart, envelope: Envelope[Any]) -> Any:
        return self._in_turn(self._judge_apart, message, envelope)

    def _judge_apart(self, message: BeginApart, envelope: Envelope[Any]) -> Any:
        request_id = message.handoff.request_id
        before = self._registration_before(request_id, envelope)
        if before is not None:
            return before
        if self._taken(request_id):
            self._counters.refused[StartStatus.DUPLICATE_REQUEST] += 1
            return StartReply(StartStatus.DUPLICATE_REQUEST)
        if len(self._executing) >= self._max_open_executions:
            self._counters.refused[StartStatus.OVERLOADED] += 1
            return StartReply(StartStatus.OVERLOADED)
        if self._opening and len(self._executing) + len(self._opening) >= self._max_open_executions:
            return next(iter(self._opening.values()))[1]
        self._execute(message.begin, envelope, None, None, None)
        return DEFERRED

    def _execute(
        self,
        begin: Begin,
        envelope: Envelope[Any],
        lane: Lane | None,
        opened: SessionOpened | None,
        route: Route | None,
    ) -> None:
        """Start the operation; in its lane, if it has one, until its first calls are made."""
        self._executed += 1
        place = self._executed
        request_id = begin.handoff.request_id
        self._executing[request_id] = _Running(place, None if lane is None else lane.session_id, route)
        self._starting[place] = envelope
        if lane is not None:
            self._take_lane(lane, place)
        execute = Execute(
            plan=begin.plan,
            outside=begin.outside,
            place=place,
            takes_part=opened is not None,
            incarnation=0 if opened is None else opened.incarnation,
            history=() if opened is None else opened.history,
            handle=None if route is None else route.mailbox,
        )
        self._service.ask(execute, Asked(self.mailbox, execute))

    def _take_lane(self, lane: Lane, place: int) -> None:
        lane.hold(_hold_of(place))
        self._in_lane[place] = lane.session_id

    @handles(Enter)
    def _enter(self, message: Enter, envelope: Envelope[Any]) -> Any:
        running = self._executing.get(message.request_id)
        if running is None or running.place != message.place or running.session_id is None or self._closing:
            return None
        lane = self._lanes.get_or_add(running.session_id)
        if not lane.open:
            return self._lanes.wait(lane, envelope)
        self._take_lane(lane, message.place)
        route = running.route
        if route is not None and self._routes.get(message.request_id) is route:
            granted = Granted(message.request_id, message.place, route.mailbox, route.rejects)
        else:
            granted = Granted(message.request_id, message.place, None, False, running.rejected)
        message.operation.ask(granted, Asked(self.mailbox, granted))
        return None

    def _handle_left(self, closed: HandleClosed, route: Route) -> None:
        """The handle of a request has closed; what was rejected by hand, its execution must know even so."""
        running = self._executing.get(closed.request_id)
        if running is not None and running.route is route and route.rejects:
            parents = zip(closed.parent_ids, closed.states, strict=True)
            running.rejected = frozenset(parent for parent, state in parents if state is ParentState.REJECTED)

    @handles(LaneLeft)
    def _lane_left(self, message: LaneLeft, _envelope: Envelope[Any]) -> None:
        self._leave(message.place, None)

    def _leave(self, place: int, failure: BaseException | None) -> None:
        """The operation has done its work in the lane, or cannot: the lane goes on, a start is answered."""
        session_id = self._in_lane.pop(place, None)
        started = self._starting.pop(place, None)
        if started is not None and failure is None:
            answer(started, StartReply(StartStatus.STARTED))
        elif started is not None and failure is not None:
            refuse(started, failure)
        if session_id is not None:
            lane = self._lanes.of(session_id)
            lane.release(_hold_of(place))
            self._lanes.go_on(lane)

    @handles(Close, TimeOut)
    def _end(self, message: Close | TimeOut, envelope: Envelope[Any]) -> Any:
        cause = message.cause if isinstance(message, Close) else CloseCause.TIMED_OUT
        before = self._registration_before(message.request_id)
        if before is not None:
            return self._lanes.wait(before, envelope)
        running = self._executing.get(message.request_id)
        if running is None or cause not in ENDS_FROM_OUTSIDE:
            return _NOTHING_TO_END if isinstance(message, TimeOut) else self._to_handle(message, envelope)
        if running.session_id is not None:
            lane = self._lanes.get_or_add(running.session_id)
            if not lane.open:
                return self._lanes.wait(lane, envelope)
            lane.hold(_ENDING)
        self._ending.setdefault(message.request_id, deque()).append((envelope, running.session_id))
        end = End(message.request_id, cause)
        self._service.ask(end, Asked(self.mailbox, end))
        return DEFERRED

    @handles(Ended)
    def _ended(self, message: Ended, _envelope: Envelope[Any]) -> None:
        """The execution is over: now its handle closes, if it is open."""
        waiting = self._ending[message.request_id]
        envelope, session_id = waiting.popleft()
        if not waiting:
            del self._ending[message.request_id]
        asked = envelope.message
        cause = asked.cause if isinstance(asked, Close) else CloseCause.TIMED_OUT
        route = self._routes.get(message.request_id)
        lane = None if session_id is None else self._lanes.of(session_id)
        if lane is not None:
            lane.release(_ENDING)
        if lane is not None and route is not None and (message.ended or isinstance(asked, Close)):
            lane.enter(route, envelope.reply_to)  # type: ignore[arg-type]
            route.mailbox.put(Envelope(Close(message.request_id, cause), envelope.reply_to))
        else:
            answer(envelope, CloseReply(CloseStatus.DISPOSED) if message.ended else _NOTHING_TO_END)
        if lane is not None:
            self._lanes.go_on(lane)

    @handles(ExecutionEnded)
    def _execution_ended(self, message: ExecutionEnded, _envelope: Envelope[Any]) -> None:
        running = self._executing.get(message.request_id)
        if running is None or running.place != message.place:
            return
        del self._executing[message.request_id]
        if message.request_id not in self._routes:
            self._ledger.executed(message.request_id)
        elif message.broken and running.route is self._routes[message.request_id]:
            self._dispose(running.route)
        self._end_shut_down()

    def _forget_execution(self, request_id: str, place: int) -> None:
        """An execution broke, or its end could not be taken note of: nothing may wait for it any more."""
        running = self._executing.get(request_id)
        if running is None or running.place != place:
            return
        del self._executing[request_id]
        if running.route is not None and self._routes.get(request_id) is running.route:
            self._dispose(running.route)
        self._end_shut_down()

    def _recover_execution(self, message: object, failure: ActorFailed) -> None:
        """A fault while this was handled must leave no lane held, no operation waiting and no end outstanding."""
        if isinstance(message, LaneLeft):
            self._leave(message.place, failure)
        elif isinstance(message, Enter):
            message.operation.settle(None, failure)
        elif isinstance(message, ExecutionEnded):
            self._forget_execution(message.request_id, message.place)
        elif isinstance(message, Ended) and message.request_id in self._ending:
            self._ended(message, Envelope(message))

    @handles(AnswerCall, ReadOutcome)
    def _to_service(self, message: AnswerCall | ReadOutcome, envelope: Envelope[Any]) -> Any:
        before = self._registration_before(message.request_id)
        if before is not None:
            return self._lanes.wait(before, envelope)
        self._service.put(envelope)
        return DEFERRED

    def _question_failed(self, question: object, error: BaseException) -> None:
        """The service or an operation could not answer: whoever waits is refused, and the lane goes on."""
        if isinstance(question, Execute):
            self._forget_execution(question.plan.handoff.request_id, question.place)
            self._leave(question.place, error)
        elif isinstance(question, Granted):
            self._leave(question.place, error)
        elif isinstance(question, End):
            self._ended(Ended(question.request_id, False), Envelope(question))


def _hold_of(place: int) -> str:
    """The name of the hold of an operation that works in the lane."""
    return f"execution {place}"
