"""The life of an acceptance handle: state by event, against what the design page says ("Window", "Closing", C15)."""

from __future__ import annotations

from itertools import product

import pytest

from dragoman.protocol.handles import HANDLE_TABLE, HandleEvent, HandleState

EXPECTED = {
    ("REGISTERED", "ACTIVATE"): "ACTIVE",
    ("REGISTERED", "COMPLETE"): "COMPLETE",
    ("REGISTERED", "PASS_OVER"): "CLOSED",
    ("REGISTERED", "CLOSE"): "CLOSED",
    ("ACTIVE", "COMPLETE"): "COMPLETE_ACTIVE",
    ("ACTIVE", "EXPIRE"): "CLOSED",
    ("ACTIVE", "CLOSE"): "CLOSED",
    ("COMPLETE", "ACTIVATE"): "COMPLETE_ACTIVE",
    ("COMPLETE", "CLOSE"): "CLOSED",
    ("COMPLETE_ACTIVE", "CLOSE"): "CLOSED",
}


def row(state: str) -> set[str]:
    return {event.value for event in HANDLE_TABLE[HandleState(state)]}


@pytest.mark.parametrize(("state", "event"), list(product(HandleState, HandleEvent)))
def test_each_event_leads_where_the_page_says(state: HandleState, event: HandleEvent) -> None:
    following = HANDLE_TABLE[state].get(event)
    assert (following and following.value) == EXPECTED.get((state.value, event.value))


def test_every_state_has_a_row() -> None:
    assert set(HANDLE_TABLE) == set(HandleState)


def test_a_handle_whose_parents_all_have_their_ack_neither_expires_nor_is_passed_over() -> None:
    assert not {"EXPIRE", "PASS_OVER"} & (row("COMPLETE") | row("COMPLETE_ACTIVE"))


def test_a_handle_that_was_activated_is_never_passed_over() -> None:
    assert "PASS_OVER" not in row("ACTIVE")


def test_a_handle_that_was_never_activated_has_no_window_to_end() -> None:
    assert "EXPIRE" not in row("REGISTERED")


def test_nothing_happens_to_a_closed_handle() -> None:
    assert not HANDLE_TABLE[HandleState.CLOSED]


def test_every_open_handle_can_be_closed() -> None:
    assert all("CLOSE" in row(state.value) for state in HandleState if state is not HandleState.CLOSED)


def test_the_table_cannot_be_changed() -> None:
    with pytest.raises(TypeError):
        HANDLE_TABLE[HandleState.CLOSED][HandleEvent.ACTIVATE] = HandleState.ACTIVE  # type: ignore[index]
