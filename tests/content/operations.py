"""The operations of the walks through content: how they are drawn, posted to a runtime, and told to the model."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

from dragoman import Call, ContentRefNotFound, Handoff, Outcome, Parent, Runtime
from dragoman.protocol.errors import DragomanError

from ..acceptance.walk import Divergence
from .model import MAINTAINERS, Model
from .records import Body, Entry, body_of

__all__ = [
    "CALLS",
    "CHANGES",
    "GARBAGE",
    "PEOPLE",
    "REQUESTS",
    "SAYINGS",
    "SESSIONS",
    "VALUES",
    "Operation",
    "apply_to_model",
    "draw_change",
    "draw_operation",
    "post",
    "refs_in",
    "replies_of",
    "spoil",
]

SESSIONS = ("s1", "s2", "s3")
CALLS = (*(f"c{number}" for number in range(1, 13)), "r1/p1")
REQUESTS = ("r1", "r2", "r3")
GARBAGE = ("content:abcdefghijklmnopqrstuvwxyz", "content:", "", "nobody", "r9/p9", "c1 ")
SAYINGS = ("the last answer", "the first answer", "the third answer", "how long was the last answer", "good morning")
PEOPLE = (*MAINTAINERS, "scout")

Operation = tuple[Any, ...]
"""A verb and its values, in plain words that a failure can show."""


class _Opaque:
    def __str__(self) -> str:
        return "größe"


def _cyclic() -> Any:
    value: list[Any] = []
    value.append(value)
    return value


VALUES: dict[str, tuple[Callable[[], Any], Body | None]] = {
    "null": (lambda: None, body_of(None)),
    "empty text": (str, body_of("")),
    "empty list": (list, body_of([])),
    "empty object": (dict, body_of({})),
    "false": (lambda: False, body_of(False)),
    "zero": (lambda: 0, body_of(0)),
    "fraction": (lambda: 1.5, body_of(1.5)),
    "short": (lambda: "ab", body_of("ab")),
    "umlauts": (lambda: "ä€😀", body_of("ä€😀")),
    "list": (lambda: [1, [2, "x"]], body_of([1, [2, "x"]])),
    "object": (lambda: {"b": [], "a": {"c": None}}, body_of({"b": [], "a": {"c": None}})),
    "long": (lambda: "l" * 18, body_of("l" * 18)),
    "huge": (lambda: "h" * 62, body_of("h" * 62)),
    "opaque": (_Opaque, body_of("größe", opaque=True)),
    "cyclic": (_cyclic, None),
}
"""What is recorded, by its name: how it is made, and its JSON if it has any."""

CHANGES: dict[str, tuple[Any, ...]] = {
    "store_max_entries": (0, 1, 2, 2, 3, 3, 5, 8),
    "store_max_bytes": (0, 8, 24, 24, 64, 64, 200),
    "store_total_bytes": (0, 20, 50, 50, 100, 10**6),
    "store_ttl": (None, None, 0, 0.3, 0.7, 1.1),
    "capture_nested": (False, True),
    "capture_errors": (False, True),
}
_BAD_CHANGES: tuple[dict[str, Any], ...] = (
    {},
    {"store_max_entries": -1},
    {"store_max_bytes": True},
    {"store_ttl": "1s"},
    {"max_sessions": 3},
    {"capture_errors": 1},
)

_KINDS = ("record", "refer", "fetch", "follow", "register", "ack", "cancel", "read", "clear", "propose", "decide")
_WEIGHTS = (36, 6, 24, 8, 5, 9, 1, 3, 1, 3, 9)


def draw_operation(rng: random.Random, model: Model, refs: list[str], sessions: tuple[str, ...]) -> Operation:
    """An operation that is likely to do something in the state of `model`; `refs` are all that were ever seen."""
    kind = rng.choices(_KINDS, _WEIGHTS)[0]
    session = rng.choice(sessions)
    if kind == "record":
        depth = rng.choice((0, 0, 0, 1, 1, 2))
        call = rng.choice(_free(model, session, CALLS))
        return "record", session, call, depth, rng.random() < 0.3, rng.random() < 0.15, rng.choice(tuple(VALUES))
    if kind == "refer":
        waiting = [(one.id, held.id) for one in model.sessions for held in one.waiting]
        session, child = rng.choice(waiting) if waiting and rng.random() < 0.7 else (session, rng.choice(CALLS))
        return "refer", session, rng.choice(CALLS), child
    if kind == "fetch":
        return "fetch", *draw_name(rng, model, refs, session)
    if kind == "follow":
        return draw_follow_up(rng, session, refs)
    if kind == "register":
        return "register", rng.choice(REQUESTS), session, ("p1", "p2")[: rng.choice((1, 1, 2))]
    if kind in ("ack", "cancel"):
        request = rng.choice([one.id for one in model.requests] or REQUESTS)
        ack = "ack", request, rng.choice(("p1", "p1", "p2")), rng.choice(("ab", "äö", "long " * 4))
        return ack if kind == "ack" else ("cancel", request)
    if kind == "propose":
        return draw_proposal(rng, model)
    return draw_decision(rng, model) if kind == "decide" else (kind, session)


def _free(model: Model, session_id: str, calls: tuple[str, ...]) -> tuple[str, ...]:
    """Most calls are new ones, so that there is something to keep."""
    session = model.session(session_id)
    taken = {record.id for record in session.records} if session is not None else set()
    return tuple(call for call in calls if call not in taken) * 4 + calls


def draw_name(rng: random.Random, model: Model, refs: list[str], session: str) -> tuple[str, str]:
    """A session and a name in it: most often of an entry that is there, or was."""
    gone = [entry for known in model.sessions for entry in known.tombstones]
    entries: list[Entry] = model.entries if rng.random() < 0.75 else gone
    if entries and rng.random() < 0.8:
        entry = rng.choice(entries)
        return entry.session, entry.ref if entry.ref and rng.random() < 0.5 else entry.name
    if refs and rng.random() < 0.5:
        return session, rng.choice(refs)
    return session, rng.choice((*CALLS, *(f"{request}/p1" for request in REQUESTS), *GARBAGE))


def draw_follow_up(rng: random.Random, session: str, refs: list[str]) -> Operation:
    max_bytes = rng.choice((None, None, 0, 4))
    named = rng.choice((None, None, rng.choice(CALLS), rng.choice(refs) if refs else GARBAGE[0]))
    return "follow", session, rng.choice(SAYINGS) if named is None else f"show {named}", named, max_bytes


def draw_change(rng: random.Random) -> dict[str, Any]:
    """One setting, or two at once."""
    names = rng.sample(tuple(CHANGES), rng.choice((1, 1, 1, 2)))
    return {name: rng.choice(CHANGES[name]) for name in names}


def draw_proposal(rng: random.Random, model: Model) -> Operation:
    change = draw_change(rng) if rng.random() < 0.85 else rng.choice(_BAD_CHANGES)
    taken = rng.randrange(len(model.proposals) + 1) if rng.random() < 0.1 else len(model.proposals)
    return "propose", f"q{taken}", tuple(change.items()), rng.choice(("seen in the field",) * 9 + ("",))


def draw_decision(rng: random.Random, model: Model) -> Operation:
    """Most often the next step of the newest proposal, by somebody who may."""
    if not model.proposals or rng.random() < 0.25:
        acts = ("approve", "acknowledge", "apply", "refuse")
        return rng.choice(acts), f"q{rng.randrange(max(1, len(model.proposals) + 1))}", rng.choice(PEOPLE)
    proposal = model.proposals[-1]
    act = {"proposed": "approve", "approved": "acknowledge"}.get(proposal.stage, "apply")
    return act, proposal.id, rng.choice([name for name in MAINTAINERS if name != proposal.approver])


def post(runtime: Runtime, operation: Operation) -> Any:
    """Begin an operation. What is recorded is spoilt at once: what was stored must be what it was before."""
    kind, *values = operation
    if kind == "record":
        session, call_id, depth, keep, failed, name = values
        value = VALUES[name][0]()
        outcome = Outcome.error("Failed", name) if failed else Outcome.ok(value)
        future = runtime.record_call(session, Call(call_id, depth=depth, keep=keep), outcome)
        spoil(value)
        return future
    if kind == "register":
        request, session, parents = values
        handoff = tuple(Parent(name, place, source_of(f"{request}/{name}")) for place, name in enumerate(parents))
        return runtime.register(Handoff(request, session, "openai", "select-element", handoff))
    if kind == "propose":
        return runtime.propose(values[0], "scout", dict(values[1]), values[2], "as before")
    if kind == "follow":
        return runtime.follow_up(values[0], values[1], values[3])
    names = {
        "fetch": "content",
        "ack": "acknowledge",
        "read": "history",
        "clear": "clear_session",
        "acknowledge": "acknowledge_proposal",
    }
    return getattr(runtime, str(names.get(kind, kind)))(*values)


def source_of(name: str) -> str:
    return f"{name} source"


def spoil(value: Any) -> None:
    """Change a value wherever that can be done."""
    if isinstance(value, list):
        value.append("spoilt")
    elif isinstance(value, dict):
        for inner in value.values():
            spoil(inner)
        value["spoilt"] = True


def replies_of(group: list[Operation], futures: list[Any], timeout: float | None = None) -> list[Any]:
    """The replies as the model gives them."""
    return [_reply(operation, future, timeout) for operation, future in zip(group, futures, strict=True)]


def _reply(operation: Operation, future: Any, timeout: float | None) -> Any:
    kind = operation[0]
    try:
        answer = future.get(timeout)
    except ContentRefNotFound as missing:
        return "miss", missing.reason
    except DragomanError as error:
        raise Divergence(f"{operation} ended with {error!r}") from error
    if kind == "fetch":
        return "value", _taken(answer)
    if kind in ("record", "refer"):
        if answer.reason is not None:
            return (str(answer.reason),)
        kind_and_size = str(answer.content_kind), answer.content_bytes, str(answer.content_mode)
        return "stored", answer.content_ref, *kind_and_size
    if kind == "follow":
        return _followed(answer)
    if kind == "ack":
        return str(answer.status), list(answer.committed)
    if kind == "read":
        return [(f"{turn.request_id}/{turn.parent_id}", turn.user, turn.assistant, turn.content_ref) for turn in answer]
    return str(answer.status)


def _taken(value: Any) -> str:
    """What came back as JSON; then it is spoilt, which must not be seen by anybody else."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    spoil(value)
    return text


def _followed(answer: Any) -> tuple[str, ...]:
    if answer.miss is not None:
        return "miss" if answer.miss == "content_ref_not_found" else str(answer.miss), str(answer.reason)
    if answer.decision == "FULL_FETCH":
        return "FULL_FETCH", answer.call, _taken(answer.value)
    if answer.content is not None:
        raise Divergence("a summary came with the value")
    return str(answer.decision), answer.call


def refs_in(operation: Operation, reply: Any) -> list[str | None]:
    """The refs that a reply shows."""
    if operation[0] == "read":
        return [ref for _name, _source, _text, ref in reply]
    return [reply[1]] if operation[0] in ("record", "refer") and reply[0] == "stored" else []


def apply_to_model(model: Model, operation: Operation, reply: Any) -> Any:
    """What the model replies, once it was told the refs in the reply that was seen."""
    kind, *values = operation
    refs = refs_in(operation, reply)
    ref = refs[0] if refs else None
    if kind == "record":
        session, call_id, depth, keep, failed, name = values
        body = body_of({"type": "Failed", "message": name}) if failed else VALUES[name][1]
        return model.record(session, call_id, depth, keep, failed, body, ref)
    if kind == "refer":
        return model.refer(values[0], values[2], ref)
    if kind == "read":
        return model.read(values[0], refs)
    if kind == "propose":
        return model.propose(values[0], dict(values[1]), values[2])
    if kind in ("approve", "acknowledge", "apply", "refuse"):
        return model.decide(kind, *values)
    calls: dict[str, Callable[..., Any]] = {
        "fetch": model.fetch,
        "follow": model.follow,
        "register": model.register,
        "ack": model.ack,
        "cancel": model.cancel,
        "clear": model.clear,
    }
    return calls[kind](*values)
