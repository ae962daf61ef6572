"""The rules of content continuity, once more and without concurrency: what the runtime is compared with.

Written from the pages, in the simplest way that is right: one operation after another, no message and no thread. It
shares no code with the product and knows its words as strings only. A ref is chance, so the model is told each one that
was seen; from then on it holds the runtime to it.
"""

from __future__ import annotations

import pickle
from dataclasses import dataclass, field
from typing import Any

from .bounds import Bounds
from .records import Body, Entry, Held, Proposal, Record, Request, Session, Turn, body_of, size_of

__all__ = ["MAINTAINERS", "Model"]

MAINTAINERS = ("mira", "tomas", "ines")
_ORDINALS = {"the first answer": 0, "the second answer": 1, "the third answer": 2}
_STAGES = {
    "approve": ("proposed", "approved"),
    "refuse": ("proposed", "refused"),
    "acknowledge": ("approved", "acknowledged"),
    "apply": ("acknowledged", "applied"),
}
_UNDECIDED = ("proposed", "approved", "acknowledged")


@dataclass
class Model(Bounds):
    """Each operation returns the reply as a plain value."""

    proposals: list[Proposal] = field(default_factory=list)
    skips: dict[str, int] = field(default_factory=dict)
    misses: dict[str, int] = field(default_factory=dict)
    follow_ups: dict[str, int] = field(default_factory=dict)

    def copy(self) -> Model:
        copied: Model = pickle.loads(pickle.dumps(self, pickle.HIGHEST_PROTOCOL))
        return copied

    # Calls and their content. `ref` is the one that was seen in the reply.

    def record(
        self, session_id: str, call_id: str, depth: int, keep: bool, failed: bool, body: Body | None, ref: str | None
    ) -> tuple[Any, ...]:
        session = self.session(session_id)
        if session is not None and session.record(call_id) is not None:
            return self._skip("duplicate_call")
        session = self.use_or_make(session_id)
        if session is None:
            return ("OVERLOADED",)
        record = Record(call_id, depth, failed)
        record.reason = self.why_not(record, keep, body)
        if record.reason is None:
            assert body is not None
            record.entry = self.write(session, call_id, body, nested=depth >= 1)
            reply = self._stored(record.entry, ref)
        else:
            reply = self._skip(record.reason)
            if depth >= 1 and body is not None:
                self.hold(session, Held(call_id, body, depth))
        session.records.append(record)
        while len(session.records) > self.max_call_records:
            forgotten = session.records.pop(0)
            session.waiting = [held for held in session.waiting if held.id != forgotten.id]
        return reply

    def refer(self, session_id: str, child_id: str, ref: str | None) -> tuple[Any, ...]:
        session = self.session(session_id)
        record = None if session is None else session.record(child_id)
        if record is not None and record.entry is not None and record.entry.gone is None:
            return self._stored(record.entry, ref)
        if not self.enabled:
            return self._skip("content_disabled")
        if record is not None and record.failed and not self.policy["capture_errors"]:
            return self._skip("error_capture_disabled")
        held = None if session is None else next((one for one in session.waiting if one.id == child_id), None)
        if session is None or record is None or held is None:
            return self._skip("content_released")
        if self.too_large(held.body):
            return self._skip("entry_exceeds_max_bytes")
        session.waiting.remove(held)
        record.entry = self.write(session, child_id, held.body, nested=held.depth >= 1)
        return self._stored(record.entry, ref)

    def fetch(self, session_id: str, name: str) -> tuple[str, str]:
        found = self.find(session_id, name)
        return self._missed(found) if isinstance(found, str) else ("value", self._hit(found))

    def follow(self, session_id: str, say: str, named: str | None, max_bytes: int | None) -> tuple[str, ...]:
        """`named` is the ref or the id that `say` shows, if it does."""
        found = self._meant(session_id, say, named)
        reply: tuple[str, ...]
        if isinstance(found, tuple):
            reply = found
        elif isinstance(found, str):
            reply = self._missed(found)
        elif say.startswith("how long") or (max_bytes is not None and found.body.size > max_bytes):
            reply = "SUMMARY_ONLY", found.name
        else:
            reply = "FULL_FETCH", found.name, self._hit(found)
        kind = reply[0] if reply[0] != "low_utility" else reply[1]
        self.follow_ups[kind] = self.follow_ups.get(kind, 0) + 1
        return reply

    def _meant(self, session_id: str, say: str, named: str | None) -> Entry | str | tuple[str, str]:
        session = self.session(session_id)
        records = [] if session is None else session.records
        if named is not None and named.startswith("content:"):
            return self._by_ref(session, named)
        if named is not None:
            chosen = next((record for record in records if record.id == named), None)
        elif say.endswith("answer"):
            good = [record for record in records if record.depth == 0 and not record.failed]
            place = _ORDINALS.get(say, len(good) - 1)
            if not 0 <= place < len(good):
                return "low_utility", "no_prior_content"
            chosen = good[place]
        else:
            chosen = None
        if chosen is None:
            return "low_utility", "no_follow_up_intent"
        entry = None if chosen.failed else chosen.entry
        return "not_stored" if entry is None else (entry.gone or entry)

    def find(self, session_id: str, name: str) -> Entry | str:
        """The live entry behind a name, or why there is none."""
        session = self.session(session_id)
        by_ref = self._by_ref(session, name)
        if session is None or by_ref != "unknown":
            return by_ref
        turns = [turn for turn in reversed(session.turns) if turn.name == name]
        named = session.record(name) or (turns[0] if turns else None)
        if named is None:
            return "unknown"
        return "not_stored" if named.entry is None else (named.entry.gone or named.entry)

    def _by_ref(self, session: Session | None, ref: str) -> Entry | str:
        known = [] if session is None else self.of(session.id) + session.tombstones
        entry = next((entry for entry in known if entry.ref == ref), None)
        return "unknown" if entry is None else (entry.gone or entry)

    # Turns. A turn whose content is no longer known at all has no ref either.

    def read(self, session_id: str, refs: list[str | None]) -> list[tuple[Any, ...]]:
        session = self.use(session_id)
        kept = [] if session is None or not self.max_turns else session.turns[-self.max_turns :]
        refs = refs if len(refs) == len(kept) else [None] * len(kept)
        told = []
        for turn, ref in zip(kept, refs, strict=True):
            entry = turn.entry if turn.entry is not None and turn.entry.gone != "unknown" else None
            told.append((turn.name, turn.source, turn.text, None if entry is None else self._bound(entry, ref)))
        return told

    def register(self, request_id: str, session_id: str, parents: tuple[str, ...]) -> str:
        if self._request(request_id):
            return "DUPLICATE_REQUEST"
        if self.use_or_make(session_id) is None:
            return "OVERLOADED"
        self.requests.append(Request(request_id, session_id, list(parents)))
        return "REGISTERED"

    def ack(self, request_id: str, parent_id: str, text: str) -> tuple[str, list[str]]:
        request = self._request(request_id)
        if request is None:
            return "STALE", []
        if parent_id not in request.parents:
            return "UNKNOWN_PARENT", []
        if parent_id in request.texts:
            return "DUPLICATE", []
        request.texts[parent_id] = text
        run: list[str] = []
        for parent in request.parents[len(request.committed) :]:
            if parent not in request.texts:
                break
            run.append(parent)
        if run:
            self._commit(request, run)
        return "ACCEPTED", run

    def _commit(self, request: Request, run: list[str]) -> None:
        session = self.use(request.session)
        assert session is not None
        for parent in run:
            name, body = f"{request.id}/{parent}", body_of(request.texts[parent])
            reason = self.why_not(Record(name, 0, failed=False), False, body)
            entry = None if reason else self.write(session, name, body, nested=False)
            if reason:
                self._skip(reason)
            session.turns.append(Turn(name, f"{name} source", request.texts[parent], entry))
        request.committed += run
        if request.committed == request.parents:
            self.cancel(request.id)

    def cancel(self, request_id: str) -> str:
        request = self._request(request_id)
        if request is None:
            return "UNKNOWN_REQUEST"
        self.requests.remove(request)
        return "DISPOSED"

    def _request(self, request_id: str) -> Request | None:
        return next((request for request in self.requests if request.id == request_id), None)

    def clear(self, session_id: str) -> str:
        session = self.session(session_id)
        if session is None:
            return "UNKNOWN_SESSION"
        self.drop(session)
        return "CLEARED"

    # The retention policy.

    def propose(self, proposal_id: str, change: dict[str, Any], evidence: str) -> str:
        taken = any(known.id == proposal_id for known in self.proposals)
        if taken or not change or not evidence or not all(_is_good(*setting) for setting in change.items()):
            return "INVALID_PROPOSAL"
        self.proposals.append(Proposal(proposal_id, change))
        return "PROPOSED"

    def decide(self, act: str, proposal_id: str, by: str) -> str:
        if by not in MAINTAINERS:
            return "AUTHORITY_DENIED"
        proposal = next((known for known in self.proposals if known.id == proposal_id), None)
        if proposal is None:
            return "UNKNOWN_PROPOSAL"
        if act == "acknowledge" and by == proposal.approver:
            return "AUTHORITY_DENIED"
        before, after = _STAGES[act]
        if proposal.stage != before:
            early = proposal.stage in _UNDECIDED and _UNDECIDED.index(proposal.stage) < _UNDECIDED.index(before)
            return "NOT_APPROVED" if early else "ALREADY_DECIDED"
        proposal.stage = after
        if act == "approve":
            proposal.approver = by
        if act == "apply":
            self.put_in_force(proposal.change)
        return after.upper()

    # What shows at the face.

    def seen(self) -> dict[str, Any]:
        contents = {session.id: self.of(session.id) for session in self.sessions}
        return {
            "sessions": [session.id for session in self.sessions],
            "store": {name: (len(held), size_of(held)) for name, held in contents.items() if held},
            "bytes": size_of(self.entries),
            "counters": dict(self.counters),
            "skips": self.skips,
            "misses": self.misses,
            "calls": {session.id: [record.told() for record in session.records] for session in self.sessions},
            "open": sorted(request.id for request in self.requests),
            "proposals": {known.id: known.stage.replace("acknowledged", "approved") for known in self.proposals},
            "policy": self.policy,
            "follow-ups": self.follow_ups,
        }

    def _hit(self, entry: Entry) -> str:
        self.use_entry(entry)
        self.count("hits")
        return entry.body.text

    def _missed(self, reason: str) -> tuple[str, str]:
        self.count("misses")
        self.misses[reason] = self.misses.get(reason, 0) + 1
        return "miss", reason

    def _skip(self, reason: str) -> tuple[str]:
        self.count("skips")
        self.skips[reason] = self.skips.get(reason, 0) + 1
        return (reason,)

    def _stored(self, entry: Entry, ref: str | None) -> tuple[Any, ...]:
        return "stored", self._bound(entry, ref), entry.body.kind, entry.body.size, entry.body.mode

    def _bound(self, entry: Entry, ref: str | None) -> str | None:
        """The ref of an entry, which is the first one seen of it; one that another has is no ref at all."""
        known = self.entries + [gone for session in self.sessions for gone in session.tombstones]
        if entry.ref is None and not any(other.ref == ref for other in known):
            entry.ref = ref
        return entry.ref


def _is_good(name: str, value: Any) -> bool:
    if name in ("capture_nested", "capture_errors"):
        return isinstance(value, bool)
    if name == "store_ttl" and value is None:
        return True
    numeric = isinstance(value, int | float) if name == "store_ttl" else isinstance(value, int)
    counts = ("store_ttl", "store_max_entries", "store_max_bytes", "store_total_bytes")
    return name in counts and numeric and not isinstance(value, bool) and value >= 0
