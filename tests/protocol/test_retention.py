"""The retention policy: its bounds, and the first reason not to store (P constraints 2 and 6, phases 1 and 3)."""

from __future__ import annotations

from itertools import product
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.protocol.retention import (
    GOVERNED,
    MAX_WAITING,
    EvictionClass,
    Retention,
    eviction_class,
    is_over,
    why_not_released,
    why_not_stored,
)
from dragoman.protocol.settings import Settings
from dragoman.protocol.statuses import SkipReason

LIMIT = 100
POLICY = Retention(
    max_entries=4, max_bytes=LIMIT, ttl_us=None, total_bytes=1000, capture_nested=False, capture_errors=False
)


def reason(retention: Retention = POLICY, **facts: Any) -> str | None:
    """Why a successful call of depth 0, a small value, is not stored; with other `facts`."""
    plain = {"enabled": True, "is_error": False, "depth": 0, "keep": False, "content_bytes": 1, "failure": None}
    return why_not_stored(retention, **(plain | facts))


def released(retention: Retention = POLICY, **facts: Any) -> str | None:
    """Why a small value that is held is not stored for a `refer`; with other `facts`."""
    return why_not_released(retention, **({"enabled": True, "is_error": False, "held_bytes": 1} | facts))


def test_a_proposal_may_change_six_settings() -> None:
    assert set(GOVERNED) == {
        "store_max_entries",
        "store_max_bytes",
        "store_ttl",
        "store_total_bytes",
        "capture_nested",
        "capture_errors",
    }
    assert len(GOVERNED) == 6


def test_the_policy_is_what_the_settings_ask_for() -> None:
    settings = Settings(
        store_max_entries=1,
        store_max_bytes=2,
        store_ttl=0.5,
        store_total_bytes=3,
        capture_nested=True,
        capture_errors=False,
    )
    assert attrs.asdict(Retention.of(settings)) == {
        "max_entries": 1,
        "max_bytes": 2,
        "ttl_us": 500_000,
        "total_bytes": 3,
        "capture_nested": True,
        "capture_errors": False,
    }
    assert Retention.of(Settings(capture_errors=True)).capture_errors
    assert not Retention.of(Settings(capture_errors=True)).capture_nested


def test_without_a_ttl_there_is_no_limit_and_a_ttl_of_0_is_one() -> None:
    assert Retention.of(Settings()).ttl_us is None
    assert Retention.of(Settings(store_ttl=0)).ttl_us == 0


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("store_max_entries", 7),
        ("store_max_bytes", 7),
        ("store_ttl", 7),
        ("store_total_bytes", 7),
        ("capture_nested", True),
        ("capture_errors", True),
    ],
)
def test_each_governed_setting_makes_another_policy(name: str, value: object) -> None:
    wanted: dict[str, Any] = {name: value}
    assert name in GOVERNED
    assert Retention.of(Settings(**wanted)) != Retention.of(Settings())


def test_no_other_setting_changes_the_policy() -> None:
    others = Settings(content_enabled=False, max_call_records=1, max_turns=1, session_ttl=1, maintainers=("mira",))
    assert Retention.of(others) == Retention.of(Settings())


def test_an_entry_may_be_as_large_as_the_smaller_of_the_two_bounds() -> None:
    assert attrs.evolve(POLICY, max_bytes=10, total_bytes=20).max_entry_bytes == 10
    assert attrs.evolve(POLICY, max_bytes=20, total_bytes=10).max_entry_bytes == 10


def test_the_waiting_area_holds_32_values_and_a_quarter_of_the_bytes() -> None:
    assert MAX_WAITING == 32
    assert [attrs.evolve(POLICY, max_bytes=limit).waiting_bytes for limit in (0, 3, 4, 7, 100)] == [0, 0, 1, 1, 25]


def test_what_has_gone_is_remembered_up_to_a_bound() -> None:
    assert [attrs.evolve(POLICY, max_entries=count).max_tombstones for count in (0, 1, 128)] == [0, 4, 512]


def test_nested_entries_go_before_those_of_depth_0() -> None:
    depths = [0, 3, 1, 0, 2]
    assert sorted(depths, key=eviction_class) == [3, 1, 2, 0, 0]


def test_there_are_two_classes_and_all_nested_depths_are_of_one() -> None:
    assert len(EvictionClass) == 2
    assert {eviction_class(depth) for depth in range(1, 102)} == {EvictionClass.NESTED}


def test_a_successful_call_of_depth_0_is_stored() -> None:
    assert reason() is None


def test_nothing_is_stored_where_content_is_off_and_that_is_the_reason_whatever_else_is_wrong() -> None:
    assert reason(enabled=False) == "content_disabled"
    everything: dict[str, Any] = {
        "is_error": True,
        "depth": 1,
        "content_bytes": LIMIT + 1,
        "failure": SkipReason.SERIALIZATION_FAILED,
    }
    assert reason(enabled=False, **everything) == "content_disabled"


def test_an_error_is_not_stored() -> None:
    assert reason(is_error=True) == "error_capture_disabled"


def test_a_kept_error_is_not_stored_either() -> None:
    assert reason(is_error=True, depth=1, keep=True) == "error_capture_disabled"


def test_that_errors_are_not_captured_is_looked_at_before_the_depth() -> None:
    assert reason(is_error=True, depth=1) == "error_capture_disabled"


def test_with_error_capture_an_error_is_stored_by_the_same_depth_rule() -> None:
    capturing = attrs.evolve(POLICY, capture_errors=True)
    assert reason(capturing, is_error=True) is None
    assert reason(capturing, is_error=True, depth=1) == "nested_capture_disabled"
    assert reason(capturing, is_error=True, depth=1, keep=True) is None


@pytest.mark.parametrize("depth", [1, 2, 100])
def test_a_nested_value_is_stored_only_on_request(depth: int) -> None:
    assert reason(depth=depth) == "nested_capture_disabled"
    assert reason(depth=depth, keep=True) is None
    assert reason(attrs.evolve(POLICY, capture_nested=True), depth=depth) is None


def test_the_depth_is_looked_at_before_the_value() -> None:
    assert reason(depth=1, content_bytes=LIMIT + 1) == "nested_capture_disabled"
    failed = reason(depth=1, content_bytes=None, failure=SkipReason.SERIALIZATION_FAILED)
    assert failed == "nested_capture_disabled"


def test_what_could_not_be_serialized_is_not_stored() -> None:
    assert reason(content_bytes=None, failure=SkipReason.SERIALIZATION_FAILED) == "serialization_failed"


def test_what_has_no_size_is_too_large_for_nothing() -> None:
    nothing_fits = attrs.evolve(POLICY, max_entries=0, max_bytes=0)
    failed = reason(nothing_fits, content_bytes=None, failure=SkipReason.SERIALIZATION_FAILED)
    assert failed == "serialization_failed"
    assert reason(nothing_fits, content_bytes=None) is None


def test_an_entry_of_exactly_the_limit_is_stored_and_one_byte_more_is_not() -> None:
    assert reason(content_bytes=LIMIT) is None
    assert reason(content_bytes=LIMIT + 1) == "entry_exceeds_max_bytes"


def test_an_entry_larger_than_the_bound_over_all_sessions_is_refused_like_one_larger_than_its_own() -> None:
    narrow = attrs.evolve(POLICY, total_bytes=LIMIT - 1)
    assert reason(narrow, content_bytes=LIMIT - 1) is None
    assert reason(narrow, content_bytes=LIMIT) == "entry_exceeds_max_bytes"


def test_where_no_entry_is_allowed_any_is_too_large() -> None:
    assert reason(attrs.evolve(POLICY, max_entries=0)) == "entry_exceeds_max_bytes"
    assert reason(attrs.evolve(POLICY, max_entries=1)) is None


FLAGS = [False, True]


@pytest.mark.parametrize(
    ("enabled", "is_error", "nested", "keep", "capture_nested", "capture_errors", "failed", "large"),
    list(product(FLAGS, repeat=8)),
)
def test_the_first_reason_in_the_order_of_the_page_is_told(
    enabled: bool,
    is_error: bool,
    nested: bool,
    keep: bool,
    capture_nested: bool,
    capture_errors: bool,
    failed: bool,
    large: bool,
) -> None:
    reasons = {
        "content_disabled": not enabled,
        "error_capture_disabled": is_error and not capture_errors,
        "nested_capture_disabled": nested and not (keep or capture_nested),
        "serialization_failed": failed,
        "entry_exceeds_max_bytes": large and not failed,
    }
    told = reason(
        attrs.evolve(POLICY, capture_nested=capture_nested, capture_errors=capture_errors),
        enabled=enabled,
        is_error=is_error,
        depth=int(nested),
        keep=keep,
        content_bytes=None if failed else LIMIT + large,
        failure=SkipReason.SERIALIZATION_FAILED if failed else None,
    )
    assert told == next((name for name, holds in reasons.items() if holds), None)


def test_a_value_that_is_held_is_released_to_the_store() -> None:
    assert released() is None


def test_what_is_not_held_was_released() -> None:
    assert released(held_bytes=None) == "content_released"


def test_an_error_is_not_referred_to_where_errors_are_not_captured() -> None:
    assert released(is_error=True) == "error_capture_disabled"
    assert released(is_error=True, held_bytes=None) == "error_capture_disabled"
    assert released(attrs.evolve(POLICY, capture_errors=True), is_error=True) is None


def test_a_value_that_no_longer_fits_is_not_stored_for_a_refer() -> None:
    assert released(held_bytes=LIMIT) is None
    assert released(held_bytes=LIMIT + 1) == "entry_exceeds_max_bytes"
    assert released(attrs.evolve(POLICY, total_bytes=9), held_bytes=10) == "entry_exceeds_max_bytes"
    assert released(attrs.evolve(POLICY, max_entries=0)) == "entry_exceeds_max_bytes"


@pytest.mark.parametrize("facts", [{}, {"is_error": True}, {"held_bytes": None}, {"held_bytes": LIMIT + 1}])
def test_nothing_is_referred_to_where_content_is_off(facts: dict[str, Any]) -> None:
    assert released(enabled=False, **facts) == "content_disabled"


def test_an_entry_is_still_there_at_the_instant_its_life_ends_and_gone_one_tick_later() -> None:
    assert not is_over(5, 15, 10)
    assert is_over(5, 16, 10)


def test_with_a_ttl_of_0_an_entry_lives_for_its_own_instant() -> None:
    assert not is_over(5, 5, 0)
    assert is_over(5, 6, 0)


@given(st.integers(0, 10**18), st.integers(0, 10**18))
def test_without_a_ttl_nothing_is_ever_over(written_us: int, age_us: int) -> None:
    assert not is_over(written_us, written_us + age_us, None)
