"""The translation operation: one execution, from its first call to its one outcome (C3.4, C5–C10, C12).

Rules. One event at a time: an answer, the end of a back-off, a time-out, an end from outside. What an event leads to is
done before the next one: parents are dispatched to the feature, recorded, acknowledged and committed, the calls that
follow are made. A request that takes part does all that in the lane of its session, one that does not takes its events
as they come. The first cause ends the execution; from then on everything is dropped, nothing is retried, and every open
call is cancelled.

Not promised: which of two events comes first that happen at the same time.
"""

from __future__ import annotations

from typing import Any

import attrs

from ..protocol.answers import completed
from ..protocol.applied import RecordApplied, Recorded
from ..protocol.batches import Ask, BatchRun, Failed, Resolved, Retry, Step
from ..protocol.calls import CompletionRecord
from ..protocol.drafts import draft, record_of
from ..protocol.endings import outcome_of
from ..protocol.errors import UnknownCall
from ..protocol.execution_messages import (
    AnswerCall,
    ClaimTurns,
    CommitDirect,
    DirectCommitted,
    End,
    Ended,
    SettleParents,
)
from ..protocol.executions import ENDS_FROM_OUTSIDE, EXECUTION_TABLE, ExecutionEvent, ExecutionState
from ..protocol.failures import longest_delay_us
from ..protocol.markers import token_for
from ..protocol.messages import ReadStatus
from ..protocol.outcomes import MAX_DIAGNOSTICS, Diagnostic, DiagnosticCode, Diagnostics
from ..protocol.participation import ProviderPolicy
from ..protocol.progress import Progress
from ..protocol.replies import AcksSettled, CloseReply, RequestStatus
from ..protocol.schedule import Schedule
from ..protocol.settings import Settings, microseconds
from ..protocol.statuses import CloseCause, RegisterStatus
from .actor import DEFERRED, handles
from .answering import CallFailed, answer, refuse
from .delivery import Delivery
from .direct import DirectCommit
from .dispatcher import Dispatcher
from .lane_worker import Event, LaneWorker
from .mailbox import Envelope
from .outside import (
    Addresses,
    CallEnded,
    CallOver,
    CallsMade,
    CancelCalls,
    Execute,
    ExecutionOver,
    Granted,
    MakeCalls,
)

__all__ = ["TranslationOperation"]

_TIMEOUT = "timeout"


class TranslationOperation(LaneWorker):
    """One execution; a child of the translation service."""

    def __init__(
        self,
        dispatcher: Dispatcher,
        execute: Execute,
        *,
        addresses: Addresses,
        settings: Settings,
        policy: ProviderPolicy,
    ) -> None:
        super().__init__(dispatcher, execute, addresses.coordinator)
        self._plan = plan = execute.plan
        self._provider = execute.outside.provider
        self._incarnation = execute.incarnation
        self._history = execute.history
        self._addresses = addresses
        self._timeout_us = microseconds(settings.execution_timeout)
        self._times_out_us = 0
        self._token = token_for(plan.handoff.request_id, (parent.source for parent in plan.handoff.parents))
        self._schedule = Schedule(
            plan.batches,
            token=self._token,
            policy=policy,
            direct=plan.direct,
            max_concurrent_calls=settings.max_concurrent_calls,
        )
        self._parents = Progress(plan.parents)
        self._diagnostics = Diagnostics()
        self._note = self._diagnostics.add
        self._delivery = Delivery(execute, addresses.feature_history, self._note, dispatcher.note)
        self._direct = DirectCommit(execute, addresses.sessions, self._note) if plan.direct else None
        self._state = ExecutionState.RUNNING
        self._error: str | None = None
        self._placing: tuple[tuple[BatchRun, Ask], ...] = ()
        self._completions: list[CompletionRecord] = []
        if not execute.takes_part:
            self._note(Diagnostic(DiagnosticCode.HANDOFF_REFUSED, detail=RegisterStatus.NOT_PARTICIPATING.value))

    @property
    def name(self) -> str:
        return f"TranslationOperation({self._request_id})"

    @handles(Execute)
    def _start(self, _message: Execute, envelope: Envelope[Any]) -> Any:
        self._lane = envelope
        self._times_out_us = self.dispatcher.now_us() + self._timeout_us
        self.start_timer(_TIMEOUT, self._timeout_us)
        self.observe(("execution", self._request_id, self._state.value))
        self.dispatcher.note("execution", self._request_id, self._state.value, self._plan.handoff.session_id)
        self._work()
        return DEFERRED

    def _reach(self, granted: Granted) -> None:
        self._delivery.reach(granted)

    @handles(CallEnded)
    def _call_has_ended(self, message: CallEnded, _envelope: Envelope[Any]) -> None:
        if isinstance(self._asked, AnswerCall) and self._asked.number == message.number:
            self._asked = None
            self._call_ended(message)
            self._work()
        else:
            self._take(message)

    @handles(CallOver)
    def _call_was_over(self, message: CallOver, _envelope: Envelope[Any]) -> None:
        """Its provider was faster than the answer that came by message; what that led to is among the events."""
        self._note(Diagnostic(DiagnosticCode.ANSWER_SUPPRESSED, f"{self._request_id}/{message.number}"))
        if isinstance(self._asked, AnswerCall) and self._asked.number == message.number:
            self._asked = None
            self._work()

    @handles(AnswerCall, End)
    def _from_outside(self, message: AnswerCall | End, envelope: Envelope[Any]) -> Any:
        if self._over:
            # Its terminal state is written: the service knows what to answer now.
            self._addresses.service.put(envelope)
        elif isinstance(message, End) and self._takes_part and self._lane is None:
            # The coordinator has the lane for this; what waits for it comes too late.
            self._end(message, envelope)
            self._finish()
        else:
            self._take(envelope)
        return DEFERRED

    def _work(self) -> None:
        """Do what is due, until an answer is missing or nothing is left."""
        while self._asked is None and not self._over:
            question = (self._direct or self._delivery).next_question()
            if question is not None:
                self._ask(*question)
            elif self._state is not ExecutionState.RUNNING:
                self._finish()
                return
            elif self._schedule.over:
                self._conclude()
            elif self._make_calls():
                continue
            elif self._events:
                # Taken out afterwards: after a fault whoever waits for it is still answered.
                self._handle_event(self._events[0])
                self._events.popleft()
            else:
                break
        self._rest()

    @handles(Recorded, AcksSettled, CallsMade, CloseReply, DirectCommitted, RequestStatus, CallFailed)
    def _answered(self, reply: Any, _envelope: Envelope[Any]) -> None:
        """The answer to the one question that is open; a handle that has closed by then gives none."""
        if isinstance(reply, CallFailed) and self._asked is None:
            # Not even the lane can be had.
            raise reply.error
        question, self._asked = self._asked, None
        failed = reply.error if isinstance(reply, CallFailed) else None
        if isinstance(question, RecordApplied):
            self._delivery.recorded(Recorded(failed=True) if failed is not None else reply)
        elif isinstance(question, ReadStatus):
            self._delivery.known(None if failed is not None else reply)
        elif isinstance(question, SettleParents):
            self._delivery.settled(question, None if failed is not None else reply)
        elif isinstance(question, CommitDirect) and self._direct is not None:
            self._direct.committed(None if failed is not None else reply)
        elif isinstance(question, MakeCalls | AnswerCall) and failed is not None:
            raise failed
        elif isinstance(question, MakeCalls):
            self._calls_made(reply)
        self._work()

    def _handle_event(self, event: Event) -> None:
        if isinstance(event, CallEnded):
            self._call_ended(event)
        elif isinstance(event, str):
            self._timer_fired(event)
        elif isinstance(event.message, End):
            self._end(event.message, event)
        else:
            self._answer_call(event.message, event)

    def _timer_fired(self, key: str) -> None:
        self.dispatcher.note("fired", self._request_id, key)
        if key != _TIMEOUT:
            self._schedule.wake(int(key.rpartition(" ")[2]))
        elif self._move(ExecutionEvent.TIME_OUT):
            self._error = ENDS_FROM_OUTSIDE[CloseCause.TIMED_OUT][1]
            self._delivery.close(CloseCause.TIMED_OUT)

    def _end(self, message: End, envelope: Envelope[Any]) -> None:
        event, error = ENDS_FROM_OUTSIDE[message.cause]
        self._move(event)
        self._error = error
        self._answering.append((envelope, Ended(self._request_id, ended=True)))

    def _answer_call(self, message: AnswerCall, envelope: Envelope[Any]) -> None:
        """An answer that was given as a message goes to the gateway, which owns the call, and comes back from there."""
        asked = self._schedule.asked(message.number)
        if asked is None:
            if not 1 <= message.number <= self._schedule.made:
                refuse(envelope, UnknownCall(f"{message.request_id}/{message.number}"))
                return
            self._note(Diagnostic(DiagnosticCode.ANSWER_SUPPRESSED, f"{message.request_id}/{message.number}"))
            answer(envelope, None)
            return
        self._answering.append((envelope, None))
        self._ask(self._addresses.gateway, completed(message, asked, self._token))

    def _call_ended(self, ended: CallEnded) -> None:
        asked = self._schedule.asked(ended.number)
        taken = self._schedule.ended(ended.number, ended.completion, ended.error, ended.retry_after_us)
        call = f"{self._request_id}/{ended.number}"
        if taken is None:
            self._note(Diagnostic(DiagnosticCode.ANSWER_SUPPRESSED, call))
            return
        batch, step = taken
        verdict = batch.take_verdict()
        if asked is not None:
            self.dispatcher.note("answer", self._request_id, ended, asked.format, verdict)
        if ended.completion is not None and len(self._completions) < MAX_DIAGNOSTICS:
            self._completions.append(record_of(call, batch.attempt, ended.completion))
        self._take_step(batch, step)

    def _make_calls(self) -> bool:
        """Ask for the calls that may be made now; whether anything was due."""
        placing: list[tuple[BatchRun, Ask]] = []
        due = self._schedule.next_call()
        if due is None:
            return False
        while due is not None:
            batch, step = due
            if isinstance(step, Ask):
                placing.append((batch, step))
                if self._direct is not None and not step.recovers and step.key is None:
                    self._direct.begin_attempt()
            else:
                self._take_step(batch, step)
            due = self._schedule.next_call()
        if placing:
            self._placing = tuple(placing)
            calls = tuple(draft(self._plan, self._token, self._history, batch, ask) for batch, ask in placing)
            make = MakeCalls(calls, self._schedule.made + 1, self.mailbox, self._provider)
            self._ask(self._addresses.gateway, make)
        return True

    def _calls_made(self, made: CallsMade) -> None:
        claimed = 0
        for (batch, ask), placed in zip(self._placing, made.placed, strict=True):
            if placed is None:
                self._take_step(batch, self._schedule.not_placed(batch))
                continue
            number, key = placed
            self._schedule.placed(batch, number, key)
            claimed += not ask.recovers
        self._placing = ()
        if claimed and self._takes_part:
            claim = ClaimTurns(self._plan.handoff.session_id, self._incarnation, claimed)
            self._addresses.sessions.tell(claim)

    def _take_step(self, batch: BatchRun, step: Step) -> None:
        """What follows for a batch, besides the calls that the schedule keeps."""
        if self._direct is not None:
            self._direct.follow(step)
        for diagnostic in batch.take_notes():
            self._note(diagnostic)
        if isinstance(step, Resolved):
            self._resolved(step)
        elif isinstance(step, Retry):
            delay_us = self._delay_us(step)
            self.start_timer(f"retry {batch.number}", delay_us)
            self.dispatcher.note("retry", self._request_id, batch.number, delay_us)
        elif isinstance(step, Failed):
            self._batch_failed(batch, step.error)

    def _delay_us(self, step: Retry) -> int:
        """The back-off; or what the provider asked for, if that is longer and ends before the execution times out."""
        back_off_us = self.dispatcher.back_off_us(self._request_id, longest_delay_us(step.failed_attempt))
        asked_us = step.retry_after_us
        fits = asked_us is not None and self.dispatcher.now_us() + asked_us < self._times_out_us
        return max(back_off_us, asked_us) if asked_us is not None and fits else back_off_us

    def _resolved(self, step: Resolved) -> None:
        complete, suppressed = self._parents.resolve(step.pieces)
        if suppressed:
            self._note(Diagnostic(DiagnosticCode.FRAGMENT_SUPPRESSED, detail=str(suppressed)))
        for plan in complete:
            segments = self._parents.translated[plan.id]
            if self._direct is not None:
                self._direct.complete("".join(segments))
            else:
                self._delivery.complete(plan, segments)
        self._delivery.everything_dispatched = self._parents.dispatchable

    def _batch_failed(self, batch: BatchRun, error: str) -> None:
        """Its parents are rejected at once, unless this ends the request: then they are discarded with the handle."""
        if self._schedule.over and not self._parents.translated:
            return
        for parent_id in self._parents.fail(batch.units):
            self._delivery.unresolved(parent_id, error)
        self._delivery.everything_dispatched = self._parents.dispatchable

    def _conclude(self) -> None:
        if self._parents.translated:
            self._move(ExecutionEvent.COMPLETE)
        elif self._move(ExecutionEvent.FAIL):
            self._error = self._schedule.first_error
            self._delivery.close(CloseCause.EXECUTION_FAILED)

    def _move(self, event: ExecutionEvent) -> bool:
        following = EXECUTION_TABLE[self._state].get(event)
        if following is None:
            return False
        self._state = following
        self.observe(("execution", self._request_id, following.value))
        return True

    def _finish(self) -> None:
        """The one end: the outcome goes out, and what is still open is cancelled."""
        if self._state is ExecutionState.FAILED:
            self._delivery.given_up(self._parents.open, self._error)
        outcome = outcome_of(
            self._plan,
            self._parents,
            self._schedule,
            self._state,
            self._error,
            completions=tuple(self._completions),
            diagnostics=self._diagnostics.all(),
        )
        self.dispatcher.note("outcome", outcome)
        self._stop_everything(ExecutionOver(self._request_id, self._place, outcome))

    def _stop_everything(self, over: ExecutionOver) -> None:
        for key in tuple(self._timers or ()):
            self.cancel_timer(key)
        # Those that were to be made too: whether they were is not known if the gateway failed in the middle.
        first = self._schedule.made + 1
        numbers = (*self._schedule.open_calls, *range(first, first + len(self._placing)))
        if numbers:
            self._addresses.gateway.tell(CancelCalls(self._request_id, numbers))
        if self._direct is not None:
            self._direct.abort()
        over = attrs.evolve(over, then=self._owed_answers())
        # Not earlier: as long as nobody is told, a fault in here is told by `on_failure`.
        self._over = True
        self._addresses.service.tell(over)
        for event in self._events:
            if isinstance(event, Envelope):
                self._addresses.service.put(event)
        self._events.clear()

    def on_failure(self, _type: object, failure: BaseException | None, _traceback: object) -> None:
        """A fault in here ends this execution and no other; its handle is disposed, whoever waits is told."""
        if not self._over:
            self._stop_everything(ExecutionOver(self._request_id, self._place, None, failure))
