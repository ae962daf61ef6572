"""The page of the settings: what the fields of `Settings` say of themselves.

What a field takes is asked of its own validator: a value that nothing takes is refused, and the refusal says what would
have been right. So page and error message cannot differ, and a new field needs nothing here.
"""

from __future__ import annotations

import re
from typing import Any

import attrs

from dragoman import InvalidSetting, ProviderPolicy, Settings
from dragoman.protocol.retention import GOVERNED

from .docstrings import first_paragraph, of_members, table

__all__ = ["groups", "page", "taken", "unit"]

_GROUPS = {
    "Who takes part, and in which order": ("history_enabled", "eligible_modes", "commit_order"),
    "Acceptance": ("ack_window", "max_open_handles", "ledger_entries"),
    "Sessions and prompts": ("max_sessions", "session_ttl", "max_turns", "prompt_turns", "prompt_chars"),
    "Execution": (
        "execution_timeout",
        "max_open_executions",
        "batch_chars",
        "batch_units",
        "max_concurrent_calls",
        "circuit_failures",
        "circuit_cooldown",
    ),
    "Content": (
        "content_enabled",
        "store_max_entries",
        "store_max_bytes",
        "store_ttl",
        "store_total_bytes",
        "max_call_records",
        "capture_nested",
        "capture_errors",
    ),
    "Files and people": ("feature_history", "maintainers"),
}
"""A field that is in none of them gets a group by its first word."""

_HEAD = """\
# Settings

Made by `python -m docs.generate` from the class `Settings`; change the fields there.

All settings of a runtime are fields of one frozen class, given by name: `Runtime(Settings(ack_window=60.0))`. A bad
value is refused with `InvalidSetting`, which names the field. `runtime.settings` is what the runtime was made with.
"""

_POLICY_HEAD = """\
## What is known of a provider

`Runtime(providers={"deepl": ProviderPolicy(kind="machine")})`. A name that is not listed has the defaults.
"""


class _Nothing:
    """A value that no field takes."""


def taken(owner: type, field: attrs.Attribute[Any]) -> str:
    """What a field of `owner` takes, in the words of its validator."""
    try:
        owner(**{field.name: _Nothing()})
    except InvalidSetting as refused:
        problem = refused.problem
    else:
        raise LookupError(f"{owner.__name__}.{field.name} takes anything")
    words = re.sub(r", not <.*", "", problem, flags=re.DOTALL).removeprefix("must be ")
    words = re.sub(r"\d{4,}", lambda number: f"{int(number[0]):,}", words)
    return f"{words}, or None" if "None" in str(field.type) and "None" not in words else words


def unit(name: str, takes: str) -> str:
    """The unit of a field, by its name and by what it takes."""
    if "seconds" in takes:
        return "seconds"
    if "whole number" in takes:
        return next((word for part, word in _UNITS.items() if part in name), "count")
    return "switch" if "true or false" in takes else "–"


_UNITS = {"bytes": "bytes", "chars": "characters"}


def groups() -> dict[str, list[attrs.Attribute[Any]]]:
    """The fields of `Settings` by the heading they stand under."""
    heading = {name: title for title, names in _GROUPS.items() for name in names}
    found: dict[str, list[attrs.Attribute[Any]]] = {title: [] for title in _GROUPS}
    for field in attrs.fields(Settings):
        found.setdefault(heading.get(field.name, field.name.split("_")[0].capitalize()), []).append(field)
    return found


def _rows(owner: type, fields: list[attrs.Attribute[Any]], meanings: dict[str, str]) -> str:
    rows = []
    for field in fields:
        takes = taken(owner, field)
        default = f"{field.default:_}" if type(field.default) is int else repr(field.default)
        rows.append((f"`{field.name}`", f"`{default}`", unit(field.name, takes), takes, meanings[field.name]))
    return table(("setting", "default", "unit", "takes", "meaning"), rows)


def _policy() -> str:
    meanings = dict(re.findall(r"`(\w+)`: (.*?\.)(?= `\w+`:|$)", _policy_text()))
    return _rows(ProviderPolicy, list(attrs.fields(ProviderPolicy)), meanings)


def _policy_text() -> str:
    return first_paragraph((ProviderPolicy.__doc__ or "").partition("\n\n")[2])


def page() -> str:
    """The whole page."""
    meanings = of_members(Settings)
    parts = [_HEAD]
    for title, fields in groups().items():
        parts += [f"## {title}\n", _rows(Settings, fields, meanings) + "\n"]
        governed = [f"`{field.name}`" for field in fields if field.name in GOVERNED]
        if governed:
            parts.append(
                f"Changed while the runtime lives, by proposals ([how](continuity.md)): {', '.join(governed)}.\n"
            )
    parts += [_POLICY_HEAD, _policy() + "\n"]
    return "\n".join(parts)
