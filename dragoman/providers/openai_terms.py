"""What is asked of an OpenAI-compatible endpoint that not all of them offer, and how it is found out.

A call that is refused on account of one such thing is made again without it: a negotiation and no retry, because what
the endpoint has refused it would refuse again. What an endpoint took is remembered, so that each is asked once. Calls
that begin at once negotiate each for themselves, from the same terms and by the same steps, and so come to the same.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping
from typing import Any

import attrs

from ..protocol.calls import ProviderCall
from ..protocol.statuses import CallFormat
from .openai_failures import Complaint, error_name
from .prompts import answer_schema

__all__ = ["SHAPES", "Negotiation", "Terms"]

SHAPES = ("json_schema", "json_object with schema", "json_object", "none")
"""How the form of a structured answer is asked for: the strictest first, and at last by the prompt alone."""

_LIMITS = ("max_tokens", "max_completion_tokens")
_OF_THE_SHAPE = re.compile(
    r"response_?format|response format|json[_ ]?(?:schema|object|mode)|structured[_ ]?output|response_?(?:schema|mime)"
    r"|\bschema\b|grammar|guided|requested parameters"
)

_SAYS_NOTHING = frozenset({"", "none", "null", "model"})
"""What stands as the parameter complained of where the message alone tells which it is."""


@attrs.frozen
class Terms:
    """`shape` is a place in `SHAPES`, `limit` the name under which the most tokens of an answer are told."""

    shape: int = 0
    temperature: bool = True
    limit: str = _LIMITS[0]

    def parameters(self, call: ProviderCall, temperature: float | None, max_tokens: int | None) -> dict[str, Any]:
        """What goes into the request of `call`."""
        sent: dict[str, Any] = {}
        if self.temperature and temperature is not None:
            sent["temperature"] = temperature
        if max_tokens is not None:
            sent[self.limit] = max_tokens
        if call.format is CallFormat.STRUCTURED and SHAPES[self.shape] != "none":
            sent["response_format"] = self._response_format(call)
        return sent

    def after(self, complaint: Complaint, sent: Mapping[str, Any]) -> Terms | None:
        """The next terms to try; None if the complaint is not about these."""
        if error_name(complaint) not in ("VALIDATION", "SERVER_ERROR"):
            return None
        about = complaint.words if complaint.param in _SAYS_NOTHING else complaint.param
        if "temperature" in sent and "temperature" in about:
            return attrs.evolve(self, temperature=False)
        if _LIMITS[0] in sent and any(limit in about for limit in _LIMITS):
            return attrs.evolve(self, limit=_LIMITS[1])
        if "response_format" in sent and (complaint.status == 501 or _OF_THE_SHAPE.search(about)):
            return attrs.evolve(self, shape=self.shape + 1)
        return None

    def or_less(self, other: Terms) -> Terms:
        """What stands in both."""
        return Terms(
            max(self.shape, other.shape),
            self.temperature and other.temperature,
            max(self.limit, other.limit, key=_LIMITS.index),
        )

    def _response_format(self, call: ProviderCall) -> dict[str, Any]:
        shape = SHAPES[self.shape]
        if shape == "json_schema":
            wanted = {"name": "translations", "strict": True, "schema": answer_schema(call)}
            return {"type": "json_schema", "json_schema": wanted}
        if shape == "json_object with schema":
            return {"type": "json_object", "schema": answer_schema(call)}
        return {"type": "json_object"}


class Negotiation:
    """What one endpoint is known to take. Any thread may ask; runtimes may share a provider."""

    def __init__(self, *, structured: bool) -> None:
        self._lock = threading.Lock()
        self._terms = Terms(shape=0 if structured else len(SHAPES) - 1)
        self._proven = not structured

    @property
    def terms(self) -> Terms:
        return self._terms

    def took(self, terms: Terms, *, with_shape: bool) -> None:
        """The endpoint has answered a request on these terms; `with_shape`: one for a structured answer.

        A shape that it took before is not given up: it was this one call that did not fit.
        """
        with self._lock:
            agreed = self._terms.or_less(terms)
            if self._proven:
                agreed = attrs.evolve(agreed, shape=self._terms.shape)
            self._terms = agreed
            self._proven |= with_shape
