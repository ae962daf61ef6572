"""The life of a logical parent as a table, and the parents of one request (C11, C15, C18).

`PARENT_TABLE` is the whole of it: an event that is not in the row of a state leaves the state as it is and is
answered with the status in `REFUSALS`, or is an error of the program.
"""

from __future__ import annotations

from collections.abc import Hashable, MutableMapping, Sequence
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from .content import is_clean_anyhow, is_clean_result
from .errors import IllegalTransition
from .handoff import Parent
from .history import TurnRun
from .statuses import AckStatus, ParentState

__all__ = ["PARENT_TABLE", "REFUSALS", "ParentEvent", "RequestParents", "next_state"]


class ParentEvent(StrEnum):
    """What can happen to a logical parent."""

    ACCEPT = "ACCEPT"
    """An accepting ACK with a clean result."""
    REJECT = "REJECT"
    """A rejection."""
    COMMIT = "COMMIT"
    """It was written into the history."""
    FAIL_COMMIT = "FAIL_COMMIT"
    """It could not be written."""
    CLOSE = "CLOSE"
    """Its handle closes, whatever the cause."""


_S, _E = ParentState, ParentEvent

PARENT_TABLE = MappingProxyType(
    {
        _S.PENDING: MappingProxyType({_E.ACCEPT: _S.ACCEPTED, _E.REJECT: _S.REJECTED, _E.CLOSE: _S.DISCARDED}),
        _S.ACCEPTED: MappingProxyType(
            {_E.COMMIT: _S.COMMITTED, _E.FAIL_COMMIT: _S.COMMIT_FAILED, _E.CLOSE: _S.ACCEPTED}
        ),
        _S.REJECTED: MappingProxyType({_E.CLOSE: _S.REJECTED}),
        _S.DISCARDED: MappingProxyType({_E.CLOSE: _S.DISCARDED}),
        _S.COMMITTED: MappingProxyType({_E.CLOSE: _S.COMMITTED}),
        _S.COMMIT_FAILED: MappingProxyType({_E.CLOSE: _S.COMMIT_FAILED}),
    }
)

REFUSALS = MappingProxyType(
    {
        (_S.ACCEPTED, _E.ACCEPT): AckStatus.DUPLICATE,
        (_S.COMMITTED, _E.ACCEPT): AckStatus.DUPLICATE,
        (_S.REJECTED, _E.REJECT): AckStatus.DUPLICATE,
    }
)
"""ACKs that repeat what is known; every other ACK that is not in the table is a `CONFLICT`."""


class _Column(dict[ParentState, ParentState]):
    """The table read the other way: what each state becomes by one event."""

    def __init__(self, event: ParentEvent) -> None:
        super().__init__((state, row[event]) for state, row in PARENT_TABLE.items() if event in row)
        self._event = event

    def __missing__(self, state: ParentState) -> ParentState:
        raise IllegalTransition(state, self._event)


_COLUMNS = {event: _Column(event) for event in ParentEvent}
_BY_ACCEPT, _BY_REJECT, _BY_COMMIT, _BY_FAIL_COMMIT, _BY_CLOSE = _COLUMNS.values()
# Python 3.11 looks a member of an enumeration up by a call.
_PENDING, _ACCEPTED_STATE, _COMMITTED = ParentState.PENDING, ParentState.ACCEPTED, ParentState.COMMITTED
_UNKNOWN_PARENT, _INVALID_RESULT = AckStatus.UNKNOWN_PARENT, AckStatus.INVALID_RESULT
_ACCEPTED, _REJECTED = AckStatus.ACCEPTED, AckStatus.REJECTED


def next_state(state: ParentState, event: ParentEvent) -> ParentState:
    """The state after `event`; raises `IllegalTransition` where the table has none."""
    return _COLUMNS[event][state]


class RequestParents:
    """The parents of one request, in source order: what an ACK does to each, and which may commit now.

    Nothing here knows of time, threads or sessions. Over the life of a request the work is linear in the number of
    parents, whatever the order of the ACKs: `due` looks at each parent once from a cursor that only moves forward.
    """

    __slots__ = (
        "_cursor",
        "_discarded",
        "_held",
        "_index",
        "_parents",
        "_refusals",
        "_rejected",
        "_results",
        "_states",
        "unacknowledged",
    )

    def __init__(self, parents: Sequence[Parent]) -> None:
        self._parents: Sequence[Parent] = parents
        self._index = {parent.id: place for place, parent in enumerate(parents)}
        self._states = [ParentState.PENDING] * len(parents)
        self._results: list[Any] = [None] * len(parents)
        self._held = 0
        self._cursor = 0
        self._discarded = 0
        self.unacknowledged = len(parents)
        self._rejected = 0
        self._refusals: dict[AckStatus, int] | None = None  # most requests never have one

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(self._index)

    @property
    def states(self) -> tuple[ParentState, ...]:
        return tuple(self._states)

    @property
    def settled(self) -> bool:
        """Whether nothing of this request can change any more."""
        return not self.unacknowledged and not self._held

    def add_counts(self, counts: MutableMapping[Hashable, int]) -> None:
        """Add how many ACKs came to which status; what was accepted is known from what was not."""
        acknowledged = len(self._states) - self.unacknowledged - self._discarded
        counts[_ACCEPTED] += acknowledged - self._rejected
        counts[_REJECTED] += self._rejected
        if self._refusals is not None:
            for status, count in self._refusals.copy().items():
                counts[status] += count

    def accept(self, parent_id: str, result: object) -> AckStatus:
        """Apply an accepting ACK, checked in the order of the ruling: identity, text, state (C3.2, C11)."""
        place = self._index.get(parent_id)
        if place is None:
            return self._refuse(_UNKNOWN_PARENT)
        if not is_clean_anyhow(result) and not is_clean_result(result, self._parents[place].source):
            return self._refuse(_INVALID_RESULT)
        following = _BY_ACCEPT.get(self._states[place])
        if following is None:
            return self._refuse(self._refusal(place, ParentEvent.ACCEPT))
        self._states[place] = following
        self._results[place] = result
        self._held += 1
        self.unacknowledged -= 1
        return _ACCEPTED

    def reject(self, parent_id: str) -> AckStatus:
        """Apply a rejecting ACK: identity first, then the state."""
        place = self._index.get(parent_id)
        if place is None:
            return self._refuse(_UNKNOWN_PARENT)
        following = _BY_REJECT.get(self._states[place])
        if following is None:
            return self._refuse(self._refusal(place, ParentEvent.REJECT))
        self._states[place] = following
        self.unacknowledged -= 1
        self._rejected += 1
        return _REJECTED

    def moves_alone(self, parent_id: str) -> bool:
        """Whether an ACK of this parent can neither let anything commit nor complete the request."""
        return self.unacknowledged > 1 and self._index.get(parent_id) != self._cursor

    def due(self) -> tuple[int, ...]:
        """The places of the accepted parents that may commit now: those with only settled or due ones before them."""
        states, place, count = self._states, self._cursor, len(self._states)
        run: list[int] = []
        while place < count:
            state = states[place]
            if state is _PENDING:
                break
            if state is _ACCEPTED_STATE:
                run.append(place)
            place += 1
        self._cursor = place
        return tuple(run)

    def place_of(self, parent_id: str) -> int:
        """The place of a parent in source order; `KeyError` if there is none of that id."""
        return self._index[parent_id]

    def turns(self, request_id: str, run: Sequence[int]) -> TurnRun:
        """The turns that the accepted parents at `run` become."""
        parents, results = self._parents, self._results
        committed = [parents[place] for place in run]
        return TurnRun(
            request_id,
            tuple([parent.id for parent in committed]),
            tuple([parent.source for parent in committed]),
            tuple([results[place] for place in run]),
        )

    def texts(self, place: int) -> tuple[str, str, str]:
        """Id, source and accepted result of the parent at `place`."""
        parent = self._parents[place]
        return parent.id, parent.source, self._results[place]

    def settle(self, run: Sequence[int], failed: frozenset[int]) -> tuple[str, ...]:
        """Mark `run` as committed, except those of its positions in `failed`; returns the committed ids, in order."""
        states, results, parents = self._states, self._results, self._parents
        for position, place in enumerate(run):
            column = _BY_FAIL_COMMIT if position in failed else _BY_COMMIT
            states[place] = column[states[place]]
            results[place] = None
        self._held -= len(run)
        return tuple([parents[place].id for place in run if states[place] is _COMMITTED])

    def close(self) -> None:
        """What was pending is discarded, what was accepted stays so and can no longer commit; texts are released."""
        if self.unacknowledged:
            self._states = [_BY_CLOSE[state] for state in self._states]
        self._results = []
        self._held = 0
        self._parents = ()
        self._discarded += self.unacknowledged
        self.unacknowledged = 0

    def _refusal(self, place: int, event: ParentEvent) -> AckStatus:
        return REFUSALS.get((self._states[place], event), AckStatus.CONFLICT)

    def _refuse(self, status: AckStatus) -> AckStatus:
        """Count an ACK that changes nothing: last of all, and without a call that could run out of stack in between."""
        if self._refusals is None:
            self._refusals = {}
        self._refusals[status] = self._refusals.get(status, 0) + 1
        return status
