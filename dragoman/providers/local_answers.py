"""How a local model is asked for the answer to a call: as a whole, or segment by segment."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import attrs

from ..protocol.calls import Completion, ProviderCall
from ..protocol.history import ChatMessage
from ..protocol.redaction import redacted
from ..protocol.statuses import Termination
from .grammar import AnswerGrammar, grammar_of
from .local_decoding import Answer, answer
from .local_model import LocalModel
from .local_prompt import ChatTemplate, call_messages, segment_messages

__all__ = ["SMALL", "Manner", "complete"]

SMALL = 1_000_000_000
"""Models of fewer parameters are asked for one segment at a time."""


@attrs.frozen
class Manner:
    """How answers are made, the same for all calls; see `LocalProvider`."""

    temperature: float
    seed: int
    limit: int | None
    instructions: str | None = attrs.field(repr=redacted)


def complete(model: LocalModel, call: ProviderCall, manner: Manner, cancelled: Callable[[], bool]) -> Completion:
    """The model's answer to a call, which depends on the call and the manner alone.

    Raises `TooLong` where it does not fit into the context, and `Cancelled` soon after `cancelled` tells so.
    """
    template = ChatTemplate(model)
    grammar = grammar_of(call)
    answers: list[Answer] = []

    def ask(messages: Sequence[ChatMessage], wanted: AnswerGrammar) -> str:
        said = sum(one.output_tokens for one in answers)
        answers.append(
            answer(
                model,
                template.tokens(messages),
                wanted,
                limit=None if manner.limit is None else max(1, manner.limit - said),
                temperature=manner.temperature,
                seed=manner.seed,
                cancelled=cancelled,
            )
        )
        return answers[-1].text

    if grammar.slots and model.parameters >= SMALL:
        text = ask(call_messages(call, manner.instructions), grammar)
    else:
        text = grammar.filled(
            ask(segment_messages(call, slot.source, manner.instructions), slot.alone()) for slot in grammar.slots
        )
    return Completion(
        text,
        termination=Termination.TRUNCATED if any(one.truncated for one in answers) else Termination.NORMAL,
        model=model.name,
        input_tokens=sum(one.input_tokens for one in answers),
        output_tokens=sum(one.output_tokens for one in answers),
    )
