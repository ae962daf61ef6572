"""The standing invariants of translations and direct calls: each breach is told, and a run as it should be is not.

The checker gets hand-made snapshots, as if a broken runtime had given them.
"""

from __future__ import annotations

import attrs
import pytest

from dragoman.protocol.history import Turn
from dragoman.protocol.settings import Settings
from dragoman.reports import Snapshot
from dragoman.scenarios.invariants import InvariantChecker
from dragoman.scenarios.verb import Verb

from .conftest import Read
from .test_invariants import still, told

TIMELINE = """\
scenario: two translations and two direct calls of one session
timeline:
  - at: 0s
    together:
      - {translate: {request: r1, session: s1, parents: {p1: one, p2: [tw, o]}}}
      - {translate: {request: r2, session: s1, accept: manual, parents: {p1: three}}}
      - {direct: {request: d1, session: s1, source: four}}
      - {direct: {request: d2, session: s1, source: five}}
      - {ack: {request: r2, parent: p1, result: drei}}
"""

T1 = Turn("r1", "p1", "one", "eins")
T2 = Turn("r1", "p2", "two", "zwei")
T3 = Turn("r2", "p1", "three", "drei")
D1 = Turn("d1", "d1", "four", "vier")
D2 = Turn("d2", "d2", "five", "fünf")
ALL = ("r1", "r2")


class Run:
    """A checker that has seen the timeline above: `refused` names what was not started or accepted."""

    def __init__(self, read: Read, settings: Settings | None = None, *refused: str) -> None:
        self.checker = InvariantChecker(settings or Settings())
        self._verbs: dict[str, Verb] = {}
        for step in read(TIMELINE).timeline[0].steps:
            self._saw(step.verb, refused)

    def _saw(self, verb: Verb, refused: tuple[str, ...]) -> None:
        if verb.what == "ack":
            self.checker.saw(verb, {"status": "STALE" if "ack" in refused else "ACCEPTED", "committed": []})
        else:
            request = verb.request  # type: ignore[attr-defined]
            self._verbs[request] = verb
            is_refused = request in refused
            self.checker.saw(verb, {"status": "INVALID_HANDOFF" if is_refused else "STARTED", "reason": None})

    def accepted(self, *texts: tuple[str, str, str]) -> Run:
        for request, parent, text in texts:
            self.checker.accepted(self._verbs[request], parent, text)
        return self

    def breaches(self, *turns: Turn, open_requests: tuple[str, ...] = ALL) -> list[str]:
        return self.seen(still(open_requests, turns={"s1": turns}))

    def seen(self, snapshot: Snapshot) -> list[str]:
        return list(self.checker.check(snapshot))


@pytest.fixture
def run(read: Read) -> Run:
    """A run in which the feature accepted both parents of the first translation."""
    return Run(read).accepted(("r1", "p1", "eins"), ("r1", "p2", "zwei"))


def test_a_run_as_it_should_be_is_left_alone(run: Run) -> None:
    assert run.breaches() == []
    assert run.breaches(D1, T1) == []
    assert run.breaches(D1, T1, T2, open_requests=("r2",)) == []
    assert run.breaches(D1, T1, T2, T3, D2, open_requests=()) == []


def test_a_turn_that_the_feature_did_not_accept_is_told(read: Read) -> None:
    run = Run(read).accepted(("r1", "p1", "eins"))
    assert run.breaches(T1) == []
    assert told(run.breaches(T1, T2), "r1/p2", "ACCEPTED")


def test_a_turn_of_another_text_than_the_feature_accepted_is_told(read: Read) -> None:
    breaches = Run(read).accepted(("r1", "p1", "uno"), ("r1", "p1", "eins")).breaches(T1)
    assert told(breaches, "r1/p1", "text")
    assert "uno" not in breaches[0]
    assert "eins" not in breaches[0]


def test_an_ack_by_hand_accepts_a_parent_of_a_translation(read: Read) -> None:
    assert Run(read).breaches(T3) == []
    assert told(Run(read, None, "ack").breaches(T3), "r2/p1", "ACCEPTED")


@pytest.mark.parametrize("source", ["tw", "tw o", "o"])
def test_the_source_of_a_parent_of_segments_is_their_joined_text(run: Run, source: str) -> None:
    assert told(run.breaches(T1, attrs.evolve(T2, user=source)), "r1/p2", "source")


def test_the_parents_of_a_translation_have_their_order_and_translations_have_theirs(run: Run) -> None:
    assert told(run.breaches(T2, T1), "source order", "s1")


def test_translations_out_of_the_order_of_their_start_are_told(run: Run) -> None:
    assert told(run.breaches(T3, T1), "registration", "s1")


def test_a_turn_of_a_translation_that_was_refused_is_told(read: Read) -> None:
    assert told(Run(read, None, "r1").breaches(T1), "r1/p1", "no registered parent")


def test_a_turn_of_a_translation_whose_handle_has_closed_is_told(run: Run) -> None:
    assert run.breaches(T1) == []
    assert run.breaches(T1, open_requests=("r2",)) == []
    assert told(run.breaches(T1, T2, open_requests=("r2",)), "r1/p2", "closed")


@pytest.mark.parametrize("turns", [(D1, T1, T3), (T1, D1, T3), (T3, D1), (D2, D1, T1)])
def test_a_direct_call_stands_outside_the_order(run: Run, turns: tuple[Turn, ...]) -> None:
    assert run.breaches(*turns) == []


def test_a_direct_call_between_two_translations_hides_no_wrong_order(run: Run) -> None:
    assert told(run.breaches(T3, D1, T1), "registration", "s1")


def test_a_direct_call_needs_no_ack_and_no_open_handle(run: Run) -> None:
    assert run.breaches(open_requests=()) == []
    assert run.breaches(D1, open_requests=()) == []


def test_a_direct_call_that_is_committed_twice_is_told(run: Run) -> None:
    assert run.breaches(D1) == []
    assert told(run.breaches(D1, attrs.evolve(D1)), "d1/d1", "twice")


def test_an_id_that_is_called_anew_is_another_direct_call(read: Read, run: Run) -> None:
    direct = read(TIMELINE).timeline[0].steps[2].verb
    run.checker.saw(direct, {"status": "STARTED", "reason": None})
    again = attrs.evolve(D1)
    assert run.breaches(D1, again) == []
    assert told(run.breaches(D1, again, attrs.evolve(D1)), "d1/d1", "twice")


def test_a_direct_call_of_another_source_than_its_own_is_told(run: Run) -> None:
    breaches = run.breaches(attrs.evolve(D1, user="vier"))
    assert told(breaches, "d1/d1", "source")
    assert "vier" not in breaches[0]


def test_a_direct_call_that_was_refused_is_told(read: Read) -> None:
    assert told(Run(read, None, "d1").breaches(D1), "d1/d1", "no registered parent")


def test_a_direct_call_in_another_session_than_its_own_is_told(run: Run) -> None:
    assert told(run.seen(still(ALL, turns={"s2": (D1,)})), "d1/d1", "s2")


def test_more_running_executions_than_allowed_are_told(read: Read) -> None:
    run = Run(read, Settings(max_open_executions=2))
    assert run.seen(still((), running=("r1", "r2"))) == []
    assert told(run.seen(still((), running=("r1", "r2", "d1"))), "max_open_executions")


def test_a_call_of_an_execution_that_is_over_is_told(run: Run) -> None:
    assert run.seen(still(ALL, running=("r1", "a/b"), open_calls=("r1/1", "r1/12", "a/b/3"))) == []
    assert told(run.seen(still(ALL, running=("r1",), open_calls=("r1/1", "r2/1"))), "call", "over")
    assert told(run.seen(still(ALL, running=("r1",), open_calls=("r1/2/1",))), "call", "over")
    assert run.seen(still(ALL, running=("r1",))) == []
