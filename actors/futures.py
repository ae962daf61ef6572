"""Futures that work both ways: `.get(timeout)` for threads, `await` for asyncio.

Rules. A future has exactly one end: the first `set` or `set_exception`, and every later one is refused. The end of a
wait (a timeout, a cancelled `await`) is not the end of the future: nothing is undone, and waiting again is safe. A
thread that waits runs ready mailboxes of the future's dispatcher until the answer is there. Callbacks run in the
thread that gives the answer, before that thread does anything else.

Not promised: in which order several waiters of one future wake.
"""

from __future__ import annotations

import asyncio
import queue
import sys
import threading
from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any, TypeVar

import pykka

from ..protocol.errors import BlockingInHandler, DragomanError, InvalidArgument
from . import interrupts
from .parking import Gate
from .reporting import report
from .running import here, in_handler

if TYPE_CHECKING:
    from types import TracebackType

    from .dispatcher import Dispatcher

__all__ = ["Answered", "Future", "WaitTimeout", "call_on"]

_changing_callbacks = threading.RLock()
"""One for all futures, since few have callbacks and a lock each would cost as much as the rest of a future.

It may be taken again by the thread that has it: callbacks are compared under it, which may be foreign code.
"""

T = TypeVar("T")

ExcInfo = tuple["type[BaseException] | None", "BaseException | None", "TracebackType | None"]


class WaitTimeout(DragomanError, pykka.Timeout, TimeoutError):
    """The answer was not there in time. The call goes on; waiting again, or repeating it, is safe.

    Raised by `get(timeout)`. What to do: call `get` again on the same future; the effect may have happened meanwhile.
    """

    fields = ("timeout_s",)

    def __init__(self, timeout_s: float) -> None:
        super().__init__(f"no answer within {timeout_s} s: the call goes on, and get() may be called again")
        self.timeout_s = timeout_s


class Future(pykka.Future[T]):
    """The answer to one message; see the module for its rules."""

    __slots__ = ("_born_inside", "_callbacks", "_error", "_open", "_value", "dispatcher", "done", "number")

    number: int
    """Which call at the face it answers, where a journal is kept; else it has none."""

    _get_hook: Callable[[float | None], T] | None = None

    def __init__(self, dispatcher: Dispatcher | None = None) -> None:
        # pykka's own initialiser is for futures with a get hook; it runs when one is set.
        self.dispatcher = dispatcher
        self.done = False
        self._born_inside = here.dispatcher is not None
        self._value: Any = None
        self._error: BaseException | None = None
        self._callbacks: list[Callable[[Future[T]], object]] | None = None
        # The right to give the answer: whoever deletes it has it, one step under the interpreter lock.
        self._open = None

    def __repr__(self) -> str:
        return f"<Future {'done' if self.done else 'open'}>"

    def get(self, timeout: float | None = None) -> T:
        """The answer, waiting for it up to `timeout` seconds.

        Raises `WaitTimeout` if it is not there by then, `BlockingInHandler` inside an actor's handler (one that is
        there may be read, if it was not asked for in a handler), and whatever error the answer is.
        """
        if timeout is not None:
            check_timeout(timeout)
        if not self.done or self._born_inside:
            if in_handler() and (not self.done or not here.calls_back):
                # An answer that a handler asked for itself may happen to be there: a mistake should not depend on luck.
                raise BlockingInHandler
            if not self.done:
                if self._get_hook is not None:
                    return super().get(timeout=timeout)
                if self.dispatcher is None:
                    self.block(timeout)
                else:
                    self.dispatcher.wait(self, timeout)
        try:
            return self._answer()
        finally:
            if interrupts.pending:
                interrupts.raise_pending()

    def block(self, timeout_s: float | None) -> None:
        """Park this thread until the answer is there; raises `WaitTimeout`."""
        gate = Gate()
        try:
            self.add_done_callback(gate.open)
            opened = gate.wait(timeout_s)
        finally:
            if not self.done:
                self.remove_done_callback(gate.open)
        if not opened and not self.done:
            raise WaitTimeout(timeout_s or 0.0)

    def __await__(self) -> Generator[Any, None, T]:
        if self._get_hook is not None:
            # A derived future (pykka's map, filter, join) is computed by a blocking call: not on the event loop.
            return (yield from asyncio.get_running_loop().run_in_executor(None, self.get).__await__())
        if not self.done and self.dispatcher is not None:
            self.dispatcher.before_await(self)
        if not self.done:
            loop = asyncio.get_running_loop()
            waiter: asyncio.Future[None] = loop.create_future()

            def wake(_future: object) -> None:
                call_on(loop, _release, waiter)

            try:
                self.add_done_callback(wake)
                yield from waiter.__await__()
            finally:
                if not self.done:
                    self.remove_done_callback(wake)
        return self._answer()

    __iter__ = __await__

    def set(self, value: T | None = None) -> None:
        """Give the answer. Raises `queue.Full`, as pykka does, if there is one."""
        if not self.settle(value, None):
            raise queue.Full

    def set_exception(self, exc_info: ExcInfo | None = None) -> None:
        """Give an error (a `sys.exc_info()` triple; by default the current one) as the answer."""
        error = (exc_info or sys.exc_info())[1]
        if not self.settle(None, error or RuntimeError("set_exception() without an exception")):
            raise queue.Full

    def settle(self, value: Any, error: BaseException | None) -> bool:
        """Give the answer if there is none yet; whether it was given."""
        try:
            del self._open
        except AttributeError:
            return False
        self._value = value
        self._error = error
        self.done = True
        if self._callbacks is not None:
            self._call_back()
        return True

    def set_get_hook(self, func: Callable[[float | None], T]) -> None:
        if self._get_hook is None:
            try:
                del self._open
            except AttributeError:
                raise queue.Full from None
        super().__init__()
        super().set_get_hook(func)

    def add_done_callback(self, callback: Callable[[Future[T]], object]) -> None:
        """Call `callback` with this future once it is done; at once if it is."""
        with _changing_callbacks:
            if self._callbacks is None:
                self._callbacks = []
            self._callbacks.append(callback)
        if self.done:
            self._call_back()

    def remove_done_callback(self, callback: Callable[[Future[T]], object]) -> None:
        """Forget `callback`, if it has not been called."""
        with _changing_callbacks:
            if self._callbacks is not None and callback in self._callbacks:
                self._callbacks.remove(callback)

    def _call_back(self) -> None:
        """Call what waits for the answer, which is there; whoever comes first takes all: each is called once."""
        with _changing_callbacks:
            callbacks, self._callbacks = self._callbacks, None
        for callback in callbacks or ():
            self._call(callback)

    def _call(self, callback: Callable[[Future[T]], object]) -> None:
        outer, here.calls_back = here.calls_back, True
        try:
            callback(self)
        except BaseException as error:
            # Also what is no `Exception`, asyncio's CancelledError above all: others wait for their call behind it.
            interrupts.keep(error)
            report("ERROR", "a callback of a future raised {error_type}", error_type=type(error).__name__)
        finally:
            here.calls_back = outer

    def settled_with(self) -> Any:
        """What a future that is done was given: its answer as it came, or the error in its place. Waits for nothing."""
        return self._value if self._error is None else self._error

    def _answer(self) -> T:
        if self._error is not None:
            raise self._error.with_traceback(None)
        value: T = self._value
        return value


class Answered(Future[T]):
    """A future that was made with its answer, which is all that it holds."""

    __slots__ = ()

    dispatcher = None
    done = True
    _error = None
    _callbacks = None

    def __init__(self, value: T) -> None:
        self._value = value

    def get(self, timeout: float | None = None) -> T:
        if timeout is not None:
            check_timeout(timeout)
        return self._value  # type: ignore[no-any-return]

    def add_done_callback(self, callback: Callable[[Future[T]], object]) -> None:
        self._call(callback)

    @property  # type: ignore[misc]
    def __class__(self) -> type[Future[T]]:  # type: ignore[override]
        """What pykka makes its derived futures of (map, filter, join): those have no answer yet."""
        return Future


interrupts.WAITING.add(Answered.get.__code__)


def check_timeout(timeout_s: object) -> None:
    """Raises `InvalidArgument` if a wait cannot last so long."""
    if not isinstance(timeout_s, int | float):
        raise InvalidArgument("timeout", "must be a number of seconds, or None")


def call_on(loop: asyncio.AbstractEventLoop, callback: Callable[..., object], *arguments: object) -> None:
    """Call `callback` on an event loop where somebody awaits, from any thread; nobody does when the loop has closed."""
    try:
        loop.call_soon_threadsafe(callback, *arguments)
    except RuntimeError:
        report("DEBUG", "the event loop closed before an answer that was awaited on it")


def _release(waiter: asyncio.Future[None]) -> None:
    if not waiter.done():
        waiter.set_result(None)
