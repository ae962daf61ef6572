"""What the model of content continuity keeps: plain records without any rule but what a value is as JSON."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Body", "Entry", "Held", "Proposal", "Record", "Request", "Session", "Turn", "body_of", "size_of"]

_KINDS = {dict: "object", list: "array", str: "string", int: "number", float: "number", bool: "boolean"}


@dataclass
class Body:
    """A value as its JSON. `opaque` if JSON could not express it, and it stands there as text."""

    text: str
    opaque: bool = False

    @property
    def size(self) -> int:
        return len(self.text.encode("utf-8"))

    @property
    def kind(self) -> str:
        return "fallback" if self.opaque else _KINDS.get(type(json.loads(self.text)), "null")

    @property
    def mode(self) -> str:
        return "fallback" if self.opaque else "json"


def body_of(value: Any, *, opaque: bool = False) -> Body:
    return Body(json.dumps(value, ensure_ascii=False, separators=(",", ":")), opaque)


@dataclass
class Entry:
    """`number` counts the writes: of two that were written at one instant, the first expires first."""

    number: int
    session: str
    name: str
    body: Body
    nested: bool
    written: int
    stamp: int = field(compare=False)
    ref: str | None = None
    gone: str | None = None


def size_of(entries: list[Entry]) -> int:
    return sum(entry.body.size for entry in entries)


@dataclass
class Record:
    id: str
    depth: int
    failed: bool
    reason: str | None = None
    entry: Entry | None = None

    def told(self) -> tuple[Any, ...]:
        status, entry = "error" if self.failed else "ok", self.entry
        if entry is None:
            return self.id, self.depth, status, None, None, None, self.reason
        return self.id, self.depth, status, entry.body.kind, entry.body.size, entry.ref, None


@dataclass
class Held:
    """A nested value that waits for a reference."""

    id: str
    body: Body
    depth: int


@dataclass
class Turn:
    name: str
    source: str
    text: str
    entry: Entry | None


@dataclass
class Session:
    id: str
    used: int
    stamp: int = field(compare=False)
    records: list[Record] = field(default_factory=list)
    waiting: list[Held] = field(default_factory=list)
    turns: list[Turn] = field(default_factory=list)
    tombstones: list[Entry] = field(default_factory=list)

    def record(self, call_id: str) -> Record | None:
        return next((record for record in self.records if record.id == call_id), None)

    def names(self) -> list[str]:
        return [record.id for record in self.records] + [turn.name for turn in self.turns]


@dataclass
class Request:
    """An open one; `committed` are the first of its parents."""

    id: str
    session: str
    parents: list[str]
    texts: dict[str, str] = field(default_factory=dict)
    committed: list[str] = field(default_factory=list)


@dataclass
class Proposal:
    id: str
    change: dict[str, Any]
    stage: str = "proposed"
    approver: str | None = None
