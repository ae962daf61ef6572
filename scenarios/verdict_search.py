"""The search for one sequential order of a session's operations (linearizability, after Wing & Gong).

Rules. The log is followed event by event. What is known at each moment is a set of *possibilities*: a state that the
session may be in, with the open operations that have taken effect in it. When an operation is answered, every order is
tried in which it takes effect now: alone, behind others that are open as well, behind what may happen by itself. Each
step must give the reply that the operation really had. What has been tried is remembered by (operations that took
effect, state). If no possibility is left, no sequential order explains what was answered: a breach.

Two things keep this cheap. Nothing takes effect before it must, so that a possibility which has done less stands for
all that it may still do. And where an operation may have had its reply without any effect, nothing else is tried.

The replies of all operations that were called before the answer must be known; see `SessionJudge.follow`. The number of
possibilities is bounded: past the bound the session is given up as too ambiguous, which is told and is no breach.
"""

from __future__ import annotations

from .verdict_facts import Operation
from .verdict_spec import Specification
from .verdict_states import EMPTY, Session

__all__ = ["Search", "TooAmbiguous"]

_MAX_POSSIBILITIES = 4096
_MAX_TRIED = 65536

Possibility = tuple[Session, frozenset[Operation]]
_NOTHING: frozenset[Operation] = frozenset()


class TooAmbiguous(Exception):
    """More possibilities than can be followed."""


class Search:
    """The possibilities of one session; `open` are the operations that were called and not answered."""

    __slots__ = ("_specification", "open", "possibilities", "steps")

    def __init__(self, specification: Specification, possibilities: frozenset[Possibility] | None = None) -> None:
        self._specification = specification
        self.possibilities = frozenset(((EMPTY, _NOTHING),)) if possibilities is None else possibilities
        self.open: dict[Operation, None] = {}
        self.steps = 0

    @property
    def states(self) -> frozenset[Session]:
        """The states that the session may be in, whatever is open."""
        return frozenset(state for state, _done in self.possibilities)

    def call(self, operation: Operation) -> None:
        """An operation is called; in virtual time, all that fell due by then has happened."""
        if self._specification.punctual:
            self._pass_time(operation.called_at)
        self.open[operation] = None

    def answer(self, operation: Operation) -> bool:
        """An operation is answered; whether some order still explains everything."""
        del self.open[operation]
        now_us = operation.answered_at
        found: set[Possibility] = set()
        tried: set[Possibility] = set()
        specification = self._specification
        without_effect = specification.has_no_effect(operation)
        stack: list[Possibility] = []
        for state, done in self.possibilities:
            if operation in done:
                found.add((state, done - {operation}))
            else:
                stack.append((state, done))
        while stack:
            state, done = stack.pop()
            self.steps += 1
            after = specification.step(state, operation)
            if after is not None:
                found.add((after, done))
                if without_effect:
                    continue
            further: list[Possibility] = [(event, done) for _due_us, event in specification.events(state, now_us)]
            further += [
                (then, done | {other})
                for other in self.open
                if other not in done and (then := specification.step(state, other)) is not None
            ]
            for possibility in further:
                if possibility not in tried:
                    tried.add(possibility)
                    stack.append(possibility)
            if len(tried) > _MAX_TRIED:
                raise TooAmbiguous
        if len(found) > _MAX_POSSIBILITIES:
            raise TooAmbiguous
        if not found:
            return False
        self.possibilities = frozenset(found)
        return True

    def _pass_time(self, now_us: int) -> None:
        specification = self._specification
        if not any(specification.is_overdue(state, now_us) for state, _done in self.possibilities):
            return
        over: set[Possibility] = set()
        stack = list(self.possibilities)
        tried = set(stack)
        while stack:
            state, done = stack.pop()
            if not specification.is_overdue(state, now_us):
                over.add((state, done))
                continue
            events = tuple(specification.events(state, now_us))
            first_us = min(due_us for due_us, _event in events)
            for due_us, event in events:
                if due_us == first_us and (event, done) not in tried:
                    tried.add((event, done))
                    stack.append((event, done))
        self.possibilities = frozenset(over)

    def forget(self, request: str) -> None:
        """Nobody will ask for this request again."""
        self.possibilities = frozenset(
            (self._specification.forget(state, request), done) for state, done in self.possibilities
        )
