"""`Settings`: every knob of a runtime, with its unit, default and range."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any, Literal

import attrs

from .errors import InvalidSetting

__all__ = ["MAX_COUNT", "MAX_SECONDS", "Settings", "is_seconds", "microseconds"]

MAX_SECONDS = 10**12
"""The longest time that can be set, in seconds; some 30,000 years."""
MAX_COUNT = 10**12
"""The largest count that can be set."""


def microseconds(seconds: float) -> int:
    """Seconds as whole microseconds, the tick of every clock in the runtime."""
    return round(seconds * 1_000_000)


def _problem(value: object, problem: str | None, attribute: attrs.Attribute[Any]) -> None:
    if problem is not None:
        raise InvalidSetting(attribute.name, f"{problem}, not {_shown(value)}")


def _shown(value: object) -> str:
    """A bad value in an error message, within a line."""
    try:
        shown = repr(value)
    except ValueError:  # an integer with more digits than Python prints
        return "that number"
    return shown if len(shown) <= 60 else f"{shown[:60]}…"


def _count(least: int) -> Any:
    def check(_settings: object, attribute: attrs.Attribute[int], value: object) -> None:
        good = isinstance(value, int) and not isinstance(value, bool) and least <= value <= MAX_COUNT
        _problem(value, None if good else f"must be a whole number from {least} to {MAX_COUNT}", attribute)

    return check


def is_seconds(value: object) -> bool:
    """Whether `value` is a time in seconds as the runtime takes them."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return number and 0 <= value <= MAX_SECONDS  # type: ignore[operator]


def _seconds(*, optional: bool = False) -> Any:
    def check(_settings: object, attribute: attrs.Attribute[float], value: object) -> None:
        if optional and value is None:
            return
        _problem(
            value, None if is_seconds(value) else f"must be a number of seconds from 0 to {MAX_SECONDS}", attribute
        )

    return check


def _switch(_settings: object, attribute: attrs.Attribute[bool], value: object) -> None:
    _problem(value, None if isinstance(value, bool) else "must be true or false", attribute)


def _names(_settings: object, attribute: attrs.Attribute[tuple[str, ...]], value: object) -> None:
    good = isinstance(value, tuple) and all(isinstance(name, str) and name for name in value)
    _problem(value, None if good else "must be a list of names", attribute)


def _order(_settings: object, attribute: attrs.Attribute[str], value: object) -> None:
    _problem(value, None if value in ("session", "request") else "must be session or request", attribute)


def _as_path(value: Any) -> Any:
    return os.fspath(value) if isinstance(value, os.PathLike) else value


def _path(_settings: object, attribute: attrs.Attribute[str | None], value: object) -> None:
    # Without the value: a path may be private.
    if not (value is None or (isinstance(value, str) and value and "\0" not in value)):
        raise InvalidSetting(attribute.name, "must be the path of a file, or None")


def _as_tuple(names: Any) -> Any:
    if not isinstance(names, Iterable) or isinstance(names, str | bytes):
        return names
    try:
        return tuple(names)
    except Exception:
        return None  # for the validator to refuse


@attrs.frozen(kw_only=True)
class Settings:
    """The settings of a runtime. A bad value is refused with `InvalidSetting`, which names the field.

    Times are in seconds (at least 0), counts are whole numbers of at least 0 unless the field says otherwise.
    """

    history_enabled: bool = attrs.field(default=True, validator=_switch)
    """The user's history switch (C3); `Runtime.configure` changes it while the runtime lives."""
    eligible_modes: tuple[str, ...] = attrs.field(default=("select-element",), converter=_as_tuple, validator=_names)
    """The modes that take part in history (C3)."""
    ack_window: float = attrs.field(default=300.0, validator=_seconds())
    """Seconds from activation until a handle expires (C8); the wait after which one never activated is passed over."""
    execution_timeout: float = attrs.field(default=300.0, validator=_seconds())
    """Seconds that the execution of a request may take (C8)."""
    commit_order: Literal["session", "request"] = attrs.field(default="session", validator=_order)
    """`session`: the requests of a session commit in the order of registration (C15). `request`: only within each."""
    max_sessions: int = attrs.field(default=50, validator=_count(0))
    """Live sessions; past it the least recently used one without an open handle goes (C16)."""
    session_ttl: float = attrs.field(default=1800.0, validator=_seconds())
    """Seconds without use after which a session ends, and for which a closed request is remembered (C16)."""
    max_turns: int = attrs.field(default=10, validator=_count(0))
    """Turns that a session keeps; the newest stay."""
    prompt_turns: int = attrs.field(default=1, validator=_count(0))
    """Turns of history that go into a translation prompt."""
    prompt_chars: int = attrs.field(default=300, validator=_count(0))
    """Characters of each side of such a turn."""
    max_open_handles: int = attrs.field(default=100_000, validator=_count(0))
    """Open handles; past it registrations are `OVERLOADED`."""
    max_open_executions: int = attrs.field(default=10_000, validator=_count(0))
    """Running translations; past it new ones are `OVERLOADED`."""
    ledger_entries: int = attrs.field(default=10_000, validator=_count(0))
    """Closed requests that are remembered, newest first."""
    batch_chars: int = attrs.field(default=3500, validator=_count(1))
    """Characters of unit text in one provider call; at least 1."""
    batch_units: int = attrs.field(default=25, validator=_count(1))
    """Units in one provider call; at least 1."""
    max_concurrent_calls: int = attrs.field(default=4, validator=_count(1))
    """Open provider calls of one request; at least 1."""
    circuit_failures: int = attrs.field(default=0, validator=_count(0))
    """Failed calls in a row that open a provider's circuit; 0 for no circuit breaker."""
    circuit_cooldown: float = attrs.field(default=30.0, validator=_seconds())
    """Seconds that an open circuit stays open before a probe."""
    content_enabled: bool = attrs.field(default=True, validator=_switch)
    """Whether the content store keeps anything."""
    store_max_entries: int = attrs.field(default=128, validator=_count(0))
    """Content entries of a session."""
    store_max_bytes: int = attrs.field(default=2_097_152, validator=_count(0))
    """Bytes of content of a session, and of one entry."""
    store_ttl: float | None = attrs.field(default=None, validator=_seconds(optional=True))
    """Seconds that a content entry lives, counted from its write; None for no limit."""
    store_total_bytes: int = attrs.field(default=67_108_864, validator=_count(0))
    """Bytes of content over all sessions."""
    max_call_records: int = attrs.field(default=200, validator=_count(0))
    """Call records of a session."""
    capture_nested: bool = attrs.field(default=False, validator=_switch)
    """Whether calls of depth 1 and more are stored without being asked for."""
    capture_errors: bool = attrs.field(default=False, validator=_switch)
    """Whether error payloads are stored."""
    feature_history: str | None = attrs.field(default=None, converter=_as_path, validator=_path)
    """The file of the durable feature history (C13); None keeps none."""
    journal: str | None = attrs.field(default=None, converter=_as_path, validator=_path)
    """The file of the journal, which tells what the runtime did without any text; None keeps none."""
    journal_texts: bool = attrs.field(default=False, validator=_switch)
    """Whether the journal holds the texts as well (C14: an explicit choice)."""
    journal_bytes: int = attrs.field(default=268_435_456, validator=_count(0))
    """Bytes that the files of the journal may take together; past it the oldest goes. It takes 16,384 in any case."""
    maintainers: tuple[str, ...] = attrs.field(default=(), converter=_as_tuple, validator=_names)
    """Who may approve, acknowledge, refuse and apply a proposal."""
