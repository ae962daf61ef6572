"""One request id that is used in two sessions at once: everybody is answered, whichever lane each one waits in."""

from __future__ import annotations

import random
import sys
import threading
from typing import Any

import pytest

from dragoman import Future, Handoff, Parent, Runtime, ScriptedProvider, SimulatedDispatcher, TranslationRequest

SCHEDULES = 400
ROUNDS = 12
CALLERS = 3
CALLS = 40


def handoff(request: str, session: str) -> Handoff:
    return Handoff(request, session, "openai", "select-element", (Parent("p", 0, "x"),))


def use(runtime: Runtime, request: str, session: str) -> list[Future[Any]]:
    return [runtime.register(handoff(request, session)), runtime.cancel(request), runtime.clear_session(session)]


@pytest.mark.parametrize("executes", [False, True])
def test_whatever_the_schedule_nobody_waits_for_ever(executes: bool) -> None:
    for seed in range(SCHEDULES):
        chance = random.Random(seed)
        with Runtime(dispatcher=SimulatedDispatcher(seed, chance.randrange)) as runtime:
            asked: list[Future[Any]] = []
            for _ in range(8):
                session = f"s{chance.randrange(2)}"
                asked += use(runtime, chance.choice("aab"), session)
                if executes:
                    request = TranslationRequest("a", session, {"p": "x"}, "de")
                    asked.append(runtime.translate(request, provider=ScriptedProvider()).started)
            runtime.dispatcher.run()  # type: ignore[attr-defined]
            unanswered = [future for future in asked if not future.done]
        assert not unanswered, seed


def test_callers_on_threads_are_answered_too() -> None:
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for _ in range(ROUNDS):
            _run_beside_each_other()
    finally:
        sys.setswitchinterval(interval)


def _run_beside_each_other() -> None:
    asked: list[Future[Any]] = []
    with Runtime() as runtime:

        def call(number: int) -> None:
            for i in range(CALLS):
                asked.extend(use(runtime, f"r{i % 3}", f"s{(i + number) % 2}"))

        callers = [threading.Thread(target=call, args=(number,)) for number in range(CALLERS)]
        for caller in callers:
            caller.start()
        for caller in callers:
            caller.join()
        for future in asked:
            future.get(timeout=20)
