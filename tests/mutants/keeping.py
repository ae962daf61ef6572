"""Planted faults of what is kept: sessions and content; and of what an execution does until its one end."""

from __future__ import annotations

from typing import Any

import pytest

from dragoman.actors.entries import Entries, SessionEntries
from dragoman.actors.handle import AcceptanceHandle
from dragoman.actors.newest_turns import NewestTurns
from dragoman.actors.session_map import Session, SessionMap
from dragoman.actors.sessions import SessionManager
from dragoman.protocol.content_messages import StoreTurns

from ..acceptance.mutants import MUTANTS as OF_ACCEPTANCE
from ..content.mutants_of_rules import MUTANTS as OF_CONTENT
from ..execution.mutants import MUTANTS as OF_EXECUTION
from .registry import planted, reuse

_SESSIONS = "actors/sessions.py"
_SESSION_MAP = "actors/session_map.py"
_ENTRIES = "actors/entries.py"
_STORE = "actors/content_store.py"
_OPERATION = "actors/operation.py"
_BATCHES = "protocol/batches.py"

for name, area, where, breaks in (
    (
        "does_not_pin_sessions",
        "sessions",
        _SESSIONS,
        "A session with an open handle may be evicted.",
    ),
    (
        "evicts_the_most_recently_used_session",
        "sessions",
        _SESSION_MAP,
        "The session that was used last is the first to be evicted.",
    ),
    (
        "a_session_outlives_its_ttl_by_a_tick",
        "sessions",
        _SESSION_MAP,
        "A session lives one microsecond longer than its TTL.",
    ),
):
    reuse(OF_ACCEPTANCE, name, area, where, breaks)

reuse(
    OF_CONTENT,
    "looks_content_up_without_holding_the_session",
    "sessions",
    "actors/session_calls.py",
    "Between the look-up of a content and the use of its session others come.",
    "content",
)

for name, area, where, breaks in (
    (
        "takes_a_late_answer_for_the_next_attempt",
        "operation",
        _OPERATION,
        "The answer to a superseded attempt is taken for that of the next one.",
    ),
    (
        "takes_no_lane",
        "operation",
        "actors/lane_worker.py",
        "An execution works on its events without the lane of its session.",
    ),
    (
        "retries_after_a_cancel",
        "operation",
        _OPERATION,
        "A batch that waits for its retry is called again though the request was cancelled.",
    ),
    (
        "reports_a_timeout_as_a_cancellation",
        "operation",
        _OPERATION,
        "A request that times out is told to have been cancelled.",
    ),
    (
        "leaves_its_calls_open",
        "operation",
        "actors/gateway.py",
        "The open calls of an execution that is over are not cancelled.",
    ),
    (
        "recovers_a_second_time",
        "recovery",
        _BATCHES,
        "An attempt whose recovery fails is recovered once more.",
    ),
    (
        "commits_a_recovery",
        "recovery",
        "actors/direct.py",
        "A text that only a recovery brought is committed by the direct path.",
    ),
    (
        "shows_the_history_to_a_recovery",
        "recovery",
        _OPERATION,
        "The prompt of a recovery holds the history of the session.",
    ),
    (
        "reuses_the_valid_units_of_a_failed_attempt",
        "recovery",
        "protocol/verdicts.py",
        "The valid units of a failed attempt fill the gaps of the next one.",
    ),
):
    reuse(OF_EXECUTION, name, area, where, breaks)

for name, where, breaks in (
    (
        "evicts_in_order_of_writing",
        _ENTRIES,
        "A read is no use: entries go in the order in which they were written.",
    ),
    (
        "evicts_what_it_writes",
        _ENTRIES,
        "A write makes room behind itself, and may evict what it has written.",
    ),
    (
        "does_not_bound_all_sessions",
        _ENTRIES,
        "The bound over all sessions does not hold.",
    ),
    (
        "shrinks_at_the_next_write",
        _ENTRIES,
        "A smaller limit takes effect only at the next write.",
    ),
    (
        "an_entry_dies_at_the_very_instant",
        _ENTRIES,
        "An entry is gone at the instant at which its life time ends, and not a tick later.",
    ),
):
    reuse(OF_CONTENT, name, "store", where, breaks)


@planted("sessions", _SESSION_MAP)
def keeps_every_turn(patch: pytest.MonkeyPatch) -> None:
    """A session is never trimmed to its newest `max_turns` turns."""
    init = Session.__init__

    def unbounded(self: Session, max_turns: int, incarnation: int) -> None:
        init(self, max_turns, incarnation)
        self.turns = NewestTurns(10**9)

    patch.setattr(Session, "__init__", unbounded)


@planted("sessions", _SESSIONS, "content")
def stores_turns_before_their_commit_is_decided(patch: pytest.MonkeyPatch) -> None:
    """The content store is told of turns before they are written, also of those whose commit then fails."""
    write_all = SessionManager._write_all

    def first(self: SessionManager, session_id: str, session: Session | None, turns: Any) -> list[int]:
        if session is not None and session_id in self._faults:
            self._store.tell(StoreTurns(session_id, session.written + 1, turns))
        return write_all(self, session_id, session, turns)

    patch.setattr(SessionManager, "_write_all", first)


@planted("sessions", "actors/handle.py")
def releases_its_session_twice(patch: pytest.MonkeyPatch) -> None:
    """The last commit of a request releases its session, and the closing of the handle does so once more."""
    close = AcceptanceHandle._close

    def again(self: AcceptanceHandle, *values: Any) -> Any:
        self._unpinned = False
        return close(self, *values)

    patch.setattr(AcceptanceHandle, "_close", again)


@planted("sessions", _SESSION_MAP)
def drops_a_session_that_was_used_meanwhile(patch: pytest.MonkeyPatch) -> None:
    """A session whose end was on its way is dropped though it was used before that came."""
    patch.setattr(SessionMap, "_outlived", lambda _self, _session: True)


@planted("store", _ENTRIES)
def loses_a_note_as_it_is_opened(patch: pytest.MonkeyPatch) -> None:
    """Of the turns that were only noted the oldest is lost when somebody looks into the session."""
    open_notes = Entries.open_notes

    def forgetful(self: Entries, session: SessionEntries) -> None:
        if session.notes and session.notes[0].sizes:
            session.notes[0].sizes.pop()
            session.notes[0].texts.pop()
            session.notes[0].parent_ids.pop()
            session.notes[0].first += 1
        open_notes(self, session)

    patch.setattr(Entries, "open_notes", forgetful)
