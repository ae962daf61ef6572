"""What the model of execution keeps: providers, units, batches, and one execution."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ..acceptance.model import Request, Session

Text = str | tuple[str, ...]
Pieces = tuple[str, ...]


@dataclass
class Provider:
    kind: str = "ai"
    recovery: str = "selective"
    keys: int = 1
    max_chars: int | None = None
    key: int = 1
    circuit: str = "closed"
    row: int = 0
    opened: int = 0


@dataclass
class Unit:
    id: str
    parent: str
    pieces: Pieces

    @property
    def chars(self) -> int:
        return sum(map(len, self.pieces))


@dataclass
class Batch:
    number: int
    units: list[Unit]
    stage: str = "queued"
    attempt: int = 0
    moved: bool = False
    asked: list[Unit] = field(default_factory=list)
    form: str = ""
    recovers: bool = False
    kept: dict[str, Pieces] = field(default_factory=dict)
    queue: list[Unit] = field(default_factory=list)
    tried: list[int] = field(default_factory=list)
    passage: str = ""


@dataclass
class Execution:
    id: str
    session: Session | None
    session_id: str
    provider: str
    direct: bool
    parents: dict[str, Pieces]
    batches: list[Batch]
    history: list[tuple[str, str]]
    handle: Request | None = None
    by_hand: bool = False
    refused: tuple[str, ...] = ()
    document: dict[str, Any] = field(default_factory=dict)
    edited: set[str] = field(default_factory=set)
    closed_document: bool = False
    undeliverable: bool = False
    activated: bool = False
    made: int = 0
    open: dict[int, Batch] = field(default_factory=dict)
    done: dict[str, Pieces] = field(default_factory=dict)
    translated: dict[str, Pieces] = field(default_factory=dict)
    unresolved: list[str] = field(default_factory=list)
    candidate: str = "empty"
    first_error: str | None = None
    state: str = "RUNNING"
    error: str | None = None
    calls: list[tuple[Any, ...]] = field(default_factory=list)

    @property
    def over(self) -> bool:
        return all(batch.stage in ("resolved", "failed") for batch in self.batches)

    def outcome(self) -> tuple[Any, ...] | None:
        if self.state == "RUNNING":
            return None
        count = len(self.translated)
        quality = "NONE" if not count else "COMPLETE" if count == len(self.parents) else "PARTIAL"
        open_ = [name for name in self.parents if name not in self.translated and name not in self.unresolved]
        lost = [name for name in self.parents if name in self.unresolved or (name in open_ and self.state == "FAILED")]
        return (
            self.state,
            quality,
            self.error,
            sum(max(0, batch.attempt - 1) for batch in self.batches),
            any(batch.moved for batch in self.batches),
            [name for name in self.parents if name in self.translated],
            lost,
            open_ if self.state == "CANCELLED" else [],
            self.made,
        )


def blank(pieces: Pieces) -> bool:
    return not "".join(pieces).strip()


def units_of(parent: str, pieces: Pieces, batch_chars: int) -> list[Unit]:
    """A longer text is of one piece, its words are short, and one space stands between each two."""
    if sum(map(len, pieces)) <= batch_chars:
        return [Unit(parent, parent, pieces)]
    lines: list[str] = []
    for word in pieces[0].split(" "):
        if lines and len(lines[-1]) + 1 + len(word) <= batch_chars:
            lines[-1] += " " + word
        else:
            lines.append(word)
    return [Unit(f"{parent}.{number}", parent, (line,)) for number, line in enumerate(lines, 1)]


def batches_of(units: list[Unit], batch_chars: int, batch_units: int) -> list[Batch]:
    batches: list[Batch] = []
    for unit in units:
        last = batches[-1].units if batches else []
        if not last or len(last) == batch_units or sum(one.chars for one in last) + unit.chars > batch_chars:
            batches.append(Batch(len(batches), []))
        batches[-1].units.append(unit)
    return batches


def judge(batch: Batch, kind: str, texts: Any, *, machine: bool) -> tuple[dict[str, Pieces], bool]:
    """The valid units, and whether the mapping is unsafe."""
    count = sum(len(unit.pieces) for unit in batch.asked)
    if kind == "garbage":
        # Where one plain text is asked for, any text is a translation.
        plain = count == 1 and batch.form != "structured"
        return ({batch.asked[0].id: (texts,)}, False) if plain else ({}, True)
    if kind == "no ids" and not machine:
        alone = len(batch.asked) == len(texts) == 1 and len(batch.asked[0].pieces) == 1
        return ({batch.asked[0].id: (texts[0],)}, False) if alone else ({}, False)
    if kind in ("doubled", "no ids"):
        return {}, True
    given = {name: (text,) if isinstance(text, str) else text for name, text in texts.items()}
    ids = [unit.id for unit in batch.asked]
    if machine:
        # Plain texts have no ids: they map by position, if there are as many as asked for.
        plain_texts = iter([*(given.pop(name, ()) for name in ids), *given.values()])
        flat = [text for pieces in plain_texts for text in pieces]
        if len(flat) != count:
            return {}, True
        rest = iter(flat)
        given = {unit.id: tuple(next(rest) for _ in unit.pieces) for unit in batch.asked}
    if any(name not in given for name in ids) and any(name not in ids for name in given):
        return {}, True
    valid = {}
    for unit in batch.asked:
        pieces = given.get(unit.id)
        if pieces is None or len(pieces) != len(unit.pieces):
            continue
        if not any(blank((got,)) and not blank((had,)) for got, had in zip(pieces, unit.pieces, strict=True)):
            valid[unit.id] = pieces
    return valid, False
