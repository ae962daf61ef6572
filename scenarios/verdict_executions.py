"""What holds of translations in one session, whose parents the runtime accepts by itself.

Nobody outside sees those ACKs, so no sequential order can be asked for. What is asked: a turn is of a parent that was
to be translated, has its source, and a text that the provider gave for it; it stands once, in source order, and the
requests stand one behind another in the order in which they were started; nothing shows that was dropped, refused or
not committed when its handle closed; an outcome tells of each parent once and does not change; what committed is there.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from .verdict_breaches import ACCOUNTED, CANONICAL, NO_PHANTOM, NOT_AFTER_CLOSE, ONCE, Breach
from .verdict_facts import Operation, Registration, Rules, TurnFact, shown

__all__ = ["ExecutionJudge"]

OUTCOME = "an execution has one outcome, which tells of each parent once"
DROPPED = "what was dropped does not come back"


class _Execution:
    def __init__(self, start: Operation) -> None:
        self.start = start
        self.registration: Registration = start.argument[0]
        self.refused: frozenset[str] = start.argument[1]
        self.texts: dict[str, set[str]] = {}
        self.outcome: Operation | None = None
        self.closed: Operation | None = None
        self.committed: frozenset[str] = frozenset()


class ExecutionJudge:
    """Follows one session of translations."""

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self._executions: dict[str, _Execution] = {}
        self._clears: list[Operation] = []

    def knows(self, request: str) -> bool:
        """Whether a request was started here."""
        return request in self._executions

    def call(self, operation: Operation) -> None:
        if operation.kind == "translate":
            self._executions.setdefault(operation.request, _Execution(operation))
        elif operation.kind == "respond" and operation.request in self._executions:
            texts = self._executions[operation.request].texts
            for parent, text in operation.argument:
                texts.setdefault(parent, set()).add(text)
        elif operation.kind == "clear":
            self._clears.append(operation)

    def answer(self, operation: Operation) -> Iterator[Breach]:
        if operation.kind == "read":
            yield from self._read(operation, operation.reply)
        elif operation.kind == "outcome":
            yield from self._outcome(operation)
        elif operation.kind == "status":
            yield from self._status(operation)

    def _breach(self, promise: str, what: str, operation: Operation, request: str = "") -> Breach:
        execution = self._executions.get(request or operation.request)
        beside = [] if execution is None else [execution.start, execution.outcome, execution.closed]
        seen = {event for event in (*beside, *self._clears[-2:], operation) if event is not None}
        return Breach(promise, what, tuple(shown(event) for event in sorted(seen, key=lambda one: one.called)))

    def _outcome(self, operation: Operation) -> Iterator[Breach]:
        execution = self._executions.get(operation.request)
        if execution is None or operation.reply is None:
            return
        _status, translated, unresolved, cancelled = operation.reply
        told = [*translated, *unresolved, *cancelled]
        if sorted(told) != sorted(execution.registration.parents):
            yield self._breach(OUTCOME, f"{operation.request}: not each parent once", operation)
        known = execution.outcome
        if known is not None and known.reply != operation.reply:
            yield self._breach(OUTCOME, f"{operation.request}: the outcome has changed", operation)
        execution.outcome = known or operation

    def _status(self, operation: Operation) -> Iterator[Breach]:
        is_open, cause, states = operation.reply
        execution = self._executions.get(operation.request)
        if execution is None or is_open or cause is None:
            return
        committed = frozenset(parent for parent, state in states if state == "COMMITTED")
        if execution.closed is not None and committed != execution.committed:
            yield self._breach(NOT_AFTER_CLOSE, f"{operation.request} has changed after it closed", operation)
        if execution.closed is None:
            execution.closed, execution.committed = operation, committed
        outcome = execution.outcome
        if outcome is not None and not committed <= set(outcome.reply[1]) - execution.refused:
            yield self._breach(NO_PHANTOM, f"{operation.request} committed what was not translated", operation)

    def _read(self, operation: Operation, turns: tuple[TurnFact, ...]) -> Iterator[Breach]:
        seen: set[tuple[str, str]] = set()
        for turn in turns:
            if turn[:2] in seen:
                yield self._breach(ONCE, f"{turn[0]}/{turn[1]} stands twice", operation, turn[0])
            seen.add((turn[0], turn[1]))
            yield from self._turn(operation, turn)
        yield from self._order(operation, turns)
        if len(turns) < min(self._rules.max_turns, operation.argument):
            yield from self._missing(operation, seen)

    def _turn(self, operation: Operation, turn: TurnFact) -> Iterator[Breach]:
        request, parent, source, text = turn
        execution = self._executions.get(request)
        place = None if execution is None else execution.registration.places.get(parent)
        if execution is None or place is None or execution.start.called > operation.answered:
            yield self._breach(NO_PHANTOM, f"{request}/{parent} was never to be translated here", operation)
            return
        if (
            execution.registration.sources[place] != source
            or text not in execution.texts.get(parent, ())
            or parent in execution.refused
        ):
            yield self._breach(NO_PHANTOM, f"{request}/{parent} was not accepted with these texts", operation, request)
        closed = execution.closed
        if closed is not None and closed.answered < operation.called and parent not in execution.committed:
            yield self._breach(NOT_AFTER_CLOSE, f"{request}/{parent} had not committed then", operation, request)
        start = execution.start
        if any(
            clear.reply == "CLEARED" and 0 <= start.answered < clear.called and 0 <= clear.answered < operation.called
            for clear in self._clears
        ):
            yield self._breach(DROPPED, f"{request}/{parent} is from before a clearing", operation, request)

    def _order(self, operation: Operation, turns: tuple[TurnFact, ...]) -> Iterator[Breach]:
        known: list[tuple[Any, int]] = []
        for request, parent, _source, _text in turns:
            execution = self._executions.get(request)
            if execution is not None and parent in execution.registration.places:
                known.append((execution, execution.registration.places[parent]))
        for (before, place), (after, next_place) in pairwise(known):
            if before is after:
                if place > next_place:
                    yield self._breach(CANONICAL, "out of source order", operation, before.registration.request)
            elif self._rules.in_session_order and 0 <= after.start.answered < before.start.called:
                yield self._breach(CANONICAL, "out of the order of the requests", operation, after.registration.request)

    def _missing(self, operation: Operation, seen: set[tuple[str, str]]) -> Iterator[Breach]:
        if self._rules.crowded or any(clear.called < operation.answered for clear in self._clears):
            return
        for request, execution in self._executions.items():
            closed = execution.closed
            if closed is None or closed.answered > operation.called:
                continue
            if operation.answered_at - execution.start.called_at > self._rules.ttl_us:
                continue
            for parent in execution.committed:
                if (request, parent) not in seen:
                    yield self._breach(ACCOUNTED, f"{request}/{parent} has committed and is gone", operation, request)
