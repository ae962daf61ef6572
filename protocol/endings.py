"""The one outcome of an execution, put together when it ends (C21)."""

from __future__ import annotations

from .calls import CompletionRecord
from .executions import ExecutionState
from .outcomes import Diagnostic, TranslationOutcome, quality_of
from .progress import Progress
from .schedule import Schedule
from .statuses import ExecutionStatus
from .translations import Plan

__all__ = ["outcome_of"]


def outcome_of(
    plan: Plan,
    parents: Progress,
    schedule: Schedule,
    state: ExecutionState,
    error: str | None,
    *,
    completions: tuple[CompletionRecord, ...],
    diagnostics: tuple[Diagnostic, ...],
) -> TranslationOutcome:
    """The outcome of an execution that is over: every parent is translated, unresolved or cancelled."""
    cancelled = parents.open if state is ExecutionState.CANCELLED else ()
    given_up = () if cancelled else parents.open
    translated = parents.in_source_order(parents.translated)
    return TranslationOutcome(
        request_id=plan.handoff.request_id,
        execution=ExecutionStatus(state.value),
        quality=quality_of(len(translated), len(plan.parents)),
        error=error,
        retries=schedule.retries,
        failover=schedule.failed_over,
        translated=translated,
        unresolved=parents.in_source_order(dict.fromkeys((*parents.unresolved, *given_up))),
        cancelled=cancelled,
        calls=schedule.made,
        translations={parent_id: parents.translated[parent_id] for parent_id in translated},
        completions=completions,
        diagnostics=diagnostics,
    )
