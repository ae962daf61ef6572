"""The words that replies and states are spelled with, as in the scenario language."""

from __future__ import annotations

from enum import StrEnum

__all__ = [
    "AckStatus",
    "ActivateStatus",
    "Authority",
    "CallFormat",
    "CallStatus",
    "ClaimStatus",
    "ClearStatus",
    "CloseCause",
    "CloseStatus",
    "ConfigureStatus",
    "ContentKind",
    "ExecutionStatus",
    "FollowUpDecision",
    "FollowUpMiss",
    "LowUtility",
    "MissReason",
    "ParentState",
    "ProposalState",
    "ProposalStatus",
    "Purpose",
    "Quality",
    "RegisterStatus",
    "SerializationMode",
    "SkipReason",
    "StartStatus",
    "Termination",
]


class Purpose(StrEnum):
    """Why a provider is called (C3). Only a primary translation takes part in history."""

    PRIMARY_TRANSLATION = "PRIMARY_TRANSLATION"
    """The translation itself."""
    STRUCTURED_RECOVERY = "STRUCTURED_RECOVERY"
    """The pass that repairs an answer which broke the wire format (C5)."""


class RegisterStatus(StrEnum):
    """What a registration came to (C2, C3.3): only `REGISTERED` created anything."""

    REGISTERED = "REGISTERED"
    """The handle is open, and ACKs find it."""
    DUPLICATE_REQUEST = "DUPLICATE_REQUEST"
    """The id is open, runs, or is still remembered; the first request is untouched."""
    NOT_PARTICIPATING = "NOT_PARTICIPATING"
    """This request takes no part in history: translate without a handle."""
    INVALID_HANDOFF = "INVALID_HANDOFF"
    """Something in the handoff is wrong; `reason` names it."""
    OVERLOADED = "OVERLOADED"
    """`max_open_handles` is reached, or there is no room for a new session."""


class StartStatus(StrEnum):
    """What the start of a translation or a direct call came to; only `STARTED` did anything."""

    STARTED = "STARTED"
    """The execution runs."""
    INVALID_HANDOFF = "INVALID_HANDOFF"
    """Something in the request is wrong; `reason` names it."""
    DUPLICATE_REQUEST = "DUPLICATE_REQUEST"
    """The id is open, runs, or is still remembered."""
    OVERLOADED = "OVERLOADED"
    """`max_open_executions` or `max_open_handles` is reached, or there is no room for a new session."""


class ActivateStatus(StrEnum):
    """What an activation came to (C8): only `ACTIVATED` changed anything."""

    ACTIVATED = "ACTIVATED"
    """The ACK window runs from now."""
    ALREADY_ACTIVE = "ALREADY_ACTIVE"
    """It ran before, and goes on as it was."""
    UNKNOWN_REQUEST = "UNKNOWN_REQUEST"
    """No open handle has this id."""


class AckStatus(StrEnum):
    """What an ACK did (C4, C8, C11): only `ACCEPTED` and `REJECTED` changed anything."""

    ACCEPTED = "ACCEPTED"
    """The parent is accepted; it becomes a turn now or when its turn comes."""
    REJECTED = "REJECTED"
    """The parent will never be a turn."""
    DUPLICATE = "DUPLICATE"
    """The same ACK came before; the first text stands."""
    CONFLICT = "CONFLICT"
    """Another decision about this parent came before, and stands."""
    UNKNOWN_PARENT = "UNKNOWN_PARENT"
    """The request has no parent of this id."""
    INVALID_RESULT = "INVALID_RESULT"
    """The result is no clean text; a corrected ACK may follow."""
    STALE = "STALE"
    """The request has no open handle (any more)."""


class CloseStatus(StrEnum):
    """Whether there was anything to end (C9); `UNKNOWN_REQUEST` also means a closed one."""

    DISPOSED = "DISPOSED"
    """An open handle or a running execution was ended."""
    UNKNOWN_REQUEST = "UNKNOWN_REQUEST"
    """There was nothing to end."""


class ClearStatus(StrEnum):
    """Whether there was a session to forget (C16)."""

    CLEARED = "CLEARED"
    """The session and its open requests are gone."""
    UNKNOWN_SESSION = "UNKNOWN_SESSION"
    """There is no session of this id."""


class ClaimStatus(StrEnum):
    """The one answer of `claim_turn` that is no number: no room for a new session."""

    OVERLOADED = "OVERLOADED"
    """Every session has an open request, and there are `max_sessions`."""


class ConfigureStatus(StrEnum):
    """The answer to a change of the history switch (C3)."""

    CONFIGURED = "CONFIGURED"
    """The switch holds for what begins from now on."""


class ParentState(StrEnum):
    """Where a logical parent stands; its transitions are the table in `parents`."""

    PENDING = "PENDING"
    """No ACK has come."""
    ACCEPTED = "ACCEPTED"
    """The ACK came; it waits for those before it, or its request closed first."""
    REJECTED = "REJECTED"
    """The application did not accept it."""
    DISCARDED = "DISCARDED"
    """Its request closed before an ACK came."""
    COMMITTED = "COMMITTED"
    """It is a turn of the history."""
    COMMIT_FAILED = "COMMIT_FAILED"
    """It was accepted and could not be written; it will never be a turn."""


class CloseCause(StrEnum):
    """Why a handle closed."""

    COMPLETED = "COMPLETED"
    """Each parent had its ACK, and what was accepted was committed."""
    EXPIRED = "EXPIRED"
    """The ACK window ended."""
    CANCELLED = "CANCELLED"
    """Somebody called `cancel`."""
    TIMED_OUT = "TIMED_OUT"
    """The execution took longer than `execution_timeout`, or `time_out` was called."""
    DISPATCH_FAILED = "DISPATCH_FAILED"
    """The results could not be handed to the feature."""
    EXECUTION_FAILED = "EXECUTION_FAILED"
    """The execution ended without a result to accept."""
    CLEARED = "CLEARED"
    """Its session was cleared."""
    SESSION_EXPIRED = "SESSION_EXPIRED"
    """Its session was not used for `session_ttl`."""
    PASSED_OVER = "PASSED_OVER"
    """It was never activated, and a later request of the session waited on it for `ack_window`."""
    FAILED = "FAILED"
    """A fault inside the runtime ended it."""
    SHUT_DOWN = "SHUT_DOWN"
    """The runtime was closed."""


class ExecutionStatus(StrEnum):
    """How an execution ended (C21)."""

    COMPLETED = "COMPLETED"
    """Every batch is over and at least one parent was translated."""
    FAILED = "FAILED"
    """No parent was translated, or time was over."""
    CANCELLED = "CANCELLED"
    """It was cancelled, or the runtime was closed."""


class Quality(StrEnum):
    """How much of a request was translated; whether it was accepted is another fact (C21)."""

    COMPLETE = "COMPLETE"
    """Every parent was translated."""
    PARTIAL = "PARTIAL"
    """Some were."""
    NONE = "NONE"
    """None was."""


class CallFormat(StrEnum):
    """What a provider is asked for."""

    STRUCTURED = "STRUCTURED"
    """A JSON envelope of units, both ways."""
    SCALAR = "SCALAR"
    """One unit as bare text."""
    TEXTS = "TEXTS"
    """A list of plain texts for a machine provider, which answers with as many."""


class Termination(StrEnum):
    """Why a provider stopped writing, normalised (C3.1); it never decides acceptance by itself."""

    NORMAL = "NORMAL"
    """It had said everything."""
    TRUNCATED = "TRUNCATED"
    """It ran into a limit of length."""
    POLICY = "POLICY"
    """It refused, or a filter stopped it."""
    PROVIDER_ERROR = "PROVIDER_ERROR"
    """It says that it broke off."""
    UNKNOWN = "UNKNOWN"
    """It gave a reason that nobody knows."""


class CallStatus(StrEnum):
    """How a recorded call ended (P)."""

    OK = "ok"
    """With a value."""
    ERROR = "error"
    """With an error."""


class ContentKind(StrEnum):
    """What a content entry is, in JSON's words; `fallback` where the whole value could only be kept as text (P)."""

    OBJECT = "object"
    """A mapping."""
    ARRAY = "array"
    """A list."""
    STRING = "string"
    """A text."""
    NUMBER = "number"
    """A number."""
    BOOLEAN = "boolean"
    """True or false."""
    NULL = "null"
    """`None`, which is a value like any other."""
    FALLBACK = "fallback"
    """Something that JSON cannot express, as text."""


class SerializationMode(StrEnum):
    """How a content entry was written: as JSON, or with leaves that JSON cannot express as text (P phase 0)."""

    JSON = "json"
    """All of it was JSON."""
    FALLBACK = "fallback"
    """Some of it was not, and became text."""


class SkipReason(StrEnum):
    """Why content was not stored (P phase 1), in the order in which it is looked at, the first before all others."""

    DUPLICATE_CALL = "duplicate_call"
    """The session has a record with this id; nothing was recorded."""
    CONTENT_DISABLED = "content_disabled"
    """`content_enabled` is off."""
    ERROR_CAPTURE_DISABLED = "error_capture_disabled"
    """It is an error payload, and `capture_errors` is off."""
    NESTED_CAPTURE_DISABLED = "nested_capture_disabled"
    """It is nested, nobody asked for it, and `capture_nested` is off."""
    SERIALIZATION_FAILED = "serialization_failed"
    """The value cannot be written down."""
    ENTRY_EXCEEDS_MAX_BYTES = "entry_exceeds_max_bytes"
    """The value is larger than what a session or the store may hold."""
    CONTENT_RELEASED = "content_released"
    """The nested value was referred to too late."""
    OVERLOADED = "OVERLOADED"
    """There was no room for a new session; nothing was recorded."""


class MissReason(StrEnum):
    """Why a reference does not resolve (P phase 2). Another session's is `unknown`, whatever it is there."""

    EVICTED = "evicted"
    """It made room for newer content."""
    EXPIRED = "expired"
    """Its `store_ttl` is over."""
    UNKNOWN = "unknown"
    """Nothing is known of it in this session: another session's, never there, or forgotten."""
    NOT_STORED = "not_stored"
    """It was recorded, but its content was not kept; the record says why."""


class FollowUpMiss(StrEnum):
    """Why a follow-up has no result (P phase 2)."""

    CONTENT_REF_NOT_FOUND = "content_ref_not_found"
    """A record was chosen, and its content is not there."""
    LOW_UTILITY = "low_utility"
    """No record was chosen."""


class LowUtility(StrEnum):
    """Why a follow-up chose no record (P phase 2)."""

    NO_FOLLOW_UP_INTENT = "no_follow_up_intent"
    """Nothing that was said refers back."""
    NO_PRIOR_CONTENT = "no_prior_content"
    """There is no record to choose from."""


class FollowUpDecision(StrEnum):
    """Whether a follow-up needs the value, or what is known of it (P phase 2)."""

    FULL_FETCH = "FULL_FETCH"
    """The value was fetched."""
    SUMMARY_ONLY = "SUMMARY_ONLY"
    """What is known of it is enough, or it is too large."""


class ProposalState(StrEnum):
    """The life of a proposal, as it is told; an acknowledged one is still `approved` (P phase 3)."""

    PROPOSED = "proposed"
    """It waits for an approval."""
    APPROVED = "approved"
    """A maintainer approved it; it may be acknowledged already."""
    REFUSED = "refused"
    """A maintainer refused it."""
    APPLIED = "applied"
    """It is in force."""


class ProposalStatus(StrEnum):
    """What an act on a proposal came to (P phase 3); the last five changed nothing."""

    PROPOSED = "PROPOSED"
    """It was taken."""
    APPROVED = "APPROVED"
    """It is approved."""
    ACKNOWLEDGED = "ACKNOWLEDGED"
    """A second maintainer agreed."""
    REFUSED = "REFUSED"
    """It is refused."""
    APPLIED = "APPLIED"
    """It is in force from now on."""
    INVALID_PROPOSAL = "INVALID_PROPOSAL"
    """Something in it is wrong; `reason` names it."""
    AUTHORITY_DENIED = "AUTHORITY_DENIED"
    """Who did this may not."""
    NOT_APPROVED = "NOT_APPROVED"
    """An act before its time."""
    ALREADY_DECIDED = "ALREADY_DECIDED"
    """An act after the decision."""
    UNKNOWN_PROPOSAL = "UNKNOWN_PROPOSAL"
    """There is no proposal of this id."""


class Authority(StrEnum):
    """What somebody may do to the retention policy (P phase 3, ADR-025), each level including those before it."""

    OBSERVE = "observe"
    """Read reports, records and the audit log."""
    PROPOSE = "propose"
    """Propose a change."""
    ENACT = "enact"
    """Approve, acknowledge, refuse and apply."""
