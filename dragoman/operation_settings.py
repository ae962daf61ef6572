"""The settings of a runtime that translates whole documents."""

from __future__ import annotations

from typing import Any

import attrs

from .protocol.settings import Settings

__all__ = ["operation_settings", "turns_needed"]

_LONG_S = 30 * 24 * 3600.0
_MAX_TURNS = 1000


def operation_settings(*, concurrency: int = 4, group_parents: int = 5, **changes: Any) -> Settings:
    """Settings under which an operation keeps its promises, with `changes`.

    A session keeps enough turns for every prompt, a request is one call at a time, and nothing is passed over or
    forgotten while a slow provider works.
    """
    defaults = {
        "prompt_turns": 4,
        "batch_units": group_parents,
        "max_concurrent_calls": 1,
        "max_turns": _MAX_TURNS,
        "ack_window": _LONG_S,
        "session_ttl": _LONG_S,
        "content_enabled": False,
    }
    settings = Settings(**{**defaults, **changes})
    needed = turns_needed(concurrency, group_parents, settings.prompt_turns)
    return settings if "max_turns" in changes else attrs.evolve(settings, max_turns=max(_MAX_TURNS, needed))


def turns_needed(concurrency: int, group_parents: int, prompt_turns: int) -> int:
    """The turns that a session must keep, so that those of later groups push none out of a prompt."""
    return prompt_turns + (concurrency - 1) * group_parents
