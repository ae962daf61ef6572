"""A mapping that cannot be changed, and that can be copied and sent elsewhere like the values that hold it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeVar

__all__ = ["FrozenMapping", "WordMapping"]

V = TypeVar("V")


class FrozenMapping(Mapping[str, V]):
    """What a mapping holds at the moment, read-only. Its `repr` shows how many entries it has."""

    __slots__ = ("_entries",)

    def __init__(self, entries: Mapping[str, V] | None = None) -> None:
        self._entries: dict[str, V] = dict(entries or {})

    def __getitem__(self, name: str) -> V:
        return self._entries[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __hash__(self) -> int:
        return hash(frozenset(self._entries.items()))

    def __repr__(self) -> str:
        return f"<{len(self._entries)} entries>"


class WordMapping(FrozenMapping[V]):
    """One of names to numbers or words of the vocabulary, which its `repr` may show."""

    __slots__ = ()

    def __repr__(self) -> str:
        entries = ", ".join(f"{name}: {value}" for name, value in self.items())
        return f"<{entries or 'nothing'}>"
