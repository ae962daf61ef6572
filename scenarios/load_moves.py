"""Moves: what a caller does next at the public face, with the plain facts of it for the judge."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ..actors.futures import Future
from ..protocol.handoff import Handoff, Parent
from ..protocol.history import Turn
from ..protocol.replies import AckReply, RequestStatus
from ..runtime import Runtime
from .verdict_facts import Operation, Registration

__all__ = [
    "Move",
    "acknowledge",
    "activate",
    "cancel",
    "claim",
    "clear",
    "dispatch_failed",
    "fail_commits",
    "plain_turns",
    "read",
    "refused_read",
    "refused_registration",
    "register",
    "reject",
    "status",
]

_PROVIDER, _MODE = "openai", "select-element"

Parents = tuple[tuple[str, int, str], ...]
"""Of each parent its id, order and source."""


class Move(NamedTuple):
    """An operation, how it is sent, and how its reply is told in plain values."""

    operation: Operation
    send: Callable[[Runtime], Future[Any]]
    plain: Callable[[Any], Any]


def _word(reply: Any) -> str:
    return str(reply.status.value)


def _ack(reply: AckReply) -> tuple[str, tuple[str, ...]]:
    return reply.status.value, reply.committed


def _status(reply: RequestStatus) -> tuple[bool, str | None, tuple[tuple[str, str], ...]]:
    cause = None if reply.cause is None else reply.cause.value
    return reply.open, cause, tuple((parent, state.value) for parent, state in reply.parents.items())


def plain_turns(turns: tuple[Turn, ...]) -> tuple[tuple[str, str, str, str], ...]:
    return tuple([(turn.request_id, turn.parent_id, turn.user, turn.assistant) for turn in turns])


def _number(reply: Any) -> Any:
    return reply if type(reply) is int else reply.value


def _same(reply: Any) -> Any:
    return reply


def register(session: str, request: str, parents: Parents) -> Move:
    handoff = Handoff(request, session, _PROVIDER, _MODE, tuple(Parent(*parent) for parent in parents))
    in_order = sorted(parents, key=lambda parent: parent[1])
    registration = Registration(
        request, tuple(parent[0] for parent in in_order), tuple(parent[2] for parent in in_order)
    )
    return Move(Operation("register", session, request, "", registration), lambda run: run.register(handoff), _word)


def activate(session: str, request: str, *, is_over: bool = False) -> Move:
    operation = Operation("activate", session, request, is_over=is_over)
    return Move(operation, lambda run: run.activate(request), _word)


def acknowledge(session: str, request: str, parent: str, text: str, *, is_over: bool = False) -> Move:
    operation = Operation("ack", session, request, parent, text, is_over=is_over)
    return Move(operation, lambda run: run.acknowledge(request, parent, text), _ack)


def reject(session: str, request: str, parent: str, *, is_over: bool = False) -> Move:
    operation = Operation("reject", session, request, parent, is_over=is_over)
    return Move(operation, lambda run: run.reject(request, parent), _ack)


def cancel(session: str, request: str, *, is_over: bool = False) -> Move:
    return Move(Operation("cancel", session, request, is_over=is_over), lambda run: run.cancel(request), _word)


def dispatch_failed(session: str, request: str) -> Move:
    return Move(Operation("dispatch_failed", session, request), lambda run: run.dispatch_failed(request), _word)


def status(session: str, request: str, *, is_over: bool = False) -> Move:
    operation = Operation("status", session, request, is_over=is_over)
    return Move(operation, lambda run: run.request_status(request), _status)


def read(session: str, max_turns: int) -> Move:
    operation = Operation("read", session, argument=max_turns)
    return Move(operation, lambda run: run.history(session, max_turns=max_turns), plain_turns)


def claim(session: str) -> Move:
    return Move(Operation("claim", session), lambda run: run.claim_turn(session), _number)


def clear(session: str) -> Move:
    return Move(Operation("clear", session), lambda run: run.clear_session(session), _word)


def fail_commits(session: str, times: int) -> Move:
    operation = Operation("fail_commits", session, argument=times)
    return Move(operation, lambda run: run.fail_commits(session, times), _same)


def refused_registration(session: str, request: str, *, valid: bool) -> Move:
    """A registration that is not valid, or that takes no part; `request` must not be that of an open one."""
    parents = (Parent("p1", 0, "source"), Parent("p2" if valid else "p1", 1, "source"))
    handoff = Handoff(request, session, _PROVIDER, "page", parents)
    due = "NOT_PARTICIPATING" if valid else "INVALID_HANDOFF"
    return Move(Operation("refused", session, request, argument=due), lambda run: run.register(handoff), _word)


def refused_read(session: str) -> Move:
    """A read that takes no part, and therefore sees nothing."""
    operation = Operation("refused", session, argument=())
    return Move(operation, lambda run: run.history(session, mode="page"), plain_turns)
