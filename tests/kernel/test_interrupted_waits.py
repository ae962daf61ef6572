"""An interrupt that strikes where a wait begins leaves no waiter behind (futures.py)."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

import pytest

from dragoman import Future


@contextmanager
def interrupted_once_told() -> Iterator[None]:
    """Interrupt the thread as it comes back from telling a future whom to wake."""

    def strike(frame: FrameType, event: str, _arg: object) -> None:
        if event == "return" and frame.f_code is Future.add_done_callback.__code__:
            sys.setprofile(None)
            raise KeyboardInterrupt

    sys.setprofile(strike)
    try:
        yield
    finally:
        sys.setprofile(None)


def test_of_a_thread() -> None:
    future: Future[int] = Future()
    with pytest.raises(KeyboardInterrupt), interrupted_once_told():
        future.block(60.0)
    assert not future._callbacks
    future.set(1)
    assert future.get() == 1


def test_of_a_task() -> None:
    future: Future[int] = Future()

    async def main() -> None:
        with interrupted_once_told():
            await future

    with pytest.raises(KeyboardInterrupt):
        asyncio.run(main())
    assert not future._callbacks
