"""Random walks through the operations of execution, over a runtime and the model at once.

As the walks of acceptance: groups of operations are posted at once, and what comes of them must be what the model does
with the whole steps, one after another, in some order; in the listed order where the schedule is plain FIFO.
"""

from __future__ import annotations

import itertools
import pickle
import random
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from dragoman import ProviderPolicy, Runtime, Settings, SimulatedDispatcher

from ..acceptance.walk import Divergence
from .model import BACK_OFF, COOLDOWN, ExecutionModel
from .operations import REQUESTS, SESSIONS, Operation, Step, apply_to_model, draw_operation, post, replies_of, reply_of
from .records import Provider
from .stage import Stage

__all__ = ["POLICIES", "Divergence", "Limits", "follow", "state_of", "walk"]

FOR_EVER = 10**12


@dataclass(frozen=True)
class Limits:
    batch_chars: int = 12
    batch_units: int = 2
    concurrent: int = 2
    prompt_turns: int = 2
    circuit_failures: int = 0
    commit_order: str = "session"
    max_sessions: int = 50
    max_open_handles: int = 100
    max_open_executions: int = 100

    def settings(self) -> Settings:
        return Settings(
            ack_window=FOR_EVER / 1e6,
            execution_timeout=FOR_EVER / 1e6,
            session_ttl=FOR_EVER / 1e6,
            commit_order=self.commit_order,  # type: ignore[arg-type]
            batch_chars=self.batch_chars,
            batch_units=self.batch_units,
            max_concurrent_calls=self.concurrent,
            prompt_turns=self.prompt_turns,
            circuit_failures=self.circuit_failures,
            circuit_cooldown=COOLDOWN / 1e6,
            max_sessions=self.max_sessions,
            max_open_handles=self.max_open_handles,
            max_open_executions=self.max_open_executions,
        )

    def model(self) -> ExecutionModel:
        return ExecutionModel(
            window=FOR_EVER,
            ttl=FOR_EVER,
            max_sessions=self.max_sessions,
            max_turns=10,
            max_open_handles=self.max_open_handles,
            max_open_executions=self.max_open_executions,
            ledger_entries=10_000,
            in_session_order=self.commit_order == "session",
            batch_chars=self.batch_chars,
            batch_units=self.batch_units,
            concurrent=self.concurrent,
            prompt_turns=self.prompt_turns,
            circuit_failures=self.circuit_failures,
            providers={name: Provider(**vars_of(policy)) for name, policy in POLICIES.items()},
        )


def vars_of(policy: ProviderPolicy) -> dict[str, Any]:
    return {name: getattr(policy, name) for name in ("kind", "recovery", "keys", "max_chars")}


def _policies() -> dict[str, ProviderPolicy]:
    """Each session and each request without one has providers of its own: sessions promise each other no order."""
    policies = {}
    for owner in (*SESSIONS, *REQUESTS):
        policies[f"keys of {owner}"] = ProviderPolicy(keys=3)
        policies[f"full of {owner}"] = ProviderPolicy(recovery="full")
        policies[f"short of {owner}"] = ProviderPolicy(max_chars=8)
        policies[f"machine of {owner}"] = ProviderPolicy(kind="machine")
    return policies


POLICIES = _policies()


def draw_limits(rng: random.Random, *, tight: bool) -> Limits:
    """With `tight`, room is scarce: which of two sessions finds the last place is promised in a replay only."""
    return Limits(
        batch_units=rng.choice((1, 2, 5)),
        concurrent=rng.choice((1, 2, 4)),
        prompt_turns=rng.choice((0, 1, 3)),
        circuit_failures=rng.choice((0, 0, 2)),
        commit_order=rng.choice(("session", "session", "request")),
        max_sessions=rng.choice((50, 2, 1)) if tight else 50,
        max_open_handles=rng.choice((100, 100, 2)) if tight else 100,
        max_open_executions=rng.choice((100, 100, 2)) if tight else 100,
    )


def state_of(stage: Stage) -> dict[str, Any]:
    """The whole state as it shows at the face, in the words of the model."""
    runtime = stage.runtime
    snapshot = runtime.snapshot(10)
    requests = dict.fromkeys(call.request_id for call in stage.provider.calls)
    sessions = [
        (
            session.session_id,
            [(turn.request_id, turn.parent_id, turn.user, turn.assistant) for turn in session.turns],
            session.turn_counter,
        )
        for session in snapshot.sessions
    ]
    return {
        "sessions": sessions,
        "open": snapshot.open_handles,
        "running": sorted(snapshot.running),
        "open calls": sorted(snapshot.open_calls),
        "calls": {request: [_seen(call) for call in stage.provider.of(request)] for request in requests},
        "outcomes": {request: _outcome(runtime, request) for request in REQUESTS},
        "documents": {request: stage.document(request) for request in REQUESTS},
        "stats": {
            name: (dict(counts.by_purpose), counts.errors) for name, counts in runtime.statistics().get(10).items()
        },
        "timers": timers_of(runtime),
        "statuses": {request: _status(runtime, request) for request in REQUESTS},
    }


def timers_of(runtime: Runtime) -> list[str]:
    """The kinds of the live timers; the one for the sessions may outlive the last of them."""
    dispatcher: Any = runtime.dispatcher
    heap = tuple(dispatcher._timers._heap)
    live = [key for _due, _stamp, _generation, mailbox, key in heap if mailbox]
    return sorted(str(key).split()[0] for key in live if key != "expiry")


def _seen(call: Any) -> tuple[Any, ...]:
    history = [(turn.user, turn.assistant) for turn in call.history]
    return call.purpose, call.key, [unit.id for unit in call.units], history


def _outcome(runtime: Runtime, request: str) -> tuple[Any, ...] | None:
    found = runtime.request_outcome(request).get(10)
    if found is None:
        return None
    parents = [list(names) for names in (found.translated, found.unresolved, found.cancelled)]
    error = found.error
    return (str(found.execution), str(found.quality), error, found.retries, found.failover, *parents, found.calls)


def _status(runtime: Runtime, request: str) -> tuple[Any, ...]:
    status = runtime.request_status(request).get(10)
    states = {name: str(state) for name, state in status.parents.items()}
    return status.open, None if status.cause is None else str(status.cause), states


def expected_state(model: ExecutionModel) -> dict[str, Any]:
    seen = model.seen()
    retries = seen.pop("retries due")
    seen["calls"] = {request: calls for request, calls in seen["calls"].items() if calls}
    for name, empty in (("outcomes", None), ("documents", {})):
        seen[name] = {request: seen[name].get(request, empty) for request in REQUESTS}
    timers = ["retry"] * retries + ["timeout"] * len(seen["running"])
    timers += ["wait"] * sum(bool(request.wait) for request in model.open)
    seen["timers"] = timers + ["window"] * sum(bool(request.window) for request in model.open)
    seen["statuses"] = {request: model.status(request) for request in REQUESTS}
    return seen


def copied(model: ExecutionModel) -> ExecutionModel:
    copy: ExecutionModel = pickle.loads(pickle.dumps(model, protocol=pickle.HIGHEST_PROTOCOL))
    return copy


def explanations(
    models: list[ExecutionModel], group: Step, replies: list[Any], state: dict[str, Any], *, any_order: bool
) -> list[ExecutionModel]:
    """Every model after the group that explains what the runtime did."""
    found: list[ExecutionModel] = []

    def go_on(model: ExecutionModel, left: tuple[int, ...]) -> None:
        if not left:
            if expected_state(model) == state and model not in found:
                found.append(model)
            return
        for index in left if any_order else left[:1]:
            following = copied(model) if any_order and len(left) > 1 else model
            if apply_to_model(following, group[index]) == replies[index]:
                go_on(following, tuple(other for other in left if other != index))

    for model in models:
        if group == [("back off",)]:
            for order in itertools.permutations(model.waiting()):
                following = copied(model)
                following.back_off(order)
                if expected_state(following) == state and following not in found:
                    found.append(following)
        else:
            go_on(copied(model), tuple(range(len(group))))
    return found


def walk(seed: int, groups: int = 30, *, shuffled: bool = False) -> None:
    """One walk in virtual time; with `shuffled`, under a random schedule. Raises `Divergence`."""
    rng = random.Random(seed)
    follow(
        lambda models: draw_steps(rng, models, groups), draw_limits(rng, tight=not shuffled), seed, shuffled=shuffled
    )


def draw_steps(rng: random.Random, models: list[ExecutionModel], groups: int) -> Iterator[Step]:
    for _ in range(groups):
        waiting = models[0].waiting()
        if len(waiting) > 4 or (waiting and rng.random() < 0.15):
            yield [("back off",)]
        else:
            yield [draw_operation(rng, models[0]) for _ in range(rng.choice((1, 1, 2, 3)))]


def follow(
    steps: Callable[[list[ExecutionModel]], Iterable[Step]],
    limits: Limits,
    seed: int,
    *,
    shuffled: bool,
    watch: Callable[[Stage, Step], object] = lambda _stage, _group: None,
) -> None:
    """Go through `steps`, given the models that explain what has been seen so far, in virtual time.

    `watch` is called before each group, and once more when all are done, with an empty one.
    """
    schedule = random.Random(seed + 1)
    dispatcher = SimulatedDispatcher(seed, schedule.randrange if shuffled else lambda _options: 0)
    models = [limits.model()]
    with Runtime(limits.settings(), providers=POLICIES, dispatcher=dispatcher) as runtime:
        stage = Stage(runtime)
        for group in steps(models):
            watch(stage, group)
            replies: list[Any] = []
            if group == [("back off",)]:
                dispatcher.advance(BACK_OFF)
            else:
                futures = [post(stage, operation) for operation in group]
                dispatcher.run()
                replies = replies_of(group, futures)
            models[:] = explained(models, group, replies, state_of(stage), any_order=shuffled)
        watch(stage, [])
        counts = runtime.snapshot().counts
        if counts.failed or counts.sent != counts.handled + counts.dead:
            raise Divergence(f"messages: {counts}")


def threaded_walk(seed: int, groups: int = 20) -> None:
    """One walk in real time, each operation of a group from a thread of its own, and no retry ever due."""
    rng = random.Random(seed)
    limits = draw_limits(rng, tight=False)
    models = [limits.model()]
    with Runtime(limits.settings(), providers=POLICIES) as runtime:
        stage = Stage(runtime)
        for _ in range(groups):
            group = [draw_operation(rng, models[0]) for _ in range(rng.choice((1, 2, 3, 4)))]
            # The stage hears of a start a moment after whoever waits for it, and refuses an edit until then.
            group = [operation for operation in group if operation[0] not in ("edit", "fail_dispatch")]
            replies = _at_once(stage, group)
            for attempt in range(50):
                # Statistics and claims are told and not asked for: they may still be on their way.
                found = explanations(models, group, replies, state_of(stage), any_order=True)
                if found or attempt == 49:
                    break
            if not found:
                raise Divergence(described(models[0], group, replies, state_of(stage), any_order=True))
            models = found
    report = runtime.close()
    if not report.clean or report.counts.failed:
        raise Divergence(f"the runtime did not end clean: {report}")


def _at_once(stage: Stage, group: Step) -> list[Any]:
    """The replies to operations that several threads begin at the same moment."""
    if not group:
        return []
    start = threading.Barrier(len(group))

    def run(operation: Operation) -> Any:
        start.wait(10)
        return reply_of(operation, post(stage, operation))

    with ThreadPoolExecutor(len(group)) as pool:
        return list(pool.map(run, group))


def explained(
    models: list[ExecutionModel], group: Step, replies: list[Any], state: dict[str, Any], *, any_order: bool
) -> list[ExecutionModel]:
    """The models after the group that explain what the runtime did; raises `Divergence` if there is none."""
    found = explanations(models, group, replies, state, any_order=any_order)
    if not found:
        raise Divergence(described(models[0], group, replies, state, any_order=any_order))
    return found


def described(model: ExecutionModel, group: Step, replies: list[Any], state: dict[str, Any], *, any_order: bool) -> str:
    """What the closest order would have given, beside what was seen."""
    closest: list[str] | None = None
    back_off = group == [("back off",)]
    waiting = model.waiting()
    orders = itertools.permutations(range(len(waiting if back_off else group)))
    for order in orders if any_order or back_off else itertools.islice(orders, 1):
        expected, following = list(replies), copied(model)
        if back_off:
            following.back_off([waiting[index] for index in order])
        else:
            for index in order:
                expected[index] = apply_to_model(following, group[index])
        wanted = {**expected_state(following), "replies": expected}
        seen = {**state, "replies": replies}
        lines = [f"{name}: {seen[name]}, expected {wanted[name]}" for name in seen if seen[name] != wanted[name]]
        if closest is None or len(lines) < len(closest):
            closest = lines
    return "\n".join([f"{'no order' if any_order else 'the listed order'} of {group} explains this:", *(closest or [])])
