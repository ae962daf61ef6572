"""All planted faults by their names, part by part."""

from __future__ import annotations

from . import dispatchers, keeping, mailboxes, ordering
from .registry import AREAS, REGISTERED, Mutant

__all__ = ["MUTANTS", "Mutant"]

_FILES = ordering, keeping, dispatchers, mailboxes
"""Importing them registers what they plant."""

MUTANTS: dict[str, Mutant] = {
    name: REGISTERED[name] for name in sorted(REGISTERED, key=lambda name: (AREAS.index(REGISTERED[name].area), name))
}
