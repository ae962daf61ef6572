"""Which call of a request is made next (C3.4, C12): batch order, open calls within a limit, fenced attempts.

A batch keeps its place among the open calls while it recovers or moves to another key, and that goes before the next
batch; one that waits for its retry holds none, and when its wait is over it goes by its number like any other. An
answer binds to the call that it was asked for and to no other attempt: a call that is over is not found here.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence

from .batches import Ask, BatchRun, Failed, Retry, Step
from .calls import Completion
from .failures import CIRCUIT_BREAKER_OPEN
from .participation import ProviderPolicy
from .units import Unit

__all__ = ["Schedule"]


class Schedule:
    """The batches of one request and their open calls."""

    __slots__ = ("_calls", "_holding", "_limit", "_next", "_over", "_ready", "batches", "first_error", "made")

    def __init__(
        self,
        batches: Sequence[tuple[Unit, ...]],
        *,
        token: str,
        policy: ProviderPolicy,
        direct: bool,
        max_concurrent_calls: int,
    ) -> None:
        self.batches = tuple(
            BatchRun(number, units, token=token, policy=policy, direct=direct) for number, units in enumerate(batches)
        )
        self.made = 0
        """Physical calls made."""
        self.first_error: str | None = None
        """The final error of the batch that failed first."""
        self._limit = max_concurrent_calls
        self._ready = list(range(len(self.batches)))
        self._next: list[tuple[BatchRun, Ask]] = []
        self._holding: set[int] = set()
        self._calls: dict[int, BatchRun] = {}
        self._over = 0

    @property
    def over(self) -> bool:
        """Whether every batch is resolved or has failed for good."""
        return self._over == len(self.batches)

    @property
    def open_calls(self) -> tuple[int, ...]:
        return tuple(self._calls)

    @property
    def retries(self) -> int:
        return sum(max(0, batch.attempt - 1) for batch in self.batches)

    @property
    def failed_over(self) -> bool:
        return any(batch.failed_over for batch in self.batches)

    def next_call(self) -> tuple[BatchRun, Ask] | tuple[BatchRun, Failed] | None:
        """The next call to be made, or the batch that fails before any; None while there is nothing to do."""
        if self._next:
            return self._next.pop(0)
        if not self._ready or len(self._holding) >= self._limit:
            return None
        batch = self.batches[heapq.heappop(self._ready)]
        step = batch.start()
        if isinstance(step, Failed):
            self.take(batch, step)
            return batch, step
        self._holding.add(batch.number)
        return batch, step

    def placed(self, batch: BatchRun, number: int, key: int) -> None:
        """The call of `batch` was made, as the request's call `number`."""
        self.made = number
        self._calls[number] = batch
        batch.placed(key)

    def not_placed(self, batch: BatchRun) -> Step:
        """The call of `batch` was not made, since the circuit of its provider is open."""
        return self.take(batch, batch.failed(CIRCUIT_BREAKER_OPEN))

    def ended(
        self, number: int, completion: Completion | None, error: str | None, retry_after_us: int | None = None
    ) -> tuple[BatchRun, Step] | None:
        """A call has its answer: its batch and what follows; None for a call that is over."""
        batch = self._calls.pop(number, None)
        if batch is None:
            return None
        if completion is not None:
            return batch, self.take(batch, batch.answered(completion))
        return batch, self.take(batch, batch.failed(error or "", retry_after_us))

    def wake(self, number: int) -> None:
        """The back-off of a batch is over."""
        heapq.heappush(self._ready, number)

    def take(self, batch: BatchRun, step: Step) -> Step:
        """Keep the books about what follows for `batch`."""
        if isinstance(step, Ask):
            self._next.append((batch, step))
            return step
        self._holding.discard(batch.number)
        if not isinstance(step, Retry):
            self._over += 1
        if isinstance(step, Failed) and self.first_error is None:
            self.first_error = step.error
        return step

    def asked(self, number: int) -> Ask | None:
        """What an open call asks for; None for a call that is over."""
        batch = self._calls.get(number)
        return None if batch is None else batch.open_ask
