"""What the runtime adds to a provider's own time: requests of many parents, all at once, at random latency.

`python benchmarks/execution.py [--requests N] [--parents N] [--sessions N] [--latency SECONDS]`

Each request is one call to a provider that answers after a random wait. Reported are parents per second, the share of
the time that was not spent waiting for the provider, and the same work done by a plain asyncio program that asks the
same provider, parses the same JSON and appends to a list: what is measured in one run is compared in that run. Every
history is checked to be exact.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import time

from dragoman import Completion, ProviderCall, Runtime, Settings, TextDocument, TranslationRequest


class RandomLatency:
    """Answers each unit with its text in capitals, after a seeded random wait."""

    def __init__(self, seed: int, latency_s: float) -> None:
        self._random = random.Random(seed)
        self._latency_s = latency_s
        self.waited_s = 0.0

    async def complete(self, call: ProviderCall) -> Completion:
        return Completion(await self.answer([(unit.id, unit.text) for unit in call.units]))

    async def answer(self, units: list[tuple[str, str]]) -> str:
        wait_s = self._random.uniform(0, 2 * self._latency_s)
        self.waited_s += wait_s
        await asyncio.sleep(wait_s)
        return json.dumps({"translations": [{"id": unit, "text": text.upper()} for unit, text in units]})


def sources(request: int, parents: int) -> dict[str, str]:
    return {f"p{parent}": f"request {request}, parent {parent}" for parent in range(parents)}


async def with_dragoman(arguments: argparse.Namespace) -> float:
    settings = Settings(
        max_sessions=arguments.sessions,
        max_turns=arguments.requests * arguments.parents,
        batch_units=arguments.parents,
        max_open_executions=arguments.requests,
    )
    provider = RandomLatency(arguments.seed, arguments.latency)
    async with Runtime(settings) as runtime:
        began = time.perf_counter()
        translations = []
        for request in range(arguments.requests):
            texts = sources(request, arguments.parents)
            wanted = TranslationRequest(f"r{request}", f"s{request % arguments.sessions}", texts, "de")
            translations.append(runtime.translate(wanted, provider=provider, feature=TextDocument(texts)))
        outcomes = await asyncio.gather(*translations)
        took_s = time.perf_counter() - began
        assert all(len(outcome.translated) == arguments.parents for outcome in outcomes)
        for session in range(arguments.sessions):
            turns = await runtime.history(f"s{session}", max_turns=settings.max_turns)
            expected = [
                (text, text.upper())
                for request in range(session, arguments.requests, arguments.sessions)
                for text in sources(request, arguments.parents).values()
            ]
            assert [(turn.user, turn.assistant) for turn in turns] == expected
    return took_s


async def without(arguments: argparse.Namespace) -> float:
    """The same calls with nothing kept honest: no order, no validation, no acceptance."""
    provider = RandomLatency(arguments.seed, arguments.latency)
    histories: dict[str, list[tuple[str, str]]] = {}

    async def one(request: int) -> None:
        texts = sources(request, arguments.parents)
        body = json.loads(await provider.answer(list(texts.items())))
        history = histories.setdefault(f"s{request % arguments.sessions}", [])
        history.extend((texts[item["id"]], item["text"]) for item in body["translations"])

    began = time.perf_counter()
    await asyncio.gather(*(one(request) for request in range(arguments.requests)))
    return time.perf_counter() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--requests", type=int, default=1000)
    parser.add_argument("--parents", type=int, default=20)
    parser.add_argument("--sessions", type=int, default=50)
    parser.add_argument("--latency", type=float, default=0.5, help="mean seconds of a call")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    for _round in range(arguments.rounds):
        plain_s = asyncio.run(without(arguments))
        took_s = asyncio.run(with_dragoman(arguments))
        parents = arguments.requests * arguments.parents
        print(
            f"{parents} parents in {took_s:.2f} s: {parents / took_s:.0f} a second; "
            f"plain asyncio {plain_s:.2f} s; outside of the provider {max(0.0, took_s - plain_s) / took_s:.0%}"
        )


if __name__ == "__main__":
    main()
