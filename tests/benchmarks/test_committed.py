"""The check of the answers: it passes what is right, and tells every kind of wrong answer."""

from __future__ import annotations

from collections.abc import Callable

import attrs
import pytest

from benchmarks.committed import Answers, Order, WrongAnswers, check
from benchmarks.contestants import blocking, plain
from benchmarks.workload import Workload, make_workload
from dragoman import AckReply, AckStatus, Settings

EVERYTHING = Settings(max_turns=1000)
WORKLOAD = make_workload(requests=6, sessions=2, parents=12, doubled=0.1, unknown=0.1)


def place_of(status: AckStatus, answers: Answers) -> int:
    return next(place for place, reply in enumerate(answers.replies) if reply.status is status)


def with_reply(answers: Answers, place: int, reply: AckReply) -> Answers:
    replies = list(answers.replies)
    replies[place] = reply
    return attrs.evolve(answers, replies=replies)


def with_status(answers: Answers, was: AckStatus, now: AckStatus) -> Answers:
    place = place_of(was, answers)
    return with_reply(answers, place, attrs.evolve(answers.replies[place], status=now))


def with_committed(answers: Answers, change: Callable[[tuple[str, ...]], tuple[str, ...]]) -> Answers:
    place = next(place for place, reply in enumerate(answers.replies) if len(reply.committed) > 1)
    reply = answers.replies[place]
    return with_reply(answers, place, attrs.evolve(reply, committed=change(reply.committed)))


def two_swapped(answers: Answers) -> Answers:
    turns = list(answers.histories["s0"])
    own = [place for place, turn in enumerate(turns) if turn.request_id == turns[-1].request_id]
    turns[own[-1]], turns[own[-2]] = turns[own[-2]], turns[own[-1]]
    return attrs.evolve(answers, histories={**answers.histories, "s0": turns})


def other_text(answers: Answers) -> Answers:
    *turns, last = answers.histories["s0"]
    changed = attrs.evolve(last, assistant=last.user)
    return attrs.evolve(answers, histories={**answers.histories, "s0": [*turns, changed]})


FAULTS: dict[str, Callable[[Answers], Answers]] = {
    "an answer is missing": lambda answers: attrs.evolve(answers, replies=answers.replies[:-1]),
    "an ACK is refused": lambda answers: with_status(answers, AckStatus.ACCEPTED, AckStatus.CONFLICT),
    "an ACK is lost": lambda answers: with_status(answers, AckStatus.ACCEPTED, AckStatus.STALE),
    "a rejection is lost": lambda answers: with_status(answers, AckStatus.REJECTED, AckStatus.STALE),
    "a doubled ACK counts twice": lambda answers: with_status(answers, AckStatus.DUPLICATE, AckStatus.ACCEPTED),
    "an unknown parent counts": lambda answers: with_status(answers, AckStatus.UNKNOWN_PARENT, AckStatus.ACCEPTED),
    "told in another order": lambda answers: with_committed(answers, lambda ids: ids[::-1]),
    "told twice": lambda answers: with_committed(answers, lambda ids: (*ids, ids[-1])),
    "a session is empty": lambda answers: attrs.evolve(answers, histories={**answers.histories, "s1": ()}),
    "a turn is missing": lambda answers: attrs.evolve(
        answers, histories={**answers.histories, "s0": answers.histories["s0"][1:]}
    ),
    "two turns are swapped": two_swapped,
    "a turn has another text": other_text,
}


@pytest.fixture(scope="module", params=["plain", "blocking"])
def done(request: pytest.FixtureRequest) -> tuple[Answers, bool]:
    """The answers of a contestant, and whether the requests of a session have an order."""
    contestant = plain if request.param == "plain" else blocking
    return contestant(WORKLOAD, EVERYTHING)[1], contestant is blocking


def test_right_answers_pass(done: tuple[Answers, bool]) -> None:
    answers, ordered = done
    check(WORKLOAD, answers, max_turns=1000, order=Order.REGISTERED if ordered else Order.APART)


@pytest.mark.parametrize("fault", FAULTS)
def test_a_wrong_answer_is_told(done: tuple[Answers, bool], fault: str) -> None:
    answers, ordered = done
    with pytest.raises(WrongAnswers):
        check(WORKLOAD, FAULTS[fault](answers), max_turns=1000, order=Order.REGISTERED if ordered else Order.APART)


def test_committing_without_telling_is_told_where_each_commit_has_its_ack() -> None:
    answers = plain(WORKLOAD, EVERYTHING)[1]
    silent = with_committed(answers, lambda ids: ids[1:])
    with pytest.raises(WrongAnswers, match="without being told"):
        check(WORKLOAD, silent, max_turns=1000, order=Order.APART)


def test_an_order_of_arrival_between_requests_is_told() -> None:
    answers = plain(WORKLOAD, EVERYTHING)[1]
    with pytest.raises(WrongAnswers, match="not the newest in order"):
        check(WORKLOAD, answers, max_turns=1000, order=Order.REGISTERED)


def test_requests_that_are_mixed_are_told_where_only_their_order_is_open() -> None:
    answers = blocking(WORKLOAD, EVERYTHING)[1]
    turns = list(answers.histories["s0"])
    request_ids = list(dict.fromkeys(turn.request_id for turn in turns))
    reordered = [turn for request_id in reversed(request_ids) for turn in turns if turn.request_id == request_id]
    swapped = attrs.evolve(answers, histories={**answers.histories, "s0": reordered})
    check(WORKLOAD, swapped, max_turns=1000, order=Order.ANY)
    with pytest.raises(WrongAnswers):
        check(WORKLOAD, swapped, max_turns=1000, order=Order.REGISTERED)
    of_first = [turn for turn in turns if turn.request_id == request_ids[0]]
    of_others = [turn for turn in turns if turn.request_id != request_ids[0]]
    between = [*of_first[:1], *of_others, *of_first[1:]]
    with pytest.raises(WrongAnswers, match="are mixed"):
        check(
            WORKLOAD,
            attrs.evolve(answers, histories={**answers.histories, "s0": between}),
            max_turns=1000,
            order=Order.ANY,
        )


def test_the_workload_is_what_it_says() -> None:
    workload = make_workload(requests=20, sessions=4, parents=50)
    acks = {(request_id, parent_id) for request_id, parent_id, _result in workload.operations}
    rejected = [operation for operation in workload.operations if operation[2] is None]
    unknown = [operation for operation in workload.operations if operation[1] == workload.unknown_parent]
    texts = [parent.source for handoff in workload.handoffs for parent in handoff.parents]
    assert len(acks) - len({request_id for request_id, _parent_id, _result in unknown}) == 1000
    assert len(workload.operations) == 1000 + 20 + 10
    assert workload.accepted == 950
    assert 50 <= len(rejected) <= 55
    assert len(unknown) == 10
    assert len(set(texts)) == len(texts)
    assert all(75 <= len(text) <= 90 for text in texts)
    assert len(workload.sessions) == 4


def test_the_workload_comes_from_its_seed_alone() -> None:
    def make(seed: int) -> Workload:
        return make_workload(requests=4, sessions=2, parents=5, seed=seed)

    assert make(3) == make(3)
    assert make(3) != make(4)


def test_the_acks_of_requests_are_mixed() -> None:
    first = [request_id for request_id, _parent_id, _result in make_workload(20, 4, 50).operations[:50]]
    assert len(set(first)) > 10
