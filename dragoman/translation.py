"""A translation that runs: its start, its progress, and its outcome to wait for (C21)."""

from __future__ import annotations

import asyncio
import weakref
from collections import deque
from collections.abc import AsyncIterator, Callable, Generator
from typing import Any

from .actors.dispatcher import Dispatcher
from .actors.futures import Future, call_on
from .protocol.errors import RuntimeClosed, TranslationRefused
from .protocol.outcomes import ParentEvent, StartReply, TranslationOutcome
from .protocol.statuses import StartStatus

__all__ = ["Translation"]


class Translation(Future[TranslationOutcome]):
    """The future of an outcome: `.get(timeout)` in a thread, `await` under asyncio.

    Raises `TranslationRefused` if the request was not started. If the task that awaits it is cancelled, the request is
    cancelled with it (`USER_CANCELLED`, C9); shield the await to end only the waiting. `started` is the answer to the
    start alone. `events()` follows the parents.
    """

    __slots__ = ("_cancel", "_events", "_reader", "request_id", "started")

    def __init__(self, dispatcher: Dispatcher, request_id: str, cancel: Callable[[str], object]) -> None:
        super().__init__(dispatcher)
        self.request_id = request_id
        self.started: Future[StartReply] = Future(dispatcher)
        # Weakly: what the runtime still has to answer must not keep a forgotten runtime.
        self._cancel = weakref.WeakMethod(cancel)
        self._events: deque[ParentEvent] = deque()
        self._reader: Callable[[], object] | None = None
        self.started.add_done_callback(self._refuse)
        self.add_done_callback(lambda _outcome: self._wake())

    def take(self, event: ParentEvent) -> None:
        """An event of a parent, from a thread of the runtime."""
        self._events.append(event)
        self._wake()

    async def events(self) -> AsyncIterator[ParentEvent]:
        """The events of the parents, from the first that nobody has read, until the outcome is there.

        At most two a parent, kept until they are read. For one reader at a time. Leaving the iteration early changes
        nothing.
        """
        loop = asyncio.get_running_loop()
        arrived = asyncio.Event()

        def wake() -> None:
            call_on(loop, arrived.set)

        self._reader = wake
        try:
            while True:
                if not self.done and self.dispatcher is not None:
                    self.dispatcher.before_await(self)
                over = self.done
                while self._events:
                    yield self._events.popleft()
                if over:
                    return
                await arrived.wait()
                arrived.clear()
        finally:
            if self._reader is wake:
                self._reader = None

    def __await__(self) -> Generator[Any, None, TranslationOutcome]:
        try:
            return (yield from super().__await__())
        except asyncio.CancelledError:
            self.started.add_done_callback(self._cancel_if_started)
            raise

    __iter__ = __await__

    def _wake(self) -> None:
        reader = self._reader
        if reader is not None:
            reader()

    def _cancel_if_started(self, started: Future[StartReply]) -> None:
        """The request of this translation, not the one that has its id where this one was refused."""
        if not self.done and started.get().status is StartStatus.STARTED:
            cancel = self._cancel()
            if cancel is None:
                return
            try:
                cancel(self.request_id)
            except RuntimeClosed:
                # Its end ends the request as well.
                return

    def _refuse(self, started: Future[StartReply]) -> None:
        try:
            reply = started.get()
        except Exception as error:
            self.settle(None, error)
            return
        if reply.status is not StartStatus.STARTED:
            self.settle(None, TranslationRefused(reply.status.value, reply.reason))
