"""Shrinking a failing schedule: to the fewest choices that differ from plain FIFO.

Rules. A candidate counts if its run fails in the same way; then the tape that the run really made takes the place of
the candidate. First whole stretches are made plain, larger ones first; then the choices that are left are taken out and
lowered, until nothing helps. Then every tape of fewer deviations is tried, those of one first, as far as the tries
reach: only after that is it known that there is none.

The better of two tapes is the one with fewer deviations; of as many, the one whose last is earlier; then the lower one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import attrs

from .schedules import trimmed

__all__ = ["Shrunk", "Tried", "deviations", "shrink"]

Tape = tuple[int, ...]


@attrs.frozen
class Tried:
    """A run: whether it fails in the way in question, its tape, and how many steps there were at each choice."""

    fails: bool
    tape: Tape
    options: tuple[int, ...]


@attrs.frozen
class Shrunk:
    """The result. `fewest` if it is known that no schedule with fewer deviations fails in this way."""

    tape: Tape
    fewest: bool
    tries: int


def deviations(tape: Tape) -> tuple[int, ...]:
    """The places of the choices that are not plain."""
    return tuple(place for place, choice in enumerate(tape) if choice)


def shrink(tape: Tape, attempt: Callable[[Tape], Tried], tries: int) -> Shrunk:
    """The best tape that fails as `tape` does, found with at most about `tries` runs of `attempt`."""
    return _Shrinker(trimmed(tape), attempt, tries).shrink()


def _rank(tape: Tape) -> tuple[int, int, Tape]:
    return len(deviations(tape)), len(tape), tape


class _Shrinker:
    def __init__(self, tape: Tape, attempt: Callable[[Tape], Tried], tries: int) -> None:
        self._best = tape
        self._attempt = attempt
        self._tries = tries
        self._known: dict[Tape, Tried] = {}

    def shrink(self) -> Shrunk:
        while any(self._better(candidate) for candidate in self._candidates()):
            pass
        fewest = self._search()
        return Shrunk(self._best, fewest, len(self._known))

    def _run(self, tape: Tape) -> Tried | None:
        """The run of a tape, made once; None if there are no tries left."""
        if tape not in self._known:
            if len(self._known) >= self._tries:
                return None
            self._known[tape] = self._attempt(tape)
        return self._known[tape]

    def _better(self, tape: Tape) -> bool:
        """Whether a tape fails and is better than the best; then it is the best."""
        tape = trimmed(tape)
        tried = self._run(tape) if _rank(tape) < _rank(self._best) else None
        if tried is None or not tried.fails or _rank(tried.tape) >= _rank(self._best):
            return False
        self._best = tried.tape
        return True

    def _candidates(self) -> Iterator[Tape]:
        tape = self._best
        places = deviations(tape)
        size = len(places)
        while size:
            for start in range(0, len(places), size):
                plain = set(places[start : start + size])
                yield tuple(0 if place in plain else choice for place, choice in enumerate(tape))
            size //= 2
        for place in range(len(tape)):
            yield tape[:place] + tape[place + 1 :]
        for place in places:
            for lower in range(1, tape[place]):
                yield (*tape[:place], lower, *tape[place + 1 :])

    def _search(self) -> bool:
        """Try every tape of fewer deviations, in the order of their number; whether that came to its end."""
        level: list[Tape] = [()]
        for _count in range(1, len(deviations(self._best))):
            following: list[Tape] = []
            for tape in level:
                run = self._run(tape)
                if run is None:
                    return False
                for candidate in _extensions(run):
                    tried = self._run(candidate)
                    if tried is None:
                        return False
                    if self._better(candidate):
                        return True
                    following.append(candidate)
            level = following
        return True


def _extensions(run: Tried) -> Iterator[Tape]:
    """Every tape that deviates once more than that of `run`, behind its last deviation."""
    for place in range(len(run.tape), len(run.options)):
        for choice in range(1, run.options[place]):
            yield (*run.tape, *(0,) * (place - len(run.tape)), choice)
