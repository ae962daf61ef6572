"""The life of an acceptance handle as a table (C4, C8).

An event that is not in the row of a state does nothing to it: an activation is then answered `ALREADY_ACTIVE`, a
window that ends too late or a pass-over that no longer applies is ignored.
"""

from __future__ import annotations

from enum import StrEnum
from types import MappingProxyType

__all__ = ["HANDLE_TABLE", "HandleEvent", "HandleState"]


class HandleState(StrEnum):
    """Where a request stands. A complete handle has an ACK for each parent and waits for its turn or its commits."""

    REGISTERED = "REGISTERED"
    """Known, not yet handed to the application; no window runs."""
    ACTIVE = "ACTIVE"
    """The ACK window runs."""
    COMPLETE = "COMPLETE"
    """Each parent has its ACK, before the request was activated."""
    COMPLETE_ACTIVE = "COMPLETE_ACTIVE"
    """Each parent has its ACK, and no window runs any more."""
    CLOSED = "CLOSED"
    """Over; every ACK is stale from now on."""


class HandleEvent(StrEnum):
    """What can happen to a handle."""

    ACTIVATE = "ACTIVATE"
    """The results were dispatched."""
    COMPLETE = "COMPLETE"
    """The last missing ACK came."""
    EXPIRE = "EXPIRE"
    """The ACK window ended."""
    PASS_OVER = "PASS_OVER"
    """A later request has waited on it for `ack_window`."""
    CLOSE = "CLOSE"
    """Every cause that needs no condition: cancel, clear, completion, …"""


_S, _E = HandleState, HandleEvent

HANDLE_TABLE = MappingProxyType(
    {
        _S.REGISTERED: MappingProxyType(
            {_E.ACTIVATE: _S.ACTIVE, _E.COMPLETE: _S.COMPLETE, _E.PASS_OVER: _S.CLOSED, _E.CLOSE: _S.CLOSED}
        ),
        _S.ACTIVE: MappingProxyType({_E.COMPLETE: _S.COMPLETE_ACTIVE, _E.EXPIRE: _S.CLOSED, _E.CLOSE: _S.CLOSED}),
        _S.COMPLETE: MappingProxyType({_E.ACTIVATE: _S.COMPLETE_ACTIVE, _E.CLOSE: _S.CLOSED}),
        _S.COMPLETE_ACTIVE: MappingProxyType({_E.CLOSE: _S.CLOSED}),
        _S.CLOSED: MappingProxyType({}),
    }
)
