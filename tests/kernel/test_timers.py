"""Timers post a message, which is ignored if it comes too late, and end with their actor (design 3.3)."""

from __future__ import annotations

import threading
import time
from typing import Any

import pykka
import pytest

from dragoman.actors.dispatcher import Dispatcher
from dragoman.actors.mailbox import Envelope
from dragoman.actors.simulation import SimulatedDispatcher
from dragoman.actors.threads import ThreadDispatcher
from dragoman.actors.timers import TimerFired
from dragoman.protocol.errors import ActorFailed

from .probes import PATIENCE_S, Block, Countdown, Do, Doer, in_threads, mailbox_of, start

HOUR_US = 3_600_000_000


class Ringing(Doer):
    """Counts down as its timers fire, and notes the clock."""

    def __init__(self, dispatcher: Dispatcher, rung: Countdown) -> None:
        super().__init__(dispatcher)
        self.rung = rung
        self.instants: list[int] = []

    def on_timer(self, key: str) -> None:
        super().on_timer(key)
        self.instants.append(self.dispatcher.now_us())
        self.rung.count()


class Leaving(Doer):
    """Starts a timer as the last thing it does."""

    def on_stop(self) -> None:
        self.start_timer("after the end", 1_000)


class Restless(Doer):
    """Starts its one timer anew each time it fires."""

    def on_timer(self, key: str) -> None:
        super().on_timer(key)
        self.start_timer(key, HOUR_US)


def start_timers(ref: pykka.ActorRef[Any], *timers: tuple[str, int]) -> None:
    def start_all(actor: Doer) -> None:
        for key, delay_us in timers:
            actor.start_timer(key, delay_us)

    ref.ask(Do(start_all), timeout=PATIENCE_S)


def fired(ref: pykka.ActorRef[Any]) -> list[str]:
    keys: list[str] = ref.ask(Do(lambda actor: list(actor.fired)), timeout=PATIENCE_S)
    return keys


def test_timers_fire_in_the_order_of_their_instants_and_then_of_their_start(simulated: SimulatedDispatcher) -> None:
    ref = start(Doer, simulated)
    start_timers(ref, ("late", 30), ("tie 1", 20), ("tie 2", 20), ("early", 10), ("tie 3", 20))
    simulated.advance(30)
    assert fired(ref) == ["early", "tie 1", "tie 2", "tie 3", "late"]


def test_a_timer_fires_at_its_instant_and_not_before(simulated: SimulatedDispatcher) -> None:
    ref = start(Doer, simulated)
    start_timers(ref, ("key", 1_000))
    simulated.advance(999)
    assert fired(ref) == []
    simulated.advance(1)
    assert fired(ref) == ["key"]
    simulated.advance(HOUR_US)
    assert fired(ref) == ["key"]


def test_the_clock_shows_the_timers_own_instant_while_it_fires(simulated: SimulatedDispatcher) -> None:
    ref = start(Ringing, simulated, Countdown(3))
    start_timers(ref, ("one", 10), ("two", 25), ("three", 70))
    simulated.advance(100)
    assert ref.ask(Do(lambda actor: actor.instants), timeout=PATIENCE_S) == [10, 25, 70]
    assert simulated.now_us() == 100


def test_a_timer_started_by_a_timer_fires_within_the_same_advance(simulated: SimulatedDispatcher) -> None:
    ref = start(Restless, simulated)
    start_timers(ref, ("again", HOUR_US))
    simulated.advance(5 * HOUR_US)
    assert fired(ref) == ["again"] * 5


def test_real_timers_fire_and_in_order(threaded: ThreadDispatcher) -> None:
    rung = Countdown(3)
    ref = start(Ringing, threaded, rung)
    before_us = threaded.now_us()
    start_timers(ref, ("third", 30_000), ("first", 1), ("second", 15_000))
    assert rung.wait() == 0
    assert fired(ref) == ["first", "second", "third"]
    instants = ref.ask(Do(lambda actor: actor.instants), timeout=PATIENCE_S)
    assert instants[2] >= before_us + 30_000


def test_an_earlier_timer_does_not_wait_for_a_later_one(threaded: ThreadDispatcher) -> None:
    rung = Countdown(1)
    ref = start(Ringing, threaded, rung)
    start_timers(ref, ("in an hour", HOUR_US))
    start_timers(ref, ("now", 1))
    assert rung.wait() == 0
    assert fired(ref) == ["now"]


def test_a_cancelled_timer_does_not_fire(simulated: SimulatedDispatcher) -> None:
    ref = start(Doer, simulated)
    start_timers(ref, ("cancelled", 10), ("kept", 10))
    ref.ask(Do(lambda actor: actor.cancel_timer("cancelled")), timeout=PATIENCE_S)
    simulated.advance(100)
    assert fired(ref) == ["kept"]
    assert simulated.live_timers() == 0


def test_cancelling_what_does_not_run_changes_nothing(dispatcher: Dispatcher) -> None:
    ref = start(Doer, dispatcher)
    start_timers(ref, ("kept", HOUR_US))
    ref.ask(Do(lambda actor: actor.cancel_timer("never started")), timeout=PATIENCE_S)
    assert dispatcher.live_timers() == 1


def test_starting_a_timer_again_supersedes_it(simulated: SimulatedDispatcher) -> None:
    ref = start(Doer, simulated)
    start_timers(ref, ("key", 10), ("key", 20))
    assert simulated.live_timers() == 1
    simulated.advance(15)
    assert fired(ref) == []
    simulated.advance(5)
    assert fired(ref) == ["key"]


def restart(actor: Doer) -> None:
    actor.start_timer("key", HOUR_US)


def cancel(actor: Doer) -> None:
    actor.cancel_timer("key")


@pytest.mark.parametrize(("change", "live"), [(restart, 1), (cancel, 0)])
def test_what_was_superseded_while_its_message_waited_is_ignored(
    simulated: SimulatedDispatcher, change: Any, live: int
) -> None:
    ref = start(Doer, simulated)

    def get_ahead(kind: str, _actor: str, _what: object) -> None:
        if kind == "timer":
            mailbox_of(ref).tell(Do(change))

    start_timers(ref, ("key", 10))
    simulated.observer = get_ahead
    simulated.advance(10)
    simulated.observer = None
    assert fired(ref) == []
    assert simulated.live_timers() == live
    simulated.advance(HOUR_US)
    assert fired(ref) == ["key"] * live


@pytest.mark.parametrize(("change", "live"), [(restart, 1), (cancel, 0)])
def test_what_was_superseded_while_its_message_waited_behind_a_blocked_handler_is_ignored(
    threaded: ThreadDispatcher, change: Any, live: int
) -> None:
    ref = start(Doer, threaded)
    block = Block()
    arrived = threading.Event()

    def start_and_block(actor: Doer) -> str:
        actor.mailbox.tell(Do(change))
        actor.start_timer("key", 1)
        return block()

    blocked = ref.ask(Do(start_and_block), block=False)
    # The probe's timer comes after the other one in the heap; when it has fired, the other one has.
    probe = start(Ringing, threaded, Countdown(1))

    def tell_when_fired(actor: Ringing) -> None:
        actor.rung.count = arrived.set  # type: ignore[method-assign, assignment]
        actor.start_timer("probe", 1)

    assert block.entered.wait(PATIENCE_S)
    probe.tell(Do(tell_when_fired))
    assert arrived.wait(PATIENCE_S)
    assert len(mailbox_of(ref)) == 2, "the change and the timer wait"
    block.release.set()
    assert blocked.get(timeout=PATIENCE_S) == "released"
    assert fired(ref) == []
    assert threaded.live_timers() == live


def test_a_forged_generation_is_ignored(dispatcher: Dispatcher) -> None:
    ref = start(Doer, dispatcher)
    start_timers(ref, ("key", HOUR_US))
    mailbox_of(ref).put(Envelope(TimerFired("key", 10**9)))
    mailbox_of(ref).put(Envelope(TimerFired("no such key", 1)))
    assert fired(ref) == []
    assert dispatcher.live_timers() == 1


def test_all_timers_of_an_actor_end_with_it(dispatcher: Dispatcher) -> None:
    ref, other = start(Doer, dispatcher), start(Doer, dispatcher)
    start_timers(ref, *((f"key {number}", HOUR_US) for number in range(10)))
    start_timers(other, ("kept", HOUR_US))
    assert dispatcher.live_timers() == 11
    ref.stop(timeout=PATIENCE_S)
    assert dispatcher.live_timers() == 1


def test_a_timer_that_a_stopping_actor_starts_ends_with_it_too(dispatcher: Dispatcher) -> None:
    ref = start(Leaving, dispatcher)
    ref.stop(timeout=PATIENCE_S)
    assert dispatcher.live_timers() == 0


def test_retiring_an_actor_ends_its_timers(dispatcher: Dispatcher) -> None:
    start_timers(start(Doer, dispatcher), ("key", HOUR_US))
    dispatcher.stop(PATIENCE_S)
    dispatcher.retire_all()
    assert dispatcher.live_timers() == 0


def test_a_timer_that_raises_is_a_failure_of_its_actor_which_lives_on(simulated: SimulatedDispatcher) -> None:
    ref = start(Ringing, simulated, Countdown(1))

    def break_bell(actor: Ringing) -> None:
        actor.rung = None  # type: ignore[assignment]
        actor.start_timer("broken", 10)

    ref.ask(Do(break_bell), timeout=PATIENCE_S)
    simulated.advance(10)
    ((kind, failure, _trace),) = ref.ask(Do(lambda actor: actor.failures), timeout=PATIENCE_S)
    assert kind is ActorFailed
    assert failure.error_type == "AttributeError"


class Prompting(Ringing):
    prompt = True


def test_a_timer_that_ends_its_own_message_ends_no_other(
    threaded: ThreadDispatcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fault of the kernel itself, in the thread of the timers."""
    rung = Countdown(1)
    ref = start(Prompting, threaded, rung)
    receive = Prompting.receive

    def break_once(actor: Prompting, envelope: Envelope[Any], again: bool = False) -> None:
        if isinstance(envelope.message, TimerFired) and envelope.message.key == "broken":
            raise SystemExit
        receive(actor, envelope, again)

    monkeypatch.setattr(Prompting, "receive", break_once)
    start_timers(ref, ("broken", 1_000), ("whole", 2_000))
    assert rung.wait() == 0


class Asking(Doer):
    """Asks another actor as its timer fires, and waits for the answer, which is there."""

    prompt = True

    def __init__(self, dispatcher: Dispatcher, other: pykka.ActorRef[Any], asked: Countdown) -> None:
        super().__init__(dispatcher)
        self.other = other
        self.asked = asked

    def on_timer(self, key: str) -> None:
        answer: Any = self.other.ask(key, block=False)
        assert answer.done
        self.asked.count()
        answer.get()


def test_a_timer_may_not_wait_for_what_it_asks_even_if_it_is_there(threaded: ThreadDispatcher) -> None:
    asked = Countdown(1)
    ref = start(Asking, threaded, start(Prompting, threaded, Countdown(0)), asked)
    start_timers(ref, ("bell", 1_000))
    assert asked.wait() == 0
    failures = ref.ask(Do(lambda actor: actor.failures), timeout=PATIENCE_S)
    assert [failure.error_type for _kind, failure, _trace in failures] == ["BlockingInHandler"]


def test_a_thousand_virtual_hours_are_quick(simulated: SimulatedDispatcher) -> None:
    ref = start(Restless, simulated)
    start_timers(ref, ("hourly", HOUR_US))
    began_s = time.monotonic()
    simulated.advance(1_000 * HOUR_US)
    assert time.monotonic() - began_s < 5.0
    assert len(fired(ref)) == 1_000


def test_the_heap_stays_small_under_a_hundred_thousand_restarts(dispatcher: Dispatcher) -> None:
    ref = start(Doer, dispatcher)

    def restart_often(actor: Doer) -> int:
        actor.start_timer("other", HOUR_US)
        largest = 0
        for _ in range(100_000):
            actor.start_timer("key", HOUR_US)
            largest = max(largest, len(dispatcher._timers._heap))  # type: ignore[attr-defined]
        return largest

    assert ref.ask(Do(restart_often), timeout=PATIENCE_S) < 200
    assert dispatcher.live_timers() == 2


def test_timers_started_from_many_actors_at_once_all_fire(threaded: ThreadDispatcher) -> None:
    rung = Countdown(4 * 50)
    refs = [start(Ringing, threaded, rung) for _ in range(4)]
    timers = [(f"key {number}", number * 20) for number in range(50)]
    in_threads(*(lambda ref=ref: start_timers(ref, *timers) for ref in refs))
    assert rung.wait() == 0
    assert threaded.live_timers() == 0
