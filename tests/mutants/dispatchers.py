"""Planted faults of the two dispatchers, of the timers and of the futures."""

from __future__ import annotations

import time
from typing import Any

import pytest

from dragoman.actors.actor import Actor
from dragoman.actors.futures import Future
from dragoman.actors.mailbox import _BATCH, Mailbox
from dragoman.actors.parking import Gate
from dragoman.actors.running import here
from dragoman.actors.simulation import SimulatedDispatcher
from dragoman.actors.threads import ThreadDispatcher
from dragoman.actors.timers import TimerHeap

from ..execution.mutants import MUTANTS as OF_EXECUTION
from .mailboxes import let_others_in
from .registry import planted, reuse

_THREADS = "actors/threads.py"
_SIMULATION = "actors/simulation.py"
_TIMERS = "actors/timers.py"
_ACTOR = "actors/actor.py"
_FUTURES = "actors/futures.py"


@planted("dispatcher", _THREADS)
def wakes_nobody(patch: pytest.MonkeyPatch) -> None:
    """A mailbox that becomes ready wakes no worker: it waits for somebody who happens to help."""
    patch.setattr(ThreadDispatcher, "ready", lambda self, mailbox: self._ready.append(mailbox))


@planted("dispatcher", _THREADS)
def parks_without_looking_again(patch: pytest.MonkeyPatch) -> None:
    """A worker goes to sleep on what it saw before its bed was made: the wake-up in between is lost."""

    def park(self: ThreadDispatcher) -> None:
        let_others_in()
        gate = Gate()
        self._parked.append(gate)
        gate.wait()
        self._waking = False

    patch.setattr(ThreadDispatcher, "_park", park)


@planted("dispatcher", _THREADS)
def leaves_the_rest_to_nobody(patch: pytest.MonkeyPatch) -> None:
    """A thread that has its answer stops helping, and no worker is told of what is still ready."""

    def run_batch(self: Mailbox, until: Any = None) -> None:
        more = self.run(_BATCH, until)
        dispatcher: Any = self.dispatcher
        if more and until is not None:
            dispatcher._ready.append(self)
        elif more:
            dispatcher.ready(self)

    def help_only(self: ThreadDispatcher, future: Any, deadline: float | None) -> None:
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

    patch.setattr(Mailbox, "run_batch", run_batch)
    patch.setattr(ThreadDispatcher, "_help", help_only)


@planted("dispatcher", _THREADS)
def stops_with_messages_left(patch: pytest.MonkeyPatch) -> None:
    """What is still ready as a dispatcher stops is handled by nobody."""
    stop = ThreadDispatcher.abandon

    def abandon(self: ThreadDispatcher) -> None:
        self._ready.clear()
        stop(self)

    patch.setattr(ThreadDispatcher, "abandon", abandon)


@planted("dispatcher", _SIMULATION)
def forgets_a_mailbox_that_has_more(patch: pytest.MonkeyPatch) -> None:
    """In virtual time a mailbox is run for one message, and what waits behind that is never delivered."""
    deliver = SimulatedDispatcher._deliver

    def once(self: SimulatedDispatcher, place: int, until: Any) -> None:
        mailbox = self._ready[place]
        deliver(self, place, until)
        if self._ready and self._ready[-1] is mailbox:
            self._ready.pop()

    patch.setattr(SimulatedDispatcher, "_deliver", once)


@planted("dispatcher", _SIMULATION)
def a_timer_sees_the_end_of_the_step(patch: pytest.MonkeyPatch) -> None:
    """In virtual time the clock has reached the end of the step already while the timers on the way fire."""

    def advance_to(self: SimulatedDispatcher, instant_us: int) -> None:
        self.run()
        self._now_us = max(self._now_us, instant_us)
        while (due := self._timers.pop_due(instant_us)) is not None:
            self._fire(*due[:2])
            self.run()

    patch.setattr(SimulatedDispatcher, "advance_to", advance_to)


reuse(
    OF_EXECUTION,
    "leaves_its_timers",
    "timers",
    "actors/operation.py",
    "The timers of an execution outlive it.",
    "execution",
)


@planted("timers", _ACTOR)
def a_cancelled_timer_that_has_fired_counts(patch: pytest.MonkeyPatch) -> None:
    """A timer that had fired takes effect though it was cancelled while its message waited in the mailbox."""
    cancel, fired = Actor.cancel_timer, Actor._on_timer_fired
    over: set[int] = set()

    def forgetful(self: Actor, key: str) -> None:
        entry = (self._timers or {}).get(key)
        if entry is not None and entry[3] is None:
            over.add(entry.generation)
        cancel(self, key)

    def all_the_same(self: Actor, message: Any, envelope: Any) -> None:
        if message.generation in over:
            self.on_timer(message.key)
        else:
            fired(self, message, envelope)

    patch.setattr(Actor, "cancel_timer", forgetful)
    for actor in _actors():
        for key, handler in tuple(actor.handlers.items()):
            if handler is fired:
                patch.setitem(actor.handlers, key, all_the_same)


@planted("timers", _ACTOR)
def a_superseded_timer_counts(patch: pytest.MonkeyPatch) -> None:
    """A timer that was superseded while its message waited in the mailbox takes effect all the same."""

    def whatever(self: Actor, message: Any, _envelope: Any) -> None:
        if self._timers is not None and self._timers.pop(message.key, None) is not None:
            self.on_timer(message.key)

    for actor in _actors():
        for key, handler in tuple(actor.handlers.items()):
            if handler is Actor._on_timer_fired:
                patch.setitem(actor.handlers, key, whatever)


def _actors(kind: type[Actor] = Actor) -> list[type[Actor]]:
    return [kind, *(below for child in kind.__subclasses__() for below in _actors(child))]


@planted("timers", _TIMERS)
def ties_fire_in_reverse(patch: pytest.MonkeyPatch) -> None:
    """Of the timers that fall due at one instant the one that was started last fires first."""
    stamp = TimerHeap.stamp
    patch.setattr(TimerHeap, "stamp", lambda self: -stamp(self))
    start = TimerHeap.start

    def reverse(self: TimerHeap, due_us: int, mailbox: Any, key: str, stamp: int | None = None) -> Any:
        return start(self, due_us, mailbox, key, self.stamp() if stamp is None else stamp)

    patch.setattr(TimerHeap, "start", reverse)


@planted("timers", _TIMERS)
def forgets_when_a_timer_counts_as_started(patch: pytest.MonkeyPatch) -> None:
    """A timer that counts as started earlier fires behind all others of its instant."""
    start = TimerHeap.start
    patch.setattr(TimerHeap, "start", lambda self, due_us, mailbox, key, _stamp=None: start(self, due_us, mailbox, key))


@planted("timers", _THREADS)
def does_not_tell_of_an_earlier_timer(patch: pytest.MonkeyPatch) -> None:
    """The thread of the timers sleeps until the timer that it knew of, though an earlier one was started."""

    def start_timer(self: ThreadDispatcher, delay_us: int, mailbox: Any, key: str, stamp: int | None = None) -> Any:
        with self._timer_lock:
            entry = self._timers.start(self.now_us() + delay_us, mailbox, key, stamp)
            if self._timer_thread is None:
                self._start_timer_thread()
        let_others_in()
        return entry

    patch.setattr(ThreadDispatcher, "start_timer", start_timer)


@planted("futures", _FUTURES)
def takes_a_second_answer(patch: pytest.MonkeyPatch) -> None:
    """A later answer takes the place of the first."""

    def settle(self: Future[Any], value: Any, error: BaseException | None) -> bool:
        self._value, self._error = value, error
        self.done = True
        if self._callbacks is not None:
            self._call_back()
        return True

    patch.setattr(Future, "settle", settle)


@planted("futures", _FUTURES)
def forgets_a_late_callback(patch: pytest.MonkeyPatch) -> None:
    """A callback that is added in the moment in which the answer comes is never called."""

    def add(self: Future[Any], callback: Any) -> None:
        let_others_in()
        if self._callbacks is None:
            self._callbacks = []
        self._callbacks.append(callback)

    patch.setattr(Future, "add_done_callback", add)


@planted("futures", _FUTURES)
def is_done_before_its_answer_is_there(patch: pytest.MonkeyPatch) -> None:
    """Who looks at a future in the moment of its answer reads nothing instead."""

    def settle(self: Future[Any], value: Any, error: BaseException | None) -> bool:
        try:
            del self._open
        except AttributeError:
            return False
        self.done = True
        let_others_in()
        self._value, self._error = value, error
        if self._callbacks is not None:
            self._call_back()
        return True

    patch.setattr(Future, "settle", settle)


@planted("futures", _FUTURES)
def calls_back_before_its_answer_is_there(patch: pytest.MonkeyPatch) -> None:
    """Callbacks are called while the future is still open: who waits for it to be done is woken too early."""
    settle = Future.settle

    def early(self: Future[Any], value: Any, error: BaseException | None) -> bool:
        if hasattr(self, "_open") and self._callbacks is not None:
            self._call_back()
        return settle(self, value, error)

    patch.setattr(Future, "settle", early)
