"""How what is expected is compared with what is so (language page "Comparing")."""

from __future__ import annotations

from typing import Any

import pytest

from dragoman.scenarios.expectations import OneOf, compare_reply, compare_then
from dragoman.scenarios.reading import Located

from .conftest import Failures

STEP = """\
scenario: x
timeline:
  - {at: 0s, register: {request: r1, session: s1, parents: {p1: Hello, p2: World}}}
  - """
ACK = STEP + "{at: 1s, ack: {request: r1, parent: p1, result: Hallo}, expect: %s}\n"
CLAIM = STEP + "{at: 1s, claim_turn: {session: s1}, expect: %s}\n"
READ = (ACK % "ACCEPTED") + "  - {at: 2s, read_history: {session: s1}, expect: %s}\n"
WAIT = STEP + "{at: 1s, wait: , expect: %s}\n"
FAIL_COMMITS = STEP + "{at: 1s, fail_commits: {session: s1}, expect: %s}\n"
END = (ACK % "ACCEPTED") + "then: {%s}\n"

HOLDS = [
    (ACK, "ACCEPTED"),
    (ACK, "{status: ACCEPTED}"),
    (ACK, "{committed: [p1]}"),
    (ACK, "{}"),
    (ACK, "{status: ACCEPTED, committed: [p1]}"),
    (ACK, "{one_of: [STALE, ACCEPTED]}"),
    (ACK, "{one_of: [STALE, {status: ACCEPTED, committed: [p1]}]}"),
    (ACK, "{status: {one_of: [STALE, ACCEPTED]}, committed: {one_of: [[], [p1]]}}"),
    (ACK, "{committed: [{one_of: [p2, p1]}]}"),
    (ACK, "{one_of: [{one_of: [STALE, ACCEPTED]}]}"),
    (CLAIM, "1"),
    (CLAIM, "1.0"),
    (CLAIM, "{one_of: [1, 2]}"),
    (READ, "[[Hello, Hallo]]"),
    (READ, "[[Hello, {one_of: [Hi, Hallo]}]]"),
    (READ, "[{one_of: [[], [Hello, Hallo]]}]"),
    (READ, "{one_of: [[], [[Hello, Hallo]]]}"),
    (WAIT, "null"),
    (FAIL_COMMITS, "null"),
    (END, "history: {s1: [[Hello, Hallo]]}"),
    (END, "history: {}"),
    (END, "history: {never: []}"),
    (END, "history: {s1: {one_of: [[], [[Hello, Hallo]]]}}"),
    (END, "history: {one_of: [{s1: []}, {s1: [[Hello, Hallo]]}]}"),
    (END, "handles: {r1: {p2: PENDING}}"),
    (END, "handles: {r1: {p1: {one_of: [ACCEPTED, COMMITTED]}}}"),
    (END, "closed: {r1: null}"),
    (END, "closed: {never: null}"),
    (END, "open_handles: 1"),
    (END, "open_handles: 1.0"),
    (END, "open_handles: {one_of: [0, 1]}"),
    (END, "sessions: [s1]"),
    (END, "sessions: {one_of: [[], [s1]]}"),
    (END, "sessions: [{one_of: [s1, s2]}]"),
    (END, "turn_counter: {s1: 0, never: 0}"),
    (END, "turn_counter: {s1: 0.0}"),
]

FAILS = [
    (ACK, "STALE"),
    (ACK, "null"),
    (ACK, "1"),
    (ACK, "[ACCEPTED]"),
    (ACK, "[]"),
    (ACK, "{status: null}"),
    (ACK, "{committed: p1}"),
    (ACK, "{committed: []}"),
    (ACK, "{committed: [p1, p2]}"),
    (ACK, "{committed: {}}"),
    (ACK, "{committed: null}"),
    (ACK, "{status: ACCEPTED, committed: []}"),
    (ACK, "{one_of: []}"),
    (ACK, "{one_of: [STALE, {status: ACCEPTED, committed: []}]}"),
    (CLAIM, "2"),
    (CLAIM, "true"),
    (CLAIM, "null"),
    (CLAIM, "[1]"),
    (CLAIM, "OVERLOADED"),
    (CLAIM, "{status: OVERLOADED}"),
    (READ, "[]"),
    (READ, "[[Hello, Hallo], [World, Welt]]"),
    (READ, "[[Hello]]"),
    (READ, "[Hello, Hallo]"),
    (READ, "[[Hallo, Hello]]"),
    (READ, "ACCEPTED"),
    (READ, "null"),
    (WAIT, "ACCEPTED"),
    (WAIT, "0"),
    (WAIT, "false"),
    (WAIT, "[]"),
    (FAIL_COMMITS, "CONFIGURED"),
    (END, "history: {s1: []}"),
    (END, "history: {s1: [[Hello]]}"),
    (END, "history: {never: [[Hello, Hallo]]}"),
    (END, "handles: {r1: {p2: ACCEPTED}}"),
    (END, "handles: {r1: {p3: PENDING}}"),
    (END, "handles: {never: {p1: PENDING}}"),
    (END, "closed: {r1: COMPLETED}"),
    (END, "closed: {never: COMPLETED}"),
    (END, "open_handles: 0"),
    (END, "sessions: []"),
    (END, "sessions: [s1, s2]"),
    (END, "turn_counter: {s1: 1}"),
    (END, "turn_counter: {never: 1}"),
]


@pytest.mark.parametrize(("scenario", "expected"), HOLDS)
def test_what_holds_passes(failures: Failures, scenario: str, expected: str) -> None:
    assert failures(scenario % expected) == ()


@pytest.mark.parametrize(("scenario", "expected"), FAILS)
def test_what_does_not_hold_fails_once(failures: Failures, scenario: str, expected: str) -> None:
    assert len(failures(scenario % expected)) == 1


def test_without_an_expect_nothing_is_compared(failures: Failures) -> None:
    assert failures(STEP + "{at: 1s, activate: never}\n") == ()


SAME: list[tuple[Any, Any]] = [
    (None, None),
    (1, 1),
    (1, 1.0),
    (1.0, 1),
    (True, True),
    ("a", "a"),
    ([1, [2]], [1.0, [2]]),
    ({"a": {"b": [None]}}, {"a": {"b": [None]}}),
    ({"b": 1, "a": 2}, {"a": 2, "b": 1}),
    (OneOf((1, "a")), "a"),
    ([OneOf((1, 2))], [2]),
    ({"a": OneOf((None, 1))}, {"a": None}),
]
OTHER: list[tuple[Any, Any]] = [
    (True, 1),
    (1, True),
    (False, 0),
    (0, False),
    (0.0, False),
    (None, False),
    (None, 0),
    (None, ""),
    (None, []),
    ("1", 1),
    (1, "1"),
    ([], {}),
    ([1, 2], [2, 1]),
    ([1], [1, 2]),
    ([True], [1]),
    ({"a": 1}, {"a": 1, "b": 2}),
    ({"a": 1, "b": 2}, {"a": 1}),
    ({"a": None}, {}),
    ({}, {"a": None}),
    ({"a": {"b": 1}}, {"a": {"b": True}}),
    ("a", ["a"]),
    (OneOf((1, 2)), True),
    (OneOf(()), None),
]


@pytest.mark.parametrize(("expected", "actual"), SAME)
def test_what_is_inside_a_reply_is_the_same(expected: Any, actual: Any) -> None:
    assert compare_reply({"value": expected}, {"value": actual}) is None


@pytest.mark.parametrize(("expected", "actual"), OTHER)
def test_what_is_inside_a_reply_must_be_equal(expected: Any, actual: Any) -> None:
    mismatch = compare_reply({"value": expected}, {"value": actual})
    assert mismatch is not None
    assert mismatch.actual == actual
    assert mismatch.path == "value"


def test_only_the_top_level_of_a_reply_is_compared_key_by_key() -> None:
    reply = {"value": {"a": 1, "b": 2}, "mode": "json"}
    assert compare_reply({"mode": "json"}, reply) is None
    assert compare_reply({"value": {"a": 1, "b": 2}}, reply) is None
    assert compare_reply({"value": {"a": 1}}, reply) is not None


def test_null_is_not_a_missing_key() -> None:
    assert compare_reply({"value": None}, {"value": None}) is None
    assert compare_reply({"value": None}, {"mode": "json"}) is not None


def test_a_scalar_against_a_reply_without_a_status_fails() -> None:
    assert compare_reply("ACCEPTED", {"value": "ACCEPTED"}) is not None
    assert compare_reply(None, {"value": None}) is not None


def test_every_entry_of_then_that_does_not_hold_is_told_for_itself() -> None:
    expected = Located({"r1": Located({"p1": Located("a", 4), "p2": Located("b", 5)}, 3), "r2": Located("c", 6)}, 2)
    actual = {"r1": {"p1": "x", "p2": "b", "p3": "z"}, "r2": "y"}
    told = [(mismatch.line, mismatch.path, mismatch.actual) for mismatch in compare_then(expected, actual, "handles")]
    assert told == [(4, "handles.r1.p1", "x"), (6, "handles.r2", "y")]
