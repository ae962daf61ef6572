"""The mailbox: FIFO, one message at a time, handled to the end (design 3.1)."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pykka
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dragoman.actors.actor import Actor, handles
from dragoman.actors.dispatcher import Dispatcher
from dragoman.actors.futures import Future
from dragoman.actors.mailbox import Envelope, Mailbox
from dragoman.actors.simulation import SimulatedDispatcher
from dragoman.actors.threads import ThreadDispatcher

from .probes import PATIENCE_S, Countdown, Do, Doer, conserved, in_threads, mailbox_of, start

SENDERS = 4


class Careful(Actor):
    """Notices when two threads handle its messages at once, and in which order messages come."""

    def __init__(self, dispatcher: Dispatcher, done: Countdown) -> None:
        super().__init__(dispatcher)
        self.done = done
        self.running = threading.Lock()
        self.overlaps = 0
        self.seen: list[tuple[int, int]] = []

    @handles(tuple)
    def _take(self, message: tuple[int, int], _envelope: Envelope[Any]) -> None:
        if not self.running.acquire(blocking=False):
            self.overlaps += 1
            return
        self.seen.append(message)
        self.running.release()
        self.done.count()


class Relay(Actor):
    """Sends a message on to the receiver behind the one that it got."""

    def __init__(self, dispatcher: Dispatcher, receiver: Mailbox) -> None:
        super().__init__(dispatcher)
        self.receiver = receiver

    @handles(str)
    def _pass_on(self, message: str, _envelope: Envelope[Any]) -> None:
        self.receiver.tell(f"relayed {message}")


class PokingLock:
    """A lock that lets something happen in the very moment in which it was released."""

    def __init__(self, poke: Any) -> None:
        self._lock = threading.Lock()
        self._poke = poke

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *_error: object) -> None:
        self._lock.release()
        poke, self._poke = self._poke, None
        if poke is not None:
            poke()


class PokingList(list[Envelope[Any]]):
    """A queue that lets something happen in the very moment in which a message was taken out."""

    poke: Callable[[], object] | None = None

    def pop(self, *place: Any) -> Envelope[Any]:
        envelope = super().pop(*place)
        poke, self.poke = self.poke, None
        if poke is not None:
            poke()
        return envelope


class Ready(SimulatedDispatcher):
    """Counts how often a mailbox is announced as ready."""

    def __init__(self) -> None:
        super().__init__()
        self.announced: list[Mailbox] = []

    def ready(self, mailbox: Mailbox) -> None:
        self.announced.append(mailbox)


def send_all(receiver: Mailbox, sender: int, count: int) -> None:
    for number in range(count):
        receiver.tell((sender, number))


def test_each_senders_messages_come_in_order_and_one_at_a_time(threaded: ThreadDispatcher) -> None:
    count = 5_000
    done = Countdown(SENDERS * count)
    actor = Careful(threaded, done)
    receiver = actor.spawn()
    in_threads(*(lambda sender=sender: send_all(receiver, sender, count) for sender in range(SENDERS)))
    assert done.wait() == 0
    assert actor.overlaps == 0
    for sender in range(SENDERS):
        assert [number for who, number in actor.seen if who == sender] == list(range(count))


def test_helpers_and_workers_never_run_one_mailbox_at_once(threaded: ThreadDispatcher) -> None:
    count = 1_000
    done = Countdown(SENDERS * count)
    ref = start(Careful, threaded, done)

    def ask_all(sender: int) -> None:
        for number in range(count):
            ref.ask((sender, number), timeout=PATIENCE_S)

    in_threads(*(lambda sender=sender: ask_all(sender) for sender in range(SENDERS)))
    assert done.wait() == 0
    assert mailbox_of(ref).actor.overlaps == 0  # type: ignore[union-attr]


def test_what_was_sent_first_is_seen_first_though_another_actor_relays_the_second(dispatcher: Dispatcher) -> None:
    receiver, sender = start(Doer, dispatcher), start(Doer, dispatcher)
    relay = Relay(dispatcher, mailbox_of(receiver)).spawn()
    for number in range(500):
        text = f"message {number}"
        relayed = send_directly_and_relayed(sender, mailbox_of(receiver), relay, text)
        relayed.get(PATIENCE_S)
        seen = receiver.ask(Do(lambda actor: actor.seen[-2:]), timeout=PATIENCE_S)
        assert seen == [text, f"relayed {text}"]


def send_directly_and_relayed(
    sender: pykka.ActorRef[Any], receiver: Mailbox, relay: Mailbox, text: str
) -> Future[None]:
    relayed: Future[None] = Future(receiver.dispatcher)

    def send(_actor: object) -> None:
        receiver.tell(text)
        relay.ask(text, relayed)

    sender.tell(Do(send))
    return relayed


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(choices=st.lists(st.integers(0, 6), max_size=60))
def test_causal_order_holds_under_any_schedule(choices: list[int]) -> None:
    picks = iter(choices)
    simulated = SimulatedDispatcher(choose=lambda options: next(picks, 0) % options)
    receiver, sender = Doer(simulated), Doer(simulated)
    relay = Relay(simulated, receiver.spawn()).spawn()
    sender.spawn()
    for number in range(5):
        text = str(number)
        sender.mailbox.tell(Do(lambda _actor, text=text: (receiver.mailbox.tell(text), relay.tell(text))))
    simulated.run()
    assert len(receiver.seen) == 10
    for number in range(5):
        assert receiver.seen.index(str(number)) < receiver.seen.index(f"relayed {number}")
    assert [text for text in receiver.seen if text.isdigit()] == ["0", "1", "2", "3", "4"]


def test_a_message_is_handled_to_the_end_before_the_next_one(dispatcher: Dispatcher) -> None:
    ref = start(Doer, dispatcher)

    def tell_itself(actor: Doer) -> None:
        actor.mailbox.tell("second")
        actor.seen.append("end of the first")

    ref.ask(Do(tell_itself), timeout=PATIENCE_S)
    assert ref.ask(Do(lambda actor: list(actor.seen)), timeout=PATIENCE_S) == ["end of the first", "second"]


def test_what_came_before_the_start_is_handled_after_it(dispatcher: Dispatcher) -> None:
    actor = Doer(dispatcher)
    actor.mailbox.tell("early")
    actor.spawn()
    assert actor.actor_ref.ask(Do(lambda actor: list(actor.seen)), timeout=PATIENCE_S) == ["early"]


def test_a_mailbox_is_announced_once_though_a_message_comes_in_the_moment_of_binding() -> None:
    dispatcher = Ready()
    actor = Doer(dispatcher)
    actor.mailbox._lock = PokingLock(lambda: actor.mailbox.tell("at once"))  # type: ignore[assignment]
    actor.mailbox.bind(actor, dispatcher)
    assert len(dispatcher.announced) == 1, "two threads would run this mailbox"


def test_closing_answers_what_waits_and_what_comes_later(dispatcher: Dispatcher) -> None:
    ref = start(Doer, dispatcher)
    waiting = []

    def fill_and_close(actor: Doer) -> None:
        for _ in range(3):
            future = actor._create_future()
            actor.mailbox.ask("never handled", future)
            waiting.append(future)
        actor.dispatcher.retire(actor.mailbox)
        late = actor._create_future()
        actor.mailbox.ask("too late", late)
        waiting.append(late)

    ref.ask(Do(fill_and_close), timeout=PATIENCE_S)
    assert len(waiting) == 4
    for future in waiting:
        with pytest.raises(pykka.ActorDeadError):
            future.get(timeout=PATIENCE_S)
    assert dispatcher.dead_letters() == {"stopped": 3, "closed": 1}


def test_closing_in_the_moment_in_which_a_message_is_taken_answers_it_and_conserves(
    simulated: SimulatedDispatcher,
) -> None:
    actor = Doer(simulated)
    actor.mailbox._incoming = queued = PokingList()
    queued.poke = simulated.retire_all
    actor.spawn()
    futures: list[Future[str]] = [Future(simulated) for _ in range(3)]
    for future in futures:
        actor.mailbox.ask("word", future)
    simulated.run()
    assert [future.done for future in futures] == [True] * 3
    assert conserved(simulated.counts()), simulated.counts()


def test_closing_twice_answers_and_counts_once(dispatcher: Dispatcher) -> None:
    actor = Doer(dispatcher)
    actor.mailbox.tell("unread")
    dispatcher.adopt(actor.mailbox)
    actor.mailbox.dispatcher = dispatcher
    dispatcher.retire(actor.mailbox)
    dispatcher.retire(actor.mailbox)
    assert dispatcher.dead_letters() == {"stopped": 1}


def test_messages_are_conserved_while_they_wait_and_after(simulated: SimulatedDispatcher) -> None:
    ref = start(Doer, simulated)
    for _ in range(3):
        mailbox_of(ref).tell("waits")
    waiting = simulated.counts()
    assert (waiting.sent, waiting.handled, waiting.dead, waiting.queued) == (3, 0, 0, 3)
    simulated.run()
    over = simulated.counts()
    assert (over.sent, over.handled, over.dead, over.queued) == (3, 3, 0, 0)
