"""The candidate of a direct call: state by event, and each at most once (design "The direct path", C11)."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.protocol.candidates import CANDIDATE_TABLE, Candidate, CandidateEvent, CandidateState

EXPECTED = {
    ("EMPTY", "STAGE"): "STAGED",
    ("EMPTY", "DISCARD"): "DISCARDED",
    ("STAGED", "COMMIT"): "COMMITTED",
    ("STAGED", "DISCARD"): "DISCARDED",
}

EVERY_PAIR = list(product(CandidateState, CandidateEvent))


def come_to(state: CandidateState) -> Candidate:
    candidate = Candidate()
    if state in (CandidateState.STAGED, CandidateState.COMMITTED):
        candidate.stage("Hallo")
    if state is CandidateState.COMMITTED:
        candidate.commit()
    if state is CandidateState.DISCARDED:
        candidate.discard()
    assert candidate.state is state
    return candidate


def act(candidate: Candidate, event: CandidateEvent) -> object:
    match event:
        case CandidateEvent.STAGE:
            return candidate.stage("Welt")
        case CandidateEvent.COMMIT:
            return candidate.commit()
        case CandidateEvent.DISCARD:
            candidate.discard()
            return None


def test_every_state_has_a_row() -> None:
    assert {*CANDIDATE_TABLE} == {*CandidateState}


@pytest.mark.parametrize(("state", "event"), EVERY_PAIR)
def test_each_event_leads_where_it_should_and_an_illegal_one_does_nothing(
    state: CandidateState, event: CandidateEvent
) -> None:
    assert CANDIDATE_TABLE[state].get(event) == EXPECTED.get((state, event))
    candidate = come_to(state)
    done = act(candidate, event)
    assert candidate.state == EXPECTED.get((state, event), state.value)
    expected = {"STAGE": state is CandidateState.EMPTY, "COMMIT": "Hallo" if state is CandidateState.STAGED else None}
    assert done == expected.get(event)


def test_the_table_cannot_be_changed() -> None:
    with pytest.raises(TypeError):
        CANDIDATE_TABLE[CandidateState.DISCARDED] = {}  # type: ignore[index]
    with pytest.raises(TypeError):
        CANDIDATE_TABLE[CandidateState.DISCARDED][CandidateEvent.COMMIT] = CandidateState.COMMITTED  # type: ignore[index]


def test_the_text_that_was_staged_first_stands() -> None:
    candidate = Candidate()
    assert candidate.stage("Hallo")
    assert not candidate.stage("Welt")
    assert candidate.commit() == "Hallo"


@given(st.lists(st.sampled_from(CandidateEvent)))
def test_a_candidate_is_written_at_most_once_and_never_after_a_discard(events: list[CandidateEvent]) -> None:
    candidate = Candidate()
    done = [(event, act(candidate, event)) for event in events]
    written = [place for place, (event, text) in enumerate(done) if event is CandidateEvent.COMMIT and text is not None]
    assert len(written) <= 1
    if written:
        before = events[: written[0]]
        assert CandidateEvent.STAGE in before
        assert CandidateEvent.DISCARD not in before
        assert candidate.state is CandidateState.COMMITTED


def test_no_repr_shows_the_text() -> None:
    assert "Hallo" not in repr(come_to(CandidateState.STAGED))
