"""The map of sessions: which live, in the order of their last use, and when each ends (C "Owner of storage", C16).

Rules. At most `max_sessions` live sessions; past it the least recently used one goes that no open handle pins. A
session that was not used for longer than the TTL ends, whether anyone looks or not; one with an open handle ends
through the coordinator, which closes the handles first. Whatever a session holds goes with it.

The map is in the order of last use, so that the first entry is both the next to be evicted and the next to expire; one
timer, set for that entry, serves all sessions.
"""

from __future__ import annotations

import itertools
from collections import Counter, OrderedDict
from collections.abc import Iterable
from typing import Any

import attrs

from ..protocol.content_messages import DropContent
from ..protocol.history import Turn, TurnRun
from ..protocol.mappings import WordMapping
from ..protocol.messages import CheckIdle, ClearSession, DropIfIdle, ReadStatistics, SessionChecked, SessionIdle, Unpin
from ..protocol.records import CallRecord
from ..protocol.replies import ClearReply
from ..protocol.runtime_statistics import SessionEnd, SessionStatistics
from ..protocol.settings import Settings, microseconds
from ..protocol.statuses import ClearStatus
from .actor import handles
from .dispatcher import Dispatcher
from .holding import Holding
from .mailbox import Envelope, Mailbox
from .newest_turns import NewestTurns

__all__ = ["ReportTo", "Session", "SessionMap", "SessionSnapshot"]

_EXPIRY = "expiry"
_REQUESTS_KNOWN = 10_000
"""So many of the newest requests of a session are known by their order; what is older came before them."""


@attrs.frozen
class SessionSnapshot:
    """What the session manager keeps of one session."""

    session_id: str
    turns: tuple[Turn, ...]
    turn_counter: int


@attrs.frozen
class ReportTo:
    """Runtime → session manager, first of all: who is told of pinned sessions that have outlived their TTL."""

    coordinator: Mailbox


class Session:
    """What is kept of one session. `written` counts the turns that it ever had; the newest of them are `turns`.

    Its newest requests are known by the order in which they began.
    """

    __slots__ = (
        "begun",
        "expiring",
        "followed",
        "incarnation",
        "last_use_us",
        "pins",
        "records",
        "requests",
        "stamp",
        "turn_counter",
        "turns",
        "view",
        "written",
    )

    def __init__(self, max_turns: int, incarnation: int) -> None:
        self.incarnation = incarnation
        self.turns = NewestTurns(max_turns)
        self.written = 0
        self.turn_counter = 0
        self.begun = 0
        self.requests: dict[str, int] = {}
        self.records: OrderedDict[str, CallRecord] | None = None
        self.followed = False
        self.pins = 0
        self.last_use_us = 0
        self.stamp = 0
        self.expiring = False
        self.view: SessionSnapshot | None = None

    def append(self, turns: TurnRun) -> None:
        """Turns that come newest; the oldest ones make room."""
        self.turns.extend(turns)
        self.written += len(turns)
        self.view = None

    def note_request(self, request_id: str) -> None:
        """A request begins in this session: the turns of those that have come before it are older than its own."""
        self.begun += 1
        self.requests.pop(request_id, None)
        self.requests[request_id] = self.begun
        if len(self.requests) > 2 * _REQUESTS_KNOWN:
            self.requests = dict(tuple(self.requests.items())[-_REQUESTS_KNOWN:])

    def newest(self, count: int, until: str | None) -> Iterable[Turn]:
        """The newest `count` turns, or more, of the request `until` and of those that began before it, oldest first.

        Of all requests if it is None; none if it is not known.
        """
        if until is None:
            return self.turns
        last = self.requests.get(until)
        if last is None:
            return ()
        of = self.requests.get
        earlier = (turn for turn in reversed(tuple(self.turns)) if of(turn.request_id, 0) <= last)
        return reversed(tuple(itertools.islice(earlier, count)))


class SessionMap(Holding):
    """The part of the session manager that lets sessions begin and end."""

    def __init__(self, dispatcher: Dispatcher, settings: Settings, store: Mailbox) -> None:
        super().__init__(dispatcher)
        self._store = store
        self._max_sessions = settings.max_sessions
        self._max_turns = settings.max_turns
        self._ttl_us = microseconds(settings.session_ttl)
        self._sessions: OrderedDict[str, Session] = OrderedDict()
        self._pinned = 0
        self._made = 0
        self._refused = 0
        self._ended: Counter[str] = Counter()
        self._turns_dropped = 0
        self._commits_failed = 0
        self._next = ("", 0)
        self._coordinator: Mailbox | None = None

    @handles(ReportTo)
    def _report_to(self, message: ReportTo, _envelope: Envelope[Any]) -> None:
        self._coordinator = message.coordinator

    @handles(ClearSession)
    def _clear(self, message: ClearSession, _envelope: Envelope[Any]) -> ClearReply:
        if message.session_id not in self._sessions:
            return ClearReply(ClearStatus.UNKNOWN_SESSION)
        self._drop(message.session_id, SessionEnd.CLEARED)
        return ClearReply(ClearStatus.CLEARED)

    @handles(Unpin)
    def _unpin_asked(self, message: Unpin, _envelope: Envelope[Any]) -> None:
        self._unpin(message.session_id)

    @handles(CheckIdle)
    def _check_idle(self, message: CheckIdle, _envelope: Envelope[Any]) -> SessionChecked:
        return SessionChecked(message.session_id, self._still_idle(message.session_id))

    @handles(DropIfIdle)
    def _drop_if_idle(self, message: DropIfIdle, _envelope: Envelope[Any]) -> None:
        if self._still_idle(message.session_id):
            self._drop(message.session_id, SessionEnd.EXPIRED)

    def _still_idle(self, session_id: str) -> bool:
        session = self._sessions.get(session_id)
        if session is None:
            return False
        if not self._outlived(session):
            session.expiring = False
            self._await_expiry()
            return False
        return True

    def on_timer(self, key: str) -> None:
        """End the session that the timer was set for, if it was not used since, and wait for the next."""
        session_id, stamp = self._next
        session = self._sessions.get(session_id)
        try:
            if session is not None and session.stamp == stamp:
                session.expiring = True
                if session.pins:
                    self._coordinator.tell(SessionIdle(session_id))  # type: ignore[union-attr]
                else:
                    self._drop(session_id, SessionEnd.EXPIRED)
        finally:
            self._await_expiry()

    def _outlived(self, session: Session) -> bool:
        return self.dispatcher.now_us() - session.last_use_us > self._ttl_us

    def _await_expiry(self) -> None:
        """Keep the timer set for the session that would expire next; if that is used meanwhile, it goes on to another.

        One at a time, and as if each session had a timer of its own that was started at its last use.
        """
        if self._timers:
            return
        for session_id, session in self._sessions.items():
            if not session.expiring:
                self._next = session_id, session.stamp
                delay_us = session.last_use_us + self._ttl_us + 1 - self.dispatcher.now_us()
                self.start_timer(_EXPIRY, max(0, delay_us), session.stamp)
                return

    @handles(ReadStatistics)
    def _read_statistics(self, _message: ReadStatistics, _envelope: Envelope[Any]) -> SessionStatistics:
        return SessionStatistics(
            live=len(self._sessions),
            limit=self._max_sessions,
            pinned=self._pinned,
            opened=self._made,
            ended=WordMapping(self._ended),
            refused=self._refused,
            turns_committed=self._turns_dropped + sum(session.written for session in self._sessions.values()),
            commits_failed=self._commits_failed,
        )

    def _use(self, session_id: str) -> Session | None:
        session = self._sessions.get(session_id)
        if session is not None:
            self._touch(session)
            self._sessions.move_to_end(session_id)
        return session

    def _touch(self, session: Session) -> None:
        session.last_use_us = self.dispatcher.now_us()
        session.stamp = self.dispatcher.stamp()

    def _make(self, session_id: str) -> Session | None:
        """A new session, in the place of the least recently used one that no handle pins; None if all are pinned."""
        if len(self._sessions) >= self._max_sessions:
            if self._pinned == len(self._sessions):
                self._refused += 1
                return None
            unpinned = next(known for known, session in self._sessions.items() if not session.pins)
            self._drop(unpinned, SessionEnd.EVICTED)
        self._made += 1
        self._sessions[session_id] = session = Session(self._max_turns, self._made)
        self._touch(session)
        self._await_expiry()
        self.observe(("session", session_id, "opened"))
        self.dispatcher.note("session", session_id, "OPENED")
        return session

    def _drop(self, session_id: str, end: SessionEnd) -> None:
        session = self._sessions.pop(session_id)
        self._ended[end] += 1
        self._turns_dropped += session.written
        self._pinned -= session.pins > 0
        self._store.tell(DropContent(session_id))
        self.observe(("session", session_id, "dropped"))
        self.dispatcher.note("session", session_id, end.value, session.last_use_us)

    def _unpin(self, session_id: str) -> None:
        session = self._sessions.get(session_id)
        if session is not None and session.pins:
            session.pins -= 1
            self._pinned -= session.pins == 0
