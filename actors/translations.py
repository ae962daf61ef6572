"""The translation service: the executions that run, and how those that are over have ended (C10, C17).

Rules. One operation a request, a child of this actor. The terminal state of an execution is written once, by the first
cause; its texts go to whoever waits for the outcome and are not kept. Outcomes are remembered as long as the ledger of
requests remembers an id.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import attrs
from cachetools import FIFOCache

from ..protocol.errors import ActorFailed, UnknownCall
from ..protocol.execution_messages import AnswerCall, End, Ended, ExecutionEnded, ReadOutcome
from ..protocol.messages import Inspect, ReadStatistics
from ..protocol.outcomes import TranslationOutcome
from ..protocol.participation import UNLISTED, ProviderPolicy
from ..protocol.runtime_statistics import ExecutionStatistics
from ..protocol.settings import Settings, microseconds
from .actor import DEFERRED, STOP_ENVELOPE, Actor, handles
from .answering import answer, refuse
from .dispatcher import Dispatcher
from .execution_counters import ExecutionCounters
from .mailbox import Envelope, Mailbox
from .operation import TranslationOperation
from .outside import Addresses, Execute, ExecutionOver

__all__ = ["TranslationService"]


class _Execution:
    """A running one: its operation, and the envelope that is answered with its outcome."""

    __slots__ = ("finished", "operation", "place")

    def __init__(self, place: int, operation: Mailbox, finished: Envelope[Any]) -> None:
        self.place = place
        self.operation = operation
        self.finished = finished


@attrs.frozen
class _Ended:
    ended_us: int
    outcome: TranslationOutcome


class TranslationService(Actor):
    """Owns the terminal state of every request that the runtime executes."""

    def __init__(
        self,
        dispatcher: Dispatcher,
        settings: Settings,
        providers: Mapping[str, ProviderPolicy],
        *,
        coordinator: Mailbox,
        sessions: Mailbox,
        gateway: Mailbox,
        feature_history: Mailbox | None,
    ) -> None:
        super().__init__(dispatcher)
        self._settings = settings
        self._policies = providers
        self._addresses = Addresses(
            coordinator=coordinator,
            sessions=sessions,
            gateway=gateway,
            service=self.mailbox,
            feature_history=feature_history,
        )
        self._running: dict[str, _Execution] = {}
        entries = settings.ledger_entries
        self._ended: FIFOCache[str, _Ended] | None = FIFOCache(entries) if entries else None
        self._ttl_us = microseconds(settings.session_ttl)
        self._counters = ExecutionCounters()

    @handles(Execute)
    def _execute(self, message: Execute, envelope: Envelope[Any]) -> Any:
        handoff = message.plan.handoff
        operation = TranslationOperation(
            self.dispatcher,
            message,
            addresses=self._addresses,
            settings=self._settings,
            policy=self._policies.get(handoff.provider, UNLISTED),
        )
        mailbox = operation.spawn()
        self._running[handoff.request_id] = _Execution(message.place, mailbox, message.outside.finished)
        mailbox.put(envelope)
        return DEFERRED

    @handles(ExecutionOver)
    def _over(self, message: ExecutionOver, _envelope: Envelope[Any]) -> None:
        """Everybody is told in an order in which nobody can ask too early: the coordinator, then whoever waits."""
        execution = self._running.get(message.request_id)
        if execution is None or execution.place != message.place:
            return
        try:
            self._counters.over(message.outcome)
            if message.outcome is not None:
                self._remember(message.outcome)
        finally:
            self._end_with(message, execution)

    def _end_with(self, message: ExecutionOver, execution: _Execution) -> None:
        ended = ExecutionEnded(message.request_id, message.place, broken=message.outcome is None)
        self._addresses.coordinator.tell(ended)
        for envelope, reply in message.then:
            answer(envelope, reply)
        if message.failure is None:
            answer(execution.finished, message.outcome)
        else:
            refuse(execution.finished, message.failure)
        execution.operation.put(STOP_ENVELOPE)
        # Not earlier: as long as it is listed, a fault in here is made good by `_fail`.
        del self._running[message.request_id]

    def _fail(self, envelope: Envelope[Any], failure: ActorFailed, told: BaseException | None) -> None:
        """A fault while an end was taken must not leave anybody waiting for it."""
        super()._fail(envelope, failure, told)
        if isinstance(envelope.message, ExecutionOver):
            execution = self._running.get(envelope.message.request_id)
            if execution is not None:
                self._end_with(envelope.message, execution)

    def _remember(self, outcome: TranslationOutcome) -> None:
        if self._ended is not None:
            self._ended.pop(outcome.request_id, None)
            bare = attrs.evolve(outcome, translations={})
            self._ended[outcome.request_id] = _Ended(self.dispatcher.now_us(), bare)

    def _recall(self, request_id: str) -> TranslationOutcome | None:
        entry = None if self._ended is None else self._ended.get(request_id)
        if entry is None or self.dispatcher.now_us() - entry.ended_us > self._ttl_us:
            return None
        return entry.outcome

    @handles(End)
    def _end(self, message: End, envelope: Envelope[Any]) -> Any:
        execution = self._running.get(message.request_id)
        if execution is None:
            return Ended(message.request_id, ended=False)
        execution.operation.put(envelope)
        return DEFERRED

    @handles(AnswerCall)
    def _answer_call(self, message: AnswerCall, envelope: Envelope[Any]) -> Any:
        """A late answer is legal and changes nothing; one to a call that was never made is a mistake."""
        execution = self._running.get(message.request_id)
        if execution is not None:
            execution.operation.put(envelope)
            return DEFERRED
        outcome = self._recall(message.request_id)
        if outcome is None or not 1 <= message.number <= outcome.calls:
            refuse(envelope, UnknownCall(f"{message.request_id}/{message.number}"))
            return DEFERRED
        return None

    @handles(ReadOutcome)
    def _read(self, message: ReadOutcome, _envelope: Envelope[Any]) -> TranslationOutcome | None:
        return None if message.request_id in self._running else self._recall(message.request_id)

    @handles(Inspect)
    def _inspect(self, _message: Inspect, _envelope: Envelope[Any]) -> tuple[str, ...]:
        return tuple(self._running)

    @handles(ReadStatistics)
    def _read_statistics(self, _message: ReadStatistics, _envelope: Envelope[Any]) -> ExecutionStatistics:
        return self._counters.read(running=len(self._running))

    def owed(self) -> Iterator[Envelope[Any]]:
        yield from (execution.finished for execution in self._running.values())
