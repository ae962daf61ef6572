"""Which call is made next: batch order, slots, recovery and failover first, fenced answers (language page, "Units and
batches"; design, "Attempts")."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.protocol.batches import Ask, BatchRun, Failed, Resolved, Retry
from dragoman.protocol.participation import ProviderPolicy
from dragoman.protocol.schedule import Schedule
from dragoman.protocol.statuses import CallFormat
from dragoman.protocol.units import Unit

from .scripted import BROKEN, ROWS, TOKEN, answer, units_of


def schedule(*batches: str, at_once: int = 4, direct: bool = False, **policy: Any) -> Schedule:
    """A schedule of batches; each character is a unit."""
    return Schedule(
        [units_of(*names) for names in batches],
        token=TOKEN,
        policy=ProviderPolicy(**policy),
        direct=direct,
        max_concurrent_calls=at_once,
    )


def make_calls(calls: Schedule, key: int = 1) -> list[tuple[int, str]]:
    """Make every call that may be made now: its number, and the units that it asks for."""
    made = []
    while (following := calls.next_call()) is not None:
        batch, ask = following
        assert isinstance(ask, Ask)
        calls.placed(batch, calls.made + 1, ask.key or key)
        made.append((calls.made, "".join(unit.id for unit in ask.units)))
    return made


def good(calls: Schedule, number: int, mark: str = "") -> object:
    asked = calls.asked(number)
    assert asked is not None
    return step_of(calls.ended(number, answer(asked, mark=mark), None))


def lacking(calls: Schedule, number: int, unit: str) -> object:
    asked = calls.asked(number)
    assert asked is not None
    return step_of(calls.ended(number, answer(asked, {unit: None}), None))


def fail(calls: Schedule, number: int, error: str) -> object:
    return step_of(calls.ended(number, None, error))


def step_of(ended: tuple[BatchRun, object] | None) -> object:
    assert ended is not None
    return ended[1]


def test_calls_are_made_in_batch_order_up_to_the_limit() -> None:
    calls = schedule("a", "b", "c", "d", at_once=2)
    assert make_calls(calls) == [(1, "a"), (2, "b")]
    assert calls.open_calls == (1, 2)
    assert isinstance(good(calls, 2), Resolved)
    assert make_calls(calls) == [(3, "c")]
    good(calls, 3)
    assert make_calls(calls) == [(4, "d")]
    assert (calls.over, calls.open_calls) == (False, (1, 4))
    good(calls, 1)
    good(calls, 4)
    assert calls.over
    assert (calls.made, len(calls.open_calls), calls.retries, calls.first_error) == (4, 0, 0, None)
    assert make_calls(calls) == []


def test_a_call_that_is_about_to_be_made_holds_its_slot() -> None:
    calls = schedule("a", "b", at_once=1)
    assert calls.next_call() is not None
    assert calls.next_call() is None


def test_a_batch_that_recovers_keeps_its_call_and_goes_before_the_next() -> None:
    calls = schedule("ab", "c", at_once=1)
    make_calls(calls)
    assert isinstance(lacking(calls, 1, "b"), Ask)
    assert make_calls(calls) == [(2, "b")]
    good(calls, 2)
    assert make_calls(calls) == [(3, "c")]


def test_a_full_recovery_keeps_its_call_to_the_end() -> None:
    calls = schedule("ab", "c", at_once=1)
    make_calls(calls)
    calls.ended(1, BROKEN, None)
    assert make_calls(calls) == [(2, "a")]
    good(calls, 2)
    assert make_calls(calls) == [(3, "b")]
    good(calls, 3)
    assert make_calls(calls) == [(4, "c")]


def test_a_batch_that_moves_to_another_key_keeps_its_call_and_goes_before_the_next() -> None:
    calls = schedule("a", "b", at_once=1, keys=2)
    make_calls(calls)
    assert isinstance(fail(calls, 1, "API_KEY_INVALID"), Ask)
    assert make_calls(calls) == [(2, "a")]
    assert calls.failed_over
    assert calls.retries == 0


def test_recovery_and_failover_go_in_the_order_in_which_they_came_about() -> None:
    calls = schedule("ab", "c", "d", at_once=2, keys=2)
    make_calls(calls)
    fail(calls, 2, "QUOTA_EXCEEDED")
    lacking(calls, 1, "a")
    assert make_calls(calls) == [(3, "c"), (4, "a")]


def test_a_batch_that_waits_for_its_retry_holds_no_call() -> None:
    calls = schedule("a", "b", "c", "d", at_once=2)
    make_calls(calls)
    assert fail(calls, 1, "NETWORK_ERROR") == Retry(1)
    assert make_calls(calls) == [(3, "c")]
    calls.wake(0)
    assert make_calls(calls) == []
    good(calls, 2)
    assert make_calls(calls) == [(4, "a")]
    assert calls.retries == 1
    good(calls, 3)
    assert make_calls(calls) == [(5, "d")]


def test_a_batch_that_waits_does_not_let_the_request_be_over() -> None:
    calls = schedule("a")
    make_calls(calls)
    fail(calls, 1, "NETWORK_ERROR")
    assert make_calls(calls) == []
    assert not calls.over
    calls.wake(0)
    make_calls(calls)
    good(calls, 2)
    assert calls.over


def test_an_answer_to_a_call_that_is_over_is_nothing() -> None:
    calls = schedule("ab", at_once=1)
    make_calls(calls)
    lacking(calls, 1, "b")
    assert calls.asked(1) is None
    assert calls.ended(1, BROKEN, None) is None
    make_calls(calls)
    assert calls.ended(1, None, "NETWORK_ERROR") is None
    assert isinstance(good(calls, 2), Resolved)
    assert calls.ended(2, BROKEN, None) is None
    assert calls.ended(9, BROKEN, None) is None
    assert calls.over


def test_an_answer_to_a_superseded_attempt_does_not_reach_the_next_one() -> None:
    calls = schedule("a")
    make_calls(calls)
    fail(calls, 1, "NETWORK_ERROR")
    calls.wake(0)
    make_calls(calls)
    late = answer(Ask(units_of("a"), CallFormat.STRUCTURED, recovers=False), mark=" of the first attempt")
    assert calls.ended(1, late, None) is None
    assert good(calls, 2) == Resolved((("a", ("A",)),), recovered=False)


def test_an_open_call_tells_what_it_asks_for() -> None:
    calls = schedule("ab", "c")
    make_calls(calls)
    ask = calls.asked(2)
    assert ask is not None
    assert ask.units == units_of("c")
    assert calls.asked(3) is None


def test_a_call_that_the_circuit_forbids_is_not_made_and_ends_its_batch() -> None:
    calls = schedule("a", "b", at_once=1)
    following = calls.next_call()
    assert following is not None
    assert calls.not_placed(following[0]) == Failed("CIRCUIT_BREAKER_OPEN")
    assert (calls.made, calls.open_calls, calls.first_error) == (0, (), "CIRCUIT_BREAKER_OPEN")
    assert make_calls(calls) == [(1, "b")]


def test_a_recovery_that_the_circuit_forbids_ends_its_batch() -> None:
    calls = schedule("ab")
    make_calls(calls)
    lacking(calls, 1, "b")
    following = calls.next_call()
    assert following is not None
    assert calls.not_placed(following[0]) == Failed("CIRCUIT_BREAKER_OPEN")
    assert calls.over


def test_a_batch_that_is_too_long_fails_in_its_turn_and_takes_no_slot() -> None:
    calls = Schedule(
        [units_of("a"), (Unit("b", "b", ("x" * 99,)),), units_of("c")],
        token=TOKEN,
        policy=ProviderPolicy(max_chars=50),
        direct=False,
        max_concurrent_calls=2,
    )
    first, second, third = calls.next_call(), calls.next_call(), calls.next_call()
    assert first is not None
    assert second == (calls.batches[1], Failed("TEXT_TOO_LONG"))
    assert third is not None
    assert third[0] is calls.batches[2]
    assert (calls.first_error, calls.retries) == ("TEXT_TOO_LONG", 0)


def test_the_first_error_is_the_final_one_of_the_batch_that_failed_first() -> None:
    calls = schedule("a", "b", "c")
    make_calls(calls)
    fail(calls, 1, "NETWORK_ERROR")
    assert calls.first_error is None
    fail(calls, 3, "VALIDATION")
    fail(calls, 2, "POLICY")
    assert calls.first_error == "VALIDATION"


def test_retries_are_the_attempts_after_the_first_of_all_batches() -> None:
    calls = schedule("a", "b")
    make_calls(calls)
    for number, error in ((1, "SERVER_ERROR"), (2, "SERVER_ERROR"), (3, "SERVER_ERROR")):
        fail(calls, number, error)
        calls.wake(number - 1 if number < 3 else 0)
        make_calls(calls)
    assert calls.retries == 3
    fail(calls, 5, "POLICY")
    good(calls, 4)
    assert calls.retries == 3


@pytest.mark.parametrize("recovery", ["selective", "full"])
@given(st.data(), st.integers(1, 5), st.integers(1, 3), st.integers(1, 2))
def test_whatever_is_answered_every_batch_ends_once_within_the_limit(
    recovery: str, data: st.DataObject, batches: int, at_once: int, keys: int
) -> None:
    names = [f"{letter}{letter.upper()}" for letter in "vwxyz"[:batches]]
    calls = schedule(*names, at_once=at_once, keys=keys, recovery=recovery)
    ended: dict[int, object] = {}
    waiting: set[int] = set()
    begun: list[int] = []
    attempts: dict[int, int] = {}
    over: set[int] = set()

    def follow(batch: BatchRun, step: object) -> None:
        if isinstance(step, Retry):
            waiting.add(batch.number)
        elif not isinstance(step, Ask):
            assert batch.number not in ended
            ended[batch.number] = step

    while not calls.over:
        while (following := calls.next_call()) is not None:
            batch, ask = following
            assert isinstance(ask, Ask)
            if batch.attempt == 1 and batch.number not in attempts:
                begun.append(batch.number)
            attempts[batch.number] = batch.attempt
            assert batch.number not in ended
            calls.placed(batch, calls.made + 1, ask.key or 1)
        assert len(calls.open_calls) <= at_once
        if calls.open_calls and (not waiting or data.draw(st.booleans())):
            number = data.draw(st.sampled_from(calls.open_calls))
            asked = calls.asked(number)
            assert asked is not None
            left_out: dict[str, str | None] = {data.draw(st.sampled_from(asked.units)).id: None}
            done = data.draw(st.sampled_from(["valid", "valid", "violating", "failed"]))
            if done == "failed":
                result = calls.ended(number, None, data.draw(st.sampled_from(sorted(ROWS))))
            else:
                result = calls.ended(number, answer(asked, left_out if done == "violating" else None), None)
            assert result is not None
            over.add(number)
            follow(*result)
        else:
            calls.wake(waiting.pop())
        assert all(calls.ended(number, BROKEN, None) is None for number in over)
    assert begun == sorted(begun) == list(range(batches))
    assert ended.keys() == set(range(batches))
    assert calls.retries == sum(attempts.values()) - batches
    assert calls.made == len(over)
    assert not calls.open_calls
