"""Bounds and guards that nothing else would miss (P constraint 2, design 3)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from dragoman import (
    Call,
    ContentRefNotFound,
    Handoff,
    InvalidArgument,
    Outcome,
    Parent,
    Runtime,
    Settings,
    SimulatedDispatcher,
)
from dragoman.actors import governor
from dragoman.actors.entries import Entries
from dragoman.actors.session_calls import SessionCalls
from dragoman.actors.session_content import SessionContents
from dragoman.scenarios.logs import LogWatch


def simulated(**settings: Any) -> Runtime:
    return Runtime(Settings(**settings), dispatcher=SimulatedDispatcher())


@pytest.fixture
def runtime() -> Iterator[Runtime]:
    with simulated() as made:
        yield made


def record(runtime: Runtime, name: str, value: Any = 1, **changes: Any) -> Any:
    return runtime.record_call("s1", Call(name, **changes), Outcome.ok(value)).get()


def reason(runtime: Runtime, name: str, session: str = "s1") -> str:
    with pytest.raises(ContentRefNotFound) as miss:
        runtime.content(session, name).get()
    return miss.value.reason


@pytest.mark.parametrize("growth", [-0.1, float("nan"), float("inf"), True, "0.05"])
def test_a_share_that_is_no_number_of_at_least_nothing_is_refused(runtime: Runtime, growth: Any) -> None:
    with pytest.raises(InvalidArgument, match="max_growth"):
        runtime.content_prompt("s1", max_growth=growth)


def test_a_share_of_nothing_leaves_the_newest_record(runtime: Runtime) -> None:
    record(runtime, "c1")
    record(runtime, "c2")
    assert runtime.content_prompt("s1", conversation_chars=100_000, max_growth=0).get().shown == 1


def test_whatever_happens_to_content_and_proposals_is_seen_by_who_watches() -> None:
    with simulated(store_max_entries=1) as runtime:
        seen: list[tuple[str, str, object]] = []
        runtime.dispatcher.observer = lambda *what: seen.append(what)
        record(runtime, "c1")
        record(runtime, "c2")
        record(runtime, "c3", depth=1)
        runtime.propose("q1", "ann", {"store_max_entries": 2}, "e", "r").get()
        runtime.dispatcher.observer = None
    told = [what for kind, actor, what in seen if kind == "state" and actor in ("ContentStore", "RetentionGovernor")]
    assert told == [
        ("content", "s1", "c1", "stored"),
        ("content", "s1", "c1", "evicted"),
        ("content", "s1", "c2", "stored"),
        ("content", "s1", "c3", "nested_capture_disabled"),
        ("proposal", "q1", "proposed"),
    ]


@pytest.fixture
def late(monkeypatch: pytest.MonkeyPatch) -> Iterator[Runtime]:
    """A runtime whose timers are late, as those of a busy machine are; its entries live for a second."""
    with simulated(store_ttl=1, store_max_entries=2) as runtime:
        assert isinstance(runtime.dispatcher, SimulatedDispatcher)
        monkeypatch.setattr(runtime.dispatcher._timers, "pop_due", lambda _now_us: None)
        yield runtime


def pass_time(runtime: Runtime) -> None:
    assert isinstance(runtime.dispatcher, SimulatedDispatcher)
    runtime.dispatcher.advance(1_000_001)


def test_what_is_over_is_not_found_though_its_timer_is_late(late: Runtime) -> None:
    record(late, "c1")
    pass_time(late)
    assert reason(late, "c1") == "expired"


def test_what_is_over_makes_room_before_anything_is_evicted_though_its_timer_is_late(late: Runtime) -> None:
    record(late, "c1")
    record(late, "c2")
    pass_time(late)
    record(late, "c3")
    counters = late.snapshot().store.counters
    assert (counters.evictions, counters.expired) == (0, 2)


def test_what_is_over_is_not_listed_and_not_counted_though_its_timer_is_late(late: Runtime) -> None:
    record(late, "c1")
    pass_time(late)
    assert late.content_prompt("s1").get().shown == 0
    record(late, "c2")
    pass_time(late)
    assert late.snapshot().store.bytes == 0


def test_a_reference_to_what_is_over_is_released_though_its_timer_is_late(late: Runtime) -> None:
    record(late, "c1")
    pass_time(late)
    assert late.refer("s1", "top", "c1").get().reason == "content_released"


def turn(runtime: Runtime, request: str, text: str) -> None:
    runtime.register(Handoff(request, "s1", "openai", "select-element", (Parent("p1", 0, "source"),))).get()
    assert runtime.acknowledge(request, "p1", text).get().status == "ACCEPTED"


def test_a_turn_whose_tombstone_was_given_up_is_unknown_by_its_name_and_leaves_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made: list[SessionContents] = []
    begin = SessionContents.__init__

    def noted(self: SessionContents, *arguments: Any) -> None:
        begin(self, *arguments)
        made.append(self)

    monkeypatch.setattr(SessionContents, "__init__", noted)
    with simulated(store_max_entries=1, ledger_entries=0) as runtime:
        for number in range(20):
            turn(runtime, f"r{number}", "text")
        assert (reason(runtime, "r0/p1"), reason(runtime, "r18/p1")) == ("unknown", "evicted")
        (contents,) = made
        assert len(contents._turns) == len(contents._numbered_turns) == 5


def test_a_name_leads_to_the_newest_turn_also_where_that_was_not_stored() -> None:
    with simulated(store_max_bytes=20, ledger_entries=0) as runtime:
        turn(runtime, "r1", "short")
        turn(runtime, "r1", "a text that is too long by far")
        assert reason(runtime, "r1/p1") == "not_stored"
        turn(runtime, "r1", "again")
        assert runtime.content("s1", "r1/p1").get() == "again"


def test_turns_that_were_not_stored_are_remembered_within_bounds() -> None:
    with simulated(content_enabled=False, ledger_entries=0) as runtime:
        for number in range(513):
            turn(runtime, f"r{number}", "text")
        assert (reason(runtime, "r0/p1"), reason(runtime, "r1/p1")) == ("unknown", "not_stored")


def test_growth_is_remembered_of_the_newest_prompts_only(runtime: Runtime) -> None:
    record(runtime, "c1")
    for _ in range(1001):
        runtime.content_prompt("s1", conversation_chars=1000).get()
    assert runtime.continuity_report().get().prompts == 1000


def test_decided_proposals_are_forgotten_with_the_oldest_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(governor, "_MAX_DECIDED", 2)
    with simulated(maintainers=["mira"]) as runtime:
        for number in range(3):
            runtime.propose(f"q{number}", "ann", {"store_max_entries": 1}, "e", "r").get()
            assert runtime.refuse(f"q{number}", "mira").get().status == "REFUSED"
        assert runtime.proposals().get() == {"q1": "refused", "q2": "refused"}
        assert runtime.refuse("q0", "mira").get().status == "UNKNOWN_PROPOSAL"


def test_a_change_that_fails_inside_is_told_to_its_caller_and_to_nobody_else(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_arguments: object) -> None:
        raise LookupError

    with LogWatch() as watch, simulated(maintainers=["mira", "tomas"]) as runtime:
        runtime.propose("q1", "ann", {"store_max_entries": 1}, "e", "r").get()
        runtime.approve("q1", "mira").get()
        runtime.acknowledge_proposal("q1", "tomas").get()
        with monkeypatch.context() as patch:
            patch.setattr(Entries, "change", broken)
            with pytest.raises(RuntimeError, match="LookupError"):
                runtime.apply("q1", "mira").get()
        assert not [line for line in watch.messages if "callback" in line]
        assert runtime.proposals().get() == {"q1": "approved"}
        assert runtime.apply("q1", "mira").get().status == "APPLIED"


def test_a_fault_while_an_answer_is_taken_holds_nobody_up(runtime: Runtime, monkeypatch: pytest.MonkeyPatch) -> None:
    record(runtime, "c1")

    def broken(*_arguments: object) -> None:
        raise LookupError

    with monkeypatch.context() as patch:
        patch.setattr(SessionCalls, "_followed_up", broken)
        failed = runtime.follow_up("s1", "the last answer")
        following = runtime.content("s1", "c1")
        assert following.get() == 1
        with pytest.raises(RuntimeError, match="LookupError"):
            failed.get()
    assert runtime.follow_up("s1", "the last answer").get().value == 1
