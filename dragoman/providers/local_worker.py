"""The thread that owns a local model: it is loaded there, asked there, and given back there.

Calls are answered one by one, in the order in which they came; one that was cancelled meanwhile is passed over. The
thread is a daemon, starts with the first call, and ends when nobody holds the provider any more. When the interpreter
ends, threads that are inside the library are first brought out of it, for it must not be torn down under them.
"""

from __future__ import annotations

import asyncio
import atexit
import queue
import threading
from collections.abc import Callable
from functools import partial
from typing import Any, Generic, TypeVar
from weakref import WeakSet

from .local_model import LocalModel, ModelFault

__all__ = ["Job", "Worker"]

T = TypeVar("T")

_PATIENCE_S = 10.0
"""How long the end of the interpreter waits for a thread; loading a model cannot be interrupted."""


class Job(Generic[T]):
    """One thing to do with the model, and who waits for it."""

    def __init__(self, do: Callable[[LocalModel, Callable[[], bool]], T]) -> None:
        self.do = do
        self.loop = asyncio.get_running_loop()
        self.future: asyncio.Future[T] = self.loop.create_future()
        self.cancelled = False

    def settle(self, result: T | None, error: BaseException | None) -> None:
        """Tell who waits; from the thread of the model."""

        def tell() -> None:
            if self.future.done():
                return
            if error is not None:
                self.future.set_exception(error)
            else:
                self.future.set_result(result)  # type: ignore[arg-type]

        try:
            self.loop.call_soon_threadsafe(tell)
        except RuntimeError:
            # The loop has ended, and with it whoever waited.
            return


class Worker:
    """The thread. `load` makes the model; what it raises answers every call, and the next call tries again."""

    def __init__(self, load: Callable[[], LocalModel]) -> None:
        self._load = load
        self._jobs: queue.SimpleQueue[Job[Any] | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._stopped = False

    async def run(self, do: Callable[[LocalModel, Callable[[], bool]], T]) -> T:
        """What `do` returns, of the model and of what tells whether it should stop; it runs in the thread."""
        job = Job(do)
        with self._lock:
            if self._stopped:
                raise ModelFault("the provider is closed")
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="dragoman-local-model", daemon=True)
                self._thread.start()
                _live.add(self)
            self._jobs.put(job)
        try:
            return await job.future
        finally:
            job.cancelled = True

    def stop(self) -> None:
        """End the thread after the next token; from any thread, and more than once."""
        with self._lock:
            if not self._stopped:
                self._stopped = True
                self._jobs.put(None)

    def join(self, timeout_s: float) -> None:
        if self._thread is not None:
            self._thread.join(timeout_s)

    def _work(self) -> None:
        model: LocalModel | None = None
        while (job := self._jobs.get()) is not None:
            if job.cancelled:
                continue
            try:
                if self._stopped:
                    raise ModelFault("the provider is closed")
                model = model or self._load()
                job.settle(job.do(model, partial(self._gives_up, job)), None)
            except BaseException as error:
                job.settle(None, error)
            # Whoever made it may forget it from here on, also while this thread waits.
            del job
        if model is not None:
            model.close()

    def _gives_up(self, job: Job[Any]) -> bool:
        return job.cancelled or self._stopped


_live: WeakSet[Worker] = WeakSet()


@atexit.register
def _end_all() -> None:
    workers = tuple(_live)
    for worker in workers:
        worker.stop()
    for worker in workers:
        worker.join(_PATIENCE_S)
