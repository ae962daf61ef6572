"""Recording what a program does as it does it: outcomes, and calls that know their depth and parent (P phase 1.4).

Rules. Recording never changes what is recorded: a result is returned and an exception raised as they are, whatever the
runtime says. The enclosing call is found through `contextvars`, so that each thread and each asyncio task has its own;
a task inherits that of the code which made it, a thread does so only through `bind`.
"""

from __future__ import annotations

import contextvars
import functools
import inspect
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Any, ParamSpec, Protocol, TypeVar

import attrs

from .actors.futures import Future
from .actors.reporting import report
from .protocol.content_replies import ReferReply
from .protocol.errors import DragomanError, InvalidArgument
from .protocol.records import DEFAULT_METHOD, Call, CallRecord
from .protocol.redaction import redacted

__all__ = ["Outcome", "RecordedCall"]

P = ParamSpec("P")
T = TypeVar("T")


@attrs.frozen
class Outcome:
    """How a call ended: with a value, or with an error. Its `repr` shows neither.

    What is stored of an error is `{"type": …, "message": …}`, and only where `capture_errors` says so.
    """

    value: Any = attrs.field(repr=redacted)
    is_error: bool = False

    @classmethod
    def ok(cls, value: Any) -> Outcome:
        """The resolved value, not its envelope (P constraint 5)."""
        return cls(value)

    @classmethod
    def error(cls, type: str, message: str) -> Outcome:  # noqa: A002 (the word of the stored mapping)
        """A failure by its type and message."""
        for field, text in (("type", type), ("message", message)):
            if not isinstance(text, str):
                raise InvalidArgument(field, "must be text")
        return cls({"type": type, "message": message}, is_error=True)

    @classmethod
    def raised(cls, error: BaseException) -> Outcome:
        """A failure by the exception that was raised."""
        try:
            message = str(error)
        except Exception:
            message = "?"  # an exception that cannot say what it is has been raised all the same
        return cls.error(type(error).__name__, message)


class Recorder(Protocol):
    """Where calls are recorded: a runtime."""

    def record_call(self, session_id: str, call: Call, outcome: Outcome) -> Future[CallRecord]: ...

    def refer(self, session_id: str, parent_id: str, child_id: str) -> Future[ReferReply]: ...


@attrs.frozen
class _Frame:
    """A recorded call that runs now, and those around it."""

    runtime: object
    session_id: str
    call_id: str
    depth: int
    outer: _Frame | None

    def __iter__(self) -> Iterator[_Frame]:
        frame: _Frame | None = self
        while frame is not None:
            yield frame
            frame = frame.outer


_running: contextvars.ContextVar[_Frame | None] = contextvars.ContextVar("dragoman_recorded_call", default=None)


class RecordedCall:
    """A call that is recorded when it ends; from `Runtime.recorded`. A `with` block is one call, a decorated function
    one each time that it is called.

    Within it, `id`, `depth` and `parent` are known, and `result` is what will be recorded; after it, `record` is the
    future of the record. A block that raises is recorded as an error.
    """

    def __init__(
        self,
        runtime: Recorder,
        session_id: str,
        *,
        role: str,
        method: str | None,
        id: str | None,  # noqa: A002
        keep: bool,
        numbers: Iterator[int],
    ) -> None:
        self._runtime = runtime
        self._numbers = numbers
        self._token: contextvars.Token[_Frame | None] | None = None
        self.session_id = session_id
        self.role = role
        self.method = method
        self.keep = keep
        self.id = id
        self.depth = 0
        self.parent: str | None = None
        self.result: Any = None
        self.record: Future[CallRecord] | None = None

    def __repr__(self) -> str:
        return f"<RecordedCall {self.id or '(not begun)'} in {self.session_id}>"

    def __enter__(self) -> RecordedCall:
        if self._token is not None or self.record is not None:
            raise InvalidArgument("recorded", "a block is one call: ask the runtime for another")
        around = _running.get()
        enclosing = None
        for frame in around or ():
            if frame.runtime is self._runtime and frame.session_id == self.session_id:
                enclosing = frame
                break
        self.method = self.method or DEFAULT_METHOD
        self.id = self.id or f"{self.method}-{next(self._numbers)}"
        if enclosing is not None:
            self.depth, self.parent = enclosing.depth + 1, enclosing.call_id
        self._token = _running.set(_Frame(self._runtime, self.session_id, self.id, self.depth, around))
        return self

    def __exit__(
        self, _type: type[BaseException] | None, error: BaseException | None, _traceback: TracebackType | None
    ) -> None:
        if self._token is not None:
            _running.reset(self._token)
            self._token = None
        self._end(Outcome.ok(self.result) if error is None else Outcome.raised(error))

    async def __aenter__(self) -> RecordedCall:
        return self.__enter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.__exit__(kind, error, traceback)

    def _end(self, outcome: Outcome) -> None:
        assert self.id is not None
        assert self.method is not None
        call = Call(self.id, self.role, self.method, self.depth, self.parent, self.keep)
        try:
            self.record = self._runtime.record_call(self.session_id, call, outcome)
        except DragomanError as error:
            report(
                "WARNING",
                "the call {call} in {session} was not recorded: {error_type}",
                call=self.id,
                session=self.session_id,
                error_type=type(error).__name__,
            )

    def refer(self, child_id: str) -> Future[ReferReply]:
        """This call refers to the content of a child of it, which is kept for that (P constraint 6)."""
        if self.id is None:
            raise InvalidArgument("recorded", "the call has not begun")
        return self._runtime.refer(self.session_id, self.id, child_id)

    @staticmethod
    def bind(function: Callable[P, T]) -> Callable[P, T]:
        """`function` as something that may be called in any thread, with the calls that run here around it."""
        context = contextvars.copy_context()

        @functools.wraps(function)
        def bound(*args: P.args, **kwargs: P.kwargs) -> T:
            return context.copy().run(function, *args, **kwargs)

        return bound

    def __call__(self, function: Callable[P, T]) -> Callable[P, T]:
        """Record each call of `function`, and return or raise what it does."""
        if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
            raise InvalidArgument("function", "yields: record the code that takes what it yields, in a with block")
        if not callable(function):
            raise InvalidArgument("function", "must be callable")
        if self.id is not None:
            raise InvalidArgument("id", "names one call; a decorated function is called more than once")
        if inspect.iscoroutinefunction(function):

            @functools.wraps(function)
            async def awaited(*args: P.args, **kwargs: P.kwargs) -> Any:
                with self._another(function) as call:
                    call.result = await function(*args, **kwargs)
                    return call.result

            return awaited  # type: ignore[return-value]

        @functools.wraps(function)
        def called(*args: P.args, **kwargs: P.kwargs) -> T:
            with self._another(function) as call:
                call.result = result = function(*args, **kwargs)
                return result

        return called

    def _another(self, function: Callable[..., Any]) -> RecordedCall:
        name = getattr(function, "__name__", None)
        return RecordedCall(
            self._runtime,
            self.session_id,
            role=self.role,
            method=self.method or (name if isinstance(name, str) else None),
            id=None,
            keep=self.keep,
            numbers=self._numbers,
        )
