"""The newest turns of a session, beside a deque that does the same (C16)."""

from __future__ import annotations

from collections import deque

from hypothesis import given
from hypothesis import strategies as st

from dragoman.actors.newest_turns import NewestTurns
from dragoman.protocol.history import Turn, TurnRun


def run_of(request: int, count: int) -> TurnRun:
    names = tuple(f"p{place}" for place in range(count))
    return TurnRun(f"r{request}", names, names, tuple(f"{name} of r{request}" for name in names))


@given(st.integers(0, 9), st.lists(st.tuples(st.integers(0, 12), st.booleans()), max_size=12))
def test_they_are_those_that_a_bounded_deque_would_have(limit: int, runs: list[tuple[int, bool]]) -> None:
    newest, expected = NewestTurns(limit), deque[Turn](maxlen=limit)
    for request, (count, reads) in enumerate(runs):
        newest.extend(run_of(request, count))
        expected.extend(run_of(request, count))
        held = len(newest._made) + sum(map(len, newest._runs))
        assert held == len(expected), "what made room is held no longer"
        assert all(newest._runs)
        if reads:
            assert list(newest) == list(expected)
    assert list(newest) == list(expected)


def test_a_turn_that_was_read_stays_the_same_one() -> None:
    newest = NewestTurns(3)
    newest.extend(run_of(1, 2))
    first = list(newest)
    newest.extend(run_of(2, 2))
    assert next(iter(newest)) is first[1]
