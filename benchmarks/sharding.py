"""What a remote call costs when it is shared, and what more shards bring: `RayRuntime` on this machine.

The other side is the plain way to put a `Runtime` behind Ray: an actor that embeds one, and a remote call for each
call. Sessions are counted twice: where the caller has to send each ACK, and where a shard translates, so that it has
more to do than its caller. How far that grows is a matter of cores; the titles say how many there are.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import time
from functools import partial
from typing import Any

import attrs

from dragoman import Completion, Handoff, Parent, ProviderCall, Runtime, Settings, TranslationRequest
from dragoman.sharding import RayRuntime

from .clock import clock
from .committed import Answers, WrongAnswers
from .contestants import check_opened, in_flight, seconds
from .figures import Comparison, Figure, compare
from .on_ray import connected, why_no_ray
from .sizes import Size
from .workload import Workload, make_workload

__all__ = ["sharding"]

_SHARDS = (1, 2, 4)
_PARENTS = 50
_IN_FLIGHT = 500
_ACTOR_OPTIONS = {"num_cpus": 0.1}
"""So that all shards find a place on a machine of few cores, as they would not if each asked for one."""


def sharding(size: Size, runs: int) -> list[Figure]:
    """Seconds for an ACK, by remote calls of its own over batched; sessions a second over 1, 2 and 4 shards."""
    titles = (
        "an ACK by a remote call of its own, waiting / batched",
        f"an ACK by a remote call of its own, {_IN_FLIGHT} in flight / batched",
        "an ACK batched, through Ray / in one process",
    )
    cores = os.cpu_count()
    missing = why_no_ray()
    if missing is not None:
        return [Figure(title=title, skipped=missing) for title in titles]
    connected()
    few = make_workload(size.heavy_requests, size.sessions, size.parents)
    many = make_workload(size.requests, size.sessions, size.parents)
    note = f"one shard, {cores} cores; at least 50 is asked for of the first two"

    def cost(contestant: Any, workload: Workload) -> partial[float]:
        return partial(seconds, contestant, workload, Settings())

    figures = compare(
        [
            Comparison(
                title=titles[0],
                over=cost(partial(_one_call_each, count=1), few),
                under=cost(_batched, many),
                names=("of its own", "batched"),
                note=note,
            ),
            Comparison(
                title=titles[1],
                over=cost(partial(_one_call_each, count=_IN_FLIGHT), few),
                under=cost(_batched, many),
                names=("of its own", "batched"),
                note=note,
            ),
            Comparison(
                title=titles[2],
                over=cost(_batched, many),
                under=cost(_in_one_process, many),
                names=("through Ray", "in one process"),
                note=note,
            ),
        ],
        runs,
    )
    for what, work, sessions in (
        ("acknowledged by its caller", _acknowledged, size.requests),
        ("translated in its shard", _translated, size.executions),
    ):
        taken: dict[int, list[_Rates]] = {shards: [] for shards in _SHARDS}
        for run in range(runs):
            for shards in _SHARDS if run % 2 else reversed(_SHARDS):
                taken[shards].append(_rates(work, shards, sessions))
        for name, how in (
            ("passed", f"on {cores} cores"),
            ("of_shards", "by the processor time of the busiest shard"),
            ("of_caller", "by that of the caller"),
        ):
            figures += [
                Figure(
                    title=f"sessions a second, {what}, {shards} shard{'s' * (shards > 1)}: {how}",
                    values=tuple(getattr(rates, name) for rates in taken[shards]),
                    unit="/s",
                    note=f"sessions of one request of {_PARENTS} parents; what the processor time gives is what there "
                    "would be if each shard, or the caller, had a core to itself and nothing else were in the way",
                )
                for shards in _SHARDS
            ]
    return figures


@attrs.frozen
class _Rates:
    """Sessions a second: as time passed, and as the processor time of the busiest shard and of the caller has it."""

    passed: float
    of_shards: float
    of_caller: float


class _Alone:
    """A runtime behind Ray, as one would write it: a remote call for each call, which answers when it is done."""

    def __init__(self, settings: Settings) -> None:
        self._runtime = Runtime(settings)

    def do(self, method: str, *arguments: Any, **more: Any) -> Any:
        return getattr(self._runtime, method)(*arguments, **more).get()


def _one_call_each(workload: Workload, settings: Settings, *, count: int) -> tuple[float, Answers]:
    ray = importlib.import_module("ray")
    alone = ray.remote(_Alone).options(**_ACTOR_OPTIONS).remote(settings)

    def call(calls: list[tuple[Any, ...]]) -> list[Any]:
        answers: list[Any] = []
        for first in range(0, len(calls), count):
            answers += ray.get([alone.do.remote(*given) for given in calls[first : first + count]])
        return answers

    try:
        registered = call([("register", handoff) for handoff in workload.handoffs])
        activated = call([("activate", handoff.request_id) for handoff in workload.handoffs])
        check_opened(registered, activated)
        began = clock.now()
        replies = call(
            [("reject", *given[:2]) if given[2] is None else ("acknowledge", *given) for given in workload.operations]
        )
        took_s = clock.now() - began
        reads = [alone.do.remote("history", name, max_turns=settings.max_turns) for name in workload.sessions]
        return took_s, Answers(replies, dict(zip(workload.sessions, ray.get(reads), strict=True)))
    finally:
        ray.kill(alone)


def _batched(workload: Workload, settings: Settings) -> tuple[float, Answers]:
    with RayRuntime(settings, shards=1, actor_options=_ACTOR_OPTIONS) as runtime:
        return _many_in_flight(runtime, workload)


def _in_one_process(workload: Workload, settings: Settings) -> tuple[float, Answers]:
    with Runtime(settings) as runtime:
        return _many_in_flight(runtime, workload)


def _many_in_flight(runtime: Runtime, workload: Workload) -> tuple[float, Answers]:
    """One caller with between 500 and 1000 calls in flight."""
    registered = in_flight(map(runtime.register, workload.handoffs))
    activated = in_flight(runtime.activate(handoff.request_id) for handoff in workload.handoffs)
    check_opened(registered, activated)
    acknowledge, reject = runtime.acknowledge, runtime.reject
    began = clock.now()
    replies = in_flight(
        reject(request_id, parent_id) if result is None else acknowledge(request_id, parent_id, result)
        for request_id, parent_id, result in workload.operations
    )
    took_s = clock.now() - began
    turns = runtime.settings.max_turns
    return took_s, Answers(replies, {name: runtime.history(name, max_turns=turns).get() for name in workload.sessions})


def _rates(work: Any, shards: int, sessions: int) -> _Rates:
    settings = Settings(max_sessions=sessions, max_turns=_PARENTS)
    with RayRuntime(settings, shards=shards, actor_options=_ACTOR_OPTIONS) as runtime:
        runtime.snapshot()
        gc.collect()
        before = _processor_times(runtime)
        began = time.perf_counter()
        work(runtime, sessions)
        took_s = time.perf_counter() - began
        after = _processor_times(runtime)
        for number in range(sessions):
            turns = runtime.history(f"s{number}", max_turns=_PARENTS).get()
            if [turn.assistant for turn in turns] != [f"TEXT {place} OF {number}" for place in range(_PARENTS)]:
                raise WrongAnswers(f"the history of s{number} is wrong")
    caller_s, *shard_s = (now - then for then, now in zip(before, after, strict=True))
    return _Rates(sessions / took_s, sessions / max(shard_s), sessions / caller_s)


def _processor_times(runtime: RayRuntime) -> list[float]:
    """Of the caller, and of each shard."""
    ray = importlib.import_module("ray")
    actors = [link._remote._actor for link in runtime._router.links]
    of_shards = ray.get([actor.__ray_call__.remote(_processor_time) for actor in actors])
    return [time.process_time(), *of_shards]


def _processor_time(_shard: object) -> float:
    return time.process_time()


def _sources(number: int) -> list[tuple[str, str]]:
    return [(f"p{place}", f"text {place} of {number}") for place in range(_PARENTS)]


def _acknowledged(runtime: Runtime, sessions: int) -> None:
    """The caller registers a request in each session and acknowledges its parents."""

    def calls() -> Any:
        for number in range(sessions):
            parents = tuple(Parent(name, place, text) for place, (name, text) in enumerate(_sources(number)))
            yield runtime.register(Handoff(f"r{number}", f"s{number}", "openai", "select-element", parents))
            for parent in parents:
                yield runtime.acknowledge(f"r{number}", parent.id, parent.source.upper())

    in_flight(calls())


def _translated(runtime: Runtime, sessions: int) -> None:
    """A request in each session is translated by its shard; then the caller acknowledges its parents."""
    provider = _AtOnce()
    translations = [
        runtime.translate(
            TranslationRequest(f"r{number}", f"s{number}", dict(_sources(number)), "de"), provider=provider
        )
        for number in range(sessions)
    ]

    def acks() -> Any:
        for number, translation in enumerate(translations):
            outcome = translation.get()
            for name in outcome.translated:
                yield runtime.acknowledge(f"r{number}", name, outcome.text(name))

    in_flight(acks())


class _AtOnce:
    """Answers each unit with its text in capitals, at once."""

    async def complete(self, call: ProviderCall) -> Completion:
        return Completion(
            json.dumps({"translations": [{"id": unit.id, "text": unit.text.upper()} for unit in call.units]})
        )
