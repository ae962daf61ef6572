"""The runtimes that an exporter reads, by their names: weakly, and each with a time limit."""

from __future__ import annotations

import threading
import time
import weakref

from ..actors.reporting import report
from ..arguments import text_of
from ..gathering import Reading
from ..protocol.errors import DragomanError, InvalidArgument, RuntimeClosed
from ..protocol.runtime_statistics import RuntimeStatistics
from ..protocol.settings import is_seconds
from ..runtime import Runtime

__all__ = ["Watched"]


class Watched:
    """Runtimes by name. One that is forgotten by its program is forgotten here."""

    def __init__(self, timeout: float) -> None:
        if not is_seconds(timeout) or not timeout:
            raise InvalidArgument("timeout", "must be a number of seconds above 0")
        self._timeout_s = timeout
        self._runtimes: dict[str, weakref.ref[Runtime]] = {}
        self._changing = threading.Lock()

    def add(self, runtime: Runtime, name: str, *, measure: bool) -> None:
        """Read this one from now on; raises `InvalidArgument` if another one that is open has the name."""
        if not isinstance(runtime, Runtime):
            raise InvalidArgument("runtime", "must be a Runtime")
        if not text_of("name", name):
            raise InvalidArgument("name", "must be text that is not empty")
        with self._changing:
            known = self._runtimes.get(name)
            other = None if known is None else known()
            if other is not None and not other.closed:
                raise InvalidArgument("name", "belongs to another runtime")
            self._runtimes[name] = weakref.ref(runtime)
        if measure and not runtime.closed:
            runtime.measure()

    def read(self) -> dict[str, RuntimeStatistics | None]:
        """The statistics of each by its name, all within the time limit; None of one that is closed or is too late."""
        with self._changing:
            living = {name: runtime for name, known in self._runtimes.items() if (runtime := known()) is not None}
            for name in self._runtimes.keys() - living.keys():
                del self._runtimes[name]
        # All are asked before any is waited for, so that one that is stuck leaves the others their time.
        readings = {name: _begin(runtime) for name, runtime in living.items()}
        ends = time.monotonic() + self._timeout_s
        return {name: _end(reading, max(0.0, ends - time.monotonic())) for name, reading in readings.items()}


def _begin(runtime: Runtime) -> Reading | None:
    try:
        return runtime._begin_reading()
    except RuntimeClosed:
        return None


def _end(reading: Reading | None, timeout_s: float) -> RuntimeStatistics | None:
    if reading is None:
        return None
    try:
        return reading.get(timeout_s)
    except DragomanError as error:
        report("WARNING", "a runtime gave no statistics: {error_type}", error_type=type(error).__name__)
        return None
