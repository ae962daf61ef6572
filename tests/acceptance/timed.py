"""Walks in which timers race with operations, as they do on real threads and never in a replay.

Everything that is due at an instant is posted beside the operations of a group, in whatever order the schedule takes.
What comes of it must be the effect of the operations and the timers, each as a whole, in some order.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from typing import Any

from dragoman import Runtime, SimulatedDispatcher

from .model import Model
from .walk import (
    REQUESTS,
    WINDOW,
    Divergence,
    Now,
    Operation,
    apply_to_model,
    draw_company,
    draw_limits,
    draw_operation,
    post,
    reply_of,
    state_of,
    statuses_of,
)

Timer = tuple[str, str, tuple[int, int]]

MOST = 6
"""Operations and timers of one group; more have too many orders to try."""


def timers_of(model: Model) -> list[Timer]:
    """What will fall due: kind, id, and (instant, place among equals)."""
    timers: list[Timer] = [("window", request.id, request.window) for request in model.open if request.window]
    timers += [("wait", request.id, request.wait) for request in model.open if request.wait]
    timers += [("expiry", session.id, (session.used + model.ttl + 1, session.stamp)) for session in model.sessions]
    return timers


def fire(model: Model, timer: Timer) -> None:
    """A timer whose message has come: one that was superseded or cancelled meanwhile does nothing."""
    kind, name, _due = timer
    if timer not in timers_of(model):
        return
    if kind == "expiry":
        model._drop(name, "SESSION_EXPIRED")
        return
    request = model._find(name)
    assert request is not None
    if kind == "window":
        model._close(request, "EXPIRED")
    else:
        request.wait = None
        model._pass_over_before(request)


def explanations(model: Model, group: list[Operation], seen: tuple[Any, ...]) -> Iterator[Model]:
    """The models after the group and what was due beside it, in every order that explains what was seen."""
    due = [timer for timer in timers_of(model) if timer[2][0] <= model.now]
    if len(due) + len(group) > MOST:
        raise OverflowError
    things: list[Any] = [*range(len(group)), *due]
    for order in itertools.permutations(things):
        candidate = model.copy()
        replies: list[Any] = [None] * len(group)
        for thing in order:
            if isinstance(thing, int):
                replies[thing] = apply_to_model(candidate, group[thing])
            else:
                fire(candidate, thing)
        statuses = {request: candidate.status(request) for request in REQUESTS}
        if (replies, candidate.seen(), statuses) == seen:
            yield candidate


def timed_walk(seed: int, groups: int = 25) -> None:
    """One walk under a random schedule; it ends early where a group would have too many orders."""
    rng, schedule = random.Random(seed), random.Random(seed + 1)
    limits, company = draw_limits(rng), draw_company(rng)
    dispatcher = SimulatedDispatcher(seed, schedule.randrange)
    now = Now([limits.model()])
    with Runtime(limits.settings(), dispatcher=dispatcher) as runtime:
        for _ in range(groups):
            due = [timer[2][0] for timer in timers_of(now.models[0])]
            pause = rng.choice((0, 1, 1000, WINDOW // 3, WINDOW // 2, WINDOW))
            instant = max(min([dispatcher.now_us() + pause, *due]), dispatcher.now_us())
            instant += rng.choice((0, 0, 1, 1000, WINDOW // 2))
            group = [draw_operation(rng, company, now) for _ in range(rng.choice((0, 1, 1, 2, 2)))]
            futures = post_beside_timers(runtime, dispatcher, instant, group, schedule)
            replies = [reply_of(operation, future) for operation, future in zip(group, futures, strict=True)]
            seen = replies, state_of(runtime), statuses_of(runtime)
            found: list[Model] = []
            try:
                for model in now.models:
                    model.now = instant
                    found += [one for one in explanations(model, group, seen) if one not in found]
            except OverflowError:
                return
            if not found:
                raise Divergence(f"no order of {group} and what was due at {instant} gives {seen}: {now.models[0]}")
            now.models = found


def post_beside_timers(
    runtime: Runtime, dispatcher: SimulatedDispatcher, instant: int, group: list[Operation], schedule: random.Random
) -> list[Any]:
    """Post the group, and let what is due at `instant` come in the middle of it."""
    dispatcher._now_us = instant
    futures = [post(runtime, operation) for operation in group]

    def pump() -> bool:
        due = dispatcher._timers.pop_due(instant)
        if due is not None:
            due[0].tell(due[1])
        return due is not None

    pump()
    while dispatcher._step(None) or pump():
        if schedule.random() < 0.5:
            pump()
    return futures
