"""Scenarios that need no timers, replayed in real time against a runtime of any kind, unchanged.

Rule. A scenario is timeless if (1) its timeline ends before the shortest time that its settings name, so that no timer
can be due in it, and that time is long enough for a replay to be over before it; (2) no step executes a request or
answers a provider's call, for provider and feature of a scenario live in the process that replays it; (3) no setting
bounds anything over all sessions in another way than by default, and `then` does not ask for the order of the
sessions: both are of one process; (4) the policy is not changed together with other steps, for in real time it takes
its own way, and which of them it comes before is open. `why_not_timeless` says which of these is broken.

The steps of a moment are posted one after another and awaited together; nothing waits for the instants.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar, cast

import attrs

from ..actors.futures import Future, WaitTimeout
from ..actors.simulation import SimulatedDispatcher
from ..protocol.history import Turn
from ..protocol.settings import Settings
from ..reports import Snapshot
from ..runtime import Runtime
from .continuity_verbs import Apply, Propose
from .execution_verbs import Direct, EditSource, Fail, FailDispatch, Respond, TimeOut, Translate
from .replayer import Failure, Replay
from .scenario import Scenario

T = TypeVar("T")

__all__ = ["replay_timeless", "why_not_timeless"]

_EXECUTING = (Translate, Direct, Respond, Fail, FailDispatch, TimeOut, EditSource)
_TIMES = ("ack_window", "execution_timeout", "session_ttl", "store_ttl")
_OVER_ALL = ("max_sessions", "max_open_handles", "max_open_executions", "ledger_entries", "store_total_bytes")
_LEAST_S = 60.0
"""The shortest time that no replay comes near to."""


def why_not_timeless(scenario: Scenario) -> str | None:
    """Why a scenario is none of those that can be replayed against any runtime; None if it is one."""
    settings, default = scenario.settings, Settings()
    verbs = [step.verb for moment in scenario.timeline for step in moment.steps]
    for verb in verbs:
        if isinstance(verb, _EXECUTING):
            return f"it executes requests ({verb.what})"
    times = [getattr(settings, name) for name in _TIMES]
    changes = [verb.change.value for verb in verbs if isinstance(verb, Propose)]
    for moment in scenario.timeline:
        if len(moment.steps) > 1 and any(isinstance(step.verb, Apply) for step in moment.steps):
            return "it changes the policy together with other steps"
    shortest = min(time for time in times if time is not None)
    if shortest < _LEAST_S or _has(changes, "store_ttl"):
        return "its settings name times that a replay may come near to"
    if scenario.timeline and scenario.timeline[-1].at_us >= shortest * 1_000_000:
        return "a timer may be due in its timeline"
    for name in _OVER_ALL:
        if getattr(settings, name) != getattr(default, name) or _has(changes, name):
            return f"it bounds something over all sessions ({name})"
    return "it asks for the order of the sessions" if "sessions" in scenario.then else None


def _has(changes: list[Any], name: str) -> bool:
    """Whether a proposal would change that setting."""
    return any(isinstance(change, dict) and name in change for change in changes)


def replay_timeless(scenario: Scenario, runtime: Runtime, *, timeout_s: float = 30.0) -> tuple[Failure, ...]:
    """Replay a timeless scenario against `runtime`, which has its settings and providers and nothing in it yet.

    The failures, in order; a step that is not answered within `timeout_s` seconds is one. The runtime is left open.
    """
    run = _Timeless(scenario, runtime, timeout_s)
    run.play()
    return tuple(run.failures)


class _Timeless(Replay):
    def __init__(self, scenario: Scenario, runtime: Runtime, timeout_s: float) -> None:
        self._given = runtime
        self._timeout_s = timeout_s
        self._turns: dict[str, tuple[Turn, ...]] = {}
        # It asks its dispatcher for what is overridden here, and beside that only who watches it.
        super().__init__(scenario, cast(SimulatedDispatcher, runtime.dispatcher), Path())

    def _start(self, _dispatcher: SimulatedDispatcher, _feature_history: Path) -> Runtime:
        return self._given

    def _approach(self, _instant_us: int) -> None:
        """Nothing happens meanwhile in a scenario without timers."""

    def _come_to_rest(self) -> None:
        for _step, future in self._posted:
            if future is not None and not future.done:
                self._await(future)

    def _await(self, future: Future[Any]) -> None:
        with suppress(WaitTimeout):  # told by the step that it belongs to
            self._given.dispatcher.wait(future, self._timeout_s)

    def _look(self, look: Callable[[], T]) -> T:
        """What comes from another process is a copy each time: turns that have not changed are made the same again."""
        found = super()._look(look)
        return self._recognised(found) if isinstance(found, Snapshot) else found  # type: ignore[return-value]

    def _recognised(self, snapshot: Snapshot) -> Snapshot:
        before = self._turns
        self._turns = {
            session.session_id: _same_again(before.get(session.session_id, ()), session.turns)
            for session in snapshot.sessions
        }
        sessions = (attrs.evolve(session, turns=self._turns[session.session_id]) for session in snapshot.sessions)
        return attrs.evolve(snapshot, sessions=tuple(sessions))


def _same_again(before: tuple[Turn, ...], now: tuple[Turn, ...]) -> tuple[Turn, ...]:
    """`now` with the turns of `before` in the place of those that begin it: the oldest may have left since."""
    for gone in range(len(before)):
        kept = before[gone:]
        if kept == now[: len(kept)]:
            return before if kept == now == before else kept + now[len(kept) :]
    return now
