"""Whether a contestant did the workload right: every answer, every committed order, every session.

A figure counts only if this holds, so it is checked after each run, outside of the time. The order is checked from
what crossed the face: the ids that the answers name, and the newest turns of each session.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from enum import Enum
from itertools import groupby

import attrs

from dragoman import AckReply, AckStatus, Turn

from .workload import Workload

__all__ = ["Answers", "Order", "WrongAnswers", "check"]

_REPEATED = (AckStatus.DUPLICATE, AckStatus.STALE)
_UNKNOWN = (AckStatus.UNKNOWN_PARENT, AckStatus.STALE)


class Order(Enum):
    """How the requests of one session have to commit."""

    REGISTERED = "one after another, in the order of the workload"
    ANY = "one after another, in any order: several callers registered them at the same time"
    APART = "each in its own order alone"


class WrongAnswers(Exception):
    """A contestant did not do what it was asked; its time means nothing."""


@attrs.frozen
class Answers:
    """What a contestant answered: to each operation of the workload, and the newest turns of each session."""

    replies: Sequence[AckReply]
    histories: Mapping[str, Sequence[Turn]]


def check(workload: Workload, answers: Answers, *, max_turns: int, order: Order) -> None:
    """Raise `WrongAnswers` unless all of it is right; `max_turns` is how many turns a session keeps."""
    _check_replies(workload, answers.replies, all_told=order is Order.APART)
    for session_id in workload.sessions:
        turns = list(answers.histories.get(session_id, ()))
        if order is Order.REGISTERED:
            expected = _expected_turns(workload, session_id)[-max_turns:] if max_turns else []
            _require(turns == expected, f"session {session_id}: its turns are not the newest in order")
        else:
            _check_apart(workload, session_id, turns, max_turns)
        if order is Order.ANY:
            runs = [request_id for request_id, _turns in groupby(turns, key=lambda turn: turn.request_id)]
            _require(len(set(runs)) == len(runs), f"session {session_id}: its requests are mixed")


def _check_replies(workload: Workload, replies: Sequence[AckReply], *, all_told: bool) -> None:
    """`all_told`: no parent commits but by an ACK of its own request, so that each is named in an answer."""
    _require(len(replies) == len(workload.operations), "not every operation was answered")
    moves: Counter[tuple[str, str]] = Counter()
    committed: defaultdict[str, list[str]] = defaultdict(list)
    for (request_id, parent_id, result), reply in zip(workload.operations, replies, strict=True):
        where = f"request {request_id}, parent {parent_id}"
        committed[request_id] += reply.committed
        if parent_id == workload.unknown_parent:
            _require(reply.status in _UNKNOWN, f"{where}: an unknown parent was answered {reply.status}")
        elif reply.status is (AckStatus.REJECTED if result is None else AckStatus.ACCEPTED):
            moves[request_id, parent_id] += 1
        else:
            _require(reply.status in _REPEATED, f"{where}: answered {reply.status}")
    for request_id, results in workload.results.items():
        for parent_id in results:
            _require(moves[request_id, parent_id] == 1, f"request {request_id}, parent {parent_id}: not moved once")
        accepted = [parent_id for parent_id, result in results.items() if result is not None]
        told = committed[request_id]
        named = set(told)
        in_order = told == [parent_id for parent_id in accepted if parent_id in named]
        _require(in_order, f"request {request_id}: not committed in source order")
        _require(not all_told or told == accepted, f"request {request_id}: committed without being told")


def _expected_turns(workload: Workload, session_id: str) -> list[Turn]:
    return [turn for turns in _expected_by_request(workload, session_id).values() for turn in turns]


def _expected_by_request(workload: Workload, session_id: str) -> dict[str, list[Turn]]:
    expected = {}
    for handoff in workload.handoffs:
        if handoff.session_id == session_id:
            results = workload.results[handoff.request_id]
            expected[handoff.request_id] = [
                Turn(handoff.request_id, parent.id, parent.source, result)
                for parent in handoff.parents
                if (result := results[parent.id]) is not None
            ]
    return expected


def _check_apart(workload: Workload, session_id: str, turns: Sequence[Turn], max_turns: int) -> None:
    """The newest turns of a session, with the requests in any order: of each, its own newest turns in order."""
    expected = _expected_by_request(workload, session_id)
    count = sum(map(len, expected.values()))
    _require(len(turns) == min(count, max_turns), f"session {session_id}: {len(turns)} turns")
    found: defaultdict[str, list[Turn]] = defaultdict(list)
    for turn in turns:
        found[turn.request_id].append(turn)
    for request_id, its_turns in found.items():
        _require(its_turns == expected.get(request_id, [])[-len(its_turns) :], f"request {request_id}: out of order")


def _require(holds: bool, otherwise: str) -> None:
    if not holds:
        raise WrongAnswers(otherwise)
