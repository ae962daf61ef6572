"""Decoding an answer under its grammar: what the model says, held to the wire format and to an end.

What the grammar leaves no choice about is not asked of the model: it is put into the context as it stands. A slot has a
budget of tokens that follows from the length of its source; when that is spent, the slot is closed, and the answer is
whole but `truncated`. What has been said before, in the source or in the slot itself, is made less likely the longer
the repetition is: small models copy and loop otherwise.
"""

from __future__ import annotations

import codecs
import math
import random
from collections.abc import Callable, Sequence

import attrs

from ..protocol.redaction import redacted
from .grammar import AnswerGrammar, Cursor, Slot
from .local_model import CHUNK, Grammar, LocalModel, ModelFault

__all__ = ["Answer", "Cancelled", "TooLong", "answer", "budget"]

_CONSIDERED = 64
"""Of how many of the likeliest tokens the grammar is asked first; of all where it admits none of them."""

_OVERTIME = 32
"""How many more tokens a slot may take that cannot be closed where it stands: in the middle of a character, say."""

_REPEATED = 3
_COPIED = 4
"""Tokens in a row that may be said again, of the slot itself and of its source, without being made less likely."""

_STRENGTH = 0.5
_GROWTH = 1.75
_LONGEST = 20


class Cancelled(Exception):
    """Nobody waits for the answer any more."""


class TooLong(Exception):
    """The prompt and an answer do not fit into the context of the model."""


@attrs.frozen
class Answer:
    """What the model answered. `truncated`: it was ended before the model would have."""

    text: str = attrs.field(repr=redacted)
    truncated: bool
    input_tokens: int
    output_tokens: int


def budget(source_tokens: int) -> int:
    """The most tokens that a translation may take. Scripts that a model knows little of take several a character."""
    return 16 + 4 * source_tokens


def answer(
    model: LocalModel,
    prompt: Sequence[int],
    grammar: AnswerGrammar,
    *,
    limit: int | None,
    temperature: float,
    seed: int,
    cancelled: Callable[[], bool],
) -> Answer:
    """The model's answer to a prompt of tokens; `limit` bounds its tokens further. Depends on the arguments alone."""
    if not grammar.slots:
        return Answer("".join(str(part) for part in grammar.parts), False, 0, 0)
    return _Decoding(model, grammar, limit, temperature, seed, cancelled).run(prompt)


class _Decoding:
    def __init__(
        self,
        model: LocalModel,
        grammar: AnswerGrammar,
        limit: int | None,
        temperature: float,
        seed: int,
        cancelled: Callable[[], bool],
    ) -> None:
        self._model = model
        self._grammar = grammar
        self._limit = limit
        self._temperature = temperature
        self._dice = random.Random(seed)
        self._cancelled = cancelled
        self._cursor = Cursor(grammar)
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._text: list[str] = []
        self._waiting: list[int] = []
        """Tokens that are said and not yet in the context."""
        self._said = 0
        self._place = -1
        self._slot_source: list[int] = []
        self._slot_said: list[int] = []
        self._truncated = self._ended = False

    def run(self, prompt: Sequence[int]) -> Answer:
        model = self._model
        self._budgets = self._share(model.context - len(prompt))
        with model.grammar(self._grammar.gbnf) as state:
            self._force(state)
            opening, self._waiting = [*prompt, *self._waiting], []
            for at in range(model.begin_anew(opening), len(opening), CHUNK):
                self._check()
                model.decode(opening[at : at + CHUNK], keep=True)
            while not (self._ended or self._cursor.done):
                self._step(state)
                if model.used + len(self._waiting) > model.context:
                    self._truncated = True
                    break
                for at in range(0, len(self._waiting), CHUNK):
                    self._check()
                    model.decode(self._waiting[at : at + CHUNK])
                self._waiting = []
        return Answer("".join(self._text), self._truncated, len(prompt), self._said)

    def _share(self, room: int) -> dict[int, int]:
        """The budget of each slot, by its place, so that all find room; raises `TooLong` where they cannot."""
        sources = {
            place: len(self._model.tokens(part.source))
            for place, part in enumerate(self._grammar.parts)
            if isinstance(part, Slot)
        }
        fixed = sum(len(self._model.tokens(part)) for part in self._grammar.parts if isinstance(part, str)) + _OVERTIME
        if room - fixed < sum(map(_least, sources.values())):
            raise TooLong
        room = min(room, self._limit or room) - fixed
        budgets = {place: budget(source) for place, source in sources.items()}
        wanted = sum(budgets.values())
        return {place: max(1, min(share, share * room // wanted)) for place, share in budgets.items()}

    def _check(self) -> None:
        if self._cancelled():
            raise Cancelled

    def _step(self, state: Grammar) -> None:
        """Say the next token, and whatever must follow it."""
        if self._cursor.place != self._place:
            self._place, self._slot_said = self._cursor.place, []
            slot = self._cursor.slot
            self._slot_source = self._model.tokens(slot.source) if slot else []
        spent = len(self._slot_said) - self._budgets.get(self._place, 0)
        if self._cursor.slot is not None and spent >= 0:
            self._truncated = True
            if self._close(state):
                return
            if spent >= _OVERTIME:
                self._ended = True
                return
        token = self._choose(state)
        if token is None:
            return
        if token in self._model.ends:
            self._ended = True
            return
        self._say(state, token)
        self._slot_said.append(token)
        self._force(state)

    def _say(self, state: Grammar, token: int) -> None:
        state.accept(token)
        self._waiting.append(token)
        self._said += 1
        text = self._decoder.decode(self._model.piece(token))
        self._text.append(text)
        self._cursor.feed(text)

    def _force(self, state: Grammar) -> bool:
        """Say what must come next, if anything must.

        The white space before a slot is left to the model, whose tokens are words with the white space before them.
        """
        return self._say_all(state, self._cursor.rest.rstrip(" "))

    def _close(self, state: Grammar) -> bool:
        """End the slot here, if it can end here."""
        if self._decoder.getstate()[0]:
            return False
        literal = self._cursor.following.rstrip(" ")
        if literal and not self._say_all(state, literal):
            return False
        if not literal.strip():
            self._ended = any(state.admits(end) for end in self._model.ends)
            return self._ended
        return True

    def _say_all(self, state: Grammar, literal: str) -> bool:
        """Say a literal, as far as the grammar admits it; whether it admits all of it."""
        tokens = self._model.tokens_exactly(literal)
        for token in tokens:
            if not state.admits(token):
                return False
            self._say(state, token)
        return bool(tokens)

    def _choose(self, state: Grammar) -> int | None:
        """The token to say: the likeliest that the grammar admits, or one at random at a temperature."""
        scores = self._model.scores()
        if self._decoder.getstate()[0]:
            # The grammar would let an answer end in the middle of a character.
            scores[list(self._model.ends)] = -math.inf
        for token, length in self._repetitions().items():
            scores[token] -= _STRENGTH * _GROWTH**length
        wish = int(scores.argmax())
        if self._slot_said and self._ends_a_slot(wish) and self._close(state):
            return None
        for tokens in (self._model.likeliest(scores, _CONSIDERED), range(self._model.size)):
            admitted, left = state.admitted(tokens, scores[tokens])
            if len(admitted):
                break
        else:
            raise ModelFault("the model has no token for what must come next")
        if self._temperature == 0:
            return int(admitted[left.argmax()])
        weights = [math.exp((score - max(left)) / self._temperature) for score in left]
        return int(self._dice.choices(admitted, weights)[0])

    def _ends_a_slot(self, wish: int) -> bool:
        """Whether the token that the model would say without a grammar tells that it has nothing more to say."""
        slot = self._cursor.slot
        if slot is None:
            return False
        said = self._model.piece(wish)
        return (
            wish in self._model.ends
            or (said.startswith(b"\n") and "\n" not in slot.kind.breaks)
            or (said.startswith(b'"') and slot.kind.escaped)
        )

    def _repetitions(self) -> dict[int, int]:
        """Tokens that would go on with a repetition, and how much longer it is than may be."""
        longest: dict[int, int] = {}
        for said, free in ((self._slot_said, _REPEATED), (self._slot_source, _COPIED)):
            for token, length in _continuations(said, self._slot_said).items():
                if length >= free:
                    longest[token] = max(longest.get(token, 0), min(length - free, _LONGEST))
        return longest


def _continuations(said: Sequence[int], end: Sequence[int]) -> dict[int, int]:
    """What followed in `said` where it matched the last tokens of `end`, and how many of them it matched."""
    found: dict[int, int] = {}
    if not end:
        return found
    last = end[-1]
    for place in range(len(said) - 1):
        if said[place] == last:
            length = 1
            while length < len(end) and length <= place and said[place - length] == end[-1 - length]:
                length += 1
            found[said[place + 1]] = max(found.get(said[place + 1], 0), length)
    return found


def _least(source_tokens: int) -> int:
    """The fewest tokens that a slot is given where there is little room."""
    return 8 + 3 * source_tokens // 2
