"""Batches to run and bodies to answer them with, as a provider would: for the tests of batches and of the schedule."""

from __future__ import annotations

import json
from typing import Any

from dragoman.protocol.batches import Ask, BatchRun
from dragoman.protocol.calls import Completion
from dragoman.protocol.participation import ProviderPolicy
from dragoman.protocol.statuses import CallFormat
from dragoman.protocol.units import Unit

__all__ = ["BROKEN", "ROWS", "TOKEN", "answer", "batch", "failing", "units_of"]

TOKEN = "abcdefgh"

BROKEN = Completion("I am sorry, but this is no JSON.")

ROWS = {
    "RATE_LIMIT_REACHED": 5,
    "NETWORK_ERROR": 4,
    "MODEL_OVERLOADED": 4,
    "SERVER_ERROR": 3,
    "QUOTA_EXCEEDED": 3,
    "HTTP_ERROR": 3,
    "API_KEY_INVALID": 1,
    "INSUFFICIENT_BALANCE": 1,
    "VALIDATION": 1,
    "TEXT_TOO_LONG": 1,
    "POLICY": 1,
    "CIRCUIT_BREAKER_OPEN": 1,
    "USER_CANCELLED": 1,
    "TRANSLATION_TIMEOUT": 1,
    "API_RESPONSE_INVALID": 2,
    "SOMETHING_ELSE": 2,
}
"""The total of attempts that the language page gives each error ("Retries")."""


def units_of(*names: str) -> tuple[Unit, ...]:
    return tuple(Unit(name, name, (f"source of {name}",)) for name in names)


def batch(*names: str, direct: bool = False, **policy: Any) -> BatchRun:
    return BatchRun(7, units_of(*names), token=TOKEN, policy=ProviderPolicy(**policy), direct=direct)


def answer(ask: Ask, but: dict[str, str | None] | None = None, *, mark: str = "", **facts: Any) -> Completion:
    """A valid answer, `UNIT` in capitals; `but` says what else some units became, None for those left out."""
    said = {unit.id: unit.id.upper() + mark for unit in ask.units} | (but or {})
    texts = {name: text for name, text in said.items() if text is not None}
    if ask.format is CallFormat.TEXTS:
        return Completion(texts=tuple(texts.values()), **facts)
    if ask.format is CallFormat.SCALAR:
        return Completion(texts.get(ask.units[0].id, ""), **facts)
    items = [{"id": name, "text": text} for name, text in texts.items()]
    return Completion(json.dumps({"translations": items}), **facts)


def failing(run: BatchRun, error: str, key: int = 1) -> Any:
    """What follows from the failure of the call that `run` has just asked for."""
    run.placed(key)
    return run.failed(error)
