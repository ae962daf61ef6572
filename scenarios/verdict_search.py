"""The search for one sequential order of a session's operations (linearizability, after Wing & Gong).

Rules. The log is followed event by event. What is known at each moment is a set of *possibilities*: a state that the
session may be in, with the open operations that have taken effect in it. When an operation is answered, orders are
tried in which it takes effect now: alone, behind others that are open as well, behind what may happen by itself. Each
step must give the reply that the operation really had. What has been tried is remembered by (operations that took
effect, state). If no possibility is left, no sequential order explains what was answered.

Three things keep this cheap.

- What changes nothing takes effect as soon as it may: an operation whose reply says that it had no effect, and a read
  that showed turns.
- What changes something does not take effect before it must: a possibility in which less has happened stands for all
  that may still happen in it. So what can as well come behind the answered operation, with the same result, is not
  tried before it.
- The fewest steps that explain an answer are taken first, and longer ways only as far as they lead elsewhere.

By the last two an order may be overlooked; never is one made up. Therefore a search that finds nothing says little, and
whoever uses it looks again with an `exhaustive` one, which tries every order, before speaking of a breach. The number
of possibilities is bounded: past the bound the session is given up as too ambiguous, which is told and is no breach.

The replies of all operations that were called before the answer must be known.
"""

from __future__ import annotations

from .verdict_facts import Operation, Registration
from .verdict_spec import Specification
from .verdict_states import EMPTY, Session

__all__ = ["Possibility", "Search", "TooAmbiguous"]

_MAX_POSSIBILITIES = 4_096
_MAX_TRIED = 50_000
_MAX_STEPS = 400_000
"""Of an exhaustive search in all."""

Possibility = tuple[Session, frozenset[Operation]]
_NOTHING: frozenset[Operation] = frozenset()


class TooAmbiguous(Exception):
    """More possibilities than can be followed."""


class Search:
    """The possibilities of one session; `open` are the operations that were called and not answered."""

    __slots__ = (
        "_exhaustive",
        "_first_acks",
        "_registrations",
        "_specification",
        "open",
        "possibilities",
        "steps",
    )

    def __init__(
        self,
        specification: Specification,
        possibilities: frozenset[Possibility] | None = None,
        *,
        exhaustive: bool = False,
    ) -> None:
        self._specification = specification
        self._exhaustive = exhaustive
        self.possibilities = frozenset(((EMPTY, _NOTHING),)) if possibilities is None else possibilities
        self.open: dict[Operation, None] = {}
        self._first_acks: dict[str, int] = {}
        self._registrations: dict[str, Registration] = {}
        self.steps = 0

    @property
    def states(self) -> frozenset[Session]:
        """The states that the session may be in, whatever is open."""
        return frozenset(state for state, _done in self.possibilities)

    def refound(self, found: Search) -> None:
        """Go on with what an exhaustive search of the same log has found."""
        self.possibilities = found.possibilities

    def call(self, operation: Operation) -> None:
        """An operation is called; in virtual time, all that fell due by then has happened."""
        if self._specification.punctual:
            self._pass_time(operation.called_at)
        if operation.kind == "ack":
            first_us = self._first_acks.setdefault(operation.request, operation.called_at)
            operation.since_us = operation.since_us or first_us
        elif operation.kind == "register":
            # One object for what is alike: which of two equal registrations was first is no question.
            first = self._registrations.setdefault(operation.request, operation.argument)
            if first.is_like(operation.argument):
                operation.argument = first
        self.open[operation] = None

    def answer(self, operation: Operation) -> bool:
        """An operation is answered; whether some order still explains everything that was answered."""
        del self.open[operation]
        found: set[Possibility] = set()
        waiting: list[Possibility] = []
        for state, done in self.possibilities:
            if operation in done:
                found.add((state, done - {operation}))
            else:
                waiting.append((state, done))
        if waiting:
            self._explain(operation, waiting, found)
        if not found:
            return False
        if len(found) > _MAX_POSSIBILITIES:
            raise TooAmbiguous
        self.possibilities = frozenset(found)
        return True

    def _explain(self, operation: Operation, ways: list[Possibility], found: set[Possibility]) -> None:
        """Find the possibilities in which `operation` has taken effect, starting from `ways`, step by step."""
        specification = self._specification
        now_us = operation.answered_at
        eager = [other for other in self.open if specification.changes_nothing(other)]
        weighty = [other for other in self.open if other not in eager] if eager else list(self.open)
        is_eager = specification.changes_nothing(operation)
        tried: set[Possibility] = set()
        explained = False
        while ways:
            elsewhere: list[Possibility] = []
            further: list[Possibility] = []
            for state, done in ways:
                self.steps += 1
                for other in eager:
                    if other not in done and (then := specification.step(state, other)) is not None:
                        state, done = then, done | {other}
                after = specification.step(state, operation)
                if after is not None:
                    explained = True
                    found.add((after, done))
                    if is_eager:
                        continue
                for then, done_then, behind in self._steps_from(state, done, weighty, now_us, after):
                    way = then, done_then
                    if way in tried:
                        continue
                    if after is None:
                        tried.add(way)
                        further.append(way)
                    elif self._exhaustive or behind is None or behind != specification.step(then, operation):
                        tried.add(way)
                        elsewhere.append(way)
            ways = elsewhere + further if self._exhaustive or not explained else elsewhere
            if len(tried) > _MAX_TRIED or (self._exhaustive and self.steps > _MAX_STEPS):
                raise TooAmbiguous

    def _steps_from(
        self, state: Session, done: frozenset[Operation], weighty: list[Operation], now_us: int, after: Session | None
    ) -> list[tuple[Session, frozenset[Operation], Session | None]]:
        """What may come next: the state then, what has taken effect, and the state if it came behind `after`."""
        specification = self._specification
        steps: list[tuple[Session, frozenset[Operation], Session | None]] = []
        happenings = tuple(specification.events(state, now_us))
        if happenings:
            later = {} if after is None else {what: then for what, _due_us, then in specification.events(after, now_us)}
            steps += [(then, done, later.get(what)) for what, _due_us, then in happenings]
        for other in weighty:
            if other not in done and (then_state := specification.step(state, other)) is not None:
                behind = None if after is None else specification.step(after, other)
                steps.append((then_state, done | {other}, behind))
        return steps

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
            happenings = tuple(specification.events(state, now_us))
            first_us = min(due_us for _what, due_us, _then in happenings)
            for _what, due_us, then in happenings:
                if due_us == first_us and (then, done) not in tried:
                    tried.add((then, done))
                    stack.append((then, done))
        self.possibilities = frozenset(over)

    def forget(self, request: str) -> None:
        """Nobody will ask for this request again."""
        self.possibilities = frozenset(
            (self._specification.forget(state, request), done) for state, done in self.possibilities
        )
        self._first_acks.pop(request, None)
        self._registrations.pop(request, None)
