"""Acceptance on stock `pykka.ThreadingActor`, as one would write it: a thread an actor, and one a window.

A coordinator, an actor a handle, one for the sessions, and `threading.Timer` for the windows. Each asks the next one
and waits for its answer.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import attrs
import pykka

from dragoman import AckReply, AckStatus, ActivateReply, ActivateStatus, RegisterReply, RegisterStatus, Settings, Turn
from dragoman.protocol.messages import Acknowledge, Activate, Register, Reject, WindowEnded

from .acceptance_rules import RequestRules, SessionTurns, refusal
from .clock import clock
from .committed import Answers
from .contestants import check_opened, in_flight
from .workload import Workload

__all__ = ["stock_blocking", "stock_pipelined"]

_STALE = AckReply(AckStatus.STALE)


@attrs.frozen
class _OpenSession:
    session_id: str


@attrs.frozen
class _CloseSession:
    session_id: str


@attrs.frozen
class _Write:
    session_id: str
    turns: tuple[Turn, ...]


@attrs.frozen
class _Read:
    session_id: str


@attrs.frozen
class _Closed:
    request_id: str


class _Sessions(pykka.ThreadingActor):
    def __init__(self, settings: Settings) -> None:
        super().__init__()
        self._turns = SessionTurns(settings)

    def on_receive(self, message: Any) -> Any:
        match message:
            case _OpenSession():
                return self._turns.open(message.session_id)
            case _CloseSession():
                return self._turns.close(message.session_id)
            case _Write():
                return self._turns.write(message.session_id, message.turns)
            case _Read():
                return self._turns.read(message.session_id)
            case _:
                raise TypeError(type(message).__name__)


class _Handle(pykka.ThreadingActor):
    def __init__(
        self, rules: RequestRules, coordinator: pykka.ActorRef[Any], sessions: pykka.ActorRef[Any], window_s: float
    ) -> None:
        super().__init__()
        self._rules = rules
        self._coordinator = coordinator
        self._sessions = sessions
        self._window_s = window_s
        self._window: threading.Timer | None = None
        self._closed = False

    def on_receive(self, message: Any) -> Any:
        if self._closed:
            return ActivateReply(ActivateStatus.UNKNOWN_REQUEST) if isinstance(message, Activate) else _STALE
        match message:
            case Acknowledge():
                return self._acknowledge(message.parent_id, message.result)
            case Reject():
                return self._acknowledge(message.parent_id, None)
            case Activate():
                return self._activate()
            case WindowEnded():
                return self._close()
            case _:
                raise TypeError(type(message).__name__)

    def _acknowledge(self, parent_id: str, result: str | None) -> AckReply:
        status, turns = self._rules.acknowledge(parent_id, result)
        if turns:
            self._sessions.ask(_Write(self._rules.session_id, turns))
        reply = self._rules.committed(status)
        if self._rules.settled:
            self._close()
        return reply

    def _activate(self) -> ActivateReply:
        reply = self._rules.activate()
        if reply.status is ActivateStatus.ACTIVATED:
            ended = WindowEnded(self._rules.request_id, 0)
            self._window = threading.Timer(self._window_s, self.actor_ref.tell, (ended,))
            self._window.daemon = True
            self._window.start()
        return reply

    def _close(self) -> None:
        self._closed = True
        if self._window is not None:
            self._window.cancel()
        self._sessions.ask(_CloseSession(self._rules.session_id))
        self._coordinator.tell(_Closed(self._rules.request_id))


class _Coordinator(pykka.ThreadingActor):
    def __init__(self, settings: Settings, sessions: pykka.ActorRef[Any]) -> None:
        super().__init__()
        self._settings = settings
        self._sessions = sessions
        self._handles: dict[str, pykka.ActorRef[Any]] = {}

    def on_receive(self, message: Any) -> Any:
        match message:
            case Acknowledge() | Reject():
                handle = self._handles.get(message.request_id)
                return _STALE if handle is None else handle.ask(message)
            case Activate():
                handle = self._handles.get(message.request_id)
                return ActivateReply(ActivateStatus.UNKNOWN_REQUEST) if handle is None else handle.ask(message)
            case Register():
                return self._register(message)
            case _Closed():
                self._handles.pop(message.request_id).stop(block=False)
                return None
            case _:
                raise TypeError(type(message).__name__)

    def _register(self, message: Register) -> RegisterReply:
        handoff = message.handoff
        refused = refusal(handoff, self._settings, taken=handoff.request_id in self._handles)
        if refused is not None:
            return refused
        if not self._sessions.ask(_OpenSession(handoff.session_id)):
            return RegisterReply(RegisterStatus.OVERLOADED)
        self._handles[handoff.request_id] = _Handle.start(
            RequestRules(handoff), self.actor_ref, self._sessions, self._settings.ack_window
        )
        return RegisterReply(RegisterStatus.REGISTERED)


def stock_blocking(workload: Workload, settings: Settings) -> tuple[float, Answers]:
    """One caller that waits for each answer."""

    def ask_all(coordinator: pykka.ActorRef[Any], messages: list[Any]) -> list[Any]:
        return [coordinator.ask(message) for message in messages]

    return _run(workload, settings, ask_all)


def stock_pipelined(workload: Workload, settings: Settings) -> tuple[float, Answers]:
    """One caller with between 500 and 1000 calls in flight."""

    def ask_all(coordinator: pykka.ActorRef[Any], messages: list[Any]) -> list[Any]:
        return in_flight(coordinator.ask(message, block=False) for message in messages)

    return _run(workload, settings, ask_all)


def _run(
    workload: Workload, settings: Settings, ask_all: Callable[[pykka.ActorRef[Any], list[Any]], list[Any]]
) -> tuple[float, Answers]:
    sessions = _Sessions.start(settings)
    coordinator = _Coordinator.start(settings, sessions)
    try:
        began = clock.now()
        registered = ask_all(coordinator, [Register(handoff) for handoff in workload.handoffs])
        activated = ask_all(coordinator, [Activate(handoff.request_id) for handoff in workload.handoffs])
        replies = ask_all(
            coordinator,
            [
                Reject(request_id, parent_id) if result is None else Acknowledge(request_id, parent_id, result)
                for request_id, parent_id, result in workload.operations
            ],
        )
        took_s = clock.now() - began
        check_opened(registered, activated)
        histories: dict[str, Any] = {name: sessions.ask(_Read(name)) for name in workload.sessions}
        return took_s, Answers(replies, histories)
    finally:
        coordinator.stop()
        sessions.stop()
