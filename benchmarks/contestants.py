"""The ways to do the acceptance workload whose time is compared: `plain`, and the Runtime as its callers use it.

Each takes a workload and gives the seconds that it took and its answers. The clock runs from the first registration to
the last answer; what starts and ends a contestant, and reading the sessions for the check, is outside. A caller keeps
every reply, in all of them.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from typing import Any, TypeVar

import pykka

from dragoman import (
    AckReply,
    ActivateReply,
    ActivateStatus,
    Future,
    Handoff,
    RegisterReply,
    RegisterStatus,
    Runtime,
    Settings,
)

from .clock import clock
from .committed import Answers, Order, WrongAnswers, check
from .plain import Plain
from .workload import Workload

__all__ = [
    "RUNTIME_CONTESTANTS",
    "Contestant",
    "asyncio_tasks",
    "blocking",
    "callers",
    "callers_of_all_sessions",
    "pipelined",
    "plain",
    "seconds",
]

Contestant = Callable[[Workload, Settings], tuple[float, Answers]]
"""Does a workload: the seconds that it took, and its answers."""

T = TypeVar("T")

_MOST_IN_FLIGHT = 1000
_LEAST_IN_FLIGHT = 500
CALLERS = 8
TASKS = 64


def seconds(
    contestant: Contestant, workload: Workload, settings: Settings, *, order: Order = Order.REGISTERED
) -> float:
    """The seconds for one accepted parent; raises `WrongAnswers` if the contestant did not do it right."""
    took_s, answers = contestant(workload, settings)
    check(workload, answers, max_turns=settings.max_turns, order=order)
    return took_s / workload.accepted


def plain(workload: Workload, settings: Settings) -> tuple[float, Answers]:
    """The reference, called directly."""
    memory = Plain(settings)
    began = clock.now()
    registered = [memory.register(handoff) for handoff in workload.handoffs]
    activated = [memory.activate(handoff.request_id) for handoff in workload.handoffs]
    acknowledge, reject = memory.acknowledge, memory.reject
    replies = [
        reject(request_id, parent_id) if result is None else acknowledge(request_id, parent_id, result)
        for request_id, parent_id, result in workload.operations
    ]
    took_s = clock.now() - began
    check_opened(registered, activated)
    turns = settings.max_turns
    return took_s, Answers(replies, {name: memory.history(name, max_turns=turns) for name in workload.sessions})


WhenActive = Callable[[Runtime, Workload], None]
"""What a caller does once every request is active, before the first ACK."""


def blocking(workload: Workload, settings: Settings, *, when_active: WhenActive | None = None) -> tuple[float, Answers]:
    """One caller that waits for each answer."""
    with Runtime(settings) as runtime:
        began = clock.now()
        registered, activated, replies = _one_by_one(runtime, workload, when_active)
        took_s = clock.now() - began
        check_opened(registered, activated)
        return took_s, Answers(replies, _histories(runtime, workload))


def _one_by_one(
    runtime: Runtime, workload: Workload, when_active: WhenActive | None = None
) -> tuple[list[RegisterReply], list[ActivateReply], list[AckReply]]:
    registered = [runtime.register(handoff).get() for handoff in workload.handoffs]
    activated = [runtime.activate(handoff.request_id).get() for handoff in workload.handoffs]
    if when_active is not None:
        when_active(runtime, workload)
    acknowledge, reject = runtime.acknowledge, runtime.reject
    replies = [
        reject(request_id, parent_id).get() if result is None else acknowledge(request_id, parent_id, result).get()
        for request_id, parent_id, result in workload.operations
    ]
    return registered, activated, replies


def pipelined(workload: Workload, settings: Settings) -> tuple[float, Answers]:
    """One caller with between 500 and 1000 calls in flight."""
    with Runtime(settings) as runtime:
        began = clock.now()
        registered = in_flight(map(runtime.register, workload.handoffs))
        activated = in_flight(runtime.activate(handoff.request_id) for handoff in workload.handoffs)
        acknowledge, reject = runtime.acknowledge, runtime.reject
        replies = in_flight(
            reject(request_id, parent_id) if result is None else acknowledge(request_id, parent_id, result)
            for request_id, parent_id, result in workload.operations
        )
        took_s = clock.now() - began
        check_opened(registered, activated)
        return took_s, Answers(replies, _histories(runtime, workload))


def in_flight(futures: Iterable[pykka.Future[T]]) -> list[T]:
    """Send on until 1000 wait, then take answers until 500 do; the answers in the order of sending."""
    replies: list[T] = []
    waiting: deque[pykka.Future[T]] = deque()
    for future in futures:
        waiting.append(future)
        if len(waiting) == _MOST_IN_FLIGHT:
            while len(waiting) > _LEAST_IN_FLIGHT:
                replies.append(waiting.popleft().get())
    replies += [future.get() for future in waiting]
    return replies


def callers(workload: Workload, settings: Settings, *, count: int = CALLERS) -> tuple[float, Answers]:
    """`count` threads, each a blocking caller with the requests of its own sessions."""
    sessions = {session_id: place for place, session_id in enumerate(workload.sessions)}
    return _called(workload, settings, _parts(workload, count, lambda handoff, _place: sessions[handoff.session_id]))


def callers_of_all_sessions(workload: Workload, settings: Settings, *, count: int = CALLERS) -> tuple[float, Answers]:
    """The same, but each with its own requests in sessions that all of them use."""
    block = max(1, len(workload.handoffs) // count)
    return _called(workload, settings, _parts(workload, count, lambda _handoff, place: place // block))


def _called(workload: Workload, settings: Settings, parts: list[Workload]) -> tuple[float, Answers]:
    done: list[tuple[list[RegisterReply], list[ActivateReply], list[AckReply]]] = [([], [], []) for _ in parts]
    faults: list[BaseException] = []
    with Runtime(settings) as runtime:
        start = threading.Barrier(len(parts) + 1)

        def call(place: int) -> None:
            start.wait()
            try:
                done[place] = _one_by_one(runtime, parts[place])
            except BaseException as fault:
                faults.append(fault)

        threads = [threading.Thread(target=call, args=(place,)) for place in range(len(parts))]
        for thread in threads:
            thread.start()
        start.wait()
        began = clock.now()
        for thread in threads:
            thread.join()
        took_s = clock.now() - began
        if faults:
            raise WrongAnswers("a caller failed") from faults[0]
        for registered, activated, _replies in done:
            check_opened(registered, activated)
        replies = _merged(workload, parts, [replies for _registered, _activated, replies in done])
        return took_s, Answers(replies, _histories(runtime, workload))


def _parts(workload: Workload, count: int, owner: Callable[[Handoff, int], int]) -> list[Workload]:
    """The workload in `count` parts or fewer, by the number (modulo `count`) that each request is given."""
    owned: list[set[str]] = [set() for _ in range(count)]
    for place, handoff in enumerate(workload.handoffs):
        owned[owner(handoff, place) % count].add(handoff.request_id)
    return [workload.part(frozenset(requests)) for requests in owned if requests]


def _merged(workload: Workload, parts: list[Workload], replies: list[list[AckReply]]) -> list[AckReply]:
    """The answers to each part, put into the order of the whole."""
    owner = {request_id: place for place, part in enumerate(parts) for request_id in part.results}
    following = [iter(answers) for answers in replies]
    return [next(following[owner[request_id]]) for request_id, _parent_id, _result in workload.operations]


def asyncio_tasks(workload: Workload, settings: Settings, *, count: int = TASKS) -> tuple[float, Answers]:
    """`count` asyncio tasks that take the next call from one stream, and await its answer."""

    async def run(runtime: Runtime) -> tuple[float, list[Any], list[Any], list[Any]]:
        began = clock.now()
        registered = await awaited(runtime.register, [(handoff,) for handoff in workload.handoffs], count)
        activated = await awaited(runtime.activate, [(handoff.request_id,) for handoff in workload.handoffs], count)
        replies = await awaited(partial(_acknowledge, runtime), workload.operations, count)
        return clock.now() - began, registered, activated, replies

    with Runtime(settings) as runtime:
        took_s, registered, activated, replies = asyncio.run(run(runtime))
        check_opened(registered, activated)
        return took_s, Answers(replies, _histories(runtime, workload))


def _acknowledge(runtime: Runtime, request_id: str, parent_id: str, result: str | None) -> Future[AckReply]:
    return (
        runtime.reject(request_id, parent_id) if result is None else runtime.acknowledge(request_id, parent_id, result)
    )


async def awaited(call: Callable[..., Awaitable[Any]], arguments: Iterable[Any], count: int) -> list[Any]:
    """The answers to `call` with each of the arguments, in their order, `count` tasks at a time."""
    stream = enumerate(arguments)
    answers: dict[int, Any] = {}

    async def work() -> None:
        for place, given in stream:
            answers[place] = await call(*given)

    await asyncio.gather(*(work() for _ in range(count)))
    return [answers[place] for place in range(len(answers))]


RUNTIME_CONTESTANTS: dict[str, Contestant] = {
    "blocking": blocking,
    "pipelined": pipelined,
    "callers": callers,
    "asyncio": asyncio_tasks,
}
"""The Runtime, by who calls it."""


def _histories(runtime: Runtime, workload: Workload) -> dict[str, Any]:
    turns = runtime.settings.max_turns
    return {session_id: runtime.history(session_id, max_turns=turns).get() for session_id in workload.sessions}


def check_opened(registered: list[RegisterReply], activated: list[ActivateReply]) -> None:
    if not all(reply.status is RegisterStatus.REGISTERED for reply in registered):
        raise WrongAnswers("a request was not registered")
    if not all(reply.status is ActivateStatus.ACTIVATED for reply in activated):
        raise WrongAnswers("a request was not activated")
