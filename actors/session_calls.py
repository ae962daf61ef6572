"""The calls of a session: their records, and what leads from them to content (P phases 1 and 2).

Rules. A record is compact and holds no payload; a session keeps the newest ones. Which record a follow-up means is
decided here, what became of its content by the content store, to which everything goes in the order in which it came.
A hit is a use of the session: so a look-up holds whatever else comes until the store has answered, and the look-up with
that use is one step.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from typing import Any

import attrs

from ..protocol.content_messages import (
    CountMiss,
    CountSkip,
    DescribeCalls,
    FetchContent,
    FollowUp,
    ReadCalls,
    ReadContinuity,
    RecordCall,
    Refer,
    RenderRecords,
    RenderRefs,
    Resolve,
    Resolved,
    StoreCall,
    Summarise,
)
from ..protocol.content_replies import FollowUpReply
from ..protocol.continuity import FollowUpCounts
from ..protocol.follow_ups import Choice, choose
from ..protocol.mappings import WordMapping
from ..protocol.records import CallRecord
from ..protocol.settings import Settings
from ..protocol.statuses import FollowUpDecision, FollowUpMiss, LowUtility, MissReason, SkipReason
from .actor import DEFERRED, handles
from .dispatcher import Dispatcher
from .mailbox import Envelope, Mailbox
from .session_map import Session, SessionMap

__all__ = ["SessionCalls"]


class SessionCalls(SessionMap):
    """The part of the session manager that keeps call records and looks content up."""

    answers = Resolved

    def __init__(self, dispatcher: Dispatcher, settings: Settings, store: Mailbox) -> None:
        super().__init__(dispatcher, settings, store)
        self._max_call_records = settings.max_call_records
        self._decided: Counter[FollowUpDecision | LowUtility] = Counter()
        self._missed: Counter[str] = Counter()
        self._followed_sessions = 0

    @handles(RecordCall)
    def _record_call(self, message: RecordCall, envelope: Envelope[Any]) -> Any:
        call, session_id = message.call, message.session_id
        record = CallRecord(
            call.id,
            call.role,
            call.method,
            call.depth,
            call.parent,
            message.status,
            time_s=self.dispatcher.now_us() / 1e6,
        )
        session = self._sessions.get(session_id)
        if session is not None and session.records is not None and call.id in session.records:
            self._store.tell(CountSkip(session_id, call.id, SkipReason.DUPLICATE_CALL))
            return attrs.evolve(record, reason=SkipReason.DUPLICATE_CALL)
        session = self._use(session_id) or self._make(session_id)
        if session is None:
            return attrs.evolve(record, reason=SkipReason.OVERLOADED)
        if session.records is None:
            session.records = OrderedDict()
        session.records[call.id] = record
        forgets = []
        while len(session.records) > self._max_call_records:
            forgets.append(session.records.popitem(last=False)[0])
        stored = StoreCall(session_id, record, call.keep, message.content, tuple(forgets))
        self._store.put(Envelope(stored, envelope.reply_to))
        return DEFERRED

    @handles(Refer)
    def _refer(self, _message: Refer, envelope: Envelope[Any]) -> Any:
        self._store.put(envelope)
        return DEFERRED

    @handles(ReadCalls)
    def _read_calls(self, message: ReadCalls, envelope: Envelope[Any]) -> Any:
        records = self._records(message.session_id)
        self._store.put(Envelope(DescribeCalls(message.session_id, records), envelope.reply_to))
        return DEFERRED

    @handles(RenderRefs)
    def _render_refs(self, message: RenderRefs, envelope: Envelope[Any]) -> Any:
        records = self._records(message.session_id)
        self._store.put(Envelope(RenderRecords(records, message), envelope.reply_to))
        return DEFERRED

    def _records(self, session_id: str) -> tuple[CallRecord, ...]:
        session = self._sessions.get(session_id)
        return () if session is None or session.records is None else tuple(session.records.values())

    @handles(FetchContent)
    def _fetch(self, message: FetchContent, envelope: Envelope[Any]) -> Any:
        return self._hold(
            envelope, None, self._store, Resolve(message.session_id, message.name, max_bytes=message.max_bytes)
        )

    @handles(FollowUp)
    def _follow_up(self, message: FollowUp, envelope: Envelope[Any]) -> Any:
        choice = choose(message.say, self._records(message.session_id))
        self._note_session(self._sessions.get(message.session_id), choice)
        if choice.low_utility is not None:
            self._decided[choice.low_utility] += 1
            return FollowUpReply(miss=FollowUpMiss.LOW_UTILITY, reason=choice.low_utility, trace=choice.trace)
        if choice.failed or choice.target is None:
            self._store.tell(CountMiss(message.session_id, MissReason.NOT_STORED))
            return self._missing(choice, MissReason.NOT_STORED)
        resolve = Resolve(
            message.session_id,
            choice.target,
            as_call=not choice.is_ref,
            summary_only=choice.metadata_only,
            max_bytes=message.max_bytes,
        )
        return self._hold(envelope, choice, self._store, resolve)

    def _note_session(self, session: Session | None, choice: Choice) -> None:
        if session is not None and not session.followed and choice.low_utility is not LowUtility.NO_FOLLOW_UP_INTENT:
            session.followed = True
            self._followed_sessions += 1

    @handles(Resolved)
    def _resolved(self, message: Resolved, _envelope: Envelope[Any]) -> None:
        asked, choice = self._operation
        if message.content is not None:
            self._use(asked.session_id)
        self._end_hold(message if choice is None else self._followed_up(choice, message))

    def _followed_up(self, choice: Choice, found: Resolved) -> FollowUpReply:
        if found.miss is not None:
            return self._missing(choice, found.miss)
        decision = FollowUpDecision.SUMMARY_ONLY if found.content is None else FollowUpDecision.FULL_FETCH
        self._decided[decision] += 1
        return FollowUpReply(
            call=found.call_id,
            decision=decision,
            kind=found.kind,
            bytes=found.bytes,
            content=found.content,
            trace=choice.trace,
        )

    def _missing(self, choice: Choice, reason: MissReason) -> FollowUpReply:
        self._missed[reason] += 1
        return FollowUpReply(miss=FollowUpMiss.CONTENT_REF_NOT_FOUND, reason=reason, trace=choice.trace)

    @handles(ReadContinuity)
    def _read_continuity(self, message: ReadContinuity, envelope: Envelope[Any]) -> Any:
        counts = FollowUpCounts(
            full_fetches=self._decided[FollowUpDecision.FULL_FETCH],
            summaries=self._decided[FollowUpDecision.SUMMARY_ONLY],
            no_intent=self._decided[LowUtility.NO_FOLLOW_UP_INTENT],
            no_prior_content=self._decided[LowUtility.NO_PRIOR_CONTENT],
            misses=WordMapping(self._missed),
            sessions=self._followed_sessions,
        )
        self._store.put(Envelope(Summarise(counts, message.budget_bytes), envelope.reply_to))
        return DEFERRED
