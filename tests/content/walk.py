"""Random walks through the operations of content continuity, over a runtime and the model at once.

A walk is a list of groups of operations with pauses between. Each group is posted at once; the replies and the state
afterwards must be those of the model for the whole operations, one after another, in some order; in the listed order
where the schedule is plain FIFO. In the end every name that was ever seen is looked up in every session.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any

from dragoman import Runtime, Settings, SimulatedDispatcher
from dragoman.reports import Snapshot

from ..acceptance.walk import Divergence
from .model import MAINTAINERS, Model
from .operations import (
    CALLS,
    GARBAGE,
    REQUESTS,
    SESSIONS,
    Operation,
    apply_to_model,
    draw_change,
    draw_operation,
    post,
    refs_in,
    replies_of,
)

__all__ = ["SESSION_TTL", "Divergence", "Limits", "Step", "Walk", "agreement", "follow", "threaded_walk", "walk"]

SESSION_TTL = 2_500_000
FOR_EVER = 10**12
_MAX_REFS = 40
_MAX_MODELS = 12
Step = tuple[int, list[Operation]]
"""A pause in microseconds, and the operations that are posted at once after it."""


@dataclass(frozen=True)
class Limits:
    max_entries: int = 3
    max_bytes: int = 64
    total_bytes: int = 100
    ttl: float | None = None
    capture_nested: bool = False
    capture_errors: bool = False
    enabled: bool = True
    max_sessions: int = 3
    max_turns: int = 3
    max_call_records: int = 50
    session_ttl: int = SESSION_TTL

    def settings(self) -> Settings:
        return Settings(
            **self._policy(),
            content_enabled=self.enabled,
            session_ttl=self.session_ttl / 1e6,
            max_sessions=self.max_sessions,
            max_turns=self.max_turns,
            max_call_records=self.max_call_records,
            maintainers=MAINTAINERS,
            commit_order="request",
            ledger_entries=0,
        )

    def model(self) -> Model:
        return Model(
            policy=self._policy(),
            session_ttl=self.session_ttl,
            max_sessions=self.max_sessions,
            max_turns=self.max_turns,
            max_call_records=self.max_call_records,
            enabled=self.enabled,
        )

    def _policy(self) -> dict[str, Any]:
        return {
            "store_max_entries": self.max_entries,
            "store_max_bytes": self.max_bytes,
            "store_ttl": self.ttl,
            "store_total_bytes": self.total_bytes,
            "capture_nested": self.capture_nested,
            "capture_errors": self.capture_errors,
        }


def draw_limits(rng: random.Random) -> Limits:
    return Limits(
        max_entries=rng.choice((1, 2, 3, 5)),
        max_bytes=rng.choice((24, 64, 200)),
        total_bytes=rng.choice((50, 100, 10**6)),
        ttl=rng.choice((None, None, 0.7, 1.1)),
        capture_nested=rng.random() < 0.3,
        capture_errors=rng.random() < 0.5,
        enabled=rng.random() < 0.95,
        max_sessions=rng.choice((1, 2, 3, 3)),
        max_turns=rng.choice((0, 1, 3)),
        max_call_records=rng.choice((0, 2, 4, 50)),
    )


def draw_pause(rng: random.Random, model: Model) -> int:
    """Most often none or short, or to the last tick before the next thing ends, or to the first one after it."""
    ends = [at for at, _stamp, _what in model.ends()]
    if not ends or rng.random() < 0.85:
        return rng.choice((0, 0, 0, 1, 1000, 20_000))
    return max(0, rng.choice(ends[:2]) - model.now - rng.choice((0, 1)))


def state_of(runtime: Runtime, snapshot: Snapshot) -> dict[str, Any]:
    """The whole state as it shows at the face, in the words of the model. Looking is no use of anything."""
    store, counters = snapshot.store, snapshot.store.counters
    sessions = [session.session_id for session in snapshot.sessions]
    counted = {name: getattr(counters, name) for name in ("writes", "skips", "hits", "misses", "evictions", "expired")}
    retention = store.retention
    follow_ups = runtime.continuity_report().get(10).follow_ups
    decided = {
        "FULL_FETCH": follow_ups.full_fetches,
        "SUMMARY_ONLY": follow_ups.summaries,
        "no_follow_up_intent": follow_ups.no_intent,
        "no_prior_content": follow_ups.no_prior_content,
        "miss": follow_ups.missed,
    }
    return {
        "sessions": sessions,
        "store": {name: (held.entries, held.bytes) for name, held in store.sessions.items() if held.entries},
        "bytes": store.bytes,
        "counters": {name: count for name, count in counted.items() if count},
        "skips": dict(counters.skips_by_reason),
        "misses": dict(counters.misses_by_reason),
        "calls": {session: [_told(record) for record in runtime.calls(session).get(10)] for session in sessions},
        "open": sorted(snapshot.open_requests),
        "proposals": {name: str(state) for name, state in runtime.proposals().get(10).items()},
        "policy": {
            "store_max_entries": retention.max_entries,
            "store_max_bytes": retention.max_bytes,
            "store_ttl": None if retention.ttl_us is None else retention.ttl_us / 1e6,
            "store_total_bytes": retention.total_bytes,
            "capture_nested": retention.capture_nested,
            "capture_errors": retention.capture_errors,
        },
        "follow-ups": {name: count for name, count in decided.items() if count},
    }


def _told(record: Any) -> tuple[Any, ...]:
    kind = None if record.content_kind is None else str(record.content_kind)
    reason = None if record.reason is None else str(record.reason)
    return record.id, record.depth, str(record.status), kind, record.content_bytes, record.content_ref, reason


def check_bounds(snapshot: Snapshot) -> None:
    """What holds at every moment, whatever the model says."""
    store, retention = snapshot.store, snapshot.store.retention
    alive = {session.session_id for session in snapshot.sessions}
    sizes = store.sessions.values()
    wrong = [
        held
        for held in sizes
        if held.entries > retention.max_entries or held.bytes > retention.max_bytes or held.bytes < held.entries
    ]
    if wrong or store.bytes > retention.total_bytes or store.bytes != sum(held.bytes for held in sizes):
        raise Divergence(f"out of bounds: {store}")
    if not alive.issuperset(store.sessions):
        raise Divergence(f"content of sessions that have ended: {set(store.sessions) - alive}")


def explanations(
    models: list[Model], group: list[Operation], replies: list[Any], state: dict[str, Any], *, any_order: bool
) -> list[Model]:
    """Every model after the group that explains what the runtime did."""
    found: list[Model] = []

    def go_on(model: Model, left: tuple[int, ...]) -> None:
        if not left:
            if model.seen() == state and model not in found:
                found.append(model)
            return
        for index in left if any_order else left[:1]:
            following = model.copy() if any_order and len(left) > 1 else model
            if apply_to_model(following, group[index], replies[index]) == replies[index]:
                go_on(following, tuple(other for other in left if other != index))

    for model in models:
        go_on(model.copy(), tuple(range(len(group))))
    return found


@dataclass
class Walk:
    """A runtime, the models that explain what it has done so far, and every ref that it has shown."""

    runtime: Runtime
    models: list[Model]
    any_order: bool = False
    refs: list[str] = field(default_factory=list)

    @property
    def model(self) -> Model:
        return self.models[0]

    def step(self, group: list[Operation]) -> list[Any]:
        """Post the group at once, and compare."""
        futures = [post(self.runtime, operation) for operation in group]
        if isinstance(self.runtime.dispatcher, SimulatedDispatcher):
            self.runtime.dispatcher.run()
        return self.compare(group, replies_of(group, futures, 10), any_order=self.any_order)

    def one_by_one(self, operations: list[Operation]) -> None:
        """Each operation when the one before has been answered."""
        replies = [replies_of([operation], [post(self.runtime, operation)], 10)[0] for operation in operations]
        self.compare(operations, replies, any_order=False)

    def compare(self, group: list[Operation], replies: list[Any], *, any_order: bool) -> list[Any]:
        snapshot = self.runtime.snapshot(10)
        check_bounds(snapshot)
        before, state = self.model, state_of(self.runtime, snapshot)
        self.models = explanations(self.models, group, replies, state, any_order=any_order)
        if not self.models:
            raise Divergence(_account(before, group, replies, state))
        for operation, reply in zip(group, replies, strict=True):
            self.refs += [ref for ref in refs_in(operation, reply) if ref and ref not in self.refs]
        del self.refs[:-_MAX_REFS]
        return replies

    def pause(self, delta: int) -> None:
        assert isinstance(self.runtime.dispatcher, SimulatedDispatcher)
        self.runtime.dispatcher.advance(delta)
        for model in self.models:
            model.advance(delta)

    def agree(self) -> None:
        """Use each entry in turn where too many models are left: they differ in the order of use, and then no more."""
        if len(self.models) > _MAX_MODELS:
            self.one_by_one([("fetch", entry.session, entry.ref or entry.name) for entry in self.model.entries])

    def look(self, names: list[str]) -> None:
        """What each name is in each session, asked in a way that is no use of what is there."""
        self.one_by_one([("follow", session, f"show {name}", name, 0) for session in SESSIONS for name in names])

    def look_everything_up(self) -> None:
        """Fetch every name there ever was in each session: what neither went nor was refused must be there."""
        self.agree()
        hits, live = self.runtime.snapshot(10).store.counters.hits, {entry.ref for entry in self.model.entries}
        names = {name for session in self.model.sessions for name in session.names()}
        asked = sorted({*self.refs, *names, *GARBAGE[:3], CALLS[0], f"{REQUESTS[0]}/p1"})
        self.one_by_one([("fetch", session, name) for session in SESSIONS for name in asked])
        if self.runtime.snapshot(10).store.counters.hits - hits < len(live.intersection(self.refs)):
            raise Divergence("a ref of what is there did not hit")


def _account(before: Model, group: list[Operation], replies: list[Any], state: dict[str, Any]) -> str:
    listed = before.copy()
    expected = [apply_to_model(listed, operation, reply) for operation, reply in zip(group, replies, strict=True)]
    seen = listed.seen()
    differs = {name: (state[name], seen[name]) for name in seen if state[name] != seen[name]}
    return f"no order of {group} gives {replies}; as listed {expected}; seen and expected: {differs}; before: {before}"


def walk(seed: int, groups: int = 40, *, shuffled: bool = False) -> None:
    """One walk in virtual time; with `shuffled`, under a random schedule. Raises `Divergence`."""
    rng = random.Random(seed)
    follow(lambda walking: draw_steps(rng, walking, groups), draw_limits(rng), seed, shuffled=shuffled)


def draw_steps(rng: random.Random, walking: Walk, groups: int) -> Iterator[Step]:
    sessions = rng.choice((SESSIONS, SESSIONS[:2], SESSIONS[:1]))
    for _ in range(groups):
        group = [draw_operation(rng, walking.model, walking.refs, sessions) for _ in range(rng.choice((1, 1, 2, 3, 4)))]
        if rng.random() < 0.08:
            proposal = f"q{len(walking.model.proposals)}"
            for operation in agreement(proposal, draw_change(rng)):
                yield 0, [operation]
            group = [*group[:3], ("apply", proposal, "ines")]
        yield draw_pause(rng, walking.model), group
        if walking.refs and rng.random() < 0.1:
            walking.look([*rng.sample(walking.refs, min(3, len(walking.refs))), rng.choice(CALLS)])


def agreement(proposal: str, change: dict[str, Any]) -> list[Operation]:
    """What it takes until a change may be applied."""
    return [
        ("propose", proposal, tuple(change.items()), "seen in the field"),
        ("approve", proposal, MAINTAINERS[0]),
        ("acknowledge", proposal, MAINTAINERS[1]),
    ]


def follow(steps: Callable[[Walk], Iterator[Step]], limits: Limits, seed: int, *, shuffled: bool) -> None:
    """Go through `steps` in virtual time; then look every name up, and let everything end."""
    schedule = random.Random(seed + 1)
    dispatcher = SimulatedDispatcher(seed, schedule.randrange if shuffled else lambda _options: 0)
    with Runtime(limits.settings(), dispatcher=dispatcher) as runtime:
        walking = Walk(runtime, [limits.model()], shuffled)
        for pause, group in steps(walking):
            walking.pause(pause)
            walking.step(group)
            walking.agree()
        walking.look_everything_up()
        walking.pause(limits.session_ttl + 1)
        walking.step([])
        snapshot = runtime.snapshot()
        if snapshot.sessions or snapshot.store.bytes or snapshot.store.sessions or snapshot.live_timers:
            raise Divergence(f"left when everything has ended: {snapshot}")
        if snapshot.counts.failed or snapshot.counts.sent != snapshot.counts.handled + snapshot.counts.dead:
            raise Divergence(f"messages: {snapshot.counts}")


def threaded_walk(seed: int, groups: int = 25) -> None:
    """One walk in real time and without timers, each operation of a group from a thread of its own."""
    rng = random.Random(seed)
    limits = replace(draw_limits(rng), ttl=None, session_ttl=FOR_EVER)
    with Runtime(limits.settings()) as runtime:
        walking = Walk(runtime, [limits.model()], any_order=True)
        for _pause, group in draw_steps(rng, walking, groups):
            timeless = [operation for operation in group if "store_ttl" not in str(operation)]
            walking.compare(timeless, at_once(runtime, timeless), any_order=True)
            walking.agree()
        walking.look_everything_up()
    report = runtime.close()
    if not report.clean or report.counts.failed:
        raise Divergence(f"the runtime did not end clean: {report}")


def at_once(runtime: Runtime, group: list[Operation]) -> list[Any]:
    """The replies to operations that several threads begin at the same moment."""
    start = threading.Barrier(max(1, len(group)))

    def run(operation: Operation) -> Any:
        start.wait(10)
        return replies_of([operation], [post(runtime, operation)], 10)[0]

    with ThreadPoolExecutor(max(1, len(group))) as pool:
        return list(pool.map(run, group))
