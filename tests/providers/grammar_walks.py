"""What a model could say that has nothing but the grammar to hold it: a walk through the rules at random."""

from __future__ import annotations

import random
from collections.abc import Callable

from dragoman.providers.grammar import AnswerGrammar
from dragoman.providers.grammar_rules import START, Chars, Rules, SlotKind, rules_of

__all__ = ["admits", "walk"]

_TEMPTING = "<</dDmM--\\\\\"'{[]}`~:,. 0123tfnrau \u00a0\u3000é漢🙂"
_LENGTH = 40
"""After so many characters a slot ends as soon as it may."""


def walk(grammar: AnswerGrammar, dice: random.Random, rules: Callable[[SlotKind], Rules] = rules_of) -> str:
    """An answer that the grammar admits."""
    return "".join(
        part if isinstance(part, str) else _slot(rules(part.kind), dice, dice.randint(0, _LENGTH))
        for part in grammar.parts
    )


def _slot(rules: Rules, dice: random.Random, length: int) -> str:
    said: list[str] = []
    rule = START
    while True:
        ways = rules[rule]
        if not ways[0] and (len(said) >= length or dice.random() < 0.05):
            return "".join(said)
        terminal, rule = dice.choice([way for way in ways if way])
        said.append(_one_of(terminal, dice) if isinstance(terminal, Chars) else terminal)


def _one_of(chars: Chars, dice: random.Random) -> str:
    tempting = [char for char in _TEMPTING if char in chars]
    if tempting and dice.random() < 0.8:
        return dice.choice(tempting)
    return chr(dice.randint(*dice.choice(chars.ranges)))


def admits(kind: SlotKind, text: str) -> bool:
    """Whether a slot may be `text`."""
    rules = rules_of(kind)
    states = {(START, text)}
    while states:
        rule, left = states.pop()
        for way in rules[rule]:
            if not way:
                if not left:
                    return True
                continue
            terminal, after = way
            if isinstance(terminal, str):
                if left.startswith(terminal):
                    states.add((after, left[len(terminal) :]))
            elif left and left[0] in terminal:
                states.add((after, left[1:]))
    return False
