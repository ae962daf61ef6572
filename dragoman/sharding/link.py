"""A shard as its callers see it: what waits to be sent, what was sent, and the lives of the shard.

Rules. Calls are sent in the order in which they were put in, in numbered batches of which two are on their way at most:
what comes meanwhile goes with the next. So a lone call is sent at once, and many share the cost of a remote call,
without a timer. A batch is sent once; nothing of it is ever sent again.

A shard that fails in any way is ended, and every call that was sent to it and not answered is answered with
`ShardLost`. Another one is started in its place, with a life of its own, for what was not sent yet and for what comes.

All but `put` is done in the thread of the courier.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from ..actors.answering import ReplyTo
from ..actors.outside import Outside
from ..actors.reporting import report
from ..protocol.errors import DragomanError, InvalidArgument
from ..protocol.outcomes import StartReply
from ..protocol.participation import ProviderPolicy
from ..protocol.settings import Settings
from ..protocol.statuses import StartStatus
from .courier import Courier
from .errors import LossReason, ShardLost
from .launching import Launcher, Remote
from .wire import SHARD, Answers, Late, pack, unpack, unpacked_reply

__all__ = ["Beginning", "Call", "Change", "Changing", "Link"]

_MAX_BATCH = 512
"""Calls in a batch: by then the cost of the remote call is a tenth of the whole, and the answers stay prompt."""
_MAX_FLYING = 2
"""Batches on their way at a time: while the shard works on one, the next is carried there."""
_COLLECT_S = 60.0
"""How long a shard is asked to wait for late answers before it is asked again."""

Change = Callable[[Settings], Settings]


class Call:
    """A call on its way: what is sent, and whom its answer goes to."""

    __slots__ = ("item", "reply_to")

    change: Change | None = None
    """What it changes in the settings, with which the next life of its shard begins once it was sent."""

    def __init__(self, item: Any, reply_to: ReplyTo | None) -> None:
        self.item = item
        self.reply_to = reply_to

    def answer(self, value: Any, error: BaseException | None) -> bool:
        """Give the answer of the call; whether all that it is to be told is."""
        if self.reply_to is not None:
            self.reply_to.settle(value, error)
        return True

    def end(self, _value: Any, _error: BaseException | None) -> bool:
        """The end of an execution, which this does not begin."""
        return False

    def tell(self, event: Any) -> None:
        """An event of an execution, which this does not begin."""

    def fail(self, error: BaseException) -> None:
        """Whatever it still has to be told is this."""
        self.answer(None, error)


class Changing(Call):
    """A call that changes the settings of its shard."""

    __slots__ = ("change",)

    def __init__(self, item: Any, reply_to: ReplyTo | None, change: Change) -> None:
        super().__init__(item, reply_to)
        self.change = change


class Beginning(Call):
    """A call that begins an execution: its answer is told, its events, and its end."""

    __slots__ = ("_outside", "_started")

    def __init__(self, item: Any, reply_to: ReplyTo | None, outside: Outside) -> None:
        super().__init__(item, reply_to)
        self._outside = outside
        self._started: bool | None = None

    def answer(self, value: Any, error: BaseException | None) -> bool:
        super().answer(value, error)
        # Its end may be told before its start is, if both are late.
        over = self._started is False
        self._started = error is None and isinstance(value, StartReply) and value.status is StartStatus.STARTED
        return over or not self._started

    def end(self, value: Any, error: BaseException | None) -> bool:
        """The end of the execution; whether all that it is to be told is."""
        reply_to: Any = self._outside.finished.reply_to
        if reply_to is not None:
            reply_to.settle(value, error)
        over, self._started = self._started is not None, False
        return over

    def tell(self, event: Any) -> None:
        if self._outside.progress is not None:
            self._outside.progress(event)

    def fail(self, error: BaseException) -> None:
        if self._started is None:
            self.answer(None, error)
        self.end(None, error)


class Link:
    """The way to one shard; see the module."""

    def __init__(
        self,
        shard: int,
        launcher: Launcher,
        courier: Courier,
        settings: Settings,
        providers: Mapping[str, ProviderPolicy],
        *,
        start_timeout_s: float,
    ) -> None:
        self.shard = shard
        self.incarnation = 0
        self._launcher = launcher
        self._courier = courier
        self._settings = settings
        self._providers = dict(providers)
        self._start_timeout_s = start_timeout_s
        self._putting = threading.Lock()
        self._waiting: deque[Call] = deque()
        self._awake = False
        self._ended: DragomanError | None = None
        self._remote: Remote | None = None
        self._living = False
        self._begin_life()

    def _begin_life(self) -> None:
        self._calls = self._batches = 0
        self._flying: dict[int, list[Call | None]] = {}
        self._late: dict[int, Call] = {}
        self._collecting = False
        self._parcels: dict[int, bytes] = {}
        self._next_parcel = 1

    def __len__(self) -> int:
        """Calls that wait to be sent."""
        return len(self._waiting)

    def put(self, call: Call) -> None:
        """Let a call wait its turn; from any thread. Two that are put one after another are started in that order."""
        with self._putting:
            ended = self._ended
            if ended is None:
                self._waiting.append(call)
                if self._awake:
                    return
                self._awake = True
        if ended is not None:
            call.fail(ended)
        else:
            self._courier.do(self._send)

    def _take(self) -> list[Call]:
        """The next batch; this sleeps if there is none."""
        with self._putting:
            waiting = self._waiting
            self._awake = bool(waiting)
            return [waiting.popleft() for _ in range(min(len(waiting), _MAX_BATCH))]

    def launch(self) -> None:
        """Start the shard, if it is neither there nor on its way."""
        if self._remote is not None or self._ended is not None:
            return
        self.incarnation += 1
        self._begin_life()
        self._remote = remote = self._launcher.launch(self.shard)
        self._courier.do_after(self._start_timeout_s, partial(self._not_there, remote))
        done = partial(self._later, self._opened, remote)
        remote.call("open", self.incarnation, self._settings, self._providers, done=done)

    def _later(self, step: Callable[..., None], remote: Remote, answer: Any, reason: LossReason | None) -> None:
        """Take an answer of Ray's thread to that of the courier."""
        self._courier.do(partial(self._take_answer, step, remote, answer, reason))

    def _take_answer(self, step: Callable[[Any], None], remote: Remote, answer: Any, reason: LossReason | None) -> None:
        if remote is not self._remote:
            return  # of an earlier life: whoever waited for it has been answered
        if reason is not None:
            self._lose(reason)
            return
        try:
            step(answer)
        except Exception as error:
            report("ERROR", "an answer of shard {shard} broke: {error_type}", error_type=type(error).__name__)
            self._lose(LossReason.FAILED)

    def _opened(self, _incarnation: int) -> None:
        self._living = True
        self._send()

    def _not_there(self, remote: Remote) -> None:
        if remote is self._remote and not self._living:
            self._lose(LossReason.NOT_STARTED)

    def _send(self) -> None:
        remote = self._remote
        if remote is None or not self._living:
            self.launch()
            return
        while len(self._flying) < _MAX_FLYING:
            calls = self._take()
            if not calls:
                return
            self._fly(remote, calls)

    def _fly(self, remote: Remote, calls: list[Call]) -> None:
        packed = pack([call.item for call in calls], _unwritable)
        for call in calls:
            if call.change is not None:
                self._settings = call.change(self._settings)
        first, self._calls = self._calls, self._calls + len(calls)
        self._flying[first] = list(calls)
        number, self._batches = self._batches, self._batches + 1
        done = partial(self._later, partial(self._ran, first), remote)
        remote.call("run", self.incarnation, number, packed, done=done)

    def _ran(self, first: int, answers: Answers) -> None:
        replies, parcel, items = answers
        # None are there of a batch that came before its turn.
        packed = unpack(replies) or [None] * len(self._flying[first])
        # A call stays where the loss of the shard finds it until it is answered.
        for number, (call, reply) in enumerate(zip(self._flying[first], packed, strict=True), first):
            if call is not None and (reply is None or not call.answer(*unpacked_reply(reply))):
                self._late[number] = call
        del self._flying[first]
        self._receive(parcel, items)
        self._send()
        self._collect()

    def _collect(self) -> None:
        """Ask for what is answered late, while there is something to wait for."""
        if self._collecting or self._remote is None or not self._late:
            return
        self._collecting = True
        done = partial(self._later, self._collected, self._remote)
        self._remote.call("collect", self.incarnation, _COLLECT_S, done=done)

    def _collected(self, answers: Answers) -> None:
        self._collecting = False
        _replies, parcel, items = answers
        self._receive(parcel, items)
        self._collect()

    def _receive(self, parcel: int, items: bytes) -> None:
        """Take the parcels in their order; one that comes before its turn waits for it."""
        self._parcels[parcel] = items
        while self._next_parcel in self._parcels:
            for item in unpack(self._parcels.pop(self._next_parcel)):
                self._take_item(*item)
            self._next_parcel += 1

    def _take_item(self, number: int, kind: int, what: Any) -> None:
        calls, key = self._place_of(number)
        call = calls[key]
        if call is None:
            return  # it was told of its end already, by something that could not be written
        if kind == Late.EVENT:
            call.tell(what)
            return
        take = call.end if kind in (Late.OUTCOME, Late.OUTCOME_ERROR) else call.answer
        if take(what, None) if kind in (Late.ANSWER, Late.OUTCOME) else take(None, what):
            calls[key] = None
            self._late.pop(number, None)

    def _place_of(self, number: int) -> tuple[Any, int]:
        """Where a call is kept: a parcel may come before the answer to the batch of its call."""
        for first, calls in self._flying.items():
            if first <= number < first + len(calls):
                return calls, number - first
        return {number: self._late.get(number)}, number

    def _all_sent(self) -> list[Call]:
        """What was sent and is not answered, in the order in which it was sent."""
        flying = [call for calls in self._flying.values() for call in calls if call is not None]
        return [*self._late.values(), *flying]

    def _lose(self, reason: LossReason) -> None:
        """The end of a life: whoever waits for an answer gets it, and the next life begins, empty."""
        remote, lived = self._remote, self._living
        self._remote, self._living = None, False
        sent = self._all_sent()
        self._begin_life()
        self._kill(remote)
        report("WARNING", "shard {shard} is lost: {reason}", shard=self.shard, reason=reason.value)
        if not lived:
            # Nothing is tried again and again in vain: the next call does.
            with self._putting:
                sent += self._waiting
                self._waiting.clear()
                self._awake = False
            reason = LossReason.NOT_STARTED
        for call in sent:
            call.fail(ShardLost(self.shard, self.incarnation, reason.value))
        if lived:
            self.launch()

    def _kill(self, remote: Remote | None) -> None:
        """End a shard, whatever is left of it; callers are answered in any case."""
        try:
            if remote is not None:
                remote.kill()
        except Exception as error:
            name = type(error).__name__
            report("WARNING", "shard {shard} could not be ended: {error_type}", shard=self.shard, error_type=name)

    def end(self, error: DragomanError) -> None:
        """No more calls: the shard is ended, and whoever waits is answered with `error`, as whoever comes later."""
        with self._putting:
            if self._ended is not None:
                return
            self._ended = error
            calls = [*self._all_sent(), *self._waiting]
            self._waiting.clear()
        self._begin_life()
        remote, self._remote = self._remote, None
        self._kill(remote)
        for call in calls:
            call.fail(error)


def _unwritable(_place: int, error: Exception) -> Any:
    problem = f"cannot be sent to another process: {type(error).__name__}"
    return [SHARD, InvalidArgument("the call", problem)]
