"""The feature history: source and translated text of each parent that a feature applied (C13).

Rules. A record is answered once it is durable; one that cannot be written is counted, logged by type and place, and
answered as failed, never with an error. When the actor is asked to stop, what was recorded before is written and
answered first, and whatever comes after is refused. Without a path nothing is kept and every record succeeds.

In real time the file is written by a thread of its own; under virtual time in the handler, so that every schedule can
be run again.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import attrs

from ..protocol.applied import FindApplied, ReadApplied, RecordApplied, Recorded
from ..protocol.errors import ActorFailed
from ..protocol.messages import Inspect
from ..protocol.redaction import redacted
from .actor import DEFERRED, Actor, handles
from .answering import answer, refuse
from .dispatcher import Dispatcher
from .history_file import Done, HistoryFile, HistoryWriter
from .mailbox import STOP, ActorGone, Envelope
from .reporting import report
from .simulation import SimulatedDispatcher

__all__ = ["FeatureHistory", "FeatureHistorySnapshot"]

_RECORDED = Recorded(failed=False)
_NOT_RECORDED = Recorded(failed=True)
_PATIENCE_S = 5.0


@attrs.frozen(kw_only=True)
class FeatureHistorySnapshot:
    """What the feature history has done so far."""

    enabled: bool
    """Whether it has a file."""
    entries_written: int
    """Entries that are durable."""
    failed_writes: int
    """Records that could not be written."""


@attrs.frozen
class _Finished:
    """Writer → actor: the end of the job for the envelope of that number."""

    number: int
    result: Any = attrs.field(repr=redacted)
    failure: ActorFailed | None


@attrs.frozen
class _AllFinished:
    """Writer → actor: everything is written, and the file is closed."""


class FeatureHistory(Actor):
    """Owns the file at `path`; None keeps nothing. See the module for its rules.

    A file that cannot be used raises `InvalidSetting` at once; with `lazy` it is neither looked at nor made before it
    is first needed, and fails the writes then.
    """

    def __init__(self, dispatcher: Dispatcher, path: str | None, *, lazy: bool = False) -> None:
        super().__init__(dispatcher)
        if path is not None and not lazy:
            HistoryFile.check(path)
        self._threaded = not isinstance(dispatcher, SimulatedDispatcher)
        self._writer = None if path is None else HistoryWriter(path, threaded=self._threaded)
        self._numbers = itertools.count()
        self._asked: dict[int, Envelope[Any]] = {}
        self._stops: list[Envelope[Any]] = []
        self._entries_written = 0
        self._failed_writes = 0

    @handles(RecordApplied)
    def _record(self, message: RecordApplied, envelope: Envelope[Any]) -> Any:
        if self._writer is None or not message.entries:
            return _RECORDED
        return self._begin(envelope, partial(self._writer.append, message.entries))

    @handles(ReadApplied)
    def _read(self, message: ReadApplied, envelope: Envelope[Any]) -> Any:
        if self._writer is None:
            return ()
        return self._begin(envelope, partial(self._writer.ask, lambda file: file.read(message.document)))

    @handles(FindApplied)
    def _find(self, message: FindApplied, envelope: Envelope[Any]) -> Any:
        if self._writer is None:
            return None
        return self._begin(envelope, partial(self._writer.ask, lambda file: file.find(message.key)))

    @handles(Inspect)
    def _inspect(self, _message: Inspect, _envelope: Envelope[Any]) -> FeatureHistorySnapshot:
        return FeatureHistorySnapshot(
            enabled=self._writer is not None,
            entries_written=self._entries_written,
            failed_writes=self._failed_writes,
        )

    def _begin(self, envelope: Envelope[Any], job: Callable[[Done], None]) -> Any:
        """Give the writer a job, whose result is the answer to the envelope."""
        if self._stops:
            refuse(envelope, ActorGone(self.name))
            return DEFERRED
        number = next(self._numbers)
        self._asked[number] = envelope
        job(partial(self._end_of_job, number))
        return DEFERRED

    def _end_of_job(self, number: int, result: Any, error: Exception | None) -> None:
        """Runs in the writer's thread, if there is one."""
        finished = _Finished(number, result, None if error is None else self._failure(error))
        if self._threaded:
            self.mailbox.tell(finished)
        else:
            self._finish(finished)

    @handles(_Finished)
    def _take_finished(self, finished: _Finished, _envelope: Envelope[Any]) -> None:
        self._finish(finished)

    def _finish(self, finished: _Finished) -> None:
        envelope = self._asked.pop(finished.number)
        failure = finished.failure
        if isinstance(envelope.message, RecordApplied):
            if failure is None:
                self._entries_written += len(envelope.message.entries)
            else:
                self._note_failed_write(failure)
            answer(envelope, _RECORDED if failure is None else _NOT_RECORDED)
        elif failure is None:
            answer(envelope, finished.result)
        else:
            self.dispatcher.handler_failed(failure)
            refuse(envelope, failure)

    def _note_failed_write(self, failure: ActorFailed) -> None:
        self._failed_writes += 1
        report(
            "ERROR",
            "the feature history could not be written: {error_type} in {module}, line {line}",
            error_type=failure.error_type,
            module=failure.module,
            line=failure.line,
        )

    @handles(type(STOP))
    def _stop_when_finished(self, _stop: object, envelope: Envelope[Any]) -> Any:
        """What was asked before is answered first; the stop is when the mailbox closes."""
        self._stops.append(envelope)
        if self._writer is None:
            self._stop()
        elif len(self._stops) == 1:
            self._writer.end(partial(self.mailbox.tell, _AllFinished()) if self._threaded else self._stop)
        return DEFERRED

    @handles(_AllFinished)
    def _take_all_finished(self, _message: _AllFinished, _envelope: Envelope[Any]) -> None:
        if self._writer is not None:
            # Its last words were these: no thread should be left when the stop is answered.
            self._writer.stop(_PATIENCE_S)
        self._stop()

    def owed(self) -> Iterator[Envelope[Any]]:
        # Copied in one step: whoever abandons this actor does so beside a handler that goes on.
        return iter((*self._asked.values(), *self._stops))

    def retired(self) -> None:
        """Of an actor that nobody asked to stop, what is on its way is written too, though not waited for."""
        super().retired()
        if self._writer is not None:
            self._writer.end()
