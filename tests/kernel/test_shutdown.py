"""Closing a runtime: one deadline, idempotent, every future settled, a report of what was left (design 3.7)."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from dragoman.actors.futures import Future
from dragoman.actors.simulation import SimulatedDispatcher
from dragoman.protocol.errors import ActorStopped, DragomanError, RuntimeClosed
from dragoman.reports import ShutdownReport
from dragoman.runtime import Runtime

from .probes import PATIENCE_S, Countdown, conserved, dragoman_threads, handoff, in_threads

CALLERS = 8


def test_a_runtime_at_rest_closes_clean(runtime: Runtime) -> None:
    runtime.register(handoff("r1")).get(PATIENCE_S)
    runtime.register(handoff("r2", "s2")).get(PATIENCE_S)
    report = runtime.close(PATIENCE_S)
    assert report.handles_closed == 2
    assert report.messages_left == 0
    assert report.threads_left == ()
    assert report.clean
    assert conserved(report.counts)
    assert dragoman_threads() == []


def test_closing_again_gives_the_same_report(runtime: Runtime) -> None:
    report = runtime.close(PATIENCE_S)
    assert runtime.close(PATIENCE_S) is report
    assert runtime.closed


def test_two_threads_that_close_at_once_get_the_same_report(runtime: Runtime) -> None:
    reports: list[ShutdownReport] = []
    in_threads(*[lambda: reports.append(runtime.close(PATIENCE_S))] * 4)
    assert len(reports) == 4
    assert all(report is reports[0] for report in reports)


def test_every_later_call_raises(runtime: Runtime) -> None:
    runtime.close(PATIENCE_S)
    for call in (
        lambda: runtime.register(handoff("r1")),
        lambda: runtime.activate("r1"),
        lambda: runtime.acknowledge("r1", "p1", "Hallo"),
        lambda: runtime.reject("r1", "p1"),
        lambda: runtime.cancel("r1"),
        lambda: runtime.dispatch_failed("r1"),
        lambda: runtime.request_status("r1"),
        lambda: runtime.history("s1"),
        lambda: runtime.messages("s1"),
        lambda: runtime.claim_turn("s1"),
        lambda: runtime.clear_session("s1"),
        lambda: runtime.configure(history_enabled=False),
        runtime.snapshot,
    ):
        with pytest.raises(RuntimeClosed):
            call()


def test_what_was_sent_before_is_answered(runtime: Runtime) -> None:
    futures = [runtime.register(handoff(f"r{number}", f"s{number % 7}")) for number in range(40)]
    report = runtime.close(PATIENCE_S)
    assert {future.get(PATIENCE_S).status for future in futures} == {"REGISTERED"}
    assert report.handles_closed == 40


@pytest.mark.parametrize("round_", range(3))
def test_under_load_every_future_is_answered(runtime: Runtime, round_: int) -> None:
    del round_
    ends: list[str] = []
    under_way = Countdown(CALLERS)

    def call(caller: int) -> None:
        for number in range(100_000):
            try:
                future: Future[Any] = runtime.register(handoff(f"r{caller}-{number}", f"s{number % 40}"))
            except RuntimeClosed:
                ends.append("refused")
                return
            if number == 10:
                under_way.count()
            try:
                future.get(PATIENCE_S)
            except (RuntimeClosed, ActorStopped) as error:
                ends.append(type(error).__name__)
        raise AssertionError("the runtime was never closed")

    reports: list[ShutdownReport] = []

    def close() -> None:
        assert under_way.wait() == 0
        reports.append(runtime.close(PATIENCE_S))

    in_threads(*(lambda caller=caller: call(caller) for caller in range(CALLERS)), here=close)
    assert len(ends) >= CALLERS
    assert reports[0].threads_left == ()
    assert conserved(reports[0].counts)


def test_under_load_every_future_is_answered_though_nobody_helps(runtime: Runtime) -> None:
    sent = Countdown(CALLERS)
    answered: list[Countdown] = []

    def call(caller: int) -> None:
        missing = Countdown(1_000)
        answered.append(missing)
        for number in range(1_000):
            try:
                runtime.register(handoff(f"r{caller}-{number}", f"s{number % 40}")).add_done_callback(missing.count)
            except RuntimeClosed:
                missing.count()
            if number == 100:
                sent.count()

    def close() -> None:
        assert sent.wait() == 0
        runtime.close(PATIENCE_S)

    in_threads(*(lambda caller=caller: call(caller) for caller in range(CALLERS)), here=close)
    assert [missing.wait() for missing in answered] == [0] * CALLERS


def test_closing_beside_the_very_first_call_is_safe() -> None:
    for _ in range(200):
        runtime = Runtime()
        ends: list[object] = []

        def call(runtime: Runtime = runtime, ends: list[object] = ends) -> None:
            try:
                ends.append(runtime.register(handoff("r1")).get(PATIENCE_S))
            except DragomanError as error:
                ends.append(error)

        in_threads(call, call, here=lambda runtime=runtime: runtime.close(PATIENCE_S))
        assert len(ends) == 2
        assert conserved(runtime.close().counts)


def test_several_runtimes_live_beside_one_another(runtime: Runtime) -> None:
    with Runtime() as other:
        runtime.register(handoff("r1")).get(PATIENCE_S)
        assert other.request_status("r1").get(PATIENCE_S).cause is None
        assert other.snapshot(PATIENCE_S).open_handles == 0
        other.close(PATIENCE_S)
        assert runtime.activate("r1").get(PATIENCE_S).status == "ACTIVATED"
        with pytest.raises(RuntimeClosed):
            other.activate("r1")


def test_many_runtimes_come_and_go_from_many_threads() -> None:
    def live() -> None:
        for _ in range(20):
            with Runtime() as runtime:
                assert runtime.register(handoff("r1")).get(PATIENCE_S).status == "REGISTERED"

    in_threads(*[live] * 4)
    assert dragoman_threads() == []


def test_a_runtime_is_an_asynchronous_context() -> None:
    async def main() -> Runtime:
        async with Runtime() as runtime:
            assert (await runtime.register(handoff("r1"))).status == "REGISTERED"
        return runtime

    assert asyncio.run(main()).closed


def test_a_simulated_runtime_closes_clean() -> None:
    runtime = Runtime(dispatcher=SimulatedDispatcher())
    registering = runtime.register(handoff("r1"))
    report = runtime.close()
    assert registering.get().status == "REGISTERED"
    assert report.handles_closed == 1
    assert report.clean
    assert conserved(report.counts)
    with pytest.raises(RuntimeClosed):
        runtime.activate("r1")
