"""Futures, as threads wait for them: exactly one end, and a wait that ends early undoes nothing (design 3.4)."""

from __future__ import annotations

import asyncio
import queue
import sys
import threading
from typing import Any

import pykka
import pytest
from loguru import logger

from dragoman.actors.dispatcher import Dispatcher
from dragoman.actors.futures import Future, WaitTimeout
from dragoman.actors.simulation import SimulatedDispatcher
from dragoman.actors.threads import ThreadDispatcher
from dragoman.protocol.errors import BlockingInHandler, DragomanError

from .probes import PATIENCE_S, Block, Countdown, Do, Doer, in_threads, start


def failing_with(error: BaseException) -> Any:
    return (type(error), error, None)


def test_the_second_answer_is_refused_and_the_first_stands() -> None:
    future: Future[str] = Future()
    future.set("first")
    with pytest.raises(queue.Full):
        future.set("second")
    with pytest.raises(queue.Full):
        future.set_exception(failing_with(ValueError("second")))
    assert future.get() == "first"


def test_an_error_is_an_answer_that_later_ones_cannot_replace() -> None:
    future: Future[str] = Future()
    future.set_exception(failing_with(KeyError("first")))
    with pytest.raises(queue.Full):
        future.set("second")
    with pytest.raises(KeyError):
        future.get()


def test_set_exception_takes_the_current_exception() -> None:
    future: Future[str] = Future()
    try:
        raise LookupError
    except LookupError:
        future.set_exception()
    with pytest.raises(LookupError):
        future.get()
    assert sys.exc_info() == (None, None, None)


def test_of_two_answers_at_once_exactly_one_wins() -> None:
    for _ in range(300):
        future: Future[int] = Future()
        won: list[int] = []

        def answer(number: int, future: Future[int] = future, won: list[int] = won) -> None:
            try:
                future.set(number)
            except queue.Full:
                return
            won.append(number)

        in_threads(lambda: answer(1), lambda: answer(2))
        assert won == [future.get()]


def test_every_waiter_of_a_future_gets_the_same_answer_again_and_again() -> None:
    future: Future[object] = Future()
    answer = object()
    got: list[object] = []
    in_threads(*[lambda: got.extend((future.get(PATIENCE_S), future.get()))] * 8, lambda: future.set(answer))
    assert got == [answer] * 16


def test_the_same_error_is_raised_at_every_get() -> None:
    future: Future[None] = Future()
    error = KeyError()
    future.set_exception(failing_with(error))
    for _ in range(3):
        with pytest.raises(KeyError) as raised:
            future.get()
        assert raised.value is error


def test_a_timeout_is_pykkas_and_pythons_and_dragomans() -> None:
    future: Future[None] = Future()
    for kind in (WaitTimeout, pykka.Timeout, TimeoutError, DragomanError):
        with pytest.raises(kind):
            future.get(timeout=0.0)


def test_a_wait_that_timed_out_can_be_repeated(threaded: ThreadDispatcher) -> None:
    block = Block()
    future = start(Doer, threaded).ask(Do(block), block=False)
    assert block.entered.wait(PATIENCE_S)
    for _ in range(3):
        with pytest.raises(WaitTimeout) as timeout:
            future.get(timeout=0.001)
        assert timeout.value.timeout_s == 0.001
    block.release.set()
    assert future.get(timeout=PATIENCE_S) == "released"


def test_a_wait_that_timed_out_leaves_no_callback_behind() -> None:
    future: Future[None] = Future()
    for _ in range(100):
        with pytest.raises(WaitTimeout):
            future.get(timeout=0.0)
    assert not future._callbacks


def test_getting_inside_a_handler_raises_at_once(dispatcher: Dispatcher) -> None:
    ref = start(Doer, dispatcher)
    with pytest.raises(BlockingInHandler):
        ref.ask(Do(lambda actor: actor.actor_ref.ask("to itself")), timeout=PATIENCE_S)
    with pytest.raises(BlockingInHandler):
        ref.ask(Do(lambda _actor: Future().get(timeout=0.0)), timeout=PATIENCE_S)
    assert ref.ask("still here", timeout=PATIENCE_S) == "still here"


def test_getting_from_a_callback_in_a_handler_raises_at_once(dispatcher: Dispatcher) -> None:
    ref = start(Doer, dispatcher)
    errors: list[BaseException] = []
    called = threading.Event()

    def wait_for_another(_future: Future[Any]) -> None:
        try:
            Future[None](dispatcher).get()
        except BlockingInHandler as error:
            errors.append(error)
        called.set()

    def answer(actor: Doer) -> None:
        future: Future[None] = actor._create_future()
        future.add_done_callback(wait_for_another)
        future.set()

    ref.ask(Do(answer), timeout=PATIENCE_S)
    assert called.is_set()
    assert len(errors) == 1


def test_what_is_done_may_be_read_inside_a_handler(dispatcher: Dispatcher) -> None:
    ref = start(Doer, dispatcher)
    done = ref.ask("done", block=False)
    assert done.get(timeout=PATIENCE_S) == "done"
    assert ref.ask(Do(lambda _actor: done.get()), timeout=PATIENCE_S) == "done"


def test_a_callback_that_raises_is_reported_without_its_text_and_harms_nobody(dispatcher: Dispatcher) -> None:
    ref = start(Doer, dispatcher)
    lines: list[str] = []
    later = Countdown(1)

    def answer(actor: Doer) -> None:
        future: Future[str] = actor._create_future()
        future.add_done_callback(lambda _future: {}["a secret text"])
        future.add_done_callback(later.count)
        future.set("answer")

    logger.enable("dragoman")
    sink = logger.add(lambda line: lines.append(str(line)), backtrace=True, diagnose=True)
    try:
        assert ref.ask(Do(answer), timeout=PATIENCE_S) is None
    finally:
        logger.remove(sink)
        logger.disable("dragoman")
    assert later.wait() == 0
    assert any("KeyError" in line for line in lines)
    assert not any("secret" in line for line in lines)
    assert ref.ask("still here", timeout=PATIENCE_S) == "still here"


@pytest.mark.parametrize("kind", [asyncio.CancelledError, SystemExit, GeneratorExit])
def test_a_callback_that_raises_what_is_no_exception_keeps_nobody_from_its_answer(kind: type[BaseException]) -> None:
    future: Future[str] = Future()
    called: list[object] = []

    def give_up(_future: object) -> None:
        raise kind

    future.add_done_callback(give_up)
    future.add_done_callback(called.append)
    future.set("done")
    assert called == [future]
    future.add_done_callback(give_up)


def test_a_callback_on_a_done_future_is_called_at_once_and_once() -> None:
    future: Future[str] = Future()
    future.set("done")
    called: list[object] = []
    future.add_done_callback(called.append)
    assert called == [future]


def test_callbacks_that_race_with_the_answer_are_each_called_once() -> None:
    for _ in range(200):
        future: Future[None] = Future()
        called: list[int] = []

        def add(future: Future[None] = future, called: list[int] = called) -> None:
            for number in range(20):
                future.add_done_callback(lambda _future, number=number: called.append(number))

        in_threads(add, future.set)
        assert sorted(called) == list(range(20))


def test_a_callback_that_was_taken_back_is_not_called() -> None:
    future: Future[None] = Future()
    called: list[object] = []
    future.add_done_callback(called.append)
    future.remove_done_callback(called.append)
    future.remove_done_callback(called.append)
    future.set()
    assert called == []


def test_waiting_under_simulation_is_bounded_by_the_work_and_not_by_the_clock(simulated: SimulatedDispatcher) -> None:
    future: Future[None] = Future(simulated)
    with pytest.raises(WaitTimeout):
        future.get(timeout=3_600.0)
    assert simulated.now_us() == 0
    future.set()
    assert future.get(timeout=0.0) is None


def test_the_repr_of_a_future_shows_no_answer() -> None:
    future: Future[str] = Future()
    assert repr(future) == "<Future open>"
    future.set("a secret text")
    assert repr(future) == "<Future done>"
