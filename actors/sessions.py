"""The session manager: the committed memory (C "Owner of storage", C16).

Rules. A registration, a commit, a claimed turn and a participating read are uses of a session, as are a recorded call
and a content hit. A session with an open handle is pinned. A session keeps its newest `max_turns` turns; the content
store keeps the translation of each as well. A turn that cannot be written fails alone.
"""

from __future__ import annotations

from typing import Any

from ..protocol.content_messages import RefTurns, StoreTurns
from ..protocol.errors import ActorFailed
from ..protocol.execution_messages import ClaimTurns, CommitDirect, DirectCommitted
from ..protocol.history import TurnRun, project
from ..protocol.messages import (
    ClaimTurn,
    CommitTurns,
    FailCommits,
    Inspect,
    OpenSession,
    ReadHistory,
    SessionOpened,
    TurnsCommitted,
)
from ..protocol.settings import Settings
from ..protocol.statuses import ClaimStatus
from .actor import DEFERRED, handles
from .dispatcher import Dispatcher
from .mailbox import Envelope, Mailbox
from .reporting import report
from .session_calls import SessionCalls
from .session_map import ReportTo, Session, SessionSnapshot

__all__ = ["ReportTo", "SessionManager", "SessionSnapshot"]

_ALL_COMMITTED = TurnsCommitted(frozenset())


class _InjectedFault(Exception):
    """Raised in the place of a write, where a scenario asked for it."""


class SessionManager(SessionCalls):
    """Owns the sessions: committed turns, TTL, LRU and the operational turn counter."""

    prompt = True

    def __init__(self, dispatcher: Dispatcher, settings: Settings, store: Mailbox) -> None:
        super().__init__(dispatcher, settings, store)
        self._faults: dict[str, int] = {}

    @handles(OpenSession)
    def _open(self, message: OpenSession, _envelope: Envelope[Any]) -> SessionOpened:
        session = self._use(message.session_id) or self._make(message.session_id)
        if session is None:
            return SessionOpened(message.session_id, message.request_id, opened=False)
        if message.pins:
            session.pins += 1
            self._pinned += session.pins == 1
        session.note_request(message.request_id)
        reads = message.reads
        history = () if reads is None else project(session.newest(reads.turns, reads.until), reads.turns, reads.chars)
        return SessionOpened(message.session_id, message.request_id, True, message.pins, session.incarnation, history)

    @handles(CommitTurns)
    def _commit(self, message: CommitTurns, _envelope: Envelope[Any]) -> TurnsCommitted:
        failed = self._write_all(message.session_id, self._sessions.get(message.session_id), message.turns)
        if self.dispatcher.watched:
            self.dispatcher.note("committed", message.session_id, message.turns, failed)
        if message.unpins:
            self._unpin(message.session_id)
        return TurnsCommitted(frozenset(failed)) if failed else _ALL_COMMITTED

    @handles(CommitDirect)
    def _commit_direct(self, message: CommitDirect, _envelope: Envelope[Any]) -> DirectCommitted:
        session = self._same(message)
        if session is None:
            return DirectCommitted(written=False)
        turns = TurnRun.of(message.turn)
        failed = self._write_all(message.session_id, session, turns)
        self.dispatcher.note("committed", message.session_id, turns, failed)
        return DirectCommitted(written=not failed)

    @handles(ClaimTurns)
    def _claim_for_calls(self, message: ClaimTurns, _envelope: Envelope[Any]) -> None:
        session = self._same(message)
        if session is not None:
            session.turn_counter += message.count
            session.view = None
            self._use(message.session_id)

    def _same(self, message: CommitDirect | ClaimTurns) -> Session | None:
        """The session that a request began with, if it was not dropped since."""
        session = self._sessions.get(message.session_id)
        return session if session is not None and session.incarnation == message.incarnation else None

    @handles(ReadHistory)
    def _read(self, message: ReadHistory, envelope: Envelope[Any]) -> Any:
        session = self._use(message.session_id)
        turns = () if session is None else project(session.turns, message.max_turns, message.max_chars)
        if session is None or not turns:
            return ()
        self._store.put(
            Envelope(RefTurns(message.session_id, session.written - len(turns) + 1, turns), envelope.reply_to)
        )
        return DEFERRED

    @handles(ClaimTurn)
    def _claim(self, message: ClaimTurn, _envelope: Envelope[Any]) -> int | ClaimStatus:
        session = self._use(message.session_id) or self._make(message.session_id)
        if session is None:
            return ClaimStatus.OVERLOADED
        session.turn_counter += 1
        session.view = None
        return session.turn_counter

    @handles(FailCommits)
    def _inject(self, message: FailCommits, _envelope: Envelope[Any]) -> None:
        self._faults[message.session_id] = self._faults.get(message.session_id, 0) + message.times

    @handles(Inspect)
    def _inspect(self, _message: Inspect, _envelope: Envelope[Any]) -> tuple[SessionSnapshot, ...]:
        return tuple(self._view(session_id, session) for session_id, session in self._sessions.items())

    def _view(self, session_id: str, session: Session) -> SessionSnapshot:
        """The snapshot of a session; the same one as long as nothing in it changes."""
        if session.view is None:
            session.view = SessionSnapshot(session_id, tuple(session.turns), session.turn_counter)
        return session.view

    def _write_all(self, session_id: str, session: Session | None, turns: TurnRun) -> list[int]:
        """Write each turn that can be written, and use the session if any could; the places of the others."""
        failed: list[int] = []
        written = turns
        first = 1 if session is None else session.written + 1
        if session is not None and session_id not in self._faults:
            session.append(turns)
        else:
            for place in range(len(turns)):
                try:
                    self._write(session_id, session, turns.at((place,)))
                except Exception as error:
                    failed.append(place)
                    self._note_failed_commit(error)
            written = turns.at([place for place in range(len(turns)) if place not in failed])
        if session is not None and written:
            self._use(session_id)
            self._store.tell(StoreTurns(session_id, first, written))
        return failed

    def _write(self, session_id: str, session: Session | None, turn: TurnRun) -> None:
        left = self._faults.get(session_id, 0)
        if left:
            if left == 1:
                del self._faults[session_id]
            else:
                self._faults[session_id] = left - 1
            raise _InjectedFault
        if session is None:
            raise LookupError("no such session")
        session.append(turn)

    def _note_failed_commit(self, error: Exception) -> None:
        self._commits_failed += 1
        failure: ActorFailed = self._failure(error)
        report(
            "ERROR",
            "a turn could not be written: {error_type} in {module}, line {line}",
            error_type=failure.error_type,
            module=failure.module,
            line=failure.line,
        )
