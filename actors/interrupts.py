"""Ctrl-C in a thread that helps.

A caller's thread runs handlers while it waits, and Python raises `KeyboardInterrupt` between any two bytecodes of the
main thread: in the middle of a handler it would leave an owner's state torn. So, as long as a threaded runtime lives
that was made while SIGINT had Python's own handler, an interrupt that strikes inside the kernel is held until the
kernel is left, and raised then. Everywhere else it is raised at once, as always. A program with a SIGINT handler of
its own (asyncio's runner has one) keeps it untouched.

Not promised: other asynchronous exceptions (`PyThreadState_SetAsyncExc`) are not held, nor what a SIGINT handler of the
program raises (a second Ctrl-C under `asyncio.run`). One that strikes in a handler may leave a runtime that does not
answer; `close` keeps to its deadline all the same.
"""

from __future__ import annotations

import signal
import threading
from types import CodeType, FrameType

from .running import in_handler

__all__ = ["WAITING", "guard", "hold", "raise_pending", "release"]

_KERNEL = __name__.rpartition(".")[0] + "."

WAITING: set[CodeType] = set()
"""The places of the kernel that only wait: there an interrupt may strike at any time."""

_lock = threading.Lock()
_guards = 0
pending = False


def guard() -> bool:
    """Begin to hold interrupts; False (and nothing done) where SIGINT is not Python's own or not ours to set."""
    global _guards
    if threading.current_thread() is not threading.main_thread():
        return False
    with _lock:
        if signal.getsignal(signal.SIGINT) not in (signal.default_int_handler, _on_interrupt):
            return False
        signal.signal(signal.SIGINT, _on_interrupt)
        _guards += 1
    return True


def release() -> None:
    """End one `guard`; the last one restores Python's handler, or the next one in the main thread does."""
    global _guards
    with _lock:
        _guards -= 1
        if _guards or threading.current_thread() is not threading.main_thread():
            return
        if signal.getsignal(signal.SIGINT) is _on_interrupt:
            signal.signal(signal.SIGINT, signal.default_int_handler)


def hold() -> None:
    """Keep an interrupt for the moment in which the kernel is left."""
    global pending
    pending = True


def keep(error: BaseException) -> None:
    """Hold an interrupt that struck in code which the kernel called, and which is not to end by it."""
    if isinstance(error, KeyboardInterrupt):
        hold()


def raise_pending() -> None:
    """Raise the interrupt that was held, in the main thread, if the kernel is left now: not inside of a handler."""
    global pending
    if pending and threading.current_thread() is threading.main_thread() and not in_handler():
        pending = False
        raise KeyboardInterrupt


def _on_interrupt(signum: int, frame: FrameType | None) -> None:
    if _in_kernel(frame):
        hold()
    else:
        signal.default_int_handler(signum, frame)


def _in_kernel(frame: FrameType | None) -> bool:
    """Whether `frame` runs inside the kernel, and not in a place there that only waits."""
    if frame is not None and frame.f_code in WAITING:
        return False
    while frame is not None:
        if str(frame.f_globals.get("__name__")).startswith(_KERNEL):
            return True
        frame = frame.f_back
    return False
