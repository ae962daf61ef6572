"""Translations under load: requests that the runtime executes itself, and the callers that answer their calls.

The provider only takes calls; callers answer them by message, out of order, late, twice, with errors and with garbage.
So the same works with threads, under asyncio and in virtual time.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from ..protocol.calls import Completion, ProviderCall
from ..protocol.errors import UnknownCall
from ..protocol.outcomes import StartReply, TranslationOutcome
from ..protocol.statuses import CallFormat
from ..protocol.translations import TranslationRequest
from ..text import TextDocument
from . import load_moves as moves
from .load_moves import Move
from .load_requests import Script
from .verdict_facts import Operation, Registration

__all__ = ["ExecutionScript", "answer_to"]

_GARBAGE = ("", "not an envelope", '{"translations": [{"id": "p0"}]}', '{"translations": [{"id": "p0", "text": "  "}')
_ERRORS = ("VALIDATION", "SERVER_ERROR", "NETWORK_ERROR", "API_RESPONSE_INVALID")


def _started(reply: StartReply) -> str:
    return reply.status.value


def _outcome(outcome: TranslationOutcome | None) -> Any:
    if outcome is None:
        return None
    return outcome.execution.value, outcome.translated, outcome.unresolved, outcome.cancelled


def _answered(reply: Any) -> str:
    return "unknown" if isinstance(reply, UnknownCall) else "taken"


class _Taker:
    """A provider that hands its calls to the crew."""

    def __init__(self, hand_over: Callable[[ProviderCall], object]) -> None:
        self._hand_over = hand_over

    def take(self, call: ProviderCall) -> None:
        self._hand_over(call)


class ExecutionScript:
    """One translation: its start, and the looks at how it does."""

    def __init__(self, number: int, session: str, parents: int, rng: random.Random) -> None:
        self.request = f"x{number}"
        self.session = session
        self.rng = rng
        self._sources = {f"p{place}": f"text {place} of {self.request}" for place in range(rng.randint(1, parents))}
        self._refused = frozenset(parent for parent in self._sources if rng.random() < 0.1)

    def go(self, take: Callable[[ProviderCall], object], cancels: bool) -> Script:
        registration = Registration(self.request, tuple(self._sources), tuple(self._sources.values()))
        request = TranslationRequest(self.request, self.session, self._sources, "de")
        document = TextDocument(self._sources, document=self.request, refuse=self._refused)
        operation = Operation("translate", self.session, self.request, "", (registration, self._refused))
        yield Move(
            operation, lambda run: run.translate(request, provider=_Taker(take), feature=document).started, _started
        )
        if cancels:
            yield moves.cancel(self.session, self.request)
        yield self.outcome()
        yield moves.read(self.session, self.rng.choice((10, 1000)))

    def outcome(self) -> Move:
        request = self.request
        return Move(Operation("outcome", self.session, request), lambda run: run.request_outcome(request), _outcome)


def answer_to(call: ProviderCall, session: str, rng: random.Random) -> Script:
    """Answer a call: mostly well, sometimes badly, now and then twice."""
    drawn = rng.random()
    texts: tuple[tuple[str, str], ...]
    if drawn < 0.1:
        error = rng.choice(_ERRORS)
        yield _answer(call, session, (), lambda run: run.fail(call.id, error))
    elif drawn < 0.2:
        garbage = rng.choice(_GARBAGE)
        # A scalar answer is text, whatever it looks like.
        texts = ((call.units[0].id, garbage),) if call.format is CallFormat.SCALAR else ()
        yield _answer(call, session, texts, lambda run: run.respond(call.id, Completion(garbage)))
    else:
        texts = tuple((unit.id, f"translated {unit.text}, attempt {call.number}") for unit in call.units)
        yield _answer(call, session, texts, lambda run: run.respond(call.id, translations=dict(texts)))
        if rng.random() < 0.1:
            again = tuple((unit.id, f"again {unit.text}") for unit in call.units)
            yield _answer(call, session, again, lambda run: run.respond(call.id, translations=dict(again)))


def _answer(call: ProviderCall, session: str, texts: Any, send: Callable[[Any], Any]) -> Move:
    return Move(Operation("respond", session, call.request_id, "", texts), send, _answered)
