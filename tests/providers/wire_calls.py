"""Calls as the runtime puts them on the wire, made of units, and the judge's word on their answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs

from dragoman import CallFormat, CallUnit, Completion
from dragoman.protocol.calls import ProviderCall
from dragoman.protocol.units import Unit
from dragoman.protocol.verdicts import Verdict, judge

from .openai_calls import call_of

__all__ = ["TOKEN", "judged", "unit_of", "wire_call"]

TOKEN = "abcdefgh"


def unit_of(name: str, *pieces: str) -> Unit:
    return Unit(name, name, pieces)


def wire_call(units: Sequence[Unit], format: CallFormat, token: str = TOKEN, **facts: Any) -> ProviderCall:  # noqa: A002
    """The call that asks for these units."""
    asked = tuple(CallUnit(unit.id, unit.wire(token), unit.pieces) for unit in units)
    return attrs.evolve(call_of(), units=asked, format=format, **{"target_language": "fr", **facts})


def judged(call: ProviderCall, units: Sequence[Unit], completion: Completion, token: str = TOKEN) -> Verdict:
    return judge(call.format, units, token, completion.text, completion.texts)
