"""The state of a session as the guarantee sees it: immutable, compared by value, cheap to compare.

The parents of a handle are one byte each, so that a step costs little however many there are: `PENDING`, `REJECTED`,
`DISCARDED`, `COMMITTED`, `COMMIT_FAILED`, or, from `ACCEPTED` on, accepted with the text of that number.
"""

from __future__ import annotations

from typing import NamedTuple

from .verdict_facts import Registration, TurnFact

__all__ = [
    "ACCEPTED",
    "COMMITTED",
    "COMMIT_FAILED",
    "DISCARDED",
    "EMPTY",
    "PENDING",
    "REJECTED",
    "Closed",
    "Handle",
    "Session",
    "state_name",
]

PENDING, REJECTED, DISCARDED, COMMITTED, COMMIT_FAILED = b"PRDCF"
ACCEPTED = 128

_NAMES = {
    PENDING: "PENDING",
    REJECTED: "REJECTED",
    DISCARDED: "DISCARDED",
    COMMITTED: "COMMITTED",
    COMMIT_FAILED: "COMMIT_FAILED",
}


def state_name(mark: int) -> str:
    """The word for the state of a parent."""
    return _NAMES.get(mark, "ACCEPTED")


class Handle(NamedTuple):
    """An open handle. `window_us` and `wait_us` are the instants from which its window, its wait may end."""

    registration: Registration
    marks: bytes
    cursor: int
    """The first parent that has not been looked at for a commit: all before it are settled."""
    pending: int
    held: int
    """Accepted, and not yet committed."""
    active: bool
    window_us: int | None
    wait_us: int | None
    waited: bool


class Closed(NamedTuple):
    """A closed request, as long as somebody may ask what became of it."""

    registration: Registration
    cause: str
    marks: bytes
    closed_us: int


class Session(NamedTuple):
    """A session with its handles in the order of registration. `faults` are commits that will fail; they outlive it."""

    live: bool
    used_us: int
    """An instant that is not later than its last use."""
    handles: tuple[Handle, ...]
    turns: tuple[TurnFact, ...]
    counter: int
    faults: int
    closed: tuple[Closed, ...]

    def __hash__(self) -> int:
        # Coarse, since the turns are many: equality is exact.
        return hash((self.live, len(self.handles), len(self.turns), self.counter, self.faults, len(self.closed)))


EMPTY = Session(False, 0, (), (), 0, 0, ())
