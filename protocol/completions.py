"""What a provider returned, as the runtime takes it: checked once, at the provider's edge (C3.1, ADR-016)."""

from __future__ import annotations

from typing import Any

from .calls import Completion
from .handoff import exact
from .statuses import Termination

__all__ = ["normalised"]


def normalised(answer: object) -> Completion | None:
    """`answer` with exact types, absent facts None, an odd termination `UNKNOWN`; None if it is no completion."""
    if not isinstance(answer, Completion):
        return None
    text: Any = answer.text
    texts: Any = answer.texts
    if not isinstance(text, str | None) or not isinstance(texts, tuple | list | None):
        return None
    if texts is not None and not all(isinstance(one, str) for one in texts):
        return None
    return Completion(
        None if text is None else exact(text),
        texts=None if texts is None else tuple(exact(one) for one in texts),
        termination=_termination(answer.termination),
        model=exact(answer.model) if isinstance(answer.model, str) else None,
        input_tokens=_count(answer.input_tokens),
        output_tokens=_count(answer.output_tokens),
    )


def _termination(value: Any) -> Termination:
    try:
        return Termination(value)
    except ValueError:
        return Termination.UNKNOWN


def _count(value: Any) -> int | None:
    return int(value) if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
