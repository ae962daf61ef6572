"""The report on content continuity: rates, the observation window, and the three triggers (P phase 3, "Validation")."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.protocol.content_replies import StoreCounters
from dragoman.protocol.continuity import (
    WINDOW_FOLLOW_UPS,
    WINDOW_SESSIONS,
    Advice,
    ContinuityReport,
    FollowUpCounts,
    Trigger,
    continuity_report,
)
from dragoman.protocol.mappings import FrozenMapping
from dragoman.protocol.retention import GOVERNED, Retention
from dragoman.protocol.settings import Settings

RETENTION = Retention.of(Settings(store_total_bytes=1000))


def report(**facts: Any) -> ContinuityReport:
    """A report over `facts`, where nothing else has happened."""
    nothing: dict[str, Any] = {
        "counters": StoreCounters(),
        "retention": RETENTION,
        "sessions": 0,
        "entries": 0,
        "used_bytes": 0,
        "budget_bytes": None,
        "follow_ups": FollowUpCounts(),
        "growths": (),
    }
    return continuity_report(**nothing | facts)


def follow_ups(*, succeeded: int = 0, missed: int = 0, sessions: int = 3) -> FollowUpCounts:
    misses = FrozenMapping({"evicted": missed} if missed else {})
    return FollowUpCounts(full_fetches=succeeded, misses=misses, sessions=sessions)


def triggers(made: ContinuityReport) -> list[Trigger]:
    return [advice.trigger for advice in made.advice]


def test_where_nothing_was_counted_there_is_no_rate_and_no_advice() -> None:
    made = report()
    assert (made.hit_rate, made.follow_up_success, made.follow_up_miss_rate, made.prompt_growth) == (None,) * 4
    assert (made.prompts, made.window_complete, made.advice) == (0, False, ())


def test_the_hit_rate_is_of_all_look_ups() -> None:
    assert report(counters=StoreCounters(hits=3, misses=1)).hit_rate == 0.75
    assert report(counters=StoreCounters(misses=4)).hit_rate == 0.0


def test_what_refers_to_nothing_counts_neither_as_success_nor_as_failure() -> None:
    counts = FollowUpCounts(
        full_fetches=5, summaries=1, no_intent=100, no_prior_content=1, misses=FrozenMapping({"expired": 1}), sessions=1
    )
    assert (counts.referring, counts.succeeded, counts.missed) == (8, 6, 1)
    made = report(follow_ups=counts)
    assert (made.follow_up_success, made.follow_up_miss_rate) == (0.75, 0.125)


@given(*[st.integers(0, 50)] * 4, st.dictionaries(st.sampled_from(["evicted", "unknown"]), st.integers(1, 50)))
def test_every_follow_up_that_refers_to_something_is_of_one_kind(
    full: int, summaries: int, no_intent: int, no_prior: int, misses: dict[str, int]
) -> None:
    counts = FollowUpCounts(
        full_fetches=full,
        summaries=summaries,
        no_intent=no_intent,
        no_prior_content=no_prior,
        misses=FrozenMapping(misses),
    )
    assert counts.referring == full + summaries + no_prior + sum(misses.values())
    assert counts.referring == counts.succeeded + counts.no_prior_content + counts.missed


@pytest.mark.parametrize(
    ("referring", "sessions", "complete"), [(30, 3, True), (29, 3, False), (30, 2, False), (500, 2, False)]
)
def test_the_window_is_thirty_follow_ups_over_three_sessions(referring: int, sessions: int, complete: bool) -> None:
    assert (WINDOW_FOLLOW_UPS, WINDOW_SESSIONS) == (30, 3)
    assert report(follow_ups=follow_ups(succeeded=referring, sessions=sessions)).window_complete is complete


def test_what_refers_to_nothing_does_not_fill_the_window() -> None:
    assert not report(follow_ups=FollowUpCounts(full_fetches=29, no_intent=9, sessions=3)).window_complete


@pytest.mark.parametrize(
    ("growths", "median"), [([0.1], 0.1), ([0.1, 9.0, 0.0], 0.1), ([0.25, 0.75], 0.5), ([0.0, 0.0, 7.0], 0.0)]
)
def test_the_growth_is_the_median(growths: list[float], median: float) -> None:
    made = report(growths=growths)
    assert (made.prompt_growth, made.prompts) == (median, len(growths))


@pytest.mark.parametrize(("growth", "reached"), [(0.15, False), (0.1501, True), (0.05, False), (2.0, True)])
def test_more_than_fifteen_per_cent_of_growth_is_a_trigger(growth: float, reached: bool) -> None:
    made = report(growths=[growth])
    assert triggers(made) == ([Trigger.PROMPT_GROWTH] if reached else [])
    if reached:
        assert (made.advice[0].measured, made.advice[0].threshold) == (growth, 0.15)


@pytest.mark.parametrize(
    ("succeeded", "missed", "reached"), [(9, 1, False), (8, 1, True), (0, 1, True), (10, 0, False)]
)
def test_more_than_ten_per_cent_of_missing_content_is_a_trigger(succeeded: int, missed: int, reached: bool) -> None:
    made = report(follow_ups=follow_ups(succeeded=succeeded, missed=missed))
    assert triggers(made) == ([Trigger.FOLLOW_UP_MISSES] if reached else [])
    if reached:
        assert (made.advice[0].measured, made.advice[0].threshold) == (missed / (succeeded + missed), 0.1)


@pytest.mark.parametrize(
    ("used", "budget", "reached"), [(100, 100, False), (101, 100, True), (1, 0, True), (0, 0, False)]
)
def test_more_bytes_than_the_budget_are_a_trigger(used: int, budget: int, reached: bool) -> None:
    made = report(used_bytes=used, budget_bytes=budget)
    assert (made.bytes, made.budget_bytes) == (used, budget)
    assert triggers(made) == ([Trigger.MEMORY_PRESSURE] if reached else [])
    if reached:
        assert (made.advice[0].measured, made.advice[0].threshold) == (used, budget)


def test_the_budget_is_nine_tenths_of_the_bound_over_all_sessions_unless_it_is_given() -> None:
    assert report().budget_bytes == 900
    assert triggers(report(used_bytes=900)) == []
    assert triggers(report(used_bytes=901)) == [Trigger.MEMORY_PRESSURE]


def test_all_three_triggers_may_be_reached_at_once() -> None:
    made = report(growths=[1.0], follow_ups=follow_ups(missed=1), used_bytes=1000)
    assert triggers(made) == [Trigger.PROMPT_GROWTH, Trigger.FOLLOW_UP_MISSES, Trigger.MEMORY_PRESSURE]
    assert len({advice.remedy for advice in made.advice}) == 3


def test_what_to_do_about_the_store_names_settings_that_a_proposal_may_change() -> None:
    made = report(follow_ups=follow_ups(missed=1), used_bytes=1000)
    for advice in made.advice:
        named = {word.strip(",") for word in advice.remedy.split() if word.startswith("store_")}
        assert named
        assert named <= set(GOVERNED)


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value))])
def test_a_report_can_be_copied_and_sent_elsewhere(copied: Callable[[Any], Any]) -> None:
    made = report(growths=[1.0], follow_ups=follow_ups(missed=1), counters=StoreCounters(misses=1))
    twin = copied(made)
    assert (twin, hash(twin), type(twin.advice[0])) == (made, hash(made), Advice)
