"""The report of a load run as lines and as JSON: figures, ids and statuses, never a text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import attrs

from .load import LoadReport

__all__ = ["as_json", "as_lines", "verdict_line"]

_MIB = 1 << 20


def as_json(report: LoadReport) -> dict[str, Any]:
    """The report as one JSON object. Its options hold the requests that were to be run, None if time decided."""
    verdict = report.verdict
    return {
        "options": {**attrs.asdict(report.options), "requests": report.options.requests_in_all},
        "clean": verdict.clean,
        "breaches": [attrs.asdict(breach) for breach in verdict.breaches],
        "requests": report.requests,
        "parents": report.parents,
        "operations": verdict.operations,
        "accepted": verdict.accepted,
        "committed": verdict.committed,
        "looks": verdict.looks,
        "ambiguous": verdict.ambiguous,
        "seconds": round(report.seconds, 3),
        "check_seconds": round(report.check_seconds, 3),
        "cpu_seconds": round(report.cpu_seconds, 3),
        "parents_per_second": round(report.parents_per_second),
        "operations_per_second": round(report.operations_per_second),
        "latencies_us": {
            latency.kind: {
                "calls": latency.calls,
                "p50": round(latency.p50_us, 1),
                "p99": round(latency.p99_us, 1),
                "p99.9": round(latency.p999_us, 1),
                "max": round(latency.max_us, 1),
            }
            for latency in report.latencies
        },
        "memory_bytes": attrs.asdict(report.memory),
        "digest": report.digest,
    }


def as_lines(report: LoadReport) -> Iterator[str]:
    """The report for a reader."""
    options, verdict, memory = report.options, report.verdict, report.memory
    yield (
        f"{options.mode}, faults {options.faults}, seed {options.seed}: {_counted(report.requests, 'request')} with "
        f"{_counted(report.parents, 'parent')}, {_counted(options.callers, 'caller')}, "
        f"{_counted(options.sessions, 'session')} at a time"
    )
    yield (
        f"{report.seconds:.2f} s: {report.parents_per_second:,.0f} parents/s, "
        f"{report.operations_per_second:,.0f} operations/s"
    )
    yield f"{'microseconds':<16}{'calls':>10}{'p50':>10}{'p99':>10}{'p99.9':>10}{'max':>12}"
    for latency in report.latencies:
        yield (
            f"{latency.kind:<16}{latency.calls:>10}{latency.p50_us:>10.1f}{latency.p99_us:>10.1f}"
            f"{latency.p999_us:>10.1f}{latency.max_us:>12.1f}"
        )
    yield (
        f"memory: {memory.start / _MIB:.1f} MiB at the start, {memory.peak / _MIB:.1f} at most, "
        f"{memory.end / _MIB:.1f} at the end"
    )
    share = report.check_seconds / max(1e-9, report.cpu_seconds - report.check_seconds)
    yield (
        f"judged: {verdict.operations} operations, {verdict.accepted} accepted parents, {verdict.looks} looks; "
        f"{report.check_seconds:.2f} s of the processor, {share:.2f} of what the run itself took"
    )
    if verdict.ambiguous:
        yield f"given up as too ambiguous: {_counted(verdict.ambiguous, 'session')}"
    if report.digest is not None:
        yield f"digest: {report.digest}"
    for breach in verdict.breaches:
        yield from breach.lines()


def verdict_line(report: LoadReport) -> str:
    """The verdict in one line, which says of a clean one what it leaves open."""
    if not report.verdict.clean:
        return "verdict: broken"
    if report.verdict.ambiguous:
        return f"verdict: clean, but {_counted(report.verdict.ambiguous, 'session')} could not be judged"
    return "verdict: clean"


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"
