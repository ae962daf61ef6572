"""The provider gateway: physical calls, the key to begin with, and the circuit of each provider (C7, C13).

Rules. A call is made or, while the provider's circuit is open, not made at all. It ends once: by its first answer, or
by being cancelled; what comes later changes nothing, statistics included. An answer, whatever it holds, makes its key
the one that last succeeded. Which call comes next (another key, a recovery, a retry) is decided by the operation.

Not promised: that an answer and the calls it leads to are one step for requests of other sessions with the same
provider. Which key last succeeded, and whether the circuit is open, is as of the moment in which a call is made.
"""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import Any

import attrs

from ..protocol.calls import CallTaker, Completion, Provider, ProviderCall
from ..protocol.circuits import Circuit, Passage
from ..protocol.errors import ActorFailed
from ..protocol.execution_messages import AnswerCall, CountCall, CountError
from ..protocol.failures import PROVIDER_FAULT, ProviderError
from ..protocol.histogram import CALL_BOUNDS_S
from ..protocol.mappings import FrozenMapping
from ..protocol.messages import Inspect, ReadStatistics
from ..protocol.runtime_statistics import ConnectionStatistics
from ..protocol.settings import Settings, microseconds
from .actor import Actor, handles
from .dispatcher import Dispatcher
from .distribution import Distribution
from .io_loop import IoLoop, IoTask
from .mailbox import Envelope, Mailbox
from .outside import CallEnded, CallOver, CallsMade, CancelCalls, MakeCalls

__all__ = ["GatewaySnapshot", "GatewayStatistics", "ProviderGateway"]


@attrs.frozen
class GatewaySnapshot:
    """What is on its way: open calls by their ids, and tasks of the event loop that have not ended."""

    open_calls: tuple[str, ...]
    tasks: int


@attrs.frozen
class GatewayStatistics:
    """What the gateway knows of each provider, and the tasks of the event loop that have not ended."""

    connections: FrozenMapping[ConnectionStatistics]
    tasks: int


@attrs.frozen
class _Arrived:
    """The event loop → gateway: a provider has answered."""

    request_id: str
    number: int
    made: int
    completion: Completion | None
    error: str | None
    retry_after_us: int | None = None


class _Provider:
    """What the gateway knows of one provider."""

    __slots__ = ("call_times", "cancelled", "circuit", "key", "refused")

    def __init__(self, circuit: Circuit) -> None:
        self.circuit = circuit
        self.key = 1
        self.refused = 0
        self.cancelled = 0
        self.call_times = Distribution(CALL_BOUNDS_S)

    def read(self, open_calls: int) -> ConnectionStatistics:
        return ConnectionStatistics(
            open_calls=open_calls,
            circuit=self.circuit.state,
            refused=self.refused,
            cancelled=self.cancelled,
            call_times=self.call_times.read(),
        )


class _OpenCall:
    __slots__ = ("began_us", "key", "made", "operation", "passage", "provider", "task")

    def __init__(self, call: ProviderCall, made: int, passage: Passage, operation: Mailbox, began_us: int) -> None:
        self.began_us = began_us
        self.provider = call.provider
        self.key = call.key
        self.made = made
        self.passage = passage
        self.operation = operation
        self.task: IoTask | None = None


class ProviderGateway(Actor):
    """Owns what is known of the providers and which calls are open."""

    def __init__(
        self,
        dispatcher: Dispatcher,
        settings: Settings,
        statistics: Mailbox,
        loop: IoLoop,
    ) -> None:
        super().__init__(dispatcher)
        self._circuit_failures = settings.circuit_failures
        self._cooldown_us = microseconds(settings.circuit_cooldown)
        self._statistics = statistics
        self._loop = loop
        self._providers: dict[str, _Provider] = {}
        self._open: dict[tuple[str, int], _OpenCall] = {}
        self._made = 0

    @handles(MakeCalls)
    def _make(self, message: MakeCalls, _envelope: Envelope[Any]) -> CallsMade:
        placed: list[tuple[int, int] | None] = []
        number = message.first_number
        for draft in message.calls:
            provider = self._provider(draft.provider)
            passage = provider.circuit.enter(self.dispatcher.now_us())
            if passage is None:
                provider.refused += 1
                placed.append(None)
                continue
            call = attrs.evolve(draft, id=f"{draft.request_id}/{number}", number=number, key=draft.key or provider.key)
            placed.append((number, call.key))
            number += 1
            self._place(call, passage, message)
        return CallsMade(tuple(placed))

    def _place(self, call: ProviderCall, passage: Passage, message: MakeCalls) -> None:
        self._made += 1
        made = self._made
        opened = _OpenCall(call, made, passage, message.operation, self.dispatcher.now_us())
        self._open[call.request_id, call.number] = opened
        self._statistics.tell(CountCall(call.provider, call.purpose))
        self.observe(("call", call.id, call.purpose, f"key {call.key}"))
        self.dispatcher.note("made", call)
        outside = message.provider
        if isinstance(outside, Provider):
            arrived = partial(self._arrives, call.request_id, call.number, made)
            opened.task = self._loop.start(outside, call, arrived)
        elif isinstance(outside, CallTaker):
            try:
                outside.take(call)
            except Exception as fault:
                self._note_fault(fault)
                self.mailbox.tell(_Arrived(call.request_id, call.number, made, None, PROVIDER_FAULT))

    def _arrives(
        self, request_id: str, number: int, made: int, completion: Completion | None, failure: ProviderError | None
    ) -> None:
        """Runs on the event loop."""
        error = None if failure is None else failure.name
        self.mailbox.tell(_Arrived(request_id, number, made, completion, error, _wait_of(failure)))

    @handles(_Arrived)
    def _arrived(self, message: _Arrived, _envelope: Envelope[Any]) -> None:
        opened = self._open.get((message.request_id, message.number))
        if opened is not None and opened.made == message.made:
            opened.operation.tell(self._settle(message))

    @handles(AnswerCall)
    def _answered(self, message: AnswerCall, _envelope: Envelope[Any]) -> CallEnded | CallOver:
        """An answer that came as a message, by way of its operation."""
        opened = self._open.get((message.request_id, message.number))
        if opened is None:
            return CallOver(message.number)
        if opened.task is not None:
            opened.task.cancel()
        return self._settle(message)

    def _settle(self, answer: _Arrived | AnswerCall) -> CallEnded:
        error = answer.error
        opened = self._open.pop((answer.request_id, answer.number))
        provider = self._provider(opened.provider)
        provider.call_times.add_us(self.dispatcher.now_us() - opened.began_us)
        if error is None:
            provider.circuit.answered(opened.passage)
            provider.key = opened.key
        else:
            provider.circuit.failed(opened.passage, error, self.dispatcher.now_us())
            self._statistics.tell(CountError(opened.provider, error))
        self.observe(("call", f"{answer.request_id}/{answer.number}", error or "answered"))
        return CallEnded(answer.number, answer.completion, error, answer.retry_after_us)

    @handles(CancelCalls)
    def _cancel(self, message: CancelCalls, _envelope: Envelope[Any]) -> None:
        for number in message.numbers:
            opened = self._open.pop((message.request_id, number), None)
            if opened is None:
                continue
            provider = self._provider(opened.provider)
            provider.cancelled += 1
            provider.circuit.ended(opened.passage)
            self.observe(("call", f"{message.request_id}/{number}", "cancelled"))
            self.dispatcher.note("dropped", message.request_id, number)
            if opened.task is not None:
                opened.task.cancel()

    @handles(Inspect)
    def _inspect(self, _message: Inspect, _envelope: Envelope[Any]) -> GatewaySnapshot:
        return GatewaySnapshot(tuple(f"{request_id}/{number}" for request_id, number in self._open), self._loop.running)

    @handles(ReadStatistics)
    def _read_statistics(self, _message: ReadStatistics, _envelope: Envelope[Any]) -> GatewayStatistics:
        open_calls = Counter(opened.provider for opened in self._open.values())
        connections = {name: provider.read(open_calls[name]) for name, provider in self._providers.items()}
        return GatewayStatistics(FrozenMapping(connections), self._loop.running)

    def retired(self) -> None:
        """However it ends, also when its runtime is forgotten, nobody waits for a call any more."""
        super().retired()
        self._loop.end()

    def _fail(self, envelope: Envelope[Any], failure: ActorFailed, told: BaseException | None) -> None:
        """A fault while an answer was taken must not leave its operation waiting for ever."""
        super()._fail(envelope, failure, told)
        message = envelope.message
        if isinstance(message, _Arrived):
            opened = self._open.pop((message.request_id, message.number), None)
            if opened is not None:
                opened.operation.tell(CallEnded(message.number, None, PROVIDER_FAULT))
        elif isinstance(message, CancelCalls):
            for number in message.numbers:
                opened = self._open.pop((message.request_id, number), None)
                if opened is not None and opened.task is not None:
                    opened.task.cancel()

    def _provider(self, name: str) -> _Provider:
        provider = self._providers.get(name)
        if provider is None:
            provider = _Provider(Circuit(self._circuit_failures, self._cooldown_us))
            self._providers[name] = provider
        return provider

    def _note_fault(self, fault: Exception) -> None:
        self.dispatcher.handler_failed(self._failure(fault))


def _wait_of(failure: ProviderError | None) -> int | None:
    """How long the provider wants nobody to ask again."""
    return None if failure is None or failure.retry_after is None else microseconds(failure.retry_after)
