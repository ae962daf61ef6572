"""The acceptance handle: the parents of one request, their states, and the ACK window (C2, C8, C11, C15).

Rules. One operation at a time: while a commit is on its way, everything else waits in order and is handled after the
answer; so a commit that was sent always counts. The end of the window is told to the coordinator, and comes back as an
operation like any other. A parent commits when all before it are
settled and the request has its turn in the session. Closing is final: the coordinator is told, and every ACK from
then on is `STALE`.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Hashable, Iterator
from typing import Any

from ..protocol.execution_messages import SettleParents
from ..protocol.handles import HANDLE_TABLE, HandleEvent, HandleState
from ..protocol.handoff import Handoff
from ..protocol.messages import (
    Acknowledge,
    Activate,
    Close,
    CommitTurns,
    HandleClosed,
    MayCommit,
    PassedOver,
    PassOver,
    ReadStatus,
    Reject,
    TurnsCommitted,
    TurnTaken,
    WaitedTooLong,
    WindowEnded,
)
from ..protocol.parents import RequestParents
from ..protocol.replies import AckReply, AcksSettled, ActivateReply, CloseReply, ParentStates, RequestStatus
from ..protocol.statuses import AckStatus, ActivateStatus, CloseCause, CloseStatus, ParentState
from .actor import DEFERRED, Actor, handles
from .answering import CallFailed, answer, refuse
from .dispatcher import Dispatcher
from .mailbox import LATER, Envelope, Mailbox
from .measuring import ACTIVE_TIMES, TURN_WAITS
from .outside import Recording

__all__ = ["AcceptanceHandle"]

_WINDOW = "window"
_WAIT = "wait"

_COMMITTED_NOTHING = {status: AckReply(status) for status in AckStatus}
"""Most ACKs commit nothing: one reply a status serves them all."""
_STALE = _COMMITTED_NOTHING[AckStatus.STALE]


class AcceptanceHandle(Actor):
    """One request's acceptance; a child of the coordinator."""

    __slots__ = (
        "_broken",
        "_by_hand",
        "_cause",
        "_commit_answer",
        "_committing",
        "_coordinator",
        "_has_waited",
        "_in_flight",
        "_last_commit",
        "_late",
        "_may_commit",
        "_parents",
        "_place",
        "_recording",
        "_request_id",
        "_session_id",
        "_sessions",
        "_since_us",
        "_state",
        "_unpinned",
        "_waiting",
        "_window_us",
    )

    in_registry = False
    prompt = True

    def __init__(
        self,
        dispatcher: Dispatcher,
        handoff: Handoff,
        *,
        place: int,
        coordinator: Mailbox,
        sessions: Mailbox,
        window_us: int,
        may_commit: bool,
        recording: Recording | None = None,
        by_hand: bool = False,
    ) -> None:
        super().__init__(dispatcher)
        self._request_id = handoff.request_id
        self._place = place
        self._session_id = handoff.session_id
        self._parents = RequestParents(handoff.parents)
        self._coordinator = coordinator
        self._sessions = sessions
        self._window_us = window_us
        self._may_commit = may_commit
        self._recording = recording
        self._by_hand = by_hand
        self._state = HandleState.REGISTERED
        self._cause: CloseCause | None = None
        self._has_waited = False
        self._since_us: dict[str, int] | None = None
        self._late = 0
        self._broken = self._in_flight = self._last_commit = self._unpinned = False
        self._committing: tuple[int, ...] = ()
        self._commit_answer: tuple[Envelope[Any], AckStatus | tuple[AckStatus, ...]] | None = None
        self._waiting: deque[Envelope[Any]] | None = None

    @property
    def name(self) -> str:
        return f"AcceptanceHandle({self._request_id})"

    def receive(self, envelope: Envelope[Any], again: bool = False) -> None:
        if self._in_flight:
            kind = type(envelope.message)
            if kind is not TurnsCommitted and kind is not CallFailed:
                if self._waiting is None:
                    self._waiting = deque()
                self._waiting.append(envelope)
                return
            self._in_flight = False
            self._unpinned = self._last_commit and kind is TurnsCommitted
        super().receive(envelope, again)

    def answer_at_once(self, question: tuple[str, ...]) -> Any:
        """An ACK that only moves its parent: nothing commits, closes or begins to wait by it."""
        if self._in_flight:
            return LATER
        parents, parent_id = self._parents, question[1]
        if self._by_hand or not (self._may_commit or self._has_waited) or not parents.moves_alone(parent_id):
            return LATER
        status = parents.accept(parent_id, question[2]) if len(question) == 3 else parents.reject(parent_id)
        if self.dispatcher.watched:
            self.dispatcher.note("acked", question, status)
        return _COMMITTED_NOTHING[status]

    @handles(Acknowledge)
    def _acknowledge(self, message: Acknowledge, envelope: Envelope[Any]) -> Any:
        if self._cause is not None:
            self._late += 1
            return _STALE
        status = self._accept(message)
        if status is not AckStatus.ACCEPTED:
            return _COMMITTED_NOTHING[status]
        if self._by_hand and self._recording is not None:
            place = self._parents.place_of(message.parent_id)
            self._recording.applied(*self._parents.texts(place))
        return self._after_acks(status, envelope)

    @handles(Reject)
    def _reject(self, message: Reject, envelope: Envelope[Any]) -> Any:
        if self._cause is not None:
            self._late += 1
            return _STALE
        return self._after_acks(self._refuse(message), envelope)

    @handles(SettleParents)
    def _settle(self, message: SettleParents, envelope: Envelope[Any]) -> Any:
        if self._cause is not None:
            self._late += len(message.acks)
            return AcksSettled((AckStatus.STALE,) * len(message.acks))
        self._by_hand |= message.by_hand
        statuses = tuple(
            self._accept(ack) if isinstance(ack, Acknowledge) else self._refuse(ack) for ack in message.acks
        )
        reply = self._after_acks(statuses, envelope)
        self.dispatcher.note("settled", self._request_id, message.acks, statuses)
        if message.activate and self._cause is None:
            self._activate_now()
        return reply

    def _accept(self, message: Acknowledge) -> AckStatus:
        status = self._parents.accept(message.parent_id, message.result)
        if status is AckStatus.ACCEPTED:
            self.observe(("parent", self._request_id, message.parent_id, status.value))
        return status

    def _refuse(self, message: Reject) -> AckStatus:
        status = self._parents.reject(message.parent_id)
        if status is AckStatus.REJECTED:
            self.observe(("parent", self._request_id, message.parent_id, status.value))
        return status

    def _after_acks(self, statuses: AckStatus | tuple[AckStatus, ...], envelope: Envelope[Any]) -> Any:
        """Only a move goes on from here: to its commits, or to the wait for the request's turn."""
        reply: AckReply | AcksSettled
        if isinstance(statuses, AckStatus):
            reply = _COMMITTED_NOTHING[statuses]
            accepted, rejected = statuses is AckStatus.ACCEPTED, statuses is AckStatus.REJECTED
        else:
            reply = AcksSettled(statuses)
            accepted, rejected = AckStatus.ACCEPTED in statuses, AckStatus.REJECTED in statuses
        if not accepted and not rejected:
            return reply
        if not self._parents.unacknowledged:
            self._state = HANDLE_TABLE[self._state][HandleEvent.COMPLETE]
            self.dispatcher.note("handle", self._request_id, self._state.value)
            self.cancel_timer(_WINDOW)
        if self._may_commit and self._commit_due():
            self._commit_answer = (envelope, statuses)
            return DEFERRED
        if self._parents.settled:
            return self._close(CloseCause.COMPLETED, envelope, reply)
        if accepted and not self._may_commit and not self._has_waited:
            # The first accepted parent of a request that waits for its turn begins its one wait.
            self._has_waited = True
            self._begin_to_measure(TURN_WAITS)
            self.start_timer(_WAIT, self._window_us)
            self.dispatcher.note("handle", self._request_id, "WAITING")
        return reply

    def _commit_due(self) -> bool:
        """Send what may commit now as one message; whether there was anything."""
        run = self._parents.due()
        if not run:
            return False
        turns = self._parents.turns(self._request_id, run)
        self._committing = run
        self._last_commit = not self._parents.unacknowledged
        self._in_flight = True
        self._sessions.ask(CommitTurns(self._session_id, turns, self._last_commit), self.mailbox)
        return True

    @handles(TurnsCommitted)
    def _committed(self, message: TurnsCommitted, _envelope: Envelope[Any]) -> None:
        self._end_commit(message.failed)

    @handles(CallFailed)
    def _commit_broke(self, _message: CallFailed, _envelope: Envelope[Any]) -> None:
        self._end_commit(frozenset(range(len(self._committing))))

    def _end_commit(self, failed: frozenset[int]) -> None:
        run, self._committing = self._committing, ()
        before = self._parents.states if self.dispatcher.observer is not None else ()
        committed = self._parents.settle(run, failed)
        self._observe_parents(before)
        envelope = None
        reply: AckReply | AcksSettled | None = None
        if self._commit_answer is not None:
            envelope, statuses = self._commit_answer
            self.took(envelope)
            if isinstance(statuses, AckStatus):
                reply = AckReply(statuses, committed)
            else:
                reply = AcksSettled(statuses, committed)
        if self._broken or self._parents.settled:
            cause = CloseCause.FAILED if self._broken else CloseCause.COMPLETED
            self._close(cause, envelope, reply)
        elif envelope is not None:
            answer(envelope, reply)
        else:
            self._coordinator.tell(TurnTaken(self._request_id, self._place))
        self._commit_answer = None
        self._go_on()

    def _go_on(self) -> None:
        while self._waiting and not self._in_flight:
            self.receive(self._waiting.popleft())

    @handles(Activate)
    def _activate(self, _message: Activate, _envelope: Envelope[Any]) -> ActivateReply:
        if self._cause is not None:
            return ActivateReply(ActivateStatus.UNKNOWN_REQUEST)
        return ActivateReply(ActivateStatus.ACTIVATED if self._activate_now() else ActivateStatus.ALREADY_ACTIVE)

    def _activate_now(self) -> bool:
        following = HANDLE_TABLE[self._state].get(HandleEvent.ACTIVATE)
        if following is None:
            return False
        self._state = following
        self._begin_to_measure(ACTIVE_TIMES)
        if following is HandleState.ACTIVE:
            self.dispatcher.note("handle", self._request_id, following.value)
            self.start_timer(_WINDOW, self._window_us)
        self.observe(("handle", self._request_id, following.value))
        return True

    @handles(Close)
    def _close_asked(self, message: Close, envelope: Envelope[Any]) -> Any:
        event = HandleEvent.EXPIRE if message.cause is CloseCause.EXPIRED else HandleEvent.CLOSE
        if event not in HANDLE_TABLE[self._state]:
            return CloseReply(CloseStatus.UNKNOWN_REQUEST)
        return self._close(message.cause, envelope, CloseReply(CloseStatus.DISPOSED))

    @handles(MayCommit)
    def _take_turn(self, _message: MayCommit, _envelope: Envelope[Any]) -> None:
        """Every earlier request is closed: commit what waited, without another ACK (C15)."""
        self._may_commit = True
        self.dispatcher.note("handle", self._request_id, "MAY_COMMIT")
        self._measure(TURN_WAITS)
        self.cancel_timer(_WAIT)
        if self._cause is None and self._commit_due():
            return
        self._coordinator.tell(TurnTaken(self._request_id, self._place))

    def _begin_to_measure(self, what: str) -> None:
        measuring = self.dispatcher.measuring
        if measuring is not None and measuring.times_request(self._place):
            self._since_us = {**(self._since_us or {}), what: self.dispatcher.now_us()}

    def _measure(self, what: str) -> None:
        since_us = self._since_us.pop(what, None) if self._since_us else None
        if since_us is not None and self.dispatcher.measuring is not None:
            self.dispatcher.measuring.add_us(what, self.dispatcher.now_us() - since_us)

    @handles(PassOver)
    def _pass_over(self, _message: PassOver, _envelope: Envelope[Any]) -> None:
        if HandleEvent.PASS_OVER in HANDLE_TABLE[self._state]:
            self._close(CloseCause.PASSED_OVER)
        self._coordinator.tell(PassedOver(self._request_id, self._place))

    @handles(ReadStatus)
    def _status(self, _message: ReadStatus, _envelope: Envelope[Any]) -> RequestStatus:
        states = ParentStates(self._parents.ids, self._parents.states)
        return RequestStatus(open=self._cause is None, cause=self._cause, parents=states)

    def on_timer(self, key: str) -> None:
        ended = WaitedTooLong if key == _WAIT else WindowEnded
        self._coordinator.tell(ended(self._request_id, self._place))

    def on_failure(self, _type: object, failure: BaseException | None, _traceback: object) -> None:
        """A fault in here ends this request and no other: what it owes is answered, its turn passes on."""
        if self._in_flight:
            # The commit is on its way and will count; the handle closes when its answer comes.
            self._broken = True
            return
        if self._commit_answer is not None and failure is not None:
            (envelope, _statuses), self._commit_answer = self._commit_answer, None
            refuse(envelope, failure)
        if self._cause is None:
            self._close(CloseCause.FAILED)
        self._go_on()

    def add_counts(self, counts: Counter[Hashable]) -> None:
        self._parents.add_counts(counts)
        if self._late:
            counts[self._cause] += self._late

    def owed(self) -> Iterator[Envelope[Any]]:
        if self._commit_answer is not None:
            yield self._commit_answer[0]
        yield from self._waiting or ()

    def on_stop(self) -> None:
        if self._cause is None:
            self._close(CloseCause.FAILED)

    def _observe_parents(self, before: tuple[ParentState, ...]) -> None:
        """Tell whoever watches which parents have changed."""
        if self.dispatcher.observer is None:
            return
        for parent_id, old, new in zip(self._parents.ids, before, self._parents.states, strict=True):
            if old is not new:
                self.observe(("parent", self._request_id, parent_id, new.value))

    def _close(
        self,
        cause: CloseCause,
        envelope: Envelope[Any] | None = None,
        reply: AckReply | AcksSettled | CloseReply | None = None,
    ) -> Any:
        """Close for good, and tell the coordinator, which gives `reply` to the operation that closed the handle.

        Not earlier: as long as its answer is missing that operation has the lane, so that nothing comes between it
        and what the closing releases.
        """
        self._cause = cause
        self._state = HandleState.CLOSED
        self.dispatcher.note("handle", self._request_id, self._state.value)
        ids: tuple[str, ...] = ()
        states: tuple[ParentState, ...] = ()
        try:
            for what in tuple(self._since_us or ()):
                self._measure(what)
            self.cancel_timer(_WINDOW)
            self.cancel_timer(_WAIT)
            before = self._parents.states
            self._parents.close()
            ids, states = self._parents.ids, self._parents.states
            self._observe_parents(before)
            self.observe(("handle", self._request_id, cause.value))
        finally:
            # Whatever is wrong with this request, the others must not wait for it.
            closed = HandleClosed(
                self._request_id, self._place, self._session_id, cause, ids, states, self._unpinned, reply
            )
            self._coordinator.put(Envelope(closed, None if envelope is None else envelope.reply_to))
        return DEFERRED
