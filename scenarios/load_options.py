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
_REQUESTS = 200
_MAX_SWITCH_INTERVAL_S = 60.0
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


def _seconds(most: float | None = None) -> Any:
    bound = "" if most is None else f", and at most {most:g}"

    def check(_options: object, attribute: attrs.Attribute[Any], value: object) -> None:
        if value is None:
            return
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not is_number or not 0 < value < float("inf") or (most is not None and value > most):  # type: ignore[operator]
            raise InvalidArgument(attribute.name, f"must be a number of seconds above 0{bound}")

    return check


def _one_of(*words: str) -> Any:
    def check(_options: object, attribute: attrs.Attribute[Any], value: object) -> None:
        if value not in words:
            raise InvalidArgument(attribute.name, f"must be one of {', '.join(words)}")

    return check


@attrs.frozen(kw_only=True)
class LoadOptions:
    """A load run. A bad value raises `InvalidArgument`, which names the field.

    The run ends after `requests` requests (200 by default), after those of `count` parents, or after `duration_s`
    seconds; not more than one of them is given. When the time is over, no request is begun, and one that has begun is
    cut short: it gets no more ACKs, and is cancelled.
    """

    sessions: int = attrs.field(default=40, validator=_whole(1))
    """Sessions at a time."""
    requests: int | None = attrs.field(default=None, validator=_whole(1, optional=True))
    parents: int = attrs.field(default=50, validator=_whole(1))
    """Parents of each request; with a count the last one has those that are left."""
    callers: int = attrs.field(default=8, validator=_whole(1))
    mode: Literal["threads", "async", "simulated"] = attrs.field(default="threads", validator=_one_of(*MODES))
    """Real threads; asyncio tasks; or callers in virtual time, whose messages a seeded schedule delivers."""
    faults: str = attrs.field(default="light", validator=_one_of(*PROFILES))
    duration_s: float | None = attrs.field(default=None, validator=_seconds())
    count: int | None = attrs.field(default=None, validator=_whole(1, optional=True))
    """Parents of all requests together; what recorded calls and translations do beside them is not counted."""
    seed: int = attrs.field(default=0, validator=_whole(0))
    commit_order: Literal["session", "request"] = attrs.field(
        default="session", validator=_one_of("session", "request")
    )
    switch_interval_s: float | None = attrs.field(default=None, validator=_seconds(_MAX_SWITCH_INTERVAL_S))
    """How often the interpreter changes threads; None leaves it as it is, and so must virtual time, which has one."""
    journal: str | None = None
    """The file of the runtime's journal, if one is to be kept."""

    def __attrs_post_init__(self) -> None:
        if self.count is not None and self.duration_s is not None:
            raise InvalidArgument("count", "give a count or a duration, not both")
        if self.requests is not None and self.count is not None:
            raise InvalidArgument("requests", "give requests or a count, not both")
        if self.requests is not None and self.duration_s is not None:
            raise InvalidArgument("requests", "give requests or a duration, not both")
        if self.switch_interval_s is not None and self.mode == "simulated":
            raise InvalidArgument("switch_interval_s", "has no meaning in virtual time, where one thread does all")

    @property
    def profile(self) -> Faults:
        return PROFILES[self.faults]

    @property
    def requests_in_all(self) -> int | None:
        """How many requests there will be; None if time decides."""
        if self.duration_s is not None:
            return None
        if self.count is not None:
            return -(-self.count // self.parents)
        return _REQUESTS if self.requests is None else self.requests

    def parents_of(self, number: int) -> int:
        """How many parents the request of this number has, counted from 0."""
        return self.parents if self.count is None else min(self.parents, self.count - number * self.parents)

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
            journal=self.journal,
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
