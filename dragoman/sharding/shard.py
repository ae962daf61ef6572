"""A shard: the runtime of some of the sessions, in a process of its own.

Rules. A batch of calls is handed to the runtime in its order, and batches in the order of their numbers; one of another
incarnation, or with a number that was there already, is refused, and nothing of it is done. What is answered at once,
or in the blink that a batch waits for its last call, goes back with the batch; what comes later goes into the outbox,
from which the next answer to whatever is asked takes it, in numbered parcels. So a call that takes long holds up
nobody, and a caller that has nothing to send is told of it by a `collect` that waits.

It knows nothing of Ray: `launching` makes a Ray actor of it, whose batches run in one thread and whose `collect` in
another.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from functools import partial
from typing import Any

from ..actors.futures import Future, WaitTimeout
from ..actors.mailbox import LATER, Envelope, FaultAtOnce
from ..actors.outside import Begin, Outside
from ..actors.reporting import place_of
from ..protocol.errors import ActorFailed, DragomanError, InvalidArgument
from ..protocol.messages import Acknowledge, Reject
from ..protocol.participation import ProviderPolicy
from ..protocol.settings import Settings
from ..runtime import Runtime
from .errors import LossReason, ShardLost
from .wire import (
    NO_REPLIES,
    SHARD,
    Answers,
    Begins,
    Late,
    Measures,
    ShutsDown,
    TakesSnapshot,
    TakesStatistics,
    pack,
    packed_reply,
    unpack,
    unpacked_reply,
)

__all__ = ["Shard"]

_BLINK_S = 0.002
"""How long a batch waits for answers that are not there at once: about what another remote call would cost."""


class Shard:
    """One runtime at a time, opened and closed by its caller; see the module."""

    def __init__(self, shard: int) -> None:
        self._shard = shard
        self._incarnation = 0
        self._runtime: Runtime | None = None
        self._batches = 0
        self._calls = 0
        self._early: dict[int, bytes] = {}
        self._outbox: list[tuple[int, int, Any]] = []
        self._parcels = 0
        self._arrived = threading.Condition()

    def open(self, incarnation: int, settings: Settings, providers: Mapping[str, ProviderPolicy]) -> int:
        """Begin a life with a fresh runtime, and answer with its number."""
        if self._runtime is not None:
            raise ShardLost(self._shard, self._incarnation, LossReason.FAILED)
        self._runtime = Runtime(settings, providers=providers)
        with self._arrived:
            self._incarnation = incarnation
            self._batches = self._calls = self._parcels = 0
            self._early = {}
            self._outbox = []
        return incarnation

    def run(self, incarnation: int, number: int, batch: bytes) -> Answers:
        """Start the calls of a batch, in their order: their replies as far as they are there, and a parcel.

        A batch that comes before its turn is kept, and run behind the one that it waits for.
        """
        runtime = self._living(incarnation)
        if number < self._batches or number in self._early:
            raise ShardLost(self._shard, incarnation, LossReason.FAILED)
        if number > self._batches:
            self._early[number] = batch
            return (NO_REPLIES, *self._parcel())
        replies = self._run(runtime, unpack(batch))
        while self._batches in self._early:
            self._run_late(runtime, unpack(self._early.pop(self._batches)))
        return (pack(replies, lambda _place, error: [None, self._told(error)]), *self._parcel())

    def _run_late(self, runtime: Runtime, calls: list[Any]) -> None:
        """A batch whose answer has been given: all its replies are late."""
        first = self._calls
        for number, reply in enumerate(self._run(runtime, calls), first):
            if reply is not None:
                value, error = unpacked_reply(reply)
                self._tell(number, Late.ANSWER if error is None else Late.ERROR, error or value)

    def _run(self, runtime: Runtime, calls: list[Any]) -> list[Any]:
        """Start calls: what is told of each as its reply, None for what is not there yet."""
        self._batches += 1
        first, self._calls = self._calls, self._calls + len(calls)
        ask_at_once = runtime._coordinator.ask_at_once
        replies: list[Any] = []
        waiting: list[tuple[int, Future[Any]]] = []
        for place, call in enumerate(calls):
            if type(call) is tuple:
                # The way of most calls, without a future and all else that the face makes for one.
                try:
                    reply = ask_at_once(call)
                except FaultAtOnce as fault:
                    future = fault.answer
                else:
                    if reply is not LATER:
                        replies.append((reply.status._value_, reply.committed))
                        continue
                    future = self._ask(runtime, call)
            else:
                future = self._start(runtime, call, first + place)
            replies.append(None)
            waiting.append((place, future))
        self._wait_for(waiting)
        for place, future in waiting:
            replies[place] = self._reply(first + place, future)
        return replies

    @staticmethod
    def _ask(runtime: Runtime, question: tuple[Any, ...]) -> Future[Any]:
        message = Acknowledge(*question) if len(question) == 3 else Reject(*question)
        return runtime.dispatcher.ask(runtime._coordinator, message)

    def collect(self, incarnation: int, wait_s: float) -> Answers:
        """What is answered late: a parcel as soon as there is something for it, an empty one after `wait_s` seconds."""
        with self._arrived:
            self._arrived.wait_for(lambda: self._outbox or self._incarnation != incarnation, wait_s)
            if self._incarnation != incarnation:
                raise ShardLost(self._shard, incarnation, LossReason.FAILED)
        return (NO_REPLIES, *self._parcel())

    def _living(self, incarnation: int) -> Runtime:
        if self._runtime is None or incarnation != self._incarnation:
            raise ShardLost(self._shard, incarnation, LossReason.FAILED)
        return self._runtime

    def _start(self, runtime: Runtime, call: Any, number: int) -> Future[Any]:
        """Hand a call to the runtime: the future of its reply."""
        door, message = call
        try:
            if door == SHARD:
                return self._do(runtime, message, number)
            return runtime._ask(message, getattr(runtime._crew, door))
        except DragomanError as error:
            return _failed(error)
        except Exception as error:
            return _failed(ActorFailed("the shard", type(error).__name__, *place_of(error)))

    def _do(self, runtime: Runtime, message: object, number: int) -> Future[Any]:
        """What the shard does itself."""
        done: Future[Any] = Future()
        if isinstance(message, Begins):
            return self._begin(runtime, message, number)
        if isinstance(message, TakesSnapshot):
            done.set(runtime.snapshot(message.timeout_s))
        elif isinstance(message, TakesStatistics):
            return runtime.statistics()
        elif isinstance(message, Measures):
            runtime.measure()
            done.set(None)
        elif isinstance(message, ShutsDown):
            done.set(runtime.close(message.timeout_s))
            self._runtime = None
        elif isinstance(message, DragomanError):
            raise message  # in the place of a call that could not be sent
        else:
            raise InvalidArgument("message", f"a shard does not know {type(message).__name__}")
        return done

    def _begin(self, runtime: Runtime, message: Begins, number: int) -> Future[Any]:
        provider: Any = None
        if message.provider is not None:
            try:
                provider = unpack(message.provider)
            except Exception as error:
                problem = f"cannot be made in the process of its shard: {type(error).__name__}"
                raise InvalidArgument("provider", problem) from None
        finished: Future[Any] = Future(runtime.dispatcher)
        finished.add_done_callback(partial(self._late, number, Late.OUTCOME))
        outside = Outside(
            provider=provider,
            feature=None,
            by_hand=True,
            document=message.document,
            progress=partial(self._tell, number, Late.EVENT) if message.tells else None,
            finished=Envelope(None, finished),
        )
        return runtime._ask(Begin(message.plan, outside))

    def _wait_for(self, waiting: list[tuple[int, Future[Any]]]) -> None:
        """Give what is on its way the time to arrive: another remote call for it would take longer."""
        deadline = time.monotonic() + _BLINK_S
        for _place, future in waiting:
            if not future.done and future.dispatcher is not None:
                try:
                    future.dispatcher.wait(future, max(0.0, deadline - time.monotonic()))
                except WaitTimeout:
                    return

    def _reply(self, number: int, future: Future[Any]) -> Any:
        if not future.done:
            future.add_done_callback(partial(self._late, number, Late.ANSWER))
            return None
        try:
            return packed_reply(future.get())
        except Exception as error:
            return [None, self._told(error)]

    def _late(self, number: int, kind: Late, future: Future[Any]) -> None:
        try:
            self._tell(number, kind, future.get())
        except Exception as error:
            self._tell(number, Late(kind + 1), self._told(error))

    def _tell(self, number: int, kind: Late, what: Any) -> None:
        with self._arrived:
            self._outbox.append((number, int(kind), what))
            self._arrived.notify_all()

    def _told(self, error: Exception) -> DragomanError:
        """An error as its caller may see it: a fault is told by type and place, never by its text."""
        if isinstance(error, DragomanError):
            return error
        return ActorFailed("the shard", type(error).__name__, *place_of(error))

    def _parcel(self) -> tuple[int, bytes]:
        with self._arrived:
            self._parcels += 1
            number, taken, self._outbox = self._parcels, self._outbox, []
        return number, pack(taken, lambda place, error: self._unwritable(*taken[place], error))

    def _unwritable(self, number: int, kind: int, _what: Any, error: Exception) -> tuple[int, int, Any]:
        """What is told instead of something that cannot be written; the loss of an event is the end of its request."""
        return number, Late.ERROR if kind == Late.ANSWER else Late.OUTCOME_ERROR, self._told(error)


def _failed(error: DragomanError) -> Future[Any]:
    future: Future[Any] = Future()
    future.settle(None, error)
    return future
