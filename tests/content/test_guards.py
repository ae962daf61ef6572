"""Bounds and guards that nothing else would miss (P constraint 2, design 3)."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from pathlib import Path
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
from dragoman import continuity as face
from dragoman.actors import governor
from dragoman.actors.entries import Entries
from dragoman.actors.entry import Entry, SessionEntries
from dragoman.actors.session_calls import SessionCalls
from dragoman.actors.session_content import SessionContents
from dragoman.protocol.errors import IllegalTransition
from dragoman.protocol.payloads import Payload, serialize, text_payload
from dragoman.protocol.prompt_refs import line_of, render_refs
from dragoman.protocol.proposals import AuditEntry, Proposal
from dragoman.protocol.retention import EvictionClass
from dragoman.protocol.statuses import MissReason
from dragoman.scenarios import replay_file
from dragoman.scenarios.logs import LogWatch

from .stage import simulated


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


@pytest.mark.parametrize(("enabled", "told"), [(True, "stored"), (False, "content_disabled")])
def test_what_happens_to_each_turn_is_seen_by_who_watches(enabled: bool, told: str) -> None:
    with simulated(content_enabled=enabled) as runtime:
        seen: list[object] = []
        runtime.dispatcher.observer = lambda _kind, actor, what: seen.append(what) if actor == "ContentStore" else None
        parents = tuple(Parent(f"p{place}", place, "source") for place in range(2))
        runtime.register(Handoff("r1", "s1", "openai", "select-element", parents)).get()
        for parent in ("p1", "p0"):
            runtime.acknowledge("r1", parent, "text").get()
        runtime.dispatcher.observer = None
    states = [what for what in seen if isinstance(what, tuple)]
    assert states == [("content", "s1", "r1/p0", told), ("content", "s1", "r1/p1", told)]


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


@pytest.fixture
def contents(monkeypatch: pytest.MonkeyPatch) -> list[SessionContents]:
    """What the store holds of each session that is made from now on."""
    made: list[SessionContents] = []
    begin = SessionContents.__init__

    def noted(self: SessionContents, *arguments: Any) -> None:
        begin(self, *arguments)
        made.append(self)

    monkeypatch.setattr(SessionContents, "__init__", noted)
    return made


def test_a_turn_whose_tombstone_was_given_up_is_unknown_by_its_name_and_leaves_nothing(
    contents: list[SessionContents],
) -> None:
    with simulated(store_max_entries=1, ledger_entries=0) as runtime:
        for number in range(20):
            turn(runtime, f"r{number}", "text")
        assert (reason(runtime, "r0/p1"), reason(runtime, "r18/p1")) == ("unknown", "evicted")
        (kept,) = contents
        assert len(kept._turns) == len(kept._numbered_turns) == 5


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


def test_a_fault_while_an_answer_is_taken_holds_nobody_up(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_arguments: object) -> None:
        raise LookupError

    with simulated() as runtime:
        record(runtime, "c1")
        with monkeypatch.context() as patch:
            patch.setattr(SessionCalls, "_followed_up", broken)
            failed = runtime.follow_up("s1", "the last answer")
            following = runtime.content("s1", "c1")
            assert following.get() == 1
            with pytest.raises(RuntimeError, match="LookupError"):
                failed.get()
        assert runtime.follow_up("s1", "the last answer").get().value == 1
    assert runtime.close().counts.failed == 1


@pytest.mark.parametrize("content", [text_payload("a text"), "a text"], ids=["of a call", "of a turn"])
def test_what_has_gone_gives_its_content_up(content: Payload | str) -> None:
    entry = Entry(SessionEntries("s1"), "c1", content, 8, EvictionClass.TOP)
    assert any(held is content for held in gc.get_referents(entry))
    entry.release(MissReason.EVICTED)
    assert not any(held is content for held in gc.get_referents(entry))


def test_the_refs_of_what_has_gone_are_remembered_within_bounds(contents: list[SessionContents]) -> None:
    with simulated(store_max_entries=1) as runtime:
        for number in range(20):
            record(runtime, f"c{number}")
        assert len(contents[0].entries.by_ref) == 5


def test_a_reference_never_finds_what_an_earlier_call_of_that_id_left_waiting() -> None:
    with simulated(max_call_records=1, store_max_bytes=40) as runtime:
        record(runtime, "c1", "old", depth=1)
        record(runtime, "c2")
        record(runtime, "c1", "more than a quarter", depth=1)
        assert runtime.refer("s1", "top", "c1").get().reason == "content_released"


@pytest.mark.parametrize(("value", "stored"), [("8 bytes_", True), ("9 bytes__", False)])
def test_a_value_of_exactly_the_quarter_waits_and_a_larger_one_does_not(value: str, stored: bool) -> None:
    with simulated(store_max_bytes=40) as runtime:
        record(runtime, "c1", value, depth=1)
        assert runtime.refer("s1", "top", "c1").get().stored is stored


def test_a_turn_that_was_stored_at_last_is_forgotten_like_any_other() -> None:
    with simulated(store_max_bytes=20, store_max_entries=1, ledger_entries=0) as runtime:
        turn(runtime, "r1", "a text that is too long by far")
        turn(runtime, "r1", "short")
        for number in range(2, 8):
            turn(runtime, f"r{number}", "text")
        assert reason(runtime, "r1/p1") == "unknown"


def test_a_turn_that_was_not_stored_again_is_remembered_from_then_on() -> None:
    with simulated(content_enabled=False, ledger_entries=0) as runtime:
        for number in (*range(512), 0, 512):
            turn(runtime, f"r{number}", "text")
        assert (reason(runtime, "r0/p1"), reason(runtime, "r1/p1")) == ("not_stored", "unknown")


MAINTAINERS = ("mira", "tomas")


def enact(runtime: Runtime, name: str, **change: Any) -> Any:
    """A change on its whole way; its application is not waited for."""
    runtime.propose(name, "ann", change, "e", "r").get()
    runtime.approve(name, "mira").get()
    runtime.acknowledge_proposal(name, "tomas").get()
    return runtime.apply(name, "mira")


def test_a_shorter_life_time_ends_an_entry_in_its_time_though_nobody_looks() -> None:
    with simulated(maintainers=MAINTAINERS, store_ttl=100) as runtime:
        record(runtime, "c1")
        enact(runtime, "q1", store_ttl=1).get()
        seen: list[tuple[str, str, object]] = []
        runtime.dispatcher.observer = lambda *what: seen.append(what)
        pass_time(runtime)
        runtime.dispatcher.observer = None
        assert ("state", "ContentStore", ("content", "s1", "c1", "expired")) in seen


def test_a_turn_that_could_not_be_committed_is_no_use_of_its_session() -> None:
    with simulated(session_ttl=1.5) as runtime:
        runtime.fail_commits("s1").get()
        parents = (Parent("p1", 0, "source"),)
        runtime.register(Handoff("r1", "s1", "openai", "select-element", parents)).get()
        pass_time(runtime)
        assert runtime.acknowledge("r1", "p1", "text").get().committed == ()
        pass_time(runtime)
        assert runtime.snapshot().sessions == ()


def test_a_value_that_fits_what_the_settings_allow_is_stored_whatever_its_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(face, "_MAX_SNAPSHOT_BYTES", 1)
    with simulated(store_max_bytes=40) as runtime:
        assert record(runtime, "c1", "twenty letters or so").stored


def test_a_call_behind_the_change_that_makes_room_for_it_is_stored_though_nobody_waited() -> None:
    with simulated(maintainers=MAINTAINERS, store_max_bytes=5) as runtime:
        for name, smaller, larger in (("q1", None, 40), ("q2", 5, 60)):
            if smaller is not None:
                enact(runtime, f"{name} first", store_max_bytes=smaller).get()
            applying = enact(runtime, name, store_max_bytes=larger)
            recording = runtime.record_call("s1", Call(name), Outcome.ok("twenty letters or so"))
            assert (applying.get().status, recording.get().stored) == ("APPLIED", True)


def test_as_much_as_may_be_said_is_listened_to(runtime: Runtime) -> None:
    assert runtime.follow_up("s1", "x" * 1_000_000).get().reason == "no_follow_up_intent"


def test_the_audit_keeps_the_newest_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(governor, "_MAX_AUDIT", 2)
    with simulated(maintainers=MAINTAINERS) as runtime:
        for number in range(3):
            enact(runtime, f"q{number}", store_max_entries=number).get()
        assert [entry.proposal_id for entry in runtime.retention_audit().get()] == ["q1", "q2"]


def test_maintainers_too_have_room_for_so_many_undecided_proposals_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(governor, "_MAX_OPEN", 2)
    with simulated(maintainers=MAINTAINERS) as runtime:
        asked = [runtime.propose(f"q{number}", "mira", {"store_ttl": 1}, "e", "r") for number in range(5)]
        assert [one.get().status for one in asked] == ["PROPOSED"] * 4 + ["INVALID_PROPOSAL"]


def test_a_change_that_nobody_approved_has_no_place_in_the_audit() -> None:
    proposal = Proposal("q1", "ann", {"store_max_entries": 1}, "e", "r", acknowledger="tomas")
    with pytest.raises(IllegalTransition):
        AuditEntry.of(proposal, "mira", Settings(), 0.0)


class Long:
    def __str__(self) -> str:
        return "x" * 100


def test_a_long_text_counts_before_what_stands_behind_it() -> None:
    cyclic: list[Any] = []
    cyclic.append(cyclic)
    assert (serialize([Long(), cyclic], 50), serialize([cyclic, Long()], 50)) == (
        *("entry_exceeds_max_bytes", "serialization_failed"),
    )


def test_a_record_that_would_just_fit_alone_keeps_those_behind_it_from_their_place(runtime: Runtime) -> None:
    newest, oldest = record(runtime, "c1"), record(runtime, "c3")
    room = len(line_of(newest)) + 1 + len(line_of(oldest))
    longer = record(runtime, "c2", method="m" * (room - 1 - len(line_of(newest)) + len(newest.method)))
    assert len(line_of(longer)) == room - 1
    refs = render_refs((newest, longer, oldest), room, None)
    assert (refs.lines, refs.omitted) == (line_of(newest), 2)


def invalid(folder: Path, text: str) -> str | None:
    file = folder / "a.yaml"
    file.write_text("scenario: x\ntimeline:\n" + text, encoding="utf-8")
    return replay_file(file).invalid


@pytest.mark.parametrize("value", ["{call: {value: &a [*a]}}", "&a {<<: *a}"], ids=["expected", "returned"])
def test_what_contains_itself_in_a_roundabout_way_is_refused(tmp_path: Path, value: str) -> None:
    step = (
        "fetch: {session: s1, ref: c1}, expect: {value: VALUE}"
        if "call" in value
        else "call: {session: s1, id: c1, value: VALUE}"
    )
    assert "contains itself" in (invalid(tmp_path, f"  - {{at: 0s, {step.replace('VALUE', value)}}}\n") or "")


@pytest.mark.parametrize(("levels", "taken"), [(196, True), (197, False)])
def test_a_file_nests_two_hundred_levels_and_no_more(tmp_path: Path, levels: int, taken: bool) -> None:
    value = "[" * levels + "]" * levels
    told = invalid(tmp_path, f"  - {{at: 0s, fetch: {{session: s1, ref: c1}}, expect: {{value: {value}}}}}\n")
    assert (told is None) is taken


def test_the_longest_duration_may_be_written_as_a_number(tmp_path: Path) -> None:
    assert invalid(tmp_path, f"  - {{at: {10**30}, wait: null}}\n") is None
