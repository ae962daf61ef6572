"""The explorer: a scenario under many delivery orders, each run judged by the oracle of whole steps.

Rules. The first run is plain FIFO, which must satisfy the file. Runs are told apart by their order: the sequence of
messages that each actor received. The first failure ends an exploration; it is shrunk. With the same seed and the same
numbers an exploration sees the same orders and has the same digest, in every process; only a budget of time that runs
out is not repeatable, and is told.

Not promised: that a strategy other than `exhaustive` sees every order, or tells how many there are.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from enum import StrEnum
from hashlib import sha256

import attrs

from ..actors.dispatcher import Note
from ..actors.scheduled import Schedule
from ..protocol.errors import InvalidArgument
from .exhaustive import NotRepeatable, Search
from .judging import Judge, Kind, Verdict
from .scenario import Scenario
from .scheduled_run import Runner, RunReport
from .schedules import Priorities, Tape, Uniform
from .shrinking import Tried, deviations, shrink

__all__ = ["Exploration", "Finding", "Strategy", "explore", "replay_schedule"]

DEFAULT_SCHEDULES = 200
MAX_SCHEDULES = 100_000
"""Of an exhaustive exploration that is not told how many."""
_CHANGES = 3
"""Points at which a priority changes, in a run of the strategy `pct`."""
_SERIAL_RUNS = 2_000
_SHRINKING_RUNS = 4_000


class Strategy(StrEnum):
    """How the next schedule is found."""

    RANDOM = "random"
    """Each step as likely as any other."""
    PCT = "pct"
    """Random priorities, changed at a few points (probabilistic concurrency testing)."""
    EXHAUSTIVE = "exhaustive"
    """Every order, once."""


@attrs.frozen
class Finding:
    """A failure, with the schedule that shows it.

    `deviations` are the places on the tape whose choice is not plain; `fewest` if it is known that fewer will not do.
    `found_at` is the number of the schedule that first failed, from 1.
    """

    verdict: Verdict
    tape: tuple[int, ...]
    deviations: tuple[int, ...]
    fewest: bool
    order: str
    found_at: int
    timeline: tuple[str, ...]


@attrs.frozen
class Exploration:
    """What an exploration saw.

    `schedules` were run to their end; `cut_off` are runs that turned out to have been seen in another order. `orders`
    are the different orders among them. `complete` if every order was seen; None where the strategy cannot tell.
    `undecided` runs could not be judged. `digest` is over the orders in their sequence.
    """

    strategy: Strategy
    seed: int
    schedules: int
    cut_off: int
    orders: int
    complete: bool | None
    serial_outcomes: int
    undecided: int
    out_of_time: bool
    digest: str
    seconds: float
    finding: Finding | None

    @property
    def passed(self) -> bool:
        return self.finding is None


def explore(
    scenario: Scenario,
    *,
    strategy: Strategy | str = Strategy.RANDOM,
    schedules: int | None = None,
    seed: int = 0,
    budget_s: float | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> Exploration:
    """Run a scenario under at most `schedules` delivery orders, for at most `budget_s` seconds.

    Without a number there are 200 schedules; with the strategy `exhaustive` as many as there are, up to 100,000.
    `progress` is called after each run with the schedules and the different orders so far.
    """
    try:
        strategy = Strategy(strategy)
    except ValueError:
        raise InvalidArgument("strategy", f"must be one of {', '.join(Strategy)}") from None
    if schedules is None:
        schedules = MAX_SCHEDULES if strategy is Strategy.EXHAUSTIVE else DEFAULT_SCHEDULES
    if schedules < 1:
        raise InvalidArgument("schedules", "must be at least 1")
    if budget_s is not None and not budget_s >= 0:
        raise InvalidArgument("budget_s", "must be a number of seconds of at least 0")
    with Runner(scenario, seed) as runner:
        return _Explorer(runner, strategy, schedules, budget_s, progress).explore()


def replay_schedule(
    scenario: Scenario,
    tape: Sequence[int],
    *,
    seed: int = 0,
    with_timeline: bool = False,
    journal: Callable[[Note], object] | None = None,
) -> tuple[Verdict | None, RunReport]:
    """Repeat a run by its tape: what is wrong with it, if anything, and the run; `journal` takes its notes.

    Raises `ScheduleMismatch` if the tape is not one of this scenario.
    """
    with Runner(scenario, seed) as runner:
        schedule = Tape(tape, strict=True)
        report = runner.run(schedule, with_timeline=with_timeline, journal=journal)
        assert report is not None  # a tape cuts nothing off
        schedule.check_used_up()
        judge = Judge(runner, _SERIAL_RUNS)
        # The tape of plain FIFO is empty, and what the file expects binds it.
        return (judge.judge(report) if report.tape else judge.plain(report)), report


class _Explorer:
    def __init__(
        self,
        runner: Runner,
        strategy: Strategy,
        schedules: int,
        budget_s: float | None,
        progress: Callable[[int, int], object] | None,
    ) -> None:
        self._runner = runner
        self._judge = Judge(runner, _SERIAL_RUNS)
        self._strategy = strategy
        self._wanted = schedules
        self._began = time.monotonic()
        self._deadline = None if budget_s is None else self._began + budget_s
        self._progress = progress
        self._seen: set[str] = set()
        self._digest = sha256()
        self._schedules = 0
        self._cut_off = 0
        self._undecided = 0
        self._out_of_time = False
        self._length = 0

    def explore(self) -> Exploration:
        if self._strategy is Strategy.EXHAUSTIVE:
            finding, complete = self._search()
        else:
            finding, complete = self._sample(), None
        return Exploration(
            strategy=self._strategy,
            seed=self._runner.seed,
            schedules=self._schedules,
            cut_off=self._cut_off,
            orders=len(self._seen),
            complete=complete,
            serial_outcomes=self._judge.serial_outcomes,
            undecided=self._undecided,
            out_of_time=self._out_of_time,
            digest=self._digest.hexdigest()[:32],
            seconds=time.monotonic() - self._began,
            finding=finding,
        )

    def _sample(self) -> Finding | None:
        """Plain FIFO, and then what the strategy gives."""
        finding = self._see(Tape(()), plain=True)
        while finding is None and self._goes_on():
            finding = self._see(self._schedule(self._schedules))
        return finding

    def _schedule(self, number: int) -> Schedule:
        seed = self._runner.seed
        if self._strategy is Strategy.RANDOM:
            return Uniform(seed, number)
        return Priorities(seed, number, changes=_CHANGES, length=self._length)

    def _search(self) -> tuple[Finding | None, bool]:
        """Every order, plain FIFO first; a failure, and whether all have been seen."""
        try:
            return self._search_all(Search())
        except NotRepeatable as error:
            verdict = Verdict(Kind.NOT_REPEATABLE, 1, None, str(error))
            return Finding(verdict, (), (), False, "", self._schedules + 1, ()), False

    def _search_all(self, search: Search) -> tuple[Finding | None, bool]:
        finding = self._see(search, plain=True)
        while finding is None:
            if not search.go_on():
                return None, True
            if not self._goes_on():
                return None, False
            finding = self._see(search)
        return finding, False

    def _goes_on(self) -> bool:
        if self._schedules >= self._wanted:
            return False
        self._out_of_time = self._deadline is not None and time.monotonic() >= self._deadline
        return not self._out_of_time

    def _see(self, schedule: Schedule, *, plain: bool = False) -> Finding | None:
        """One run, judged; the finding if it fails."""
        report = self._runner.run(schedule)
        if report is None:
            self._cut_off += 1
            return None
        self._schedules += 1
        self._length = max(self._length, len(report.options))
        self._seen.add(report.order)
        self._digest.update(report.order.encode())
        if self._progress is not None:
            self._progress(self._schedules, len(self._seen))
        verdict = self._judge.plain(report) if plain else self._judge.judge(report)
        if verdict is not None and not verdict.fails:
            self._undecided += 1
            return None
        return None if verdict is None else self._found(report, verdict, plain=plain)

    def _found(self, report: RunReport, verdict: Verdict, *, plain: bool) -> Finding:
        found_at = self._schedules
        fewest, tape = True, report.tape
        if not plain:
            shrunk = shrink(tape, lambda tried: self._attempt(tried, verdict.kind), _SHRINKING_RUNS)
            fewest, tape = shrunk.fewest, shrunk.tape
        shown = self._runner.run(Tape(tape), with_timeline=True)
        assert shown is not None  # a tape cuts nothing off
        told = self._judge.plain(shown) if plain else self._judge.judge(shown)
        return Finding(
            verdict=told or verdict,
            tape=tape,
            deviations=deviations(tape),
            fewest=fewest,
            order=shown.order,
            found_at=found_at,
            timeline=shown.timeline,
        )

    def _attempt(self, tape: tuple[int, ...], kind: Kind) -> Tried:
        report = self._runner.run(Tape(tape))
        assert report is not None
        if kind is Kind.BROKEN:
            fails = bool(report.broken)
        else:
            verdict = self._judge.judge(report)
            fails = verdict is not None and verdict.kind is kind
        return Tried(fails, report.tape, report.options)
