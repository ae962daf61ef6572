"""Where a thread waits for an answer that another thread will give."""

from __future__ import annotations

import threading

from . import interrupts

__all__ = ["Gate"]


class Gate:
    """A one-shot gate: `open` lets the one thread through that waits in `wait`."""

    __slots__ = ("_lock",)

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._lock.acquire()

    def open(self, *_cause: object) -> None:
        self._lock.release()

    def wait(self, timeout_s: float | None = None) -> bool:
        """Whether the gate opened within `timeout_s` seconds (None: however long it takes)."""
        if interrupts.pending:
            interrupts.raise_pending()
        if timeout_s is None:
            return self._lock.acquire()
        return self._lock.acquire(timeout=max(0.0, min(timeout_s, threading.TIMEOUT_MAX)))


interrupts.WAITING.add(Gate.wait.__code__)
