"""The thread of a local model: who is answered, in which order, and that it ends."""

from __future__ import annotations

import asyncio
import gc
import threading
import time
import weakref
from collections.abc import Callable
from typing import Any

import pytest

from dragoman.providers.local_model import ModelFault
from dragoman.providers.local_worker import Worker

PATIENCE_S = 20.0
POLL_S = 0.005

Asked = Callable[[], bool]


class Model:
    """Stands for a loaded model."""

    closed = False

    def close(self) -> None:
        self.closed = True


def until(holds: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(POLL_S)


def worker_of(model: Any) -> Worker:
    return Worker(lambda: model)


def test_the_model_is_loaded_once_and_used_by_one_thread() -> None:
    loaded: list[int] = []

    def load() -> Any:
        loaded.append(threading.get_ident())
        return Model()

    worker = Worker(load)

    async def ask() -> list[int]:
        return await asyncio.gather(*(worker.run(lambda _model, _asked: threading.get_ident()) for _ in range(5)))

    assert not loaded
    assert set(asyncio.run(ask())) | set(asyncio.run(ask())) == set(loaded)
    assert len(loaded) == 1
    worker.stop()


def test_calls_are_answered_in_the_order_in_which_they_came() -> None:
    worker = worker_of(Model())
    order: list[int] = []

    async def ask() -> None:
        await asyncio.gather(*(worker.run(lambda _model, _asked, n=n: order.append(n)) for n in range(9)))

    asyncio.run(ask())
    assert order == list(range(9))
    worker.stop()


def test_a_call_that_is_cancelled_is_told_and_one_that_waits_is_not_begun() -> None:
    worker = worker_of(Model())
    begun, told = threading.Event(), threading.Event()
    ran: list[str] = []

    def works(_model: Any, cancelled: Asked) -> None:
        begun.set()
        until(cancelled)
        told.set()

    async def ask() -> str:
        first = asyncio.ensure_future(worker.run(works))
        second = asyncio.ensure_future(worker.run(lambda _model, _asked: ran.append("second")))
        await asyncio.to_thread(begun.wait, PATIENCE_S)
        first.cancel()
        second.cancel()
        await asyncio.gather(first, second, return_exceptions=True)
        return await worker.run(lambda _model, _asked: "third")

    assert asyncio.run(ask()) == "third"
    assert told.is_set()
    assert ran == []
    worker.stop()


class Odd(BaseException):
    """No `Exception`."""


@pytest.mark.parametrize("fault", [RuntimeError, MemoryError, Odd])
def test_what_fails_answers_its_own_call_and_the_next_one_is_made(fault: type[BaseException]) -> None:
    worker = worker_of(Model())

    def fails(_model: Any, _asked: Asked) -> None:
        raise fault

    async def ask() -> str:
        with pytest.raises(fault):
            await worker.run(fails)
        return await worker.run(lambda _model, _asked: "well")

    assert asyncio.run(ask()) == "well"
    worker.stop()


def test_a_model_that_could_not_be_loaded_is_tried_again() -> None:
    tries: list[int] = []

    def load() -> Any:
        tries.append(1)
        if len(tries) == 1:
            raise ModelFault("not there yet")
        return Model()

    worker = Worker(load)
    with pytest.raises(ModelFault):
        asyncio.run(worker.run(lambda _model, _asked: None))
    assert asyncio.run(worker.run(lambda _model, _asked: "there")) == "there"
    worker.stop()


def test_a_worker_that_is_stopped_answers_all_and_gives_the_model_back() -> None:
    model = Model()
    worker = worker_of(model)
    begun = threading.Event()

    def works(_model: Any, cancelled: Asked) -> str:
        begun.set()
        until(cancelled)
        return "stopped"

    async def ask() -> list[Any]:
        running = [asyncio.ensure_future(worker.run(works)) for _ in range(3)]
        await asyncio.to_thread(begun.wait, PATIENCE_S)
        worker.stop()
        worker.stop()
        return await asyncio.gather(*running, return_exceptions=True)

    first, *others = asyncio.run(ask())
    assert first == "stopped"
    assert all(isinstance(other, ModelFault) for other in others)
    with pytest.raises(ModelFault):
        asyncio.run(worker.run(lambda _model, _asked: None))
    worker.join(PATIENCE_S)
    assert worker._thread is not None
    assert not worker._thread.is_alive()
    assert model.closed


def test_an_answer_to_a_loop_that_has_ended_is_dropped() -> None:
    worker = worker_of(Model())
    begun, go, gone = threading.Event(), threading.Event(), threading.Event()

    def works(_model: Any, _asked: Asked) -> None:
        begun.set()
        go.wait(PATIENCE_S)
        gone.set()

    loop = asyncio.new_event_loop()
    task = loop.create_task(worker.run(works))
    loop.run_until_complete(asyncio.sleep(0))
    assert begun.wait(PATIENCE_S)
    task.cancel()
    loop.run_until_complete(asyncio.gather(task, return_exceptions=True))
    loop.close()
    go.set()
    assert asyncio.run(worker.run(lambda _model, _asked: gone.is_set()))
    worker.stop()


def test_what_an_answer_held_is_released_while_the_worker_waits() -> None:
    class Held:
        pass

    worker = worker_of(Model())

    async def ask() -> weakref.ref[Held]:
        held = Held()
        await worker.run(lambda _model, _asked: held and None)
        return weakref.ref(held)

    reference = asyncio.run(ask())

    def released() -> bool:
        gc.collect()
        return reference() is None

    until(released)
    worker.stop()
