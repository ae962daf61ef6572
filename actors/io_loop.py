"""The one event loop on which physical calls run, in a thread of its own: an edge of the runtime, off the actors.

Rules. The thread starts with the first call. Each call is a task; its end is told exactly once, in that thread, by the
callback it was given, unless it was cancelled first. Whatever a provider raises becomes the name of an error, never a
text. Stopping cancels what runs and ends the thread.

Not promised: that a provider which blocks the loop lets the others go on; its `complete` must await.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable

from ..protocol.calls import Completion, Provider, ProviderCall
from ..protocol.completions import normalised
from ..protocol.failures import PROVIDER_FAULT, ProviderError
from .reporting import place_of, report

__all__ = ["IoLoop", "IoTask"]

Done = Callable[[Completion | None, ProviderError | None], None]


class IoTask:
    """One physical call that runs, or is about to."""

    __slots__ = ("_loop", "cancelled", "task")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self.cancelled = False
        self.task: asyncio.Task[None] | None = None

    def cancel(self) -> None:
        """Nobody waits for it any more; from any thread, and more than once."""
        self.cancelled = True
        try:
            self._loop.call_soon_threadsafe(self._cancel)
        except RuntimeError:
            # The loop has ended, and every task with it.
            return

    def _cancel(self) -> None:
        if self.task is not None:
            self.task.cancel()


class IoLoop:
    """Runs the calls of asynchronous providers; see the module."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def inside(self) -> bool:
        """Whether this is asked in the thread of the loop."""
        return threading.current_thread() is self._thread

    @property
    def running(self) -> int:
        """The tasks that have not ended."""
        return len(self._tasks)

    def start(self, provider: Provider, call: ProviderCall, done: Done) -> IoTask:
        """Make the call; `done` is told a completion or a failure. Only the gateway calls this."""
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            self._thread = threading.Thread(
                target=self._run, args=(self._loop,), name="dragoman-provider-calls", daemon=True
            )
            self._thread.start()
        started = IoTask(self._loop)
        self._loop.call_soon_threadsafe(self._begin, started, provider, call, done)
        return started

    def end(self) -> None:
        """Cancel what runs, and let the thread end when that is done."""
        loop, self._loop = self._loop, None
        if loop is not None:
            loop.call_soon_threadsafe(loop.stop)

    def stop(self, timeout_s: float) -> tuple[str, ...]:
        """End, and wait for the thread up to `timeout_s` seconds; its name if it is still there."""
        self.end()
        thread = self._thread
        if thread is None:
            return ()
        thread.join(timeout_s)
        return (thread.name,) if thread.is_alive() else ()

    def _begin(self, started: IoTask, provider: Provider, call: ProviderCall, done: Done) -> None:
        task = asyncio.ensure_future(_complete(started, provider, call, done))
        started.task = task
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _run(self, loop: asyncio.AbstractEventLoop) -> None:
        asyncio.set_event_loop(loop)
        try:
            loop.run_forever()
            tasks = tuple(self._tasks)
            for task in tasks:
                task.cancel()
            loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
            loop.run_until_complete(loop.shutdown_asyncgens())
        finally:
            asyncio.set_event_loop(None)
            loop.close()


async def _complete(started: IoTask, provider: Provider, call: ProviderCall, done: Done) -> None:
    if started.cancelled:
        return
    completion: Completion | None = None
    error: ProviderError | None = None
    try:
        answer = await provider.complete(call)
        completion = normalised(answer)
        if completion is None:
            error = ProviderError(PROVIDER_FAULT)
            report(
                "ERROR",
                "the provider {provider} returned {answer} in the place of a Completion of texts",
                provider=call.provider,
                answer=type(answer).__name__,
            )
    except ProviderError as failure:
        error = failure
    except BaseException as fault:
        # Also what would end the thread of all the others, such as SystemExit.
        if isinstance(fault, asyncio.CancelledError) and started.cancelled:
            raise
        error = ProviderError(PROVIDER_FAULT)
        module, line = place_of(fault)
        report(
            "ERROR",
            "the provider {provider} raised {error_type} in {module}, line {line}",
            provider=call.provider,
            error_type=type(fault).__name__,
            module=module,
            line=line,
        )
    if not started.cancelled:
        done(completion, error)
