"""The checks that most arguments of the face go through."""

from __future__ import annotations

from .protocol.errors import InvalidArgument
from .protocol.handoff import exact

__all__ = ["count_of", "count_or_none", "switch_of", "text_of"]


def text_of(field: str, value: object) -> str:
    """`value` as a plain `str`; raises `InvalidArgument` with the name of the argument if it is no text."""
    if type(value) is str:
        return value
    if not isinstance(value, str):
        raise InvalidArgument(field, f"must be text, not {type(value).__name__}")
    return exact(value)


def count_of(field: str, value: object) -> int:
    """`value` as a plain `int`; raises `InvalidArgument` with the name of the argument if it is no whole number ≥ 0."""
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise InvalidArgument(field, "must be an integer of at least 0")
    return int(value)


def count_or_none(field: str, value: object) -> int | None:
    """`count_of` for an argument that may be left out as None."""
    return None if value is None else count_of(field, value)


def switch_of(field: str, value: object) -> bool:
    """`value` if it is a `bool`; raises `InvalidArgument` with the name of the argument if it is not."""
    if not isinstance(value, bool):
        raise InvalidArgument(field, "must be true or false")
    return value
