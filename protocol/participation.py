"""Who takes part in conversation history (C3): one pure function, used for reads and writes alike."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import attrs

from .errors import InvalidSetting
from .statuses import Purpose

__all__ = ["ProviderPolicy", "participates"]


def _one_of(*allowed: str) -> Any:
    def check(_policy: object, attribute: attrs.Attribute[str], value: object) -> None:
        if value not in allowed:
            raise InvalidSetting(attribute.name, f"must be one of {', '.join(allowed)}")

    return check


def _at_least(least: int, *, optional: bool = False) -> Any:
    def check(_policy: object, attribute: attrs.Attribute[int], value: object) -> None:
        if optional and value is None:
            return
        if not isinstance(value, int) or isinstance(value, bool) or value < least:
            raise InvalidSetting(attribute.name, f"must be a whole number of at least {least}")

    return check


@attrs.frozen
class ProviderPolicy:
    """What the runtime knows of a provider.

    `kind`: `ai` or `machine` (a machine provider never takes part in history). `recovery`: `selective` or `full`.
    `keys`: how many keys it has. `max_chars`: the longest unit it takes, in characters; None for no limit.
    """

    kind: Literal["ai", "machine"] = attrs.field(default="ai", validator=_one_of("ai", "machine"))
    recovery: Literal["selective", "full"] = attrs.field(default="selective", validator=_one_of("selective", "full"))
    keys: int = attrs.field(default=1, validator=_at_least(1))
    max_chars: int | None = attrs.field(default=None, validator=_at_least(1, optional=True))


UNLISTED = ProviderPolicy()


def participates(
    *,
    provider: str,
    providers: Mapping[str, ProviderPolicy],
    history_enabled: bool,
    mode: str,
    eligible_modes: tuple[str, ...],
    purpose: str,
    session_id: str,
) -> bool:
    """Whether a call takes part in history, for reading and for writing (C3).

    All must hold: an AI provider (one that is not listed is), the history setting, an eligible mode, a primary
    translation, and a session identity.
    """
    return (
        providers.get(provider, UNLISTED).kind == "ai"
        and history_enabled
        and mode in eligible_modes
        and purpose == Purpose.PRIMARY_TRANSLATION
        and bool(session_id)
    )
