"""One run of a scenario under a schedule: its order, its outcome, and what was wrong with it by itself.

Rules. Timers that fall due at the instant of a step race with the steps of that instant. What the run holds is looked
at only at rest, in plain order and beside the schedule. A run whose schedule gives up, or in which something is left
unanswered for ever, is ended where it is.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Any, TypeVar

import attrs

from ..actors.dispatcher import Note
from ..actors.futures import Future
from ..actors.scheduled import Schedule, ScheduledDispatcher
from ..protocol.errors import SimulationStalled
from .exhaustive import Cut
from .outcomes import Names, digest_of, moment_parts, state_parts
from .replayer import Failure, Replay
from .scenario import Moment, Scenario, Step
from .schedules import trimmed

__all__ = ["RunReport", "Runner", "ScheduledRun"]

T = TypeVar("T")

_IN_MEMORY = "/dev/shm"
"""Where Linux keeps files in memory."""


@attrs.frozen
class RunReport:
    """What a run came to.

    `broken` is what is wrong whatever the order: a broken invariant, a step that failed or was not answered, a stall.
    `unmet` are the expectations of the file that did not hold; they bind plain FIFO. `parts` is the outcome, by the
    names of its parts. `came` are the callers that came in and the timers that fired, in that order; `options`, how
    many steps there were to choose from at each choice on the tape.
    """

    order: str
    tape: tuple[int, ...]
    options: tuple[int, ...]
    came: tuple[str, ...]
    parts: dict[str, str]
    broken: tuple[Failure, ...]
    unmet: tuple[Failure, ...]
    timeline: tuple[str, ...] = ()

    @cached_property
    def outcome(self) -> str:
        return digest_of(self.parts)


class ScheduledRun(Replay):
    """The run itself."""

    _dispatcher: ScheduledDispatcher

    def __init__(
        self,
        scenario: Scenario,
        dispatcher: ScheduledDispatcher,
        feature_history: Path,
        names: Names,
        *,
        with_timeline: bool,
        journal: Callable[[Note], object] | None = None,
    ) -> None:
        super().__init__(
            scenario,
            dispatcher,
            feature_history,
            with_timeline=with_timeline,
            touch=dispatcher.touch,
            journal=journal,
        )
        self._names = names
        self.parts: dict[str, str] = {}
        self._index = 0
        self._done: list[Future[Any]] = []
        with dispatcher.aside():
            dispatcher.run()  # what the actors tell each other first of all is in no race

    def answered(self) -> list[str]:
        """The parts of the outcome that are known already, replies to steps of this moment among them."""
        return [*self.parts] + [
            _part_of(self._index, place, step.verb.what)
            for place, (step, future) in enumerate(self._posted)
            if future is None or future.done
        ]

    def stalled(self) -> None:
        """Something waits at rest for an answer that nobody will give."""
        line = self.scenario.timeline[self._index].line
        self._break(line, self._index, None, None, "the simulation stalled: an answer is missing that nobody will give")

    def _post(self, index: int, step: Step) -> Future[Any] | None:
        future = super()._post(index, step)
        if future is not None:
            future.add_done_callback(self._done.append)
        return future

    def _order_of_answers(self) -> Sequence[int]:
        """Operations of one session are answered in the order in which they took effect; others are independent."""
        ranks = {id(future): rank for rank, future in enumerate(self._done)}
        return sorted(range(len(self._posted)), key=lambda place: ranks.get(id(self._posted[place][1]), -1))

    def _approach(self, instant_us: int) -> None:
        self._posted = []
        self._done = []
        self._dispatcher.approach(instant_us)

    def _come_to_rest(self) -> None:
        self._dispatcher.race()

    def _look(self, look: Callable[[], T]) -> T:
        with self._dispatcher.aside():
            return super()._look(look)

    def _moment(self, index: int, moment: Moment) -> None:
        self._index = index
        super()._moment(index, moment)

    def _replied(self, index: int, place: int, reply: object) -> None:
        what = self.scenario.timeline[index].steps[place].verb.what
        self.parts[_part_of(index, place, what)] = digest_of(reply)

    def _looked(self, index: int, snapshot: Any) -> None:
        self.parts.update(moment_parts(index, snapshot))

    def _then(self) -> None:
        super()._then()
        self._dispatcher.observer = None
        with self._dispatcher.aside():
            snapshot = self.runtime.snapshot()
            self.parts.update(state_parts(self._names, snapshot, self._stage))


def _part_of(index: int, place: int, what: str) -> str:
    return f"the reply to step {index}.{place} ({what})"


class Runner:
    """Runs one scenario again and again; a context, for its runs share a place for their files."""

    def __init__(self, scenario: Scenario, seed: int) -> None:
        self.scenario = scenario
        self.seed = seed
        self.names = Names.of(scenario)
        self.runs = 0
        # The durable history waits for the disk with each write; nobody needs what a run of an exploration wrote.
        folder = _IN_MEMORY if os.access(_IN_MEMORY, os.W_OK | os.X_OK) else None
        self._scratch = TemporaryDirectory(prefix="dragoman-", ignore_cleanup_errors=True, dir=folder)

    def __enter__(self) -> Runner:
        return self

    def __exit__(
        self, _type: type[BaseException] | None, _error: BaseException | None, _traceback: TracebackType | None
    ) -> None:
        self._scratch.cleanup()

    def run(
        self,
        schedule: Schedule,
        *,
        with_timeline: bool = False,
        journal: Callable[[Note], object] | None = None,
        follow: Callable[[ScheduledRun], object] | None = None,
    ) -> RunReport | None:
        """One run; None if the schedule cut it off. `follow` is given the run before it begins, `journal` its notes."""
        self.runs += 1
        dispatcher = ScheduledDispatcher(self.seed, schedule)
        file = Path(self._scratch.name) / f"{self.runs}"
        run = ScheduledRun(self.scenario, dispatcher, file, self.names, with_timeline=with_timeline, journal=journal)
        if follow is not None:
            follow(run)
        try:
            run.play()
        except Cut:
            return None
        except SimulationStalled:
            run.stalled()
        finally:
            dispatcher.observer = None
            dispatcher.journal = None
            dispatcher.abandon()
            with suppress(FileNotFoundError):
                file.unlink()
        return RunReport(
            order=dispatcher.order,
            tape=trimmed(dispatcher.tape),
            options=tuple(dispatcher.options),
            came=tuple(dispatcher.came),
            parts=run.parts,
            broken=tuple(run.broken),
            unmet=tuple(failure for failure in run.failures if failure not in run.broken),
            timeline=tuple(run.timeline),
        )
