"""The rules of acceptance, once more and without concurrency: what the runtime is compared with.

Written from the pages, in the simplest way that is right: plain lists that are searched each time, one operation
after another, no message and no thread. It shares no code with the product and knows its words as strings only.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Parent:
    id: str
    source: str
    state: str = "PENDING"
    result: str | None = None


@dataclass
class Request:
    id: str
    session: str
    parents: list[Parent]
    active: bool = False
    cause: str | None = None
    closed_at: int = 0
    window: tuple[int, int] | None = None
    wait: tuple[int, int] | None = None
    waited: bool = False

    def parent(self, parent_id: str) -> Parent | None:
        return next((parent for parent in self.parents if parent.id == parent_id), None)

    def has(self, state: str) -> bool:
        return any(parent.state == state for parent in self.parents)

    def states(self) -> dict[str, str]:
        return {parent.id: parent.state for parent in self.parents}


@dataclass
class Session:
    id: str
    used: int
    stamp: int
    turns: list[tuple[str, str, str, str]] = field(default_factory=list)
    counter: int = 0


@dataclass
class Model:
    window: int
    ttl: int
    max_sessions: int
    max_turns: int
    max_open_handles: int
    ledger_entries: int
    in_session_order: bool
    now: int = 0
    started: int = 0
    history_enabled: bool = True
    sessions: list[Session] = field(default_factory=list)
    open: list[Request] = field(default_factory=list)
    ledger: list[Request] = field(default_factory=list)
    faults: dict[str, int] = field(default_factory=dict)

    def copy(self) -> Model:
        return copy.deepcopy(self)

    # Time.

    def advance(self, delta: int) -> None:
        end = self.now + delta
        while True:
            due = [
                (at, started, request, "window")
                for request in self.open
                if request.window
                for at, started in [request.window]
            ]
            due += [
                (at, started, request, "wait")
                for request in self.open
                if request.wait
                for at, started in [request.wait]
            ]
            due += [(session.used + self.ttl + 1, session.stamp, session, "expiry") for session in self.sessions]
            due = sorted((entry for entry in due if entry[0] <= end), key=lambda entry: entry[:2])
            if not due:
                break
            at, _started, what, kind = due[0]
            self.now = at
            if isinstance(what, Session):
                self._drop(what.id, "SESSION_EXPIRED")
            elif kind == "window":
                self._close(what, "EXPIRED")
            else:
                what.wait = None
                self._pass_over_before(what)
        self.now = end

    def _stamp(self) -> int:
        """Ties between timers go by their start; that of an expiry is the last use."""
        self.started += 1
        return self.started

    def _timer(self) -> tuple[int, int]:
        return self.now + self.window, self._stamp()

    # Operations; each returns the reply as a plain value.

    def register(self, request_id: str, session_id: str, parents: list[tuple[str, str]]) -> str:
        if not self.history_enabled:
            return "NOT_PARTICIPATING"
        if self._find(request_id) or self._remembered(request_id):
            return "DUPLICATE_REQUEST"
        if len(self.open) >= self.max_open_handles:
            return "OVERLOADED"
        if not self._use(session_id) and not self._make(session_id):
            return "OVERLOADED"
        self.open.append(Request(request_id, session_id, [Parent(*parent) for parent in parents]))
        return "REGISTERED"

    def activate(self, request_id: str) -> str:
        request = self._find(request_id)
        if request is None:
            return "UNKNOWN_REQUEST"
        if request.active:
            return "ALREADY_ACTIVE"
        request.active = True
        if request.has("PENDING"):
            request.window = self._timer()
        return "ACTIVATED"

    def ack(self, request_id: str, parent_id: str, result: str) -> tuple[str, list[str]]:
        request = self._find(request_id)
        if request is None:
            return "STALE", []
        parent = request.parent(parent_id)
        if parent is None:
            return "UNKNOWN_PARENT", []
        if not result.strip():
            return "INVALID_RESULT", []
        if parent.state in ("ACCEPTED", "COMMITTED"):
            return "DUPLICATE", []
        if parent.state != "PENDING":
            return "CONFLICT", []
        parent.state, parent.result = "ACCEPTED", result
        return "ACCEPTED", self._moved(request, accepted=True)

    def reject(self, request_id: str, parent_id: str) -> tuple[str, list[str]]:
        request = self._find(request_id)
        if request is None:
            return "STALE", []
        parent = request.parent(parent_id)
        if parent is None:
            return "UNKNOWN_PARENT", []
        if parent.state == "REJECTED":
            return "DUPLICATE", []
        if parent.state != "PENDING":
            return "CONFLICT", []
        parent.state = "REJECTED"
        return "REJECTED", self._moved(request, accepted=False)

    def close(self, request_id: str, cause: str) -> str:
        request = self._find(request_id)
        if request is None:
            return "UNKNOWN_REQUEST"
        self._close(request, cause)
        return "DISPOSED"

    def clear(self, session_id: str) -> str:
        if not self._session(session_id):
            return "UNKNOWN_SESSION"
        self._drop(session_id, "CLEARED")
        return "CLEARED"

    def claim(self, session_id: str) -> int | str:
        if not self.history_enabled:
            return 1
        session = self._use(session_id) or self._make(session_id)
        if session is None:
            return "OVERLOADED"
        session.counter += 1
        return session.counter

    def read(self, session_id: str, max_turns: int) -> list[tuple[str, str]]:
        session = self._use(session_id) if self.history_enabled else None
        if session is None or max_turns == 0:
            return []
        return [(turn[2], turn[3]) for turn in session.turns[-max_turns:]]

    def fail_commits(self, session_id: str, times: int) -> None:
        self.faults[session_id] = self.faults.get(session_id, 0) + times

    def configure(self, history_enabled: bool) -> str:
        self.history_enabled = history_enabled
        return "CONFIGURED"

    def status(self, request_id: str) -> tuple[bool, str | None, dict[str, str]]:
        request = self._find(request_id) or self._remembered(request_id)
        return (False, None, {}) if request is None else (request.cause is None, request.cause, request.states())

    def seen(self) -> dict[str, Any]:
        """The whole state as it shows at the face."""
        return {
            "sessions": [(session.id, list(session.turns), session.counter) for session in self.sessions],
            "open": len(self.open),
        }

    # Rules.

    def _find(self, request_id: str) -> Request | None:
        return next((request for request in self.open if request.id == request_id), None)

    def _remembered(self, request_id: str) -> Request | None:
        for request in reversed(self.ledger):
            if request.id == request_id:
                return request if self.now - request.closed_at <= self.ttl else None
        return None

    def _session(self, session_id: str) -> Session | None:
        return next((session for session in self.sessions if session.id == session_id), None)

    def _use(self, session_id: str) -> Session | None:
        session = self._session(session_id)
        if session is not None:
            self.sessions.remove(session)
            self.sessions.append(session)
            session.used = self.now
            session.stamp = self._stamp()
        return session

    def _make(self, session_id: str) -> Session | None:
        if len(self.sessions) >= self.max_sessions:
            pinned = {request.session for request in self.open}
            victim = next((session for session in self.sessions if session.id not in pinned), None)
            if victim is None:
                return None
            self.sessions.remove(victim)
        self.sessions.append(Session(session_id, self.now, self._stamp()))
        return self.sessions[-1]

    def _earlier(self, request: Request) -> list[Request]:
        """The open requests of its session that were registered before it."""
        before = self.open[: self.open.index(request)]
        return [other for other in before if other.session == request.session]

    def _may_commit(self, request: Request) -> bool:
        return not self.in_session_order or not self._earlier(request)

    def _moved(self, request: Request, accepted: bool) -> list[str]:
        if not request.has("PENDING"):
            request.window = None
        if self._may_commit(request):
            return self._commit(request)
        if not request.has("PENDING") and not request.has("ACCEPTED"):
            self._close(request, "COMPLETED")
        elif accepted and not request.waited:
            request.waited = True
            request.wait = self._timer()
        return []

    def _commit(self, request: Request) -> list[str]:
        session = self._session(request.session)
        assert session is not None
        committed = []
        for parent in request.parents:
            if parent.state == "PENDING":
                break
            if parent.state != "ACCEPTED":
                continue
            if self.faults.get(session.id, 0):
                self.faults[session.id] -= 1
                parent.state = "COMMIT_FAILED"
                continue
            parent.state = "COMMITTED"
            session.turns.append((request.id, parent.id, parent.source, str(parent.result)))
            committed.append(parent.id)
        if committed:
            self._use(session.id)
            session.turns = session.turns[-self.max_turns :] if self.max_turns else []
        if not request.has("PENDING"):
            self._close(request, "COMPLETED")
        return committed

    def _close(self, request: Request, cause: str) -> None:
        was_first = not self._earlier(request)
        self._settle(request, cause)
        following = next((other for other in self.open if other.session == request.session), None)
        if self.in_session_order and was_first and following is not None:
            following.wait = None
            self._commit(following)

    def _settle(self, request: Request, cause: str) -> None:
        self.open.remove(request)
        request.cause, request.closed_at = cause, self.now
        for parent in request.parents:
            if parent.state == "PENDING":
                parent.state = "DISCARDED"
        self.ledger.append(request)
        while len(self.ledger) > self.ledger_entries:
            self.ledger.pop(0)

    def _pass_over_before(self, waiting: Request) -> None:
        while waiting in self.open:
            lost = [other for other in self._earlier(waiting) if not other.active and other.has("PENDING")]
            if not lost:
                return
            self._close(lost[0], "PASSED_OVER")

    def _drop(self, session_id: str, cause: str) -> None:
        for request in [request for request in self.open if request.session == session_id]:
            self._settle(request, cause)
        self.sessions = [session for session in self.sessions if session.id != session_id]
