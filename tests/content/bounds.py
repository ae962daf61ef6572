"""The part of the model that knows what lives and what goes: sessions, entries, their bounds and their time.

Plain lists in the order of use, that are searched each time.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .records import Body, Entry, Held, Record, Request, Session, size_of

__all__ = ["Bounds"]

WAITING_VALUES = 32
TOMBSTONES = 4
"""Times `store_max_entries`: what has gone and is remembered, a session."""


@dataclass
class Bounds:
    policy: dict[str, Any]
    session_ttl: int
    max_sessions: int
    max_turns: int
    max_call_records: int
    enabled: bool
    now: int = 0
    started: int = field(default=0, compare=False)
    sessions: list[Session] = field(default_factory=list)
    entries: list[Entry] = field(default_factory=list)
    requests: list[Request] = field(default_factory=list)
    counters: dict[str, int] = field(default_factory=dict)
    entries_before: int = 0
    """`store_max_entries` before a change, while that is being put in force."""

    # Time. Ties between timers go by their start: of a session that is its last use, of an entry its write.

    def ends(self) -> list[tuple[int, int, Session | Entry]]:
        """When each session and each entry ends, if nothing happens: the first tick at which it is gone."""
        due: list[tuple[int, int, Session | Entry]] = [
            (session.used + self.session_ttl + 1, session.stamp, session) for session in self.sessions
        ]
        if self.ttl is not None:
            due += [(entry.written + self.ttl + 1, entry.stamp, entry) for entry in self.entries]
        return sorted(due, key=lambda one: one[:2])

    def advance(self, delta: int) -> None:
        end = self.now + delta
        while (due := self.ends()) and due[0][0] <= end:
            self.now, _stamp, what = due[0]
            if isinstance(what, Session):
                self.drop(what)
            else:
                self._end(what, "expired")
        self.now = end

    @property
    def ttl(self) -> int | None:
        seconds = self.policy["store_ttl"]
        return None if seconds is None else round(seconds * 1_000_000)

    def _stamp(self) -> int:
        self.started += 1
        return self.started

    # Sessions.

    def session(self, session_id: str) -> Session | None:
        return next((session for session in self.sessions if session.id == session_id), None)

    def use(self, session_id: str) -> Session | None:
        session = self.session(session_id)
        if session is not None:
            self.sessions = [other for other in self.sessions if other is not session] + [session]
            session.used, session.stamp = self.now, self._stamp()
        return session

    def use_or_make(self, session_id: str) -> Session | None:
        session = self.use(session_id)
        if session is not None:
            return session
        if len(self.sessions) >= self.max_sessions:
            pinned = {request.session for request in self.requests}
            victim = next((session for session in self.sessions if session.id not in pinned), None)
            if victim is None:
                return None
            self.drop(victim)
        self.sessions.append(Session(session_id, self.now, self._stamp()))
        return self.sessions[-1]

    def drop(self, session: Session) -> None:
        """With all that it holds, which was neither evicted nor did it expire."""
        self.sessions = [other for other in self.sessions if other is not session]
        self.entries = [entry for entry in self.entries if entry.session != session.id]
        self.requests = [request for request in self.requests if request.session != session.id]

    # Entries.

    def of(self, session_id: str) -> list[Entry]:
        """The live entries of a session, least recently used first."""
        return [entry for entry in self.entries if entry.session == session_id]

    def why_not(self, record: Record, keep: bool, body: Body | None) -> str | None:
        if not self.enabled:
            return "content_disabled"
        if record.failed and not self.policy["capture_errors"]:
            return "error_capture_disabled"
        if record.depth >= 1 and not keep and not self.policy["capture_nested"]:
            return "nested_capture_disabled"
        if body is None:
            return "serialization_failed"
        return "entry_exceeds_max_bytes" if self.too_large(body) else None

    def too_large(self, body: Body) -> bool:
        limit: int = min(self.policy["store_max_bytes"], self.policy["store_total_bytes"])
        nothing: bool = self.policy["store_max_entries"] == 0
        return nothing or body.size > limit

    def write(self, session: Session, name: str, body: Body, *, nested: bool) -> Entry:
        self._make_room(session.id, 1, body.size)
        self._make_room_over_all(body.size)
        self.count("writes")
        entry = Entry(self.counters["writes"], session.id, name, body, nested, self.now, self._stamp())
        self.entries.append(entry)
        return entry

    def use_entry(self, entry: Entry) -> None:
        self.entries = [other for other in self.entries if other is not entry] + [entry]
        self.use(entry.session)

    def _make_room(self, session_id: str, entries: int, size: int) -> None:
        policy = self.policy
        while (held := self.of(session_id)) and (
            len(held) + entries > policy["store_max_entries"] or size_of(held) + size > policy["store_max_bytes"]
        ):
            self._end(_first_to_go(held), "evicted")

    def _make_room_over_all(self, size: int) -> None:
        while self.entries and size_of(self.entries) + size > self.policy["store_total_bytes"]:
            self._end(_first_to_go(self.entries), "evicted")

    def _end(self, entry: Entry, reason: str) -> None:
        self.entries = [other for other in self.entries if other is not entry]
        entry.gone = reason
        session = self.session(entry.session)
        assert session is not None
        session.tombstones.append(entry)
        self._trim(session)
        self.count("evictions" if reason == "evicted" else "expired")

    def _trim(self, session: Session) -> None:
        while len(session.tombstones) > TOMBSTONES * max(self.policy["store_max_entries"], self.entries_before):
            session.tombstones.pop(0).gone = "unknown"

    def hold(self, session: Session, held: Held) -> None:
        if held.body.size <= self.policy["store_max_bytes"] // 4:
            session.waiting.append(held)
            self._trim_waiting(session)

    def _trim_waiting(self, session: Session) -> None:
        quarter = self.policy["store_max_bytes"] // 4
        while len(session.waiting) > WAITING_VALUES or sum(held.body.size for held in session.waiting) > quarter:
            session.waiting.pop(0)

    def put_in_force(self, change: dict[str, Any]) -> None:
        """Each session comes within its own bounds first, whatever their order, and then all of them within theirs."""
        # What goes by the change itself is remembered as long as by the policy that it was stored under.
        self.entries_before = self.policy["store_max_entries"]
        self.policy = {**self.policy, **change}
        if self.ttl is not None:
            for entry in sorted(self.entries, key=lambda entry: entry.number):
                if self.now - entry.written > self.ttl:
                    self._end(entry, "expired")
        for session in self.sessions:
            self._make_room(session.id, 0, 0)
        self._make_room_over_all(0)
        self.entries_before = 0
        for session in self.sessions:
            self._trim_waiting(session)

    def count(self, name: str) -> None:
        self.counters[name] = self.counters.get(name, 0) + 1


def _first_to_go(entries: list[Entry]) -> Entry:
    return next((entry for entry in entries if entry.nested), entries[0])
