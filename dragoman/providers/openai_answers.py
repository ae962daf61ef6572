"""Reading the body of a chat completion, as the many servers write it (C3.1, ADR-016)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from ..protocol.calls import Completion
from ..protocol.statuses import Termination
from .openai_failures import Complaint

__all__ = ["completion_in", "decoded"]

_TERMINATIONS = MappingProxyType(
    {
        "stop": Termination.NORMAL,
        "eos": Termination.NORMAL,
        "eos_token": Termination.NORMAL,
        "end_turn": Termination.NORMAL,
        "stop_sequence": Termination.NORMAL,
        "length": Termination.TRUNCATED,
        "max_tokens": Termination.TRUNCATED,
        "model_length": Termination.TRUNCATED,
        "content_filter": Termination.POLICY,
        "refusal": Termination.POLICY,
        "safety": Termination.POLICY,
        "error": Termination.PROVIDER_ERROR,
        "abort": Termination.PROVIDER_ERROR,
        "insufficient_system_resource": Termination.PROVIDER_ERROR,
    }
)
_THINKS, _HAS_THOUGHT = "<think>", "</think>"


def decoded(content: bytes) -> object:
    """The JSON of a body, or its text where it is none."""
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return content.decode("utf-8", "replace")


def completion_in(content: bytes) -> Completion | Complaint | None:
    """What a response of status 200 holds: a completion, an error, or None for neither.

    An answer without a text is a completion only where the endpoint says why: it was cut off, or refused.
    """
    body = decoded(content)
    if not isinstance(body, Mapping):
        return None
    if body.get("error"):
        return Complaint.in_body(body["error"])
    choices = body.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    if not isinstance(choice, Mapping):
        return None
    if choice.get("error"):
        return Complaint.in_body(choice["error"])
    message = choice.get("message")
    if not isinstance(message, Mapping):
        return None
    text = _text_of(message.get("content"))
    termination = _termination(choice.get("finish_reason"))
    if message.get("refusal"):
        termination = Termination.POLICY
    if text is None and termination not in (Termination.POLICY, Termination.TRUNCATED):
        return None
    usage = body.get("usage")
    tokens: Mapping[Any, Any] = usage if isinstance(usage, Mapping) else {}
    model = body.get("model")
    return Completion(
        text,
        termination=termination,
        model=model if isinstance(model, str) and model else None,
        input_tokens=_count(tokens.get("prompt_tokens")),
        output_tokens=_count(tokens.get("completion_tokens")),
    )


def _termination(reason: object) -> Termination:
    return _TERMINATIONS.get(reason.lower(), Termination.UNKNOWN) if isinstance(reason, str) else Termination.UNKNOWN


def _text_of(content: object) -> str | None:
    """The answer itself: of a list of parts their texts, and of a model that thinks aloud what it says after that."""
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, Mapping) and part.get("type") == "text"]
        content = "".join(part for part in parts if isinstance(part, str)) if parts else None
    if not isinstance(content, str):
        return None
    if content.lstrip().startswith(_THINKS):
        _thoughts, thought, answer = content.partition(_HAS_THOUGHT)
        # Thoughts that never ended hold no answer; they must not be taken for one.
        return answer.lstrip() if thought else ""
    return content


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
