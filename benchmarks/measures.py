"""Every measure by its name, in the order of the report."""

from __future__ import annotations

from collections.abc import Callable

from .acceptance import acceptance, acceptance_of_many
from .figures import Figure
from .sizes import Size

__all__ = ["MEASURES"]

MEASURES: dict[str, Callable[[Size, int], list[Figure]]] = {
    "acceptance": acceptance,
    "acceptance-of-many": acceptance_of_many,
}
