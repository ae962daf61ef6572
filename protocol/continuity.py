"""How content continuity does, and when to do something about it (P phase 3, "Validation Signals and Thresholds")."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from statistics import median

import attrs

from .content_replies import StoreCounters
from .mappings import WordMapping
from .retention import Retention
from .statuses import MissReason

__all__ = [
    "PRESSURE",
    "WINDOW_FOLLOW_UPS",
    "WINDOW_SESSIONS",
    "Advice",
    "ContinuityReport",
    "FollowUpCounts",
    "Trigger",
    "continuity_report",
]

WINDOW_FOLLOW_UPS = 30
WINDOW_SESSIONS = 3
_MAX_GROWTH = 0.15
_MAX_MISS_RATE = 0.10
PRESSURE = 0.9
"""The share of `store_total_bytes` that is the budget of bytes where none is given."""


class Trigger(StrEnum):
    """What P names as a reason to change something."""

    PROMPT_GROWTH = "prompt_growth"
    """Refs make prompts longer than they should."""
    FOLLOW_UP_MISSES = "follow_up_misses"
    """Too many follow-ups find nothing."""
    MEMORY_PRESSURE = "memory_pressure"
    """Content takes more than its budget."""


_ADVICE = {
    Trigger.PROMPT_GROWTH: "have PromptRefs.instructions once in your system prompt, and ask with instructions=False",
    Trigger.FOLLOW_UP_MISSES: "see the reasons: evicted wants more store_max_entries, store_max_bytes or "
    "(evictions_over_all) store_total_bytes, expired a longer store_ttl, not_stored a look at the records",
    Trigger.MEMORY_PRESSURE: "give it a larger budget, or propose smaller store_max_entries or store_max_bytes, "
    "or a store_ttl",
}


@attrs.frozen
class Advice:
    """A trigger that has been reached: what was measured, the threshold that it is over, and what to do."""

    trigger: Trigger
    measured: float
    threshold: float
    remedy: str


@attrs.frozen(kw_only=True)
class FollowUpCounts:
    """Follow-ups by what they came to, over all sessions there ever were."""

    full_fetches: int = 0
    summaries: int = 0
    no_intent: int = 0
    """Said nothing that refers to something earlier; they count neither as success nor as failure."""
    no_prior_content: int = 0
    misses: WordMapping[int] = attrs.field(factory=WordMapping[int], converter=WordMapping[int])
    """Of `content_ref_not_found`, by reason."""
    sessions: int = 0
    """In which there was one that referred to something."""

    @property
    def referring(self) -> int:
        """Follow-ups that referred to something."""
        return self.succeeded + self.no_prior_content + self.missed

    @property
    def succeeded(self) -> int:
        return self.full_fetches + self.summaries

    @property
    def missed(self) -> int:
        return sum(self.misses.values())


@attrs.frozen(kw_only=True)
class ContinuityReport:
    """How content continuity does (P phase 3). Rates are from 0 to 1, None where nothing was counted."""

    counters: StoreCounters
    retention: Retention
    """The policy in force."""
    sessions: int
    """That hold content now."""
    entries: int
    bytes: int
    budget_bytes: int
    hit_rate: float | None
    """Of all look-ups of content."""
    kept_hit_rate: float | None
    """Of those that were not answered `evicted` or `expired` (P: at least 0.95)."""
    follow_ups: FollowUpCounts
    follow_up_success: float | None
    """Of the follow-ups that referred to something."""
    follow_up_miss_rate: float | None
    """`content_ref_not_found`, of the same."""
    prompt_growth: float | None
    """The median of what refs added to a prompt, in characters, by the conversation without them."""
    prompts: int
    """Prompts that this is measured over, the newest."""
    window_complete: bool
    """Whether there were enough follow-ups in enough sessions to tune the retention (P: 30 over 3)."""
    advice: tuple[Advice, ...]


def _rate(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _gone(counters: StoreCounters) -> int:
    misses = counters.misses_by_reason
    return misses.get(MissReason.EVICTED, 0) + misses.get(MissReason.EXPIRED, 0)


def continuity_report(
    *,
    counters: StoreCounters,
    retention: Retention,
    sessions: int,
    entries: int,
    used_bytes: int,
    budget_bytes: int | None,
    follow_ups: FollowUpCounts,
    growths: Sequence[float],
) -> ContinuityReport:
    """The report over what the actors have counted."""
    budget = int(retention.total_bytes * PRESSURE) if budget_bytes is None else budget_bytes
    miss_rate = _rate(follow_ups.missed, follow_ups.referring)
    growth = median(growths) if growths else None
    measured = (
        (Trigger.PROMPT_GROWTH, growth, _MAX_GROWTH),
        (Trigger.FOLLOW_UP_MISSES, miss_rate, _MAX_MISS_RATE),
        (Trigger.MEMORY_PRESSURE, float(used_bytes), float(budget)),
    )
    return ContinuityReport(
        counters=counters,
        retention=retention,
        sessions=sessions,
        entries=entries,
        bytes=used_bytes,
        budget_bytes=budget,
        hit_rate=_rate(counters.hits, counters.hits + counters.misses),
        kept_hit_rate=_rate(counters.hits, counters.hits + counters.misses - _gone(counters)),
        follow_ups=follow_ups,
        follow_up_success=_rate(follow_ups.succeeded, follow_ups.referring),
        follow_up_miss_rate=miss_rate,
        prompt_growth=growth,
        prompts=len(growths),
        window_complete=follow_ups.referring >= WINDOW_FOLLOW_UPS and follow_ups.sessions >= WINDOW_SESSIONS,
        advice=tuple(
            Advice(trigger, value, threshold, _ADVICE[trigger])
            for trigger, value, threshold in measured
            if value is not None and value > threshold
        ),
    )
