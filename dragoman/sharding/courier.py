"""The thread that carries calls to the shards and their answers back: one for all shards of a runtime.

Everything that changes a link happens in it, one step after another, so that a link needs no locks of its own but for
the queue that callers fill. Callbacks of futures run in it as they run in a thread of a runtime: they must not wait.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable
from operator import itemgetter
from typing import Any

from ..actors.dispatcher import Dispatcher
from ..actors.reporting import report
from ..actors.running import here

__all__ = ["Courier"]

Step = Callable[[], object]


class Courier:
    """Runs steps in the order in which they come, from any thread, and some of them at a time that was asked for."""

    def __init__(self) -> None:
        self._steps: queue.SimpleQueue[Step | None] = queue.SimpleQueue()
        self._later: list[tuple[float, Step]] = []
        self._thread: threading.Thread | None = None

    def start(self, dispatcher: Dispatcher) -> None:
        """Begin; what waits in a callback here is refused as in a handler of `dispatcher`."""
        self._thread = threading.Thread(target=self._run, args=(dispatcher,), name="dragoman-courier", daemon=True)
        self._thread.start()

    def do(self, step: Step) -> None:
        """Run `step` in the thread, soon."""
        self._steps.put(step)

    def do_after(self, delay_s: float, step: Step) -> None:
        """Run `step` in `delay_s` seconds; only called in the thread."""
        self._later.append((time.monotonic() + delay_s, step))

    @property
    def inside(self) -> bool:
        """Whether this is asked in the thread."""
        return threading.current_thread() is self._thread

    def abandon(self) -> None:
        """End after what has come; for good, and without waiting."""
        self._steps.put(None)

    def stop(self, timeout_s: float) -> tuple[str, ...]:
        """End within `timeout_s` seconds: the names of the threads that did not."""
        self.abandon()
        thread = self._thread
        if thread is None or thread is threading.current_thread():
            return ()
        thread.join(timeout_s)
        return (thread.name,) if thread.is_alive() else ()

    def _run(self, dispatcher: Any) -> None:
        here.dispatcher = dispatcher
        while True:
            step = self._next()
            if step is None:
                return
            try:
                step()
            except BaseException as error:
                report("CRITICAL", "the courier survived {error_type}", error_type=type(error).__name__)

    def _next(self) -> Step | None:
        """What is due goes before what has come."""
        if not self._later:
            return self._steps.get()
        due = min(self._later, key=itemgetter(0))
        left_s = due[0] - time.monotonic()
        if left_s > 0:
            try:
                return self._steps.get(timeout=left_s)
            except queue.Empty:
                pass  # it is due now
        self._later.remove(due)
        return due[1]
