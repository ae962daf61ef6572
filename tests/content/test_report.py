"""The report on content continuity at the face: what has happened, and each trigger reached and not (P phase 3).

Also of a runtime that stores nothing.
"""

from __future__ import annotations

from typing import Any

import attrs
import pytest

from dragoman import (
    Call,
    ContentRefNotFound,
    ContinuityReport,
    Handoff,
    Outcome,
    Parent,
    Retention,
    Runtime,
    SimulatedDispatcher,
    Trigger,
)

from .stage import simulated


def record(runtime: Runtime, *names: str, session: str = "s1", value: Any = "a result", **changes: Any) -> None:
    for name in names:
        runtime.record_call(session, Call(name, **changes), Outcome.ok(value)).get()


def miss(runtime: Runtime, name: str, session: str = "s1") -> str:
    with pytest.raises(ContentRefNotFound) as missed:
        runtime.content(session, name).get()
    return missed.value.reason


def commit(runtime: Runtime, request: str, session: str = "s1") -> None:
    runtime.register(Handoff(request, session, "openai", "select-element", (Parent("p1", 0, "source"),))).get()
    assert runtime.acknowledge(request, "p1", "Quelle").get().committed == ("p1",)


def say(runtime: Runtime, *texts: str, session: str = "s1") -> None:
    for text in texts:
        runtime.follow_up(session, text).get()


def report(runtime: Runtime, budget_bytes: int | None = None) -> ContinuityReport:
    return runtime.continuity_report(budget_bytes=budget_bytes).get()


def triggers(told: ContinuityReport) -> list[Trigger]:
    return [advice.trigger for advice in told.advice]


def test_a_runtime_that_did_nothing_has_nothing_to_report(runtime: Runtime) -> None:
    told = report(runtime)
    assert (told.counters.writes, told.sessions, told.entries, told.bytes) == (0, 0, 0, 0)
    assert (told.hit_rate, told.follow_up_success, told.follow_up_miss_rate, told.prompt_growth) == (None,) * 4
    assert (told.window_complete, told.advice) == (False, ())
    assert told.retention == Retention.of(runtime.settings)


def test_the_report_tells_all_that_happened() -> None:
    with simulated(store_max_entries=3, store_ttl=60, store_total_bytes=1000) as runtime:
        record(runtime, "c1", "c2", "c3", "c4")
        record(runtime, "nested", depth=1)
        record(runtime, "c4")
        record(runtime, "d1", session="s2", value=None)
        commit(runtime, "r1", "s2")
        for name in ("c2", "c3", "c4"):
            runtime.content("s1", name).get()
        runtime.content("s2", "r1/p1").get()
        for name in ("c1", "nested", "c9", "c9"):
            miss(runtime, name)
        say(runtime, "the last answer", "what kind was the first answer", "good morning", "the tenth answer")
        say(runtime, "show c2", "show nested", "content:abc")
        say(runtime, "again", session="s2")
        prompts = [runtime.content_prompt("s1", conversation_chars=chars).get() for chars in (10_000, 20_000, 90_000)]
        told = report(runtime)
        assert attrs.asdict(told.counters, recurse=False) == {
            **dict(zip(("writes", "skips", "hits", "misses", "evictions", "expired"), (6, 2, 7, 7, 1, 0), strict=True)),
            "evictions_over_all": 0,
            "skips_by_reason": {"nested_capture_disabled": 1, "duplicate_call": 1},
            "misses_by_reason": {"evicted": 2, "not_stored": 2, "unknown": 3},
        }
        assert (told.sessions, told.entries, told.bytes) == (2, 5, 3 * 10 + 4 + 8)
        assert told.budget_bytes == 900
        assert told.hit_rate == 7 / 14
        assert told.kept_hit_rate == 7 / 12
        follow_ups = told.follow_ups
        assert (follow_ups.full_fetches, follow_ups.summaries, follow_ups.no_intent) == (3, 0, 1)
        assert (follow_ups.no_prior_content, follow_ups.sessions) == (1, 2)
        assert follow_ups.misses == {"evicted": 1, "not_stored": 1, "unknown": 1}
        assert (told.follow_up_success, told.follow_up_miss_rate) == (3 / 7, 3 / 7)
        assert (told.prompt_growth, told.prompts) == (prompts[1].growth, 3)
        assert (told.window_complete, triggers(told)) == (False, [Trigger.FOLLOW_UP_MISSES])


def test_what_the_bound_over_all_sessions_ends_is_counted_apart_too() -> None:
    with simulated(store_max_entries=2, store_total_bytes=50) as runtime:
        record(runtime, "c1", "c2", "c3")
        counters = report(runtime).counters
        assert (counters.evictions, counters.evictions_over_all) == (1, 0)
        for session in ("s2", "s3"):
            runtime.record_call(session, Call("c1"), Outcome.ok("x" * 18)).get()
        counters = report(runtime).counters
        assert counters.evictions == 1 + counters.evictions_over_all > 1


def test_the_policy_in_force_is_told_in_the_words_of_the_settings() -> None:
    with simulated(store_max_entries=5, store_ttl=60, maintainers=("mira", "tomas")) as runtime:
        assert runtime.settings is not None
        assert report(runtime).retention.settings == {
            "store_max_entries": 5,
            "store_max_bytes": 2_097_152,
            "store_ttl": 60.0,
            "store_total_bytes": 67_108_864,
            "capture_nested": False,
            "capture_errors": False,
        }


def test_counts_and_states_show_themselves() -> None:
    with simulated(content_enabled=False) as runtime:
        record(runtime, "c1")
        runtime.propose("q1", "ann", {"store_max_entries": 1}, "e", "r").get()
        assert "content_disabled: 1" in repr(report(runtime))
        assert repr(runtime.proposals().get()) == "<q1: proposed>"


def test_a_summary_is_a_success_and_neither_hit_nor_miss(runtime: Runtime) -> None:
    record(runtime, "c1")
    say(runtime, "How long was the last answer?")
    runtime.follow_up("s1", "again", max_bytes=3).get()
    told = report(runtime)
    assert (told.follow_ups.summaries, told.follow_up_success, told.hit_rate) == (2, 1.0, None)


def test_what_expired_is_told_apart_and_whether_anyone_looked_or_not() -> None:
    with simulated(store_ttl=10) as runtime:
        record(runtime, "c1", "c2")
        assert isinstance(runtime.dispatcher, SimulatedDispatcher)
        runtime.dispatcher.advance(10_000_001)
        told = report(runtime)
        assert (told.counters.expired, told.counters.evictions, told.entries, told.bytes) == (2, 0, 0, 0)


def test_an_ended_session_takes_its_content_out_of_the_report_and_leaves_the_counts(runtime: Runtime) -> None:
    record(runtime, "c1", "c2")
    say(runtime, "again")
    runtime.clear_session("s1").get()
    told = report(runtime)
    assert (told.sessions, told.entries, told.bytes) == (0, 0, 0)
    assert (told.counters.writes, told.counters.hits, told.counters.evictions, told.counters.expired) == (2, 1, 0, 0)
    assert (told.follow_ups.full_fetches, told.follow_ups.sessions) == (1, 1)


def test_the_policy_in_force_is_told(runtime: Runtime) -> None:
    with simulated(maintainers=["mira", "tomas"]) as governed:
        governed.propose("q1", "scout", {"store_total_bytes": 100}, "evidence", "rollback").get()
        for step in (governed.approve("q1", "mira"), governed.acknowledge_proposal("q1", "tomas")):
            step.get()
        governed.apply("q1", "mira").get()
        told = report(governed)
        assert (told.retention.total_bytes, told.budget_bytes) == (100, 90)
    assert report(runtime).retention.total_bytes == 67_108_864


def test_looking_at_the_report_changes_nothing(runtime: Runtime) -> None:
    record(runtime, "c1")
    first = report(runtime)
    assert report(runtime) == first
    assert runtime.snapshot().store.counters == first.counters


@pytest.mark.parametrize(
    ("shares", "complete"), [((10, 10, 10), True), ((10, 10, 9), False), ((28, 1, 1), True), ((30, 30, 0), False)]
)
def test_the_window_is_complete_after_thirty_follow_ups_in_three_sessions(
    runtime: Runtime, shares: tuple[int, ...], complete: bool
) -> None:
    for place, share in enumerate(shares):
        record(runtime, "c1", session=f"s{place}")
        say(runtime, *["the last answer"] * share, *["good morning"] * 5, session=f"s{place}")
    told = report(runtime)
    assert (told.follow_ups.referring, told.window_complete) == (sum(shares), complete)
    assert told.follow_ups.no_intent == 15


def test_every_kind_of_follow_up_that_refers_to_something_fills_the_window(runtime: Runtime) -> None:
    for place in range(3):
        session = f"s{place}"
        record(runtime, "nested", session=session, depth=1)
        say(runtime, *["again"] * 2, session=session)
        record(runtime, "c1", session=session)
        say(runtime, *["show nested", "when was the last answer", "again", "the tenth"] * 2, session=session)
    told = report(runtime)
    assert (told.follow_ups.referring, told.window_complete) == (30, True)
    assert told.follow_up_success == pytest.approx(12 / 30)


@pytest.mark.parametrize(("missed", "reached"), [(1, False), (2, True)])
def test_more_than_one_in_ten_follow_ups_without_content_is_a_trigger(
    runtime: Runtime, missed: int, reached: bool
) -> None:
    record(runtime, "c1")
    record(runtime, "nested", depth=1)
    say(runtime, *["again"] * (10 - missed), *["show nested"] * missed)
    told = report(runtime)
    assert (told.follow_up_miss_rate, triggers(told)) == (missed / 10, [Trigger.FOLLOW_UP_MISSES] if reached else [])
    for advice in told.advice:
        assert (advice.measured, advice.threshold) == (0.2, 0.1)
        assert "store_max_entries" in advice.remedy


def test_look_ups_by_name_are_no_follow_ups(runtime: Runtime) -> None:
    record(runtime, "c1")
    say(runtime, "again")
    for _ in range(10):
        miss(runtime, "c9")
    told = report(runtime)
    assert (told.follow_up_miss_rate, triggers(told)) == (0.0, [])


@pytest.mark.parametrize(("share", "reached"), [(0.15, False), (0.16, True)])
def test_prompts_that_grow_by_more_than_fifteen_per_cent_are_a_trigger(
    runtime: Runtime, share: float, reached: bool
) -> None:
    record(runtime, "c1")
    added = len(runtime.content_prompt("s1").get().text)
    # Rounded up, so that the lower share is not exceeded.
    chars = -int(-added // share)
    for conversation_chars in (chars, 1, 10**9):
        runtime.content_prompt("s1", conversation_chars=conversation_chars).get()
    told = report(runtime)
    assert (told.prompt_growth, told.prompts) == (added / chars, 3)
    assert triggers(told) == ([Trigger.PROMPT_GROWTH] if reached else [])
    for advice in told.advice:
        assert (advice.measured, advice.threshold) == (told.prompt_growth, 0.15)
        assert "instructions=False" in advice.remedy


@pytest.mark.parametrize(("spare", "reached"), [(0, False), (-1, True)])
def test_more_bytes_than_the_budget_are_a_trigger(runtime: Runtime, spare: int, reached: bool) -> None:
    record(runtime, "c1", "c2", session="s1")
    record(runtime, "c1", session="s2")
    used = report(runtime).bytes
    told = report(runtime, used + spare)
    assert (used, told.budget_bytes) == (30, used + spare)
    assert triggers(told) == ([Trigger.MEMORY_PRESSURE] if reached else [])
    assert triggers(report(runtime)) == []


@pytest.mark.parametrize(("bytes_", "reached"), [(90, False), (91, True)])
def test_without_a_budget_nine_tenths_of_the_bound_over_all_sessions_are_one(bytes_: int, reached: bool) -> None:
    with simulated(store_total_bytes=100) as runtime:
        record(runtime, "c1", value="x" * (bytes_ - 2))
        assert triggers(report(runtime)) == ([Trigger.MEMORY_PRESSURE] if reached else [])


def test_with_content_disabled_everything_is_recorded_and_nothing_stored() -> None:
    with simulated(content_enabled=False, capture_nested=True, capture_errors=True) as runtime:
        record(runtime, "c1")
        record(runtime, "c2", depth=1, keep=True, parent="c1")
        runtime.record_call("s1", Call("c3"), Outcome.error("ValueError", "no")).get()
        told = runtime.calls("s1").get()
        assert [one.reason for one in told] == ["content_disabled"] * 3
        assert [(one.depth, one.status) for one in told] == [(0, "ok"), (1, "ok"), (0, "error")]
        assert runtime.record_call("s1", Call("c1"), Outcome.ok(1)).get().reason == "duplicate_call"
        assert runtime.refer("s1", "c1", "c2").get().reason == "content_disabled"
        commit(runtime, "r1")
        assert [turn.content_ref for turn in runtime.history("s1").get()] == [None]
        assert [miss(runtime, name) for name in ("c1", "r1/p1")] == ["not_stored"] * 2
        assert runtime.follow_up("s1", "again").get().reason == "not_stored"
        assert runtime.content_prompt("s1").get().text == ""
        made = report(runtime)
        assert (made.bytes, made.counters.writes, made.counters.hits, made.hit_rate) == (0, 0, 0, 0.0)
        assert made.counters.skips_by_reason == {"content_disabled": 5, "duplicate_call": 1}


def test_with_content_disabled_no_value_is_looked_at() -> None:
    looked_at = []

    class Telling:
        def __str__(self) -> str:
            looked_at.append(self)
            return "a text"

    with simulated(content_enabled=False) as runtime:
        with runtime.recorded("s1", id="c1") as call:
            call.result = Telling()
        assert [told.reason for told in runtime.calls("s1").get()] == ["content_disabled"]
    assert looked_at == []
