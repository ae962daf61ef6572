"""`plain`: accepted conversation memory without any concurrency, the practical limit that ratios are taken to.

One thread, one call at a time: dicts, a cursor a handle, a heap of windows. It takes and gives the public values
of the Runtime, and answers as the Runtime does with `commit_order="request"` and no ledger; a test holds the two beside
each other on random operations.

Rules. Each operation first ends the windows that are due. A session that was not used for longer than the TTL is
dropped when it is next met. What decides is written here for speed, but for two rules of `protocol`: what is a clean
result, and whether a handoff is valid.

Left out, and said beside every ratio: order between the requests of a session, the ledger of closed requests, content,
failing commits and faults, arguments of the wrong type, statistics, and use from more than one thread.
"""

from __future__ import annotations

import time
from collections import OrderedDict, deque
from collections.abc import Callable, Mapping
from heapq import heapify, heappop, heappush

from dragoman import (
    AckReply,
    AckStatus,
    ActivateReply,
    ActivateStatus,
    ClearReply,
    ClearStatus,
    CloseReply,
    CloseStatus,
    Handoff,
    Parent,
    ProviderPolicy,
    Purpose,
    RegisterReply,
    RegisterStatus,
    Settings,
    Turn,
)
from dragoman.protocol.content import is_clean_anyhow, is_clean_result
from dragoman.protocol.handoff import examine, in_source_order, is_plainly_valid
from dragoman.protocol.history import project

__all__ = ["LEFT_OUT", "Plain"]

LEFT_OUT = "order between requests, ledger, content, failure handling"
"""What a reader of a ratio has to know of its denominator."""

_REJECTED = object()
"""Stands where the result of a rejected parent would."""

_REGISTERED = RegisterReply(RegisterStatus.REGISTERED)
_NOT_PARTICIPATING = RegisterReply(RegisterStatus.NOT_PARTICIPATING)
_DUPLICATE_REQUEST = RegisterReply(RegisterStatus.DUPLICATE_REQUEST)
_OVERLOADED = RegisterReply(RegisterStatus.OVERLOADED)
_ACTIVATED = ActivateReply(ActivateStatus.ACTIVATED)
_ALREADY_ACTIVE = ActivateReply(ActivateStatus.ALREADY_ACTIVE)
_NO_REQUEST = ActivateReply(ActivateStatus.UNKNOWN_REQUEST)
_ACCEPTED = AckReply(AckStatus.ACCEPTED)
_REJECTED_REPLY = AckReply(AckStatus.REJECTED)
_DUPLICATE = AckReply(AckStatus.DUPLICATE)
_CONFLICT = AckReply(AckStatus.CONFLICT)
_UNKNOWN_PARENT = AckReply(AckStatus.UNKNOWN_PARENT)
_INVALID_RESULT = AckReply(AckStatus.INVALID_RESULT)
_STALE = AckReply(AckStatus.STALE)
_DISPOSED = CloseReply(CloseStatus.DISPOSED)
_NOTHING_TO_CLOSE = CloseReply(CloseStatus.UNKNOWN_REQUEST)

_UNLISTED = ProviderPolicy()
_MIN_CANCELLED = 64
"""Cancelled windows that are left in the heap at least, before it is built anew."""


class _Session:
    """The newest turns of a session, its open handles, and when it was last used."""

    __slots__ = ("handles", "session_id", "turns", "used_ns")

    def __init__(self, session_id: str, max_turns: int, now_ns: int) -> None:
        self.session_id = session_id
        self.turns: deque[Turn] = deque(maxlen=max_turns)
        self.handles: dict[str, _Handle] = {}
        self.used_ns = now_ns


class _Handle:
    """An open request. `results` holds None for a pending parent; all before `cursor` are settled."""

    __slots__ = ("active", "cursor", "parents", "places", "request_id", "results", "session")

    def __init__(self, request_id: str, session: _Session, parents: tuple[Parent, ...]) -> None:
        self.request_id = request_id
        self.session = session
        self.parents = parents
        self.places = {parent.id: place for place, parent in enumerate(parents)}
        self.results: list[object] = [None] * len(parents)
        self.cursor = 0
        self.active = False


class Plain:
    """The reference; see the module. `clock_ns` tells the time in nanoseconds."""

    def __init__(
        self,
        settings: Settings | None = None,
        *,
        providers: Mapping[str, ProviderPolicy] | None = None,
        clock_ns: Callable[[], int] = time.monotonic_ns,
    ) -> None:
        settings = Settings() if settings is None else settings
        self._providers = dict(providers or {})
        self._clock_ns = clock_ns
        self._history_enabled = settings.history_enabled
        self._eligible_modes = frozenset(settings.eligible_modes)
        self._window_ns = round(settings.ack_window * 1_000_000) * 1000
        self._ttl_ns = round(settings.session_ttl * 1_000_000) * 1000
        self._max_sessions = settings.max_sessions
        self._max_turns = settings.max_turns
        self._max_open_handles = settings.max_open_handles
        self._sessions: OrderedDict[str, _Session] = OrderedDict()
        self._handles: dict[str, _Handle] = {}
        self._windows: list[tuple[int, int, _Handle]] = []
        self._activated = 0
        self._cancelled = 0

    def register(self, handoff: Handoff) -> RegisterReply:
        now_ns = self._now()
        if not is_plainly_valid(handoff):
            reason = examine(handoff)
            if reason is not None:
                return RegisterReply(RegisterStatus.INVALID_HANDOFF, reason)
            handoff = in_source_order(handoff)
        if not self._takes_part(handoff.provider, handoff.mode, handoff.purpose):
            return _NOT_PARTICIPATING
        session = self._session(handoff.session_id, now_ns)
        request_id = handoff.request_id
        taken = self._handles.get(request_id)
        if taken is not None and not self._outlived(taken.session, now_ns):
            return _DUPLICATE_REQUEST
        if len(self._handles) >= self._max_open_handles:
            self._drop_outlived(now_ns)
            if len(self._handles) >= self._max_open_handles:
                return _OVERLOADED
        if session is None:
            session = self._make(handoff.session_id, now_ns)
            if session is None:
                return _OVERLOADED
        else:
            self._use(session, now_ns)
        handle = _Handle(request_id, session, handoff.parents)
        self._handles[request_id] = session.handles[request_id] = handle
        return _REGISTERED

    def activate(self, request_id: str) -> ActivateReply:
        now_ns = self._now()
        handle = self._handles.get(request_id)
        if handle is None or self._outlived(handle.session, now_ns):
            return _NO_REQUEST
        if handle.active:
            return _ALREADY_ACTIVE
        handle.active = True
        self._activated += 1
        heappush(self._windows, (now_ns + self._window_ns, self._activated, handle))
        return _ACTIVATED

    def acknowledge(self, request_id: str, parent_id: str, result: str) -> AckReply:
        now_ns = self._clock_ns()
        if self._windows and self._windows[0][0] <= now_ns:
            self._end_windows(now_ns)
        handle = self._handles.get(request_id)
        if handle is None:
            return _STALE
        if now_ns - handle.session.used_ns > self._ttl_ns:
            self._drop(handle.session)
            return _STALE
        place = handle.places.get(parent_id)
        if place is None:
            return _UNKNOWN_PARENT
        if not is_clean_anyhow(result) and not is_clean_result(result, handle.parents[place].source):
            return _INVALID_RESULT
        known = handle.results[place]
        if known is not None:
            return _CONFLICT if known is _REJECTED else _DUPLICATE
        handle.results[place] = result
        if place != handle.cursor:
            return _ACCEPTED
        return AckReply(AckStatus.ACCEPTED, self._commit(handle, now_ns))

    def reject(self, request_id: str, parent_id: str) -> AckReply:
        now_ns = self._clock_ns()
        if self._windows and self._windows[0][0] <= now_ns:
            self._end_windows(now_ns)
        handle = self._handles.get(request_id)
        if handle is None:
            return _STALE
        if now_ns - handle.session.used_ns > self._ttl_ns:
            self._drop(handle.session)
            return _STALE
        place = handle.places.get(parent_id)
        if place is None:
            return _UNKNOWN_PARENT
        known = handle.results[place]
        if known is not None:
            return _DUPLICATE if known is _REJECTED else _CONFLICT
        handle.results[place] = _REJECTED
        if place != handle.cursor:
            return _REJECTED_REPLY
        committed = self._commit(handle, now_ns)
        return AckReply(AckStatus.REJECTED, committed) if committed else _REJECTED_REPLY

    def cancel(self, request_id: str) -> CloseReply:
        now_ns = self._now()
        handle = self._handles.get(request_id)
        if handle is None or self._outlived(handle.session, now_ns):
            return _NOTHING_TO_CLOSE
        self._close(handle)
        return _DISPOSED

    def clear_session(self, session_id: str) -> ClearReply:
        session = self._session(session_id, self._now())
        if session is None:
            return ClearReply(ClearStatus.UNKNOWN_SESSION)
        self._drop(session)
        return ClearReply(ClearStatus.CLEARED)

    def history(
        self,
        session_id: str,
        *,
        provider: str = "openai",
        mode: str = "select-element",
        purpose: str = Purpose.PRIMARY_TRANSLATION,
        max_turns: int = 10,
        max_chars: int | None = None,
    ) -> tuple[Turn, ...]:
        now_ns = self._now()
        session = self._session(session_id, now_ns)
        if session is None or not self._takes_part(provider, mode, purpose):
            return ()
        self._use(session, now_ns)
        return project(session.turns, max_turns, max_chars)

    def _now(self) -> int:
        """The time of an operation, at which every window that is due has ended."""
        now_ns = self._clock_ns()
        if self._windows and self._windows[0][0] <= now_ns:
            self._end_windows(now_ns)
        return now_ns

    def _end_windows(self, now_ns: int) -> None:
        windows = self._windows
        while windows and windows[0][0] <= now_ns:
            handle = heappop(windows)[2]
            if self._handles.get(handle.request_id) is handle:
                self._forget(handle)
            else:
                self._cancelled -= 1

    def _commit(self, handle: _Handle, now_ns: int) -> tuple[str, ...]:
        """Commit the settled run from the cursor on, and close a handle that has come to its end."""
        results, parents, place = handle.results, handle.parents, handle.cursor
        request_id, count = handle.request_id, len(results)
        append = handle.session.turns.append
        committed: list[str] = []
        while place < count:
            result = results[place]
            if result is None:
                break
            if result is not _REJECTED:
                parent = parents[place]
                append(Turn(request_id, parent.id, parent.source, result))  # type: ignore[arg-type]
                committed.append(parent.id)
            place += 1
        handle.cursor = place
        if committed:
            self._use(handle.session, now_ns)
        if place == count:
            self._close(handle)
        return tuple(committed)

    def _close(self, handle: _Handle) -> None:
        """Close a handle before its window ends; the heap never holds more cancelled windows than running ones."""
        self._forget(handle)
        if handle.active:
            self._cancelled += 1
            if self._cancelled > _MIN_CANCELLED and 2 * self._cancelled > len(self._windows):
                handles = self._handles
                self._windows = [entry for entry in self._windows if handles.get(entry[2].request_id) is entry[2]]
                heapify(self._windows)
                self._cancelled = 0

    def _forget(self, handle: _Handle) -> None:
        del self._handles[handle.request_id]
        del handle.session.handles[handle.request_id]

    def _session(self, session_id: str, now_ns: int) -> _Session | None:
        session = self._sessions.get(session_id)
        return None if session is None or self._outlived(session, now_ns) else session

    def _outlived(self, session: _Session, now_ns: int) -> bool:
        """Whether a session is past its TTL; one that is goes, with its handles."""
        if now_ns - session.used_ns <= self._ttl_ns:
            return False
        self._drop(session)
        return True

    def _drop_outlived(self, now_ns: int) -> None:
        while self._sessions and self._outlived(next(iter(self._sessions.values())), now_ns):
            pass

    def _use(self, session: _Session, now_ns: int) -> None:
        session.used_ns = now_ns
        self._sessions.move_to_end(session.session_id)

    def _make(self, session_id: str, now_ns: int) -> _Session | None:
        """A new session, in the place of the least recently used one without an open handle."""
        sessions = self._sessions
        if len(sessions) >= self._max_sessions:
            self._drop_outlived(now_ns)
        if len(sessions) >= self._max_sessions:
            idle = next((session for session in sessions.values() if not session.handles), None)
            if idle is None:
                return None
            self._drop(idle)
        session = sessions[session_id] = _Session(session_id, self._max_turns, now_ns)
        return session

    def _drop(self, session: _Session) -> None:
        for handle in tuple(session.handles.values()):
            self._close(handle)
        del self._sessions[session.session_id]

    def _takes_part(self, provider: str, mode: str, purpose: str) -> bool:
        return (
            self._history_enabled
            and mode in self._eligible_modes
            and purpose == Purpose.PRIMARY_TRANSLATION
            and self._providers.get(provider, _UNLISTED).kind == "ai"
        )
