"""Physical provider calls: what is asked, what is answered, and the protocol that a provider follows (C3.1).

A call and its completion are facts of the transport. Neither is a turn, and nothing here decides what is accepted.
"""

from __future__ import annotations

import json
from typing import Protocol, runtime_checkable

import attrs

from .history import ChatMessage, Turn, chat_messages
from .redaction import redacted
from .statuses import CallFormat, Termination
from .verdicts import Violation

__all__ = ["CallTaker", "CallUnit", "Completion", "CompletionRecord", "Provider", "ProviderCall"]


@attrs.frozen
class CallUnit:
    """One unit of a call as the provider sees it.

    `text` carries the markers of the request between the segments of a parent; they must come back. `texts` are the
    same segments plain, for a provider of kind `machine`.
    """

    id: str
    text: str = attrs.field(repr=redacted)
    texts: tuple[str, ...] = attrs.field(repr=redacted)


@attrs.frozen(kw_only=True)
class ProviderCall:
    """One physical call. A provider answers it with a `Completion`, or raises `ProviderError`.

    `id` is `REQUEST/N`. `key` counts the keys of the provider from 1. `history` holds the accepted turns that belong
    into the prompt, oldest first; empty for a call that takes no part, and for recovery (C6). `repair` names, for a
    recovery call, what was wrong with each unit; it lives as long as this call (C6.5).
    """

    id: str
    request_id: str
    number: int
    purpose: str
    provider: str
    key: int
    format: CallFormat
    units: tuple[CallUnit, ...]
    history: tuple[Turn, ...]
    source_language: str
    target_language: str
    attempt: int
    repair: tuple[tuple[str, Violation], ...] = ()

    @property
    def body(self) -> str:
        """What is to be translated, in the format of the call: a JSON envelope, or the bare text of the one unit.

        For `TEXTS` a JSON list of the plain texts; see `texts`.
        """
        if self.format is CallFormat.SCALAR:
            return self.units[0].text
        if self.format is CallFormat.TEXTS:
            return json.dumps(self.texts, ensure_ascii=False)
        items = [{"id": unit.id, "text": unit.text} for unit in self.units]
        return json.dumps({"translations": items}, ensure_ascii=False)

    def messages(self, system: str | None = None) -> tuple[ChatMessage, ...]:
        """The call as a chat prompt: `system`, the history as user and assistant messages, and the body."""
        return chat_messages(self.history, system, self.body)

    @property
    def texts(self) -> tuple[str, ...]:
        """The plain texts of all units, in order: what a machine provider translates one by one."""
        return tuple(text for unit in self.units for text in unit.texts)


@attrs.frozen
class Completion:
    """What a provider answered (C3.1): the raw body, or for `TEXTS` the translated texts in order.

    `termination` says why it stopped; `model` and the token counts are None where the provider does not tell.
    """

    text: str | None = attrs.field(default=None, repr=redacted)
    texts: tuple[str, ...] | None = attrs.field(default=None, repr=redacted, kw_only=True)
    termination: Termination = attrs.field(default=Termination.NORMAL, kw_only=True)
    model: str | None = attrs.field(default=None, kw_only=True)
    input_tokens: int | None = attrs.field(default=None, kw_only=True)
    output_tokens: int | None = attrs.field(default=None, kw_only=True)


@attrs.frozen
class CompletionRecord:
    """The normalised facts of one physical response (C3.1, ADR-016), without its text; absent facts stay None."""

    call: str
    attempt: int
    termination: Termination
    model: str | None
    input_tokens: int | None
    output_tokens: int | None


@runtime_checkable
class Provider(Protocol):
    """Whoever makes physical calls. `complete` runs on the runtime's own event loop and is cancelled with its request.

    It returns a `Completion` or raises `ProviderError`; any other exception counts as `PROVIDER_FAULT`.
    """

    async def complete(self, call: ProviderCall) -> Completion: ...


@runtime_checkable
class CallTaker(Protocol):
    """Takes calls whose answers come later by `Runtime.respond` and `Runtime.fail`; must return at once."""

    def take(self, call: ProviderCall) -> None: ...
