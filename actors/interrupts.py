"""Ctrl-C in a thread that helps.

A caller's thread runs handlers while it waits, and Python raises `KeyboardInterrupt` between any two bytecodes of the
main thread: in the middle of a handler it would leave an owner's state torn. So, as long as a threaded runtime lives
that was made while SIGINT had Python's own handler, an interrupt that strikes inside the kernel is held until the
kernel is left, and raised then. Everywhere else it is raised at once, as always. A program with a SIGINT handler of
its own (asyncio's runner has one) keeps it untouched.

Not promised: other asynchronous exceptions (`PyThreadState_SetAsyncExc`) are not held.
"""

from __future__ import annotations

import signal
import threading
from types import FrameType

__all__ = ["guard", "raise_pending", "release"]

_KERNEL = __name__.rpartition(".")[0] + "."
_SAFE = f"{_KERNEL}parking"

_lock = threading.Lock()
_guards = 0
pending = False


def guard() -> bool:
    """Begin to hold interrupts; False (and nothing done) where SIGINT is not Python's own or not ours to set."""
    global _guards
    if threading.current_thread() is not threading.main_thread():
        return False
    with _lock:
        if _guards == 0:
            if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
                return False
            signal.signal(signal.SIGINT, _on_interrupt)
        _guards += 1
    return True


def release() -> None:
    """End one `guard`; the last one restores Python's handler, from whatever thread it can."""
    global _guards
    with _lock:
        _guards -= 1
        if _guards or threading.current_thread() is not threading.main_thread():
            return
        if signal.getsignal(signal.SIGINT) is _on_interrupt:
            signal.signal(signal.SIGINT, signal.default_int_handler)


def raise_pending() -> None:
    """Raise the interrupt that was held, in the main thread, now that the kernel is left."""
    global pending
    if pending and threading.current_thread() is threading.main_thread():
        pending = False
        raise KeyboardInterrupt


def _on_interrupt(signum: int, frame: FrameType | None) -> None:
    global pending
    if _in_kernel(frame):
        pending = True
    else:
        signal.default_int_handler(signum, frame)


def _in_kernel(frame: FrameType | None) -> bool:
    """Whether `frame` runs inside the kernel, and not in the one place there that only waits."""
    if frame is not None and frame.f_globals.get("__name__") == _SAFE:
        return False
    while frame is not None:
        if str(frame.f_globals.get("__name__")).startswith(_KERNEL):
            return True
        frame = frame.f_back
    return False
