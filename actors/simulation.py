"""The simulated dispatcher: the same actors on the caller's thread, in virtual time.

Rules. Nothing runs until somebody waits for an answer or asks for it with `run`. One message is delivered at a time;
which mailbox comes next is a choice of the schedule, recorded on the tape. What comes from outside waits in the
`ingress` and is delivered by a choice as well: the schedule that always takes the first (plain FIFO) lets everything
inside come to rest before it lets the next caller in, as if callers came one after another. Time moves only by
`advance`; a timer fires at its own instant, and everything runs until it rests before the next one does.

Chance comes in streams, one for each actor by its name and one for the outside: what an actor draws depends on the
seed and on what it drew before, and not on what happens elsewhere.

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
from .timers import TimerEntry, TimerFired, TimerHeap

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
        self._seed = seed
        self._chance: dict[str, random.Random] = {}
        self._running: Mailbox | None = None
        self._choose = choose
        self._stopped = False
        self.tape: list[int] = []
        self.back_offs: dict[str, deque[int]] = {}
        """The next back-offs of a request, in microseconds, where they are known beforehand and not drawn."""

    def now_us(self) -> int:
        return self._now_us

    def random_bits(self, count: int) -> int:
        running = self._running
        drawing = "" if running is None or running.actor is None else running.actor.name
        chance = self._chance.get(drawing)
        if chance is None:
            # The seed is a text, which is digested; a tuple would be hashed, differently in each process.
            chance = self._chance[drawing] = random.Random(f"{self._seed} {drawing}")
        return chance.getrandbits(count)

    def back_off_us(self, request_id: str, longest_us: int) -> int:
        known = self.back_offs.get(request_id)
        return known.popleft() if known else super().back_off_us(request_id, longest_us)

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
            self._fire(mailbox, fired)
            self.run()
        self._now_us = max(self._now_us, instant_us)

    def _fire(self, mailbox: Mailbox, fired: TimerFired) -> None:
        if self.observer is not None:
            self.observer("timer", mailbox.actor.name if mailbox.actor else "", fired)
        mailbox.tell(fired)

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
        if choice < len(self._ready):
            self._deliver(choice, until)
        else:
            self._let_in(choice - len(self._ready))
        return True

    def _let_in(self, place: int) -> None:
        """Put what waits outside at that place into its mailbox."""
        mailbox, envelope = self._ingress[place]
        del self._ingress[place]
        mailbox.put(envelope)

    def _deliver(self, place: int, until: Future[Any] | None) -> None:
        """Run one message of the ready mailbox at that place."""
        mailbox = self._ready[place]
        del self._ready[place]
        outer, here.dispatcher = here.dispatcher, self
        before, self._running = self._running, mailbox
        try:
            more = mailbox.run(1, until)
        finally:
            here.dispatcher = outer
            self._running = before
        if more:
            self._ready.append(mailbox)
