"""The threaded dispatcher: a few workers, and every caller that waits.

Rules. A mailbox that has messages is in the ready queue exactly once, or is being run by exactly one thread. Runners
take it from there: the workers, and each thread that waits in `Future.get`, until its answer is there (a thread change
costs twenty times what a handler does). A runner handles a batch and puts the mailbox back, so that mailboxes share
the threads fairly. A thread that stops helping wakes a worker if something is ready; so no message waits for a thread
that has gone.

A message to a prompt actor that rests never gets there: its sender handles it (see the mailbox). A question that such
an actor can answer without sending anything is not even made a message (`ask_at_once`). Where the stack of a caller is
nearly used up, nothing is handled on it; the workers do.

Whatever becomes ready wakes a parked worker, even if its sender may be about to help: it may as well never wait, or
block in its handler. At most one worker is being woken at a time, which makes that one wake per turn of the
interpreter lock, not one per message. A worker that takes a mailbox while others are ready wakes the next one.

Not promised: any share of time to a mailbox while as many handlers block as there are workers; they must not.
"""

from __future__ import annotations

import _thread
import secrets
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from . import interrupts
from .dispatcher import Dispatcher
from .futures import Answered, Future, WaitTimeout
from .mailbox import LATER, FaultAtOnce
from .parking import Gate
from .reporting import report
from .running import here, stack_is_deep
from .timers import TimerEntry, TimerHeap

if TYPE_CHECKING:
    from .mailbox import Envelope, Mailbox

__all__ = ["ThreadDispatcher"]

_LONGEST_WAIT_US = 3_600_000_000
"""An hour: the platform cannot wait as long as a setting may be."""


class ThreadDispatcher(Dispatcher):
    """Real threads and real time; see the module for its rules.

    `workers`: how many threads it may start. They start when they are first needed and are daemons, so that a forgotten
    runtime does not keep the interpreter alive.
    """

    delivers_at_once = True

    def __init__(self, workers: int = 2) -> None:
        super().__init__()
        self._ready: deque[Mailbox] = deque()
        self._parked: list[Gate] = []
        self._waking = False
        self._stopping = False
        self._workers = self._unstarted = workers
        self._threads: list[threading.Thread] = []
        self._starting = threading.Lock()
        self._timers = TimerHeap()
        self._timer_lock = threading.Lock()
        self._timer_change = threading.Condition(self._timer_lock)
        self._timer_thread: threading.Thread | None = None
        self._guards = interrupts.guard()

    def now_us(self) -> int:
        return time.monotonic_ns() // 1000

    def now_ns(self) -> int:
        return time.monotonic_ns()

    def random_bits(self, count: int) -> int:
        return secrets.randbits(count)

    def ready(self, mailbox: Mailbox) -> None:
        self._ready.append(mailbox)
        if not self._waking:
            self._wake()

    def ask_at_once(self, mailbox: Mailbox, question: object) -> Future[Any] | None:
        if here.dispatcher is not None or self.observer is not None:
            return None
        try:
            answer = mailbox.ask_at_once(question)
        except FaultAtOnce as fault:
            return fault.answer
        if interrupts.pending:
            interrupts.raise_pending()
        return None if answer is LATER else Answered(answer)

    def leave(self, mailbox: Mailbox, envelope: Envelope[Any]) -> None:
        mailbox.leave(envelope)

    def post(self, mailbox: Mailbox, envelope: Envelope[Any]) -> None:
        if stack_is_deep():
            mailbox.leave(envelope)
        else:
            mailbox.put(envelope)
        if interrupts.pending:
            interrupts.raise_pending()

    def wait(self, future: Future[Any], timeout_s: float | None, *, helping: bool = True) -> None:
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        if self._ready:
            if not self._workers or (helping and not stack_is_deep()):
                self._help(future, deadline)
                if interrupts.pending:
                    interrupts.raise_pending()
            else:
                self._wake()
        if future.done:
            return
        if deadline is None:
            future.block(None)
            return
        try:
            future.block(deadline - time.monotonic())
        except WaitTimeout:
            raise WaitTimeout(timeout_s or 0.0) from None

    def before_await(self, future: Future[Any]) -> None:
        """Nothing: an event loop must stay responsive, so the workers run the mailboxes."""

    def _help(self, future: Future[Any], deadline: float | None) -> None:
        here.dispatcher = self
        try:
            while not future.done and (deadline is None or time.monotonic() < deadline):
                try:
                    mailbox = self._ready.popleft()
                except IndexError:
                    break
                mailbox.run_batch(future)
        finally:
            here.dispatcher = None
            if self._ready:
                self._wake()

    def _wake(self) -> None:
        """See to it that a worker comes, if one is left that sleeps or has not started."""
        if self._waking:
            return
        if self._parked:
            try:
                gate = self._parked.pop()
            except IndexError:  # another thread took the last one
                return
            self._waking = True
            gate.open()
        elif self._unstarted:
            self._start_worker()

    def _start_worker(self) -> None:
        with self._starting:
            if not self._unstarted or self._stopping:
                return
            name = f"dragoman-worker-{self._workers - self._unstarted + 1}"
            thread = threading.Thread(target=self._work, name=name, daemon=True)
            thread.start()
            # Not before: one that could not be started is started by the next who needs it.
            self._unstarted -= 1
            self._threads.append(thread)

    def _work(self) -> None:
        here.dispatcher = self
        while True:
            try:
                mailbox = self._ready.popleft()
            except IndexError:
                # Not before: what is ready when the dispatcher stops is still run.
                if self._stopping:
                    return
                self._park()
                continue
            if self._ready and not self._waking:
                # This handler may block, as none should: what else is ready need not wait for it.
                self._wake()
            try:
                mailbox.run_batch()
            except BaseException as error:
                report("CRITICAL", "a worker survived {error_type}", error_type=type(error).__name__)

    def _park(self) -> None:
        gate = Gate()
        self._parked.append(gate)
        if not self._ready and not self._stopping:
            gate.wait()
            self._waking = False
            return
        try:
            self._parked.remove(gate)
        except ValueError:
            # Somebody took the gate to open it, in this very moment.
            gate.wait()
            self._waking = False

    def stamp(self) -> int:
        return self._timers.stamp()

    def start_timer(self, delay_us: int, mailbox: Mailbox, key: str, stamp: int | None = None) -> TimerEntry:
        with self._timer_lock:
            due_us = self.now_us() + delay_us
            earliest = self._timers.next_due_us()
            entry = self._timers.start(due_us, mailbox, key, stamp)
            if self._timer_thread is None:
                self._start_timer_thread()
            elif earliest is None or due_us < earliest:
                self._timer_change.notify()
        return entry

    def cancel_timer(self, entry: TimerEntry) -> None:
        with self._timer_lock:
            self._timers.cancel(entry)

    def live_timers(self) -> int:
        with self._timer_lock:
            return len(self._timers)

    def _start_timer_thread(self) -> None:
        with self._starting:
            if self._stopping:
                return
            self._timer_thread = threading.Thread(target=self._tick, name="dragoman-timers", daemon=True)
            self._timer_thread.start()
            self._threads.append(self._timer_thread)

    def _tick(self) -> None:
        here.dispatcher = self
        while True:
            with self._timer_lock:
                if self._stopping:
                    return
                due = self._timers.pop_due(self.now_us())
                if due is None:
                    next_us = self._timers.next_due_us()
                    wait_us = None if next_us is None else min(max(0, next_us - self.now_us()), _LONGEST_WAIT_US)
                    self._timer_change.wait(None if wait_us is None else wait_us / 1e6)
                    continue
            mailbox, fired, _due_us = due
            try:
                mailbox.tell(fired)
            except BaseException as error:
                report("CRITICAL", "the timers survived {error_type}", error_type=type(error).__name__)

    def stop(self, timeout_s: float) -> tuple[str, ...]:
        deadline = time.monotonic() + timeout_s
        self.abandon()
        if not self._workers and here.dispatcher is None:
            self._help(Future(self), deadline)
        left = []
        for thread in tuple(self._threads):
            if thread is threading.current_thread():
                continue
            thread.join(max(0.0, deadline - time.monotonic()))
            if thread.is_alive():
                left.append(thread.name)
        return tuple(left)

    def abandon(self) -> None:
        """Let every thread end, without waiting for it. Idempotent."""
        with self._starting:
            first = not self._stopping
            self._stopping = True
        with self._timer_lock:
            self._timer_change.notify_all()
        while self._parked:
            try:
                self._parked.pop().open()
            except IndexError:
                break
        if first and self._guards:
            interrupts.release()


def abandon_with(owner: object, dispatcher: ThreadDispatcher, then: Callable[[], object]) -> None:
    """End the threads of `dispatcher`, and do `then`, once `owner` is collected without having been closed.

    The collector may run in the middle of any call, also of one that holds a lock of the dispatcher: so another thread
    does the work, started by the one call that takes no lock itself.
    """
    finalizer = weakref.finalize(owner, _thread.start_new_thread, _abandon, (dispatcher, then))
    finalizer.atexit = False


def _abandon(dispatcher: ThreadDispatcher, then: Callable[[], object]) -> None:
    dispatcher.abandon()
    dispatcher.retire_all()
    then()
