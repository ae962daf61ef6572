"""Planted faults of content continuity, to check the checkers with."""

from __future__ import annotations

from typing import Any

import attrs
import pytest

from dragoman import continuity
from dragoman.actors import content_store
from dragoman.actors.content_store import ContentStore
from dragoman.actors.entries import Entries
from dragoman.actors.entry import Entry
from dragoman.actors.session_content import SessionContents
from dragoman.protocol.content_messages import Resolve, Resolved, StoreCall
from dragoman.protocol.errors import ContentRefNotFound
from dragoman.protocol.payloads import Payload, serialize, value_in
from dragoman.protocol.retention import EvictionClass, Retention
from dragoman.protocol.statuses import SkipReason

from ..planting import Mutants, replace_handler

__all__ = ["MUTANTS"]

MUTANTS = Mutants()
mutant = MUTANTS.add


@mutant
def evicts_in_order_of_writing(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Entries, "use", lambda _self, _entry: None)


@mutant
def uses_an_entry_in_its_session_only(patch: pytest.MonkeyPatch) -> None:
    def use(self: Entries, entry: Entry) -> None:
        self.open_notes(entry.session)
        entry.session.by_class[entry.eviction_class].move_to_end(entry)

    patch.setattr(Entries, "use", use)


@mutant
def ignores_the_depth_in_eviction(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(content_store, "eviction_class", lambda _depth: EvictionClass.TOP)


@mutant
def lifts_a_referred_child_to_the_top(patch: pytest.MonkeyPatch) -> None:
    def refer(original: Any, self: ContentStore, message: Any, envelope: Any) -> Any:
        with patch.context() as within:
            within.setattr(content_store, "eviction_class", lambda _depth: EvictionClass.TOP)
            return original(self, message, envelope)

    replace_handler(patch, ContentStore, "Refer", refer)


@mutant
def a_read_extends_the_life(patch: pytest.MonkeyPatch) -> None:
    hit = ContentStore._hit

    def lively(self: ContentStore, session: SessionContents, entry: Entry) -> Any:
        entry.written_us = self.dispatcher.now_us()
        if self._entries._by_write is not None:
            self._entries._by_write.move_to_end(entry)
        return hit(self, session, entry)

    patch.setattr(ContentStore, "_hit", lively)


@mutant
def an_entry_dies_at_the_very_instant(patch: pytest.MonkeyPatch) -> None:
    def over(written_us: int, now_us: int, ttl_us: int | None) -> bool:
        return ttl_us is not None and now_us - written_us >= ttl_us

    patch.setattr("dragoman.actors.entries.is_over", over)


@mutant
def counts_the_life_from_the_call_that_is_referred_to(patch: pytest.MonkeyPatch) -> None:
    called: dict[tuple[int, str, str], int] = {}

    def stored(original: Any, self: ContentStore, message: StoreCall, envelope: Any) -> Any:
        called[id(self), message.session_id, message.record.id] = self.dispatcher.now_us()
        return original(self, message, envelope)

    def refer(original: Any, self: ContentStore, message: Any, envelope: Any) -> Any:
        reply = original(self, message, envelope)
        if reply.stored:
            call = self._sessions[message.session_id].calls[message.child_id]
            assert call.entry is not None
            call.entry.written_us = called[id(self), message.session_id, message.child_id]
            if self._entries._by_write is not None:
                self._entries._by_write.move_to_end(call.entry, last=False)
            self.cancel_timer("ttl")
            self._await_expiry()
        return reply

    replace_handler(patch, ContentStore, "StoreCall", stored)
    replace_handler(patch, ContentStore, "Refer", refer)


@mutant
def a_second_reference_writes_again(patch: pytest.MonkeyPatch) -> None:
    def refer(original: Any, self: ContentStore, message: Any, envelope: Any) -> Any:
        session = self._sessions.get(message.session_id)
        call = None if session is None else session.calls.get(message.child_id)
        if session is not None and call is not None and call.entry is not None and call.is_there:
            entry = call.entry
            call.entry = self._write_call(session, message.child_id, entry.payload(), 1)
        return original(self, message, envelope)

    replace_handler(patch, ContentStore, "Refer", refer)


@mutant
def counts_characters_for_bytes(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Payload, "bytes", property(lambda self: len(self.body.decode())))


@mutant
def counts_the_characters_of_turns(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(content_store, "texts_bytes", lambda texts: [len(text) + 2 for text in texts])


@mutant
def keeps_the_value_of_the_caller(patch: pytest.MonkeyPatch) -> None:
    """No snapshot: what the caller does to the value later shows."""
    kept: dict[bytes, Any] = {}

    def by_reference(value: object, max_bytes: int) -> Payload | SkipReason:
        payload = serialize(value, max_bytes)
        if isinstance(payload, Payload):
            kept[payload.body] = value
        return payload

    patch.setattr(continuity, "serialize", by_reference)
    patch.setattr(continuity, "value_in", lambda body: kept.get(body))


@mutant
def gives_everybody_the_same_value(patch: pytest.MonkeyPatch) -> None:
    """No fresh copy: what one reader does to the value is seen by the next."""
    given: dict[bytes, Any] = {}
    patch.setattr(continuity, "value_in", lambda body: given.setdefault(body, value_in(body)))


@mutant
def answers_a_miss_with_null(patch: pytest.MonkeyPatch) -> None:
    answer = continuity._ContentFuture._answer

    def never_missing(self: Any) -> Any:
        try:
            return answer(self)
        except ContentRefNotFound:
            return None

    patch.setattr(continuity._ContentFuture, "_answer", never_missing)


@mutant
def takes_null_for_missing(patch: pytest.MonkeyPatch) -> None:
    def store(original: Any, self: ContentStore, message: StoreCall, envelope: Any) -> Any:
        nothing = isinstance(message.content, Payload) and message.content.body in (b"null", b'""')
        lost = attrs.evolve(message, content=SkipReason.SERIALIZATION_FAILED) if nothing else message
        return original(self, lost, envelope)

    replace_handler(patch, ContentStore, "StoreCall", store)


@mutant
def evicts_what_it_writes(patch: pytest.MonkeyPatch) -> None:
    put = Entries.put

    def first(self: Entries, entry: Entry, now_us: int, stamp: int) -> None:
        retention = self.retention
        self.retention = attrs.evolve(retention, max_entries=10**9, max_bytes=10**9, total_bytes=10**9)
        put(self, entry, now_us, stamp)
        self.change(retention, [entry.session], now_us)

    patch.setattr(Entries, "put", first)


@mutant
def does_not_bound_all_sessions(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Entries, "_fit_all", lambda _self, _size: None)


@mutant
def evicts_before_it_refuses(patch: pytest.MonkeyPatch) -> None:
    def store(original: Any, self: ContentStore, message: StoreCall, envelope: Any) -> Any:
        session = self._sessions.get(message.session_id)
        if session is not None and isinstance(message.content, Payload) and session.entries.count:
            retention = self._entries.retention
            if message.content.bytes > retention.max_bytes:
                self._entries._fit_session(session.entries, retention.max_entries, 0)
        return original(self, message, envelope)

    replace_handler(patch, ContentStore, "StoreCall", store)


@mutant
def opens_the_refs_of_every_session(patch: pytest.MonkeyPatch) -> None:
    def resolve(original: Any, self: ContentStore, message: Resolve, envelope: Any) -> Any:
        owner = next((name for name, one in self._sessions.items() if message.name in one.entries.by_ref), None)
        return original(self, message if owner is None else attrs.evolve(message, session_id=owner), envelope)

    replace_handler(patch, ContentStore, "Resolve", resolve)


@mutant
def opens_the_calls_of_every_session(patch: pytest.MonkeyPatch) -> None:
    def resolve(original: Any, self: ContentStore, message: Resolve, envelope: Any) -> Any:
        own = self._sessions.get(message.session_id)
        if own is None or message.name not in own.calls:
            owner = next((name for name, one in self._sessions.items() if message.name in one.calls), None)
            message = message if owner is None else attrs.evolve(message, session_id=owner)
        return original(self, message, envelope)

    replace_handler(patch, ContentStore, "Resolve", resolve)


@mutant
def tells_why_in_another_session(patch: pytest.MonkeyPatch) -> None:
    """A ref of another session looks like none: its fate is nobody else's business."""

    def resolve(original: Any, self: ContentStore, message: Resolve, envelope: Any) -> Any:
        for session in self._sessions.values():
            entry = session.entries.by_ref.get(message.name)
            if entry is not None and entry.gone is not None:
                self._misses[entry.gone] += 1
                return Resolved(miss=entry.gone)
        return original(self, message, envelope)

    replace_handler(patch, ContentStore, "Resolve", resolve)


@mutant
def remembers_what_has_gone_for_ever(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Retention, "max_tombstones", property(lambda _self: 10**9))


@mutant
def forgets_what_has_gone_at_once(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Retention, "max_tombstones", property(lambda self: self.max_entries))


@mutant
def shrinks_at_the_next_write(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Entries, "change", lambda self, retention, _sessions, _now_us: setattr(self, "retention", retention))


@mutant
def looks_at_the_bound_of_all_sessions_first(patch: pytest.MonkeyPatch) -> None:
    def change(self: Entries, retention: Retention, sessions: Any, now_us: int) -> None:
        self.retention = retention
        self.expire(now_us)
        self._fit_all(0)
        for session in sessions:
            self._fit_session(session, 0, 0)

    patch.setattr(Entries, "change", change)


@mutant
def counts_a_new_life_time_from_its_application(patch: pytest.MonkeyPatch) -> None:
    change = Entries.change

    def reborn(self: Entries, retention: Retention, sessions: Any, now_us: int) -> None:
        sessions = tuple(sessions)
        if retention.ttl_us != self.retention.ttl_us:
            for session in sessions:
                self.open_notes(session)
                for entry in session:
                    entry.written_us = now_us
        change(self, retention, sessions, now_us)

    patch.setattr(Entries, "change", reborn)
