"""Every ask is answered, whatever stops in between: put, run and close race (design 3.1, 3.6)."""

from __future__ import annotations

import os
import random
import sys
import threading
from collections.abc import Iterator

import pykka
import pytest

from dragoman.actors.futures import Future
from dragoman.actors.mailbox import Mailbox
from dragoman.actors.threads import ThreadDispatcher

from .probes import PATIENCE_S, Block, Countdown, Do, Doer, Stopper, end, in_threads

ASKS = int(os.environ.get("DRAGOMAN_RACE_ASKS", "30000"))
ASKERS = 4
SLOTS = 8


@pytest.fixture(params=[5e-3, 1e-5, 1e-6], ids=["5ms", "10us", "1us"])
def switching(request: pytest.FixtureRequest) -> Iterator[None]:
    """How often the interpreter changes threads; restored by the folder's conftest."""
    sys.setswitchinterval(request.param)
    yield
    sys.setswitchinterval(5e-3)


class Street:
    """Actors that are replaced as they stop."""

    def __init__(self, dispatcher: ThreadDispatcher) -> None:
        self.dispatcher = dispatcher
        self.houses: list[Mailbox] = [Stopper(dispatcher).spawn() for _ in range(SLOTS)]

    def ask(self, rng: random.Random, number: int) -> Future[int]:
        place = rng.randrange(SLOTS)
        mailbox = self.houses[place]
        if mailbox.is_set():
            mailbox = self.houses[place] = Stopper(self.dispatcher).spawn()
        future: Future[int] = Future(self.dispatcher)
        mailbox.ask(-number - 1 if rng.random() < 0.05 else number, future)
        return future


def check(future: Future[int], number: int) -> int:
    """Whether the ask was answered by its actor, which is the only other way to end than a dead actor."""
    try:
        answer = future.get(PATIENCE_S)
    except pykka.ActorDeadError:
        return 0
    assert answer in (number + 1, -number)
    return 1


@pytest.mark.timeout(900 if ASKS > 30_000 else 120)
@pytest.mark.usefixtures("switching")
@pytest.mark.parametrize("waiting", ["helping", "idle"])
def test_every_ask_against_actors_that_stop_at_random_is_answered(threaded: ThreadDispatcher, waiting: str) -> None:
    """30,000 asks over the three switch intervals, each half waited for by helping and half by the workers alone.

    The long form: `DRAGOMAN_RACE_ASKS=300000 pytest tests/kernel/test_stop_races.py`.
    """
    asks = ASKS // 3 // 2
    street = Street(threaded)
    answered = []
    missing = Countdown(asks // ASKERS * ASKERS)

    def ask_many(seed: int) -> None:
        rng = random.Random(seed)
        sent: list[tuple[Future[int], int]] = []
        for number in range(asks // ASKERS):
            future = street.ask(rng, number)
            future.add_done_callback(missing.count)
            sent.append((future, number))
            if waiting == "helping" and len(sent) == 5:
                answered.append(sum(check(*one) for one in sent))
                sent.clear()
        if waiting == "idle":
            assert missing.wait() == 0, "asks were never answered"
        answered.append(sum(check(*one) for one in sent))

    in_threads(*(lambda seed=seed: ask_many(seed) for seed in range(ASKERS)))
    assert missing.wait() == 0
    assert 0 < sum(answered) < asks, "both ends must be seen, or the race was not run"
    threaded.stop(PATIENCE_S)
    counts = threaded.counts()
    assert counts.sent == asks // ASKERS * ASKERS == counts.handled + counts.dead
    assert (counts.queued, counts.failed) == (0, 0)


@pytest.mark.usefixtures("switching")
def test_closing_everything_under_load_answers_and_conserves(threaded: ThreadDispatcher) -> None:
    asks = 400
    street = Street(threaded)
    missing = Countdown(asks * ASKERS)

    def ask_many(seed: int) -> None:
        rng = random.Random(seed)
        for number in range(asks):
            future = street.ask(rng, number)
            future.add_done_callback(missing.count)
            check(future, number)

    def close() -> None:
        for _ in range(100):
            threaded.retire_all()

    in_threads(*(lambda seed=seed: ask_many(seed) for seed in range(ASKERS)), close)
    assert missing.wait() == 0
    threaded.stop(PATIENCE_S)
    threaded.retire_all()
    counts = threaded.counts()
    assert counts.sent == asks * ASKERS
    assert counts.sent == counts.handled + counts.dead + counts.queued


@pytest.mark.usefixtures("switching")
def test_a_dead_actors_stop_is_a_stop_like_any_other(threaded: ThreadDispatcher) -> None:
    for _ in range(100):
        actor = Stopper(threaded)
        actor.spawn()
        stops: list[bool] = []
        in_threads(
            *(lambda ref=actor.actor_ref, stops=stops: stops.append(ref.stop(timeout=PATIENCE_S)) for _ in range(3))
        )
        assert len(stops) == 3
        assert True in stops
        assert not actor.actor_ref.is_alive()


@pytest.mark.usefixtures("switching")
def test_stopping_beside_the_very_first_message_is_safe() -> None:
    for _ in range(500):
        dispatcher = ThreadDispatcher()
        mailbox = Stopper(dispatcher).spawn()
        under_way = threading.Event()

        def tell(mailbox: Mailbox = mailbox, under_way: threading.Event = under_way) -> None:
            under_way.set()
            mailbox.tell(1)

        teller = threading.Thread(target=tell, daemon=True)
        teller.start()
        assert under_way.wait(PATIENCE_S)
        try:
            end_at_once(dispatcher)
        finally:
            teller.join(PATIENCE_S)
        end(dispatcher)


def test_what_is_ready_as_a_dispatcher_stops_is_still_run(block: Block) -> None:
    dispatcher = ThreadDispatcher(workers=1)
    stuck, other = Doer(dispatcher), Doer(dispatcher)
    stuck.spawn().tell(Do(block))
    assert block.entered.wait(PATIENCE_S)
    other.spawn().tell("sent before the stop")
    dispatcher.abandon()
    block.release.set()
    end(dispatcher)
    assert other.seen == ["sent before the stop"]


def end_at_once(dispatcher: ThreadDispatcher) -> None:
    """Stop on this thread: SIGINT is the main thread's."""
    try:
        assert dispatcher.stop(PATIENCE_S) == ()
    except RuntimeError as error:
        raise AssertionError(f"stopping raised: {error}") from error
