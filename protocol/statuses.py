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
    STRUCTURED_RECOVERY = "STRUCTURED_RECOVERY"


class RegisterStatus(StrEnum):
    """What a registration came to (C2, C3.3): only `REGISTERED` created anything."""

    REGISTERED = "REGISTERED"
    DUPLICATE_REQUEST = "DUPLICATE_REQUEST"
    NOT_PARTICIPATING = "NOT_PARTICIPATING"
    INVALID_HANDOFF = "INVALID_HANDOFF"
    OVERLOADED = "OVERLOADED"


class StartStatus(StrEnum):
    """What the start of a translation or a direct call came to; only `STARTED` did anything."""

    STARTED = "STARTED"
    INVALID_HANDOFF = "INVALID_HANDOFF"
    DUPLICATE_REQUEST = "DUPLICATE_REQUEST"
    OVERLOADED = "OVERLOADED"


class ActivateStatus(StrEnum):
    """What an activation came to (C8): only `ACTIVATED` changed anything."""

    ACTIVATED = "ACTIVATED"
    ALREADY_ACTIVE = "ALREADY_ACTIVE"
    UNKNOWN_REQUEST = "UNKNOWN_REQUEST"


class AckStatus(StrEnum):
    """What an ACK did (C4, C8, C11): only `ACCEPTED` and `REJECTED` changed anything."""

    ACCEPTED = "ACCEPTED"
    REJECTED = "REJECTED"
    DUPLICATE = "DUPLICATE"
    CONFLICT = "CONFLICT"
    UNKNOWN_PARENT = "UNKNOWN_PARENT"
    INVALID_RESULT = "INVALID_RESULT"
    STALE = "STALE"


class CloseStatus(StrEnum):
    """Whether there was anything to end (C9); `UNKNOWN_REQUEST` also means a closed one."""

    DISPOSED = "DISPOSED"
    UNKNOWN_REQUEST = "UNKNOWN_REQUEST"


class ClearStatus(StrEnum):
    """Whether there was a session to forget (C16)."""

    CLEARED = "CLEARED"
    UNKNOWN_SESSION = "UNKNOWN_SESSION"


class ClaimStatus(StrEnum):
    """The one answer of `claim_turn` that is no number: no room for a new session."""

    OVERLOADED = "OVERLOADED"


class ConfigureStatus(StrEnum):
    """The answer to a change of the history switch (C3)."""

    CONFIGURED = "CONFIGURED"


class ParentState(StrEnum):
    """The life of a logical parent; its transitions are the table in `parents`."""

    PENDING = "PENDING"
    ACCEPTED = "ACCEPTED"
    REJECTED = "REJECTED"
    DISCARDED = "DISCARDED"
    COMMITTED = "COMMITTED"
    COMMIT_FAILED = "COMMIT_FAILED"


class CloseCause(StrEnum):
    """Why a handle closed."""

    COMPLETED = "COMPLETED"
    EXPIRED = "EXPIRED"
    CANCELLED = "CANCELLED"
    TIMED_OUT = "TIMED_OUT"
    DISPATCH_FAILED = "DISPATCH_FAILED"
    EXECUTION_FAILED = "EXECUTION_FAILED"
    CLEARED = "CLEARED"
    SESSION_EXPIRED = "SESSION_EXPIRED"
    PASSED_OVER = "PASSED_OVER"
    FAILED = "FAILED"
    SHUT_DOWN = "SHUT_DOWN"


class ExecutionStatus(StrEnum):
    """How an execution ended (C21)."""

    COMPLETED = "COMPLETED"
    FAILED = "FAILED"
    CANCELLED = "CANCELLED"


class Quality(StrEnum):
    """How much of a request was translated; whether it was accepted is another fact (C21)."""

    COMPLETE = "COMPLETE"
    PARTIAL = "PARTIAL"
    NONE = "NONE"


class CallFormat(StrEnum):
    """What a provider is asked for.

    `STRUCTURED`: a JSON envelope of units, both ways. `SCALAR`: one unit as bare text. `TEXTS`: a list of plain texts
    for a machine provider, which answers with as many.
    """

    STRUCTURED = "STRUCTURED"
    SCALAR = "SCALAR"
    TEXTS = "TEXTS"


class Termination(StrEnum):
    """Why a provider stopped writing, normalised (C3.1); it never decides acceptance by itself."""

    NORMAL = "NORMAL"
    TRUNCATED = "TRUNCATED"
    POLICY = "POLICY"
    PROVIDER_ERROR = "PROVIDER_ERROR"
    UNKNOWN = "UNKNOWN"


class CallStatus(StrEnum):
    """How a recorded call ended (P)."""

    OK = "ok"
    ERROR = "error"


class ContentKind(StrEnum):
    """What a content entry is, in JSON's words; `fallback` where the whole value could only be kept as text (P)."""

    OBJECT = "object"
    ARRAY = "array"
    STRING = "string"
    NUMBER = "number"
    BOOLEAN = "boolean"
    NULL = "null"
    FALLBACK = "fallback"


class SerializationMode(StrEnum):
    """How a content entry was written: as JSON, or with leaves that JSON cannot express as text (P phase 0)."""

    JSON = "json"
    FALLBACK = "fallback"


class SkipReason(StrEnum):
    """Why content was not stored (P phase 1), in the order in which it is looked at, the first before all others.

    `OVERLOADED`: there was no room for a new session; nothing was recorded.
    """

    DUPLICATE_CALL = "duplicate_call"
    CONTENT_DISABLED = "content_disabled"
    ERROR_CAPTURE_DISABLED = "error_capture_disabled"
    NESTED_CAPTURE_DISABLED = "nested_capture_disabled"
    SERIALIZATION_FAILED = "serialization_failed"
    ENTRY_EXCEEDS_MAX_BYTES = "entry_exceeds_max_bytes"
    CONTENT_RELEASED = "content_released"
    OVERLOADED = "OVERLOADED"


class MissReason(StrEnum):
    """Why a reference does not resolve (P phase 2). Another session's is `unknown`, whatever it is there."""

    EVICTED = "evicted"
    EXPIRED = "expired"
    UNKNOWN = "unknown"
    NOT_STORED = "not_stored"


class FollowUpMiss(StrEnum):
    """Why a follow-up has no result (P phase 2)."""

    CONTENT_REF_NOT_FOUND = "content_ref_not_found"
    LOW_UTILITY = "low_utility"


class LowUtility(StrEnum):
    """Why a follow-up chose no record (P phase 2)."""

    NO_FOLLOW_UP_INTENT = "no_follow_up_intent"
    NO_PRIOR_CONTENT = "no_prior_content"


class FollowUpDecision(StrEnum):
    """Whether a follow-up needs the value, or what is known of it (P phase 2)."""

    FULL_FETCH = "FULL_FETCH"
    SUMMARY_ONLY = "SUMMARY_ONLY"


class ProposalState(StrEnum):
    """The life of a proposal, as it is told; an acknowledged one is still `approved` (P phase 3)."""

    PROPOSED = "proposed"
    APPROVED = "approved"
    REFUSED = "refused"
    APPLIED = "applied"


class ProposalStatus(StrEnum):
    """What an act on a proposal came to (P phase 3); the last five changed nothing."""

    PROPOSED = "PROPOSED"
    APPROVED = "APPROVED"
    ACKNOWLEDGED = "ACKNOWLEDGED"
    REFUSED = "REFUSED"
    APPLIED = "APPLIED"
    INVALID_PROPOSAL = "INVALID_PROPOSAL"
    AUTHORITY_DENIED = "AUTHORITY_DENIED"
    NOT_APPROVED = "NOT_APPROVED"
    ALREADY_DECIDED = "ALREADY_DECIDED"
    UNKNOWN_PROPOSAL = "UNKNOWN_PROPOSAL"


class Authority(StrEnum):
    """What somebody may do to the retention policy (P phase 3, ADR-025), each level including those before it."""

    OBSERVE = "observe"
    PROPOSE = "propose"
    ENACT = "enact"
