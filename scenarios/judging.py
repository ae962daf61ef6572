"""Whether a run under a schedule is a failure, and which.

Rules. What is broken in itself is: an invariant, a step that failed or was not answered, a stall. What a file expects
binds plain FIFO, for which it was written. Any other run must come to what some order of whole steps comes to.
"""

from __future__ import annotations

from enum import StrEnum

import attrs

from .outcomes import limits_tell
from .scheduled_run import Runner, RunReport
from .serial import Oracle, Undecided

__all__ = ["Judge", "Kind", "Verdict"]

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
    """No failure: it could not be told, for there are too many orders, or only a limit over several sessions tells."""


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
        self._limits_tell = limits_tell(runner.scenario)

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
        line = self._runner.scenario.timeline[-1].line if self._runner.scenario.timeline else 1
        try:
            if self._oracle.explains(report):
                return None
        except Undecided:
            return Verdict(Kind.UNDECIDED, line, None, "there are more orders of whole steps than were tried")
        if self._limits_tell:
            return Verdict(Kind.UNDECIDED, line, None, "only a limit over several sessions tells")
        differs = self._oracle.nearest(report)
        named = ", ".join(differs[:_NAMED]) + (f" and {len(differs) - _NAMED} more" if len(differs) > _NAMED else "")
        message = f"no order of whole steps comes to this; the nearest differs in {named}"
        return Verdict(Kind.UNEXPLAINED, line, None, message)

    def _broken(self, report: RunReport) -> Verdict | None:
        if not report.broken:
            return None
        broken = report.broken[0]
        return Verdict(Kind.BROKEN, broken.line, broken.step, broken.message)
