"""Whole translations in virtual time whose answers come in any order, with failures that all mend.

The translation maps ASCII letters one by one, so that it does not mind where a text is split; all else stands as it is.
What comes of a request must not depend on its fragments.
"""

from __future__ import annotations

import json
import random
import string
from collections.abc import Mapping
from typing import Any

import attrs

from dragoman import (
    Completion,
    ProviderCall,
    ProviderPolicy,
    Runtime,
    ScriptedProvider,
    Settings,
    SimulatedDispatcher,
    TextDocument,
    TranslationOutcome,
    TranslationRequest,
)
from dragoman.protocol.markers import markers_of
from dragoman.protocol.statuses import CallFormat, Purpose

__all__ = ["Limits", "Result", "Sources", "mapped", "translate_in_fragments", "translate_whole"]

Sources = Mapping[str, str | tuple[str, ...]]

_FREE = "".join(letter for letter in string.ascii_letters if letter not in "dmDM")
_LETTERS = str.maketrans(_FREE, _FREE[13:] + _FREE[:13])
"""A translation that leaves alone what could open a marker, as a model does that keeps the escapes."""
_MENDING = ("NETWORK_ERROR", "SERVER_ERROR", "RATE_LIMIT_REACHED", "MODEL_OVERLOADED", "ODD_ERROR")
_BACK_OFF_US = 31_000_000


@attrs.frozen
class Limits:
    batch_chars: int = 3500
    batch_units: int = 25
    max_concurrent_calls: int = 4
    policy: ProviderPolicy = attrs.Factory(ProviderPolicy)
    scalars: bool = True
    """Whether units may come to be asked for one by one: such an answer loses its outer white space."""


@attrs.frozen
class Result:
    """What must be the same, however a request is cut."""

    turns: tuple[tuple[str, str, str], ...]
    document: dict[str, Any]
    outcome: tuple[Any, ...]
    states: dict[str, str]


def mapped(text: str | tuple[str, ...]) -> str | tuple[str, ...]:
    return text.translate(_LETTERS) if isinstance(text, str) else tuple(one.translate(_LETTERS) for one in text)


def translate_whole(sources: Sources) -> Result:
    """The reference: one call, and its answer."""
    return translate_in_fragments(sources, Limits(10**6, 10**6), random.Random(0), trouble=0.0)


def translate_in_fragments(sources: Sources, limits: Limits, rng: random.Random, *, trouble: float) -> Result:
    """Answer the calls in an order that `rng` draws; of the first attempts, the share `trouble` goes wrong."""
    dispatcher = SimulatedDispatcher(rng.getrandbits(32), rng.randrange)
    settings = Settings(
        max_turns=1000,
        execution_timeout=10**9,
        batch_chars=limits.batch_chars,
        batch_units=limits.batch_units,
        max_concurrent_calls=limits.max_concurrent_calls,
    )
    with Runtime(settings, providers={"openai": limits.policy}, dispatcher=dispatcher) as runtime:
        provider, document = ScriptedProvider(), TextDocument(sources)
        running = runtime.translate(TranslationRequest("r1", "s1", sources, "de"), provider=provider, feature=document)
        over: list[str] = []
        while not running.done:
            dispatcher.run()
            if over and rng.random() < trouble:
                runtime.respond(rng.choice(over), Completion("late")).get()
            open_calls = runtime.snapshot().open_calls
            if not open_calls:
                dispatcher.advance(_BACK_OFF_US)
                continue
            assert len(open_calls) <= limits.max_concurrent_calls
            calls = {call.id: call for call in provider.calls}
            # Several answers may be on their way at once.
            for name in rng.sample(open_calls, rng.randint(1, len(open_calls))):
                _answer(runtime, calls[name], limits, rng, trouble)
                over.append(name)
        return _result(runtime, running.get(), document)


def _answer(runtime: Runtime, call: ProviderCall, limits: Limits, rng: random.Random, trouble: float) -> None:
    if call.attempt > 1 or rng.random() >= trouble:
        runtime.respond(call.id, good_answer(call))
        return
    recovers = call.purpose == Purpose.STRUCTURED_RECOVERY
    in_full = not recovers and (len(call.units) == 1 or limits.policy.recovery == "full")
    if rng.random() < 0.5 or (in_full and not limits.scalars):
        runtime.fail(call.id, rng.choice(_MENDING))
    elif limits.policy.kind == "machine":
        runtime.respond(call.id, Completion(texts=(*call.texts, "one too many")))
    elif recovers or in_full:
        runtime.respond(call.id, Completion(_envelope({})))
    else:
        # Some units are good and the others missing: these alone are asked for again.
        wrong = set(rng.sample([unit.id for unit in call.units], rng.randint(1, len(call.units) - 1)))
        good = {unit.id: _mapped_wire(unit.text) for unit in call.units if unit.id not in wrong}
        runtime.respond(call.id, Completion(_envelope(good)))


def good_answer(call: ProviderCall) -> Completion:
    """What a model would answer that keeps the markers and escapes."""
    if call.format is CallFormat.TEXTS:
        return Completion(texts=tuple(text.translate(_LETTERS) for text in call.texts))
    texts = {unit.id: _mapped_wire(unit.text) for unit in call.units}
    return Completion(texts[call.units[0].id] if call.format is CallFormat.SCALAR else _envelope(texts))


def _envelope(texts: Mapping[str, str]) -> str:
    return json.dumps({"translations": [{"id": unit, "text": text} for unit, text in texts.items()]})


def _mapped_wire(text: str) -> str:
    """The letters mapped, but for those of markers and of what could open one."""
    parts, rest = [], text
    for marker in markers_of(text):
        before, _, rest = rest.partition(marker)
        parts += [before.translate(_LETTERS), marker]
    return "".join((*parts, rest.translate(_LETTERS)))


def _result(runtime: Runtime, outcome: TranslationOutcome, document: TextDocument) -> Result:
    status = runtime.request_status("r1").get()
    turns = runtime.history("s1", max_turns=1000).get()
    return Result(
        turns=tuple((turn.parent_id, turn.user, turn.assistant) for turn in turns),
        document=document.texts(),
        outcome=(outcome.execution, outcome.quality, outcome.error, outcome.translated, dict(outcome.translations)),
        states={name: str(state) for name, state in status.parents.items()},
    )
