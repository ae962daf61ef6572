"""The outside of an execution: who translates, who applies, who is told. Addresses, like mailboxes, not values.

The messages here carry such addresses besides their values, and therefore stay between the actors of one process.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs

from ..protocol.applied import AppliedParent, RecordApplied
from ..protocol.calls import CallTaker, Completion, Provider, ProviderCall
from ..protocol.features import Feature
from ..protocol.handoff import Handoff
from ..protocol.history import Turn
from ..protocol.outcomes import ParentEvent, TranslationOutcome
from ..protocol.translations import Plan
from .mailbox import Envelope, Mailbox

__all__ = [
    "Addresses",
    "Begin",
    "BeginApart",
    "CallEnded",
    "CallOver",
    "CallsMade",
    "CancelCalls",
    "Enter",
    "Execute",
    "ExecutionOver",
    "Granted",
    "MakeCalls",
    "Outside",
    "Recording",
    "ServedBy",
    "recording_of",
]


@attrs.frozen(kw_only=True)
class Outside:
    """`provider` None: calls are answered by message alone.

    `by_hand`: the application applies and acknowledges the parents itself; always so without a `feature`. `document`
    names what is translated. `finished` is the envelope whose answer is the outcome.
    """

    provider: Provider | CallTaker | None
    feature: Feature | None
    by_hand: bool
    document: str
    progress: Callable[[ParentEvent], object] | None
    finished: Envelope[Any]


@attrs.frozen
class Begin:
    """Face → coordinator: start a translation or a direct call."""

    plan: Plan
    outside: Outside

    @property
    def handoff(self) -> Handoff:
        return self.plan.handoff


@attrs.frozen
class BeginApart:
    """Coordinator → itself: the same for a request that was found to take no part."""

    begin: Begin

    @property
    def handoff(self) -> Handoff:
        return self.begin.handoff


@attrs.frozen(kw_only=True)
class Execute:
    """Coordinator → service → operation: run it, as the `place`-th execution.

    `takes_part` goes with the incarnation of the session and the history that was read; `handle` is that of the
    request.
    """

    plan: Plan
    outside: Outside
    place: int
    takes_part: bool
    incarnation: int = 0
    history: tuple[Turn, ...] = ()
    handle: Mailbox | None = None


@attrs.frozen
class Recording:
    """How the applied parents of a request get into the durable feature history (C13)."""

    feature_history: Mailbox
    document: str
    source_language: str
    target_language: str
    provider: str

    def applied(self, parent_id: str, source: str, translated: str) -> None:
        self.feature_history.tell(RecordApplied((self.entry(parent_id, (source,), (translated,)),)))

    def entry(self, parent_id: str, source: tuple[str, ...], translated: tuple[str, ...]) -> AppliedParent:
        return AppliedParent(
            document=self.document,
            parent_id=parent_id,
            source="".join(source),
            translated="".join(translated),
            lengths=tuple(zip(map(len, source), map(len, translated), strict=True)) if len(source) > 1 else (),
            source_language=self.source_language,
            target_language=self.target_language,
            provider=self.provider,
        )


def recording_of(begin: Begin | Execute, feature_history: Mailbox | None) -> Recording | None:
    """How the applied parents of a translation are recorded; None where that is off."""
    plan, outside = begin.plan, begin.outside
    if feature_history is None or plan.direct:
        return None
    provider = plan.handoff.provider
    return Recording(feature_history, outside.document, plan.source_language, plan.target_language, provider)


@attrs.frozen
class Enter:
    """Operation → coordinator: let me have the lane of my session, one event after another."""

    request_id: str
    place: int
    operation: Mailbox


@attrs.frozen
class Granted:
    """Coordinator → operation: it is yours until you answer; `handle` is that of the request while it is open.

    `rejects` if parents of it may have been rejected by hand; once it has closed, `rejected` holds them.
    """

    request_id: str
    place: int
    handle: Mailbox | None
    rejects: bool = False
    rejected: frozenset[str] = frozenset()


@attrs.frozen
class ExecutionOver:
    """Operation → service: the outcome, or the fault that broke the operation; and what is answered after that."""

    request_id: str
    place: int
    outcome: TranslationOutcome | None
    failure: BaseException | None = None
    then: tuple[tuple[Envelope[Any], object], ...] = ()


@attrs.frozen
class MakeCalls:
    """Operation → gateway: make these calls, in order, numbered from `first_number` as far as the circuit lets them.

    A call without a key gets the one that last succeeded.
    """

    calls: tuple[ProviderCall, ...]
    first_number: int
    operation: Mailbox
    provider: Provider | CallTaker | None


@attrs.frozen
class CallsMade:
    """Gateway → operation: number and key of each call, or None for one that was not made."""

    placed: tuple[tuple[int, int] | None, ...]


@attrs.frozen
class CallEnded:
    """Gateway → operation: how a call ended, by its first answer; `retry_after_us` as a failing provider asked."""

    number: int
    completion: Completion | None
    error: str | None
    retry_after_us: int | None = None


@attrs.frozen
class CallOver:
    """Gateway → operation: the call that was to be answered has ended already, or was cancelled."""

    number: int


@attrs.frozen
class CancelCalls:
    """Operation → gateway: nobody waits for these calls any more."""

    request_id: str
    numbers: tuple[int, ...]


@attrs.frozen(kw_only=True)
class Addresses:
    """Whom an operation talks to. `feature_history` is None where that is off."""

    coordinator: Mailbox
    sessions: Mailbox
    gateway: Mailbox
    service: Mailbox
    feature_history: Mailbox | None


@attrs.frozen
class ServedBy:
    """Runtime → coordinator, first of all: who executes requests."""

    service: Mailbox
