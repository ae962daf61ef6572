"""How large a benchmark is: the full form, a quick one, and a tiny one for the tests."""

from __future__ import annotations

import attrs

__all__ = ["SIZES", "Size"]


@attrs.frozen(kw_only=True)
class Size:
    """The counts of every measure. `runs` is how often each figure is taken, if nothing else is asked for."""

    runs: int
    requests: int = 200
    many_requests: int = 2000
    sessions: int = 40
    parents: int = 50
    heavy_requests: int = 200
    """Requests for the contestants that are slow, whose time is scaled by the parent."""
    most_parents: int = 10_000
    """Parents of the largest request."""
    few_handles: int = 1_000
    many_handles: int = 100_000
    entries: int = 100_000
    calls: int = 20_000
    """Calls whose cost is a mean, where each is short."""
    executions: int = 1000
    """Requests that are executed, against a provider with a random latency of `latency_s` seconds in the mean."""
    latency_s: float = 0.5
    document_parents: int = 500
    """Parents of a document, through a provider that takes `document_latency_s` seconds for each call."""
    document_latency_s: float = 0.2
    scraped_s: float = 6.0
    """How long each side lasts where one is scraped once a second."""
    every_scenario: int = 1
    """Of the shipped scenarios each one, or each so-many-th."""


SIZES = {
    "full": Size(runs=7),
    "quick": Size(
        runs=3,
        many_requests=400,
        heavy_requests=40,
        many_handles=20_000,
        entries=20_000,
        calls=4_000,
        executions=200,
        latency_s=0.1,
        scraped_s=3.0,
        every_scenario=5,
    ),
    "tiny": Size(
        runs=1,
        requests=12,
        many_requests=24,
        sessions=6,
        parents=10,
        heavy_requests=4,
        most_parents=200,
        few_handles=20,
        many_handles=100,
        entries=200,
        calls=50,
        executions=4,
        latency_s=0.002,
        document_parents=40,
        document_latency_s=0.002,
        scraped_s=0.0,
        every_scenario=100,
    ),
}
