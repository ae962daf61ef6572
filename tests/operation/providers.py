"""Providers for operations: what they answer depends on the text alone, when they answer on whatever a test wants."""

from __future__ import annotations

import asyncio
import json
import random
import re
from collections.abc import Callable, Collection

from dragoman import Completion, ProviderCall, ProviderError


def answer_of(text: str) -> str:
    """The translation of a text: its letters the other way up, so that it is never the source itself."""
    return re.sub(r"<[^>]*>|[^<]+", lambda part: part[0] if part[0].startswith("<") else part[0].swapcase(), text)


class Prompt:
    """What a call was asked, without what differs from run to run."""

    def __init__(self, call: ProviderCall) -> None:
        self.asked = tuple((unit.id, unit.texts) for unit in call.units)
        self.context = tuple((turn.user, turn.assistant) for turn in call.history)
        self.body = call.body
        self.attempt = call.attempt

    def key(self) -> tuple[object, ...]:
        return self.asked, self.context, self.body, self.attempt


class Swapping:
    """Answers every unit, after as many turns of the event loop as `delay` says; `errors` come instead, if any."""

    def __init__(
        self,
        delay: Callable[[], int] = lambda: 0,
        error: Callable[[ProviderCall], str | None] = lambda _call: None,
    ) -> None:
        self.prompts: list[Prompt] = []
        self.open = self.most_open = 0
        self._delay = delay
        self._error = error

    @property
    def asked(self) -> list[str]:
        """The parents that were asked for, in the order of the calls."""
        return [unit for prompt in self.prompts for unit, _texts in prompt.asked]

    async def complete(self, call: ProviderCall) -> Completion:
        self.prompts.append(Prompt(call))
        self.open += 1
        self.most_open = max(self.most_open, self.open)
        try:
            for _turn in range(self._delay()):
                await asyncio.sleep(0)
        finally:
            self.open -= 1
        error = self._error(call)
        if error is not None:
            raise ProviderError(error)
        items = [{"id": unit.id, "text": answer_of(unit.text)} for unit in call.units]
        return Completion(json.dumps({"translations": items}), input_tokens=2, output_tokens=3)


class Gated:
    """Answers a call when its parent is let go; `arrived` tells of each call."""

    def __init__(self) -> None:
        self.waiting: dict[str, asyncio.Event] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._arrived = asyncio.Event()
        self._home = asyncio.get_running_loop()

    async def complete(self, call: ProviderCall) -> Completion:
        self._loop = asyncio.get_running_loop()
        event = asyncio.Event()
        self.waiting[call.units[0].id] = event
        self._home.call_soon_threadsafe(self._arrived.set)
        await event.wait()
        items = [{"id": unit.id, "text": answer_of(unit.text)} for unit in call.units]
        return Completion(json.dumps({"translations": items}))

    async def until(self, parents: Collection[str]) -> None:
        """Wait until exactly these, or more, have been asked for."""
        while not set(parents) <= set(self.waiting):
            self._arrived.clear()
            await self._arrived.wait()

    def let_go(self, parent: str) -> None:
        assert self._loop is not None
        self._loop.call_soon_threadsafe(self.waiting[parent].set)


def shuffled(seed: int, most: int = 40) -> Callable[[], int]:
    """Delays of a seeded run."""
    chance = random.Random(seed)
    return lambda: chance.randrange(most)
