"""The simulated dispatcher: virtual time on the caller's thread, by a recorded schedule (design 3.2)."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.actors.actor import Actor, handles
from dragoman.actors.dispatcher import Dispatcher
from dragoman.actors.futures import Future, WaitTimeout
from dragoman.actors.mailbox import Envelope, Mailbox
from dragoman.actors.simulation import SimulatedDispatcher
from dragoman.protocol.errors import DragomanError, InvalidArgument, SimulationStalled

from .probes import Do, Doer, end, mailbox_of, start

ACTORS = 3
MESSAGES = 4


class Collector(Actor):
    """Remembers what it gets, and sends half of it on."""

    def __init__(self, dispatcher: Dispatcher, seen: list[tuple[int, int]], place: int) -> None:
        super().__init__(dispatcher)
        self.seen = seen
        self.place = place
        self.following: Mailbox | None = None

    @handles(int)
    def _take(self, message: int, _envelope: Envelope[Any]) -> int:
        self.seen.append((self.place, message))
        if self.following is not None and message < 100:
            self.following.tell(message + 100)
        return message


def play(choose: Callable[[int], int]) -> tuple[list[tuple[int, int]], list[int], list[int]]:
    """Who got what in which order, the answers in the order of the asks, and the tape."""
    dispatcher = SimulatedDispatcher(seed=7, choose=choose)
    seen: list[tuple[int, int]] = []
    actors = [Collector(dispatcher, seen, place) for place in range(ACTORS)]
    refs = [actor.actor_ref for actor in actors]
    for actor in actors:
        actor.spawn()
    for place, actor in enumerate(actors):
        actor.following = actors[(place + 1) % ACTORS].mailbox
    futures = [refs[number % ACTORS].ask(number, block=False) for number in range(ACTORS * MESSAGES)]
    answers = [future.get() for future in futures]
    dispatcher.run()
    tape = list(dispatcher.tape)
    end(dispatcher)
    return seen, answers, tape


def first(_options: int) -> int:
    return 0


def seeded(seed: int) -> Callable[[int], int]:
    return random.Random(seed).randrange


def test_the_same_choices_give_the_same_run_and_the_same_tape() -> None:
    assert play(seeded(5)) == play(seeded(5))


def test_a_tape_replays_its_run() -> None:
    run = play(seeded(11))
    recorded = iter(run[2])
    assert play(lambda _options: next(recorded)) == run


def test_other_choices_give_other_interleavings() -> None:
    orders = {tuple(play(seeded(seed))[0]) for seed in range(20)}
    assert len(orders) > 10


def test_the_plain_schedule_lets_the_inside_rest_before_the_next_caller_comes() -> None:
    seen, _answers, tape = play(first)
    assert set(tape) == {0}
    assert seen[:4] == [(0, 0), (1, 100), (1, 1), (2, 101)]


@settings(max_examples=150, deadline=None)
@given(choices=st.lists(st.integers(0, 30), max_size=80))
def test_every_message_is_delivered_exactly_once_under_any_choices(choices: list[int]) -> None:
    picks = iter(choices)
    seen, answers, _tape = play(lambda options: next(picks, 0) % options)
    sent = [(number % ACTORS, number) for number in range(ACTORS * MESSAGES)]
    relayed = [((place + 1) % ACTORS, number + 100) for place, number in sent]
    assert sorted(seen) == sorted(sent + relayed)
    assert answers == list(range(ACTORS * MESSAGES))


def test_a_choice_is_asked_only_where_there_are_several(simulated: SimulatedDispatcher) -> None:
    ref = start(Doer, simulated)
    for _ in range(5):
        ref.ask("alone")
    assert simulated.tape == []


def test_the_same_seed_gives_the_same_random_bits() -> None:
    first_bits = [SimulatedDispatcher(seed=3).random_bits(128) for _ in range(2)]
    assert first_bits[0] == first_bits[1]
    assert SimulatedDispatcher(seed=4).random_bits(128) != first_bits[0]


def test_nothing_runs_before_somebody_waits(simulated: SimulatedDispatcher) -> None:
    actor = Doer(simulated)
    actor.spawn()
    actor.actor_ref.tell("from outside")
    actor.mailbox.tell("from inside")
    future: Future[str] = actor.actor_ref.ask("asked", block=False)  # type: ignore[assignment]
    assert actor.seen == []
    assert not future.done
    assert future.get() == "asked"
    assert sorted(actor.seen) == ["asked", "from inside", "from outside"]


def test_everything_runs_on_the_callers_thread(simulated: SimulatedDispatcher) -> None:
    threads = set(threading.enumerate())
    ref = start(Doer, simulated)
    assert ref.ask(Do(lambda _actor: threading.get_ident())) == threading.get_ident()
    assert set(threading.enumerate()) == threads


def test_waiting_for_what_nothing_will_give_is_a_stall(simulated: SimulatedDispatcher) -> None:
    with pytest.raises(SimulationStalled) as stalled:
        Future(simulated).get()
    assert isinstance(stalled.value, DragomanError)


def test_waiting_with_a_timeout_for_what_nothing_will_give_times_out_at_once(simulated: SimulatedDispatcher) -> None:
    with pytest.raises(WaitTimeout):
        Future(simulated).get(timeout=10_000.0)
    assert simulated.now_us() == 0


def test_a_stalled_wait_can_be_repeated_once_the_clock_has_moved(simulated: SimulatedDispatcher) -> None:
    ref = start(Doer, simulated)
    answer: Future[str] = Future(simulated)

    def wait_for_the_timer(actor: Doer) -> None:
        actor.start_timer("key", 1_000)
        actor.on_timer = lambda key: answer.set(key)  # type: ignore[method-assign]

    ref.ask(Do(wait_for_the_timer))
    with pytest.raises(SimulationStalled):
        answer.get()
    simulated.advance(1_000)
    assert answer.get() == "key"


def test_the_clock_starts_at_zero_and_moves_only_by_advance(simulated: SimulatedDispatcher) -> None:
    ref = start(Doer, simulated)
    ref.ask("word")
    assert simulated.now_us() == 0
    simulated.advance(5)
    simulated.advance_to(12)
    ref.ask("word")
    assert simulated.now_us() == 12


def test_the_clock_does_not_go_back(simulated: SimulatedDispatcher) -> None:
    simulated.advance(10)
    with pytest.raises(InvalidArgument) as refused:
        simulated.advance(-1)
    assert refused.value.field == "delta_us"
    assert simulated.now_us() == 10


def test_advancing_to_an_instant_that_has_passed_is_refused(simulated: SimulatedDispatcher) -> None:
    simulated.advance(10)
    with pytest.raises(InvalidArgument):
        simulated.advance_to(9)
    assert simulated.now_us() == 10


def test_what_waits_outside_is_handled_before_time_moves(simulated: SimulatedDispatcher) -> None:
    ref = start(Doer, simulated)
    instants: list[int] = []
    ref.tell(Do(lambda actor: instants.append(actor.dispatcher.now_us())))
    simulated.advance(1_000)
    assert instants == [0]


def test_a_stopped_simulation_runs_nothing_and_answers_what_waited(simulated: SimulatedDispatcher) -> None:
    actor = Doer(simulated)
    actor.spawn()
    future = actor.actor_ref.ask("too late", block=False)
    assert simulated.stop(0.0) == ()
    with pytest.raises(SimulationStalled):
        future.get()
    simulated.retire_all()
    assert actor.seen == []
    assert future.done  # type: ignore[attr-defined]
    assert mailbox_of(actor.actor_ref).is_set()
