"""The check that most arguments of the face go through."""

from __future__ import annotations

from .protocol.errors import InvalidArgument
from .protocol.handoff import exact

__all__ = ["text_of"]


def text_of(field: str, value: object) -> str:
    """`value` as a plain `str`; raises `InvalidArgument` with the name of the argument if it is no text."""
    if not isinstance(value, str):
        raise InvalidArgument(field, f"must be text, not {type(value).__name__}")
    return exact(value)
