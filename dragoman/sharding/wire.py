"""What passes between a caller and a shard: batches of calls one way, parcels of answers the other.

A call is an ACK as `(request, parent, result)`, a rejection as `(request, parent)`, or a list of a door and a message:
the actor of the embedded runtime that it is for, by its name in the crew, or `SHARD` for the shard itself.

An answer to a batch has the replies in the order of the calls: None for one that is not there yet, for that of an ACK
`(status, committed)` (it is the commonest, and an `AckReply` would cost many times as much), `[value]` for any other,
and `[None, error]`. What is there later travels in parcels, numbered so that they take effect in order by whichever way
they come.

Plain pickle, not Ray's own: that calls Python code for every object, which costs more than all else. Whoever can reach
the processes of a Ray cluster can run code in them anyway.
"""

from __future__ import annotations

import copyreg
import pickle
from collections import ChainMap
from collections.abc import Callable, Mapping
from enum import IntEnum
from io import BytesIO
from operator import attrgetter
from typing import Any

import attrs

from ..protocol.handoff import Handoff, Parent
from ..protocol.history import Turn
from ..protocol.messages import Activate, Register
from ..protocol.outcomes import ParentEvent
from ..protocol.redaction import redacted
from ..protocol.replies import AckReply
from ..protocol.statuses import AckStatus
from ..protocol.translations import Plan
from ..protocol.units import Unit

__all__ = [
    "NO_REPLIES",
    "SHARD",
    "Answers",
    "Begins",
    "Late",
    "Measures",
    "ShutsDown",
    "TakesSnapshot",
    "TakesStatistics",
    "pack",
    "packed_reply",
    "unpack",
    "unpacked_reply",
]

SHARD = ""
"""The door of the shard itself."""

Answers = tuple[bytes, int, bytes]
"""What a shard answers: the replies to a batch, and the number and the items of a parcel."""

NO_REPLIES = pickle.dumps([])

_ACK_STATUSES = {status.value: status for status in AckStatus}
_NOTHING_COMMITTED = {status.value: AckReply(status) for status in AckStatus}
"""The replies to most ACKs, made once."""


class Late(IntEnum):
    """What an item of a parcel tells of its call."""

    ANSWER = 0
    ERROR = 1
    EVENT = 2
    """An event of a parent of a translation."""
    OUTCOME = 3
    """The end of a translation or direct call."""
    OUTCOME_ERROR = 4


@attrs.frozen(kw_only=True)
class Begins:
    """Start a translation or a direct call; `tells` if its events are wanted.

    `provider` as `cloudpickle` writes it, so that one of the caller's main program can be sent too.
    """

    plan: Plan
    document: str
    provider: bytes | None = attrs.field(repr=redacted)
    tells: bool


@attrs.frozen
class TakesSnapshot:
    """Tell what the runtime of the shard holds, waiting for its actors up to so many seconds."""

    timeout_s: float | None


@attrs.frozen
class TakesStatistics:
    """Tell what the runtime of the shard has counted."""


@attrs.frozen
class Measures:
    """Have the runtime of the shard time a sample of what it does."""


@attrs.frozen
class ShutsDown:
    """Close the runtime of the shard within so many seconds."""

    timeout_s: float


def pack(parts: list[Any], instead: Callable[[int, Exception], Any]) -> bytes:
    """`parts` as bytes; of one that cannot be written, what `instead` makes of its index and the error."""
    try:
        return _dumps(parts)
    except Exception:
        return _dumps([_writable(part, place, instead) for place, part in enumerate(parts)])


def _writable(part: Any, place: int, instead: Callable[[int, Exception], Any]) -> Any:
    try:
        _dumps(part)
    except Exception as error:
        return instead(place, error)
    return part


def _dumps(value: object) -> bytes:
    written = BytesIO()
    pickler = pickle.Pickler(written, pickle.HIGHEST_PROTOCOL)
    pickler.dispatch_table = _IN_FIELDS
    pickler.dump(value)
    return written.getvalue()


def _in_fields(kind: Any) -> Callable[[Any], tuple[Any, tuple[Any, ...]]]:
    """Writes a value as the call that makes it: a third of the cost of the state that attrs would write."""
    values = attrgetter(*(field.name for field in attrs.fields(kind)))
    if len(attrs.fields(kind)) == 1:
        return lambda value: (kind, (values(value),))
    return lambda value: (kind, values(value))


_PARENT = attrgetter("id", "order", "source")


def _handoff_in_columns(handoff: Handoff) -> tuple[Any, tuple[Any, ...]]:
    """A valid handoff: its parents, of which there may be thousands, as three rows of plain values."""
    names = handoff.request_id, handoff.session_id, handoff.provider, handoff.mode, handoff.purpose
    return _handoff_of, (*names, *zip(*map(_PARENT, handoff.parents), strict=True))


def _handoff_of(
    request: str, session: str, provider: str, mode: str, purpose: str, ids: Any, orders: Any, sources: Any
) -> Handoff:
    return Handoff(request, session, provider, mode, tuple(map(Parent, ids, orders, sources)), purpose)


_IN_FIELDS: Mapping[type, Callable[[Any], Any]] = ChainMap(
    {kind: _in_fields(kind) for kind in (Register, Activate, Turn, ParentEvent, Unit)},
    {Handoff: _handoff_in_columns},
    copyreg.dispatch_table,
)
"""What there is most of in a batch and in a parcel; all are made by their fields in order."""


def unpack(packed: bytes) -> Any:
    return pickle.loads(packed)


def packed_reply(reply: Any) -> Any:
    """The reply to a call as it travels."""
    if type(reply) is AckReply:
        return reply.status.value, reply.committed
    return [reply]


def unpacked_reply(packed: Any) -> tuple[Any, BaseException | None]:
    """Value and error of a reply that is there."""
    if type(packed) is tuple:
        status, committed = packed
        return AckReply(_ACK_STATUSES[status], committed) if committed else _NOTHING_COMMITTED[status], None
    return (packed[0], None) if len(packed) == 1 else (None, packed[1])
