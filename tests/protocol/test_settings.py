"""Every setting: its default, and the refusal of a bad value by its name (language page "Settings")."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import attrs
import pytest

from dragoman.protocol.errors import DragomanError, InvalidSetting
from dragoman.protocol.participation import ProviderPolicy
from dragoman.protocol.settings import Settings

DEFAULTS = {
    "history_enabled": True,
    "eligible_modes": ("select-element",),
    "ack_window": 300,
    "execution_timeout": 300,
    "commit_order": "session",
    "max_sessions": 50,
    "session_ttl": 30 * 60,
    "max_turns": 10,
    "prompt_turns": 1,
    "prompt_chars": 300,
    "max_open_handles": 100000,
    "max_open_executions": 10000,
    "ledger_entries": 10000,
    "batch_chars": 3500,
    "batch_units": 25,
    "max_concurrent_calls": 4,
    "circuit_failures": 0,
    "circuit_cooldown": 30,
    "content_enabled": True,
    "store_max_entries": 128,
    "store_max_bytes": 2097152,
    "store_ttl": None,
    "store_total_bytes": 67108864,
    "max_call_records": 200,
    "capture_nested": False,
    "capture_errors": False,
    "feature_history": None,
    "journal": None,
    "journal_texts": False,
    "journal_bytes": 268_435_456,
    "maintainers": (),
}

SWITCHES = ("history_enabled", "content_enabled", "capture_nested", "capture_errors", "journal_texts")
SECONDS = ("ack_window", "execution_timeout", "session_ttl", "circuit_cooldown")
NAMES = ("eligible_modes", "maintainers")
PATHS = ("feature_history", "journal")
COUNTS = tuple(name for name, value in DEFAULTS.items() if type(value) is int and name not in SECONDS)
AT_LEAST_ONE = ("batch_chars", "batch_units", "max_concurrent_calls")

BAD_SECONDS: tuple[object, ...] = (-1, -0.001, math.nan, math.inf, -math.inf, True, "300s", "300", [], object())
BAD_COUNTS: tuple[object, ...] = (-1, 0.5, 5.0, True, None, "5", [], object())
BAD_NAMES: tuple[object, ...] = ("select-element", b"x", None, 1, (1,), ("",), ("a", None), object())


def values(names: tuple[str, ...], bad: tuple[object, ...]) -> list[tuple[str, object]]:
    return [(name, value) for name in names for value in bad]


def test_the_defaults_are_those_of_the_page() -> None:
    assert attrs.asdict(Settings()) == DEFAULTS


def test_every_setting_is_of_one_kind_here() -> None:
    assert {*SWITCHES, *SECONDS, *NAMES, *COUNTS, "commit_order", "store_ttl", *PATHS} == set(DEFAULTS)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *values(SWITCHES, (0, 1, None, "true", "yes", [], object())),
        *values(SECONDS, (*BAD_SECONDS, None)),
        *values(("store_ttl",), BAD_SECONDS),
        *values(COUNTS, BAD_COUNTS),
        *values(AT_LEAST_ONE, (0,)),
        *values(NAMES, BAD_NAMES),
        *values(("feature_history",), ("", "a\0b", b"history.db", 1, True, [], object())),
        *values(("commit_order",), ("Session", "", None, 1, True, [], ("session",))),
    ],
)
def test_a_bad_value_is_refused_by_the_name_of_its_field(name: str, value: Any) -> None:
    with pytest.raises(InvalidSetting, match=name) as caught:
        Settings(**{name: value})
    assert caught.value.field == name
    assert isinstance(caught.value, DragomanError)
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize("name", [*SECONDS, "store_ttl"])
def test_seconds_without_end_are_refused_like_any_bad_value(name: str) -> None:
    with pytest.raises(InvalidSetting) as caught:
        Settings(**{name: 10**400})  # type: ignore[arg-type]
    assert caught.value.field == name


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *values(SWITCHES, (True, False)),
        *values(SECONDS, (0, 0.0, 0.000001, 1, 1e9)),
        *values(("store_ttl",), (None, 0, 0.5)),
        *values(tuple(name for name in COUNTS if name not in AT_LEAST_ONE), (0, 1, 10**9)),
        *values(AT_LEAST_ONE, (1, 10**9)),
        *values(NAMES, ((), ("a",), ("a", "b"))),
        *values(("feature_history",), (None, "history.db", "some/where/history.db")),
        *values(("commit_order",), ("session", "request")),
    ],
)
def test_a_good_value_is_kept(name: str, value: Any) -> None:
    assert getattr(Settings(**{name: value}), name) == value


@pytest.mark.parametrize("name", NAMES)
def test_names_may_be_any_list_and_are_kept_as_a_tuple(name: str) -> None:
    given = ["a", "b"]
    settings = Settings(**{name: given})  # type: ignore[arg-type]
    given.append("c")
    assert getattr(settings, name) == ("a", "b")


def test_the_path_of_the_feature_history_is_kept_as_text() -> None:
    assert Settings(feature_history=Path("some", "history.db")).feature_history == str(Path("some", "history.db"))


def test_a_field_that_does_not_exist_is_refused_by_its_name() -> None:
    with pytest.raises(TypeError, match="ack_windw"):
        Settings(ack_windw=300)  # type: ignore[call-arg]


def test_settings_do_not_change() -> None:
    settings = Settings()
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        settings.max_turns = 3  # type: ignore[misc]


def test_a_provider_is_an_ai_with_selective_recovery_one_key_and_no_limit() -> None:
    assert attrs.asdict(ProviderPolicy()) == {"kind": "ai", "recovery": "selective", "keys": 1, "max_chars": None}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *values(("kind",), ("AI", "", None, 1, [], ("ai",))),
        *values(("recovery",), ("Full", "", None, 1, [], ("full",))),
        *values(("keys",), (0, -1, True, 1.0, None, "1", [])),
        *values(("max_chars",), (-1, True, 1.5, "100", [])),
    ],
)
def test_a_bad_value_of_a_provider_is_refused_by_the_name_of_its_field(name: str, value: Any) -> None:
    with pytest.raises(InvalidSetting, match=name) as caught:
        ProviderPolicy(**{name: value})
    assert caught.value.field == name


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *values(("kind",), ("ai", "machine")),
        *values(("recovery",), ("selective", "full")),
        *values(("keys",), (1, 5)),
        *values(("max_chars",), (None, 1, 5000)),
    ],
)
def test_a_good_value_of_a_provider_is_kept(name: str, value: Any) -> None:
    assert getattr(ProviderPolicy(**{name: value}), name) == value
