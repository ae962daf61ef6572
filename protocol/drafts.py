"""From what a batch asks for to the call that a provider sees (C3.1, C6)."""

from __future__ import annotations

from .batches import Ask, BatchRun
from .calls import CallUnit, Completion, CompletionRecord, ProviderCall
from .history import Turn
from .statuses import Purpose
from .translations import Plan

__all__ = ["draft", "record_of"]


def draft(plan: Plan, token: str, history: tuple[Turn, ...], batch: BatchRun, ask: Ask) -> ProviderCall:
    """The call, without the number that it gets when it is made; key 0 is the one that last succeeded.

    A recovery has a purpose of its own, and no history in its prompt (C6).
    """
    handoff = plan.handoff
    return ProviderCall(
        id="",
        request_id=handoff.request_id,
        number=0,
        purpose=Purpose.STRUCTURED_RECOVERY.value if ask.recovers else handoff.purpose,
        provider=handoff.provider,
        key=ask.key or 0,
        format=ask.format,
        units=tuple(CallUnit(unit.id, unit.wire(token), unit.pieces) for unit in ask.units),
        history=() if ask.recovers else history,
        source_language=plan.source_language,
        target_language=plan.target_language,
        attempt=batch.attempt,
        repair=ask.repair,
    )


def record_of(call: str, attempt: int, completion: Completion) -> CompletionRecord:
    """What is kept of a completion: its facts, without its text."""
    return CompletionRecord(
        call,
        attempt,
        completion.termination,
        completion.model,
        completion.input_tokens,
        completion.output_tokens,
    )
