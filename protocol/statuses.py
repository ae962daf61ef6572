"""The words that replies and states are spelled with, as in the scenario language."""

from __future__ import annotations

from enum import StrEnum

__all__ = [
    "AckStatus",
    "ActivateStatus",
    "CallFormat",
    "ClaimStatus",
    "ClearStatus",
    "CloseCause",
    "CloseStatus",
    "ConfigureStatus",
    "ExecutionStatus",
    "ParentState",
    "Purpose",
    "Quality",
    "RegisterStatus",
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
