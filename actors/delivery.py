"""The way of a parent from its translation to its one ACK (C3.3, C4): dispatched, recorded, acknowledged.

Rules. Each complete parent is dispatched once, in source order among those that are complete together; one that comes
unresolved is rejected at once. What the feature applied is recorded in the durable feature history before its ACK is
sent. When every parent has been dispatched the ACK window of the request begins. Once the feature can take nothing
more no later parent is dispatched; the handle closes as `DISPATCH_FAILED`, but not before the last batch is over: what
comes unresolved until then is rejected all the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ..protocol.applied import AppliedParent, RecordApplied, Recorded
from ..protocol.execution_messages import SettleParents
from ..protocol.messages import Acknowledge, Close, ReadStatus, Reject
from ..protocol.outcomes import Diagnostic, DiagnosticCode, ParentEvent, ParentEventKind
from ..protocol.replies import AcksSettled, RequestStatus
from ..protocol.statuses import AckStatus, CloseCause, ParentState
from ..protocol.units import ParentPlan
from . import interrupts
from .boundary import Dispatched, FeatureBoundary
from .mailbox import Mailbox
from .outside import Execute, Granted, recording_of
from .reporting import report

__all__ = ["Delivery"]

_REFUSALS = {
    Dispatched.NOT_CLEAN: DiagnosticCode.PARENT_REFUSED,
    Dispatched.REFUSED: DiagnosticCode.PARENT_REFUSED,
    Dispatched.FAULTY: DiagnosticCode.PARENT_REFUSED,
    Dispatched.ROLLED_BACK: DiagnosticCode.ROLLED_BACK,
}


class Delivery:
    """The outbox of one execution: what is to be asked next, and whom; the answers are brought back to it."""

    __slots__ = (
        "_acks",
        "_boundary",
        "_by_hand",
        "_closes",
        "_complete",
        "_concluded",
        "_entries",
        "_events",
        "_handle",
        "_journal",
        "_left_to_caller",
        "_looks",
        "_note",
        "_progress",
        "_recording",
        "_rejected",
        "_request_id",
        "_undeliverable",
        "_words",
        "everything_dispatched",
    )

    def __init__(
        self,
        execute: Execute,
        feature_history: Mailbox | None,
        note: Callable[[Diagnostic], object],
        journal: Callable[..., object],
    ) -> None:
        outside = execute.outside
        self._request_id = execute.plan.handoff.request_id
        self._boundary = FeatureBoundary(outside.feature)
        self._recording = recording_of(execute, feature_history)
        self._by_hand = outside.by_hand
        self._left_to_caller = False
        self._complete: list[tuple[ParentPlan, tuple[str, ...]]] = []
        self._looks = False
        self._rejected: frozenset[str] = frozenset()
        self._progress = outside.progress
        self._note = note
        self._journal = journal
        self._handle = execute.handle
        self._entries: list[AppliedParent] = []
        self._acks: list[Acknowledge | Reject] = []
        self._events: list[ParentEvent] = []
        self._closes: CloseCause | None = None
        self._words: list[tuple[str, str]] = []
        self._undeliverable = False
        self._concluded = False
        self.everything_dispatched = False
        """Set once nothing more will be dispatched."""

    def reach(self, granted: Granted) -> None:
        """The handle of the request, as it is while the operation has the lane; none if it has closed."""
        self._handle = granted.handle
        self._looks = granted.rejects
        self._rejected = granted.rejected

    def complete(self, plan: ParentPlan, segments: tuple[str, ...]) -> None:
        """A parent was translated: it is dispatched next."""
        self._complete.append((plan, segments))

    def known(self, status: RequestStatus | None) -> None:
        """How the parents stand; None if the handle has closed. What was rejected by hand is not applied (C3.3)."""
        states = {} if status is None else status.parents
        self._rejected = frozenset(parent for parent, state in states.items() if state is ParentState.REJECTED)

    def _dispatch(self, plan: ParentPlan, segments: tuple[str, ...]) -> None:
        if self._undeliverable:
            return
        if plan.id in self._rejected:
            self._note(Diagnostic(DiagnosticCode.PARENT_REFUSED, plan.id, ParentState.REJECTED.value))
            self._tell(plan.id, ParentEventKind.REJECTED, reason=ParentState.REJECTED.value)
            return
        self._tell(plan.id, ParentEventKind.DISPATCHED, segments)
        dispatched, word = self._boundary.dispatch(plan.id, plan.source, segments)
        if dispatched is not Dispatched.APPLIED:
            self._words.append((plan.id, dispatched.value))
        if dispatched is Dispatched.APPLIED:
            clean = "".join(segments)
            if self._recording is not None:
                self._entries.append(self._recording.entry(plan.id, plan.segments, segments))
            self._acks.append(Acknowledge(self._request_id, plan.id, clean))
            self._events.append(ParentEvent(self._request_id, plan.id, ParentEventKind.ACCEPTED))
        elif dispatched is Dispatched.UNDELIVERABLE:
            self._undeliverable = True
            self._note(Diagnostic(DiagnosticCode.DISPATCH_FAILED, plan.id))
        elif dispatched is Dispatched.LEFT_TO_CALLER:
            self._left_to_caller = True
            if not self._by_hand:
                self._note(Diagnostic(DiagnosticCode.LEFT_TO_CALLER, plan.id))
        else:
            self._note(Diagnostic(_REFUSALS[dispatched], plan.id, word))
            self._acks.append(Reject(self._request_id, plan.id))
            self._events.append(ParentEvent(self._request_id, plan.id, ParentEventKind.REJECTED, reason=word))

    def unresolved(self, parent_id: str, error: str | None) -> None:
        """Reject a parent that will not be translated: it must not hold up what is accepted behind it."""
        self._tell(parent_id, ParentEventKind.UNRESOLVED, reason=error)
        self._acks.append(Reject(self._request_id, parent_id))

    def given_up(self, parent_ids: Iterable[str], error: str | None) -> None:
        """The request has failed with these parents open: they are discarded with the handle, and told."""
        for parent_id in parent_ids:
            self._tell(parent_id, ParentEventKind.UNRESOLVED, reason=error)

    def close(self, cause: CloseCause) -> None:
        """Have the handle closed, once what is to be acknowledged is."""
        self._closes = cause

    def next_question(self) -> tuple[Mailbox, object] | None:
        """What is to be asked next, and whom; None if everything is delivered."""
        if self._looks and self._handle is not None:
            # First of all: what this event leads to may close the handle, and the next one may complete a parent.
            self._looks = False
            return self._handle, ReadStatus(self._request_id)
        complete, self._complete = self._complete, []
        for plan, segments in complete:
            self._dispatch(plan, segments)
        if self._words:
            words, self._words = self._words, []
            self._journal("dispatched", self._request_id, words)
        if self._entries and self._recording is not None:
            entries, self._entries = tuple(self._entries), []
            return self._recording.feature_history, RecordApplied(entries)
        if self._handle is None:
            self._acks.clear()
            self._closes = None
            self._tell_events()
            return None
        last = self.everything_dispatched and not self._concluded
        self._concluded = self.everything_dispatched
        if last and self._undeliverable and self._closes is None:
            self._closes = CloseCause.DISPATCH_FAILED
        activate = last and not self._undeliverable
        if self._acks or activate:
            acks, self._acks = tuple(self._acks), []
            return self._handle, SettleParents(self._request_id, acks, activate, self._left_to_caller)
        if self._closes is not None:
            cause, self._closes = self._closes, None
            return self._handle, Close(self._request_id, cause)
        return None

    def recorded(self, reply: Recorded) -> None:
        if reply.failed:
            self._note(Diagnostic(DiagnosticCode.FEATURE_HISTORY_FAILED))

    def settled(self, question: SettleParents, reply: AcksSettled | None) -> None:
        """The handle has answered; None if it had closed by then."""
        statuses = (AckStatus.STALE,) * len(question.acks) if reply is None else reply.statuses
        for ack, status in zip(question.acks, statuses, strict=True):
            if status is not AckStatus.ACCEPTED and status is not AckStatus.REJECTED:
                self._note(Diagnostic(DiagnosticCode.ACK_REFUSED, ack.parent_id, status.value))
        self._tell_events()

    def _tell_events(self) -> None:
        events, self._events = self._events, []
        for event in events:
            self._call(event)

    def _tell(
        self, parent_id: str, kind: ParentEventKind, segments: tuple[str, ...] = (), *, reason: str | None = None
    ) -> None:
        self._call(ParentEvent(self._request_id, parent_id, kind, segments, reason))

    def _call(self, event: ParentEvent) -> None:
        if self._progress is None:
            return
        try:
            self._progress(event)
        except BaseException as error:
            interrupts.keep(error)
            report("ERROR", "a progress callback raised {error_type}", error_type=type(error).__name__)
