"""Acceptance with one asyncio task a handle, each with a queue: inside the loop, and from another thread.

What a handle decides it writes to the sessions itself, for in one loop nothing comes between; its window is a
`call_later` of the loop.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterable
from typing import Any

from dragoman import (
    AckReply,
    AckStatus,
    ActivateReply,
    ActivateStatus,
    Handoff,
    RegisterReply,
    RegisterStatus,
    Settings,
)

from .acceptance_rules import RequestRules, SessionTurns, refusal
from .clock import clock
from .committed import Answers
from .contestants import awaited, check_opened
from .workload import Workload

__all__ = ["tasks_awaiting", "tasks_from_a_thread", "tasks_in_flight"]

_STALE = AckReply(AckStatus.STALE)
_NO_REQUEST = ActivateReply(ActivateStatus.UNKNOWN_REQUEST)
_IN_FLIGHT = 500

_Asked = tuple[Callable[[RequestRules], Any], "asyncio.Future[Any]"]


class _Memory:
    """The coordinator: everything of it runs in the loop."""

    def __init__(self, settings: Settings) -> None:
        self.sessions = SessionTurns(settings)
        self._settings = settings
        self._queues: dict[str, asyncio.Queue[_Asked | None]] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    async def register(self, handoff: Handoff) -> RegisterReply:
        refused = refusal(handoff, self._settings, taken=handoff.request_id in self._queues)
        if refused is not None:
            return refused
        if not self.sessions.open(handoff.session_id):
            return RegisterReply(RegisterStatus.OVERLOADED)
        queue: asyncio.Queue[_Asked | None] = asyncio.Queue()
        self._queues[handoff.request_id] = queue
        task = asyncio.create_task(self._serve(RequestRules(handoff), queue))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return RegisterReply(RegisterStatus.REGISTERED)

    async def activate(self, request_id: str) -> ActivateReply:
        reply: ActivateReply = await self._ask(request_id, RequestRules.activate, _NO_REQUEST)
        return reply

    async def acknowledge(self, request_id: str, parent_id: str, result: str | None) -> AckReply:
        """An ACK, or a rejection if there is no result."""

        def apply(rules: RequestRules) -> AckReply:
            status, turns = rules.acknowledge(parent_id, result)
            if turns:
                self.sessions.write(rules.session_id, turns)
            return rules.committed(status)

        reply: AckReply = await self._ask(request_id, apply, _STALE)
        return reply

    async def _ask(self, request_id: str, apply: Callable[[RequestRules], Any], otherwise: Any) -> Any:
        queue = self._queues.get(request_id)
        if queue is None:
            return otherwise
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        queue.put_nowait((apply, answer))
        reply = await answer
        return otherwise if reply is None else reply

    async def _serve(self, rules: RequestRules, queue: asyncio.Queue[_Asked | None]) -> None:
        """One handle, from its registration until nothing of it can change any more or its window ends."""
        window = None
        while (asked := await queue.get()) is not None:
            apply, answer = asked
            try:
                reply = apply(rules)
            except Exception as fault:
                answer.set_exception(fault)
                continue
            if isinstance(reply, ActivateReply) and window is None:
                window = asyncio.get_running_loop().call_later(self._settings.ack_window, queue.put_nowait, None)
            answer.set_result(reply)
            if rules.settled:
                break
        if window is not None:
            window.cancel()
        del self._queues[rules.request_id]
        self.sessions.close(rules.session_id)
        while not queue.empty():
            left = queue.get_nowait()
            if left is not None:
                left[1].set_result(None)


def tasks_awaiting(workload: Workload, settings: Settings) -> tuple[float, Answers]:
    """Inside the loop: one caller that awaits each answer."""
    return asyncio.run(_inside(workload, settings, 1))


def tasks_in_flight(workload: Workload, settings: Settings) -> tuple[float, Answers]:
    """Inside the loop: 500 tasks that await."""
    return asyncio.run(_inside(workload, settings, _IN_FLIGHT))


async def _inside(workload: Workload, settings: Settings, count: int) -> tuple[float, Answers]:
    memory = _Memory(settings)
    began = clock.now()
    registered = await awaited(memory.register, [(handoff,) for handoff in workload.handoffs], count)
    activated = await awaited(memory.activate, [(handoff.request_id,) for handoff in workload.handoffs], count)
    replies = await awaited(memory.acknowledge, workload.operations, count)
    return _done(workload, memory, clock.now() - began, registered, activated, replies)


def tasks_from_a_thread(workload: Workload, settings: Settings) -> tuple[float, Answers]:
    """From another thread: one caller that waits for each answer."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()

    def call(coroutines: Iterable[Coroutine[Any, Any, Any]]) -> list[Any]:
        return [asyncio.run_coroutine_threadsafe(coroutine, loop).result() for coroutine in coroutines]

    try:
        memory = _Memory(settings)
        began = clock.now()
        registered = call(memory.register(handoff) for handoff in workload.handoffs)
        activated = call(memory.activate(handoff.request_id) for handoff in workload.handoffs)
        replies = call(memory.acknowledge(*operation) for operation in workload.operations)
        return _done(workload, memory, clock.now() - began, registered, activated, replies)
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


def _done(
    workload: Workload,
    memory: _Memory,
    took_s: float,
    registered: list[RegisterReply],
    activated: list[ActivateReply],
    replies: list[AckReply],
) -> tuple[float, Answers]:
    check_opened(registered, activated)
    histories = {session_id: memory.sessions.read(session_id) for session_id in workload.sessions}
    return took_s, Answers(replies, histories)
