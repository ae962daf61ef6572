"""The operations of the walks through execution: how they are drawn, posted to a runtime, and told to the model."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

from dragoman import Handoff, Parent, Runtime
from dragoman.protocol.calls import Completion
from dragoman.protocol.errors import DragomanError
from dragoman.protocol.statuses import Termination
from dragoman.protocol.translations import DirectRequest, TranslationRequest

from ..acceptance.walk import Divergence
from .model import ExecutionModel
from .records import Execution, Text, Unit
from .stage import Stage

__all__ = [
    "REQUESTS",
    "SESSIONS",
    "Operation",
    "Step",
    "apply_to_model",
    "draw_operation",
    "good",
    "post",
    "replies_of",
    "translated",
]

REQUESTS = tuple(f"r{number}" for number in range(6))
SESSIONS = ("s1", "s2")
SOURCES: tuple[Text, ...] = ("ab", "cd ef", "gh ij kl mn op", ("qr ", "st"), "ab cd ef gh", "uv")
ERRORS = ("NETWORK_ERROR", "SERVER_ERROR", "API_KEY_INVALID", "RATE_LIMIT_REACHED", "POLICY", "ODD_ERROR", "VALIDATION")
KINDS = ("texts",) * 12 + ("missing", "blank", "flat", "unknown", "extra", "garbage", "doubled", "no ids", "policy")

Operation = tuple[Any, ...]
Step = list[Operation]
"""Operations that are posted at once; `("back off",)` stands alone and lets every retry begin."""


def translated(text: Text) -> Text:
    """Each word backwards: a translation that does not mind where a text is split."""
    if isinstance(text, tuple):
        return tuple(str(translated(one)) for one in text)
    return " ".join(word[::-1] for word in text.split(" "))


VERBS = ("answer", "translate", "direct", "register", "cancel", "time_out", "clear", "ack", "reject", "activate")
RARE = ("dispatch_failed", "edit", "fail_dispatch", "fail_commits", "configure", "read")
WEIGHTS = (60, 12, 5, 2, 3, 2, 1, 6, 2, 1) + (1,) * len(RARE)


def draw_operation(rng: random.Random, model: ExecutionModel) -> Operation:
    """An operation that is likely to do something in the state of `model`."""
    kind = rng.choices(VERBS + RARE, WEIGHTS)[0]
    calls = [(one, number) for one in model.executions.values() for number in one.open]
    if kind == "answer" and not calls:
        kind = "translate"
    if kind == "answer":
        return draw_answer(rng, *rng.choice(calls))
    session = rng.choice(SESSIONS)
    known = [*(request.id for request in model.open), *model.executions]
    if kind in ("translate", "direct", "register"):
        fresh = [request for request in REQUESTS if request not in known]
        request = rng.choice(fresh if fresh and rng.random() < 0.9 else REQUESTS)
        return draw_start(rng, kind, request, session)
    request = rng.choice(known if known and rng.random() < 0.9 else REQUESTS)
    parent = rng.choice(("p1", "p2", "p3"))
    values: dict[str, Operation] = {
        "clear": (session,),
        "ack": (request, parent, rng.choice(("accepted", "other", " "))),
        "reject": (request, parent),
        "edit": (request, parent, "edited"),
        "fail_commits": (session, 1),
        "configure": (rng.random() < 0.7,),
        "read": (session, 3),
    }
    return kind, *values.get(kind, (request,))


def draw_start(rng: random.Random, kind: str, request: str, session: str) -> Operation:
    machine = rng.random() < 0.1
    apart = machine or rng.random() < 0.05
    sort = "machine" if machine else rng.choice(("keys", "keys", "keys", "full", "short"))
    provider = f"{sort} of {request if apart else session}"
    if apart and not machine:
        session = ""
    if kind == "direct":
        return "direct", request, session, provider, rng.choice(("ab", "cd ef", "ab cd ef gh ij kl mn op"))
    names = ("p1", "p2", "p3")[: rng.choice((1, 2, 3, 3))]
    if kind == "register":
        return "register", request, session or "s1", tuple((name, f"{request} {name}") for name in names)
    parents = tuple((name, rng.choice(SOURCES)) for name in names)
    by_hand = rng.random() < 0.25
    refused = (rng.choice(names),) if not by_hand and rng.random() < 0.2 else ()
    return "translate", request, session, provider, parents, by_hand, refused


def draw_answer(rng: random.Random, execution: Execution, number: int) -> Operation:
    batch = execution.open[number]
    call = f"{execution.id}/{number}"
    if rng.random() < 0.08:
        # To a call that may not have been made yet, or one that is over; it knows every unit of the request.
        everything = [unit for one in execution.batches for unit in one.units]
        other = rng.choice((execution.made, execution.made + 1, execution.made + 1, 1))
        return "answer", f"{execution.id}/{other}", "texts", good(everything)
    if rng.random() < 0.2:
        return "answer", call, "error", rng.choice(ERRORS)
    kind = rng.choice(KINDS)
    texts = dict(good(batch.asked))
    one = rng.choice(batch.asked).id
    if kind in ("missing", "unknown"):
        del texts[one]
    if kind in ("unknown", "extra"):
        texts["zz"] = "extra"
    if kind == "blank":
        texts[one] = tuple(" " for _ in texts[one]) if isinstance(texts[one], tuple) else " "
    if kind == "flat":
        texts[one] = "".join(texts[one])
    if kind == "garbage":
        return "answer", call, kind, "ordinary prose"
    if kind == "doubled":
        return "answer", call, kind, (one, one)
    if kind == "no ids":
        return "answer", call, kind, tuple("".join(text) for text in texts.values())
    if kind == "policy":
        del texts[one]
        return "answer", call, "policy", tuple(texts.items())
    return "answer", call, "texts", tuple(texts.items())


def good(units: list[Unit]) -> tuple[tuple[str, Text], ...]:
    return tuple((unit.id, translated(unit.pieces if len(unit.pieces) > 1 else unit.pieces[0])) for unit in units)


def apply_to_model(model: ExecutionModel, operation: Operation) -> Any:
    kind, *values = operation
    if kind == "answer":
        call, sort, payload = values
        return model.answer(call, (sort, dict(payload) if sort in ("texts", "policy") else payload))
    if kind == "dispatch_failed":
        return model.close(values[0], "DISPATCH_FAILED")
    return getattr(model, kind)(*values)


def post(stage: Stage, operation: Operation) -> Any:
    runtime = stage.runtime
    kind, *values = operation
    if kind == "answer":
        return _answer(runtime, *values)
    if kind == "translate":
        request, session, provider, parents, by_hand, refused = values
        asked = TranslationRequest(request, session, dict(parents), "de", provider=provider)
        return stage.translate(asked, refuse=refused, by_hand=by_hand)
    if kind == "direct":
        request, session, provider, source = values
        return runtime.direct(
            DirectRequest(request, session, source, "de", provider=provider), provider=stage.provider
        ).started
    if kind == "register":
        request, session, parents = values
        handoff = tuple(Parent(name, order, source) for order, (name, source) in enumerate(parents))
        return runtime.register(Handoff(request, session, "openai", "select-element", handoff))
    if kind == "read":
        return runtime.history(values[0], max_turns=values[1])
    if kind == "configure":
        return runtime.configure(history_enabled=values[0])
    if kind in ("edit", "fail_dispatch", "ack"):
        return getattr(stage, kind)(*values)
    return getattr(runtime, "clear_session" if kind == "clear" else kind)(*values)


def _answer(runtime: Runtime, call: str, kind: str, payload: Any) -> Any:
    if kind == "error":
        return runtime.fail(call, payload)
    if kind in ("texts", "policy"):
        termination = Termination.POLICY if kind == "policy" else Termination.NORMAL
        return runtime.respond(call, translations=dict(payload), termination=termination)
    bodies: dict[str, Callable[[], str]] = {
        "garbage": lambda: payload,
        "doubled": lambda: json.dumps({"translations": [{"id": unit, "text": "twice"} for unit in payload]}),
        "no ids": lambda: json.dumps([{"text": text} for text in payload]),
    }
    return runtime.respond(call, Completion(bodies[kind]()))


def reply_of(operation: Operation, future: Any) -> Any:
    """The reply as the model gives it."""
    kind = operation[0]
    try:
        reply = future.get(10)
    except DragomanError as error:
        if kind == "answer":
            return type(error).__name__
        raise Divergence(f"{operation} ended with {error!r}") from error
    if kind in ("ack", "reject"):
        return str(reply.status), list(reply.committed)
    if kind == "read":
        return [(turn.user, turn.assistant) for turn in reply]
    return reply if reply is None or isinstance(reply, str) else str(reply.status)


def replies_of(group: Step, futures: list[Any]) -> list[Any]:
    return [reply_of(operation, future) for operation, future in zip(group, futures, strict=True)]
