"""The circuit breaker as a table: it has none of its own, so it is asked what each event does to it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from enum import StrEnum

import attrs

from dragoman.protocol import circuits
from dragoman.protocol.circuits import Circuit, CircuitState, Passage
from dragoman.protocol.failures import KEY_ERRORS

__all__ = ["CIRCUIT"]

_COOLDOWN_US = 1
_LATER_US = 10
_FAILURE = "SERVER_ERROR"
_NEUTRAL = min(KEY_ERRORS)


class _Event(StrEnum):
    LAST_FAILURE_OF_A_ROW = "LAST_FAILURE_OF_A_ROW"
    CALL_AFTER_COOLDOWN = "CALL_AFTER_COOLDOWN"
    PROBE_ANSWERED = "PROBE_ANSWERED"
    PROBE_FAILED = "PROBE_FAILED"
    PROBE_ENDED = "PROBE_ENDED"


def _fail(circuit: Circuit) -> None:
    circuit.failed(Passage.CALL, _FAILURE, 0)


def _call(circuit: Circuit) -> None:
    circuit.enter(_LATER_US)


_ACTS: Mapping[_Event, Callable[[Circuit], None]] = {
    _Event.LAST_FAILURE_OF_A_ROW: _fail,
    _Event.CALL_AFTER_COOLDOWN: _call,
    _Event.PROBE_ANSWERED: lambda circuit: circuit.answered(Passage.PROBE),
    _Event.PROBE_FAILED: lambda circuit: circuit.failed(Passage.PROBE, _FAILURE, _LATER_US),
    _Event.PROBE_ENDED: lambda circuit: circuit.failed(Passage.PROBE, _NEUTRAL, _LATER_US),
}

_WAY: Mapping[CircuitState, tuple[_Event, ...]] = {
    CircuitState.CLOSED: (),
    CircuitState.OPEN: (_Event.LAST_FAILURE_OF_A_ROW,),
    CircuitState.PROBING: (_Event.LAST_FAILURE_OF_A_ROW, _Event.CALL_AFTER_COOLDOWN),
}
"""How each state is reached. A probe is only there while it is being made."""


def _may_happen(state: CircuitState, event: _Event) -> bool:
    return (state is CircuitState.PROBING) == event.name.startswith("PROBE")


def _after(state: CircuitState, event: _Event) -> CircuitState:
    circuit = Circuit(failures=1, cooldown_us=_COOLDOWN_US)
    for step in (*_WAY[state], event):
        _ACTS[step](circuit)
    return circuit.state


def _observed() -> dict[CircuitState, dict[_Event, CircuitState]]:
    lives: dict[CircuitState, dict[_Event, CircuitState]] = {}
    for state in _WAY:
        row = {event: _after(state, event) for event in _ACTS if _may_happen(state, event)}
        lives[state] = {event: following for event, following in row.items() if following is not state}
    return lives


@attrs.frozen
class _Circuit:
    text: str
    lives: Mapping[CircuitState, Mapping[_Event, CircuitState]]


CIRCUIT = _Circuit(inspect.cleandoc(circuits.__doc__ or ""), _observed())
