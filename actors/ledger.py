"""The ledger of closed handles: what became of a request, for a while (design "Closed handles")."""

from __future__ import annotations

from collections.abc import Callable

import attrs
from cachetools import FIFOCache

from ..protocol.messages import HandleClosed
from ..protocol.replies import ParentStates, RequestStatus
from ..protocol.statuses import CloseCause, ParentState

__all__ = ["Ledger"]


@attrs.frozen
class _Entry:
    closed_us: int
    cause: CloseCause
    parent_ids: tuple[str, ...]
    states: tuple[ParentState, ...]


class Ledger:
    """The newest closed requests, at most `entries`, each for `ttl_us` microseconds from its closing. No texts."""

    def __init__(self, entries: int, ttl_us: int, now_us: Callable[[], int]) -> None:
        self._entries: FIFOCache[str, _Entry] | None = FIFOCache(entries) if entries else None
        self._ttl_us = ttl_us
        self._now_us = now_us

    def enter(self, closed: HandleClosed) -> None:
        """Remember a closed request."""
        if self._entries is not None:
            self._entries[closed.request_id] = _Entry(self._now_us(), closed.cause, closed.parent_ids, closed.states)

    def __contains__(self, request_id: str) -> bool:
        return self._find(request_id) is not None

    def status(self, request_id: str) -> RequestStatus | None:
        """What became of the request; None if it is not remembered."""
        entry = self._find(request_id)
        if entry is None:
            return None
        return RequestStatus(open=False, cause=entry.cause, parents=ParentStates(entry.parent_ids, entry.states))

    def _find(self, request_id: str) -> _Entry | None:
        if self._entries is None:
            return None
        entry = self._entries.get(request_id)
        if entry is not None and self._now_us() - entry.closed_us > self._ttl_us:
            del self._entries[request_id]
            return None
        return entry
