"""The retention policy of the content store (P constraints 2 and 6, phases 1 and 3): its bounds and what they refuse.

Pure rules over one `Retention`, the policy in force. It may change while the runtime lives, by a proposal that was
approved, acknowledged and applied; `Settings.content_enabled` is no part of it, for no proposal may change that.

What is not decided here: which entry goes first within a class (the least recently used), and when anyone looks.
"""

from __future__ import annotations

from enum import IntEnum

import attrs

from .settings import Settings, microseconds
from .statuses import SkipReason

__all__ = [
    "GOVERNED",
    "MAX_WAITING",
    "EvictionClass",
    "Retention",
    "eviction_class",
    "is_over",
    "why_not_released",
    "why_not_stored",
]

GOVERNED = (
    "store_max_entries",
    "store_max_bytes",
    "store_ttl",
    "store_total_bytes",
    "capture_nested",
    "capture_errors",
)
"""The settings that a proposal may change (P phase 3)."""

MAX_WAITING = 32
"""Values that the waiting area of a session holds for a later `refer`."""


class EvictionClass(IntEnum):
    """What is evicted first, once nothing expired is left: every nested entry goes before any of depth 0 (P risk 5)."""

    NESTED = 0
    TOP = 1


def eviction_class(depth: int) -> EvictionClass:
    """The class of an entry of a call of `depth`; that a parent refers to it does not lift it."""
    return EvictionClass.NESTED if depth >= 1 else EvictionClass.TOP


@attrs.frozen(kw_only=True)
class Retention:
    """The retention policy in force (P phase 0.2)."""

    max_entries: int
    """Entries of a session."""
    max_bytes: int
    """Bytes of a session, and of one entry."""
    ttl_us: int | None
    """Microseconds that an entry lives, counted from its write; None for no limit."""
    total_bytes: int
    """Bytes over all sessions."""
    capture_nested: bool
    """Whether calls of depth 1 and more are stored without being asked for."""
    capture_errors: bool
    """Whether error payloads are stored."""

    @classmethod
    def of(cls, settings: Settings) -> Retention:
        """The policy that `settings` ask for."""
        return cls(
            max_entries=settings.store_max_entries,
            max_bytes=settings.store_max_bytes,
            ttl_us=None if settings.store_ttl is None else microseconds(settings.store_ttl),
            total_bytes=settings.store_total_bytes,
            capture_nested=settings.capture_nested,
            capture_errors=settings.capture_errors,
        )

    @property
    def settings(self) -> dict[str, int | float | bool | None]:
        """The policy in the names and units of `Settings`, as a proposal would change it."""
        ttl_s = None if self.ttl_us is None else self.ttl_us / 1_000_000
        values = (self.max_entries, self.max_bytes, ttl_s, self.total_bytes, self.capture_nested, self.capture_errors)
        return dict(zip(GOVERNED, values, strict=True))

    @property
    def max_entry_bytes(self) -> int:
        """The bytes of the largest entry that can be stored; one of exactly so many is."""
        return min(self.max_bytes, self.total_bytes)

    @property
    def max_tombstones(self) -> int:
        """Entries of a session that have gone and are remembered, to tell what was evicted from what never was."""
        return 4 * self.max_entries

    @property
    def waiting_bytes(self) -> int:
        """Bytes of the waiting area of a session."""
        return self.max_bytes // 4


def why_not_stored(
    retention: Retention,
    *,
    enabled: bool,
    content_bytes: int | None,
    is_error: bool = False,
    depth: int = 0,
    keep: bool = False,
    failure: SkipReason | None = None,
) -> SkipReason | None:
    """The first reason not to store a turn, or what a call came to, or None (P constraint 6, phase 1.4).

    `enabled` is `Settings.content_enabled`, `keep` the opt-in of the call. `failure` is why there are no
    `content_bytes`. Without either the bounds are not looked at: so a caller asks before it serializes anything.
    """
    if not enabled:
        return SkipReason.CONTENT_DISABLED
    if is_error and not retention.capture_errors:
        return SkipReason.ERROR_CAPTURE_DISABLED
    if depth >= 1 and not keep and not retention.capture_nested:
        return SkipReason.NESTED_CAPTURE_DISABLED
    if failure is not None:
        return failure
    return None if content_bytes is None else _too_large(retention, content_bytes)


def why_not_released(
    retention: Retention, *, enabled: bool, is_error: bool, held_bytes: int | None
) -> SkipReason | None:
    """The first reason not to store what the waiting area held for a `refer`, or None (P constraint 6).

    `is_error` tells of the call that is referred to. `held_bytes` is the size of its value; None if it is not held.
    """
    if not enabled:
        return SkipReason.CONTENT_DISABLED
    if is_error and not retention.capture_errors:
        return SkipReason.ERROR_CAPTURE_DISABLED
    return SkipReason.CONTENT_RELEASED if held_bytes is None else _too_large(retention, held_bytes)


def _too_large(retention: Retention, content_bytes: int) -> SkipReason | None:
    # Where no entry is allowed, an entry of any size is too large: the page has no other reason for it.
    if content_bytes > retention.max_entry_bytes or not retention.max_entries:
        return SkipReason.ENTRY_EXCEEDS_MAX_BYTES
    return None


def is_over(written_us: int, now_us: int, ttl_us: int | None) -> bool:
    """Whether more than the life time has passed since the write; at the very instant an entry is still there."""
    return ttl_us is not None and now_us - written_us > ttl_us
