"""Keeps the messages of llama.cpp off the program's streams.

The library has one sink for the whole process, and by default that is standard error. Messages of threads that asked
for quiet are dropped; those of others go where they went before.
"""

from __future__ import annotations

import ctypes
import threading
from typing import Any

__all__ = ["keep_quiet"]

_lock = threading.Lock()
_asked = threading.local()
_sinks: list[Any] = []
"""What the library may still call, for as long as the process lives."""


def keep_quiet(lib: Any) -> None:
    """From now on the library writes nothing for the thread that calls this."""
    _asked.quiet = True
    with _lock:
        if _sinks:
            return
        before, its_own = lib.llama_log_callback(), ctypes.c_void_p()
        lib.llama_log_get(ctypes.byref(before), ctypes.byref(its_own))

        def pass_on(level: int, text: bytes, _own: object) -> None:
            if before and not getattr(_asked, "quiet", False):
                before(level, text, its_own)

        sink = lib.llama_log_callback(pass_on)
        _sinks.extend((before, its_own, sink))
        lib.llama_log_set(sink, None)
