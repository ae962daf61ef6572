"""Recording what a program does as it does it: outcomes, and calls that know their depth and parent (P phase 1.4).

Rules. Recording never changes what is recorded: a result is returned and an exception raised as they are, whatever the
runtime says. The enclosing call is found through `contextvars`, so that each thread and each asyncio task has its own;
a task inherits that of the code which made it, a thread does so only through `bind`. Only a call that still runs
encloses another: what a task or a generator inherited from one that has ended counts no more.

Not promised: that two generators which are taken from in turn, in one context, know their calls apart. Each sees the
other's block as one around it while both run.
"""

from __future__ import annotations

import contextlib
import contextvars
import functools
import inspect
from collections import deque
from collections.abc import Callable, Coroutine
from types import TracebackType
from typing import Any, ParamSpec, Protocol, TypeVar, cast

import attrs

from .actors.futures import Future
from .actors.reporting import report
from .protocol.content_replies import ReferReply
from .protocol.errors import DragomanError, InvalidArgument
from .protocol.records import DEFAULT_METHOD, Call, CallRecord
from .protocol.redaction import redacted
from .protocol.statuses import SkipReason

__all__ = ["Outcome", "RecordedCall", "Recorder"]

P = ParamSpec("P")
T = TypeVar("T")

_MAX_CHILDREN = 1000
_NOT_RECORDED = frozenset({SkipReason.DUPLICATE_CALL, SkipReason.OVERLOADED})


class _Missing:
    __slots__ = ()

    def __repr__(self) -> str:
        return "no result"


MISSING = _Missing()
"""In the place of a result that was never set; null is a result."""


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
        """A failure by the exception that was raised; one that cannot say what it is was raised all the same."""
        try:
            return cls.error(type(error).__name__, str(error))
        except Exception:
            return cls.error("Exception", "?")


class Recorder(Protocol):
    """Where calls are recorded: a runtime."""

    def record_call(self, session_id: str, call: Call, outcome: Outcome) -> Future[CallRecord]: ...

    def refer(self, session_id: str, parent_id: str, child_id: str) -> Future[ReferReply]: ...


class _Frame:
    """A recorded call that runs, or has run, and the one around it."""

    __slots__ = ("call", "children", "ended", "outer")

    def __init__(self, call: RecordedCall, outer: _Frame | None) -> None:
        self.call = call
        self.outer = outer
        self.ended = False
        self.children: deque[str] = deque(maxlen=_MAX_CHILDREN)


_running: contextvars.ContextVar[_Frame | None] = contextvars.ContextVar("dragoman_recorded_call", default=None)


def _live(frame: _Frame | None) -> _Frame | None:
    """The innermost call that still runs, from `frame` outwards."""
    while frame is not None and frame.ended:
        frame = frame.outer
    return frame


def _cut(frame: _Frame | None) -> None:
    """Cut what has ended out of the chain, or tasks that start each other would keep every call there ever was."""
    while frame is not None:
        frame.outer = outer = _live(frame.outer)
        frame = outer


def enclosing(runtime: object, session_id: str | None = None) -> RecordedCall | None:
    """The innermost recorded call of a runtime that runs here, of one session or of any."""
    frame = _live(_running.get())
    while frame is not None:
        call = frame.call
        if call.recorder is runtime and session_id in (None, call.session_id):
            return call
        frame = _live(frame.outer)
    return None


class RecordedCall:
    """A call that is recorded when it ends; from `Runtime.recorded`. A `with` block is one call, a decorated function
    one each time that it is called.

    Within it, `id`, `depth` and `parent` are known, and `result` is what will be recorded; after it, `record` is the
    future of the record. A block that raises is recorded as an error, one that never sets its result as one without.
    """

    def __init__(
        self,
        recorder: Recorder,
        session_id: str | Callable[..., str],
        *,
        role: str,
        method: str | None,
        id: str | None,  # noqa: A002 (the word of the records)
        keep: bool,
        new_id: Callable[[str], str],
    ) -> None:
        self.recorder = recorder
        self._session: str | Callable[..., str] = session_id
        self._new_id = new_id
        self._frame: _Frame | None = None
        self._record: Future[CallRecord] | None = None
        self._put_off = False
        self._id = id
        self.role = role
        self.method = method
        self.keep = keep
        self.depth = 0
        self.parent: str | None = None
        self.result: Any = MISSING

    def __repr__(self) -> str:
        return f"<RecordedCall {self._id or '(not begun)'}>"

    @property
    def session_id(self) -> str:
        if not isinstance(self._session, str):
            raise InvalidArgument("session_id", "is made from the arguments of a function: there is none in a block")
        return self._session

    @property
    def id(self) -> str:
        """Its id in the session; made up when it begins, unless it was given."""
        if self._id is None:
            raise InvalidArgument("id", "the call has not begun")
        return self._id

    @property
    def record(self) -> Future[CallRecord]:
        """The future of its record, once it has ended; of an error, where it could not be recorded."""
        if self._record is None:
            raise InvalidArgument("record", "the call has not ended")
        return self._record

    @property
    def children(self) -> tuple[str, ...]:
        """The ids of the recorded calls that began directly in it, oldest first; the newest thousand."""
        return () if self._frame is None else tuple(self._frame.children)

    def __enter__(self) -> RecordedCall:
        if self._frame is not None:
            raise InvalidArgument("recorded", "a block is one call: ask the runtime for another")
        parent = enclosing(self.recorder, self.session_id)
        self.method = self.method or DEFAULT_METHOD
        self._id = self._id or self._new_id(self.method)
        if parent is not None and parent._frame is not None:
            self.depth, self.parent = parent.depth + 1, parent.id
            parent._frame.children.append(self._id)
        self._frame = _Frame(self, _live(_running.get()))
        _running.set(self._frame)
        _cut(self._frame)
        return self

    def __exit__(
        self, _type: type[BaseException] | None, error: BaseException | None, _traceback: TracebackType | None
    ) -> None:
        if self._put_off:
            self._step_out()
            return
        self._leave()
        try:
            self._record = self._recorded(Outcome.ok(self.result) if error is None else Outcome.raised(error))
        except Exception as fault:
            # Whatever it is, it must not take the place of what the program returns or raises.
            self._not_recorded(type(fault).__name__)
            self._record = Future()
            self._record.settle(None, fault)

    async def __aenter__(self) -> RecordedCall:
        return self.__enter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.__exit__(kind, error, traceback)

    def _leave(self) -> None:
        """End the frame, in whichever context the block is left: a generator may be taken from in several."""
        if self._frame is not None:
            self._frame.ended = True
            self._step_out()

    def _step_out(self) -> None:
        if self._frame is not None and _running.get() is self._frame:
            _running.set(_live(self._frame.outer))

    def _recorded(self, outcome: Outcome) -> Future[CallRecord]:
        call = Call(self.id, self.role, self.method or DEFAULT_METHOD, self.depth, self.parent, self.keep)
        record = self.recorder.record_call(self.session_id, call, outcome)
        record.add_done_callback(self._tell)
        return record

    def _tell(self, record: Future[CallRecord]) -> None:
        """Log what nobody may look at: that a call left no record."""
        try:
            reason = record.get().reason
        except DragomanError as error:
            self._not_recorded(type(error).__name__)
            return
        if reason in _NOT_RECORDED:
            self._not_recorded(str(reason))

    def _not_recorded(self, why: str) -> None:
        report(
            "WARNING",
            "the call {call} in {session} was not recorded: {reason}",
            call=self._id or self.method or "?",
            session=self._session if isinstance(self._session, str) else "?",
            reason=why,
        )

    def refer(self, child_id: str) -> Future[ReferReply]:
        """This call refers to the content of a child of it, which is kept for that (P constraint 6)."""
        return self.recorder.refer(self.session_id, self.id, child_id)

    @staticmethod
    def bind(function: Callable[P, T]) -> Callable[P, T]:
        """`function` as something that may be called in any thread, with the calls that run here around it."""
        if inspect.iscoroutinefunction(function):
            raise InvalidArgument("function", "is async: a task has the calls around it that run where it is made")
        context = contextvars.copy_context()

        @functools.wraps(function)
        def bound(*args: P.args, **kwargs: P.kwargs) -> T:
            return context.copy().run(function, *args, **kwargs)

        return bound

    def __call__(self, function: Callable[P, T]) -> Callable[P, T]:
        """Record each call of `function`, and return or raise what it does."""
        if not callable(function):
            raise InvalidArgument(
                "function", "must be one: @runtime.recorded(session, …), below @classmethod and its like"
            )
        if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
            raise InvalidArgument("function", "yields: record the code that takes what it yields, in a with block")
        if self._id is not None:
            raise InvalidArgument("id", "names one call; a decorated function is called more than once")
        if inspect.iscoroutinefunction(function):

            @functools.wraps(function)
            async def awaited(*args: P.args, **kwargs: P.kwargs) -> Any:
                call = self._another(function, args, kwargs)
                if call is None:
                    return await function(*args, **kwargs)
                with call:
                    call.result = result = await function(*args, **kwargs)
                    return result

            return cast("Callable[P, T]", awaited)

        @functools.wraps(function)
        def called(*args: P.args, **kwargs: P.kwargs) -> T:
            call = self._another(function, args, kwargs)
            if call is None:
                return function(*args, **kwargs)
            with call:
                call.result = result = function(*args, **kwargs)
                if inspect.iscoroutine(result):
                    call._put_off = True
            return cast("T", call._awaited(cast("Coroutine[Any, Any, Any]", result))) if call._put_off else result

        return called

    async def _awaited(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        """What a function that is not async itself gave to be awaited; the call ends with that."""
        around = _running.get()
        _running.set(self._frame)
        self._put_off = False
        try:
            with contextlib.ExitStack() as stack:
                stack.push(self.__exit__)
                self.result = result = await coroutine
                return result
        finally:
            _running.set(around)

    def _another(
        self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> RecordedCall | None:
        """The call of a decorated function that begins; None where nobody can tell its session."""
        try:
            session: object = self._session if isinstance(self._session, str) else self._session(*args, **kwargs)
        except Exception as fault:
            self._not_recorded(type(fault).__name__)
            return None
        if not isinstance(session, str):
            self._not_recorded(f"its session is {type(session).__name__}")
            return None
        name = getattr(function, "__name__", None)
        return RecordedCall(
            self.recorder,
            session,
            role=self.role,
            method=self.method or (name if isinstance(name, str) else None),
            id=None,
            keep=self.keep,
            new_id=self._new_id,
        )
