"""What the coordinator counts: refusals, ACKs that were too late for it, closed handles.

The handles count their ACKs and time themselves; `with_handles` brings both together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping

import attrs

from ..protocol.histogram import Histogram
from ..protocol.mappings import WordMapping
from ..protocol.runtime_statistics import AcceptanceStatistics
from ..protocol.statuses import AckStatus, CloseCause
from .lanes import Lane
from .measuring import ACTIVE_TIMES, TURN_WAITS

__all__ = ["AcceptanceCounters", "with_handles"]


class AcceptanceCounters:
    """The numbers of one coordinator. `stale` has the ACKs that found no open handle, by cause."""

    __slots__ = ("closed", "refused", "stale")

    def __init__(self) -> None:
        self.refused: Counter[str] = Counter()
        self.stale: dict[str, int] = {}
        self.closed: Counter[str] = Counter()

    def read(self, *, registered: int, open_handles: int, lanes: Iterable[Lane]) -> AcceptanceStatistics:
        """The numbers, without what the handles have counted."""
        waiting = [len(lane.waiting) for lane in lanes]
        return AcceptanceStatistics(
            registered=registered,
            refused=WordMapping(self.refused),
            open_handles=open_handles,
            closed=WordMapping(self.closed),
            acks=WordMapping(),
            stale_acks=WordMapping(self.stale),
            lanes=len(waiting),
            waiting=sum(waiting),
            turn_waits=None,
            active_times=None,
        )


def with_handles(
    acceptance: AcceptanceStatistics, by_handles: Mapping[Hashable, int], times: Mapping[str, Histogram]
) -> AcceptanceStatistics:
    """The same with what the handles have counted, ACKs by status and late ones by cause, and timed."""
    acks = {status.value: by_handles.get(status, 0) for status in AckStatus}
    stale = Counter(acceptance.stale_acks)
    stale.update({cause.value: by_handles[cause] for cause in CloseCause if by_handles.get(cause)})
    acks[AckStatus.STALE.value] = stale.total()
    return attrs.evolve(
        acceptance,
        acks=WordMapping({status: count for status, count in acks.items() if count}),
        stale_acks=WordMapping(stale),
        turn_waits=times.get(TURN_WAITS),
        active_times=times.get(ACTIVE_TIMES),
    )
