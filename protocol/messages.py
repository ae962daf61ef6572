"""The messages that the actors exchange: frozen, slotted, and immutable all the way down.

The first part enters at the public face and passes through the coordinator; the second stays between the actors.
What holds text shows only its length. A handle signs with the `place` of its registration, since its request id may be
registered anew when it has closed.
"""

from __future__ import annotations

import attrs

from .handoff import Handoff
from .history import Turn, TurnRun
from .redaction import redacted
from .replies import AckReply, AcksSettled, CloseReply
from .statuses import CloseCause, ParentState

__all__ = [
    "Acknowledge",
    "Activate",
    "AnsweredAtFace",
    "AskSession",
    "CheckIdle",
    "ClaimTurn",
    "ClearSession",
    "Close",
    "CommitTurns",
    "Configure",
    "DropIfIdle",
    "FailCommits",
    "HandleClosed",
    "Inspect",
    "MayCommit",
    "OpenSession",
    "PassOver",
    "PassedOver",
    "ReadHistory",
    "ReadStatistics",
    "ReadStatus",
    "Reads",
    "RefuseTaken",
    "Register",
    "Reject",
    "SessionChecked",
    "SessionIdle",
    "SessionOpened",
    "ShutDown",
    "TurnTaken",
    "TurnsCommitted",
    "Unpin",
    "WaitedTooLong",
    "WindowEnded",
]


@attrs.frozen
class AnsweredAtFace:
    """A call that no actor is asked about, since it is not valid: its verb, and the id that it names ("" if none)."""

    verb: str
    id: str


@attrs.frozen
class Register:
    """A valid handoff, in source order, on its way to a handle."""

    handoff: Handoff


@attrs.frozen
class RefuseTaken:
    """Refuse a registration if its request id is taken here: for a request of a session that is elsewhere.

    The answer is the refusal, in the words of an execution if it `executes`; None if the id is free.
    """

    handoff: Handoff
    executes: bool


@attrs.frozen
class Activate:
    request_id: str


@attrs.frozen
class Acknowledge:
    """An accepting ACK; `result` is None where the caller's result was no text."""

    request_id: str
    parent_id: str
    result: str | None = attrs.field(repr=redacted)


@attrs.frozen
class Reject:
    request_id: str
    parent_id: str


@attrs.frozen
class Close:
    request_id: str
    cause: CloseCause


@attrs.frozen
class ReadStatus:
    request_id: str


@attrs.frozen
class AskSession:
    """The identity of a call that reads or claims: what its participation is decided from (C3)."""

    session_id: str
    provider: str
    mode: str
    purpose: str


@attrs.frozen
class ReadHistory(AskSession):
    """`max_chars` cuts each side; None is no limit."""

    max_turns: int
    max_chars: int | None


@attrs.frozen
class ClaimTurn(AskSession):
    """Claim the next operational sequence number of the session (C16)."""


@attrs.frozen
class ClearSession:
    session_id: str


@attrs.frozen
class Configure:
    history_enabled: bool


@attrs.frozen
class FailCommits:
    """Fault injection: the next `times` turns to be committed into the session raise."""

    session_id: str
    times: int


@attrs.frozen
class Inspect:
    """Ask an actor for a snapshot of what it owns; no use of anything."""


@attrs.frozen
class ReadStatistics:
    """Ask an actor for what it has counted; no use of anything."""


@attrs.frozen
class ShutDown:
    """Close every handle, then answer with the number of handles that were open."""


@attrs.frozen
class Reads:
    """How much history a request reads: its newest turns, the characters of each side, and `until` which request."""

    turns: int
    chars: int
    until: str | None = None


@attrs.frozen
class OpenSession:
    """Coordinator → session manager: make or use the session; `pins` it for a request's handle.

    `reads` is how much history the request reads, once, as it starts.
    """

    session_id: str
    request_id: str
    pins: bool = True
    reads: Reads | None = None


@attrs.frozen
class SessionOpened:
    """Session manager → coordinator: whether there was room.

    `incarnation` tells this session from another one of the same id; `history` is what was asked for.
    """

    session_id: str
    request_id: str
    opened: bool
    pinned: bool = False
    incarnation: int = 0
    history: tuple[Turn, ...] = ()


@attrs.frozen
class CommitTurns:
    """Handle → session manager: one contiguous run of accepted parents; `unpins` if it is the handle's last."""

    session_id: str
    turns: TurnRun
    unpins: bool


@attrs.frozen
class TurnsCommitted:
    """Session manager → handle: the positions in the run that could not be written."""

    failed: frozenset[int]


@attrs.frozen
class Unpin:
    """Coordinator → session manager: a handle of the session closed without a last commit."""

    session_id: str


@attrs.frozen
class SessionIdle:
    """Session manager → coordinator: the session has outlived its TTL while it has open handles."""

    session_id: str


@attrs.frozen
class CheckIdle:
    """Coordinator → session manager: is that still so?"""

    session_id: str


@attrs.frozen
class SessionChecked:
    """Session manager → coordinator: the answer."""

    session_id: str
    idle: bool


@attrs.frozen
class DropIfIdle:
    """Coordinator → session manager: its handles are closed; forget it, unless it has been used meanwhile."""

    session_id: str


@attrs.frozen
class MayCommit:
    """Coordinator → handle: every earlier request of the session is closed."""


@attrs.frozen
class TurnTaken:
    """Handle → coordinator: what `MayCommit` released has been committed."""

    request_id: str
    place: int


@attrs.frozen
class WindowEnded:
    """Handle → coordinator: its ACK window is over."""

    request_id: str
    place: int


@attrs.frozen
class WaitedTooLong:
    """Handle → coordinator: an accepted parent has waited for a whole window."""

    request_id: str
    place: int


@attrs.frozen
class PassOver:
    """Coordinator → handle: close if you were never activated and still lack an ACK."""


@attrs.frozen
class PassedOver:
    """Handle → coordinator: the answer to `PassOver`, whether it closed or not."""

    request_id: str
    place: int


@attrs.frozen
class HandleClosed:
    """Handle → coordinator: its last word, for the ledger.

    `unpinned` if its last commit gave the pin back; `reply` is for the operation that closed it, if one did.
    """

    request_id: str
    place: int
    session_id: str
    cause: CloseCause
    parent_ids: tuple[str, ...]
    states: tuple[ParentState, ...]
    unpinned: bool
    reply: AckReply | AcksSettled | CloseReply | None
