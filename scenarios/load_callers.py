"""The callers in their three modes: real threads, asyncio tasks, and callers in virtual time.

In each a caller runs one script at a time and waits for each answer, and there are as many operations under way as
callers. In virtual time nobody waits: a caller goes on when its answer is there, which may be before other messages are
delivered; the seeded schedule decides. Virtual time passes when no caller has anything to do, and sometimes before.
"""

from __future__ import annotations

import asyncio
import random
import threading
from collections import deque
from collections.abc import Callable
from typing import Any

from ..actors.futures import Future
from ..actors.simulation import SimulatedDispatcher
from ..protocol.errors import DragomanError
from .load_crew import Crew
from .load_moves import Move
from .load_recorder import Recorder
from .load_requests import Script

__all__ = ["run_simulated", "run_tasks", "run_threads"]

_ANSWER_TIMEOUT_S = 30.0
"""An answer that is not there by then is a breach."""
_IDLE_S = 0.001
_MAX_BACKLOG = 20_000
"""Entries of the log that may wait for the judge before the callers do: the memory of the run is bounded."""
_MAX_STALLED = 1_000
"""Steps of virtual time in which nobody goes on: what was called will never be answered."""
_STEPS_US = (0, 1, 50, 1_000, 5_000, 20_000)
"""By how much virtual time may pass at once."""
_IDLE_US = 5_000

Attend = Callable[[], bool]
"""Judge what is in the log; whether the run shall end."""


def run_threads(crew: Crew, recorder: Recorder, callers: int, attend: Attend) -> None:
    """Run until the crew is done, with `callers` threads; this one attends to the log."""
    stopped = threading.Event()
    idle = threading.Event()
    failed: list[BaseException] = []

    def call(caller: int) -> None:
        try:
            while not stopped.is_set():
                script = crew.next() if len(recorder.log) < _MAX_BACKLOG else None
                if script is not None:
                    _run_blocking(script, recorder, caller, stopped, idle)
                elif crew.is_done:
                    return
                else:
                    idle.wait(_IDLE_S)
        except BaseException as error:
            failed.append(error)
            stopped.set()

    threads = [threading.Thread(target=call, args=(caller,), name=f"caller {caller}") for caller in range(callers)]
    try:
        # An interrupt may come while they start: whoever has started must hear that it is over.
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads):
            if attend() or failed:
                break
            idle.wait(_IDLE_S)
    finally:
        stopped.set()
        for thread in threads:
            if thread.ident is not None:
                thread.join()
    if failed:
        raise failed[0]


def _run_blocking(
    script: Script, recorder: Recorder, caller: int, stopped: threading.Event, idle: threading.Event
) -> None:
    reply: Any = None
    while not stopped.is_set():
        try:
            move = script.send(reply)
        except StopIteration:
            return
        if move is None:
            reply = None
            idle.wait(_IDLE_S)
            continue
        sent, began_ns = recorder.call(caller, move)
        try:
            answer = sent.get(_ANSWER_TIMEOUT_S) if isinstance(sent, Future) else sent
        except DragomanError as error:
            answer = error
        reply = recorder.answer(move, began_ns, answer)


def run_tasks(crew: Crew, recorder: Recorder, callers: int, attend: Attend) -> None:
    """The same with `callers` tasks of one event loop, which attends to the log between them."""

    stopped = False

    async def call(caller: int) -> None:
        while not stopped:
            script = crew.next()
            if script is not None:
                await run(script, caller)
            elif crew.is_done:
                return
            else:
                await asyncio.sleep(_IDLE_S)

    async def run(script: Script, caller: int) -> None:
        reply: Any = None
        while not stopped:
            try:
                move = script.send(reply)
            except StopIteration:
                return
            if move is None:
                reply = None
                await asyncio.sleep(_IDLE_S)
                continue
            sent, began_ns = recorder.call(caller, move)
            try:
                answer = await _answer_to(sent) if isinstance(sent, Future) else sent
            except (DragomanError, TimeoutError) as error:
                answer = error
            reply = recorder.answer(move, began_ns, answer)

    async def main() -> None:
        nonlocal stopped
        tasks = [asyncio.create_task(call(caller), name=f"caller {caller}") for caller in range(callers)]
        try:
            while not all(task.done() for task in tasks):
                if attend() or any(task.done() and task.exception() for task in tasks):
                    break
                await asyncio.sleep(_IDLE_S)
            stopped = True
            await asyncio.gather(*tasks)
        finally:
            # An interrupt cancels this task alone. The word to stop ends even a caller that misses its cancellation.
            stopped = True
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    asyncio.run(main())


async def _answer_to(sent: Future[Any]) -> Any:
    # Not wait_for(): before Python 3.12 it swallows a cancellation that comes when the answer is there.
    async with asyncio.timeout(_ANSWER_TIMEOUT_S):
        # An answer may be found without a wait: the other callers shall call beside this one all the same.
        await asyncio.sleep(0)
        return await sent


class _Caller:
    """A caller in virtual time: its script, and the answer that it waits for."""

    def __init__(self, number: int, recorder: Recorder) -> None:
        self.number = number
        self._recorder = recorder
        self.script: Script | None = None
        self.waits = False
        self.reply: Any = None

    def go_on(self) -> bool:
        """Make the next call of the script; False for a pause."""
        assert self.script is not None
        try:
            move = self.script.send(self.reply)
        except StopIteration:
            self.script, self.reply = None, None
            return True
        if move is None:
            self.reply = None
            return False
        self.waits = True
        sent, began_ns = self._recorder.call(self.number, move)
        if isinstance(sent, Future):
            sent.add_done_callback(lambda done: self._answered(move, began_ns, done))
        else:
            self._take(move, began_ns, sent)
        return True

    def _answered(self, move: Move, began_ns: int, done: Future[Any]) -> None:
        try:
            answer = done.get()
        except DragomanError as error:
            answer = error
        self._take(move, began_ns, answer)

    def _take(self, move: Move, began_ns: int, answer: Any) -> None:
        self.waits = False
        self.reply = self._recorder.answer(move, began_ns, answer)


def run_simulated(
    crew: Crew, recorder: Recorder, callers: int, attend: Attend, dispatcher: SimulatedDispatcher, rng: random.Random
) -> None:
    """The same in virtual time, on this thread."""
    crewed = [_Caller(number, recorder) for number in range(callers)]
    clock = _Clock(dispatcher, crew.deadlines_us, rng)
    stalled = 0
    while not attend() and stalled < _MAX_STALLED:
        went_on = False
        rng.shuffle(crewed)
        for caller in crewed:
            if caller.script is None:
                caller.script = crew.next()
            if caller.script is not None and not caller.waits and caller.go_on():
                went_on = True
        dispatcher.run()
        if went_on:
            stalled = 0
            clock.may_pass()
        elif crew.is_done:
            return
        else:
            stalled = stalled + 1 if any(caller.waits for caller in crewed) else 0
            dispatcher.advance(_IDLE_US)


class _Clock:
    """Lets virtual time pass: a little, or to about the instant at which something that began earlier falls due."""

    def __init__(self, dispatcher: SimulatedDispatcher, deadlines_us: tuple[int, ...], rng: random.Random) -> None:
        self._dispatcher = dispatcher
        self._deadlines_us = deadlines_us
        self._rng = rng
        self._instants: deque[int] = deque(maxlen=64)

    def may_pass(self) -> None:
        now_us = self._dispatcher.now_us()
        if not self._instants or self._instants[-1] != now_us:
            self._instants.append(now_us)
        drawn = self._rng.random()
        if drawn < 0.2:
            self._dispatcher.advance(self._rng.choice(_STEPS_US))
        elif drawn < 0.22:
            due_us = self._rng.choice(self._instants) + self._rng.choice(self._deadlines_us) + self._rng.randint(0, 2)
            if due_us > now_us:
                self._dispatcher.advance_to(due_us)
