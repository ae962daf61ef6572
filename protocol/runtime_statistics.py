"""What a runtime counts of itself, as one frozen snapshot: numbers, words of the vocabulary and names of providers.

No session, no request and no text is in it. Counters begin at 0 with the runtime and never go back; all else is as of
the moment. Each part is exact as of an instant of its own, so that two parts may differ by what happened in between.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum

import attrs

from .circuits import CircuitState
from .content_replies import StoreCounters
from .histogram import Histogram
from .mappings import FrozenMapping, WordMapping
from .replies import ProviderStatistics
from .statuses import ExecutionStatus, Quality

__all__ = [
    "UNKNOWN_CAUSE",
    "AcceptanceStatistics",
    "ConnectionStatistics",
    "ExecutionStatistics",
    "MailboxStatistics",
    "MessageStatistics",
    "OutcomeCount",
    "RuntimeStatistics",
    "SessionEnd",
    "SessionStatistics",
    "StoreStatistics",
]

UNKNOWN_CAUSE = "UNKNOWN"
"""In the place of a cause: the request of a stale ACK was never registered, or is forgotten."""


@attrs.frozen(kw_only=True)
class AcceptanceStatistics:
    """The coordinator and its handles (C2, C8, C11, C15)."""

    registered: int
    """Requests that got a handle, by `register` or by `translate`."""
    refused: WordMapping[int] = attrs.field(converter=WordMapping[int])
    """Registrations, translations and direct calls that were refused, by status. One without a part in history is
    refused as `NOT_PARTICIPATING` by `register` alone."""
    open_handles: int
    """Requests that may still get ACKs."""
    closed: WordMapping[int] = attrs.field(converter=WordMapping[int])
    """Requests whose handle has closed, by cause; `EXPIRED` are those whose ACK window ended."""
    acks: WordMapping[int] = attrs.field(converter=WordMapping[int])
    """ACKs and rejections that were answered, by status, also those of the feature boundary."""
    stale_acks: WordMapping[int] = attrs.field(converter=WordMapping[int])
    """The `STALE` ones of these by the cause with which their handle had closed, or `UNKNOWN`."""
    lanes: int
    """Sessions with open requests or operations on their way."""
    waiting: int
    """Operations that wait for what is before them in their session."""
    turn_waits: Histogram | None
    """How long accepted parents of a request waited for the earlier requests of the session, from the first of them
    on: for each 8th request, if it waited, when it got its turn or closed without it. None until one is measured."""
    active_times: Histogram | None
    """How long a request was open after its activation, for each 8th request, once it has closed. None until one is
    measured."""


class SessionEnd(StrEnum):
    """Why a session is kept no longer: to make room, unused for longer than its TTL, or by the program."""

    EVICTED = "EVICTED"
    """It was the least recently used one, and another needed its place."""
    EXPIRED = "EXPIRED"
    """It was not used for longer than `session_ttl`."""
    CLEARED = "CLEARED"
    """`clear_session` was called."""


@attrs.frozen(kw_only=True)
class SessionStatistics:
    """The session manager (C "Owner of storage", C16)."""

    live: int
    """Sessions that are kept."""
    limit: int
    """At most so many are (`max_sessions`)."""
    pinned: int
    """Of the live ones, those with an open request: they are not evicted."""
    opened: int
    """Sessions that were begun."""
    ended: WordMapping[int] = attrs.field(converter=WordMapping[int])
    """Sessions that ended, by `SessionEnd`."""
    refused: int
    """How often there was no room for a new session, since all were pinned."""
    turns_committed: int
    """Turns written, those of direct calls too."""
    commits_failed: int
    """Turns that could not be written."""


@attrs.frozen(kw_only=True)
class StoreStatistics:
    """The content store (P phases 1 and 3)."""

    entries: int
    """Entries that it holds."""
    bytes: int
    """Their size in bytes, of UTF-8 JSON."""
    bytes_limit: int
    """At most so many bytes are kept over all sessions."""
    counters: StoreCounters
    """What it has done: writes, skips, hits, misses, evictions, expired entries."""


@attrs.frozen
class OutcomeCount:
    """So many executions ended with this status and this quality (C21)."""

    execution: ExecutionStatus
    quality: Quality
    count: int


@attrs.frozen(kw_only=True)
class ExecutionStatistics:
    """The translation service (C8, C9, C21)."""

    running: int
    """Executions that are not over."""
    outcomes: tuple[OutcomeCount, ...]
    """Executions that are over; a combination that never came is left out."""
    errors: WordMapping[int] = attrs.field(converter=WordMapping[int])
    """The errors of those that did not complete, by name; after the first names, the others as `OTHER`."""
    retries: int
    """Attempts of batches after their first."""
    failovers: int
    """Executions in which a call moved to another key."""
    broken: int
    """Executions that ended by a fault inside of the runtime, without an outcome."""


@attrs.frozen(kw_only=True)
class ConnectionStatistics:
    """What the gateway knows of one provider (C7)."""

    open_calls: int
    """Calls that are neither answered nor cancelled."""
    circuit: CircuitState
    """`OPEN` and `PROBING` let no call, or one, through."""
    refused: int
    """Calls that were not made since the circuit was open."""
    cancelled: int
    """Calls that ended with their request, before their answer."""
    call_times: Histogram
    """How long the calls took that were answered, by a completion or an error."""


@attrs.frozen(kw_only=True)
class MailboxStatistics:
    """The mailboxes of one kind of actor."""

    actors: int
    """Actors of this kind that live."""
    queued: int
    """Messages that wait in their mailboxes."""
    longest: int
    """Messages that wait in the fullest of them."""
    handled: int
    """Messages delivered, also to those that have stopped; ACKs that were answered at once are among them."""
    handling_times: Histogram | None
    """How long the handling of a message took, for a sample: each 64th message of a lasting actor, and each 8th
    execution with all its messages. What is handled inside of another handler counts for both; handles, whose messages
    come from the coordinator, are not measured by themselves. None until one is measured."""


@attrs.frozen(kw_only=True)
class MessageStatistics:
    """The dispatcher: `sent == handled + dead + queued` whenever nothing is running."""

    sent: int
    """Every message put into a mailbox, taken or not."""
    handled: int
    """Delivered to an actor."""
    dead: int
    """Never delivered: their actor had stopped, or stopped before their turn."""
    queued: int
    """Waiting in a mailbox."""
    failed: int
    """Handled by raising an exception (part of `handled`)."""
    dead_letters: WordMapping[int] = attrs.field(converter=WordMapping[int])
    """The dead ones by reason: `stopped` with them in the queue, or `closed` before they came."""
    live_timers: int
    """Timers that have neither fired nor been cancelled."""
    mailboxes: FrozenMapping[MailboxStatistics] = attrs.field(converter=FrozenMapping[MailboxStatistics])
    """The mailboxes by the kind of their actor."""


@attrs.frozen(kw_only=True, eq=False)
class RuntimeStatistics(Mapping[str, ProviderStatistics]):
    """What a runtime has counted so far, and what it holds now (C13); see the module.

    It is also the mapping of provider names to their physical calls, `providers`, and equals any mapping that equals
    that; two of its own kind are equal if everything in them is.
    """

    taken_s: float
    """When it was put together, in seconds of the runtime's own clock."""
    providers: FrozenMapping[ProviderStatistics] = attrs.field(converter=FrozenMapping[ProviderStatistics])
    """Physical calls made and failed, by provider."""
    connections: FrozenMapping[ConnectionStatistics] = attrs.field(converter=FrozenMapping[ConnectionStatistics])
    """Open calls, circuits and durations, by provider."""
    provider_tasks: int
    """Tasks of asynchronous providers that have not ended."""
    acceptance: AcceptanceStatistics
    """Requests, handles and ACKs."""
    sessions: SessionStatistics
    """The committed memory."""
    store: StoreStatistics
    """The content store."""
    executions: ExecutionStatistics
    """Translations and direct calls."""
    messages: MessageStatistics
    """The actors' messages, mailboxes and timers."""

    def __getitem__(self, provider: str) -> ProviderStatistics:
        return self.providers[provider]

    def __iter__(self) -> Iterator[str]:
        return iter(self.providers)

    def __len__(self) -> int:
        return len(self.providers)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, RuntimeStatistics):
            return attrs.astuple(self, recurse=False) == attrs.astuple(other, recurse=False)
        return self.providers == other

    def __hash__(self) -> int:
        return hash(self.providers)
