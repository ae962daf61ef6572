"""Planted faults of what is stored, of what waits, of sessions and of governance."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs
import pytest

from dragoman.actors import content_store, governor, session_calls
from dragoman.actors.actor import Actor
from dragoman.actors.content_store import ContentStore
from dragoman.actors.entries import Entries
from dragoman.actors.entry import Entry
from dragoman.actors.session_content import SessionContents
from dragoman.actors.sessions import SessionManager
from dragoman.protocol.content_messages import Resolve, StoreCall
from dragoman.protocol.follow_ups import choose
from dragoman.protocol.proposals import Act, Stage, after, judge
from dragoman.protocol.retention import why_not_stored
from dragoman.protocol.statuses import MissReason, ProposalStatus, SkipReason

from ..planting import replace_handler
from .mutants import MUTANTS, mutant

__all__ = ["MUTANTS"]


@mutant
def what_waits_has_no_bound(patch: pytest.MonkeyPatch) -> None:
    def hold(self: SessionContents, call_id: str, held: Any, _limit_bytes: int) -> None:
        self.waiting[call_id] = held

    patch.setattr(SessionContents, "hold", hold)
    patch.setattr(SessionContents, "trim_waiting", lambda _self, _limit_bytes: None)


@mutant
def any_number_of_values_waits(patch: pytest.MonkeyPatch) -> None:
    patch.setattr("dragoman.actors.session_content.MAX_WAITING", 10**9)


@mutant
def the_newest_value_that_waits_goes_first(patch: pytest.MonkeyPatch) -> None:
    def trim(self: SessionContents, limit_bytes: int) -> None:
        while self.waiting.currsize > limit_bytes:
            self.waiting.pop(tuple(self.waiting)[-1])

    patch.setattr(SessionContents, "trim_waiting", trim)


@mutant
def a_value_that_may_not_wait_pushes_others_out(patch: pytest.MonkeyPatch) -> None:
    def hold(self: SessionContents, call_id: str, held: Any, limit_bytes: int) -> None:
        self.waiting[call_id] = held
        self.trim_waiting(limit_bytes)

    patch.setattr(SessionContents, "hold", hold)


@mutant
def a_smaller_limit_leaves_what_waits(patch: pytest.MonkeyPatch) -> None:
    trim = SessionContents.trim_waiting

    def apply(original: Any, self: ContentStore, message: Any, envelope: Any) -> Any:
        patch.setattr(SessionContents, "trim_waiting", lambda _self, _limit_bytes: None)
        try:
            return original(self, message, envelope)
        finally:
            patch.setattr(SessionContents, "trim_waiting", trim)

    replace_handler(patch, ContentStore, "ApplyRetention", apply)


@mutant
def what_waits_outlives_its_record(patch: pytest.MonkeyPatch) -> None:
    def store(original: Any, self: ContentStore, message: StoreCall, envelope: Any) -> Any:
        reply = original(self, attrs.evolve(message, forgets=()), envelope)
        for call_id in message.forgets:
            if call_id not in self._sessions[message.session_id].waiting:
                self._sessions[message.session_id].forget_call(call_id)
        return reply

    replace_handler(patch, ContentStore, "StoreCall", store)


@mutant
def a_call_outlives_its_record(patch: pytest.MonkeyPatch) -> None:
    def store(original: Any, self: ContentStore, message: StoreCall, envelope: Any) -> Any:
        return original(self, attrs.evolve(message, forgets=()), envelope)

    replace_handler(patch, ContentStore, "StoreCall", store)


@mutant
def a_refused_reference_releases_the_value(patch: pytest.MonkeyPatch) -> None:
    def refer(original: Any, self: ContentStore, message: Any, envelope: Any) -> Any:
        reply = original(self, message, envelope)
        session = self._sessions.get(message.session_id)
        if session is not None and not reply.stored:
            session.waiting.pop(message.child_id, None)
        return reply

    replace_handler(patch, ContentStore, "Refer", refer)


def _stores(patch: pytest.MonkeyPatch, **lies: Any) -> None:
    def rule(retention: Any, **asked: Any) -> SkipReason | None:
        return why_not_stored(retention, **{**asked, **lies})

    patch.setattr(content_store, "why_not_stored", rule)


@mutant
def captures_errors_though_that_is_disabled(patch: pytest.MonkeyPatch) -> None:
    _stores(patch, is_error=False)


@mutant
def captures_nested_calls_though_nobody_asked(patch: pytest.MonkeyPatch) -> None:
    _stores(patch, keep=True)


@mutant
def does_not_keep_what_it_was_asked_to(patch: pytest.MonkeyPatch) -> None:
    _stores(patch, keep=False)


@mutant
def stores_though_content_is_disabled(patch: pytest.MonkeyPatch) -> None:
    def store(original: Any, self: ContentStore, message: Any, envelope: Any) -> Any:
        self._enabled = True
        return original(self, message, envelope)

    replace_handler(patch, ContentStore, "StoreTurns", store)


@mutant
def an_unstored_turn_is_unknown(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(SessionContents, "add_unstored_turn", lambda _self, _name: None)


@mutant
def an_older_turn_keeps_its_name(patch: pytest.MonkeyPatch) -> None:
    add = SessionContents.add_turn

    def first(self: SessionContents, entry: Entry) -> None:
        known = self._turns.get(entry.name)
        add(self, entry)
        if known is not None:
            self._turns[entry.name] = known

    patch.setattr(SessionContents, "add_turn", first)


@mutant
def content_outlives_its_session(patch: pytest.MonkeyPatch) -> None:
    replace_handler(patch, ContentStore, "DropContent", lambda *_values: None)


@mutant
def a_dropped_session_was_evicted(patch: pytest.MonkeyPatch) -> None:
    def drop(original: Any, self: ContentStore, message: Any, envelope: Any) -> Any:
        session = self._sessions.get(message.session_id)
        if session is not None:
            self._ended[MissReason.EVICTED] += session.entries.count
        return original(self, message, envelope)

    replace_handler(patch, ContentStore, "DropContent", drop)


@mutant
def the_bytes_of_a_dropped_session_are_still_counted(patch: pytest.MonkeyPatch) -> None:
    drop = Entries.drop

    def forgetful(self: Entries, session: Any) -> None:
        before = self.bytes
        drop(self, session)
        self.bytes = before

    patch.setattr(Entries, "drop", forgetful)


@mutant
def counts_what_expired_as_evicted(patch: pytest.MonkeyPatch) -> None:
    end = Entries._end
    patch.setattr(Entries, "_end", lambda self, entry, _reason, **named: end(self, entry, MissReason.EVICTED, **named))


@mutant
def a_second_call_of_an_id_overwrites_the_first(patch: pytest.MonkeyPatch) -> None:
    def record(original: Any, self: SessionManager, message: Any, envelope: Any) -> Any:
        session = self._sessions.get(message.session_id)
        if session is not None and session.records is not None:
            session.records.pop(message.call.id, None)
        return original(self, message, envelope)

    replace_handler(patch, SessionManager, "RecordCall", record)


@mutant
def a_call_of_a_taken_id_is_no_skip(patch: pytest.MonkeyPatch) -> None:
    replace_handler(patch, ContentStore, "CountSkip", lambda *_values: None)


@mutant
def a_failed_call_is_found_by_a_follow_up(patch: pytest.MonkeyPatch) -> None:
    def lenient(say: str, records: Any) -> Any:
        return attrs.evolve(choose(say, records), failed=False)

    patch.setattr(session_calls, "choose", lenient)


@mutant
def looks_content_up_without_holding_the_session(patch: pytest.MonkeyPatch) -> None:
    """The look-up and the use of the session are two steps, between which others come."""
    patch.setattr(SessionManager, "receive", _receive_at_once)


def _receive_at_once(self: SessionManager, envelope: Any) -> None:
    message = type(envelope.message).__name__
    held = getattr(self, "_many", None)
    if held is None:
        held = self._many = []  # type: ignore[attr-defined]
    if message == "Resolved":
        self._held = held.pop(0)
    Actor.receive(self, envelope)
    if message in ("FetchContent", "FollowUp") and self._held is not None:
        held.append(self._held)
        self._held = None


def _without(patch: pytest.MonkeyPatch, message: str) -> None:
    """Whatever the session manager does on a message of that name, it uses no session."""

    def unused(original: Any, self: SessionManager, *values: Any) -> Any:
        self._use = lambda session_id: self._sessions.get(session_id)  # type: ignore[method-assign]
        try:
            return original(self, *values)
        finally:
            del self._use

    replace_handler(patch, SessionManager, message, unused)


@mutant
def a_hit_is_no_use_of_the_session(patch: pytest.MonkeyPatch) -> None:
    _without(patch, "Resolved")


@mutant
def a_recorded_call_is_no_use_of_the_session(patch: pytest.MonkeyPatch) -> None:
    _without(patch, "RecordCall")


@mutant
def a_miss_is_a_use_of_the_session(patch: pytest.MonkeyPatch) -> None:
    def resolved(original: Any, self: SessionManager, message: Any, envelope: Any) -> Any:
        self._use(self._operation[0].session_id)
        return original(self, message, envelope)

    replace_handler(patch, SessionManager, "Resolved", resolved)


@mutant
def a_summary_is_a_use_of_the_entry(patch: pytest.MonkeyPatch) -> None:
    def resolve(original: Any, self: ContentStore, message: Resolve, envelope: Any) -> Any:
        found = original(self, message, envelope)
        session = self._sessions.get(message.session_id)
        if session is not None and found.miss is None and found.content is None:
            entry = session.find(message.name, as_call=message.as_call)
            assert isinstance(entry, Entry)
            self._entries.use(entry)
        return found

    replace_handler(patch, ContentStore, "Resolve", resolve)


def _judges(patch: pytest.MonkeyPatch, judged: Callable[[Any, Act], ProposalStatus | None]) -> None:
    def lenient(proposal: Any, act: Act, by: str, maintainers: Any) -> ProposalStatus:
        status = None if proposal is None or by not in maintainers else judged(proposal, act)
        return judge(proposal, act, by, maintainers) if status is None else status

    patch.setattr(governor, "judge", lenient)


@mutant
def one_maintainer_is_enough(patch: pytest.MonkeyPatch) -> None:
    def alone(proposal: Any, act: Act) -> ProposalStatus | None:
        right = act is Act.ACKNOWLEDGE and proposal.stage is Stage.APPROVED
        return ProposalStatus.ACKNOWLEDGED if right else None

    _judges(patch, alone)


@mutant
def applies_what_nobody_approved(patch: pytest.MonkeyPatch) -> None:
    def at_once(proposal: Any, act: Act) -> ProposalStatus | None:
        right = act is Act.APPLY and proposal.stage in (Stage.PROPOSED, Stage.APPROVED)
        return ProposalStatus.APPLIED if right else None

    def applied(proposal: Any, act: Act, by: str) -> Any:
        if act is Act.APPLY:
            return attrs.evolve(proposal, stage=Stage.APPLIED, approver=by, acknowledger=by)
        return after(proposal, act, by)

    _judges(patch, at_once)
    patch.setattr(governor, "after", applied)


@mutant
def anybody_decides(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(governor, "judge", lambda proposal, act, by, _maintainers: judge(proposal, act, by, (by,)))
