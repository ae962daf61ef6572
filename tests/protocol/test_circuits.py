"""The circuit breaker of a provider, sentence by sentence (language page, "Smaller rulings")."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.protocol.circuits import Circuit, CircuitState, Passage

COOLDOWN = 1000
AFTER = COOLDOWN + 1
NEUTRAL = (
    *("VALIDATION", "TEXT_TOO_LONG", "POLICY"),
    *("API_KEY_INVALID", "QUOTA_EXCEEDED", "INSUFFICIENT_BALANCE", "RATE_LIMIT_REACHED"),
)
COUNTED = (
    *("NETWORK_ERROR", "SERVER_ERROR", "MODEL_OVERLOADED", "HTTP_ERROR"),
    *("API_RESPONSE_INVALID", "PROVIDER_FAULT", "ANYTHING_ELSE"),
)


def opened(failures: int = 1) -> Circuit:
    """A circuit that opened at 0."""
    circuit = Circuit(failures, COOLDOWN)
    for _ in range(failures):
        circuit.failed(Passage.CALL, "NETWORK_ERROR", 0)
    return circuit


def probing() -> Circuit:
    circuit = opened()
    assert circuit.enter(AFTER) is Passage.PROBE
    return circuit


CIRCUITS: dict[str, Callable[[], Circuit]] = {
    "CLOSED": lambda: Circuit(1, COOLDOWN),
    "OPEN": opened,
    "PROBING": probing,
}

EVENTS: dict[str, Callable[[Circuit], object]] = {
    "call early": lambda circuit: circuit.enter(COOLDOWN),
    "call after": lambda circuit: circuit.enter(AFTER),
    "answer": lambda circuit: circuit.answered(Passage.CALL),
    "failure": lambda circuit: circuit.failed(Passage.CALL, "SERVER_ERROR", AFTER),
    "neutral failure": lambda circuit: circuit.failed(Passage.CALL, "VALIDATION", AFTER),
    "cancelled": lambda circuit: circuit.ended(Passage.CALL),
    "probe answered": lambda circuit: circuit.answered(Passage.PROBE),
    "probe failed": lambda circuit: circuit.failed(Passage.PROBE, "SERVER_ERROR", AFTER),
    "probe failed neutrally": lambda circuit: circuit.failed(Passage.PROBE, "VALIDATION", AFTER),
    "probe cancelled": lambda circuit: circuit.ended(Passage.PROBE),
}

MOVES = {
    ("CLOSED", "failure"): "OPEN",
    ("OPEN", "call after"): "PROBING",
    ("PROBING", "probe answered"): "CLOSED",
    ("PROBING", "probe failed"): "OPEN",
    ("PROBING", "probe failed neutrally"): "OPEN",
    ("PROBING", "probe cancelled"): "OPEN",
}
"""What moves a circuit that opens at one failure; a probe is out only while it is probed."""

PAIRS = [(s, e) for s, e in product(CIRCUITS, EVENTS) if s == "PROBING" or not e.startswith("probe")]


def test_a_circuit_has_the_states_that_are_looked_at_here() -> None:
    assert {*CIRCUITS} == {state.value for state in CircuitState}


@pytest.mark.parametrize(("state", "event"), PAIRS)
def test_each_event_moves_the_circuit_as_the_page_says_or_not_at_all(state: str, event: str) -> None:
    circuit = CIRCUITS[state]()
    assert circuit.state.value == state
    EVENTS[event](circuit)
    assert circuit.state.value == MOVES.get((state, event), state)


@pytest.mark.parametrize("failures", [1, 2, 5])
def test_that_many_failures_in_a_row_open_it(failures: int) -> None:
    circuit = Circuit(failures, COOLDOWN)
    for _ in range(failures - 1):
        circuit.failed(Passage.CALL, "NETWORK_ERROR", 0)
        assert circuit.enter(0) is Passage.CALL
    circuit.failed(Passage.CALL, "NETWORK_ERROR", 0)
    assert circuit.enter(0) is None


def test_without_a_number_of_failures_it_never_opens() -> None:
    circuit = Circuit(0, COOLDOWN)
    for _ in range(1000):
        circuit.failed(Passage.CALL, "NETWORK_ERROR", 0)
    assert circuit.enter(0) is Passage.CALL


@pytest.mark.parametrize("error", COUNTED)
def test_a_failed_call_counts(error: str) -> None:
    circuit = Circuit(1, COOLDOWN)
    circuit.failed(Passage.CALL, error, 0)
    assert circuit.state is CircuitState.OPEN


@pytest.mark.parametrize("error", NEUTRAL)
def test_local_errors_and_errors_of_a_key_count_neither_way(error: str) -> None:
    circuit = Circuit(2, COOLDOWN)
    circuit.failed(Passage.CALL, error, 0)
    circuit.failed(Passage.CALL, "NETWORK_ERROR", 0)
    circuit.failed(Passage.CALL, error, 0)
    assert circuit.enter(0) is Passage.CALL
    circuit.failed(Passage.CALL, "NETWORK_ERROR", 0)
    assert circuit.enter(0) is None


def test_a_cancelled_call_does_not_end_the_row() -> None:
    circuit = Circuit(2, COOLDOWN)
    circuit.failed(Passage.CALL, "NETWORK_ERROR", 0)
    circuit.ended(Passage.CALL)
    circuit.failed(Passage.CALL, "NETWORK_ERROR", 0)
    assert circuit.state is CircuitState.OPEN


@given(st.lists(st.sampled_from(["failure", "neutral failure", "cancelled", "answer"]), max_size=30), st.integers(1, 4))
def test_it_opens_when_the_last_calls_that_count_have_all_failed(events: list[str], failures: int) -> None:
    circuit = Circuit(failures, COOLDOWN)
    row = 0
    for event in events:
        EVENTS[event](circuit)
        row = {"failure": row + 1, "answer": 0}.get(event, row)
        assert (circuit.state is CircuitState.OPEN) == (row >= failures)
        if row >= failures:
            return


@pytest.mark.parametrize("now", [0, 1, COOLDOWN - 1, COOLDOWN])
def test_while_the_cooldown_lasts_no_call_is_made(now: int) -> None:
    assert opened().enter(now) is None


def test_when_more_than_the_cooldown_has_passed_one_call_is_the_probe_and_all_others_still_fail() -> None:
    circuit = opened()
    assert circuit.enter(AFTER) is Passage.PROBE
    assert [circuit.enter(AFTER + later) for later in (0, 1, 10 * COOLDOWN)] == [None, None, None]


def test_the_answer_of_the_probe_closes_the_circuit_and_begins_a_new_row() -> None:
    circuit = opened(failures=2)
    circuit.enter(AFTER)
    circuit.answered(Passage.PROBE)
    assert [circuit.enter(AFTER), circuit.enter(AFTER)] == [Passage.CALL, Passage.CALL]
    circuit.failed(Passage.CALL, "NETWORK_ERROR", AFTER)
    assert circuit.state is CircuitState.CLOSED


def test_the_failure_of_the_probe_opens_it_for_another_cooldown() -> None:
    circuit = opened(failures=3)
    circuit.enter(AFTER)
    circuit.failed(Passage.PROBE, "NETWORK_ERROR", 5000)
    assert circuit.enter(5000 + COOLDOWN) is None
    assert circuit.enter(5000 + AFTER) is Passage.PROBE


def test_a_cancelled_probe_makes_the_next_call_the_probe() -> None:
    circuit = probing()
    circuit.ended(Passage.PROBE)
    assert circuit.enter(AFTER) is Passage.PROBE
    assert circuit.enter(AFTER) is None


@pytest.mark.parametrize("error", NEUTRAL)
def test_a_probe_that_says_nothing_about_the_provider_makes_the_next_call_the_probe(error: str) -> None:
    circuit = probing()
    circuit.failed(Passage.PROBE, error, AFTER)
    assert circuit.enter(AFTER) is Passage.PROBE


@pytest.mark.parametrize("event", ["answer", "failure", "neutral failure", "cancelled"])
def test_calls_that_were_open_before_do_not_change_an_open_circuit(event: str) -> None:
    circuit = opened()
    EVENTS[event](circuit)
    assert circuit.enter(COOLDOWN) is None
    assert circuit.enter(AFTER) is Passage.PROBE
    EVENTS[event](circuit)
    assert circuit.enter(AFTER) is None
