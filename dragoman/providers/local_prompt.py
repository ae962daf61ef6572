"""The prompt of a local model: chat messages, and the tokens that its own chat template makes of them.

A model of some size gets the whole call, as any chat model does. A small one loses itself between markers, JSON and
earlier turns, and repeats the turns; each segment is put to it by itself, in the plainest words.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from ..languages import name_of
from ..protocol.calls import ProviderCall
from ..protocol.history import ChatMessage
from .local_model import LocalModel, ModelFault
from .prompts import role_of, system_prompt

__all__ = ["ChatTemplate", "call_messages", "segment_messages"]

_PLACE = re.compile("\ue000([0-9]+)\ue001")
"""Where a content goes. Contents are tokenised apart, so that no text of theirs reads as a mark of the chat."""


def call_messages(call: ProviderCall, instructions: str | None) -> tuple[ChatMessage, ...]:
    """The whole call, with the accepted turns that belong to it."""
    return call.messages(system_prompt(call, instructions))


def segment_messages(call: ProviderCall, segment: str, instructions: str | None) -> tuple[ChatMessage, ...]:
    """One segment of a call."""
    system = role_of(call)
    if instructions and instructions.strip():
        system = f"{system}\n\n{instructions.strip()}"
    return ChatMessage("system", system), ChatMessage(
        "user", f"Translate into {name_of(call.target_language)}:\n{segment}"
    )


class ChatTemplate:
    """How a model was taught to chat: by the template in its file; without one, as bare paragraphs."""

    def __init__(self, model: LocalModel) -> None:
        self._model = model
        self._formatter: Any = model.chat_formatter()

    def tokens(self, messages: Sequence[ChatMessage]) -> list[int]:
        """The prompt that asks for the next message of the assistant."""
        contents = [message["content"] for message in messages]
        prompt = self._rendered([message["role"] for message in messages])
        tokens: list[int] = []
        pieces = _PLACE.split(prompt)
        begin = self._model.begin
        if self._model.begins_marked and begin and not pieces[0].startswith(begin):
            pieces[0] = begin + pieces[0]
        for number, piece in enumerate(pieces):
            if number % 2:
                tokens += self._model.tokens(contents[int(piece)])
            elif piece:
                tokens += self._model.tokens(piece, marks=True)
        return tokens

    def _rendered(self, roles: Sequence[str]) -> str:
        """The prompt, with a place for each content."""
        places = [f"\ue000{number}\ue001" for number in range(len(roles))]
        if self._formatter is None:
            return "".join(f"{place}\n\n" for place in places)
        plain = [{"role": role, "content": place} for role, place in zip(roles, places, strict=True)]
        # Some templates refuse a message of the system: its text then opens the first message of the user.
        joined = [{"role": "user", "content": f"{places[0]}\n\n{places[1]}"}, *plain[2:]]
        for messages in (plain, joined):
            try:
                rendered = str(self._formatter(messages=messages).prompt)
            except Exception:
                continue
            if places[0] in rendered and places[-1] in rendered:
                return rendered
        raise ModelFault("the chat template of the model cannot be used")
