"""The oracle of an exploration: what whole steps come to, one after the other, in every order.

Rules. Whatever interleaving the messages take, the replies and the state are those of the whole steps in some order
(the language page). The steps of a `together` are whole steps, and so is each timer that falls due at their instant, or
at one instant with another. A serial run lets one in, lets everything come to rest, and goes on with the next.

Serial runs are made when they are needed and never twice: they hang in a tree of the orders. An order is followed only
as long as the replies that were given on the way are those of the run that is judged, and the order in which its own
steps came in is tried first. The search ends after `limit` serial runs in all; a run that is not explained by then is
undecided.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from ..actors.scheduled import Event, Schedule, Step
from .scheduled_run import Runner, RunReport, ScheduledRun

__all__ = ["Oracle", "Undecided"]


class Undecided(Exception):
    """There are more serial orders than may be tried."""


class _Node:
    """A rest at which one of several whole steps comes next: their names, what follows each, the replies so far."""

    __slots__ = ("children", "leaf", "replies", "steps")

    def __init__(self) -> None:
        self.steps: tuple[str, ...] = ()
        self.children: dict[str, _Node] = {}
        self.replies: dict[str, str] = {}
        self.leaf: RunReport | None = None


class _Serial(Schedule):
    """Whole steps in the order `wanted`, then in plain order; notes where it could have gone otherwise."""

    def __init__(self, wanted: Sequence[str]) -> None:
        self._wanted = wanted
        self.rests: list[tuple[tuple[str, ...], str, tuple[str, ...]]] = []
        self.answered: Callable[[], list[str]] = list

    def rested(self) -> None:
        """Nothing is to be done: what comes next is asked for."""

    def choose(self, steps: Sequence[Step]) -> int:
        if steps[0].kind == "message" or len(steps) == 1:
            return 0
        names = tuple(step.id for step in steps)
        place = len(self.rests)
        taken = self._wanted[place] if place < len(self._wanted) else names[0]
        self.rests.append((names, taken, tuple(self.answered())))
        return names.index(taken)

    def took(self, event: Event) -> None:
        """What a step did makes no difference here."""


class Oracle:
    """Knows the serial outcomes of one scenario, as far as they were needed."""

    def __init__(self, runner: Runner, limit: int) -> None:
        self._runner = runner
        self._limit = limit
        self._root = _Node()
        self._outcomes: dict[str, RunReport] = {}
        self.runs = 0

    @property
    def outcomes(self) -> int:
        """The different serial outcomes that are known."""
        return len(self._outcomes)

    def explains(self, report: RunReport) -> bool:
        """Whether some serial order comes to the same; raises `Undecided`."""
        if report.outcome in self._outcomes:
            return True
        return any(found.outcome == report.outcome for found in self._serial(self._root, (), report))

    def nearest(self, report: RunReport) -> list[str]:
        """The parts of the outcome in which a run differs from the serial one that is nearest to it."""
        differences = [_differences(found.parts, report.parts) for found in self._outcomes.values()]
        return min(differences, key=len, default=[])

    def _serial(self, node: _Node, way: tuple[str, ...], judged: RunReport) -> Iterator[RunReport]:
        """The serial runs behind a node whose replies are those of the run that is judged, likely ones first."""
        if node.leaf is None and not node.steps:
            self._make(way)
        if node.leaf is not None:
            yield node.leaf
            return
        if not _agree(node, judged.parts):
            return
        ranks = {step: rank for rank, step in enumerate(judged.came)}
        for step in sorted(node.steps, key=lambda step: ranks.get(step, len(ranks))):
            child = node.children.setdefault(step, _Node())
            yield from self._serial(child, (*way, step), judged)

    def _make(self, way: Sequence[str]) -> None:
        """Make a serial run that begins so, and hang it into the tree."""
        if self.runs >= self._limit:
            raise Undecided
        self.runs += 1
        schedule = _Serial(way)

        def follow(run: ScheduledRun) -> None:
            schedule.answered = run.answered

        report = self._runner.run(schedule, follow=follow)
        assert report is not None  # a serial schedule cuts nothing off
        self._outcomes.setdefault(report.outcome, report)
        node = self._root
        for names, taken, answered in schedule.rests:
            node.steps = names
            node.children.setdefault(taken, _Node())
            node.replies = {name: report.parts.get(name, "") for name in answered}
            node = node.children[taken]
        node.leaf = report


def _agree(node: _Node, parts: dict[str, str]) -> bool:
    return all(parts.get(name) == digest for name, digest in node.replies.items())


def _differences(one: dict[str, str], other: dict[str, str]) -> list[str]:
    return sorted(name for name in one.keys() | other if one.get(name) != other.get(name))
