"""The table of the planted faults in the documentation: who notices which, and after how much.

    python -m tests.mutants.table                       # looks for every mutant in every way, writes docs/mutants.md
    python -m tests.mutants.table --budget 20 --jobs 4  # seconds of the processor for each cell; processes
    python -m tests.mutants.table --only NAME …         # prints the rows of some, and writes nothing

Exit status 1 if a mutant is noticed in fewer than two ways and nothing says why (`budgets.UNSEEN`), or if something is
noticed without any mutant.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from dragoman.scenarios import SHIPPED

from .budgets import UNSEEN
from .crew import look_apart
from .looking import CONTROL
from .mutants import MUTANTS
from .registry import AREAS
from .ways import LOAD, SCHEDULES, UNITS, Caught, Missed, Way

__all__ = ["PAGE", "Row", "unexplained"]

PAGE = Path(__file__).parents[2] / "docs" / "mutants.md"
_BUDGET_S = 6.0
_PATIENCE_S = 120.0
_ENOUGH = 2
"""Ways in which a mutant has to be noticed."""

Row = Mapping[Way, Caught | Missed | None]
"""What became of one mutant in each way; None where its process did not come back."""

_HEAD = """\
# Planted faults, and who notices them

Does a checker notice what it is there for? {count} faults are planted into the runtime, one at a time, over every part
of it, and each of four ways of looking is let loose on it. None of this is installed; it stands in `tests/mutants`.

| way | what it is | counted in |
|---|---|---|
| scenarios | `dragoman replay`: the {files} files that ship, those of the fault's own part first | files |
| explorer | `dragoman explore`: the small scenarios, then all others in which things happen together | schedules |
| load | `dragoman load`, hardest profile: virtual time, threads, asyncio, seed after seed | accepted parents |
| properties | walks beside a model, stories, tests of the kernel, those of its own part first | walks |

The explorer goes through the small scenarios with {random} random schedules each, then with {pct} by priorities, then
through every order of each as far as {exhaustive} schedules reach; last it gives each other scenario that has a
`together` {others} random schedules. The load is of {load} parents a run, and its threads change as often as they can.

A fault that shows wherever one looks has a small number. `hangs` is a run that never came back, which a time limit
notices. `-` is a fault that was not noticed, with the reason, or with how much was looked at in vain.

The page is written by

    python -m tests.mutants.table

which gives each cell {budget:g} seconds of the processor. Write it again when a fault is added, when the parts that are
looked at change their shape, or when a way of looking gets other scenarios, profiles or walks. The suite fails where
the names on this page are not those of the faults, or where one is not noticed within the budget of its quickest way
(`tests/mutants/budgets.py`). What runs on threads differs from run to run; all else is the same each time.

Without any fault the same looks notice nothing: {control}.
"""


def unexplained(name: str, row: Row) -> list[Way]:
    """The ways that say neither that they noticed a mutant nor why not, if too few have noticed it."""
    silent = [way for way in Way if isinstance(row.get(way), Missed)]
    if len(Way) - len(silent) >= _ENOUGH:
        return []
    return [way for way in silent if way not in UNSEEN.get(name, {})]


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.mutants.table")
    parser.add_argument("--budget", type=float, default=_BUDGET_S, help="seconds of the processor for each cell")
    parser.add_argument("--jobs", type=int, default=2, help="processes at a time")
    parser.add_argument("--only", nargs="+", choices=list(MUTANTS), metavar="NAME", help="these mutants, not written")
    asked = parser.parse_args(arguments)
    rows = _rows([CONTROL, *(asked.only or MUTANTS)], asked.budget, asked.jobs)
    control = rows.pop(CONTROL)
    wrong = [f"without a mutant: {way} noticed something" for way in Way if not isinstance(control[way], Missed)]
    for name, row in rows.items():
        wrong += [f"{name}: {way} does not notice it, and nothing says why" for way in unexplained(name, row)]
    if asked.only:
        sys.stdout.write("\n".join(_line(name, row) for name, row in rows.items()) + "\n")
    else:
        PAGE.write_text(_page(rows, control, asked.budget), encoding="utf-8")
    for what in wrong:
        sys.stderr.write(f"{what}\n")
    return 1 if wrong else 0


def _rows(names: Sequence[str], budget_s: float, jobs: int) -> dict[str, Row]:
    def look(name: str) -> Row:
        pairs = [(name, way) for way in Way]
        found = look_apart(pairs, budget_s=budget_s, patience_s=_PATIENCE_S)
        row = {way: what for (_name, way), what in found}
        sys.stderr.write(f"{_line(name, row)}\n")
        return row

    with ThreadPoolExecutor(jobs) as pool:
        return dict(zip(names, pool.map(look, names), strict=True))


def _page(rows: Mapping[str, Row], control: Row, budget_s: float) -> str:
    looked_at = [f"{found.looked_at:,} {UNITS[way][1]}" for way, found in control.items() if isinstance(found, Missed)]
    head = _HEAD.format(
        count=len(MUTANTS),
        files=len(list(SHIPPED.rglob("*.yaml"))),
        budget=budget_s,
        load=LOAD["count"],
        **SCHEDULES,
        control=", ".join(looked_at),
    )
    return head + "".join(_tables(rows))


def _tables(rows: Mapping[str, Row]) -> Iterator[str]:
    for area in AREAS:
        yield f"\n## {area.capitalize()}\n\n| fault | " + " | ".join(Way) + " |\n|---|" + "---|" * len(Way) + "\n"
        for name, row in rows.items():
            if MUTANTS[name].area == area:
                yield _line(name, row) + "\n"


def _line(name: str, row: Row) -> str:
    mutant = MUTANTS.get(name)
    told = "no fault" if mutant is None else f"`{name}` ({mutant.where}): {mutant.breaks}"
    cells = [_cell(name, way, row[way]) for way in Way]
    return f"| {told} | " + " | ".join(cells) + " |"


def _cell(name: str, way: Way, found: Caught | Missed | None) -> str:
    if found is None:
        return "hangs"
    if isinstance(found, Caught):
        return f"{found.after:,} {UNITS[way][found.after != 1]}"
    reason = UNSEEN.get(name, {}).get(way)
    return f"- {reason}" if reason else f"- not in {found.looked_at:,} {UNITS[way][1]}"


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
