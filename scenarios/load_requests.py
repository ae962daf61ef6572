"""The script of one request: what its callers do, drawn from a seed before the first of them begins.

A script is a generator: it yields a move, or None for a pause, and is sent the plain reply. The first caller registers
and lets the others in, which have the ACKs dealt among them; so operations of one request come from several callers at
once. Which kind of end a request takes is drawn as well: most are acknowledged to the last parent, some are cancelled,
undeliverable, left to expire, never activated, cleared with their session, or hit by commits that fail. When the time
of the run is over, a script that has registered its request ends before its next move.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Generator
from typing import Any

from . import load_moves as moves
from .load_faults import Faults
from .load_moves import Move

__all__ = ["RequestScript", "Script"]

Script = Generator[Move | None, Any, None]
"""Yields what to do next, None for nothing just now."""

_READ_EVERY = 12
"""ACKs for one read of the history."""
_ENVELOPE = '{"translations": [{"id": "p1", "text": "x"}]}'


class RequestScript:
    """One request of a session: `first` is the script of the caller that registers it."""

    def __init__(
        self,
        number: int,
        session: str,
        parents: int,
        max_turns: int,
        faults: Faults,
        rng: random.Random,
        is_over: Callable[[], bool],
    ) -> None:
        self.request = f"r{number}"
        self.session = session
        self.rng = rng
        self.parents = parents
        self.was_cut = False
        """Whether it was ended before it had made all its moves."""
        self._is_over = is_over
        self._faults = faults
        self._max_turns = max_turns
        self._parents = self._draw_parents(number, parents)
        self._callers = rng.randint(1, faults.callers_each)
        drawn = rng.random()
        self._expires = drawn < faults.expiring
        self._stays_inactive = faults.expiring <= drawn < faults.expiring + faults.never_activated
        self._parts = self._deal()
        self.unfinished = len(self._parts)
        """Parts that have not come to their end; counted by the crew."""

    def _draw_parents(self, number: int, count: int) -> moves.Parents:
        """Parents of about 80 characters, listed in any order, with gaps."""
        orders = sorted(self.rng.sample(range(2 * count), count))
        parents = [
            (f"p{place}", order, f"source {place} of request {number}, {'and some more of it ' * 3}"[:80])
            for place, order in enumerate(orders)
        ]
        self.rng.shuffle(parents)
        return tuple(parents)

    def _deal(self) -> list[list[Move]]:
        """The moves of each caller."""
        rng, faults = self.rng, self._faults
        acks: list[Move] = []
        keep = self._kept_back()
        for parent, _order, source in self._parents:
            if parent in keep:
                continue
            acks.append(self._settling(parent, source))
            if rng.random() < faults.doubled:
                acks.append(self._settling(parent, source))
            if rng.random() < faults.unknown:
                acks.append(moves.acknowledge(self.session, self.request, f"{parent}?", "anything"))
            if rng.random() < faults.invalid:
                text = rng.choice(("", " \n", _ENVELOPE))
                acks.append(moves.acknowledge(self.session, self.request, parent, text))
        rng.shuffle(acks)
        parts: list[list[Move]] = [acks[place :: self._callers] for place in range(self._callers)]
        for move in self._others(len(acks)):
            part = rng.choice(parts)
            part.insert(rng.randint(0, len(part)), move)
        if not self._stays_inactive:
            part = rng.choice(parts)
            part.insert(rng.randint(0, min(len(part), 8)), moves.activate(self.session, self.request))
            if self._expires or rng.random() < faults.doubled:
                rng.choice(parts).append(moves.activate(self.session, self.request))
        return parts

    def _kept_back(self) -> set[str]:
        """The parents that never get an ACK."""
        if not self._expires and not self._stays_inactive:
            return set()
        return {parent for parent, _order, _source in self.rng.sample(self._parents, max(1, len(self._parents) // 10))}

    def _settling(self, parent: str, source: str) -> Move:
        rng = self.rng
        if rng.random() < self._faults.rejected:
            return moves.reject(self.session, self.request, parent)
        return moves.acknowledge(self.session, self.request, parent, f"{rng.choice(('accepted', 'approved'))} {source}")

    def _others(self, acks: int) -> list[Move]:
        """What is done beside the ACKs."""
        rng, faults, session, request = self.rng, self._faults, self.session, self.request
        others = [
            moves.read(session, rng.choice((self._max_turns, self._max_turns, 10, 1, 0)))
            for _read in range(1 + acks // _READ_EVERY)
        ]
        others += [moves.claim(session), moves.status(session, request)]
        if faults.callers_each == 1 and not faults.invalid:
            return others
        others.append(moves.refused_read(session))
        others.append(moves.refused_registration(session, f"{request}?", valid=rng.random() < 0.5))
        due: tuple[tuple[float, Callable[[], Move]], ...] = (
            (faults.cancelled, lambda: moves.cancel(session, request)),
            (faults.undeliverable, lambda: moves.dispatch_failed(session, request)),
            (faults.failing_commits, lambda: moves.fail_commits(session, rng.randint(1, 3))),
            (faults.cleared, lambda: moves.clear(session)),
        )
        others += [move() for share, move in due if rng.random() < share]
        return others

    def first(self, let_in: Callable[[Script], object], registered: Callable[[], object]) -> Script:
        """The script of the first caller; `let_in` gives a script to another one."""
        register = moves.register(self.session, self.request, self._parents)
        others = [self._script(part) for part in self._parts[1:]]
        if self.rng.random() < self._faults.registered_twice:
            # The others begin while the registration is on its way, one of them with another registration.
            twice = moves.register(self.session, self.request, self._parents[::-1])
            for place, script in enumerate(others):
                let_in(script if place else self._script([twice, *self._parts[1]]))
            yield register
            registered()
        else:
            yield register
            registered()
            for script in others:
                let_in(script)
        yield from self._script(self._parts[0])

    def _script(self, part: list[Move]) -> Script:
        for move in part:
            if self._is_over():
                self.was_cut = True
                return
            yield move
