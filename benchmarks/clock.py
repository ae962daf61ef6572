"""The clock that costs are read from: the time that passes, or the time that the process had a processor for.

`wall` is the default and the only fair one: what a thread waits for counts. On a machine that others use as well,
`cpu` is much steadier. It counts all threads of the process and no waiting, so that it is right where one thread does
all the work, and tells of several only what they do, not how long they stand in each other's way.
"""

from __future__ import annotations

import time
from collections.abc import Callable

__all__ = ["CLOCKS", "clock"]

CLOCKS: dict[str, Callable[[], float]] = {"wall": time.perf_counter, "cpu": time.process_time}


class _Clock:
    """`now` gives seconds, by the clock of that name."""

    def __init__(self) -> None:
        self.use("wall")

    def use(self, name: str) -> None:
        self.name = name
        self.now = CLOCKS[name]


clock = _Clock()
