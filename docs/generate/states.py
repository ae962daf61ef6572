"""The page of the states: every table of the protocol as a diagram and as a table."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any, TypeAlias

from dragoman import AckStatus, ParentState
from dragoman import protocol as _protocol
from dragoman.protocol.executions import ENDS_FROM_OUTSIDE
from dragoman.protocol.parents import PARENT_TABLE, REFUSALS, ParentEvent
from dragoman.protocol.proposals import PROPOSAL_TABLE, Act, Proposal, judge

from .circuit import CIRCUIT
from .docstrings import first_paragraph, of_members, table

__all__ = ["Lives", "diagram", "page", "tables"]

Lives: TypeAlias = Mapping[Any, Mapping[Any, StrEnum]]
"""A table: what each state becomes by each event."""

_TITLES = {
    "PARENT_TABLE": "A logical parent",
    "HANDLE_TABLE": "An acceptance handle",
    "EXECUTION_TABLE": "An execution",
    "BATCH_TABLE": "A batch",
    "CANDIDATE_TABLE": "The candidate of a direct call",
    "PROPOSAL_TABLE": "A proposal",
}
"""In the order of the page; a table that is not here follows under its own name."""

_HEAD = """\
# States

Made by `python -m docs.generate` from the tables in `protocol/`, which the runtime itself goes by.

An event that has no entry in the row of a state leaves that state as it is. A state without a way out is the end.
"""


def tables() -> dict[str, tuple[str, Lives]]:
    """Every literal table of the protocol by its name, with the docstring of its module."""
    found: dict[str, tuple[str, Lives]] = {}
    for module_info in pkgutil.iter_modules(_protocol.__path__, f"{_protocol.__name__}."):
        module = importlib.import_module(module_info.name)
        for name, value in vars(module).items():
            if name.endswith("_TABLE") and isinstance(value, Mapping):
                found[name] = inspect.cleandoc(module.__doc__ or ""), value
    order = [*_TITLES, *sorted(found.keys() - _TITLES.keys())]
    return {name: found[name] for name in order}


def _moves(lives: Lives) -> dict[tuple[StrEnum, StrEnum], list[str]]:
    """The events that lead from one state to another, in the order of the table; what stays is not in it."""
    moves: dict[tuple[StrEnum, StrEnum], list[str]] = {}
    for state, row in lives.items():
        for event, following in row.items():
            if following is not state:
                moves.setdefault((state, following), []).append(str(event))
    return moves


def diagram(lives: Lives) -> str:
    """A table as a Mermaid state diagram; the first state is where it begins."""
    first = next(iter(lives))
    lines = [f"[*] --> {first}"]
    lines += [f"{state} --> {following}: {', '.join(events)}" for (state, following), events in _moves(lives).items()]
    inside = "\n".join(f"    {line}" for line in lines)
    return f"```mermaid\nstateDiagram-v2\n    direction LR\n{inside}\n```\n"


def _not_drawn(lives: Lives) -> str:
    stays: dict[str, list[str]] = {}
    for state, row in lives.items():
        for event, following in row.items():
            if following is state:
                stays.setdefault(str(event), []).append(f"`{state}`")
    return "".join(f"Not drawn: `{event}` leaves {', '.join(states)} as they are.\n" for event, states in stays.items())


def _grid(lives: Lives, corner: str = "state") -> str:
    events = list(dict.fromkeys(event for row in lives.values() for event in row))
    rows = [
        (f"`{state}`", *(f"`{row[event]}`" if event in row else "–" for event in events))
        for state, row in lives.items()
    ]
    return table((corner, *(f"`{event}`" for event in events)), rows) + "\n"


def _words(kinds: Iterable[type]) -> str:
    """What the enumerations say of themselves and of their members."""
    lines: list[str] = []
    for kind in kinds:
        if (kind.__doc__ or "").strip() and "Enum" not in (kind.__doc__ or ""):
            lines.append(f"{first_paragraph(kind.__doc__)}\n")
        meanings = of_members(kind)
        if meanings:
            lines.append("\n".join(f"- `{name}`: {' '.join(text.split())}" for name, text in meanings.items()) + "\n")
    return "\n".join(lines)


def _kinds(lives: Lives) -> list[type]:
    events = [type(event) for row in lives.values() for event in row]
    return list(dict.fromkeys([type(state) for state in lives] + events))


def _acks() -> str:
    """What an ACK is answered in each state."""
    done = {ParentEvent.ACCEPT: AckStatus.ACCEPTED, ParentEvent.REJECT: AckStatus.REJECTED}

    def answer(state: ParentState, event: ParentEvent) -> str:
        if event in PARENT_TABLE[state]:
            return done[event]
        return REFUSALS.get((state, event), AckStatus.CONFLICT)

    rows = [(f"`{state}`", *(f"`{answer(state, event)}`" for event in done)) for state in PARENT_TABLE]
    said = "What an ACK is answered while the handle is open; without an open handle every ACK is `STALE`:\n\n"
    return said + table(("state", "`acknowledge`", "`reject`"), rows) + "\n"


def _ends() -> str:
    rows = [(f"`{cause}`", f"`{event}`", f"`{error}`") for cause, (event, error) in ENDS_FROM_OUTSIDE.items()]
    return "What ends an execution from outside:\n\n" + table(("cause", "event", "error of the outcome"), rows) + "\n"


def _acts() -> str:
    """What an act of a maintainer, who is not the approver, is answered in each stage."""

    def answer(stage: Any, act: Act) -> str:
        proposal = Proposal("q", "scout", (), "", "", stage=stage, approver="a")
        return judge(proposal, act, "b", ("a", "b"))

    rows = [(f"`{stage}`", *(f"`{answer(stage, act)}`" for act in Act)) for stage in PROPOSAL_TABLE]
    said = "What an act of a maintainer other than the approver is answered:\n\n"
    return said + table(("stage", *(f"`{act}`" for act in Act)), rows) + "\n"


_BESIDE = {"PARENT_TABLE": _acks, "EXECUTION_TABLE": _ends, "PROPOSAL_TABLE": _acts}


def page() -> str:
    """The whole page."""
    parts = [_HEAD]
    for name, (text, lives) in tables().items():
        parts += [f"## {_TITLES.get(name, name)}\n", f"{text}\n", diagram(lives), _not_drawn(lives), _grid(lives)]
        parts += [_words(_kinds(lives))]
        parts += [_BESIDE[name]()] if name in _BESIDE else []
    parts += ["## A provider's circuit\n", f"{CIRCUIT.text}\n", diagram(CIRCUIT.lives), _grid(CIRCUIT.lives)]
    return "\n".join(part for part in parts if part)
