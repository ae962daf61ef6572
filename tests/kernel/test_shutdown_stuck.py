"""Closing a runtime whose actors are stuck, or from where it cannot be closed (design 3.7)."""

from __future__ import annotations

import asyncio
import threading
import time
from typing import Any

import pytest

from dragoman.actors.futures import Future
from dragoman.actors.sessions import SessionManager
from dragoman.protocol.errors import ActorStopped, BlockingInHandler, RuntimeClosed
from dragoman.protocol.messages import Unpin
from dragoman.reports import ShutdownReport
from dragoman.runtime import Runtime

from .probes import PATIENCE_S, Block, Countdown, Do, Doer, conserved, handoff, run_program, start


def stick(runtime: Runtime, block: Block) -> Any:
    """Let an actor of the runtime block; the future of the message that it handles, and its ref."""
    ref = start(Doer, runtime.dispatcher)
    future = ref.ask(Do(block), block=False)
    assert block.entered.wait(PATIENCE_S)
    return future, ref


def test_a_stuck_actor_does_not_hold_the_close_beyond_its_deadline(runtime: Runtime, block: Block) -> None:
    stick(runtime, block)
    began_s = time.monotonic()
    report = runtime.close(0.3)
    assert time.monotonic() - began_s < 3.0
    assert block.thread is not None
    assert report.threads_left == (block.thread.name,)
    assert not report.clean


def test_a_message_that_would_stick_does_not_hold_the_close_beyond_its_deadline(runtime: Runtime, block: Block) -> None:
    refs = [start(Doer, runtime.dispatcher) for _ in range(4)]
    for ref in refs:
        ref.tell(Do(block))
    closed = Countdown(1)

    def close() -> None:
        runtime.close(0.3)
        closed.count()

    closer = threading.Thread(target=close, daemon=True)
    closer.start()
    missing = closed.wait(3.0)
    block.release.set()
    closer.join(PATIENCE_S)
    assert missing == 0, "the closing thread ran the handler that sticks itself"


def test_what_a_stuck_actor_owes_is_answered_when_the_runtime_closes(runtime: Runtime, block: Block) -> None:
    handled, ref = stick(runtime, block)
    queued = ref.ask("queued behind", block=False)
    runtime.close(0.2)
    for future in (queued, handled):
        with pytest.raises((ActorStopped, RuntimeClosed)):
            future.get(timeout=1.0)


def test_what_was_left_in_mailboxes_is_counted(runtime: Runtime, block: Block) -> None:
    _future, ref = stick(runtime, block)
    for _ in range(5):
        ref.tell("never handled")
    report = runtime.close(0.2)
    assert report.messages_left == 5
    assert conserved(report.counts)
    assert report.counts.dead == 5


def test_a_stuck_owner_of_the_runtime_itself_does_not_hold_its_callers(runtime: Runtime, block: Block) -> None:
    def watch(kind: str, actor: str, _what: object) -> None:
        if kind == "message" and actor == "SessionManager" and not block.entered.is_set():
            block()

    runtime.dispatcher.observer = watch
    start(Doer, runtime.dispatcher).tell(Do(lambda _actor: runtime.claim_turn("s2")))
    assert block.entered.wait(PATIENCE_S)
    registering = runtime.register(handoff("r1"))
    answered = Countdown(1)
    registering.add_done_callback(answered.count)
    behind = runtime.history("s1")
    report = runtime.close(0.3)
    assert block.thread is not None
    assert block.thread.name in report.threads_left
    assert answered.wait(1.0) == 0
    with pytest.raises((ActorStopped, RuntimeClosed)):
        behind.get(1.0)


def test_an_owner_that_sticks_as_the_runtime_closes_does_not_hold_the_close_beyond_its_deadline(
    runtime: Runtime, block: Block, monkeypatch: pytest.MonkeyPatch
) -> None:
    runtime.register(handoff("r1")).get(PATIENCE_S)
    monkeypatch.setitem(SessionManager.handlers, Unpin, lambda *_arguments: block())
    began_s = time.monotonic()
    report = runtime.close(0.3)
    assert time.monotonic() - began_s < 3.0
    assert (report.at_rest, block.entered.is_set()) == (False, True)


def test_threads_that_end_are_not_reported_as_left(runtime: Runtime, block: Block) -> None:
    runtime.register(handoff("r1")).get(PATIENCE_S)

    def watch(kind: str, actor: str, _what: object) -> None:
        if kind == "message" and actor == "AcceptanceCoordinator" and not block.entered.is_set():
            block()

    runtime.dispatcher.observer = watch
    start(Doer, runtime.dispatcher).tell(Do(lambda _actor: runtime.configure(history_enabled=False)))
    assert block.entered.wait(PATIENCE_S)
    assert block.thread is not None
    assert runtime.close(0.3).threads_left == (block.thread.name,)


def test_a_stuck_thread_ends_once_its_handler_does(runtime: Runtime, block: Block) -> None:
    stick(runtime, block)
    runtime.close(0.2)
    block.release.set()
    assert block.thread is not None
    block.thread.join(PATIENCE_S)
    assert not block.thread.is_alive()


def test_closing_inside_a_callback_raises_at_once(runtime: Runtime) -> None:
    errors: list[BaseException] = []
    called = Countdown(1)

    def close(_future: object) -> None:
        try:
            runtime.close()
        except BlockingInHandler as error:
            errors.append(error)
        called.count()

    ref = start(Doer, runtime.dispatcher)
    answer: Future[None] = Future(runtime.dispatcher)
    answer.add_done_callback(close)
    ref.tell(Do(lambda _actor: answer.set()))
    assert called.wait() == 0
    assert len(errors) == 1
    assert not runtime.closed


def test_closing_inside_a_callback_that_the_close_itself_calls_raises_at_once() -> None:
    run_program("closing_in_a_callback", timeout_s=15.0)


def test_closing_keeps_the_event_loop_responsive(block: Block) -> None:
    async def main() -> ShutdownReport:
        loop = asyncio.get_running_loop()
        runtime = Runtime()
        stick(runtime, block)
        closing = asyncio.create_task(runtime.aclose(PATIENCE_S))
        ticks = 0

        def tick() -> None:
            nonlocal ticks
            ticks += 1
            if ticks < 1_000 or not runtime.closed:
                loop.call_soon(tick)
            else:
                assert not closing.done()
                block.release.set()

        loop.call_soon(tick)
        return await asyncio.wait_for(closing, PATIENCE_S * 2)

    assert asyncio.run(main()).clean
