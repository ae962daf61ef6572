"""What the current thread is doing for the kernel."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .dispatcher import Dispatcher

__all__ = ["here"]


class _Here(threading.local):
    """`dispatcher`: the one whose mailboxes this thread is running now; None outside of handlers.

    `calls_back`: whether it is in a callback of a future.
    """

    dispatcher: Dispatcher | None = None
    calls_back: bool = False


here = _Here()
