"""What the translation service counts: how executions ended."""

from __future__ import annotations

from collections import Counter

from ..protocol.mappings import WordMapping
from ..protocol.outcomes import TranslationOutcome
from ..protocol.runtime_statistics import ExecutionStatistics, OutcomeCount
from ..protocol.statuses import ExecutionStatus, Quality
from .error_names import ErrorNames

__all__ = ["ExecutionCounters"]


class ExecutionCounters:
    """The numbers of one service."""

    __slots__ = ("_broken", "_errors", "_failovers", "_outcomes", "_retries")

    def __init__(self) -> None:
        self._outcomes: Counter[tuple[ExecutionStatus, Quality]] = Counter()
        self._errors = ErrorNames()
        self._retries = 0
        self._failovers = 0
        self._broken = 0

    def over(self, outcome: TranslationOutcome | None) -> None:
        """An execution has ended; without an outcome if it broke."""
        if outcome is None:
            self._broken += 1
            return
        self._outcomes[outcome.execution, outcome.quality] += 1
        if outcome.error is not None:
            self._errors.add(outcome.error)
        self._retries += outcome.retries
        self._failovers += outcome.failover

    def read(self, *, running: int) -> ExecutionStatistics:
        return ExecutionStatistics(
            running=running,
            outcomes=tuple(OutcomeCount(*ended, count) for ended, count in sorted(self._outcomes.items())),
            errors=WordMapping(self._errors.counts),
            retries=self._retries,
            failovers=self._failovers,
            broken=self._broken,
        )
