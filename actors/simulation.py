"""The simulated dispatcher: the same actors on the caller's thread, in virtual time.

Rules. Nothing runs until somebody waits for an answer or asks for it with `run`. One message is delivered at a time;
which mailbox comes next is a choice of the schedule, recorded on the tape. What comes from outside waits in the
`ingress` and is delivered by a choice as well: the schedule that always takes the first (plain FIFO) lets everything
inside come to rest before it lets the next caller in, as if callers came one after another. Time moves only by
`advance`; a timer fires at its own instant, and everything runs until it rests before the next one does.

Not promised: use from more than one thread.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..protocol.errors import InvalidArgument, SimulationStalled
from .dispatcher import Dispatcher
from .futures import Future, WaitTimeout
from .running import here
from .timers import TimerEntry, TimerHeap

if TYPE_CHECKING:
    from .mailbox import Envelope, Mailbox

__all__ = ["SimulatedDispatcher"]


def first(_options: int) -> int:
    """The plain FIFO schedule."""
    return 0


class SimulatedDispatcher(Dispatcher):
    """Virtual time on the caller's thread; see the module for its rules.

    `seed` gives the random bits. `choose`, asked with the number of options wherever there are several, answers with
    the index of the one to take; the answers are kept in `tape`.
    """

    def __init__(self, seed: int = 0, choose: Callable[[int], int] = first) -> None:
        super().__init__()
        self._ready: deque[Mailbox] = deque()
        self._ingress: deque[tuple[Mailbox, Envelope[Any]]] = deque()
        self._timers = TimerHeap()
        self._now_us = 0
        self._random = random.Random(seed)
        self._choose = choose
        self._stopped = False
        self.tape: list[int] = []

    def now_us(self) -> int:
        return self._now_us

    def random_bits(self, count: int) -> int:
        return self._random.getrandbits(count)

    def ready(self, mailbox: Mailbox) -> None:
        self._ready.append(mailbox)

    def post(self, mailbox: Mailbox, envelope: Envelope[Any]) -> None:
        if mailbox.is_set():
            mailbox.put(envelope)
        else:
            self._ingress.append((mailbox, envelope))

    def wait(self, future: Future[Any], timeout_s: float | None, *, helping: bool = True) -> None:
        del helping  # there is nobody else
        while not future.done and self._step(future):
            pass
        if not future.done:
            if timeout_s is not None:
                raise WaitTimeout(timeout_s)
            raise SimulationStalled

    def before_await(self, future: Future[Any]) -> None:
        self.run()

    def run(self) -> None:
        """Deliver until every mailbox is empty."""
        while self._step(None):
            pass

    def advance(self, delta_us: int) -> None:
        """Move the clock by `delta_us` microseconds, firing each timer on the way at its own instant."""
        if delta_us < 0:
            raise InvalidArgument("delta_us", "time does not go back")
        self.advance_to(self._now_us + delta_us)

    def advance_to(self, instant_us: int) -> None:
        """Move the clock to `instant_us`, which is not before now."""
        if instant_us < self._now_us:
            raise InvalidArgument("instant_us", "time does not go back")
        self.run()
        while (due := self._timers.pop_due(instant_us)) is not None:
            mailbox, fired, due_us = due
            self._now_us = max(self._now_us, due_us)
            if self.observer is not None:
                self.observer("timer", mailbox.actor.name if mailbox.actor else "", fired)
            mailbox.tell(fired)
            self.run()
        self._now_us = max(self._now_us, instant_us)

    def stamp(self) -> int:
        return self._timers.stamp()

    def start_timer(self, delay_us: int, mailbox: Mailbox, key: str, stamp: int | None = None) -> TimerEntry:
        return self._timers.start(self._now_us + delay_us, mailbox, key, stamp)

    def cancel_timer(self, entry: TimerEntry) -> None:
        self._timers.cancel(entry)

    def live_timers(self) -> int:
        return len(self._timers)

    def stop(self, timeout_s: float) -> tuple[str, ...]:
        del timeout_s
        outside, self._ingress = self._ingress, deque()
        self.run()  # what is inside comes to rest; what is still outside stays unhandled
        self._stopped = True
        for mailbox, envelope in outside:
            mailbox.put(envelope)
        return ()

    def _step(self, until: Future[Any] | None) -> bool:
        """Deliver one message, chosen among the ready mailboxes and what waits outside; whether there was one."""
        if self._stopped:
            return False
        options = len(self._ready) + len(self._ingress)
        if options == 0:
            return False
        choice = 0
        if options > 1:
            choice = self._choose(options)
            self.tape.append(choice)
        if choice >= len(self._ready):
            place = choice - len(self._ready)
            mailbox, envelope = self._ingress[place]
            del self._ingress[place]
            mailbox.put(envelope)
            return True
        mailbox = self._ready[choice]
        del self._ready[choice]
        outer, here.dispatcher = here.dispatcher, self
        try:
            more = mailbox.run(1, until)
        finally:
            here.dispatcher = outer
        if more:
            self._ready.append(mailbox)
        return True
