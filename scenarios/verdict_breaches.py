"""Breaches: which promise a reply breaks, and the shortest list of operations that shows it.

A reply that no order explains is put under the promise that it breaks most plainly; only the name depends on that. What
is shown are ids, moments and statuses, never a text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import attrs

from .verdict_facts import Operation, TurnFact, shown, shown_reply
from .verdict_search import Possibility, Search, TooAmbiguous
from .verdict_spec import Specification
from .verdict_states import COMMITTED, Session

__all__ = ["ACCOUNTED", "ANSWERED", "BOUNDS", "CONSERVATION", "NO_FAULT", "Breach", "Event", "breach_of", "second_look"]

ONE_ORDER = "the replies of a session fit one sequential order"
CANONICAL = "turns stand in canonical order"
ONCE = "every parent commits exactly once"
ACCOUNTED = "every accepted parent is in the history or accounted for"
NO_PHANTOM = "every turn has an ACK that was answered ACCEPTED, with its texts"
NOT_AFTER_CLOSE = "nothing commits after its handle has closed"
LATE = "late ACKs are stale"
CONSERVATION = "sent = handled + dead + queued"
BOUNDS = "bounds hold"
ANSWERED = "every call is answered"
NO_FAULT = "no actor fails"

_MAX_TRIALS = 300

Event = tuple[Operation, bool]
"""An operation that was called, or (true) answered."""
Stretch = Sequence["Event | str"]
"""A part of the log of one session: what was called and answered, and the requests that were forgotten."""


@attrs.frozen
class Breach:
    """A promise that was broken: by what, and the operations that show it, in the order in which they were called."""

    promise: str
    what: str
    evidence: tuple[str, ...] = ()

    def lines(self) -> tuple[str, ...]:
        return f"broken: {self.promise}", self.what, *(f"  {line}" for line in self.evidence)


def second_look(
    specification: Specification, start: frozenset[Possibility], stretch: Stretch
) -> tuple[Search, Operation | None]:
    """Follow a stretch again, trying every order: the search then, and the first answer that no order explains."""
    search = Search(specification, start, exhaustive=True)
    return search, _replay(search, stretch)


def breach_of(
    specification: Specification, start: frozenset[Possibility], stretch: Stretch, operation: Operation
) -> Breach:
    """The breach that the answer of `operation` is, after a stretch from `start`, which ends with that answer."""
    events: Sequence[Event] = [event for event in stretch if not isinstance(event, str)]
    promise, expected = _looked_at(specification, start, events, operation) or (ONE_ORDER, ())
    events = _shrunk(specification, start, events, operation, promise)
    had = shown_reply(operation.kind, operation.reply)
    due = " or ".join(dict.fromkeys(shown_reply(operation.kind, reply) for reply in expected[:4]))
    name = operation.request or operation.session
    what = f"{operation.kind} {name}{f'/{operation.parent}' if operation.parent else ''}: {had}; in order: {due}"
    ordered = sorted({event: None for event, _answered in events}, key=lambda one: one.called)
    return Breach(promise, what, tuple(map(shown, ordered)))


def _looked_at(
    specification: Specification, start: frozenset[Possibility], events: Sequence[Event], operation: Operation
) -> tuple[str, tuple[Any, ...]] | None:
    """Which promise the answer of `operation` breaks, and the replies that were due; None if it is not what breaks."""
    search = Search(specification, start, exhaustive=True)
    if _replay(search, events) is not operation:
        return None
    states = tuple(search.states)
    expected = tuple(dict.fromkeys(specification.reply_to(state, operation) for state in states))
    return _promise(operation, states, expected), expected


def _replay(search: Search, stretch: Iterable[Event | str]) -> Operation | None:
    """The first operation whose answer no order explains."""
    for event in stretch:
        if isinstance(event, str):
            search.forget(event)
            continue
        operation, answered = event
        if not answered:
            search.call(operation)
        elif not search.answer(operation):
            return operation
    return None


def _shrunk(
    specification: Specification,
    start: frozenset[Possibility],
    events: Sequence[Event],
    operation: Operation,
    promise: str,
) -> Sequence[Event]:
    """As few operations as still break that promise by the same answer: what did nothing goes first, then requests.

    An operation that had an effect is never taken out of a request that stays: that would be another history.
    """
    trials = 0

    def shows(kept: Sequence[Event]) -> bool:
        nonlocal trials
        trials += 1
        try:
            broken = _looked_at(specification, start, kept, operation)
        except TooAmbiguous:
            return False
        return broken is not None and broken[0] == promise

    idle = [
        event
        for event, answered in events
        if answered and event is not operation and (specification.has_no_effect(event) or event.kind == "read")
    ]
    for some in (idle, *([one] for one in idle)):
        gone = set(some)
        kept = [event for event in events if event[0] not in gone]
        if trials < _MAX_TRIALS and len(kept) < len(events) and shows(kept):
            events = kept
    named = {"", operation.request, *(turn[0] for turn in _turns_of(operation))}
    for request in dict.fromkeys(event.request for event, _answered in events):
        kept = [event for event in events if event[0].request != request]
        if request not in named and trials < 2 * _MAX_TRIALS and shows(kept):
            events = kept
    return events


def _turns_of(operation: Operation) -> tuple[TurnFact, ...]:
    """The turns that a reply shows."""
    if operation.kind == "read":
        turns: tuple[TurnFact, ...] = operation.reply
        return turns if all(isinstance(turn, tuple) for turn in turns) else ()
    return operation.reply[0][0] if operation.kind == "look" and operation.reply[0] is not None else ()


def _promise(operation: Operation, states: tuple[Session, ...], expected: tuple[Any, ...]) -> str:
    """Which promise the reply breaks."""
    reply = operation.reply
    if isinstance(reply, tuple) and reply and reply[0] == "error":
        return ANSWERED
    if operation.kind in ("ack", "reject"):
        if all(due[0] == "STALE" for due in expected):
            return LATE
        return _promise_of_run(reply[1], tuple(due[1] for due in expected if due[0] == reply[0]))
    if operation.kind == "read" or (operation.kind == "look" and reply[0] is not None):
        turns = _turns_of(operation)
        due_turns = [state.turns if state.live else () for state in states]
        if operation.kind == "look" and turns in due_turns:
            return ONE_ORDER
        return _promise_of_turns(turns, states)
    return ONE_ORDER


def _promise_of_run(committed: tuple[str, ...], expected: tuple[tuple[str, ...], ...]) -> str:
    if len(set(committed)) < len(committed):
        return ONCE
    if any(set(committed) == set(due) and committed != due for due in expected):
        return CANONICAL
    if expected and all(not set(committed) <= set(due) for due in expected):
        return CANONICAL
    return ONE_ORDER


def _promise_of_turns(turns: tuple[TurnFact, ...], states: tuple[Session, ...]) -> str:
    counted = Counter((turn[0], turn[1]) for turn in turns)
    if any(count > 1 for count in counted.values()):
        return ONCE
    for turn in turns:
        if not any(turn in state.turns for state in states):
            return NOT_AFTER_CLOSE if any(_has_closed(state, turn) for state in states) else NO_PHANTOM
    for state in states:
        there = [turn for turn in state.turns if turn in turns]
        if tuple(there) == turns:
            return ACCOUNTED
    return CANONICAL


def _has_closed(state: Session, turn: TurnFact) -> bool:
    """Whether the request of a turn has closed without committing that parent."""
    return any(
        closed.registration.request == turn[0]
        and turn[1] in closed.registration.places
        and closed.marks[closed.registration.places[turn[1]]] != COMMITTED
        for closed in state.closed
    )
