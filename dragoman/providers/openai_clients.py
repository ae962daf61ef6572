"""The SDK's clients of one provider: made on the event loop that uses them, and closed on it.

A client belongs to one loop, and a provider may be used by one after another, or by several at once. Each loop gets a
set of its own with its first call: one connection pool, and a client for each key that is used.

They are closed when the loop shuts its asynchronous generators down, as the runtime's loop and `asyncio.run` do at
their end; soon after the provider is forgotten; or by `aclose`.

Not promised: that a loop which is closed without any of these leaves no open connection behind.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import weakref
from collections.abc import AsyncGenerator, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import TYPE_CHECKING

import attrs

from .credentials import Credentials
from .endpoints import Endpoint

if TYPE_CHECKING:
    import openai

__all__ = ["Clients", "unlogged"]

_NO_KEY = "none"
"""Sent to a server that asks for no key; the SDK insists on one."""
_CONNECT_TIMEOUT_S = 10.0

_ours: ContextVar[bool] = ContextVar("dragoman_provider_call", default=False)


@attrs.define
class _Open:
    """The clients of one loop by the numbers of their keys, and what closes them."""

    first: openai.AsyncOpenAI = attrs.field(repr=False)
    keeper: AsyncGenerator[None, None] = attrs.field(repr=False)
    finalizer: weakref.finalize[..., Clients] = attrs.field(repr=False)
    by_key: dict[int, openai.AsyncOpenAI] = attrs.field(factory=dict, repr=False)


class Clients:
    """See the module. Raises nothing for a key that does not exist: the caller looks first."""

    def __init__(self, endpoint: Endpoint, credentials: Credentials, timeout_s: float) -> None:
        logging.getLogger("openai._base_client").addFilter(_is_not_ours)
        self._endpoint = endpoint
        self._credentials = credentials
        self._timeout_s = timeout_s
        self._lock = threading.Lock()
        self._open: dict[asyncio.AbstractEventLoop, _Open] = {}

    async def of(self, number: int) -> openai.AsyncOpenAI:
        """The client of key `number` on the running loop."""
        loop = asyncio.get_running_loop()
        with self._lock:
            opened = self._open.get(loop)
        if opened is None or opened.first.is_closed():
            first = self._made()
            keeper = _kept(first)
            # The finalizer also holds them: what is garbage along with its provider is past being closed in order.
            opened = _Open(first, keeper, weakref.finalize(self, _close_later, loop, keeper))
            opened.finalizer.atexit = False
            with self._lock:
                self._drop_closed()
                self._open[loop] = opened
            # From its first step on the loop knows the generator.
            await anext(opened.keeper)
        client = opened.by_key.get(number)
        if client is None:
            client = opened.first.with_options(api_key=self._key(number))
            opened.by_key[number] = client
        return client

    async def aclose(self) -> None:
        """Close the clients of the running loop. Calls that are under way fail."""
        with self._lock:
            opened = self._open.pop(asyncio.get_running_loop(), None)
        if opened is not None:
            opened.finalizer.detach()
            await opened.keeper.aclose()

    def _drop_closed(self) -> None:
        for loop in [loop for loop, opened in self._open.items() if loop.is_closed() or opened.first.is_closed()]:
            self._open.pop(loop).finalizer.detach()

    def _made(self) -> openai.AsyncOpenAI:
        import openai

        authorization = self._endpoint.authorization
        return openai.AsyncOpenAI(
            api_key=self._key(1),
            base_url=self._endpoint.url,
            timeout=openai.Timeout(self._timeout_s, connect=min(self._timeout_s, _CONNECT_TIMEOUT_S)),
            max_retries=0,
            default_headers=None if authorization is None else {"Authorization": authorization},
        )

    def _key(self, number: int) -> str:
        return self._credentials.reveal(number) if len(self._credentials) else _NO_KEY


async def _kept(client: openai.AsyncOpenAI) -> AsyncGenerator[None, None]:
    """Holds a client open until the generator is closed, by whoever closes it."""
    try:
        yield
    finally:
        await client.close()


def _close_later(loop: asyncio.AbstractEventLoop, keeper: AsyncGenerator[None, None]) -> None:
    """Runs in whichever thread the provider is forgotten."""
    with suppress(RuntimeError):  # the loop has ended
        loop.call_soon_threadsafe(lambda: loop.create_task(_closed(keeper)))


async def _closed(keeper: AsyncGenerator[None, None]) -> None:
    await keeper.aclose()


@contextmanager
def unlogged() -> Iterator[None]:
    """Keep the SDK from logging what is sent inside: at level DEBUG, older versions log whole prompts (C14)."""
    token = _ours.set(True)
    try:
        yield
    finally:
        _ours.reset(token)


def _is_not_ours(_record: logging.LogRecord) -> bool:
    return not _ours.get()
