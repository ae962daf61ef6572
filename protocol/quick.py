"""Frozen values made at the cost of ordinary ones: what is frozen pays for each field as it is made.

A draft is an ordinary object of the same layout; once it has its fields, its class becomes the frozen one:

    turn = draft(request_id, parent_id, user, assistant)
    turn.__class__ = Turn

From then on it is such a value like any other. Only for classes without converters, validators and a weakref slot, and
only where they are made by the thousand.
"""

from __future__ import annotations

from typing import Any, TypeVar

import attrs

__all__ = ["draft_of"]

T = TypeVar("T")


def draft_of(cls: type[T]) -> type[T]:
    """The class of drafts of `cls`: the same fields, positions and defaults, and not frozen."""
    fields: dict[str, Any] = {field.name: attrs.field(default=field.default) for field in attrs.fields(cls)}  # type: ignore[arg-type]
    return attrs.make_class(f"{cls.__name__}Draft", fields, slots=True, weakref_slot=False, eq=False, repr=False)
