"""The limits of an execution hold whatever the schedule, and what is only kept for a while stays within its bounds."""

from __future__ import annotations

import asyncio
import random
from typing import Any

import pytest

from dragoman import (
    Handoff,
    InvalidArgument,
    Parent,
    Runtime,
    ScriptedProvider,
    Settings,
    SimulatedDispatcher,
    TextDocument,
    TranslationRequest,
)
from dragoman.actors.actor import DEFERRED
from dragoman.actors.gateway import ProviderGateway
from dragoman.actors.mailbox import Envelope
from dragoman.actors.operation import TranslationOperation
from dragoman.actors.outside import CallsMade, MakeCalls
from dragoman.protocol.outcomes import MAX_DIAGNOSTICS

SCHEDULES = 60
MANY = MAX_DIAGNOSTICS + 20


def request(name: str, session: str, count: int = 1) -> TranslationRequest:
    return TranslationRequest(name, session, {f"p{place}": f"text {place}" for place in range(count)}, "de")


def handoff(name: str, session: str) -> Handoff:
    return Handoff(name, session, "openai", "select-element", (Parent("p", 0, "x"),))


def callers_first(dispatcher: SimulatedDispatcher, seed: int) -> Any:
    """A schedule that lets every caller in, in order, before anything else runs; the rest is by chance."""
    chance = random.Random(seed)
    return lambda options: len(dispatcher._ready) if dispatcher._ingress else chance.randrange(options)


def simulated(seed: int) -> SimulatedDispatcher:
    dispatcher = SimulatedDispatcher(seed)
    dispatcher._choose = callers_first(dispatcher, seed)
    return dispatcher


def test_an_outcome_keeps_the_first_diagnostics_and_completions_only() -> None:
    settings = Settings(batch_units=1, max_concurrent_calls=MANY, max_turns=MANY)
    with Runtime(settings, dispatcher=SimulatedDispatcher()) as runtime:
        failing = runtime.translate(request("r1", "s1", MANY), provider=ScriptedProvider())
        answered = runtime.translate(request("r2", "s1", MANY), provider=ScriptedProvider())
        for number in range(1, MANY + 1):
            runtime.fail(f"r1/{number}", "POLICY")
            runtime.respond(f"r2/{number}", translations={f"p{number - 1}": "Text"})
        assert len(failing.get().diagnostics) == MAX_DIAGNOSTICS
        completions = answered.get().completions
        assert [record.call for record in completions] == [f"r2/{number}" for number in range(1, MAX_DIAGNOSTICS + 1)]


@pytest.mark.parametrize("sessions", [("s1", "s2"), ("s1", ""), ("", "s1")])
def test_no_more_executions_run_than_may(sessions: tuple[str, str]) -> None:
    for seed in range(SCHEDULES):
        with Runtime(Settings(max_open_executions=1), dispatcher=simulated(seed)) as runtime:
            started = [
                runtime.translate(request(f"r{place}", session), provider=ScriptedProvider()).started
                for place, session in enumerate(sessions)
            ]
            assert sorted(reply.get().status for reply in started) == ["OVERLOADED", "STARTED"], seed
            assert len(runtime.snapshot().running) == 1


def test_no_more_handles_open_than_may() -> None:
    for seed in range(SCHEDULES):
        with Runtime(Settings(max_open_handles=1), dispatcher=simulated(seed)) as runtime:
            replies = [runtime.register(handoff(f"r{place}", f"s{place}")) for place in range(2)]
            assert sorted(reply.get().status for reply in replies) == ["OVERLOADED", "REGISTERED"], seed
            assert runtime.snapshot().open_handles == 1


def test_registrations_of_one_id_that_wait_in_two_sessions_are_judged_in_the_order_in_which_they_came() -> None:
    for seed in range(SCHEDULES):
        with Runtime(dispatcher=simulated(seed)) as runtime:
            for busy in ("s0", "s1"):
                runtime.register(handoff(f"busy {busy}", busy))
            first, second = (runtime.register(handoff("a", session)) for session in ("s0", "s1"))
            assert (first.get().status, second.get().status) == ("REGISTERED", "DUPLICATE_REQUEST"), seed


def test_an_execution_that_broke_makes_no_more_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Envelope[Any]] = []

    def never_answers(_gateway: Any, _message: MakeCalls, envelope: Envelope[Any]) -> Any:
        asked.append(envelope)
        return DEFERRED

    def breaks_as_the_answer_comes(_operation: Any, _event: object) -> None:
        reply_to: Any = asked[0].reply_to
        reply_to.settle(CallsMade((None,)), None)
        raise ZeroDivisionError

    monkeypatch.setitem(ProviderGateway.handlers, MakeCalls, never_answers)
    monkeypatch.setattr(TranslationOperation, "_take", breaks_as_the_answer_comes)
    dispatcher = SimulatedDispatcher()
    settings = Settings(batch_units=1, max_concurrent_calls=1, execution_timeout=1)
    with Runtime(settings, dispatcher=dispatcher) as runtime:
        translation = runtime.translate(request("r1", "", 3), provider=ScriptedProvider())
        dispatcher.advance(2_000_000)
        assert translation.done
        assert len(asked) == 1


def test_a_task_that_is_cancelled_when_the_outcome_is_there_cancels_nothing() -> None:
    async def main() -> None:
        async with Runtime() as runtime:
            translation = runtime.translate(request("r1", "s1"), provider=ScriptedProvider())
            translation.started.get()
            waiting = asyncio.ensure_future(translation)
            await asyncio.sleep(0)
            # In one go, so that the loop learns of both together.
            runtime.respond("r1/1", translations={"p0": "Text"}).get()
            translation.get()
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
            assert runtime.request_status("r1").get().open

    asyncio.run(main())


def test_a_class_in_the_place_of_its_object_is_refused() -> None:
    with Runtime() as runtime:
        with pytest.raises(InvalidArgument, match="provider"):
            runtime.translate(request("r1", "s1"), provider=ScriptedProvider)  # type: ignore[arg-type]
        with pytest.raises(InvalidArgument, match="feature"):
            runtime.translate(request("r1", "s1"), feature=TextDocument)  # type: ignore[arg-type]
