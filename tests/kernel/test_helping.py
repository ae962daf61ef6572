"""A thread that waits for an answer runs ready mailboxes itself, and leaves nothing behind (design 3.2)."""

from __future__ import annotations

import sys
import threading
import time
from collections import Counter
from typing import Any

import pytest

from dragoman.actors.actor import Actor, handles
from dragoman.actors.dispatcher import Dispatcher
from dragoman.actors.futures import Future, WaitTimeout
from dragoman.actors.mailbox import Envelope, Mailbox
from dragoman.actors.threads import ThreadDispatcher

from ..stacks import at_depth, stack_depth
from .probes import PATIENCE_S, Block, Countdown, Do, Doer, end, in_threads, mailbox_of, start

CALLERS = 8


def this_thread(_actor: object) -> int:
    return threading.get_ident()


class Numbered(Actor):
    """Answers with what it got and with how many it got before."""

    def __init__(self, dispatcher: Dispatcher) -> None:
        super().__init__(dispatcher)
        self.count = 0
        self.running = threading.Lock()

    @handles(tuple)
    def _take(self, message: tuple[int, int], _envelope: Envelope[Any]) -> tuple[tuple[int, int], int]:
        assert self.running.acquire(blocking=False), "two threads run one mailbox"
        self.count += 1
        self.running.release()
        return message, self.count


@pytest.fixture
def without_workers() -> Any:
    """A dispatcher whose only threads are those that wait."""
    dispatcher = ThreadDispatcher(workers=0)
    yield dispatcher
    end(dispatcher)


def test_a_waiting_thread_runs_the_handler_itself(without_workers: ThreadDispatcher) -> None:
    ref = start(Doer, without_workers)
    assert ref.ask(Do(this_thread), timeout=PATIENCE_S) == threading.get_ident()


def test_a_waiting_thread_runs_what_its_answer_needs(without_workers: ThreadDispatcher) -> None:
    first, second = start(Doer, without_workers), start(Doer, without_workers)
    answer: Future[int] = Future(without_workers)
    first.tell(Do(lambda _actor: mailbox_of(second).ask(Do(this_thread), answer)))
    assert answer.get(PATIENCE_S) == threading.get_ident()


def test_some_handlers_run_on_the_callers_thread_beside_the_workers(threaded: ThreadDispatcher) -> None:
    ref = start(Doer, threaded)
    where: Counter[int] = Counter()
    for _ in range(2_000):
        futures = [ref.ask(Do(this_thread), block=False) for _ in range(10)]
        where.update(future.get(timeout=PATIENCE_S) for future in futures)
        if threading.get_ident() in where:
            break
    assert threading.get_ident() in where


def test_who_has_nearly_used_up_its_stack_wakes_a_worker_instead_of_helping(
    threaded: ThreadDispatcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    ref = start(Doer, threaded)
    wake = threaded._wake
    monkeypatch.setattr(threaded, "_wake", lambda: None)
    answer = ref.ask(Do(lambda _actor: at_depth(100, threading.get_ident)), block=False)
    monkeypatch.setattr(threaded, "_wake", wake)
    where = at_depth(sys.getrecursionlimit() - stack_depth() - 60, lambda: answer.get(timeout=PATIENCE_S))
    assert where != threading.get_ident()


def test_from_the_end_of_a_stack_a_message_is_sent_and_handled_or_not_sent() -> None:
    dispatcher = ThreadDispatcher(workers=1)
    ref, sent, raised = start(Doer, dispatcher), 0, 0
    seen: list[int] = []
    for left in range(1, 80):
        handled = Countdown(1)
        message = Do(lambda _actor, handled=handled, left=left: (seen.append(left), handled.count()))
        try:
            at_depth(sys.getrecursionlimit() - stack_depth() - left, lambda message=message: ref.tell(message))
        except RecursionError:
            raised += 1
        else:
            sent += 1
            assert handled.wait() == 0
    end(dispatcher)
    assert (len(seen), dispatcher.counts().sent) == (sent, sent)
    assert raised > 0 < sent


def test_handlers_run_without_anybody_who_waits(threaded: ThreadDispatcher) -> None:
    told = Countdown(100)
    ref = start(Doer, threaded)
    for _ in range(100):
        ref.tell(Do(lambda _actor: told.count()))
    assert told.wait() == 0


@pytest.mark.parametrize("workers", [1, 2])
def test_who_gets_its_answer_hands_the_rest_over_to_a_worker(workers: int) -> None:
    dispatcher = ThreadDispatcher(workers)
    for _ in range(200):
        first, second = start(Doer, dispatcher), start(Doer, dispatcher)
        answered = threading.Event()

        def helps(ref: Any = first, behind: Any = second, done: threading.Event = answered) -> None:
            def send(actor: Doer) -> None:
                actor.mailbox.tell(Do(lambda _actor: mailbox_of(behind).tell(Do(lambda _other: done.set()))))

            ref.ask(Do(send), timeout=PATIENCE_S)

        def blocks(ref: Any = second) -> None:
            assert ref.ask("word", timeout=PATIENCE_S) == "word"

        in_threads(helps, blocks)
        assert answered.wait(PATIENCE_S), "what the helper left is run by nobody"
        first.stop(timeout=PATIENCE_S)
        second.stop(timeout=PATIENCE_S)
    end(dispatcher)


def test_a_message_queued_behind_the_helpers_own_is_answered_while_its_caller_blocks(
    threaded: ThreadDispatcher,
) -> None:
    for _ in range(300):
        ref = start(Doer, threaded)
        mailbox = mailbox_of(ref)
        helping, queued = threading.Event(), threading.Event()

        def handler(_actor: object, helping: Any = helping, queued: Any = queued) -> str:
            helping.set()
            assert queued.wait(PATIENCE_S)
            return "mine"

        def first(ref: Any = ref, handler: Any = handler) -> None:
            assert ref.ask(Do(handler), timeout=PATIENCE_S) == "mine"

        def second(mailbox: Mailbox = mailbox, helping: Any = helping, queued: Any = queued) -> None:
            assert helping.wait(PATIENCE_S)
            future: Future[str] = Future(threaded)
            mailbox.ask("behind", future)
            answered = Countdown(1)
            future.add_done_callback(answered.count)
            queued.set()
            assert answered.wait() == 0

        in_threads(first, second)
        ref.stop(timeout=PATIENCE_S)


def test_a_helper_keeps_to_its_timeout(without_workers: ThreadDispatcher) -> None:
    ref = start(Doer, without_workers)
    ball: Future[None] = Future(without_workers)

    def play_on(actor: Doer) -> None:
        actor.mailbox.tell(Do(play_on))

    ref.tell(Do(play_on))
    began_s = time.monotonic()
    with pytest.raises(WaitTimeout):
        ball.get(timeout=0.05)
    assert 0.05 <= time.monotonic() - began_s < 5.0, "an actor that never rests must not hold the caller"
    ref.stop(block=False)
    with pytest.raises(WaitTimeout):
        ball.get(timeout=0.05)


def test_a_helper_comes_back_from_a_batch_as_soon_as_its_answer_is_there(without_workers: ThreadDispatcher) -> None:
    ref = start(Doer, without_workers)
    mine = ref.ask("mine", block=False)
    for _ in range(10):
        ref.tell("for another")
    assert mine.get(timeout=PATIENCE_S) == "mine"
    assert len(mailbox_of(ref)) == 10


def test_no_mailbox_starves_beside_one_that_never_rests(threaded: ThreadDispatcher) -> None:
    restless = [start(Doer, threaded) for _ in range(3)]
    over = threading.Event()

    def play_on(actor: Doer) -> None:
        if not over.is_set():
            actor.mailbox.tell(Do(play_on))

    for ref in restless:
        ref.tell(Do(play_on))
    quiet = start(Doer, threaded)
    told = Countdown(50)
    for _ in range(50):
        quiet.tell(Do(lambda _actor: told.count()))
    assert told.wait() == 0
    over.set()


def test_pipelined_callers_are_answered_in_their_order(threaded: ThreadDispatcher) -> None:
    ref = start(Numbered, threaded)

    def call(caller: int) -> None:
        futures = [ref.ask((caller, number), block=False) for number in range(1_000)]
        answers = [future.get(timeout=PATIENCE_S) for future in futures]
        assert [message for message, _count in answers] == [(caller, number) for number in range(1_000)]
        counts = [count for _message, count in answers]
        assert counts == sorted(counts)

    in_threads(*(lambda caller=caller: call(caller) for caller in range(CALLERS)))
    assert threaded.counts().failed == 0
    assert ref.ask((0, 0), timeout=PATIENCE_S)[1] == CALLERS * 1_000 + 1


def test_callers_of_many_actors_are_all_answered_by_helpers_with_short_timeouts(threaded: ThreadDispatcher) -> None:
    refs = [start(Numbered, threaded) for _ in range(4)]

    def call(caller: int) -> None:
        for number in range(300):
            future = refs[number % 4].ask((caller, number), block=False)
            for patience_s in (0.0, 0.0001, PATIENCE_S):
                try:
                    answer, _count = future.get(timeout=patience_s)
                except WaitTimeout:
                    continue
                assert answer == (caller, number)
                break
            else:
                raise AssertionError("never answered")

    in_threads(*(lambda caller=caller: call(caller) for caller in range(CALLERS)))
    assert threaded.counts().failed == 0


def test_a_chain_of_actors_goes_on_though_every_caller_comes_and_goes(threaded: ThreadDispatcher) -> None:
    rounds = 300
    ended = Countdown(CALLERS * rounds)
    links = [start(Doer, threaded) for _ in range(6)]

    def hop(place: int) -> Do:
        def act(_actor: object) -> None:
            if place == len(links):
                ended.count()
            else:
                mailbox_of(links[place]).tell(hop(place + 1))

        return Do(act)

    def call(caller: int) -> None:
        for number in range(rounds):
            links[0].tell(hop(1))
            links[(caller + number) % len(links)].ask("word", timeout=PATIENCE_S)

    in_threads(*(lambda caller=caller: call(caller) for caller in range(CALLERS)))
    assert ended.wait() == 0


def test_a_blocked_handler_does_not_hold_a_caller_of_another_actor(threaded: ThreadDispatcher) -> None:
    block = Block()
    stuck, other = start(Doer, threaded), start(Doer, threaded)
    stuck.tell(Do(block))
    assert block.entered.wait(PATIENCE_S)
    for number in range(100):
        assert other.ask(str(number), timeout=PATIENCE_S) == str(number)
    block.release.set()
