"""The ledger: what became of a request whose handle has closed or whose execution is over (design "Closed handles")."""

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
    cause: CloseCause | None
    parent_ids: tuple[str, ...]
    states: tuple[ParentState, ...]


class Ledger:
    """The newest requests that are over, at most `entries`, each for `ttl_us` microseconds from its end. No texts."""

    def __init__(self, entries: int, ttl_us: int, now_us: Callable[[], int]) -> None:
        self._entries: FIFOCache[str, _Entry] | None = FIFOCache(entries) if entries else None
        self._ttl_us = ttl_us
        self._now_us = now_us

    def enter(self, closed: HandleClosed) -> None:
        """Remember a closed request."""
        if self._entries is not None:
            self._put(closed.request_id, _Entry(self._now_us(), closed.cause, closed.parent_ids, closed.states))

    def executed(self, request_id: str) -> None:
        """Remember from now on that an execution has used this id, whatever is known of its handle."""
        if self._entries is not None:
            entry = self._find(request_id) or _Entry(0, None, (), ())
            self._put(request_id, attrs.evolve(entry, closed_us=self._now_us()))

    def _put(self, request_id: str, entry: _Entry) -> None:
        # Taken out first: the cache forgets by first insertion, and this is the newest now.
        self._entries.pop(request_id, None)  # type: ignore[union-attr]
        self._entries[request_id] = entry  # type: ignore[index]

    def __contains__(self, request_id: str) -> bool:
        return self._find(request_id) is not None

    def status(self, request_id: str) -> RequestStatus | None:
        """What became of the request; None if it is not remembered."""
        entry = self._find(request_id)
        if entry is None:
            return None
        return RequestStatus(open=False, cause=entry.cause, parents=ParentStates(entry.parent_ids, entry.states))

    def cause(self, request_id: str) -> CloseCause | None:
        """Why its handle closed; None if it is not remembered, or had none."""
        entry = self._find(request_id)
        return None if entry is None else entry.cause

    def _find(self, request_id: str) -> _Entry | None:
        if self._entries is None:
            return None
        entry = self._entries.get(request_id)
        if entry is not None and self._now_us() - entry.closed_us > self._ttl_us:
            del self._entries[request_id]
            return None
        return entry
