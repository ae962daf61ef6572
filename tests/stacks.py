"""Calls from a given depth of the stack."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

__all__ = ["at_depth", "stack_depth"]


def at_depth(depth: int, call: Callable[[], Any]) -> Any:
    """What `call` returns, called `depth` frames deeper."""
    return at_depth(depth - 1, call) if depth else call()


def stack_depth() -> int:
    """The frames below the caller, itself included."""
    depth = 0
    frame: Any = sys._getframe(1)
    while frame is not None:
        depth, frame = depth + 1, frame.f_back
    return depth
