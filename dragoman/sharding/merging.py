"""How the answers of several shards become one."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import attrs

from ..actors.answering import ReplyTo
from ..actors.dispatcher import MessageCounts
from ..protocol.circuits import CircuitState
from ..protocol.content_replies import StoreCounters, StoreSnapshot
from ..protocol.continuity import ContinuityReport, FollowUpCounts, continuity_report
from ..protocol.histogram import Histogram
from ..protocol.mappings import FrozenMapping, WordMapping
from ..protocol.replies import NO_REQUEST, CloseReply
from ..protocol.runtime_statistics import OutcomeCount, RuntimeStatistics
from ..protocol.statuses import AckStatus, ActivateStatus, CloseStatus, ExecutionStatus, Quality
from ..reports import ShutdownReport, Snapshot

__all__ = ["Gathering", "known", "merged_continuity", "merged_shutdown", "merged_snapshot", "merged_statistics"]

Merge = Callable[[Sequence[Any]], Any]


class Gathering:
    """Takes the answers of several shards for one reply; the first error is the reply, unless `lenient` of its type."""

    def __init__(
        self,
        shards: int,
        reply_to: ReplyTo | None,
        merge: Merge,
        lenient: type[BaseException] | tuple[type[BaseException], ...] = (),
    ) -> None:
        self._reply_to = reply_to
        self._merge = merge
        self._lenient = lenient
        self._values: list[Any] = [None] * shards
        self._errors: list[BaseException | None] = [None] * shards
        self._taken: set[int] = set()
        self._counting = threading.Lock()

    @property
    def places(self) -> tuple[ReplyTo, ...]:
        """Where the answer of each shard goes."""
        return tuple(_Place(self, shard) for shard in range(len(self._values)))

    def take(self, shard: int, value: Any, error: BaseException | None) -> None:
        with self._counting:
            if shard in self._taken:
                return
            self._taken.add(shard)
            self._values[shard], self._errors[shard] = value, error
            if len(self._taken) < len(self._values):
                return
        if self._reply_to is None:
            return
        answered = [value for value, error in zip(self._values, self._errors, strict=True) if error is None]
        failures = [error for error in self._errors if error is not None]
        hard = [error for error in failures if not isinstance(error, self._lenient)]
        if hard or not answered:
            self._reply_to.settle(None, (hard or failures)[0])
            return
        try:
            merged = self._merge(answered)
        except Exception as error:
            self._reply_to.settle(None, error)
            return
        self._reply_to.settle(merged, None)


class _Place:
    __slots__ = ("_gathering", "_shard")

    def __init__(self, gathering: Gathering, shard: int) -> None:
        self._gathering = gathering
        self._shard = shard

    def settle(self, value: Any, error: BaseException | None) -> bool:
        self._gathering.take(self._shard, value, error)
        return True


def known(answers: Sequence[Any]) -> Any:
    """Of the answers of all shards about one request, that of the shard which knows it; else any."""
    return next((answer for answer in answers if not _is_unknown(answer)), answers[0])


def _is_unknown(answer: Any) -> bool:
    status = getattr(answer, "status", None)
    if isinstance(answer, CloseReply):
        return status is CloseStatus.UNKNOWN_REQUEST
    return answer is None or answer == NO_REQUEST or status in (AckStatus.STALE, ActivateStatus.UNKNOWN_REQUEST)


def merged_statistics(answers: Sequence[RuntimeStatistics]) -> RuntimeStatistics:
    """The sums over all shards; the longest queue and the latest instant of any, the circuit that is least closed."""
    merged: RuntimeStatistics = _merged(answers)
    return attrs.evolve(merged, taken_s=max(answer.taken_s for answer in answers))


def _merged(values: Sequence[Any]) -> Any:
    """Values of the same field in several snapshots as one."""
    first: Any = next((value for value in values if value is not None), None)
    if isinstance(first, Histogram):
        found = [value for value in values if value is not None]
        counts = tuple(map(sum, zip(*(value.counts for value in found), strict=True)))
        return Histogram(first.bounds_s, counts, sum(value.sum_s for value in found))
    if isinstance(first, CircuitState):
        return next((state for state in values if state is not CircuitState.CLOSED), first)
    if attrs.has(type(first)):
        names = [field.name for field in attrs.fields(type(first))]
        fields = {name: _merged([getattr(value, name) for value in values]) for name in names}
        if "longest" in fields:
            fields["longest"] = max(value.longest for value in values)
        return type(first)(**fields)
    kind: Any = type(first)
    if isinstance(first, Mapping):
        keys = dict.fromkeys(key for value in values for key in value)
        return kind({key: _merged([value[key] for value in values if key in value]) for key in keys})
    if isinstance(first, tuple):
        return _merged_outcomes([outcome for value in values for outcome in value])
    return None if first is None else sum(values)


def _merged_outcomes(outcomes: Sequence[OutcomeCount]) -> tuple[OutcomeCount, ...]:
    counts: Counter[tuple[ExecutionStatus, Quality]] = Counter()
    for outcome in outcomes:
        counts[outcome.execution, outcome.quality] += outcome.count
    return tuple(OutcomeCount(*kind, count) for kind, count in counts.items())


def merged_continuity(budget_bytes: int | None) -> Merge:
    """One report over all shards: counts are summed, rates and advice follow from the sums.

    The growth of prompts is the median of the medians of the shards, each as often as it has prompts.
    """

    def merge(reports: Sequence[ContinuityReport]) -> ContinuityReport:
        growths = [r.prompt_growth for r in reports for _ in range(r.prompts) if r.prompt_growth is not None]
        return continuity_report(
            counters=_summed(StoreCounters, [report.counters for report in reports]),
            retention=reports[0].retention,
            sessions=sum(report.sessions for report in reports),
            entries=sum(report.entries for report in reports),
            used_bytes=sum(report.bytes for report in reports),
            budget_bytes=sum(r.budget_bytes for r in reports) if budget_bytes is None else budget_bytes,
            follow_ups=_summed(FollowUpCounts, [report.follow_ups for report in reports]),
            growths=growths,
        )

    return merge


def merged_snapshot(snapshots: Sequence[Snapshot]) -> Snapshot:
    """What all shards hold: of one shard after the other, in its own order."""
    letters: Counter[str] = Counter()
    for snapshot in snapshots:
        letters.update(dict(snapshot.dead_letters))
    stores = [snapshot.store for snapshot in snapshots]
    return Snapshot(
        sessions=_joined(snapshot.sessions for snapshot in snapshots),
        open_requests=_joined(snapshot.open_requests for snapshot in snapshots),
        running=_joined(snapshot.running for snapshot in snapshots),
        open_calls=_joined(snapshot.open_calls for snapshot in snapshots),
        provider_tasks=sum(snapshot.provider_tasks for snapshot in snapshots),
        store=StoreSnapshot(
            sessions=FrozenMapping({name: held for store in stores for name, held in store.sessions.items()}),
            bytes=sum(store.bytes for store in stores),
            counters=_summed(StoreCounters, [store.counters for store in stores]),
            retention=stores[0].retention,
        ),
        counts=_summed(MessageCounts, [snapshot.counts for snapshot in snapshots]),
        dead_letters=tuple(sorted(letters.items())),
        live_timers=sum(snapshot.live_timers for snapshot in snapshots),
    )


def merged_shutdown(reports: Sequence[ShutdownReport | None], threads_left: tuple[str, ...]) -> ShutdownReport:
    """What was left of all shards; one without a report, because it was lost or late, did not come to rest."""
    found = [(shard, report) for shard, report in enumerate(reports) if report is not None]
    counts = [report.counts for _shard, report in found]
    return ShutdownReport(
        at_rest=len(found) == len(reports) and all(report.at_rest for _shard, report in found),
        handles_closed=sum(report.handles_closed for _shard, report in found),
        messages_left=sum(report.messages_left for _shard, report in found),
        threads_left=(
            *(f"shard {shard}: {thread}" for shard, report in found for thread in report.threads_left),
            *threads_left,
        ),
        counts=_summed(MessageCounts, counts) if counts else _NO_COUNTS,
    )


_NO_COUNTS = MessageCounts(sent=0, handled=0, dead=0, queued=0, failed=0)


def _joined(parts: Iterable[tuple[Any, ...]]) -> tuple[Any, ...]:
    return tuple(item for part in parts for item in part)


def _counts(mappings: Iterable[FrozenMapping[int]]) -> WordMapping[int]:
    total: Counter[str] = Counter()
    for mapping in mappings:
        total.update(dict(mapping))
    return WordMapping(total)


def _summed(kind: Any, values: Sequence[Any]) -> Any:
    """A value of counts, each the sum of those of `values`."""
    sums: dict[str, Any] = {}
    for field in attrs.fields(kind):
        parts = [getattr(value, field.name) for value in values]
        sums[field.name] = _counts(parts) if isinstance(parts[0], WordMapping) else sum(parts)
    return kind(**sums)
