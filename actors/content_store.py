"""The content store: full results behind refs, in bounded memory (P phase 1, constraints 2, 4, 5 and 6).

Rules. Content belongs to a session and goes with it. What is written has come through the session manager, so that all
of it stands in one order with the sessions themselves. A ref opens content of its own session only; every other miss
looks like an unknown one. A read gives an immutable snapshot. Whatever is not stored is counted with its reason.

The retention policy in force is this actor's; `ApplyRetention` changes it, and shrinking takes effect at once.

Not promised: that a session remembers for ever what it held. Of what has gone it keeps the newest tombstones, of turns
that were not stored the newest few hundred; older ones are unknown. Nor that an ACK which releases the commits of a
later request is one step towards other sessions and towards the policy: those commits come after it.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable
from typing import Any

from ..protocol.content_messages import (
    CountMiss,
    CountSkip,
    DescribeCalls,
    DropContent,
    Refer,
    RefTurns,
    RenderRecords,
    Resolve,
    Resolved,
    StoreCall,
    StoreTurns,
    Summarise,
)
from ..protocol.content_replies import ReferReply, SessionContent, StoreCounters, StoreSnapshot
from ..protocol.continuity import ContinuityReport, continuity_report
from ..protocol.errors import ActorFailed
from ..protocol.follow_ups import decide
from ..protocol.governance_messages import ApplyRetention, RetentionApplied
from ..protocol.history import Turn, turn_name
from ..protocol.mappings import FrozenMapping, WordMapping
from ..protocol.messages import Inspect
from ..protocol.payloads import Payload, texts_bytes
from ..protocol.prompt_refs import PromptRefs, render_refs
from ..protocol.records import CallRecord
from ..protocol.retention import EvictionClass, Retention, eviction_class, why_not_released, why_not_stored
from ..protocol.settings import Settings
from ..protocol.statuses import CallStatus, FollowUpDecision, MissReason, SkipReason
from .actor import Actor, handles
from .answering import answer
from .dispatcher import Dispatcher
from .entries import Entries
from .entry import Entry
from .mailbox import Envelope
from .reporting import report
from .session_content import CallContent, SessionContents, Waiting

__all__ = ["ContentStore"]

_TTL = "ttl"
_MAX_GROWTHS = 1000
"""Prompts whose growth is remembered."""


class ContentStore(Actor):
    """Owns the content entries, their refs and bounds, the counters, and the retention policy in force."""

    prompt = True

    def __init__(self, dispatcher: Dispatcher, settings: Settings) -> None:
        super().__init__(dispatcher)
        self._enabled = settings.content_enabled
        self._sessions: dict[str, SessionContents] = {}
        self._entries = Entries(Retention.of(settings), self._gone, self._notes_gone, self._opened, self._forgotten)
        self._writes = self._hits = 0
        self._ended: Counter[MissReason] = Counter()
        self._skips: Counter[str] = Counter()
        self._misses: Counter[str] = Counter()
        self._growths: deque[float] = deque(maxlen=_MAX_GROWTHS)
        self._next: Entry | None = None

    def _session(self, session_id: str) -> SessionContents:
        session = self._sessions.get(session_id)
        if session is None:
            session = self._sessions[session_id] = SessionContents(session_id, self.dispatcher.random_bits)
        return session

    def _look_into(self, session_id: str) -> SessionContents | None:
        """What a session holds by its names, if there is such a session."""
        session = self._sessions.get(session_id)
        if session is not None:
            self._entries.open_notes(session.entries)
        return session

    @handles(StoreTurns)
    def _store_turns(self, message: StoreTurns, _envelope: Envelope[Any]) -> None:
        session, turns, first = self._session(message.session_id), message.turns, message.first
        unwatched = self.dispatcher.observer is None  # or each turn is told by itself
        if unwatched and not self._enabled:
            self._skips[SkipReason.CONTENT_DISABLED] += len(turns)
            session.add_unstored_turns(turns)
            return
        retention = self._entries.retention
        now_us, stamp = self.dispatcher.now_us(), self.dispatcher.stamp()
        sizes = texts_bytes(turns.assistants)
        if (
            unwatched
            and retention.ttl_us is None
            and retention.max_entries
            and not session.knows_unstored_turns
            and max(sizes) <= retention.max_entry_bytes
        ):
            self._writes += len(turns)
            self._entries.note(session.entries, turns, sizes, first, now_us, stamp)
            return
        self._entries.open_notes(session.entries)
        columns = zip(turns.parent_ids, turns.assistants, sizes, strict=True)
        for number, (parent_id, text, size) in enumerate(columns, first):
            name = turn_name(turns.request_id, parent_id)
            reason = why_not_stored(retention, enabled=self._enabled, content_bytes=size)
            if reason is None:
                entry = Entry(session.entries, name, text, size, EvictionClass.TOP, number)
                self._put(entry, now_us, stamp)
                session.add_turn(entry)
            else:
                self._skip(message.session_id, name, reason, size)
                session.add_unstored_turn(name)
        self._await_expiry()

    @handles(StoreCall)
    def _store_call(self, message: StoreCall, _envelope: Envelope[Any]) -> CallRecord:
        session = self._session(message.session_id)
        record, content = message.record, message.content
        is_error = record.status is CallStatus.ERROR
        size = content.bytes if isinstance(content, Payload) else None
        failure = content if isinstance(content, SkipReason) else None
        reason = why_not_stored(
            self._entries.retention,
            enabled=self._enabled,
            content_bytes=size,
            is_error=is_error,
            depth=record.depth,
            keep=message.keep,
            failure=failure,
        )
        call = session.calls[record.id] = CallContent(is_error=is_error, reason=reason)
        if reason is not None:
            self._skip(message.session_id, record.id, reason, size)
            if record.depth and self._enabled and isinstance(content, Payload):
                waiting = Waiting(content, record.depth)
                session.hold(record.id, waiting, self._entries.retention.waiting_bytes)
        elif isinstance(content, Payload):
            call.entry = self._write_call(session, record.id, content, record.depth)
        described = session.described(record)
        for call_id in message.forgets:
            session.forget_call(call_id)
        return described

    def _write_call(self, session: SessionContents, call_id: str, content: Payload, depth: int) -> Entry:
        entry = Entry(session.entries, call_id, content, content.bytes, eviction_class(depth))
        self._put(entry, self.dispatcher.now_us(), self.dispatcher.stamp())
        self._await_expiry()
        _log("stored", session.entries.session_id, call_id, entry=entry, ref=session.ref(entry))
        return entry

    def _put(self, entry: Entry, now_us: int, stamp: int) -> None:
        self._entries.put(entry, now_us, stamp)
        self._writes += 1
        self.observe(("content", entry.session.session_id, entry.name, "stored"))

    def _skip(self, session_id: str, name: str, reason: SkipReason, size: int | None) -> None:
        self._skips[reason] += 1
        self.observe(("content", session_id, name, reason.value))
        _log("not_stored", session_id, name, reason=reason, size=size)

    @handles(Refer)
    def _refer(self, message: Refer, _envelope: Envelope[Any]) -> ReferReply:
        """Store what a child call left in the waiting area; a second reference changes nothing."""
        self._entries.expire(self.dispatcher.now_us())
        session = self._look_into(message.session_id)
        call = None if session is None else session.calls.get(message.child_id)
        held = None if session is None else session.waiting.get(message.child_id)
        if session is not None and call is not None and call.is_there:
            return _referred(session, call)
        reason = why_not_released(
            self._entries.retention,
            enabled=self._enabled,
            is_error=call is not None and call.is_error,
            held_bytes=None if held is None else held.content.bytes,
        )
        if reason is not None or session is None or call is None or held is None:
            reason = reason or SkipReason.CONTENT_RELEASED
            self._skip(message.session_id, message.child_id, reason, None)
            return ReferReply(reason=reason)
        del session.waiting[message.child_id]
        call.entry = self._write_call(session, message.child_id, held.content, held.depth)
        return _referred(session, call)

    @handles(CountSkip)
    def _count_skip(self, message: CountSkip, _envelope: Envelope[Any]) -> None:
        self._skip(message.session_id, message.name, message.reason, None)

    @handles(CountMiss)
    def _count_miss(self, message: CountMiss, _envelope: Envelope[Any]) -> Resolved:
        return self._miss(message.session_id, message.reason)

    @handles(Resolve)
    def _resolve(self, message: Resolve, _envelope: Envelope[Any]) -> Resolved:
        self._entries.expire(self.dispatcher.now_us())
        session = self._look_into(message.session_id)
        if session is None:
            return self._miss(message.session_id, MissReason.UNKNOWN)
        found = session.find(message.name, as_call=message.as_call)
        if isinstance(found, MissReason):
            return self._miss(message.session_id, found)
        if found.gone is not None:
            return self._miss(message.session_id, found.gone)
        if decide(message.summary_only, found.size, message.max_bytes) is FollowUpDecision.FULL_FETCH:
            return self._hit(session, found)
        kind, _mode, _digest = found.facts()
        return Resolved(found.name, kind, found.size)

    def _hit(self, session: SessionContents, entry: Entry) -> Resolved:
        self._entries.use(entry)
        self._hits += 1
        content = entry.payload()
        _log("hit", session.entries.session_id, entry.name, entry=entry, ref=session.ref(entry))
        return Resolved(entry.name, content.kind, entry.size, content)

    def _miss(self, session_id: str, reason: MissReason) -> Resolved:
        """A look-up in vain; its name is not logged, for that may be any text that somebody took for one."""
        self._misses[reason] += 1
        _log("miss", session_id, reason=reason)
        return Resolved(miss=reason)

    @handles(RefTurns)
    def _ref_turns(self, message: RefTurns, _envelope: Envelope[Any]) -> tuple[Turn, ...]:
        session = self._look_into(message.session_id)
        if session is None:
            return message.turns
        return tuple(session.with_ref(number, turn) for number, turn in enumerate(message.turns, message.first))

    def _fail(self, envelope: Envelope[Any], failure: ActorFailed, told: BaseException | None) -> None:
        """A fault in here takes the refs from a history that is read, and not the history."""
        if isinstance(envelope.message, RefTurns):
            answer(envelope, envelope.message.turns)
        super()._fail(envelope, failure, told)

    @handles(DescribeCalls)
    def _describe_calls(self, message: DescribeCalls, _envelope: Envelope[Any]) -> tuple[CallRecord, ...]:
        session = self._sessions.get(message.session_id)
        return message.records if session is None else tuple(map(session.described, message.records))

    @handles(RenderRecords)
    def _render(self, message: RenderRecords, _envelope: Envelope[Any]) -> PromptRefs:
        self._entries.expire(self.dispatcher.now_us())
        asked = message.asked
        session = self._sessions.get(asked.session_id)
        there: Iterable[CallRecord] = ()
        if session is not None:
            there = map(session.described, filter(session.has_content, reversed(message.records)))
        refs = render_refs(
            there,
            asked.max_chars,
            asked.conversation_chars,
            max_growth=asked.max_growth,
            instructions=asked.instructions,
        )
        if refs.growth is not None:
            self._growths.append(refs.growth)
        return refs

    @handles(DropContent)
    def _drop(self, message: DropContent, _envelope: Envelope[Any]) -> None:
        session = self._sessions.pop(message.session_id, None)
        if session is not None:
            self._entries.drop(session.entries)

    @handles(ApplyRetention)
    def _apply(self, message: ApplyRetention, _envelope: Envelope[Any]) -> RetentionApplied:
        self.cancel_timer(_TTL)
        sessions = (session.entries for session in self._sessions.values())
        self._entries.change(message.retention, sessions, self.dispatcher.now_us())
        for session in self._sessions.values():
            session.trim_waiting(message.retention.waiting_bytes)
        self._await_expiry()
        return RetentionApplied()

    @handles(Summarise)
    def _summarise(self, message: Summarise, _envelope: Envelope[Any]) -> ContinuityReport:
        snapshot = self._snapshot()
        return continuity_report(
            counters=snapshot.counters,
            retention=snapshot.retention,
            sessions=sum(1 for content in snapshot.sessions.values() if content.entries),
            entries=sum(content.entries for content in snapshot.sessions.values()),
            used_bytes=snapshot.bytes,
            budget_bytes=message.budget_bytes,
            follow_ups=message.follow_ups,
            growths=self._growths,
        )

    @handles(Inspect)
    def _inspect(self, _message: Inspect, _envelope: Envelope[Any]) -> StoreSnapshot:
        return self._snapshot()

    def _snapshot(self) -> StoreSnapshot:
        self._entries.expire(self.dispatcher.now_us())
        counters = StoreCounters(
            writes=self._writes,
            skips=self._skips.total(),
            hits=self._hits,
            misses=self._misses.total(),
            evictions=self._ended[MissReason.EVICTED],
            evictions_over_all=self._entries.evictions_over_all,
            expired=self._ended[MissReason.EXPIRED],
            skips_by_reason=WordMapping(self._skips),
            misses_by_reason=WordMapping(self._misses),
        )
        sessions = {
            session_id: SessionContent(session.entries.count, session.entries.bytes)
            for session_id, session in self._sessions.items()
        }
        return StoreSnapshot(
            sessions=FrozenMapping(sessions),
            bytes=self._entries.bytes,
            counters=counters,
            retention=self._entries.retention,
        )

    def _opened(self, entry: Entry) -> None:
        self._sessions[entry.session.session_id].add_turn(entry)

    def _notes_gone(self, count: int) -> None:
        self._ended[MissReason.EVICTED] += count

    def _gone(self, entry: Entry, reason: MissReason) -> None:
        self._ended[reason] += 1
        self.observe(("content", entry.session.session_id, entry.name, reason.value))
        if entry.ref is None:
            return  # nobody can ask for it by a ref, and turns go at the pace of ACKs
        _log("gone", entry.session.session_id, entry.name, entry=entry, ref=entry.ref, reason=reason)

    def _forgotten(self, entry: Entry) -> None:
        self._sessions[entry.session.session_id].forget_turn(entry)

    def on_timer(self, _key: str) -> None:
        """End the entry that the timer was set for, if it is still there, and wait for the next."""
        try:
            if self._next is not None:
                self._entries.expire_one(self._next, self.dispatcher.now_us())
        finally:
            self._await_expiry()

    def _await_expiry(self) -> None:
        """Keep a timer set for the entry that expires next, as if each had its own, started when it was written."""
        ttl_us = self._entries.retention.ttl_us
        if ttl_us is None or self._timers:
            return
        following = self._entries.oldest()
        if following is None:
            return
        self._next = following
        delay_us = following.written_us + ttl_us + 1 - self.dispatcher.now_us()
        self.start_timer(_TTL, max(0, delay_us), following.stamp)


def _log(
    event: str,
    session_id: str,
    name: str | None = None,
    *,
    entry: Entry | None = None,
    ref: str | None = None,
    reason: SkipReason | MissReason | None = None,
    size: int | None = None,
) -> None:
    """One line for all that happens to content, with the same fields each time; no payload."""
    facts = None if entry is None else entry.known_facts()
    report(
        "DEBUG",
        "content {event} in {session}: {name}, {reason}, {ref}, {kind}, {bytes} bytes, digest {digest}",
        event=event,
        session=session_id,
        name=name,
        reason=None if reason is None else reason.value,
        ref=ref,
        kind=None if facts is None else facts[0].value,
        bytes=size if entry is None else entry.size,
        digest=None if facts is None else facts[2],
    )


def _referred(session: SessionContents, call: CallContent) -> ReferReply:
    entry = call.entry
    assert entry is not None
    kind, mode, _digest = entry.facts()
    return ReferReply(session.ref(entry), kind, entry.size, mode)
