"""Statistics of a whole runtime, put together from what each of its actors has counted."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import attrs

from .actors.acceptance_counters import with_handles
from .actors.dispatcher import Dispatcher
from .actors.futures import Future
from .actors.handle import AcceptanceHandle
from .actors.mailbox import Envelope, Mailbox
from .crew import Crew
from .protocol.mappings import WordMapping
from .protocol.messages import Inspect, ReadStatistics
from .protocol.runtime_statistics import AcceptanceStatistics, RuntimeStatistics, StoreStatistics
from .protocol.statuses import RegisterStatus

__all__ = ["Reading", "gather", "with_invalid"]

Send = Callable[[Mailbox, Envelope[Any]], object]


class _Gathering:
    """Waits for the answers of all who were asked; the first error is the answer to the whole."""

    def __init__(self, whole: Future[Any], count: int, make: Callable[[tuple[Any, ...]], object]) -> None:
        self._whole = whole
        self._make = make
        self._answers: list[Any] = [None] * count
        self._missing = count
        self._counting = threading.Lock()

    def take(self, place: int, answered: Future[Any]) -> None:
        try:
            answer = answered.get()
        except Exception as error:
            self._whole.settle(None, error)
            return
        with self._counting:
            self._answers[place] = answer
            self._missing -= 1
            complete = not self._missing
        if complete:
            try:
                made = self._make(tuple(self._answers))
            except Exception as error:
                self._whole.settle(None, error)
            else:
                self._whole.settle(made, None)


class Reading:
    """Statistics that were asked for, and are waited for without handling a message meanwhile."""

    def __init__(self, dispatcher: Dispatcher, future: Future[RuntimeStatistics]) -> None:
        self._dispatcher = dispatcher
        self._future = future

    def get(self, timeout_s: float) -> RuntimeStatistics:
        """The snapshot; raises `WaitTimeout`, or what kept an actor from answering."""
        self._dispatcher.wait(self._future, timeout_s, helping=False)
        return self._future.get(0)


def gather(dispatcher: Dispatcher, crew: Crew, send: Send, invalid: int) -> Future[RuntimeStatistics]:
    """Ask each actor that counts, by `send`; `invalid` handoffs were refused before they came to any."""
    questions: tuple[tuple[Mailbox, object], ...] = (
        (crew.coordinator, ReadStatistics()),
        (crew.sessions, ReadStatistics()),
        (crew.store, Inspect()),
        (crew.service, ReadStatistics()),
        (crew.gateway, ReadStatistics()),
        (crew.statistics, Inspect()),
    )
    whole: Future[RuntimeStatistics] = Future(dispatcher)

    def put_together(answers: tuple[Any, ...]) -> RuntimeStatistics:
        acceptance, sessions, store, executions, gateway, providers = answers
        messages, counts, times = dispatcher.statistics()
        acceptance = with_handles(acceptance, counts.get(AcceptanceHandle, {}), times)
        return RuntimeStatistics(
            taken_s=dispatcher.now_us() / 1e6,
            providers=providers,
            connections=gateway.connections,
            provider_tasks=gateway.tasks,
            acceptance=with_invalid(acceptance, invalid),
            sessions=sessions,
            store=StoreStatistics(
                entries=sum(content.entries for content in store.sessions.values()),
                bytes=store.bytes,
                bytes_limit=store.retention.total_bytes,
                counters=store.counters,
            ),
            executions=executions,
            messages=messages,
        )

    gathering = _Gathering(whole, len(questions), put_together)
    for place, (mailbox, question) in enumerate(questions):
        future: Future[Any] = Future(dispatcher)
        future.add_done_callback(lambda answered, place=place: gathering.take(place, answered))  # type: ignore[misc]
        send(mailbox, Envelope(question, future))
    return whole


def with_invalid(acceptance: AcceptanceStatistics, invalid: int) -> AcceptanceStatistics:
    if not invalid:
        return acceptance
    refused = {**acceptance.refused, RegisterStatus.INVALID_HANDOFF.value: invalid}
    return attrs.evolve(acceptance, refused=WordMapping(refused))
