"""The standing invariants: each breach is told, and a run as it should be is not (language page "What then may say").

The checker gets hand-made snapshots, as if a broken runtime had given them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs
import pytest

from dragoman.actors.dispatcher import MessageCounts
from dragoman.actors.sessions import SessionSnapshot
from dragoman.protocol.content_replies import SessionContent, StoreCounters, StoreSnapshot
from dragoman.protocol.history import Turn
from dragoman.protocol.mappings import FrozenMapping
from dragoman.protocol.retention import Retention
from dragoman.protocol.settings import Settings
from dragoman.reports import Snapshot
from dragoman.scenarios.invariants import InvariantChecker

from .conftest import Read

CALM = MessageCounts(sent=10, handled=9, dead=1, queued=0, failed=0)

TIMELINE = """\
scenario: two requests of one session and one of another
timeline:
  - at: 0s
    together:
      - register:
          request: r1
          session: s1
          parents: [{id: p2, order: 9, source: two}, {id: p1, order: 3, source: one}]
      - {register: {request: r2, session: s1, parents: {p1: three}}}
      - {register: {request: r3, session: s2, parents: {p1: four}}}
      - {ack: {request: r1, parent: p1, result: eins}}
      - {ack: {request: r1, parent: p2, result: zwei}}
      - {ack: {request: r2, parent: p1, result: drei}}
      - {ack: {request: r3, parent: p1, result: vier}}
"""


def stored(total: int | None = None, **sessions: tuple[int, int]) -> StoreSnapshot:
    """A content store that holds so many entries and bytes of each session."""
    held = {session: SessionContent(entries, size) for session, (entries, size) in sessions.items()}
    return StoreSnapshot(
        sessions=FrozenMapping(held),
        bytes=sum(size for _entries, size in sessions.values()) if total is None else total,
        counters=StoreCounters(),
        retention=Retention.of(Settings()),
    )


T1 = Turn("r1", "p1", "one", "eins")
T2 = Turn("r1", "p2", "two", "zwei")
T3 = Turn("r2", "p1", "three", "drei")
T4 = Turn("r3", "p1", "four", "vier")


def snapshot(
    counts: MessageCounts = CALM, *, open_handles: int = 0, turns: Mapping[str, tuple[Turn, ...]] | None = None
) -> Snapshot:
    return still(tuple(f"r{number}" for number in range(1, open_handles + 1)), counts, turns)


def still(
    requests: tuple[str, ...],
    counts: MessageCounts = CALM,
    turns: Mapping[str, tuple[Turn, ...]] | None = None,
    *,
    running: tuple[str, ...] = (),
    open_calls: tuple[str, ...] = (),
    store: StoreSnapshot | None = None,
) -> Snapshot:
    """A snapshot with these requests open, these executions running and these calls unanswered."""
    store = stored() if store is None else store
    return Snapshot(
        sessions=tuple(SessionSnapshot(session, of, 0) for session, of in (turns or {}).items()),
        open_requests=requests,
        running=running,
        open_calls=open_calls,
        provider_tasks=0,
        store=store,
        counts=counts,
        dead_letters=(),
        live_timers=0,
    )


class Run:
    """A checker that has seen the timeline above, with the replies that were given to the ACKs."""

    def __init__(self, read: Read, settings: Settings | None = None, **statuses: str) -> None:
        self._checker = InvariantChecker(settings or Settings())
        self.verbs = [step.verb for step in read(TIMELINE).timeline[0].steps]
        self.registers = self.verbs[:3]
        self._open = {"r1", "r2", "r3"}
        for verb in self.verbs:
            if verb in self.registers:
                self.saw(verb, "REGISTERED")
            else:
                self.saw(verb, statuses.get(f"{verb.request}_{verb.parent}", "ACCEPTED"))  # type: ignore[attr-defined]

    def saw(self, verb: Any, status: str) -> None:
        self._checker.saw(verb, {"status": status, "committed": []})

    def breaches(
        self, *, closed: tuple[str, ...] = (), now: Snapshot | None = None, **turns: tuple[Turn, ...]
    ) -> list[str]:
        self._open -= set(closed)
        return list(self._checker.check(now or still(tuple(sorted(self._open)), turns=turns)))


@pytest.fixture
def run(read: Read) -> Run:
    return Run(read)


def told(breaches: list[str], *words: str) -> bool:
    """Whether exactly one breach is told, in a line that names all of `words`."""
    return len(breaches) == 1 and all(word in breaches[0] for word in words)


def test_a_run_as_it_should_be_is_left_alone(run: Run) -> None:
    assert run.breaches() == []
    assert run.breaches(s1=(T1,)) == []
    assert run.breaches(s1=(T1, T2), s2=(), closed=("r1",)) == []
    assert run.breaches(s1=(T1, T2, T3), s2=(T4,), closed=("r1", "r2", "r3")) == []
    assert run.breaches(s1=(T2, T3), s2=(T4,)) == []
    assert run.breaches(s2=(T4,)) == []


def test_turns_may_commit_in_the_step_in_which_their_handle_closes(run: Run) -> None:
    assert run.breaches(s1=(T1, T2), closed=("r1",)) == []


def test_a_request_out_of_source_order_is_told(run: Run) -> None:
    assert told(run.breaches(s1=(T2, T1)), "order", "s1")


def test_a_turn_behind_a_later_one_is_told_at_a_later_step_too(run: Run) -> None:
    assert run.breaches(s1=(T2,)) == []
    assert told(run.breaches(s1=(T2, T1)), "order", "s1")


def test_requests_out_of_the_order_of_registration_are_told(run: Run) -> None:
    assert told(run.breaches(s1=(T3, T1)), "order", "s1")


def test_turns_of_two_requests_that_mix_are_told(run: Run) -> None:
    assert told(run.breaches(s1=(T1, T3, T2)), "order", "s1")


def test_with_commit_order_request_only_the_order_within_a_request_counts(read: Read) -> None:
    settings = Settings(commit_order="request")
    assert Run(read, settings).breaches(s1=(T3, T1, T2)) == []
    assert told(Run(read, settings).breaches(s1=(T2, T3, T1)), "order")


@pytest.mark.parametrize("again", [T1, Turn("r1", "p1", "one", "eins")])
def test_a_turn_that_is_committed_twice_is_told(run: Run, again: Turn) -> None:
    assert run.breaches(s1=(T1,)) == []
    assert any("r1/p1" in line and "twice" in line for line in run.breaches(s1=(T1, again)))


def test_a_turn_that_comes_back_after_it_was_pushed_out_is_told(run: Run) -> None:
    assert run.breaches(s1=(T1,)) == []
    assert run.breaches(s1=(T2,)) == []
    assert any("r1/p1" in line and "twice" in line for line in run.breaches(s1=(T2, Turn("r1", "p1", "one", "eins"))))


def test_a_turn_that_comes_back_after_its_session_was_dropped_is_told(run: Run) -> None:
    assert run.breaches(s1=(T1,)) == []
    assert run.breaches() == []
    assert any("r1/p1" in line and "twice" in line for line in run.breaches(s1=(Turn("r1", "p1", "one", "eins"),)))


@pytest.mark.parametrize("status", ["REJECTED", "STALE", "DUPLICATE", "CONFLICT", "INVALID_RESULT"])
def test_a_turn_without_an_ack_that_was_answered_accepted_is_told(read: Read, status: str) -> None:
    assert told(Run(read, r1_p1=status).breaches(s1=(T1,)), "r1/p1", "ACCEPTED")


def test_a_turn_of_another_text_than_the_accepted_one_is_told(run: Run) -> None:
    breaches = run.breaches(s1=(attrs.evolve(T1, assistant="uno"),))
    assert told(breaches, "r1/p1", "text")
    assert "uno" not in breaches[0]
    assert "eins" not in breaches[0]


def test_the_first_accepted_text_is_the_one_that_counts(run: Run) -> None:
    later = attrs.evolve(T1, assistant="uno")
    assert told(run.breaches(s1=(later,)), "r1/p1", "text")


def test_a_turn_of_another_source_than_the_registered_one_is_told(run: Run) -> None:
    breaches = run.breaches(s1=(attrs.evolve(T1, user="uno"),))
    assert told(breaches, "r1/p1", "source")
    assert "uno" not in breaches[0]


@pytest.mark.parametrize(
    "turn",
    [attrs.evolve(T1, request_id="r9"), attrs.evolve(T1, parent_id="p9"), T4],
    ids=["request", "parent", "session"],
)
def test_a_turn_that_belongs_to_no_parent_of_the_session_is_told(run: Run, turn: Turn) -> None:
    assert told(run.breaches(s1=(turn,)), f"{turn.request_id}/{turn.parent_id}", "s1")


def test_a_commit_of_a_closed_handle_is_told(run: Run) -> None:
    assert run.breaches(s1=(T1,), closed=("r1",)) == []
    assert told(run.breaches(s1=(T1, T2)), "r1/p2", "closed")


def test_a_request_that_is_registered_anew_is_another_one(run: Run) -> None:
    assert run.breaches(s1=(T1, T2), closed=("r1",)) == []
    run.saw(run.registers[0], "REGISTERED")
    assert told(run.breaches(s1=(T1, T2, Turn("r1", "p1", "one", "eins"))), "r1/p1", "ACCEPTED")


def test_a_refused_registration_changes_nothing(run: Run) -> None:
    run.saw(run.registers[0], "DUPLICATE_REQUEST")
    assert run.breaches(s1=(T1, T2)) == []


def test_more_sessions_than_allowed_are_told(read: Read) -> None:
    run = Run(read, Settings(max_sessions=2))
    assert run.breaches(s1=(), s2=()) == []
    assert told(run.breaches(s1=(), s2=(), s3=()), "max_sessions")


def test_more_turns_than_allowed_are_told(read: Read) -> None:
    run = Run(read, Settings(max_turns=1))
    assert run.breaches(s1=(T1,)) == []
    assert told(run.breaches(s1=(T1, T2)), "max_turns")


STORE = Settings(store_max_entries=2, store_max_bytes=30, store_total_bytes=50, maintainers=("mira", "tomas"))


@pytest.mark.parametrize(
    ("store", "setting"),
    [
        (stored(s1=(3, 9)), "store_max_entries"),
        (stored(s1=(1, 31)), "store_max_bytes"),
        (stored(s1=(2, 30), s2=(2, 21)), "store_total_bytes"),
        (stored(total=9, s1=(1, 10)), "counts 9 bytes"),
    ],
)
def test_more_content_than_allowed_is_told(read: Read, store: StoreSnapshot, setting: str) -> None:
    run = Run(read, STORE)
    assert run.breaches(now=still((), store=stored(s1=(2, 30), s2=(2, 20)))) == []
    assert told(run.breaches(now=still((), store=store)), setting)


def test_the_limits_of_content_are_those_that_were_applied_last(read: Read) -> None:
    timeline = """\
scenario: a smaller limit
timeline:
  - {at: 0s, propose: {id: q1, by: scout, change: {store_max_entries: 1}, evidence: e, rollback: r}}
  - {at: 0s, apply: {id: q1, by: mira}}
"""
    run = Run(read, STORE)
    propose, apply = (step.verb for moment in read(timeline).timeline for step in moment.steps)
    two = still((), store=stored(s1=(2, 10)))
    run.saw(propose, "PROPOSED")
    run.saw(apply, "NOT_APPROVED")
    assert run.breaches(now=two) == []
    run.saw(apply, "APPLIED")
    assert told(run.breaches(now=two), "store_max_entries")
    assert run.breaches(now=still((), store=stored(s1=(1, 10)))) == []


def test_more_open_handles_than_allowed_are_told(read: Read) -> None:
    run = Run(read, Settings(max_open_handles=3))
    assert run.breaches(now=snapshot(open_handles=3)) == []
    assert told(run.breaches(now=snapshot(open_handles=4)), "max_open_handles")


@pytest.mark.parametrize(
    "counts",
    [
        attrs.evolve(CALM, sent=11),
        attrs.evolve(CALM, handled=8),
        attrs.evolve(CALM, dead=0),
        attrs.evolve(CALM, dead=2),
        attrs.evolve(CALM, sent=11, queued=1),
    ],
)
def test_a_message_that_was_lost_made_up_or_left_behind_is_told(run: Run, counts: MessageCounts) -> None:
    assert told(run.breaches(now=snapshot(counts)), "messages")


def test_a_failed_actor_is_told_once(run: Run) -> None:
    failed = snapshot(attrs.evolve(CALM, failed=1))
    assert told(run.breaches(now=failed), "failed")
    assert run.breaches(now=failed) == []
    assert told(run.breaches(now=snapshot(attrs.evolve(CALM, failed=2))), "failed")


def test_a_breach_is_told_once(run: Run) -> None:
    wrong = (attrs.evolve(T1, assistant="uno"),)
    assert len(run.breaches(s1=wrong)) == 1
    assert run.breaches(s1=wrong) == []


def test_an_id_that_is_registered_anew_is_another_request(run: Run) -> None:
    assert run.breaches(s1=(T1, T2), closed=("r1",)) == []
    run.saw(run.registers[0], "REGISTERED")
    for verb in run.verbs[3:5]:
        run.saw(verb, "ACCEPTED")
    assert run.breaches(s1=(T1, T2, attrs.evolve(T1), attrs.evolve(T2))) == []
