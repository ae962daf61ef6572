"""The session manager: the committed memory (C "Owner of storage", C16).

Rules. At most `max_sessions` live sessions. A registration, a commit, a claimed turn and a participating read are uses;
a session that was not used for longer than the TTL ends, whether anyone looks or not. A session with an open
handle is pinned: LRU eviction never takes it, and its expiry goes through the coordinator, which closes the handles
first. A session keeps its newest `max_turns` turns. A turn that cannot be written fails alone.

The map is in the order of last use, so that the first entry is both the next to be evicted and the next to expire; one
timer, set for that entry, serves all sessions.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from typing import Any

import attrs

from ..protocol.errors import ActorFailed
from ..protocol.execution_messages import ClaimTurns, CommitDirect, DirectCommitted
from ..protocol.history import Turn, project
from ..protocol.messages import (
    CheckIdle,
    ClaimTurn,
    ClearSession,
    CommitTurns,
    DropIfIdle,
    FailCommits,
    Inspect,
    OpenSession,
    ReadHistory,
    SessionChecked,
    SessionIdle,
    SessionOpened,
    TurnsCommitted,
    Unpin,
)
from ..protocol.replies import ClearReply
from ..protocol.settings import Settings, microseconds
from ..protocol.statuses import ClaimStatus, ClearStatus
from .actor import Actor, handles
from .dispatcher import Dispatcher
from .mailbox import Envelope, Mailbox
from .reporting import report

__all__ = ["ReportTo", "SessionManager", "SessionSnapshot"]

_EXPIRY = "expiry"
_ALL_COMMITTED = TurnsCommitted(frozenset())


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


class _Session:
    __slots__ = ("expiring", "incarnation", "last_use_us", "pins", "stamp", "turn_counter", "turns", "view")

    def __init__(self, max_turns: int, incarnation: int) -> None:
        self.incarnation = incarnation
        self.turns: deque[Turn] = deque(maxlen=max_turns)
        self.turn_counter = 0
        self.pins = 0
        self.last_use_us = 0
        self.stamp = 0
        self.expiring = False
        self.view: SessionSnapshot | None = None


class _InjectedFault(Exception):
    """Raised in the place of a write, where a scenario asked for it."""


class SessionManager(Actor):
    """Owns the sessions: committed turns, TTL, LRU and the operational turn counter."""

    def __init__(self, dispatcher: Dispatcher, settings: Settings) -> None:
        super().__init__(dispatcher)
        self._max_sessions = settings.max_sessions
        self._max_turns = settings.max_turns
        self._ttl_us = microseconds(settings.session_ttl)
        self._sessions: OrderedDict[str, _Session] = OrderedDict()
        self._pinned = 0
        self._made = 0
        self._next = ("", 0)
        self._faults: dict[str, int] = {}
        self._coordinator: Mailbox | None = None

    @handles(ReportTo)
    def _report_to(self, message: ReportTo, _envelope: Envelope[Any]) -> None:
        self._coordinator = message.coordinator

    @handles(OpenSession)
    def _open(self, message: OpenSession, _envelope: Envelope[Any]) -> SessionOpened:
        session = self._use(message.session_id) or self._make(message.session_id)
        if session is None:
            return SessionOpened(message.session_id, message.request_id, opened=False)
        if message.pins:
            session.pins += 1
            self._pinned += session.pins == 1
        history = () if message.reads is None else project(session.turns, *message.reads)
        return SessionOpened(message.session_id, message.request_id, True, message.pins, session.incarnation, history)

    @handles(CommitTurns)
    def _commit(self, message: CommitTurns, _envelope: Envelope[Any]) -> TurnsCommitted:
        failed = []
        session = self._sessions.get(message.session_id)
        for position, turn in enumerate(message.turns):
            try:
                self._write(message.session_id, session, turn)
            except Exception as error:
                failed.append(position)
                self._note_failed_commit(error)
        if session is not None and len(failed) < len(message.turns):
            self._use(message.session_id)
        if message.unpins:
            self._unpin(message.session_id)
        return TurnsCommitted(frozenset(failed)) if failed else _ALL_COMMITTED

    @handles(CommitDirect)
    def _commit_direct(self, message: CommitDirect, _envelope: Envelope[Any]) -> DirectCommitted:
        session = self._same(message)
        if session is None:
            return DirectCommitted(written=False)
        try:
            self._write(message.session_id, session, message.turn)
        except Exception as error:
            self._note_failed_commit(error)
            return DirectCommitted(written=False)
        self._use(message.session_id)
        return DirectCommitted(written=True)

    @handles(ClaimTurns)
    def _claim_for_calls(self, message: ClaimTurns, _envelope: Envelope[Any]) -> None:
        session = self._same(message)
        if session is not None:
            session.turn_counter += message.count
            session.view = None
            self._use(message.session_id)

    def _same(self, message: CommitDirect | ClaimTurns) -> _Session | None:
        """The session that a request began with, if it was not dropped since."""
        session = self._sessions.get(message.session_id)
        return session if session is not None and session.incarnation == message.incarnation else None

    @handles(ReadHistory)
    def _read(self, message: ReadHistory, _envelope: Envelope[Any]) -> tuple[Turn, ...]:
        session = self._use(message.session_id)
        return () if session is None else project(session.turns, message.max_turns, message.max_chars)

    @handles(ClaimTurn)
    def _claim(self, message: ClaimTurn, _envelope: Envelope[Any]) -> int | ClaimStatus:
        session = self._use(message.session_id) or self._make(message.session_id)
        if session is None:
            return ClaimStatus.OVERLOADED
        session.turn_counter += 1
        session.view = None
        return session.turn_counter

    @handles(ClearSession)
    def _clear(self, message: ClearSession, _envelope: Envelope[Any]) -> ClearReply:
        if message.session_id not in self._sessions:
            return ClearReply(ClearStatus.UNKNOWN_SESSION)
        self._drop(message.session_id)
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
            self._drop(message.session_id)

    def _still_idle(self, session_id: str) -> bool:
        session = self._sessions.get(session_id)
        if session is None:
            return False
        if not self._outlived(session):
            session.expiring = False
            self._await_expiry()
            return False
        return True

    @handles(FailCommits)
    def _inject(self, message: FailCommits, _envelope: Envelope[Any]) -> None:
        self._faults[message.session_id] = self._faults.get(message.session_id, 0) + message.times

    @handles(Inspect)
    def _inspect(self, _message: Inspect, _envelope: Envelope[Any]) -> tuple[SessionSnapshot, ...]:
        return tuple(self._view(session_id, session) for session_id, session in self._sessions.items())

    def _view(self, session_id: str, session: _Session) -> SessionSnapshot:
        """The snapshot of a session; the same one as long as nothing in it changes."""
        if session.view is None:
            session.view = SessionSnapshot(session_id, tuple(session.turns), session.turn_counter)
        return session.view

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
                    self._drop(session_id)
        finally:
            self._await_expiry()

    def _outlived(self, session: _Session) -> bool:
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

    def _use(self, session_id: str) -> _Session | None:
        session = self._sessions.get(session_id)
        if session is not None:
            self._touch(session)
            self._sessions.move_to_end(session_id)
        return session

    def _touch(self, session: _Session) -> None:
        session.last_use_us = self.dispatcher.now_us()
        session.stamp = self.dispatcher.stamp()

    def _make(self, session_id: str) -> _Session | None:
        """A new session, in the place of the least recently used one that no handle pins; None if all are pinned."""
        if len(self._sessions) >= self._max_sessions:
            if self._pinned == len(self._sessions):
                return None
            self._drop(next(known for known, session in self._sessions.items() if not session.pins))
        self._made += 1
        self._sessions[session_id] = session = _Session(self._max_turns, self._made)
        self._touch(session)
        self._await_expiry()
        self.observe(("session", session_id, "opened"))
        return session

    def _drop(self, session_id: str) -> None:
        session = self._sessions.pop(session_id)
        self._pinned -= session.pins > 0
        self.observe(("session", session_id, "dropped"))

    def _unpin(self, session_id: str) -> None:
        session = self._sessions.get(session_id)
        if session is not None and session.pins:
            session.pins -= 1
            self._pinned -= session.pins == 0

    def _write(self, session_id: str, session: _Session | None, turn: Turn) -> None:
        left = self._faults.get(session_id, 0)
        if left:
            if left == 1:
                del self._faults[session_id]
            else:
                self._faults[session_id] = left - 1
            raise _InjectedFault
        if session is None:
            raise LookupError("no such session")
        session.turns.append(turn)
        session.view = None

    def _note_failed_commit(self, error: Exception) -> None:
        failure: ActorFailed = self._failure(error)
        report(
            "ERROR",
            "a turn could not be written: {error_type} in {module}, line {line}",
            error_type=failure.error_type,
            module=failure.module,
            line=failure.line,
        )
