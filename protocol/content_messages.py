"""The messages about recorded calls and content: what enters at the face, and what goes on to the content store.

The first part passes through the coordinator to the session manager, which knows the sessions and their call records;
the second goes from there to the content store, in the same order. What holds text or payload shows only its size.
"""

from __future__ import annotations

import attrs

from .continuity import FollowUpCounts
from .history import Turn, TurnRun
from .payloads import Payload
from .records import Call, CallRecord
from .redaction import redacted
from .statuses import CallStatus, ContentKind, MissReason, SkipReason

__all__ = [
    "CountMiss",
    "CountSkip",
    "DescribeCalls",
    "DropContent",
    "FetchContent",
    "FollowUp",
    "ReadCalls",
    "ReadContinuity",
    "RecordCall",
    "RefTurns",
    "Refer",
    "RenderRecords",
    "RenderRefs",
    "Resolve",
    "Resolved",
    "StoreCall",
    "StoreTurns",
    "Summarise",
]


@attrs.frozen
class RecordCall:
    """A call with how it ended; `content` is the snapshot of its value or error, or why there is none."""

    session_id: str
    call: Call
    status: CallStatus
    content: Payload | SkipReason


@attrs.frozen
class Refer:
    """The call `parent_id` refers to the content of its child."""

    session_id: str
    parent_id: str
    child_id: str


@attrs.frozen
class FetchContent:
    """`name` is a ref, the id of a call of the session, or `REQUEST/PARENT`; up to `max_bytes` the value is wanted."""

    session_id: str
    name: str
    max_bytes: int | None = None


@attrs.frozen
class FollowUp:
    """What somebody says that may refer to an earlier call."""

    session_id: str
    say: str = attrs.field(repr=redacted)
    max_bytes: int | None = None


@attrs.frozen
class ReadCalls:
    session_id: str


@attrs.frozen
class RenderRefs:
    """The refs of a session for a prompt, within `max_chars`; `conversation_chars` is what they are added to."""

    session_id: str
    max_chars: int
    conversation_chars: int | None = None
    max_growth: float | None = None
    instructions: bool = True


@attrs.frozen
class ReadContinuity:
    """How content continuity does, measured against a budget of bytes; None for the one of the settings."""

    budget_bytes: int | None = None


@attrs.frozen
class StoreTurns:
    """Turns that were just committed; they are the session's turns from number `first` on."""

    session_id: str
    first: int
    turns: TurnRun


@attrs.frozen
class StoreCall:
    """A call that was just recorded, and the ids of those whose records leave the list for it."""

    session_id: str
    record: CallRecord
    keep: bool
    content: Payload | SkipReason
    forgets: tuple[str, ...] = ()


@attrs.frozen
class CountSkip:
    session_id: str
    name: str
    reason: SkipReason


@attrs.frozen
class CountMiss:
    session_id: str
    reason: MissReason


@attrs.frozen
class Resolve:
    """Look content up by its name; `as_call` if that is surely the id of a call.

    Where the summary is asked for, or the entry has more than `max_bytes`, the value stays where it is.
    """

    session_id: str
    name: str
    as_call: bool = False
    summary_only: bool = False
    max_bytes: int | None = None


@attrs.frozen
class Resolved:
    """The answer: what was found, with its value unless a summary was enough, or why there is nothing.

    `call_id` is the name of what was found: the id of a call, or `REQUEST/PARENT`.
    """

    call_id: str | None = None
    kind: ContentKind | None = None
    bytes: int | None = None
    content: Payload | None = None
    miss: MissReason | None = None


@attrs.frozen
class RefTurns:
    """Put the refs on these turns, the session's turns from number `first` on."""

    session_id: str
    first: int
    turns: tuple[Turn, ...] = ()


@attrs.frozen
class DescribeCalls:
    """Say of these records what is stored of them."""

    session_id: str
    records: tuple[CallRecord, ...]


@attrs.frozen
class RenderRecords:
    """Render what is there of these records, oldest first, for a prompt."""

    records: tuple[CallRecord, ...]
    asked: RenderRefs


@attrs.frozen
class Summarise:
    """Report on content continuity, with the follow-ups as the session manager has counted them."""

    follow_ups: FollowUpCounts
    budget_bytes: int | None = None


@attrs.frozen
class DropContent:
    """The session has ended, and its content with it."""

    session_id: str
