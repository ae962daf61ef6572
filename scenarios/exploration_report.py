"""Explorations as text and as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import attrs

from .explorer import Exploration, Finding
from .scenario import Scenario
from .source import one_line

__all__ = ["Explored", "exploration_lines", "explorations_as_json"]


@attrs.frozen
class Explored:
    """What became of one file.

    `invalid` is as for a replay. `saved` is where the failing schedule was written, `unsaved` why it could not be.
    """

    file: str
    scenario: str | None = None
    invalid: str | None = None
    exploration: Exploration | None = None
    saved: str | None = None
    unsaved: str | None = None
    source: Scenario | None = attrs.field(default=None, repr=False, eq=False)

    @property
    def passed(self) -> bool:
        return self.exploration is not None and self.exploration.passed


def explorations_as_json(results: Sequence[Explored], *, ascii_only: bool = False) -> str:
    """One JSON array, with an object for each file."""
    return json.dumps([_plain(result) for result in results], ensure_ascii=ascii_only, indent=2)


def _plain(result: Explored) -> dict[str, Any]:
    plain: dict[str, Any] = {
        "file": result.file,
        "scenario": result.scenario,
        "passed": result.passed,
        "invalid": result.invalid,
    }
    found = result.exploration
    if found is None:
        return plain
    plain |= {
        "strategy": found.strategy.value,
        "seed": found.seed,
        "schedules": found.schedules,
        "cut_off": found.cut_off,
        "orders": found.orders,
        "complete": found.complete,
        "serial_outcomes": found.serial_outcomes,
        "undecided": found.undecided,
        "out_of_time": found.out_of_time,
        "digest": found.digest,
        "failure": None if found.finding is None else _failure(found.finding, result.saved),
    }
    return plain


def _failure(finding: Finding, saved: str | None) -> dict[str, Any]:
    return {
        "kind": finding.verdict.kind.value,
        "line": finding.verdict.line,
        "step": finding.verdict.step,
        "message": finding.verdict.message,
        "found_at": finding.found_at,
        "tape": list(finding.tape),
        "deviations": len(finding.deviations),
        "fewest": finding.fewest,
        "order": finding.order,
        "saved": saved,
    }


def exploration_lines(result: Explored) -> list[str]:
    """An exploration as text: one line of what was seen, and a failure with its timeline."""
    found = result.exploration
    if found is None:
        return []
    lines = [f"{one_line(str(result.scenario))}: {_seen(found)}, digest {found.digest}"]
    finding = found.finding
    if finding is None:
        return lines
    verdict = finding.verdict
    where = "" if verdict.step is None else f" step {verdict.step}:"
    lines.append(f"{result.file}:{verdict.line}:{where} {verdict.message}")
    lines.append(f"    {verdict.kind}, found by schedule {finding.found_at}, shrunk to {_deviations(finding)}")
    lines += finding.timeline
    if result.saved is not None:
        lines.append(f"saved: dragoman replay --schedule {result.saved}")
    return lines


def _deviations(finding: Finding) -> str:
    count = len(finding.deviations)
    if not count:
        return "plain FIFO itself" if finding.fewest else "no schedule"
    known = "fewer will not do" if finding.fewest else "whether fewer would do is not known"
    return f"{count} choice{'s' if count > 1 else ''} that differ{'' if count > 1 else 's'} from plain FIFO ({known})"


def _seen(found: Exploration) -> str:
    runs = f"{found.schedules:,} schedule{'s' if found.schedules != 1 else ''}"
    orders = f"{found.orders:,} order{'s' if found.orders != 1 else ''}"
    if found.complete:
        seen = f"every one of {orders} ({runs})" if found.orders > 1 else f"the only order ({runs})"
    elif found.finding is not None or (found.complete is None and not found.out_of_time):
        seen = f"{orders} in {runs}"
    else:
        why = "time" if found.out_of_time else "number of schedules"
        missed = "schedule was run" if found.complete is None else "order was seen"
        seen = f"{orders} in {runs}; the {why} ended before every {missed}"
    return f"{seen}, {found.undecided:,} undecided" if found.undecided else seen
