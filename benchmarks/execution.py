"""What an execution costs beside its provider: requests of many parents, all at once, at random latency.

Each request is one call to a provider that answers after a random wait. The other side is a plain asyncio program that
asks the same provider, parses the same JSON and appends to a list, with nothing kept honest. Every history is checked
to be exact.
"""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections.abc import Callable
from functools import partial

from dragoman import Completion, ProviderCall, Runtime, Settings, TextDocument, TranslationRequest

from .committed import WrongAnswers
from .figures import Comparison, Figure, compare
from .sizes import Size

__all__ = ["execution", "run_executions"]

_PARENTS = 20
_SEED = 1


def execution(size: Size, runs: int) -> list[Figure]:
    """Seconds for a parent of a translation over those of the plain program; parents a second; the runtime's share."""
    parents = size.executions * _PARENTS
    sessions = min(50, size.executions)
    (ratio,) = compare(
        [
            Comparison(
                title=f"translating {parents} parents / by plain asyncio",
                over=partial(run_executions, size.executions, sessions, size.latency_s, runtime=True),
                under=partial(run_executions, size.executions, sessions, size.latency_s, runtime=False),
                names=("translating", "plain asyncio"),
                note=f"a provider that takes {size.latency_s} s in the mean; plain asyncio keeps nothing honest",
            )
        ],
        runs,
    )
    took_us, plain_us = ratio.sides.values()
    return [
        ratio,
        Figure(title="parents translated a second", values=tuple(1e6 / taken for taken in took_us), unit="/s"),
        Figure(
            title="time that the provider does not take",
            values=tuple(
                max(0.0, taken - waited) / taken * 100 for taken, waited in zip(took_us, plain_us, strict=True)
            ),
            unit="%",
        ),
    ]


class _RandomLatency:
    """Answers each unit with its text in capitals, after a seeded random wait."""

    def __init__(self, latency_s: float) -> None:
        self._random = random.Random(_SEED)
        self._latency_s = latency_s

    async def complete(self, call: ProviderCall) -> Completion:
        return Completion(await self.answer([(unit.id, unit.text) for unit in call.units]))

    async def answer(self, units: list[tuple[str, str]]) -> str:
        await asyncio.sleep(self._random.uniform(0, 2 * self._latency_s))
        return json.dumps({"translations": [{"id": unit, "text": text.upper()} for unit, text in units]})


def run_executions(
    requests: int,
    sessions: int,
    latency_s: float,
    *,
    runtime: bool,
    started: Callable[[Runtime], object] | None = None,
) -> float:
    """The seconds of one parent, by a runtime, which is shown to `started`, or by the plain program."""
    does = _translate(requests, sessions, latency_s, started) if runtime else _plain(requests, sessions, latency_s)
    return asyncio.run(does) / (requests * _PARENTS)


def _sources(request: int) -> dict[str, str]:
    return {f"p{parent}": f"request {request}, parent {parent}" for parent in range(_PARENTS)}


def _expected(session: int, requests: int, sessions: int) -> list[tuple[str, str]]:
    return [
        (text, text.upper()) for request in range(session, requests, sessions) for text in _sources(request).values()
    ]


async def _translate(
    requests: int, sessions: int, latency_s: float, started: Callable[[Runtime], object] | None
) -> float:
    settings = Settings(
        max_sessions=sessions,
        max_turns=requests * _PARENTS,
        batch_units=_PARENTS,
        max_open_executions=requests,
    )
    provider = _RandomLatency(latency_s)
    async with Runtime(settings) as runtime:
        if started is not None:
            started(runtime)
        began = time.perf_counter()
        translations = []
        for request in range(requests):
            texts = _sources(request)
            wanted = TranslationRequest(f"r{request}", f"s{request % sessions}", texts, "de")
            translations.append(runtime.translate(wanted, provider=provider, feature=TextDocument(texts)))
        outcomes = await asyncio.gather(*translations)
        took_s = time.perf_counter() - began
        if not all(len(outcome.translated) == _PARENTS for outcome in outcomes):
            raise WrongAnswers("a parent was not translated")
        for session in range(sessions):
            turns = await runtime.history(f"s{session}", max_turns=settings.max_turns)
            if [(turn.user, turn.assistant) for turn in turns] != _expected(session, requests, sessions):
                raise WrongAnswers(f"the history of session s{session} is not exact")
    return took_s


async def _plain(requests: int, sessions: int, latency_s: float) -> float:
    """The same calls: no order, no validation, no acceptance."""
    provider = _RandomLatency(latency_s)
    histories: dict[int, list[tuple[str, str]]] = {}

    async def one(request: int) -> None:
        texts = _sources(request)
        body = json.loads(await provider.answer(list(texts.items())))
        history = histories.setdefault(request % sessions, [])
        history.extend((texts[item["id"]], item["text"]) for item in body["translations"])

    began = time.perf_counter()
    await asyncio.gather(*(one(request) for request in range(requests)))
    took_s = time.perf_counter() - began
    if sum(map(len, histories.values())) != requests * _PARENTS:
        raise WrongAnswers("the plain program lost a parent")
    return took_s
