"""What is told of a step or an entry that does not hold: its line, its index, what was expected and what was so."""

from __future__ import annotations

from .conftest import Failures


def test_a_step_is_told_by_its_line_and_its_index(failures: Failures) -> None:
    (failure,) = failures(
        """\
scenario: x
timeline:
  - {at: 0s, activate: r1, expect: UNKNOWN_REQUEST}

  # a comment between them
  - at: 1s
    activate: r1
    expect: ACTIVATED
"""
    )
    assert (failure.line, failure.step) == (6, 1)
    assert (failure.expected, failure.actual) == ("ACTIVATED", "UNKNOWN_REQUEST")
    assert failure.message


def test_a_step_of_together_has_its_own_line_and_the_index_of_its_moment(failures: Failures) -> None:
    found = failures(
        """\
scenario: x
timeline:
  - {at: 0s, wait: }
  - at: 1s
    together:
      - {activate: r1, expect: UNKNOWN_REQUEST}
      - {activate: r1, expect: ACTIVATED}
      - {cancel: r1, expect: DISPOSED}
  - {at: 2s, cancel: r1, expect: DISPOSED}
"""
    )
    assert [(failure.line, failure.step) for failure in found] == [(7, 1), (8, 1), (9, 2)]


def test_an_entry_of_then_is_told_by_its_innermost_line_and_no_index(failures: Failures) -> None:
    found = failures(
        """\
scenario: x
timeline:
  - {at: 0s, register: {request: r1, session: s1, parents: {p1: Hello, p2: World}}}
then:
  open_handles: 1
  sessions:
    - s2
  handles:
    r1:
      p1: PENDING
      p2:
        COMMITTED
  history:
    s1: [[Hello, Hallo]]
  closed: {r1: EXPIRED}
  turn_counter:
    s1:
      one_of: [1, 2]
"""
    )
    assert [failure.step for failure in found] == [None] * 5
    assert sorted(failure.line for failure in found) == [6, 11, 14, 15, 17]


def test_an_alternative_as_a_whole_is_told_at_the_key_that_it_stands_behind(failures: Failures) -> None:
    found = failures(
        """\
scenario: x
timeline: []
then:
  open_handles: 0
  history:
    one_of:
      - {s1: [[a, b]]}
      - {s1: [[c, d]]}
"""
    )
    (failure,) = found
    assert failure.line == 5
    assert failure.expected == {"one_of": [{"s1": [["a", "b"]]}, {"s1": [["c", "d"]]}]}


def test_a_failure_shows_the_alternatives_and_what_was_so(failures: Failures) -> None:
    (failure,) = failures(
        "scenario: x\ntimeline:\n  - {at: 0s, activate: r1, expect: {status: {one_of: [ACTIVATED, ALREADY_ACTIVE]}}}\n"
    )
    assert failure.expected == {"one_of": ["ACTIVATED", "ALREADY_ACTIVE"]}
    assert failure.actual == "UNKNOWN_REQUEST"


def test_the_steps_behind_a_failed_one_still_run(failures: Failures) -> None:
    found = failures(
        """\
scenario: x
timeline:
  - {at: 0s, register: {request: r1, session: s1, parents: {p1: a}}, expect: OVERLOADED}
  - {at: 1s, ack: {request: r1, parent: p1, result: b}, expect: {status: ACCEPTED, committed: [p1]}}
then: {history: {s1: [[a, b]]}}
"""
    )
    assert [failure.line for failure in found] == [3]


def test_then_is_judged_at_the_instant_of_the_last_step(failures: Failures) -> None:
    timeline = """\
scenario: x
timeline:
  - {at: 0s, register: {request: r1, session: s1, parents: {p1: a}}}
  - {at: 1s, activate: r1}
"""
    assert not failures(timeline + "  - {at: 300999ms, wait: }\nthen: {open_handles: 1, closed: {r1: null}}\n")
    assert not failures(timeline + "  - {at: 301s, wait: }\nthen: {open_handles: 0, closed: {r1: EXPIRED}}\n")


def test_together_is_delivered_in_the_listed_order(failures: Failures) -> None:
    timeline = """\
scenario: x
timeline:
  - {at: 0s, register: {request: r1, session: s1, parents: {p1: a}}}
  - at: 1s
    together:
"""
    ack = "      - {ack: {request: r1, parent: p1, result: b}, expect: %s}\n"
    cancel = "      - {cancel: r1, expect: %s}\n"
    assert not failures(timeline + ack % "ACCEPTED" + cancel % "UNKNOWN_REQUEST")
    assert not failures(timeline + cancel % "DISPOSED" + ack % "STALE")
