"""The messages about executions: what enters at the face, and what the actors say to each other while one runs."""

from __future__ import annotations

import attrs

from .calls import Completion
from .failures import PROVIDER_FAULT
from .history import Turn
from .messages import Acknowledge, Reject
from .redaction import redacted
from .statuses import CloseCause, Termination

__all__ = [
    "AnswerCall",
    "Broken",
    "ClaimTurns",
    "CommitDirect",
    "CountCall",
    "CountError",
    "DirectCommitted",
    "End",
    "Ended",
    "ExecutionEnded",
    "LaneLeft",
    "ReadOutcome",
    "SettleParents",
    "TimeOut",
]


@attrs.frozen(kw_only=True)
class AnswerCall:
    """The answer to a call, given as a message: a completion, an error, or what each unit became (`translations`)."""

    request_id: str
    number: int
    completion: Completion | None = None
    translations: tuple[tuple[str, str | tuple[str, ...]], ...] | None = attrs.field(default=None, repr=redacted)
    termination: Termination = Termination.NORMAL
    error: str | None = None
    retry_after_us: int | None = None


@attrs.frozen
class TimeOut:
    """The execution timeout of a request elapses now (C8)."""

    request_id: str


@attrs.frozen
class ReadOutcome:
    request_id: str


@attrs.frozen
class SettleParents:
    """Operation → handle: the ACKs of the feature boundary, one a parent (C3.3); `activate` if they are the last.

    `by_hand` if parents were left to the application, which acknowledges them itself.
    """

    request_id: str
    acks: tuple[Acknowledge | Reject, ...]
    activate: bool
    by_hand: bool = False


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


@attrs.frozen
class Broken:
    """Coordinator → itself: the execution of an open handle broke by a fault inside."""

    request_id: str
    place: int


@attrs.frozen
class CountCall:
    """Gateway → statistics: a physical call was made."""

    provider: str
    purpose: str


@attrs.frozen
class CountError:
    """Gateway → statistics: a physical call has failed. A body that violates the contract is no error of a call."""

    provider: str
    error: str = PROVIDER_FAULT
