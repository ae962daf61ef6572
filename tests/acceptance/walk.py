"""Random walks through the operations of acceptance, over a runtime and the model at once.

A walk is a list of groups of operations, drawn from a seed, with pauses between. Each group is posted at once; the
replies and the state afterwards must be those of the model for some order of the group, and for the listed order
where the schedule is plain FIFO.
"""

from __future__ import annotations

import itertools
import random
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import attrs

from dragoman import Handoff, Parent, Runtime, Settings, SimulatedDispatcher
from dragoman.protocol.errors import DragomanError

from .model import Model

WINDOW = 1_000_000
TTL = 2_500_000
REQUESTS = tuple(f"r{number}" for number in range(7))
SESSIONS = ("s1", "s2", "s3")
PARENTS = ("p1", "p2", "p3")

Operation = tuple[Any, ...]
Step = tuple[int, list[Operation]]
"""A pause in microseconds, and the operations that are posted at once after it."""


class Divergence(AssertionError):
    """The runtime did something that the model does in no allowed order."""


@dataclass(frozen=True)
class Limits:
    commit_order: str = "session"
    max_sessions: int = 2
    max_turns: int = 4
    max_open_handles: int = 4
    ledger_entries: int = 3

    def settings(self) -> Settings:
        return Settings(
            ack_window=WINDOW / 1e6,
            session_ttl=TTL / 1e6,
            commit_order=self.commit_order,  # type: ignore[arg-type]
            max_sessions=self.max_sessions,
            max_turns=self.max_turns,
            max_open_handles=self.max_open_handles,
            ledger_entries=self.ledger_entries,
        )

    def model(self) -> Model:
        return Model(
            window=WINDOW,
            ttl=TTL,
            max_sessions=self.max_sessions,
            max_turns=self.max_turns,
            max_open_handles=self.max_open_handles,
            ledger_entries=self.ledger_entries,
            in_session_order=self.commit_order == "session",
        )


def draw_limits(rng: random.Random) -> Limits:
    return Limits(
        commit_order=rng.choice(("session", "session", "request")),
        max_sessions=rng.choice((1, 2, 3)),
        max_turns=rng.choice((2, 4, 50)),
        max_open_handles=rng.choice((2, 4, 6)),
        ledger_entries=rng.choice((0, 0, 2, 100)),
    )


KINDS = (
    "register",
    "activate",
    "ack",
    "reject",
    "cancel",
    "dispatch_failed",
    "clear",
    "claim",
    "read",
    "fail",
    "switch",
)
EVERYTHING = (18, 6, 40, 10, 2, 1, 2, 4, 5, 3, 1)
WINDOWS = (14, 16, 40, 10, 3, 1, 0, 0, 1, 4, 0)


@dataclass(frozen=True)
class Company:
    """What a walk is about: few names meet often, many fill the limits."""

    sessions: tuple[str, ...]
    weights: tuple[int, ...]
    parents: tuple[str, ...] = PARENTS


def draw_company(rng: random.Random) -> Company:
    if rng.random() < 0.5:
        return Company(SESSIONS, EVERYTHING)
    return Company(SESSIONS[:1], WINDOWS, PARENTS[: rng.choice((1, 2, 3))])


def draw_operation(rng: random.Random, company: Company, model: Now) -> Operation:
    """An operation that is likely to do something in the state of `model`."""
    kind = rng.choices(KINDS, company.weights)[0]
    session, parent = rng.choice(company.sessions), rng.choice(company.parents)
    taken = [request.id for request in model.open]
    likely = [request for request in REQUESTS if request not in taken] if kind == "register" else taken
    request = rng.choice(likely if likely and rng.random() < 0.85 else REQUESTS)
    if kind == "register":
        parents = company.parents[: rng.choice((1, 2, 3, 3))]
        return "register", request, session, tuple((name, f"{request} {name} source") for name in parents)
    if kind == "ack":
        return (
            "ack",
            request,
            rng.choice((*company.parents, *company.parents, "p9")),
            rng.choice(("one", "two", "three", " ")),
        )
    if kind == "reject":
        return "reject", request, parent
    if kind in ("activate", "cancel", "dispatch_failed"):
        return kind, request
    if kind == "read":
        return "read", session, rng.choice((0, 1, 10))
    if kind == "fail":
        return "fail", session, rng.choice((1, 2))
    if kind == "switch":
        return "switch", rng.random() < 0.8
    return kind, session


def draw_pause(rng: random.Random) -> int:
    return rng.choice((0, 0, 0, 1, 1000, WINDOW // 3, WINDOW // 2, WINDOW - 1, WINDOW, WINDOW + 1, TTL, TTL + 1))


def apply_to_model(model: Model, operation: Operation) -> Any:
    kind, *values = operation
    calls: dict[str, Callable[..., Any]] = {
        "register": lambda request, session, parents: model.register(request, session, list(parents)),
        "activate": model.activate,
        "ack": model.ack,
        "reject": model.reject,
        "cancel": lambda request: model.close(request, "CANCELLED"),
        "dispatch_failed": lambda request: model.close(request, "DISPATCH_FAILED"),
        "clear": model.clear,
        "claim": model.claim,
        "read": model.read,
        "fail": model.fail_commits,
        "switch": model.configure,
    }
    return calls[kind](*values)


def post(runtime: Runtime, operation: Operation) -> Any:
    kind, *values = operation
    if kind == "register":
        request, session, parents = values
        handoff = tuple(Parent(name, order, source) for order, (name, source) in enumerate(parents))
        return runtime.register(Handoff(request, session, "openai", "select-element", handoff))
    if kind == "read":
        return runtime.history(values[0], max_turns=values[1])
    if kind == "switch":
        return runtime.configure(history_enabled=values[0])
    names = {"ack": "acknowledge", "clear": "clear_session", "claim": "claim_turn", "fail": "fail_commits"}
    return getattr(runtime, names.get(kind, kind))(*values)


def reply_of(operation: Operation, future: Any, timeout: float | None = None) -> Any:
    """The reply as the model gives it."""
    try:
        answer = future.get(timeout)
    except DragomanError as error:
        raise Divergence(f"{operation} ended with {error!r}") from error
    kind = operation[0]
    if kind in ("ack", "reject"):
        return str(answer.status), list(answer.committed)
    if kind == "read":
        return [(turn.user, turn.assistant) for turn in answer]
    if kind == "claim":
        return answer if isinstance(answer, int) else str(answer)
    return None if answer is None else str(answer.status)


def state_of(runtime: Runtime) -> dict[str, Any]:
    snapshot = runtime.snapshot(10)
    return {
        "sessions": [
            (
                session.session_id,
                [(turn.request_id, turn.parent_id, turn.user, turn.assistant) for turn in session.turns],
                session.turn_counter,
            )
            for session in snapshot.sessions
        ],
        "open": snapshot.open_handles,
    }


def statuses_of(runtime: Runtime) -> dict[str, Any]:
    found = {}
    for request in REQUESTS:
        status = runtime.request_status(request).get(10)
        states = {name: str(state) for name, state in status.parents.items()}
        found[request] = (status.open, None if status.cause is None else str(status.cause), states)
    return found


def orders_of(group: list[Operation], *, any_order: bool) -> Iterator[tuple[int, ...]]:
    if any_order:
        yield from itertools.permutations(range(len(group)))
    else:
        yield tuple(range(len(group)))


def matching_models(
    models: list[Model],
    group: list[Operation],
    replies: list[Any],
    state: dict[str, Any],
    statuses: dict[str, Any],
    *,
    any_order: bool,
) -> list[Model]:
    """Every model after the group that explains what the runtime did; raises `Divergence` if there is none.

    There may be several: in which order two requests were registered shows only later.
    """
    found: list[Model] = []
    for model, order in itertools.product(models, orders_of(group, any_order=any_order)):
        candidate = model.copy()
        expected: list[Any] = [None] * len(group)
        for index in order:
            expected[index] = apply_to_model(candidate, group[index])
        if (
            expected == replies
            and candidate.seen() == state
            and {request: candidate.status(request) for request in REQUESTS} == statuses
            and candidate not in found
        ):
            found.append(candidate)
    if not found:
        raise Divergence(f"no order of {group} gives {replies} and {state}, {statuses}; before it: {models[0]}")
    return found


class Now:
    """The first of the models that explain what has been seen so far."""

    def __init__(self, models: list[Model]) -> None:
        self.models = models

    @property
    def open(self) -> list[Any]:
        return self.models[0].open


def settled(runtime: Runtime) -> tuple[dict[str, Any], dict[str, Any]]:
    """State and statuses once nothing is on its way: a status waits for its handle, and for what that released."""
    statuses_of(runtime)
    statuses = statuses_of(runtime)
    return state_of(runtime), statuses


def walk(seed: int, groups: int = 40, *, shuffled: bool = False) -> None:
    """One walk in virtual time; with `shuffled`, under a random schedule. Raises `Divergence`."""
    rng = random.Random(seed)
    limits, company = draw_limits(rng), draw_company(rng)

    def draw(model: Now) -> Iterator[Step]:
        for _ in range(groups):
            yield draw_pause(rng), [draw_operation(rng, company, model) for _ in range(rng.choice((1, 1, 2, 3)))]

    follow(draw, limits, seed, shuffled=shuffled)


def follow(steps: Callable[[Now], Iterator[Step]], limits: Limits, seed: int, *, shuffled: bool) -> None:
    """Go through `steps` (a pause and a group each, given a model of the moment) in virtual time."""
    schedule = random.Random(seed + 1)
    choose: Callable[[int], int] = (lambda options: schedule.randrange(options)) if shuffled else (lambda _options: 0)
    dispatcher = SimulatedDispatcher(seed, choose)
    models = [limits.model()]
    now = Now(models)
    with Runtime(limits.settings(), dispatcher=dispatcher) as runtime:
        for pause, group in steps(now):
            dispatcher.advance(pause)
            for model in models:
                model.advance(pause)
            futures = [post(runtime, operation) for operation in group]
            dispatcher.run()
            replies = [reply_of(operation, future) for operation, future in zip(group, futures, strict=True)]
            models = now.models = matching_models(
                models, group, replies, state_of(runtime), statuses_of(runtime), any_order=shuffled
            )
        counts = runtime.snapshot().counts
        if counts.failed or counts.sent != counts.handled + counts.dead:
            raise Divergence(f"messages: {counts}")


FOR_EVER = 10**12


def timeless(limits: Limits) -> tuple[Settings, Model]:
    """Settings and model without timers that would fire."""
    model = limits.model()
    model.window = model.ttl = FOR_EVER
    return attrs.evolve(limits.settings(), ack_window=FOR_EVER / 1e6, session_ttl=FOR_EVER / 1e6), model


def threaded_walk(seed: int, groups: int = 30) -> None:
    """One walk in real time and without timers, each operation of a group from a thread of its own."""
    rng = random.Random(seed)
    limits, company = draw_limits(rng), draw_company(rng)
    settings, model = timeless(limits)
    models = [model]
    with Runtime(settings) as runtime:
        for _ in range(groups):
            group = [draw_operation(rng, company, Now(models)) for _ in range(rng.choice((1, 2, 3, 4)))]
            replies = at_once(runtime, group)
            models = matching_models(models, group, replies, *settled(runtime), any_order=True)
    report = runtime.close()
    if not report.clean or report.counts.failed:
        raise Divergence(f"the runtime did not end clean: {report}")


def at_once(runtime: Runtime, group: list[Operation]) -> list[Any]:
    """The replies to operations that several threads begin at the same moment."""
    start = threading.Barrier(len(group))

    def run(operation: Operation) -> Any:
        start.wait(10)
        return reply_of(operation, post(runtime, operation), 10)

    with ThreadPoolExecutor(len(group)) as pool:
        return list(pool.map(run, group))


def pipelined_walk(seed: int, groups: int = 30) -> None:
    """One walk in real time, in one session, from one thread that does not wait: its own order must hold."""
    rng = random.Random(seed)
    limits, company = replace(draw_limits(rng), max_sessions=1), Company(SESSIONS[:1], WINDOWS)
    settings, model = timeless(limits)
    models = [model]
    with Runtime(settings) as runtime:
        for _ in range(groups):
            group = [draw_operation(rng, company, Now(models)) for _ in range(rng.choice((1, 5, 20)))]
            futures = [post(runtime, operation) for operation in group]
            replies = [reply_of(operation, future, 10) for operation, future in zip(group, futures, strict=True)]
            models = matching_models(models, group, replies, *settled(runtime), any_order=False)
