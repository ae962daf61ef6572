"""How often something took how long: a distribution over fixed buckets, as an immutable value."""

from __future__ import annotations

from itertools import accumulate

import attrs

__all__ = ["CALL_BOUNDS_S", "HANDLING_BOUNDS_S", "WINDOW_BOUNDS_S", "Histogram"]

HANDLING_BOUNDS_S = (
    *(0.000_002, 0.000_005, 0.000_01, 0.000_025, 0.000_05, 0.000_1, 0.000_25, 0.000_5),
    *(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1.0),
)
"""Bounds for the handling of a message: microseconds as a rule; what is above some milliseconds hinders others."""

CALL_BOUNDS_S = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0, 300.0)
"""Bounds for a physical call of a provider."""

WINDOW_BOUNDS_S = (0.01, 0.1, 0.5, 1.0, 5.0, 15.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1800.0)
"""Bounds for what lasts as long as an ACK window may."""


@attrs.frozen
class Histogram:
    """Values in seconds by buckets. Never reset: a later one of the same runtime has no smaller number.

    `bounds_s`: the inclusive upper bounds of the buckets, ascending. `counts`: the values of each bucket by itself, and
    last of all those above the last bound, so one more than there are bounds. `sum_s`: the sum of all values.
    """

    bounds_s: tuple[float, ...]
    counts: tuple[int, ...]
    sum_s: float

    @property
    def count(self) -> int:
        """How many values there are."""
        return sum(self.counts)

    @property
    def cumulative(self) -> tuple[int, ...]:
        """For each bound, and for none, how many values are not above it."""
        return tuple(accumulate(self.counts))
