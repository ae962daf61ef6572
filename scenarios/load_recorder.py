"""The recorder: between the callers and the judge, it writes down what crosses the face, in plain values.

A call is written down before it is made, and its answer after it has come: so what stands in the log behind the answer
of another really came later. The log is the one thing that all callers share; appending to it is atomic.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from typing import Any

from ..actors.futures import Future
from ..protocol.errors import ContentRefNotFound, DragomanError, UnknownCall
from ..runtime import Runtime
from .load_moves import Move
from .verdict import Answered, Called, Entry, Looked
from .verdict_facts import Look

__all__ = ["Recorder", "look_at"]

_ANSWERS = (ContentRefNotFound, UnknownCall)
"""Errors that are an answer: a miss, and a call that nobody remembers."""


class Recorder:
    """Sends moves and writes the log; `now_us` is the clock of the runtime. `took_ns` holds what each call took."""

    def __init__(self, runtime: Runtime, now_us: Callable[[], int]) -> None:
        self._runtime = runtime
        self._now_us = now_us
        self.log: deque[Entry] = deque()
        self.took_ns: deque[tuple[str, int]] = deque()

    def call(self, caller: int, move: Move) -> tuple[Future[Any] | BaseException, int]:
        """Make the call of a move: its future, and when it was made."""
        operation = move.operation
        operation.caller = caller
        operation.called_at = self._now_us()
        self.log.append(Called(operation))
        began_ns = time.perf_counter_ns()
        try:
            return move.send(self._runtime), began_ns
        except DragomanError as error:
            return error, began_ns

    def answer(self, move: Move, began_ns: int, reply: Any) -> Any:
        """Its answer has come: the plain reply."""
        took_ns = time.perf_counter_ns() - began_ns
        operation = move.operation
        expected = not isinstance(reply, BaseException) or isinstance(reply, _ANSWERS)
        operation.reply = move.plain(reply) if expected else ("error", type(reply).__name__)
        # The clock of the runtime counts whole microseconds that have begun.
        operation.answered_at = self._now_us() + 1
        self.took_ns.append((operation.kind, took_ns))
        self.log.append(Answered(operation))
        return operation.reply

    def look(self, *, at_rest: bool) -> None:
        """Look at the whole."""
        self.log.append(Looked(look_at(self._runtime, self._now_us(), at_rest=at_rest)))


def look_at(runtime: Runtime, now_us: int, *, at_rest: bool) -> Look:
    """A snapshot in plain values."""
    snapshot = runtime.snapshot()
    counts = snapshot.counts
    return Look(
        at_rest=at_rest,
        sessions=tuple(
            (
                session.session_id,
                tuple((turn.request_id, turn.parent_id, turn.user, turn.assistant) for turn in session.turns),
                session.turn_counter,
            )
            for session in snapshot.sessions
        ),
        open_requests=snapshot.open_requests,
        store=tuple((session, held.entries, held.bytes) for session, held in snapshot.store.sessions.items()),
        store_bytes=snapshot.store.bytes,
        sent=counts.sent,
        handled=counts.handled,
        dead=counts.dead,
        queued=counts.queued,
        failed=counts.failed,
        at_us=now_us,
    )
