"""What the tests of metrics do to a runtime, in few words."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

from dragoman import Completion, Future, Handoff, Parent, ProviderCall, ProviderError, Runtime, TranslationRequest
from dragoman.actors.mailbox import Envelope, Mailbox

__all__ = [
    "SECRETS",
    "FailingProvider",
    "Held",
    "Stuck",
    "UpperCase",
    "acknowledge",
    "handoff",
    "open_request",
    "request",
]

SECRETS = ("canary-source", "canary-result", "canary-fault")
"""Texts that must be in nothing that is exported."""


def handoff(request_id: str, session_id: str = "s1", *, parents: int = 2, mode: str = "select-element") -> Handoff:
    sources = tuple(Parent(f"p{number}", number, f"{SECRETS[0]} {number}") for number in range(1, parents + 1))
    return Handoff(request_id, session_id, "openai", mode, sources)


def open_request(runtime: Runtime, request_id: str, session_id: str = "s1", *, parents: int = 2) -> None:
    """Register and activate."""
    assert runtime.register(handoff(request_id, session_id, parents=parents)).get().status == "REGISTERED"
    assert runtime.activate(request_id).get().status == "ACTIVATED"


def acknowledge(runtime: Runtime, request_id: str, parent_id: str) -> Future[Any]:
    return runtime.acknowledge(request_id, parent_id, SECRETS[1])


def request(request_id: str = "r1", parents: Mapping[str, str] | None = None) -> TranslationRequest:
    return TranslationRequest(request_id, "s1", dict(parents or {"p1": SECRETS[0], "p2": f"{SECRETS[0]} too"}), "de")


class Held:
    """A message that is handled until its handler is let go on."""


class Stuck:
    """An actor of a runtime that is in the middle of a handler until it is let go on."""

    def __init__(self, mailbox: Mailbox) -> None:
        began, self.goes_on = threading.Event(), threading.Event()

        def hold(_self: object, _message: object, _envelope: object) -> None:
            began.set()
            assert self.goes_on.wait(30)

        actor: Any = mailbox.actor
        actor.handlers = {**actor.handlers, Held: hold}
        mailbox.leave(Envelope(Held()))
        assert began.wait(30)


class UpperCase:
    """Answers each unit with its text in capitals."""

    async def complete(self, call: ProviderCall) -> Completion:
        if call.format == "SCALAR":
            return Completion(SECRETS[1], model="m1", input_tokens=3, output_tokens=4)
        return Completion(call.body.replace(SECRETS[0], SECRETS[1]), model="m1", input_tokens=3, output_tokens=4)


class FailingProvider:
    """Fails with each of the errors in turn, whatever they are."""

    def __init__(self, *errors: BaseException) -> None:
        self.errors = list(errors)

    async def complete(self, call: ProviderCall) -> Completion:
        raise self.errors.pop(0) if self.errors else ProviderError("API_KEY_INVALID")
