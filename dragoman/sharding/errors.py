"""What a lost shard is to those who called it."""

from __future__ import annotations

from enum import StrEnum

from ..protocol.errors import DragomanError

__all__ = ["LossReason", "ShardLost"]


class LossReason(StrEnum):
    """How a shard was lost."""

    DIED = "died"
    """Its process or its node has ended."""
    UNREACHABLE = "unreachable"
    """It did not answer its caller, who has ended it."""
    FAILED = "failed"
    """It answered with an error of its own, or in a way that its caller cannot trust; its caller has ended it."""
    NOT_STARTED = "not_started"
    """It could not be started (again) in time; the next call tries once more."""


class ShardLost(DragomanError, ConnectionError):
    """The shard that had this call was lost with all that it held; whether the call had any effect is of no account.

    `shard` is its number, `incarnation` counts its lives from 1. It comes back empty: what names a request that it held
    is answered as for an id that was never seen. Nothing is ever repeated by itself: register again, and go on.
    """

    fields = ("shard", "incarnation", "reason")

    def __init__(self, shard: int, incarnation: int, reason: str) -> None:
        super().__init__(f"shard {shard} was lost in its life {incarnation} ({reason}), with all that it held")
        self.shard = shard
        self.incarnation = incarnation
        self.reason = reason
