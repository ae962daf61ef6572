"""The verbs of content: recorded calls, references, look-ups, follow-ups, and proposals about the retention policy."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import attrs
import yaml

from ..actors.futures import Future
from ..protocol.content_replies import FollowUpReply, ReferReply
from ..protocol.errors import ContentRefNotFound
from ..protocol.proposals import ProposalReply
from ..protocol.records import DEFAULT_METHOD, DEFAULT_ROLE, Call, CallRecord
from ..protocol.statuses import FollowUpMiss, ProposalStatus, SkipReason
from ..recorded import Outcome
from ..runtime import Runtime
from .content_values import content_in, texts_in
from .reading import Count, Id, Name, Reader, Text, Value, duration_us
from .source import InvalidScenario, is_null, place_of
from .stage import Stage
from .verb import Loose, Verb, words

__all__ = [
    "Acknowledge",
    "Apply",
    "Approve",
    "Fetch",
    "FollowUp",
    "Propose",
    "RecordCall",
    "Refer",
    "Refuse",
    "teach_continuity_verbs",
]

_ROLE = Name(DEFAULT_ROLE)
_METHOD = Name(DEFAULT_METHOD)
_TOP = Count(0)
_NOTHING = Loose(None)


@attrs.frozen
class _CallError:
    what: ClassVar[str] = "the error of a call"

    type: Text
    message: Text


@attrs.frozen(kw_only=True)
class RecordCall(Verb):
    what = "call"
    statuses = frozenset({SkipReason.OVERLOADED.value})
    replies = frozenset({"status", "stored", "kind", "bytes", "mode", "reason"})

    session: Id
    id: Id
    outcome: Outcome
    role: Name = _ROLE
    method: Name = _METHOD
    depth: Count = _TOP
    parent: Id | None = None
    keep: bool = False

    def post(self, stage: Stage) -> Future[Any]:
        call = Call(self.id, self.role, self.method, self.depth, self.parent, self.keep)
        return stage.runtime.record_call(self.session, call, self.outcome)

    def read(self, answer: CallRecord) -> Any:
        if answer.reason is SkipReason.OVERLOADED:
            return {"status": answer.reason.value}
        return _stored(answer)

    def ids(self) -> Iterator[object]:
        yield from (self.session, self.id, self.role, self.method, self.parent)

    def texts(self) -> Iterator[object]:
        yield from texts_in(self.outcome.value)


def _stored(answer: CallRecord | ReferReply) -> dict[str, Any]:
    if not answer.stored:
        return {"stored": False, "reason": _word(answer.reason)}
    return {
        "stored": True,
        "kind": _word(answer.content_kind),
        "bytes": answer.content_bytes,
        "mode": _word(answer.content_mode),
    }


def _word(value: Any) -> str | None:
    return None if value is None else str(value)


@attrs.frozen(kw_only=True)
class Refer(Verb):
    what = "refer"
    replies = frozenset({"stored", "kind", "bytes", "mode", "reason"})

    session: Id
    parent: Id = attrs.field(metadata={"key": "from"})
    child: Id = attrs.field(metadata={"key": "to"})

    def post(self, stage: Stage) -> Future[Any]:
        return stage.runtime.refer(self.session, self.parent, self.child)

    def read(self, answer: ReferReply) -> Any:
        return _stored(answer)

    def ids(self) -> Iterator[object]:
        yield from (self.session, self.parent, self.child)


@attrs.frozen(kw_only=True)
class Fetch(Verb):
    what = "fetch"
    replies = frozenset({"value", "miss", "reason"})

    session: Id
    ref: Id

    def post(self, stage: Stage) -> Future[Any]:
        return stage.runtime.content(self.session, self.ref)

    def read(self, answer: Any) -> Any:
        return {"value": answer}

    def read_error(self, error: Exception) -> Any:
        if isinstance(error, ContentRefNotFound):
            return {"miss": FollowUpMiss.CONTENT_REF_NOT_FOUND.value, "reason": error.reason}
        return None

    def ids(self) -> Iterator[object]:
        yield from (self.session, self.ref)


@attrs.frozen(kw_only=True)
class FollowUp(Verb):
    what = "follow_up"
    replies = frozenset({"call", "decision", "value", "miss", "reason"})

    session: Id
    say: Text
    max_bytes: Count | None = None

    def post(self, stage: Stage) -> Future[Any]:
        return stage.runtime.follow_up(self.session, self.say, self.max_bytes)

    def read(self, answer: FollowUpReply) -> Any:
        if answer.miss is not None:
            return {"miss": answer.miss.value, "reason": _word(answer.reason)}
        found = {"call": answer.call, "decision": _word(answer.decision)}
        return found if answer.content is None else {**found, "value": answer.value}

    def ids(self) -> Iterator[object]:
        yield self.session

    def texts(self) -> Iterator[object]:
        yield self.say


@attrs.frozen(kw_only=True)
class Propose(Verb):
    what = "propose"
    statuses = words(ProposalStatus)
    replies = frozenset({"status", "reason"})

    id: Id
    by: Loose = _NOTHING
    change: Loose = _NOTHING
    evidence: Loose = _NOTHING
    rollback: Loose = _NOTHING

    def post(self, stage: Stage) -> Future[Any]:
        by, change, evidence, rollback = (loose.value for loose in (self.by, self.change, self.evidence, self.rollback))
        return stage.runtime.propose(self.id, by, change, evidence, rollback)  # type: ignore[arg-type]

    def ids(self) -> Iterator[object]:
        yield from (self.id, self.by.value)

    def texts(self) -> Iterator[object]:
        yield from (self.evidence.value, self.rollback.value)


@attrs.frozen(kw_only=True)
class _ActOnProposal(Verb):
    statuses = words(ProposalStatus)
    replies = frozenset({"status"})
    call: ClassVar[Callable[[Runtime, str, str], Future[ProposalReply]]]

    id: Id
    by: Name

    def post(self, stage: Stage) -> Future[Any]:
        return type(self).call(stage.runtime, self.id, self.by)

    def ids(self) -> Iterator[object]:
        yield from (self.id, self.by)


class Approve(_ActOnProposal):
    what = "approve"
    call = Runtime.approve


class Acknowledge(_ActOnProposal):
    what = "acknowledge"
    call = Runtime.acknowledge_proposal


class Refuse(_ActOnProposal):
    what = "refuse"
    call = Runtime.refuse


class Apply(_ActOnProposal):
    what = "apply"
    call = Runtime.apply


_LIFE_TIME = "store_ttl"
_CALL_KEYS: dict[str, Any] = {
    "session": Id,
    "id": Id,
    "role": Name,
    "method": Name,
    "depth": Count,
    "parent": Id | None,
    "keep": bool,
}


def teach_continuity_verbs(reader: Reader) -> None:
    """Make `reader` understand the arguments of the verbs of content."""

    def call(node: yaml.Node, _wanted: Any) -> RecordCall:
        values: dict[str, Any] = {}
        for key, _key_node, value_node in reader.known(node, [*_CALL_KEYS, "value", "error"], "call"):
            if key in ("value", "error") and "outcome" in values:
                raise InvalidScenario(place_of(value_node), "call takes either value or error")
            if key == "value":
                values["outcome"] = Outcome.ok(content_in(value_node, reader.budget))
            elif key == "error":
                error = reader.read(value_node, _CallError)
                values["outcome"] = Outcome.error(error.type, error.message)
            else:
                values[key] = reader.read(value_node, _CALL_KEYS[key])
        for key, field in (("session", "session"), ("id", "id"), ("value or error", "outcome")):
            if field not in values:
                raise InvalidScenario(place_of(node), f"call lacks the key {key}")
        return RecordCall(**values)

    def optional_id(node: yaml.Node, _wanted: Any) -> str | None:
        return None if is_null(node) else reader.read(node, Id)

    def proposal(node: yaml.Node, _wanted: Any) -> Propose:
        values: dict[str, Any] = {}
        known = ("id", "by", "change", "evidence", "rollback")
        for key, _key_node, value_node in reader.known(node, known, "propose"):
            if key == "id":
                values[key] = reader.read(value_node, Id)
            elif key == "change" and isinstance(value_node, yaml.MappingNode):
                values[key] = Loose(change(value_node))
            else:
                values[key] = Loose(reader.read(value_node, Value))
        if "id" not in values:
            raise InvalidScenario(place_of(node), "propose lacks the key id")
        return Propose(**values)

    def change(node: yaml.MappingNode) -> Any:
        """Settings with their values, a time in seconds; whatever is wrong with one is for the runtime to refuse."""
        values: Any = reader.read(node, Value)
        life_time = values.get(_LIFE_TIME)
        if isinstance(life_time, str) and (amount := duration_us(life_time)) is not None:
            values[_LIFE_TIME] = round(amount) / 1_000_000
        return values

    for wanted, hook in ((RecordCall, call), (Id | None, optional_id), (Propose, proposal)):
        reader.teach(wanted, hook)
