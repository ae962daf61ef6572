"""The messages that the actors exchange: frozen, slotted, and immutable all the way down.

The first part enters at the public face and passes through the coordinator; the second stays between the actors.
What holds text shows only its length. A handle signs with the `place` of its registration, since its request id may be
registered anew when it has closed.
"""

from __future__ import annotations

import attrs

from .calls import Completion
from .handoff import Handoff
from .history import Turn
from .redaction import redacted
from .replies import AckReply, CloseReply
from .statuses import AckStatus, CloseCause, ParentState, Termination

__all__ = [
    "Acknowledge",
    "AcksSettled",
    "Activate",
    "AnswerCall",
    "AskSession",
    "Broken",
    "CheckIdle",
    "ClaimTurn",
    "ClaimTurns",
    "ClearSession",
    "Close",
    "CommitDirect",
    "CommitTurns",
    "Configure",
    "DirectCommitted",
    "DropIfIdle",
    "End",
    "Ended",
    "ExecutionEnded",
    "FailCommits",
    "HandleClosed",
    "Inspect",
    "LaneLeft",
    "MayCommit",
    "OpenSession",
    "PassOver",
    "PassedOver",
    "ReadHistory",
    "ReadOutcome",
    "ReadStatus",
    "Register",
    "Reject",
    "SessionChecked",
    "SessionIdle",
    "SessionOpened",
    "SettleParents",
    "ShutDown",
    "TimeOut",
    "TurnTaken",
    "TurnsCommitted",
    "Unpin",
    "WaitedTooLong",
    "WindowEnded",
]


@attrs.frozen
class Register:
    """A valid handoff, in source order, on its way to a handle."""

    handoff: Handoff


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
class ReadOutcome:
    request_id: str


@attrs.frozen
class TimeOut:
    """The execution timeout of a request elapses now (C8)."""

    request_id: str


@attrs.frozen(kw_only=True)
class AnswerCall:
    """The answer to a call, given as a message: a completion, an error, or what each unit became (`translations`)."""

    request_id: str
    number: int
    completion: Completion | None = None
    translations: tuple[tuple[str, str | tuple[str, ...]], ...] | None = attrs.field(default=None, repr=redacted)
    termination: Termination = Termination.NORMAL
    error: str | None = None


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
class ShutDown:
    """Close every handle, then answer with the number of handles that were open."""


@attrs.frozen
class OpenSession:
    """Coordinator → session manager: make or use the session; `pins` it for a request's handle.

    `reads` is how much history the request reads, once, as it starts: turns, and characters of each side.
    """

    session_id: str
    request_id: str
    pins: bool = True
    reads: tuple[int, int] | None = None


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
    turns: tuple[Turn, ...]
    unpins: bool


@attrs.frozen
class CommitDirect:
    """Operation → session manager: the one turn of a direct call, if its session still lives."""

    session_id: str
    incarnation: int
    turn: Turn


@attrs.frozen
class DirectCommitted:
    """Session manager → operation: whether the turn was written."""

    written: bool


@attrs.frozen
class ClaimTurns:
    """Operation → session manager: so many primary calls were made, each an operational turn (C16)."""

    session_id: str
    incarnation: int
    count: int


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
class Broken:
    """Coordinator → itself: the execution of an open handle broke by a fault inside."""

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


@attrs.frozen
class SettleParents:
    """Operation → handle: the ACKs of the feature boundary, one a parent (C3.3); `activate` if they are the last."""

    request_id: str
    acks: tuple[Acknowledge | Reject, ...]
    activate: bool


@attrs.frozen
class AcksSettled:
    """Handle → operation: what each ACK did, in order, and which parents became turns."""

    statuses: tuple[AckStatus, ...]
    committed: tuple[str, ...] = ()


@attrs.frozen
class End:
    """Coordinator → service → operation: end the execution, if it still runs (C8, C9)."""

    request_id: str
    cause: CloseCause


@attrs.frozen
class Ended:
    """The answer to `End`: whether there was an execution to end."""

    request_id: str
    ended: bool


@attrs.frozen
class ExecutionEnded:
    """Service → coordinator: the execution is over; `broken` if by a fault inside."""

    request_id: str
    place: int
    broken: bool = False


@attrs.frozen
class LaneLeft:
    """Operation → coordinator: what it had to do in its session's lane is done."""

    request_id: str
    place: int
