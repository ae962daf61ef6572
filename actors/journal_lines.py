"""What a journal says: each note as a line of JSON. Ids, states, sizes and digests; texts only where asked for.

Rules. A text is told by `CHARACTERS:BYTES:DIGEST`: bytes are those of its JSON without the quotes, the digest is keyed
with a secret of this journal, so that equal texts are told alike and no text can be guessed from it; a blank text has
none. Where texts were asked for `:TEXT` follows. A ref to content, which opens it, is told by its digest as well. Names
of sessions, requests, parents, providers, modes and languages stand as they are.

A call at the face has a number, which its `reply` repeats; the last line `took` of that number is the place among the
others at which it took effect. An ACK that could be answered at once is one line, `acked`.

Not promised: the place of an answer among the lines of other sessions that are written at the same time.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from enum import StrEnum
from json.encoder import encode_basestring, encode_basestring_ascii
from typing import Any

import attrs

from ..protocol.content_messages import FetchContent, FollowUp, ReadCalls, RecordCall, Refer, RenderRefs, Resolved
from ..protocol.content_replies import FollowUpReply, ReferReply
from ..protocol.errors import DragomanError
from ..protocol.execution_messages import AnswerCall, ReadOutcome, TimeOut
from ..protocol.governance_messages import ActOnProposal, Propose
from ..protocol.handoff import Handoff
from ..protocol.history import Turn, TurnRun
from ..protocol.messages import (
    Acknowledge,
    Activate,
    AnsweredAtFace,
    AskSession,
    ClaimTurn,
    ClearSession,
    Close,
    Configure,
    FailCommits,
    HandleClosed,
    ReadHistory,
    ReadStatus,
    Register,
    Reject,
)
from ..protocol.outcomes import TranslationOutcome
from ..protocol.payloads import Payload
from ..protocol.records import CallRecord
from ..protocol.replies import AckReply
from ..protocol.statuses import CloseCause
from ..protocol.units import Gap, ParentPlan
from .dispatcher import Note
from .outside import Begin, CallEnded

__all__ = ["Lines", "encode"]

_DIGEST_MASK = 2**63 - 1
_SECRET_CHARS = 24
"""Of the secret before a text: 96 bits."""
_REF = "content:"

Fields = dict[str, Any]


class Lines:
    """Tells notes as JSON. `key` is the secret of the digests; with `texts` the texts themselves are told, too."""

    def __init__(self, key: bytes, *, texts: bool = False) -> None:
        self._secret = key.hex()[:_SECRET_CHARS]
        self._texts = texts
        self._calls: dict[type, Callable[[Any], Fields]] = {
            Register: lambda call: {"op": "register", **self._handoff(call.handoff)},
            Begin: self._begin,
            Activate: lambda call: {"op": "activate", "request": call.request_id},
            Acknowledge: lambda call: {"op": "ack", **self._ack(call.request_id, call.parent_id, call.result)},
            Reject: lambda call: {"op": "reject", "request": call.request_id, "parent": call.parent_id},
            Close: self._close,
            TimeOut: lambda call: {"op": "time_out", "request": call.request_id},
            ReadStatus: lambda call: {"op": "request_status", "request": call.request_id},
            ReadOutcome: lambda call: {"op": "request_outcome", "request": call.request_id},
            ReadHistory: lambda call: {
                "op": "read_history",
                **_asker(call),
                "max_turns": call.max_turns,
                "max_chars": call.max_chars,
            },
            ClaimTurn: lambda call: {"op": "claim_turn", **_asker(call)},
            ClearSession: lambda call: {"op": "clear_session", "session": call.session_id},
            Configure: lambda call: {"op": "configure", "history_enabled": call.history_enabled},
            FailCommits: lambda call: {"op": "fail_commits", "session": call.session_id, "times": call.times},
            AnswerCall: lambda call: {"op": "answer_call", "call": f"{call.request_id}/{call.number}"},
            RecordCall: self._record_call,
            Refer: lambda call: {
                "op": "refer",
                "session": call.session_id,
                "from": call.parent_id,
                "to": call.child_id,
            },
            FetchContent: lambda call: {
                "op": "fetch",
                "session": call.session_id,
                **self._ref(call.name),
                "max_bytes": call.max_bytes,
            },
            FollowUp: lambda call: {
                "op": "follow_up",
                "session": call.session_id,
                "say": self.text(call.say),
                "max_bytes": call.max_bytes,
            },
            ReadCalls: lambda call: {"op": "calls", "session": call.session_id},
            RenderRefs: lambda call: {"op": "content_prompt", "session": call.session_id},
            Propose: lambda call: {
                "op": "propose",
                "id": call.proposal.id,
                "by": call.proposal.by,
                "change": dict(call.proposal.change),
            },
            ActOnProposal: lambda call: {"op": call.act.value, "id": call.id, "by": call.by},
            AnsweredAtFace: lambda call: {"op": call.verb, "id": call.id},
        }
        self._replies: dict[type, Callable[[Any], Fields]] = {
            AckReply: lambda reply: {"status": reply.status, "committed": reply.committed},
            CallRecord: self._recorded,
            ReferReply: self._recorded,
            FollowUpReply: lambda reply: {
                "call": reply.call,
                "decision": reply.decision,
                "miss": reply.miss,
                "reason": reply.reason,
                "bytes": reply.bytes,
                "candidate": reply.trace.candidate,
            },
            Resolved: lambda reply: {"miss": reply.miss, "bytes": reply.bytes, "call": reply.call_id},
            tuple: self._rows,
            int: lambda reply: {"number": reply},
            type(None): lambda _reply: {},
        }
        self._notes: dict[str, Callable[..., Fields]] = {
            "call": lambda number, message: {"n": number, **self._call(message)},
            "took": lambda number: {"n": number},
            "reply": lambda number, reply: {"n": number, **self._reply(reply)},
            "acked": self._acked,
            "settled": lambda request, acks, statuses: {
                "request": request,
                "acks": _by_word([ack.parent_id for ack in acks], statuses),
            },
            "handle": _of_request,
            "closed": _closed,
            "session": lambda session, state, used_us=None: {"session": session, "state": state, "used": used_us},
            "committed": self._committed,
            "execution": _of_request,
            "fired": lambda request, timer: {"request": request, "timer": timer},
            "retry": lambda request, batch, delay_us: {"request": request, "batch": batch, "delay": delay_us},
            "made": self._made,
            "dropped": lambda request, number: {"call": f"{request}/{number}"},
            "answer": self._answer,
            "dispatched": lambda request, words: {"request": request, "words": _by_word(*zip(*words, strict=True))},
            "outcome": _outcome,
            "close": dict,
        }

    def line(self, note: Note) -> Fields:
        """A note as what JSON can express."""
        kind, at_us, *what = note
        return {"t": at_us, "k": kind, **self._notes[kind](*what)}

    def text(self, text: Any) -> str | None:
        """What is told of a text; None of what is none."""
        if not isinstance(text, str):
            return None
        quoted = encode_basestring(text)
        size = len(quoted if quoted.isascii() else quoted.encode("utf-8", "surrogatepass")) - 2
        # As `digest` has it, without the call: texts are half of what a journal costs.
        digest = hash(self._secret + text) & _DIGEST_MASK if text and not text.isspace() else ""
        return f"{len(text)}:{size}:{digest}:{text}" if self._texts else f"{len(text)}:{size}:{digest}"

    def digest(self, text: str) -> str:
        """What equal texts have in common, and others have not; nothing of the text can be told from it.

        The interpreter's own hash is a keyed one (SipHash) at a twentieth of the cost of a cryptographic digest. The
        secret before the text keeps it so where the key is known (`PYTHONHASHSEED`).
        """
        return str(hash(self._secret + text) & _DIGEST_MASK)

    def _call(self, message: object) -> Fields:
        tell = self._calls.get(type(message))
        return {"op": type(message).__name__} if tell is None else tell(message)

    def _reply(self, reply: Any) -> Fields:
        if isinstance(reply, BaseException):
            reason = getattr(reply, "reason", None) if isinstance(reply, DragomanError) else None
            return {"error": type(reply).__name__, "reason": reason if isinstance(reason, str) else None}
        tell = self._replies.get(type(reply))
        if tell is not None:
            return tell(reply)
        return {"status": reply if isinstance(reply, StrEnum) else getattr(reply, "status", None)}

    def _handoff(self, handoff: Handoff) -> Fields:
        text, orders = self.text, [parent.order for parent in handoff.parents]
        return {
            **_identity(handoff),
            "parents": {parent.id: text(parent.source) for parent in handoff.parents},
            "orders": None if orders == list(range(len(orders))) else orders,
        }

    def _begin(self, begin: Begin) -> Fields:
        plan = begin.plan
        told: Fields = {
            "op": "direct" if plan.direct else "translate",
            **_identity(plan.handoff),
            "source_language": plan.source_language,
            "target_language": plan.target_language,
        }
        if plan.direct:
            return {**told, "source": self.text(plan.handoff.parents[0].source)}
        return {
            **told,
            "history_until": plan.history_until,
            "by_hand": begin.outside.by_hand,
            "parents": self._pieces([(parent.id, parent.segments) for parent in plan.parents]),
            "layouts": {parent.id: _layout(parent) for parent in plan.parents if len(parent.units) > 1} or None,
        }

    def _pieces(self, texts: Iterable[tuple[str, Sequence[str]]]) -> Fields:
        """What is told of texts by their ids, each a text or the pieces of one."""
        text = self.text
        return {
            name: text(pieces[0]) if len(pieces) == 1 else [text(piece) for piece in pieces] for name, pieces in texts
        }

    def _ack(self, request: str, parent: str, result: str | None) -> Fields:
        return {"request": request, "parent": parent, "result": self.text(result)}

    def _acked(self, question: tuple[str, ...], status: str) -> Fields:
        if len(question) == 2:
            return {"op": "reject", "request": question[0], "parent": question[1], "status": status}
        return {"op": "ack", **self._ack(*question), "status": status}

    def _close(self, call: Close) -> Fields:
        op = "cancel" if call.cause is CloseCause.CANCELLED else "dispatch_failed"
        return {"op": op, "request": call.request_id}

    def _record_call(self, message: RecordCall) -> Fields:
        call, content = message.call, message.content
        told = attrs.asdict(call)
        stored: Fields = {"skipped": content}
        if isinstance(content, Payload):
            stored = {"kind": content.kind, "mode": content.mode, "bytes": content.bytes}
        return {"op": "record_call", "session": message.session_id, **told, "status": message.status, **stored}

    def _recorded(self, reply: CallRecord | ReferReply) -> Fields:
        return {
            "reason": reply.reason,
            "kind": reply.content_kind,
            "mode": reply.content_mode,
            "bytes": reply.content_bytes,
            **self._ref(reply.content_ref),
        }

    def _ref(self, name: str | None) -> Fields:
        """A name of content: a ref by its digest, the id of a call or of a turn as it stands."""
        if name is None or not name.startswith(_REF):
            return {"name": name}
        return {"ref": self.digest(name)}

    def _rows(self, rows: tuple[Any, ...]) -> Fields:
        """The turns of a history, by their names; of other rows their number."""
        if not all(isinstance(row, Turn) for row in rows):
            return {"rows": len(rows)}
        return {
            "turns": [
                [turn.request_id, turn.parent_id, turn.content_ref and self.digest(turn.content_ref)] for turn in rows
            ]
        }

    def _committed(self, session: str, turns: TurnRun, failed: Iterable[int]) -> Fields:
        return {
            "session": session,
            "request": turns.request_id,
            "parents": list(turns.parent_ids),
            "failed": list(failed),
        }

    def _made(self, call: Any) -> Fields:
        return {
            "call": call.id,
            "purpose": call.purpose,
            "provider": call.provider,
            "key": call.key,
            "attempt": call.attempt,
            "format": call.format,
            "units": [unit.id for unit in call.units],
            "history": [[turn.request_id, turn.parent_id] for turn in call.history],
        }

    def _answer(self, request: str, ended: CallEnded, wanted: str, verdict: Any) -> Fields:
        told: Fields = {"call": f"{request}/{ended.number}", "format": wanted}
        if ended.completion is None or verdict is None:
            return {**told, "error": ended.error, "retry_after": ended.retry_after_us}
        return {
            **told,
            "termination": ended.completion.termination,
            "valid": self._pieces(verdict.valid.items()),
            "invalid": dict(verdict.invalid),
            "unsafe": verdict.unsafe,
        }


def _identity(handoff: Handoff) -> Fields:
    return {
        "request": handoff.request_id,
        "session": handoff.session_id,
        "provider": handoff.provider,
        "mode": handoff.mode,
        "purpose": handoff.purpose,
    }


def _asker(call: AskSession) -> Fields:
    return {"session": call.session_id, "provider": call.provider, "mode": call.mode, "purpose": call.purpose}


def _layout(parent: ParentPlan) -> list[int]:
    """The characters of each stretch of a split parent: white space that splitting took, a unit, and so on in turn."""
    lengths = [0]
    for part in parent.layout:
        if isinstance(part, Gap):
            if len(lengths) % 2 == 0:
                lengths.append(0)
            lengths[-1] += len(part.text)
        else:
            if len(lengths) % 2 == 0:
                lengths.append(0)
            lengths.append(part.chars)
    return lengths


def _by_word(parents: Sequence[str], words: Sequence[str]) -> dict[str, Sequence[str]]:
    """Parents by the word that stands for what became of them; as a rule it is one for all."""
    if words and words.count(words[0]) == len(words):
        return {words[0]: parents}
    told: dict[str, Any] = {}
    for parent, word in zip(parents, words, strict=True):
        told.setdefault(word, []).append(parent)
    return told


def _of_request(request: str, state: str, session: str | None = None) -> Fields:
    """A new state of a handle or an execution; with its first one, the session that it is of."""
    return {"request": request, "state": state, "session": session}


def _closed(message: HandleClosed) -> Fields:
    return {
        "request": message.request_id,
        "session": message.session_id,
        "cause": message.cause,
        "states": _by_word(message.parent_ids, message.states),
    }


def _outcome(outcome: TranslationOutcome) -> Fields:
    return {
        "request": outcome.request_id,
        "execution": outcome.execution,
        "quality": outcome.quality,
        "error": outcome.error,
        "retries": outcome.retries,
        "failover": outcome.failover,
        "calls": outcome.calls,
    }


def _make_encoder() -> Callable[[Fields], str]:
    """What tells a line as JSON. `JSONEncoder.encode` would make its inner encoder anew for each, at the same cost."""
    encoder = json.JSONEncoder(ensure_ascii=True, check_circular=False, separators=(",", ":"))
    make = getattr(json.encoder, "c_make_encoder", None)
    if make is None:
        return encoder.encode
    chunks = make(None, encoder.default, encode_basestring_ascii, None, ":", ",", False, False, True)
    return lambda line: "".join(chunks(line, 0))


_json_text = _make_encoder()


def encode(line: Fields) -> str:
    """A line as it stands in the file, without what is null."""
    if None in line.values():
        line = {key: value for key, value in line.items() if value is not None}
    return _json_text(line)
