"""A figure: several values from one run, beside the limit and the aim; and how ratios are taken.

A plain script with `time.perf_counter` takes them, and neither pyperf nor pytest-benchmark: those time one callable
after another (pyperf each in processes of its own), and the load of a machine drifts between. Here the two sides of a
ratio run in turn, A B, then B A, so that each ratio is of neighbours, and drift falls on both.

The collector of cyclic garbage stays on, because it is on for a user, and is part of what objects cost. It is run
before each side, and what was there by then (the workload) is frozen, so that neither side pays for it.

Not promised: the same figure twice. Ratios travel between machines, microseconds do not; the JSON has both.
"""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Sequence

import attrs

__all__ = ["Comparison", "Cost", "Figure", "compare", "steady", "undisturbed"]

Cost = Callable[[], float]
"""Does one side once; the seconds of one unit of it."""


@attrs.frozen(kw_only=True)
class Figure:
    """One row of the report.

    `values` has one for each run, in `unit`: `x` for a ratio. `at_most` and `aim` are what issue and design ask for;
    None where they ask for nothing. `note` says what a reader has to know, `sides` holds the microseconds behind each
    ratio by their names, `skipped` why there are no values.
    """

    title: str
    values: tuple[float, ...] = ()
    unit: str = "x"
    at_most: float | None = None
    aim: float | None = None
    note: str = ""
    sides: dict[str, tuple[float, ...]] = attrs.field(factory=dict)
    skipped: str | None = None

    @property
    def median(self) -> float | None:
        return statistics.median(self.values) if self.values else None

    @property
    def of_best(self) -> float | None:
        """The ratio of the best of each side: what is left when the machine disturbs neither."""
        if self.unit != "x" or len(self.sides) != 2:
            return None
        over, under = self.sides.values()
        return min(over) / min(under)


@attrs.frozen(kw_only=True)
class Comparison:
    """A ratio to be taken: `over` and `under` each do their side once, and give the seconds of one unit."""

    title: str
    over: Cost
    under: Cost
    names: tuple[str, str]
    at_most: float | None = None
    aim: float | None = None
    note: str = ""


def undisturbed(cost: Cost) -> float:
    """One side, with nothing left over from what ran before."""
    gc.collect()
    gc.freeze()
    try:
        return cost()
    finally:
        gc.unfreeze()


STEADY_S = 0.2
_MOST_REPEATS = 9


def steady(cost: Cost) -> float:
    """One side, repeated while it is short: the median of as many times as fit into a fifth of a second.

    A side that takes some milliseconds would otherwise be hit by another process, or not, as a whole.
    """
    costs: list[float] = []
    ends = time.perf_counter() + STEADY_S
    while not costs or (len(costs) < _MOST_REPEATS and time.perf_counter() < ends):
        costs.append(undisturbed(cost))
    return statistics.median(costs)


def compare(comparisons: Sequence[Comparison], runs: int) -> list[Figure]:
    """Take each ratio `runs` times, all of them once before any is taken again."""
    taken: list[list[tuple[float, float]]] = [[] for _ in comparisons]
    for run in range(runs):
        for comparison, pairs in zip(comparisons, taken, strict=True):
            if run % 2:
                under_s = steady(comparison.under)
                over_s = steady(comparison.over)
            else:
                over_s = steady(comparison.over)
                under_s = steady(comparison.under)
            pairs.append((over_s, under_s))
    return [_figure(comparison, pairs) for comparison, pairs in zip(comparisons, taken, strict=True)]


def _figure(comparison: Comparison, pairs: Sequence[tuple[float, float]]) -> Figure:
    over_name, under_name = comparison.names
    return Figure(
        title=comparison.title,
        values=tuple(over_s / under_s for over_s, under_s in pairs),
        at_most=comparison.at_most,
        aim=comparison.aim,
        note=comparison.note,
        sides={
            over_name: tuple(over_s * 1e6 for over_s, _under_s in pairs),
            under_name: tuple(under_s * 1e6 for _over_s, under_s in pairs),
        },
    )
