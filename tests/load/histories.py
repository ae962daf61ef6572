"""Histories written by hand: who called what, in which order the answers came, and what the judge says of it."""

from __future__ import annotations

from typing import Any

from dragoman.scenarios.verdict import Answered, Called, Judge, Looked, OverRequest, Verdict
from dragoman.scenarios.verdict_facts import Look, Operation, Registration, Rules

__all__ = ["RULES", "History", "look", "turn"]

SECOND = 1_000_000

RULES = Rules(
    window_us=10 * SECOND,
    ttl_us=100 * SECOND,
    max_sessions=2,
    max_turns=4,
    max_open_handles=5,
    store_max_entries=3,
    store_max_bytes=1_000,
    store_total_bytes=2_000,
    in_session_order=True,
    crowded=False,
    forgetful=False,
    punctual=False,
)


def turn(request: str, parent: str, text: str | None = None) -> tuple[str, str, str, str]:
    """The turn that a parent becomes, whose source and text are made of its names."""
    return request, parent, f"source of {parent}", f"result of {parent}" if text is None else text


def look(**parts: Any) -> Look:
    """A look at a runtime that holds nothing and rests, but for `parts`."""
    empty: dict[str, Any] = {
        "at_rest": True,
        "sessions": (),
        "open_requests": (),
        "store": (),
        "store_bytes": 0,
        "sent": 10,
        "handled": 9,
        "dead": 1,
        "queued": 0,
        "failed": 0,
        "at_us": 0,
    }
    return Look(**{**empty, **parts})


class History:
    """What the judge is told. An operation is called and answered at once, unless it is `begin`-un and `end`-ed."""

    def __init__(self, rules: Rules = RULES) -> None:
        self.judge = Judge(rules)
        self.now_us = 0

    def begin(self, kind: str, request: str = "", parent: str = "", argument: Any = None, **more: Any) -> Operation:
        if kind == "register":
            sources = tuple(f"source of {name}" for name in argument)
            argument = Registration(request, tuple(argument), sources)
        elif kind == "ack" and argument is None:
            argument = f"result of {parent}"
        operation = Operation(kind, more.pop("session", "s1"), request, parent, argument, **more)
        operation.called_at = self.now_us
        self.judge.take(Called(operation))
        return operation

    def end(self, operation: Operation, reply: Any) -> None:
        operation.reply = reply
        operation.answered_at = self.now_us
        self.judge.take(Answered(operation))

    def did(
        self, kind: str, request: str = "", parent: str = "", argument: Any = None, *, reply: Any, **more: Any
    ) -> None:
        self.end(self.begin(kind, request, parent, argument, **more), reply)

    def register(self, request: str, *parents: str, session: str = "s1") -> None:
        self.did("register", request, argument=parents, reply="REGISTERED", session=session)

    def accept(self, request: str, parent: str, *committed: str, status: str = "ACCEPTED") -> None:
        self.did("ack", request, parent, reply=(status, committed))

    def read(self, *turns: tuple[str, str, str, str], session: str = "s1") -> None:
        self.did("read", argument=100, reply=turns, session=session)

    def over(self, request: str) -> None:
        self.judge.take(OverRequest("s1", request))

    def look(self, **parts: Any) -> None:
        self.judge.take(Looked(look(**{"at_us": self.now_us, **parts})))

    def wait(self, seconds: float) -> None:
        self.now_us += int(seconds * SECOND)

    @property
    def verdict(self) -> Verdict:
        return self.judge.finish()

    @property
    def broken(self) -> list[str]:
        """The promises that were broken."""
        return [breach.promise for breach in self.verdict.breaches]
