"""Schedules: who decides what comes next in a run.

Rules. A schedule is made for one run. The same seed and the same number of a run give the same choices, in every
process. What was chosen is on the tape of the dispatcher, whoever chose it: a `Tape` of that repeats the run.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from ..actors.scheduled import Event, Schedule, Step
from ..protocol.errors import DragomanError

__all__ = ["Priorities", "ScheduleMismatch", "Tape", "Uniform", "trimmed"]


class ScheduleMismatch(DragomanError):
    """A recorded schedule does not belong to this scenario, or to this build."""

    fields = ("reason",)

    def __init__(self, reason: str) -> None:
        super().__init__(f"the schedule does not fit: {reason}")
        self.reason = reason


def trimmed(tape: Sequence[int]) -> tuple[int, ...]:
    """A tape without the plain choices at its end, which a run makes by itself."""
    end = len(tape)
    while end and tape[end - 1] == 0:
        end -= 1
    return tuple(tape[:end])


class _Chooser(Schedule):
    """The part that all have in common: only where there are several steps is there a choice."""

    def choose(self, steps: Sequence[Step]) -> int:
        return self._pick(steps) if len(steps) > 1 else 0

    def rested(self) -> None:
        """Whether it rests makes no difference here."""

    def took(self, event: Event) -> None:
        """What a step did makes no difference here."""

    def _pick(self, steps: Sequence[Step]) -> int:
        raise NotImplementedError


class Tape(_Chooser):
    """Recorded choices, and plain ones from its end on; an empty one is plain FIFO.

    With `strict`, a choice that the run does not offer raises `ScheduleMismatch`; else the last one is taken.
    """

    def __init__(self, choices: Sequence[int], *, strict: bool = False) -> None:
        self._choices = choices
        self._strict = strict
        self._place = 0

    def _pick(self, steps: Sequence[Step]) -> int:
        place = self._place
        self._place += 1
        choice = self._choices[place] if place < len(self._choices) else 0
        if choice < len(steps):
            return choice
        if self._strict:
            raise ScheduleMismatch(f"choice {place + 1} is {choice}, and there are only {len(steps)} steps to take")
        return len(steps) - 1

    def check_used_up(self) -> None:
        """Raise `ScheduleMismatch` if the run ended before the tape did."""
        if self._place < len(trimmed(self._choices)):
            raise ScheduleMismatch(f"the run ends after {self._place} choices of {len(self._choices)}")


class Uniform(_Chooser):
    """Each step is as likely as any other."""

    def __init__(self, seed: int, number: int) -> None:
        self._random = random.Random(f"uniform {seed} {number}")

    def _pick(self, steps: Sequence[Step]) -> int:
        return self._random.randrange(len(steps))


class Priorities(_Chooser):
    """A random priority for each actor, each caller and each timer; the highest goes first, until it is set back.

    At `changes` random points of about `length` choices the one that would go next falls below all others. So a fault
    that needs that many steps in a certain order is met with a probability that falls with the number of actors and the
    length of the run, and not with the number of all orders.
    """

    def __init__(self, seed: int, number: int, *, changes: int, length: int) -> None:
        self._random = random.Random(f"priorities {seed} {number}")
        self._name = f"priority {seed} {number}"
        points = range(1, max(2, length + 1))
        self._points = frozenset(self._random.sample(points, min(changes, len(points))))
        self._priorities: dict[str, float] = {}
        self._place = 0
        self._lowest = 0.0

    def _pick(self, steps: Sequence[Step]) -> int:
        self._place += 1
        choice = self._highest(steps)
        if self._place in self._points:
            self._lowest -= 1.0
            self._priorities[steps[choice].id] = self._lowest
            choice = self._highest(steps)
        return choice

    def _highest(self, steps: Sequence[Step]) -> int:
        return max(range(len(steps)), key=lambda place: (self._priority(steps[place].id), -place))

    def _priority(self, name: str) -> float:
        priority = self._priorities.get(name)
        if priority is None:
            # By its name, not by when it comes: an actor that turns up earlier in one run keeps its priority.
            priority = self._priorities[name] = random.Random(f"{self._name} {name}").random()
        return priority
