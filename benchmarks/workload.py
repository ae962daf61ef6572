"""The acceptance workload: requests over sessions, and one shuffled stream of ACKs across all of them.

Everything is made before a clock starts, from one seed: the same workload for every contestant. Each parent has its
result or its rejection; some ACKs come twice, and some name a parent that is not there.
"""

from __future__ import annotations

import random

import attrs

from dragoman import Handoff, Parent

__all__ = ["Operation", "Workload", "make_workload"]

Operation = tuple[str, str, str | None]
"""Request, parent, and the accepted result; None for a rejection."""

_SYLLABLES = ("ba", "de", "ki", "lo", "mu", "na", "re", "si", "to", "vu")
_TEXT_CHARS = 80


@attrs.frozen
class Workload:
    """What every contestant does: register `handoffs`, activate them, then do `operations`, each in this order.

    `results` holds what becomes of each request: the accepted result of a parent, or None for a rejected one, by id
    and in source order. `unknown_parent` is the id that no request has.
    """

    handoffs: tuple[Handoff, ...]
    operations: tuple[Operation, ...]
    results: dict[str, dict[str, str | None]]
    unknown_parent: str

    @property
    def accepted(self) -> int:
        """Parents that become turns; the time of a run is divided by it."""
        return sum(result is not None for results in self.results.values() for result in results.values())

    @property
    def sessions(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(handoff.session_id for handoff in self.handoffs))

    def part(self, requests: frozenset[str]) -> Workload:
        """The workload of some of the requests alone, in the same order."""
        return Workload(
            tuple(handoff for handoff in self.handoffs if handoff.request_id in requests),
            tuple(operation for operation in self.operations if operation[0] in requests),
            {request_id: results for request_id, results in self.results.items() if request_id in requests},
            self.unknown_parent,
        )


def make_workload(
    requests: int = 200,
    sessions: int = 40,
    parents: int = 50,
    *,
    seed: int = 1,
    rejected: float = 0.05,
    doubled: float = 0.02,
    unknown: float = 0.01,
) -> Workload:
    """A workload; `rejected`, `doubled` and `unknown` are the shares of its parents."""
    chance = random.Random(seed)
    handoffs = []
    results: dict[str, dict[str, str | None]] = {}
    operations: list[Operation] = []
    for number in range(requests):
        request_id = f"r{number}"
        sources = tuple(Parent(f"p{place}", place, _text(chance)) for place in range(parents))
        handoffs.append(Handoff(request_id, f"s{number % sessions}", "openai", "select-element", sources))
        results[request_id] = {parent.id: _text(chance) for parent in sources}
    places = [(handoff.request_id, parent.id) for handoff in handoffs for parent in handoff.parents]
    for request_id, parent_id in chance.sample(places, round(len(places) * rejected)):
        results[request_id][parent_id] = None
    for request_id, parent_id in places + chance.sample(places, round(len(places) * doubled)):
        operations.append((request_id, parent_id, results[request_id][parent_id]))
    for request_id, _parent_id in chance.sample(places, round(len(places) * unknown)):
        operations.append((request_id, "nobody", _text(chance)))
    chance.shuffle(operations)
    return Workload(tuple(handoffs), tuple(operations), results, "nobody")


def _text(chance: random.Random) -> str:
    """About eighty characters of prose, a new string each time."""
    words: list[str] = []
    length = 0
    while length < _TEXT_CHARS:
        word = "".join(chance.choices(_SYLLABLES, k=chance.randint(1, 4)))
        words.append(word)
        length += len(word) + 1
    return " ".join(words)
