"""What the current thread is doing for the kernel."""

from __future__ import annotations

import sys
import threading
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .dispatcher import Dispatcher

__all__ = ["DELIVERING", "here", "in_handler", "stack_is_deep"]

_ROOM = 200
"""Frames that a chain of handlers, with a log sink or a callback at its end, has room in."""
_ROOM_TO_LEAVE = 40
"""Frames in which a message is enqueued and a worker is woken, or started."""


def _nested(depth: int) -> Any:
    kind: Any = int
    for _ in range(depth):
        kind = (kind,)
    return kind


_KIND_WITH_ROOM = _nested(_ROOM)
"""To compare with this takes as much of the stack as so many frames."""
_COUNTS_APART = sys.version_info >= (3, 12)
"""Whether frames and calls of C code have a limit each."""


class _Here(threading.local):
    """`dispatcher`: the one whose mailboxes this thread is running now; None outside of handlers.

    `calls_back`: whether it is in a callback of a future.
    """

    dispatcher: Dispatcher | None = None
    calls_back: bool = False


here = _Here()

DELIVERING: set[CodeType] = set()
"""The code that handles a message in the thread of its sender, without a note in `here`: that would cost as much."""


def in_handler() -> bool:
    """Whether this thread is in a handler, or in code that one has called."""
    if here.dispatcher is not None:
        return True
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_code in DELIVERING:
            return True
        frame = frame.f_back
    return False


def stack_is_deep() -> bool:
    """Whether handlers had better not run on this stack: one that it ends in the middle of is left half-done.

    Raises `RecursionError` where not even leaving a message to a worker is sure to fit: before anything is done.
    """
    try:
        # Not only the frames count: a stack may be used up by calls of C code between them.
        isinstance(None, _KIND_WITH_ROOM)
        if not _COUNTS_APART:
            return False
        sys._getframe(sys.getrecursionlimit() - _ROOM)
    except ValueError:
        return False
    except RecursionError:
        pass
    _reach(_ROOM_TO_LEAVE)
    return True


def _reach(frames: int) -> None:
    if frames:
        _reach(frames - 1)
