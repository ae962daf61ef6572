"""Planted faults of the coordinator, its lanes, and the handle: most show only in an order of messages."""

from __future__ import annotations

from typing import Any

import pytest

from dragoman.actors.coordinator import AcceptanceCoordinator
from dragoman.actors.handle import AcceptanceHandle
from dragoman.actors.lanes import Lane
from dragoman.actors.mailbox import answer
from dragoman.actors.registrations import Registrations
from dragoman.protocol.messages import CommitTurns, DropIfIdle
from dragoman.protocol.parents import RequestParents
from dragoman.protocol.statuses import ParentState

from ..acceptance.mutants import MUTANTS as OF_ACCEPTANCE
from ..planting import replace_handler
from .registry import planted, reuse

_COORDINATOR = "actors/coordinator.py"
_LANES = "actors/lanes.py"
_REGISTRATIONS = "actors/registrations.py"
_HANDLE = "actors/handle.py"

for name, area, where, breaks in (
    (
        "does_not_wait_for_earlier_requests",
        "coordinator",
        _REGISTRATIONS,
        "A request commits though an earlier one of its session is open.",
    ),
    (
        "does_not_pass_the_turn_on",
        "coordinator",
        _COORDINATOR,
        "Nobody tells the next request of a session that its turn has come.",
    ),
    (
        "clears_the_session_before_its_handles",
        "coordinator",
        "actors/session_operations.py",
        "A session is dropped while its handles are still open.",
    ),
    (
        "forgets_closed_requests",
        "coordinator",
        "actors/ledger.py",
        "The ledger does not remember what became of a request.",
    ),
    (
        "commits_in_arrival_order",
        "handle",
        "protocol/parents.py",
        "Parents commit in the order of their ACKs, and not of their source.",
    ),
    (
        "commits_again_on_a_duplicate",
        "handle",
        "protocol/parents.py",
        "A second ACK of a committed parent commits it again.",
    ),
    (
        "does_not_await_a_commit_in_flight",
        "handle",
        _HANDLE,
        "ACKs are handled while a commit is in flight, instead of waiting for its answer.",
    ),
    (
        "restarts_the_window_on_a_second_activation",
        "handle",
        _HANDLE,
        "A second activation starts the ACK window anew.",
    ),
    (
        "expires_complete_requests",
        "handle",
        _HANDLE,
        "The window of a request whose parents all have their ACK goes on, and closes it while it waits for its turn.",
    ),
):
    reuse(OF_ACCEPTANCE, name, area, where, breaks)


@planted("coordinator", _LANES)
def forgets_what_is_on_its_way(patch: pytest.MonkeyPatch) -> None:
    """The lane forgets the operation that is on its way to a handle, and lets the next ones pass beside it."""

    def passes_on(self: Lane, route: Any, envelope: Any) -> bool:
        if self.holds or (self.waiting and not self.resuming):
            return False
        route.mailbox.put(envelope)
        return True

    patch.setattr(Lane, "passes_on", passes_on)
    patch.setattr(Lane, "enter", lambda _self, _route, _answer: None)


@planted("coordinator", _LANES)
def releases_the_holds_of_others(patch: pytest.MonkeyPatch) -> None:
    """The end of one hold of a lane ends all of them, whatever their names."""
    patch.setattr(Lane, "release", lambda self, _name: self.holds.clear())


@planted("coordinator", "actors/session_operations.py")
def an_expiry_does_not_pass_along_the_lane(patch: pytest.MonkeyPatch) -> None:
    """A session that has outlived its TTL is dropped at once, in the middle of whatever has its lane."""

    def at_once(_original: Any, self: AcceptanceCoordinator, message: Any, _envelope: Any) -> None:
        self._sessions.tell(DropIfIdle(message.session_id))

    replace_handler(patch, AcceptanceCoordinator, "SessionIdle", at_once)


@planted("coordinator", _REGISTRATIONS)
def an_ack_overtakes_its_registration(patch: pytest.MonkeyPatch) -> None:
    """What comes for a request while its registration is on its way finds no request."""

    patch.setattr(Registrations, "_registration_before", lambda _self, _request_id, _envelope=None: None)


@planted("handle", "protocol/parents.py")
def answers_at_once_though_something_commits(patch: pytest.MonkeyPatch) -> None:
    """An ACK is answered at once, without a message, though it completes the request or lets a parent commit."""

    def always(self: RequestParents, parent_id: str) -> bool:
        place = self._index.get(parent_id)
        return place is not None and self._states[place] is ParentState.PENDING

    patch.setattr(RequestParents, "moves_alone", always)


@planted("handle", _HANDLE)
def commits_twice_when_its_turn_comes(patch: pytest.MonkeyPatch) -> None:
    """The commit that the turn of a request releases is sent twice."""

    def twice(original: Any, self: AcceptanceHandle, message: Any, envelope: Any) -> Any:
        reply = original(self, message, envelope)
        if self._in_flight:
            turns = self._parents.turns(self._request_id, self._committing)
            self._sessions.tell(CommitTurns(self._session_id, turns, False))
        return reply

    replace_handler(patch, AcceptanceHandle, "MayCommit", twice)


@planted("handle", _HANDLE)
def answers_before_the_coordinator_knows(patch: pytest.MonkeyPatch) -> None:
    """The operation that closes a handle is answered before the coordinator knows: others come in between."""
    close = AcceptanceHandle._close

    def early(self: AcceptanceHandle, cause: Any, envelope: Any = None, reply: Any = None) -> Any:
        if envelope is not None:
            answer(envelope, reply)
        return close(self, cause)

    patch.setattr(AcceptanceHandle, "_close", early)


@planted("handle", _HANDLE)
def forgets_what_waited_behind_a_commit(patch: pytest.MonkeyPatch) -> None:
    """Of what came while a commit was in flight only the first is handled."""
    go_on = AcceptanceHandle._go_on

    def first_only(self: AcceptanceHandle) -> None:
        while self._waiting and len(self._waiting) > 1:
            self._waiting.pop()
        go_on(self)

    patch.setattr(AcceptanceHandle, "_go_on", first_only)
