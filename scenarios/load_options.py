"""What a load run is asked for, and the rules that follow for the runtime and for its judge."""

from __future__ import annotations

from typing import Any, Literal

import attrs

from ..protocol.errors import InvalidArgument
from ..protocol.settings import Settings, microseconds
from .load_faults import PROFILES, Faults
from .verdict_facts import Rules

__all__ = ["MODES", "LoadOptions"]

MODES = ("threads", "async", "simulated")
_MAX_TURNS = 40
_STORE_BYTES = 65_536
_LEDGER_ENTRIES = 2_000
"""Far more than requests can close while one of them is still asked for."""


def _whole(least: int, *, optional: bool = False) -> Any:
    def check(_options: object, attribute: attrs.Attribute[Any], value: object) -> None:
        if optional and value is None:
            return
        if not isinstance(value, int) or isinstance(value, bool) or value < least:
            raise InvalidArgument(attribute.name, f"must be a whole number of at least {least}")

    return check


def _seconds(_options: object, attribute: attrs.Attribute[Any], value: object) -> None:
    if value is None:
        return
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 < value < float("inf"):
        raise InvalidArgument(attribute.name, "must be a number of seconds above 0")


def _one_of(*words: str) -> Any:
    def check(_options: object, attribute: attrs.Attribute[Any], value: object) -> None:
        if value not in words:
            raise InvalidArgument(attribute.name, f"must be one of {', '.join(words)}")

    return check


@attrs.frozen(kw_only=True)
class LoadOptions:
    """A load run. A bad value raises `InvalidArgument`, which names the field.

    The run ends after `requests` requests; or after `count` parents, if that is given; or after `duration_s` seconds.
    """

    sessions: int = attrs.field(default=40, validator=_whole(1))
    """Sessions at a time."""
    requests: int = attrs.field(default=200, validator=_whole(1))
    parents: int = attrs.field(default=50, validator=_whole(1))
    """Parents of each request."""
    callers: int = attrs.field(default=8, validator=_whole(1))
    mode: Literal["threads", "async", "simulated"] = attrs.field(default="threads", validator=_one_of(*MODES))
    """Real threads; asyncio tasks; or callers in virtual time, whose messages a seeded schedule delivers."""
    faults: str = attrs.field(default="light", validator=_one_of(*PROFILES))
    duration_s: float | None = attrs.field(default=None, validator=_seconds)
    count: int | None = attrs.field(default=None, validator=_whole(1, optional=True))
    """Parents in total."""
    seed: int = attrs.field(default=0, validator=_whole(0))
    commit_order: Literal["session", "request"] = attrs.field(
        default="session", validator=_one_of("session", "request")
    )
    switch_interval_s: float | None = attrs.field(default=None, validator=_seconds)
    """How often the interpreter changes threads; None leaves it as it is."""

    def __attrs_post_init__(self) -> None:
        if self.count is not None and self.duration_s is not None:
            raise InvalidArgument("count", "give a count or a duration, not both")

    @property
    def profile(self) -> Faults:
        return PROFILES[self.faults]

    @property
    def requests_in_all(self) -> int | None:
        """How many requests there will be; None if time decides."""
        if self.duration_s is not None:
            return None
        return self.requests if self.count is None else max(1, -(-self.count // self.parents))

    @property
    def settings(self) -> Settings:
        """The settings of the runtime that is put under load."""
        faults = self.profile
        return Settings(
            ack_window=faults.window_s,
            session_ttl=faults.ttl_s,
            execution_timeout=4 * faults.window_s,
            commit_order=self.commit_order,
            max_sessions=self.sessions if faults.crowded else 10 * self.sessions + 100,
            max_turns=_MAX_TURNS,
            max_open_handles=faults.open_handles,
            ledger_entries=_LEDGER_ENTRIES,
            store_max_entries=faults.store_entries,
            store_max_bytes=_STORE_BYTES,
            store_total_bytes=_STORE_BYTES * max(1, self.sessions // 4),
        )

    @property
    def rules(self) -> Rules:
        """The same for the judge, who reads no settings."""
        settings = self.settings
        return Rules(
            window_us=microseconds(settings.ack_window),
            ttl_us=microseconds(settings.session_ttl),
            max_sessions=settings.max_sessions,
            max_turns=settings.max_turns,
            max_open_handles=settings.max_open_handles,
            store_max_entries=settings.store_max_entries,
            store_max_bytes=settings.store_max_bytes,
            store_total_bytes=settings.store_total_bytes,
            in_session_order=self.commit_order == "session",
            crowded=self.profile.crowded,
            forgetful=False,
            punctual=self.mode == "simulated",
        )
