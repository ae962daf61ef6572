"""Random executions of the specification are accepted, however they overlap; one wrong reply is found."""

from __future__ import annotations

import random
from typing import Any

import attrs
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.scenarios.verdict import Answered, Called, Judge
from dragoman.scenarios.verdict_facts import Operation, Registration, Rules
from dragoman.scenarios.verdict_spec import Specification
from dragoman.scenarios.verdict_states import EMPTY

from .histories import RULES

ROOMY = attrs.evolve(RULES, max_open_handles=100, max_sessions=10)
REQUESTS = ("r1", "r2", "r3")
PARENTS = ("p1", "p2", "p3")
KINDS = (
    "register",
    "ack",
    "ack",
    "ack",
    "ack",
    "reject",
    "activate",
    "cancel",
    "status",
    "read",
    "claim",
    "clear",
    "fail",
)


def drawn(rng: random.Random) -> Operation:
    kind = rng.choice(KINDS)
    request, parent = rng.choice(REQUESTS), rng.choice((*PARENTS, "p9") if rng.random() < 0.1 else PARENTS)
    if kind == "register":
        return Operation(kind, "s1", request, "", Registration(request, PARENTS, PARENTS))
    if kind == "ack":
        return Operation(kind, "s1", request, parent, rng.choice(("one", "two", " ")))
    if kind == "reject":
        return Operation(kind, "s1", request, parent)
    if kind in ("activate", "cancel", "status"):
        operation = Operation(kind, "s1", request)
        operation.reply = (None, "not asked yet", ()) if kind == "status" else None
        return operation
    if kind == "read":
        return Operation(kind, "s1", argument=rng.choice((0, 1, 10)))
    if kind == "fail":
        return Operation("fail_commits", "s1", argument=1)
    return Operation(kind, "s1")


def executed(
    rng: random.Random, count: int, callers: int, rules: Rules = ROOMY, pause_us: int = 0
) -> list[tuple[Operation, bool]]:
    """A log of `count` operations of which up to `callers` overlap; each takes effect at some moment in between.

    With a pause, time passes, and what is due happens sooner or later.
    """
    specification = Specification(rules)
    state = EMPTY
    now_us = 0
    log: list[tuple[Operation, bool]] = []
    called: list[Operation] = []
    effected: list[Operation] = []
    left = count
    while left or called or effected:
        choices = [
            *(["call"] if left and len(called) + len(effected) < callers else []),
            *(["effect"] if called else []),
            *(["answer"] if effected else []),
        ]
        step = rng.choice(choices)
        now_us += rng.randint(0, pause_us)
        happenings = [then for _what, _due_us, then in specification.events(state, now_us)]
        if happenings and rng.random() < 0.3:
            state = rng.choice(happenings)
        if step == "call":
            left -= 1
            operation = drawn(rng)
            operation.called_at = operation.since_us = now_us
            called.append(operation)
            log.append((operation, False))
        elif step == "effect":
            operation = called.pop(rng.randrange(len(called)))
            reply = specification.reply_to(state, operation)
            operation.reply = reply
            following = specification.step(state, operation)
            assert following is not None
            state = following
            effected.append(operation)
        else:
            operation = effected.pop(rng.randrange(len(effected)))
            operation.answered_at = now_us
            operation.since_us = 0  # for the judge to find out
            log.append((operation, True))
    return log


def judged(log: list[tuple[Operation, bool]], rules: Rules = ROOMY) -> Judge:
    judge = Judge(rules)
    for operation, answered in log:
        judge.take(Answered(operation) if answered else Called(operation))
    return judge


def corrupted(rng: random.Random, operation: Operation) -> Any:
    """Another reply of the same shape: swapped, doubled, dropped, or another word."""
    reply = operation.reply
    if operation.kind in ("ack", "reject"):
        status, committed = reply
        others = ["ACCEPTED", "REJECTED", "DUPLICATE", "CONFLICT", "STALE", "UNKNOWN_PARENT"]
        if len(committed) > 1 and rng.random() < 0.5:
            return status, rng.choice((committed[::-1], committed[1:], (*committed, committed[0])))
        if committed and rng.random() < 0.5:
            return status, ()
        return rng.choice([other for other in others if other != status]), committed
    if operation.kind == "read":
        if len(reply) > 1:
            return rng.choice((reply[::-1], reply[1:], (*reply, reply[-1])))
        return reply[1:] if reply else (("r1", "p1", "p1", "one"),)
    if operation.kind == "status":
        is_open, cause, parents = reply
        return not is_open, cause, parents
    if operation.kind == "claim":
        return reply + rng.choice((-1, 1))
    return {
        "REGISTERED": "DUPLICATE_REQUEST",
        "DUPLICATE_REQUEST": "REGISTERED",
        "ACTIVATED": "ALREADY_ACTIVE",
        "ALREADY_ACTIVE": "UNKNOWN_REQUEST",
        "UNKNOWN_REQUEST": "DISPOSED" if operation.kind == "cancel" else "ACTIVATED",
        "DISPOSED": "UNKNOWN_REQUEST",
        "CLEARED": "UNKNOWN_SESSION",
        "UNKNOWN_SESSION": "CLEARED",
        None: "something",
    }[reply]


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 5))
def test_whatever_happens_in_some_order_is_accepted(seed: int, callers: int) -> None:
    judge = judged(executed(random.Random(seed), 60, callers))
    assert judge.finish().clean, judge.breaches[0].lines()


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 4), st.sampled_from(("session", "request")))
def test_whatever_happens_by_itself_meanwhile_is_accepted_too(seed: int, callers: int, order: str) -> None:
    rules = attrs.evolve(
        ROOMY, crowded=True, window_us=1_000, ttl_us=3_000, in_session_order=order == "session", forgetful=False
    )
    judge = judged(executed(random.Random(seed), 60, callers, rules, 150), rules)
    assert judge.finish().clean, judge.breaches[0].lines()


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 2**32))
def test_one_wrong_reply_in_a_serial_history_is_found(seed: int) -> None:
    rng = random.Random(seed)
    log = executed(rng, 40, 1)
    wrong = rng.choice([operation for operation, answered in log if answered])
    wrong.reply = corrupted(rng, wrong)
    assert not judged(log).finish().clean


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 2**32))
def test_an_answer_that_was_lost_is_found(seed: int) -> None:
    rng = random.Random(seed)
    log = executed(rng, 30, 3)
    lost = rng.choice([entry for entry in log if entry[1]])
    assert not judged([entry for entry in log if entry is not lost]).finish().clean


def test_a_corrupted_history_was_accepted_before() -> None:
    for seed in range(20):
        assert judged(executed(random.Random(seed), 40, 1)).finish().clean
