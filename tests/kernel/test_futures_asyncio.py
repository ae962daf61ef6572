"""Futures, as asyncio awaits them: no loop is blocked, and a cancelled await undoes nothing (design 3.4)."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from dragoman.actors.dispatcher import Dispatcher
from dragoman.actors.futures import Future
from dragoman.actors.simulation import SimulatedDispatcher
from dragoman.actors.threads import ThreadDispatcher
from dragoman.protocol.errors import ActorFailed

from .probes import PATIENCE_S, Block, Do, Doer, in_threads, mailbox_of, start


async def waited(future: Any) -> Any:
    return await future


async def one_turn_of_the_loop() -> None:
    await asyncio.wait({asyncio.get_running_loop().create_future()}, timeout=0)


async def begun(future: Any) -> asyncio.Task[Any]:
    """A task that awaits `future`, and has come as far as that."""
    task = asyncio.create_task(waited(future))
    while not future._callbacks:
        await one_turn_of_the_loop()
    return task


def test_an_answer_is_awaited(dispatcher: Dispatcher) -> None:
    ref = start(Doer, dispatcher)

    async def main() -> Any:
        return await asyncio.wait_for(waited(ref.ask("word", block=False)), PATIENCE_S)

    assert asyncio.run(main()) == "word"


def test_an_error_is_raised_at_the_await(dispatcher: Dispatcher) -> None:
    ref = start(Doer, dispatcher)

    async def main() -> None:
        with pytest.raises(ActorFailed):
            await ref.ask(Do(lambda _actor: 1 // 0), block=False)

    asyncio.run(main())


def test_a_future_is_awaited_twice_with_the_same_answer(dispatcher: Dispatcher) -> None:
    future = start(Doer, dispatcher).ask("word", block=False)

    async def main() -> list[Any]:
        return [await future, await future]

    assert asyncio.run(main()) == ["word", "word"]
    assert future.get() == "word"


def test_the_loop_goes_on_while_an_actor_is_blocked(threaded: ThreadDispatcher) -> None:
    block = Block()
    ref = start(Doer, threaded)

    async def main() -> Any:
        loop = asyncio.get_running_loop()
        ticked = asyncio.Event()
        ticks = 0

        def tick() -> None:
            nonlocal ticks
            ticks += 1
            if ticks < 1_000 or not block.entered.is_set():
                loop.call_soon(tick)
            else:
                ticked.set()

        task = await begun(ref.ask(Do(block), block=False))
        loop.call_soon(tick)
        await asyncio.wait_for(ticked.wait(), PATIENCE_S)
        assert not task.done()
        block.release.set()
        return await asyncio.wait_for(task, PATIENCE_S)

    assert asyncio.run(main()) == "released"


def test_the_loops_own_thread_runs_no_handler(threaded: ThreadDispatcher) -> None:
    ref = start(Doer, threaded)

    async def main() -> list[int]:
        return [await ref.ask(Do(lambda _actor: threading.get_ident()), block=False) for _ in range(50)]

    assert threading.get_ident() not in asyncio.run(main())


def test_a_cancelled_await_changes_nothing_and_can_be_repeated(threaded: ThreadDispatcher) -> None:
    block = Block()
    future: Future[Any] = start(Doer, threaded).ask(Do(block), block=False)  # type: ignore[assignment]

    async def main() -> Any:
        for _ in range(10):
            task = await begun(future)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert not future._callbacks, "a callback is left behind"
            assert not future.done
        block.release.set()
        return await asyncio.wait_for(waited(future), PATIENCE_S)

    assert asyncio.run(main()) == "released"


def test_a_timeout_on_an_await_ends_the_waiting_and_not_the_call(threaded: ThreadDispatcher) -> None:
    block = Block()
    ref = start(Doer, threaded)

    async def main() -> Any:
        future = ref.ask(Do(block), block=False)
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(waited(future), 0)
        block.release.set()
        return await asyncio.wait_for(waited(future), PATIENCE_S)

    assert asyncio.run(main()) == "released"


def test_an_answer_after_the_loop_has_closed_is_harmless(threaded: ThreadDispatcher) -> None:
    block = Block()
    ref = start(Doer, threaded)
    future: Future[Any] = ref.ask(Do(block), block=False)  # type: ignore[assignment]
    loop = asyncio.new_event_loop()
    task = loop.run_until_complete(begun(future))
    loop.close()
    after = threading.Event()
    future.add_done_callback(lambda _future: after.set())
    block.release.set()
    assert after.wait(PATIENCE_S), "those who wait behind the closed loop are told as well"
    assert future.get(timeout=PATIENCE_S) == "released"
    assert ref.ask("still here", timeout=PATIENCE_S) == "still here"
    task._log_destroy_pending = False  # type: ignore[attr-defined]  # it was abandoned on purpose


def test_many_tasks_await_many_answers(threaded: ThreadDispatcher) -> None:
    refs = [start(Doer, threaded) for _ in range(8)]

    async def main() -> list[Any]:
        asks = [waited(refs[number % 8].ask(str(number), block=False)) for number in range(2_000)]
        return await asyncio.wait_for(asyncio.gather(*asks), PATIENCE_S)

    assert asyncio.run(main()) == [str(number) for number in range(2_000)]


def test_many_tasks_await_one_answer(threaded: ThreadDispatcher) -> None:
    block = Block()
    future = start(Doer, threaded).ask(Do(block), block=False)

    async def main() -> list[Any]:
        tasks = [await begun(future) for _ in range(100)]
        block.release.set()
        return await asyncio.wait_for(asyncio.gather(*tasks), PATIENCE_S)

    assert asyncio.run(main()) == ["released"] * 100


def test_one_future_is_awaited_from_two_loops_and_a_thread(threaded: ThreadDispatcher) -> None:
    block = Block()
    future: Future[Any] = start(Doer, threaded).ask(Do(block), block=False)  # type: ignore[assignment]
    got: list[Any] = []

    async def main() -> None:
        got.append(await asyncio.wait_for(waited(future), PATIENCE_S))

    def let_go() -> None:
        assert block.entered.wait(PATIENCE_S)
        block.release.set()

    in_threads(
        lambda: asyncio.run(main()),
        lambda: asyncio.run(main()),
        lambda: got.append(future.get(PATIENCE_S)),
        let_go,
    )
    assert got == ["released"] * 3


def test_awaiting_under_simulation_runs_the_actors(simulated: SimulatedDispatcher) -> None:
    first, second = start(Doer, simulated), start(Doer, simulated)
    answer: Future[str] = Future(simulated)

    async def main() -> str:
        first.tell(Do(lambda _actor: mailbox_of(second).ask("relayed", answer)))
        return await answer

    assert asyncio.run(main()) == "relayed"


def test_another_task_may_give_what_an_await_under_simulation_waits_for(simulated: SimulatedDispatcher) -> None:
    ref = start(Doer, simulated)
    answer: Future[list[str]] = Future(simulated)

    async def main() -> list[str]:
        task = await begun(answer)
        await ref.ask(Do(lambda actor: actor.start_timer("key", 1_000)), block=False)
        simulated.advance(1_000)
        await ref.ask(Do(lambda actor: answer.set(list(actor.fired))), block=False)
        fired: list[str] = await task
        return fired

    assert asyncio.run(main()) == ["key"]
