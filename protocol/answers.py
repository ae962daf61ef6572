"""The body that a provider would have sent for given translations: for answers that come as messages (C3.1).

A text stands as it is; a list of segments is joined with the markers that the unit was sent with.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import attrs

from .batches import Ask
from .calls import Completion
from .execution_messages import AnswerCall
from .markers import markers_of
from .statuses import CallFormat, Termination
from .units import Unit

__all__ = ["answer_with", "completed"]


def completed(message: AnswerCall, ask: Ask, token: str) -> AnswerCall:
    """The answer with the completion that its translations stand for."""
    if message.translations is None:
        return message
    translations = dict(message.translations)
    completion = answer_with(ask.format, ask.units, token, translations, message.termination)
    return attrs.evolve(message, completion=completion, translations=None)


def answer_with(
    wanted: CallFormat,
    units: Sequence[Unit],
    token: str,
    translations: Mapping[str, str | tuple[str, ...]],
    termination: Termination,
) -> Completion:
    """The completion that says what each unit became, in the format that the call asked for.

    Units that are not named are missing from it; ids that the call did not ask for are extra items.
    """
    if wanted is CallFormat.TEXTS:
        asked = {unit.id for unit in units}
        ordered = [translations[unit.id] for unit in units if unit.id in translations]
        ordered += [text for unit_id, text in translations.items() if unit_id not in asked]
        texts = tuple(text for entry in ordered for text in ((entry,) if isinstance(entry, str) else entry))
        return Completion(texts=texts, termination=termination)
    known = {unit.id: unit for unit in units}
    bodies = {
        unit_id: text if isinstance(text, str) else _joined(text, known.get(unit_id), token)
        for unit_id, text in translations.items()
    }
    if wanted is CallFormat.SCALAR and units[0].id in bodies:
        return Completion(bodies[units[0].id], termination=termination)
    items = [{"id": unit_id, "text": text} for unit_id, text in bodies.items()]
    return Completion(json.dumps({"translations": items}, ensure_ascii=False), termination=termination)


def _joined(segments: tuple[str, ...], unit: Unit | None, token: str) -> str:
    """The segments with the markers that the unit was sent with between them, as a model would put them."""
    sent = [] if unit is None else list(markers_of(unit.wire(token)))
    parts = list(segments[:1])
    for place, segment in enumerate(segments[1:]):
        parts.append(sent[place] if place < len(sent) else "".join(sent[-1:]))
        parts.append(segment)
    return "".join(parts)
