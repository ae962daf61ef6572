"""The way of a parent from its translation to its one ACK (C3.3, C4): dispatched, recorded, acknowledged.

Rules. Each complete parent is dispatched once, in source order among those that are complete together; one that comes
unresolved is rejected at once. What the feature applied is recorded in the durable feature history before its ACK is
sent. When every parent has been dispatched the ACK window of the request begins. Once the feature can take nothing
more, the handle closes as `DISPATCH_FAILED`, and no later parent is dispatched.
"""

from __future__ import annotations

from collections.abc import Callable

from ..protocol.applied import AppliedParent, RecordApplied, Recorded
from ..protocol.messages import Acknowledge, AcksSettled, Close, Reject, SettleParents
from ..protocol.outcomes import Diagnostic, DiagnosticCode, ParentEvent, ParentEventKind
from ..protocol.statuses import AckStatus, CloseCause
from ..protocol.units import ParentPlan
from .boundary import Dispatched, FeatureBoundary
from .mailbox import Mailbox
from .outside import Execute, recording_of
from .reporting import report

__all__ = ["Delivery"]

_REFUSALS = {
    Dispatched.NOT_CLEAN: DiagnosticCode.PARENT_REFUSED,
    Dispatched.REFUSED: DiagnosticCode.PARENT_REFUSED,
    Dispatched.ROLLED_BACK: DiagnosticCode.ROLLED_BACK,
}


class Delivery:
    """The outbox of one execution. `ask` sends a question to another actor, whose answer comes back to `answered`."""

    __slots__ = (
        "_acks",
        "_activated",
        "_boundary",
        "_closes",
        "_entries",
        "_events",
        "_handle",
        "_note",
        "_progress",
        "_recording",
        "_request_id",
        "_undeliverable",
        "everything_dispatched",
    )

    def __init__(self, execute: Execute, feature_history: Mailbox | None, note: Callable[[Diagnostic], object]) -> None:
        outside = execute.outside
        self._request_id = execute.plan.handoff.request_id
        self._boundary = FeatureBoundary(outside.feature)
        self._recording = None if outside.by_hand else recording_of(execute, feature_history)
        self._progress = outside.progress
        self._note = note
        self._handle = execute.handle
        self._entries: list[AppliedParent] = []
        self._acks: list[Acknowledge | Reject] = []
        self._events: list[ParentEvent] = []
        self._closes: CloseCause | None = None
        self._undeliverable = False
        self._activated = False
        self.everything_dispatched = False
        """Set once nothing more will be dispatched."""

    def reach(self, handle: Mailbox | None) -> None:
        """The handle of the request, as it is while the operation has the lane; None if there is none (any more)."""
        self._handle = handle

    def complete(self, plan: ParentPlan, segments: tuple[str, ...]) -> None:
        """Dispatch a parent that was translated."""
        if self._undeliverable:
            return
        self._tell(plan.id, ParentEventKind.DISPATCHED, segments)
        dispatched = self._boundary.dispatch(plan.id, plan.source, segments)
        if dispatched is Dispatched.APPLIED:
            clean = "".join(segments)
            if self._recording is not None:
                self._entries.append(self._recording.entry(plan.id, plan.source, clean))
            self._acks.append(Acknowledge(self._request_id, plan.id, clean))
            self._events.append(ParentEvent(self._request_id, plan.id, ParentEventKind.ACCEPTED))
        elif dispatched is Dispatched.UNDELIVERABLE:
            self._undeliverable = True
            self._note(Diagnostic(DiagnosticCode.DISPATCH_FAILED, plan.id))
            self.close(CloseCause.DISPATCH_FAILED)
        elif dispatched is not Dispatched.LEFT_TO_CALLER:
            self._note(Diagnostic(_REFUSALS[dispatched], plan.id, dispatched.value))
            self._acks.append(Reject(self._request_id, plan.id))
            self._events.append(ParentEvent(self._request_id, plan.id, ParentEventKind.REJECTED))

    def unresolved(self, parent_id: str) -> None:
        """Reject a parent that will not be translated: it must not block what is accepted behind it."""
        self._tell(parent_id, ParentEventKind.UNRESOLVED)
        self._acks.append(Reject(self._request_id, parent_id))

    def close(self, cause: CloseCause) -> None:
        """Have the handle closed, once what is to be acknowledged is."""
        self._closes = cause

    def next_question(self) -> tuple[Mailbox, object] | None:
        """What is to be asked next, and whom; None if everything is delivered."""
        if self._entries and self._recording is not None:
            entries, self._entries = tuple(self._entries), []
            return self._recording.feature_history, RecordApplied(entries)
        if self._handle is None:
            self._acks.clear()
            self._closes = None
            self._tell_events()
            return None
        activate = self.everything_dispatched and not self._undeliverable and not self._activated
        if self._acks or activate:
            acks, self._acks = tuple(self._acks), []
            self._activated = self._activated or activate
            return self._handle, SettleParents(self._request_id, acks, activate)
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

    def _tell(self, parent_id: str, kind: ParentEventKind, segments: tuple[str, ...] = ()) -> None:
        self._call(ParentEvent(self._request_id, parent_id, kind, segments))

    def _call(self, event: ParentEvent) -> None:
        if self._progress is None:
            return
        try:
            self._progress(event)
        except Exception as error:
            report("ERROR", "a progress callback raised {error_type}", error_type=type(error).__name__)
