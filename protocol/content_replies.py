"""What is answered about content: follow-ups, counters, and what the store holds. Frozen values."""

from __future__ import annotations

from typing import Any

import attrs

from .follow_ups import Trace
from .mappings import FrozenMapping, WordMapping
from .payloads import Payload, value_in
from .prompt_refs import LOW_UTILITY_GUIDANCE, MISS_GUIDANCE
from .retention import Retention
from .statuses import (
    ContentKind,
    FollowUpDecision,
    FollowUpMiss,
    LowUtility,
    MissReason,
    SerializationMode,
    SkipReason,
)

__all__ = ["FollowUpReply", "ReferReply", "SessionContent", "StoreCounters", "StoreSnapshot"]


@attrs.frozen(kw_only=True)
class FollowUpReply:
    """What a follow-up came to (P phase 2): a decision about the chosen `call`, or a `miss` with its `reason`.

    `call` is the id of a call, or `REQUEST/PARENT` where a literal ref leads to a turn.

    `kind` and `bytes` tell of the content that was found, whether its value is wanted or not. `trace` explains the
    choice without a word of what was said.
    """

    call: str | None = None
    decision: FollowUpDecision | None = None
    miss: FollowUpMiss | None = None
    reason: MissReason | LowUtility | None = None
    kind: ContentKind | None = None
    bytes: int | None = None
    content: Payload | None = None
    trace: Trace

    @property
    def guidance(self) -> str | None:
        """What to say, and what not to make up, where there is a `miss`."""
        if isinstance(self.reason, MissReason):
            return MISS_GUIDANCE[self.reason]
        return None if self.reason is None else LOW_UTILITY_GUIDANCE[self.reason]

    @property
    def value(self) -> Any:
        """A fresh copy of the value, where the decision is `FULL_FETCH`; None is a legal value."""
        return None if self.content is None else value_in(self.content.body)


@attrs.frozen
class ReferReply:
    """What a reference to a child call came to (P constraint 6): its content is stored, or the `reason` why not."""

    content_ref: str | None = None
    content_kind: ContentKind | None = None
    content_bytes: int | None = None
    content_mode: SerializationMode | None = None
    reason: SkipReason | None = None

    @property
    def stored(self) -> bool:
        return self.content_ref is not None


@attrs.frozen(kw_only=True)
class StoreCounters:
    """What the content store has done (P phase 3); a session that ends is in neither of the last two."""

    writes: int = 0
    """Entries written."""
    skips: int = 0
    """What was to be stored and was not."""
    hits: int = 0
    """Look-ups that gave a value."""
    misses: int = 0
    """Look-ups that were answered `content_ref_not_found`."""
    evictions: int = 0
    """Entries that made room for others, or for a smaller limit."""
    evictions_over_all: int = 0
    """Of these, those that the bound over all sessions ended (`store_total_bytes`)."""
    expired: int = 0
    """Entries that outlived their TTL."""
    skips_by_reason: WordMapping[int] = attrs.field(factory=WordMapping[int], converter=WordMapping[int])
    misses_by_reason: WordMapping[int] = attrs.field(factory=WordMapping[int], converter=WordMapping[int])


@attrs.frozen
class SessionContent:
    """What the store holds of one session."""

    entries: int
    bytes: int


@attrs.frozen(kw_only=True)
class StoreSnapshot:
    """The content store at one moment: what it holds by session, its counters, and the policy in force."""

    sessions: FrozenMapping[SessionContent] = attrs.field(converter=FrozenMapping[SessionContent])
    bytes: int
    counters: StoreCounters
    retention: Retention
