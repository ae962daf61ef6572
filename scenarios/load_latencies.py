"""Latencies in bounded memory: counts in buckets that are 1.6 % wide, whatever the magnitude."""

from __future__ import annotations

import attrs

__all__ = ["Latencies", "Latency"]

_SUB_BITS = 6
"""Each power of two is cut into 64 buckets."""


@attrs.frozen(kw_only=True)
class Latency:
    """How long the calls of one kind took, in microseconds."""

    kind: str
    calls: int
    p50_us: float
    p99_us: float
    p999_us: float
    max_us: float


class Latencies:
    """Takes what each call took; gives percentiles a kind."""

    def __init__(self) -> None:
        self._counts: dict[str, dict[int, int]] = {}
        self._longest: dict[str, int] = {}

    def add(self, kind: str, took_ns: int) -> None:
        counts = self._counts.setdefault(kind, {})
        bucket = _bucket(took_ns)
        counts[bucket] = counts.get(bucket, 0) + 1
        self._longest[kind] = max(self._longest.get(kind, 0), took_ns)

    def all(self) -> tuple[Latency, ...]:
        """The percentiles of each kind, the most frequent kind first."""
        found = []
        for kind, counts in self._counts.items():
            calls = sum(counts.values())
            p50, p99, p999 = (_percentile(counts, calls, share) for share in (0.5, 0.99, 0.999))
            found.append(
                Latency(
                    kind=kind,
                    calls=calls,
                    p50_us=p50,
                    p99_us=p99,
                    p999_us=p999,
                    max_us=self._longest[kind] / 1000,
                )
            )
        return tuple(sorted(found, key=lambda latency: (-latency.calls, latency.kind)))


def _bucket(took_ns: int) -> int:
    shift = max(0, took_ns.bit_length() - _SUB_BITS - 1)
    return (shift << (_SUB_BITS + 1)) + (took_ns >> shift)


def _lower_end(bucket: int) -> int:
    return (bucket & ((1 << (_SUB_BITS + 1)) - 1)) << (bucket >> (_SUB_BITS + 1))


def _percentile(counts: dict[int, int], calls: int, share: float) -> float:
    """The lower end of the bucket in which that share of the calls is reached, in microseconds."""
    left = share * calls
    for bucket in sorted(counts):
        left -= counts[bucket]
        if left <= 0:
            return _lower_end(bucket) / 1000
    return 0.0
