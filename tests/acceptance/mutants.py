"""Planted faults of the coordinator, the handle, the sessions and the kernel, to check the checkers with."""

from __future__ import annotations

from typing import Any

import pytest

from dragoman.actors.actor import Actor
from dragoman.actors.coordinator import AcceptanceCoordinator
from dragoman.actors.handle import AcceptanceHandle
from dragoman.actors.lanes import Lane
from dragoman.actors.ledger import Ledger
from dragoman.actors.sessions import SessionManager
from dragoman.protocol import parents as parent_rules
from dragoman.protocol.handles import HANDLE_TABLE, HandleEvent, HandleState
from dragoman.protocol.messages import Activate, Close
from dragoman.protocol.parents import RequestParents
from dragoman.protocol.statuses import AckStatus, ParentState

from ..planting import Mutants

MUTANTS = Mutants()
mutant = MUTANTS.add


@mutant
def commits_in_arrival_order(patch: pytest.MonkeyPatch) -> None:
    accept = RequestParents.accept
    arrived: dict[int, tuple[RequestParents, list[int]]] = {}

    def noting(self: RequestParents, parent_id: str, result: object) -> AckStatus:
        status = accept(self, parent_id, result)
        if status is AckStatus.ACCEPTED:
            arrived.setdefault(id(self), (self, []))[1].append(self.place_of(parent_id))
        return status

    def due(self: RequestParents) -> tuple[int, ...]:
        return tuple(arrived.pop(id(self), (self, []))[1])

    patch.setattr(RequestParents, "accept", noting)
    patch.setattr(RequestParents, "due", due)


@mutant
def commits_again_on_a_duplicate(patch: pytest.MonkeyPatch) -> None:
    accept = RequestParents.accept

    def again(self: RequestParents, parent_id: str, result: object) -> AckStatus:
        place = self._index.get(parent_id)
        if place is not None and self._states[place] is ParentState.COMMITTED:
            self._states[place] = ParentState.PENDING
            self._cursor = min(self._cursor, place)
            self.unacknowledged += 1
        return accept(self, parent_id, result)

    patch.setattr(RequestParents, "accept", again)


@mutant
def ignores_the_generation_of_a_timer(patch: pytest.MonkeyPatch) -> None:
    def fired(self: Actor, fired: Any, _envelope: object) -> None:
        (self._timers or {}).pop(fired.key, None)
        self.on_timer(fired.key)

    for actor in (Actor, AcceptanceHandle, SessionManager):
        patch.setitem(actor.handlers, next(key for key in actor.handlers if key.__name__ == "TimerFired"), fired)


@mutant
def does_not_await_a_commit_in_flight(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(AcceptanceHandle, "receive", Actor.receive)


@mutant
def does_not_pin_sessions(patch: pytest.MonkeyPatch) -> None:
    open_session = SessionManager._open

    def unpinned(self: SessionManager, message: Any, envelope: Any) -> Any:
        reply = open_session(self, message, envelope)
        self._unpin(message.session_id)
        return reply

    patch.setitem(
        SessionManager.handlers, next(k for k in SessionManager.handlers if k.__name__ == "OpenSession"), unpinned
    )


@mutant
def restarts_the_window_on_a_second_activation(patch: pytest.MonkeyPatch) -> None:
    activate = AcceptanceHandle._activate

    def again(self: AcceptanceHandle, message: Any, envelope: Any) -> Any:
        if self._state is HandleState.ACTIVE:
            self.start_timer("window", self._window_us)
        return activate(self, message, envelope)

    patch.setitem(AcceptanceHandle.handlers, Activate, again)


@mutant
def does_not_wait_for_earlier_requests(patch: pytest.MonkeyPatch) -> None:
    init = AcceptanceHandle.__init__

    def eager(self: AcceptanceHandle, *values: Any, **named: Any) -> None:
        init(self, *values, **{**named, "may_commit": True})

    patch.setattr(AcceptanceHandle, "__init__", eager)


@mutant
def does_not_pass_the_turn_on(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(AcceptanceCoordinator, "_pass_turn", lambda _self, _lane: None)


@mutant
def passes_over_active_requests(patch: pytest.MonkeyPatch) -> None:
    row = {**HANDLE_TABLE[HandleState.ACTIVE], HandleEvent.PASS_OVER: HandleState.CLOSED}
    patch.setattr("dragoman.actors.handle.HANDLE_TABLE", {**HANDLE_TABLE, HandleState.ACTIVE: row})


@mutant
def expires_complete_requests(patch: pytest.MonkeyPatch) -> None:
    cancel = AcceptanceHandle.cancel_timer

    def keep(self: AcceptanceHandle, key: str) -> None:
        if key != "window" or self._cause is not None:
            cancel(self, key)

    row = {**HANDLE_TABLE[HandleState.COMPLETE_ACTIVE], HandleEvent.EXPIRE: HandleState.CLOSED}
    patch.setattr("dragoman.actors.handle.HANDLE_TABLE", {**HANDLE_TABLE, HandleState.COMPLETE_ACTIVE: row})
    patch.setattr(AcceptanceHandle, "cancel_timer", keep)


@mutant
def rewrites_accepted_parents_on_closing(patch: pytest.MonkeyPatch) -> None:
    patch.setitem(parent_rules._BY_CLOSE, ParentState.ACCEPTED, ParentState.DISCARDED)


@mutant
def does_not_step_over_rejected_parents(patch: pytest.MonkeyPatch) -> None:
    def due(self: RequestParents) -> tuple[int, ...]:
        run = []
        for place in range(self._cursor, len(self._states)):
            if self._states[place] in (ParentState.PENDING, ParentState.REJECTED):
                break
            if self._states[place] is ParentState.ACCEPTED:
                run.append(place)
        return tuple(run)

    patch.setattr(RequestParents, "due", due)


@mutant
def commits_only_on_an_accept(patch: pytest.MonkeyPatch) -> None:
    after_ack = AcceptanceHandle._after_acks

    def lazy(self: AcceptanceHandle, status: Any, envelope: Any) -> Any:
        may_commit = self._may_commit
        if status is AckStatus.REJECTED and self._parents.unacknowledged:
            self._may_commit = False
        try:
            return after_ack(self, status, envelope)
        finally:
            self._may_commit = may_commit

    patch.setattr(AcceptanceHandle, "_after_acks", lazy)


@mutant
def forgets_closed_requests(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Ledger, "enter", lambda _self, _closed: None)


@mutant
def remembers_closed_requests_for_ever(patch: pytest.MonkeyPatch) -> None:
    init = Ledger.__init__
    patch.setattr(Ledger, "__init__", lambda self, entries, _ttl_us, now_us: init(self, entries, 10**15, now_us))


@mutant
def evicts_the_most_recently_used_session(patch: pytest.MonkeyPatch) -> None:
    def use(self: SessionManager, session_id: str) -> Any:
        session = self._sessions.get(session_id)
        if session is not None:
            self._touch(session)
            self._sessions.move_to_end(session_id, last=False)
        return session

    patch.setattr(SessionManager, "_use", use)


@mutant
def a_failed_commit_is_a_use(patch: pytest.MonkeyPatch) -> None:
    note = SessionManager._note_failed_commit

    def noted(self: SessionManager, error: Exception) -> None:
        note(self, error)
        for session_id in tuple(self._sessions):
            self._use(session_id)
            break

    patch.setattr(SessionManager, "_note_failed_commit", noted)


@mutant
def a_failed_commit_ends_the_pass(patch: pytest.MonkeyPatch) -> None:
    settle = RequestParents.settle

    def stop(self: RequestParents, run: tuple[int, ...], failed: frozenset[int]) -> tuple[str, ...]:
        return settle(self, run, frozenset(range(min(failed), len(run))) if failed else failed)

    patch.setattr(RequestParents, "settle", stop)


@mutant
def a_session_outlives_its_ttl_by_a_tick(patch: pytest.MonkeyPatch) -> None:
    init = SessionManager.__init__

    def longer(self: SessionManager, *values: Any) -> None:
        init(self, *values)
        self._ttl_us += 1

    patch.setattr(SessionManager, "__init__", longer)


@mutant
def does_not_wait_for_answers_on_their_way(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Lane, "next_answer", None)


@mutant
def clears_the_session_before_its_handles(patch: pytest.MonkeyPatch) -> None:
    def first(self: AcceptanceCoordinator, lane: Lane, cause: Any, then: Any) -> None:
        self._sessions.put(then)
        for route in lane.routes.values():
            route.mailbox.tell(Close(route.request_id, cause))

    patch.setattr(AcceptanceCoordinator, "empty", first)


@mutant
def does_not_count_registrations_on_their_way(patch: pytest.MonkeyPatch) -> None:
    register = AcceptanceCoordinator._register

    def generous(self: AcceptanceCoordinator, message: Any, envelope: Any) -> Any:
        limit = self._max_open_handles
        if self._opening:
            self._max_open_handles = limit + 10
        try:
            return register(self, message, envelope)
        finally:
            self._max_open_handles = limit

    patch.setitem(
        AcceptanceCoordinator.handlers,
        next(key for key in AcceptanceCoordinator.handlers if key.__name__ == "Register"),
        generous,
    )
