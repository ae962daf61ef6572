"""What pykka derives from futures (map, filter, join, reduce) works on `get` and on `await` alike."""

from __future__ import annotations

import asyncio
import queue
from collections.abc import Callable
from typing import Any

import pykka
import pytest

from dragoman.actors.dispatcher import Dispatcher
from dragoman.actors.futures import Future, WaitTimeout
from dragoman.actors.threads import ThreadDispatcher
from dragoman.protocol.errors import ActorFailed

from .probes import PATIENCE_S, Block, Do, Doer, start


def by_get(future: Any) -> Any:
    return future.get(timeout=PATIENCE_S)


def by_await(future: Any) -> Any:
    async def main() -> Any:
        return await future

    return asyncio.run(main())


@pytest.fixture(params=[by_get, by_await])
def waiting(request: pytest.FixtureRequest) -> Callable[[Any], Any]:
    way: Callable[[Any], Any] = request.param
    return way


def numbers(dispatcher: Dispatcher) -> Any:
    return start(Doer, dispatcher).ask(Do(lambda _actor: [1, 2, 3, 4]), block=False)


def test_map_applies_to_the_answer(dispatcher: Dispatcher, waiting: Callable[[Any], Any]) -> None:
    assert waiting(numbers(dispatcher).map(sum)) == 10


def test_filter_keeps_the_items_that_pass(dispatcher: Dispatcher, waiting: Callable[[Any], Any]) -> None:
    assert waiting(numbers(dispatcher).filter(lambda number: number > 2)) == [3, 4]


def test_reduce_folds_the_items(dispatcher: Dispatcher, waiting: Callable[[Any], Any]) -> None:
    assert waiting(numbers(dispatcher).reduce(lambda left, right: left * right, 10)) == 240


def test_join_waits_for_all_in_order(dispatcher: Dispatcher, waiting: Callable[[Any], Any]) -> None:
    ref = start(Doer, dispatcher)
    first, second, third = (ref.ask(text, block=False) for text in ("one", "two", "three"))
    assert waiting(first.join(second, third)) == ["one", "two", "three"]


def test_derivations_can_be_chained(dispatcher: Dispatcher, waiting: Callable[[Any], Any]) -> None:
    assert waiting(numbers(dispatcher).filter(lambda number: number % 2).map(len).map(str)) == "2"


def test_an_error_comes_through_a_derivation(dispatcher: Dispatcher, waiting: Callable[[Any], Any]) -> None:
    failing = start(Doer, dispatcher).ask(Do(lambda _actor: 1 // 0), block=False)
    with pytest.raises(ActorFailed):
        waiting(failing.map(str))


def test_the_function_is_applied_once(dispatcher: Dispatcher, waiting: Callable[[Any], Any]) -> None:
    calls: list[Any] = []
    mapped = numbers(dispatcher).map(calls.append)
    waiting(mapped)
    waiting(mapped)
    assert calls == [[1, 2, 3, 4]]


def test_get_all_collects(dispatcher: Dispatcher) -> None:
    ref = start(Doer, dispatcher)
    futures = [ref.ask(str(number), block=False) for number in range(5)]
    assert list(pykka.get_all(futures, timeout=PATIENCE_S)) == ["0", "1", "2", "3", "4"]


def test_a_derived_future_takes_no_answer(dispatcher: Dispatcher) -> None:
    with pytest.raises(queue.Full):
        numbers(dispatcher).map(sum).set(1)


def test_an_answered_future_takes_no_hook() -> None:
    future: Future[int] = Future()
    future.set(1)
    with pytest.raises(queue.Full):
        future.set_get_hook(lambda _timeout: 2)
    assert future.get() == 1


def test_the_timeout_of_a_derived_future_reaches_the_one_it_is_derived_from(threaded: ThreadDispatcher) -> None:
    block = Block()
    mapped = start(Doer, threaded).ask(Do(block), block=False).map(str.upper)
    assert block.entered.wait(PATIENCE_S)
    with pytest.raises(WaitTimeout):
        mapped.get(timeout=0.001)
    block.release.set()
    assert mapped.get(timeout=PATIENCE_S) == "RELEASED"


def test_the_loop_goes_on_while_a_derived_future_is_awaited(threaded: ThreadDispatcher) -> None:
    block = Block()
    mapped: Any = start(Doer, threaded).ask(Do(block), block=False).map(str.upper)

    async def main() -> Any:
        async def wait() -> Any:
            return await mapped

        task = asyncio.create_task(wait())
        while not block.entered.is_set():
            await asyncio.wait({task}, timeout=0)
        assert not task.done()
        block.release.set()
        return await asyncio.wait_for(task, PATIENCE_S)

    assert asyncio.run(main()) == "RELEASED"
