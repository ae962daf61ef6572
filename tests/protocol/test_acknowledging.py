"""What an ACK is answered, and in which order it is checked (design "ACK", C3.2, C11)."""

from __future__ import annotations

import pytest

from dragoman.protocol.handoff import Parent
from dragoman.protocol.parents import RequestParents
from dragoman.protocol.statuses import ParentState

A_MARKER = "<dm-abcdefgh-1/>"


def in_state(state: str) -> RequestParents:
    """One parent p1 in that state, of a request that is open."""
    parents = RequestParents((Parent("p1", 0, "one"),))
    if state == "REJECTED":
        parents.reject("p1")
    elif state != "PENDING":
        parents.accept("p1", "eins")
    if state in ("COMMITTED", "COMMIT_FAILED"):
        parents.settle(parents.due(), frozenset({0} if state == "COMMIT_FAILED" else ()))
    assert parents.states == (ParentState(state),)
    return parents


@pytest.mark.parametrize(
    ("state", "status"),
    [
        ("PENDING", "ACCEPTED"),
        ("ACCEPTED", "DUPLICATE"),
        ("COMMITTED", "DUPLICATE"),
        ("REJECTED", "CONFLICT"),
        ("COMMIT_FAILED", "CONFLICT"),
    ],
)
def test_an_accept_in_each_state(state: str, status: str) -> None:
    assert in_state(state).accept("p1", "uno") == status


@pytest.mark.parametrize(
    ("state", "status"),
    [
        ("PENDING", "REJECTED"),
        ("REJECTED", "DUPLICATE"),
        ("ACCEPTED", "CONFLICT"),
        ("COMMITTED", "CONFLICT"),
        ("COMMIT_FAILED", "CONFLICT"),
    ],
)
def test_a_reject_in_each_state(state: str, status: str) -> None:
    assert in_state(state).reject("p1") == status


@pytest.mark.parametrize("state", ["ACCEPTED", "COMMITTED", "REJECTED", "COMMIT_FAILED"])
def test_an_ack_that_does_not_move_changes_nothing(state: str) -> None:
    parents = in_state(state)
    parents.accept("p1", "uno")
    parents.reject("p1")
    assert parents.states == (ParentState(state),)


def test_the_first_text_stands() -> None:
    parents = in_state("PENDING")
    parents.accept("p1", "eins")
    parents.accept("p1", "uno")
    assert parents.texts(0) == ("p1", "one", "eins")


@pytest.mark.parametrize("result", [None, 7, b"eins", ["eins"], "", " \u2003\n", A_MARKER, f"a{A_MARKER}b"])
def test_a_result_that_is_not_clean_is_invalid_and_may_be_corrected(result: object) -> None:
    parents = in_state("PENDING")
    assert parents.accept("p1", result) == "INVALID_RESULT"
    assert parents.states == (ParentState.PENDING,)
    assert parents.accept("p1", "eins") == "ACCEPTED"


def test_an_envelope_is_invalid_and_other_json_is_a_text() -> None:
    parents = in_state("PENDING")
    assert parents.accept("p1", '{"translations": [{"id": "p1", "text": "eins"}]}') == "INVALID_RESULT"
    assert parents.accept("p1", '{"answer": 42}') == "ACCEPTED"


def test_an_unknown_parent_is_told_before_an_invalid_result() -> None:
    assert in_state("PENDING").accept("p9", "") == "UNKNOWN_PARENT"


def test_an_unknown_parent_cannot_be_rejected() -> None:
    assert in_state("PENDING").reject("p9") == "UNKNOWN_PARENT"


@pytest.mark.parametrize("state", ["ACCEPTED", "COMMITTED", "REJECTED", "COMMIT_FAILED"])
def test_an_invalid_result_is_told_before_the_state(state: str) -> None:
    assert in_state(state).accept("p1", "") == "INVALID_RESULT"


def test_a_result_equal_to_its_source_is_legitimate() -> None:
    assert in_state("PENDING").accept("p1", "one") == "ACCEPTED"


def test_a_blank_source_takes_a_blank_result() -> None:
    parents = RequestParents((Parent("p1", 0, " \n"),))
    assert parents.accept("p1", "") == "ACCEPTED"
