"""A histogram that grows. One thread at a time may add; whoever reads gets a value."""

from __future__ import annotations

from bisect import bisect_left

from ..protocol.histogram import Histogram

__all__ = ["Distribution"]


class Distribution:
    """Counts times, given in nanoseconds, over the buckets between `bounds_s`."""

    __slots__ = ("_bounds_ns", "_bounds_s", "_counts", "_sum_ns")

    def __init__(self, bounds_s: tuple[float, ...]) -> None:
        self._bounds_s = bounds_s
        self._bounds_ns = [round(bound * 1e9) for bound in bounds_s]
        self._counts = [0] * (len(bounds_s) + 1)
        self._sum_ns = 0

    def add(self, taken_ns: int) -> None:
        self._counts[bisect_left(self._bounds_ns, taken_ns)] += 1
        self._sum_ns += taken_ns

    def add_us(self, taken_us: int) -> None:
        self.add(taken_us * 1000)

    def read(self) -> Histogram:
        return Histogram(self._bounds_s, tuple(self._counts), self._sum_ns / 1e9)
