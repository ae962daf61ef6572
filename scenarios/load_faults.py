"""The fault profiles of the load generator: how much of what goes wrong.

| | `none` | `light` | `heavy` | `hardest` |
|---|---|---|---|---|
| rejected, doubled, unknown, invalid ACKs | | some | more | many |
| late ACKs, to requests that have closed | | some | more | many |
| callers at one request at the same time | 1 | 1 | up to 2 | up to 3 |
| cancelled, undeliverable, expiring, never activated requests | | few | more | many |
| failed commits | | few | more | many |
| cleared sessions | | | few | more |
| more sessions than may live, short TTL | | | yes | yes, and shorter |
| more requests than may be open | | | | yes |
| registrations twice at the same time | | | few | many |
| recorded calls, references, follow-ups, a small content store | | few | more | many, and smaller |
| translations with a provider that errs, lags and answers garbage | | few | more | many |
"""

from __future__ import annotations

import attrs

__all__ = ["PROFILES", "Faults"]


@attrs.frozen(kw_only=True)
class Faults:
    """One profile. What is not said to be a share of requests is a share of ACKs."""

    rejected: float = 0.0
    doubled: float = 0.0
    unknown: float = 0.0
    invalid: float = 0.0
    late: float = 0.0
    callers_each: int = 1
    """Callers that a request may have at the same time."""
    cancelled: float = 0.0
    """Share of requests, as all that follow."""
    undeliverable: float = 0.0
    expiring: float = 0.0
    never_activated: float = 0.0
    failing_commits: float = 0.0
    cleared: float = 0.0
    registered_twice: float = 0.0
    left_behind: float = 0.0
    """Requests after which their session is left for good."""
    recorded: float = 0.0
    """Requests beside which calls are recorded and looked up."""
    translated: float = 0.0
    """Translations, for each request that callers acknowledge."""
    crowded: bool = False
    window_s: float = 30.0
    ttl_s: float = 600.0
    store_entries: int = 128
    open_handles: int = 10_000


PROFILES = {
    "none": Faults(),
    "light": Faults(
        rejected=0.05,
        doubled=0.02,
        unknown=0.01,
        invalid=0.01,
        late=0.01,
        cancelled=0.02,
        undeliverable=0.01,
        expiring=0.01,
        never_activated=0.01,
        failing_commits=0.02,
        recorded=0.03,
        translated=0.02,
        window_s=0.5,
    ),
    "heavy": Faults(
        rejected=0.08,
        doubled=0.05,
        unknown=0.02,
        invalid=0.03,
        late=0.02,
        callers_each=2,
        cancelled=0.05,
        undeliverable=0.03,
        expiring=0.04,
        never_activated=0.03,
        failing_commits=0.05,
        cleared=0.02,
        registered_twice=0.05,
        left_behind=0.05,
        recorded=0.05,
        translated=0.03,
        crowded=True,
        window_s=0.1,
        ttl_s=1.5,
        store_entries=32,
    ),
    "hardest": Faults(
        rejected=0.10,
        doubled=0.10,
        unknown=0.04,
        invalid=0.05,
        late=0.05,
        callers_each=3,
        cancelled=0.10,
        undeliverable=0.06,
        expiring=0.06,
        never_activated=0.06,
        failing_commits=0.10,
        cleared=0.06,
        registered_twice=0.20,
        left_behind=0.10,
        recorded=0.15,
        translated=0.10,
        crowded=True,
        window_s=0.05,
        ttl_s=0.4,
        store_entries=12,
        open_handles=40,
    ),
}
