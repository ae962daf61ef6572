"""Whether a run under a schedule is a failure, and which.

Rules. What is broken in itself is: an invariant, a step that failed or was not answered, a stall. What a file expects
binds plain FIFO, for which it was written. Any other run must come to what some order of whole steps comes to.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import StrEnum

import attrs

from .outcomes import sharing_tells
from .scheduled_run import Runner, RunReport
from .serial import Oracle, Undecided

__all__ = ["Judge", "Kind", "Verdict"]

_STEP = re.compile(r"step (\d+)(?:\.(\d+))?")
_NAMED = 4
"""Parts of an outcome that a message names."""


class Kind(StrEnum):
    """What is wrong with a run."""

    EXPECTATION = "EXPECTATION"
    """Plain FIFO does not satisfy the file."""
    BROKEN = "BROKEN"
    """An invariant is broken, a step failed or was not answered, or the run stalled."""
    UNEXPLAINED = "UNEXPLAINED"
    """No order of whole steps comes to the same replies and the same state."""
    UNDECIDED = "UNDECIDED"
    """No failure: it could not be told. There are too many orders, or what several sessions share may tell."""
    NOT_REPEATABLE = "NOT_REPEATABLE"
    """The same choices led to another run: something depends on more than the messages."""


@attrs.frozen
class Verdict:
    """What is wrong, in words that show no text of the scenario; `line` and `step` as of a failure of a replay."""

    kind: Kind
    line: int
    step: int | None
    message: str

    @property
    def fails(self) -> bool:
        return self.kind is not Kind.UNDECIDED


class Judge:
    """Judges the runs of one scenario; `limit` bounds the serial runs that it makes."""

    def __init__(self, runner: Runner, limit: int) -> None:
        self._runner = runner
        self._oracle = Oracle(runner, limit)
        self._sharing_tells = sharing_tells(runner.scenario)

    @property
    def serial_outcomes(self) -> int:
        return self._oracle.outcomes

    def plain(self, report: RunReport) -> Verdict | None:
        """The verdict on plain FIFO; None if all is well."""
        if report.broken or not report.unmet:
            return self._broken(report)
        unmet = report.unmet[0]
        return Verdict(Kind.EXPECTATION, unmet.line, unmet.step, f"in plain FIFO {unmet.message}")

    def judge(self, report: RunReport) -> Verdict | None:
        """The verdict on a run; None if all is well."""
        broken = self._broken(report)
        if broken is not None:
            return broken
        try:
            if self._oracle.explains(report):
                return None
        except Undecided:
            return Verdict(Kind.UNDECIDED, 1, None, "there are more orders of whole steps than were tried")
        if self._sharing_tells:
            return Verdict(Kind.UNDECIDED, 1, None, "only what several sessions share may tell")
        differs = self._oracle.nearest(report)
        named = ", ".join(differs[:_NAMED]) + (f" and {len(differs) - _NAMED} more" if len(differs) > _NAMED else "")
        message = f"no order of whole steps comes to this; the nearest differs in {named}"
        line, step = self._where(differs)
        return Verdict(Kind.UNEXPLAINED, line, step, message)

    def _where(self, differs: Sequence[str]) -> tuple[int, int | None]:
        """The line and the index of the earliest step that differs; of the last one if only the end does."""
        timeline = self._runner.scenario.timeline
        found = [match for part in differs if (match := _STEP.search(part)) is not None]
        if not found:
            return timeline[-1].line, None
        index, place = min((int(match[1]), -1 if match[2] is None else int(match[2])) for match in found)
        moment = timeline[index]
        return (moment.line if place < 0 else moment.steps[place].line), index

    def _broken(self, report: RunReport) -> Verdict | None:
        if not report.broken:
            return None
        broken = report.broken[0]
        return Verdict(Kind.BROKEN, broken.line, broken.step, broken.message)
