"""The command `timeline`: a journal as a scenario that replays to the same states, order and statuses."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter
from loguru import logger

from .picturing import unwritable, write_journal, write_told
from .terminal import FAILED, PASSED, console, usage

if TYPE_CHECKING:
    from .scenarios import Result
    from .scenarios.journal_scenario import Retold

__all__ = ["timeline"]


def timeline(
    journal: Path,
    /,
    *,
    output: Annotated[Path, Parameter(name=["--output", "-o"])],
    session: Annotated[list[str] | None, Parameter(show_default=False, json_list=False)] = None,
    name: str | None = None,
    html: Path | None = None,
    check: bool = True,
) -> int:
    """Make a scenario of a journal: the same calls, answers and timers, and what came of them as expectations.

    Texts are replaced by placeholders of the same length that are alike where the texts were, unless the journal holds
    the texts. Calls that were under way at the same time stand in a `together`, in the order in which they took effect;
    `dragoman explore` tries the others.

    Exit status: 0 if the scenario replays to the same, 1 if it does not, 2 if the journal cannot be read.

    Parameters
    ----------
    journal
        The file that the setting `journal` names. Of several runs in it the newest is taken.
    output
        Where the scenario is written; a file that is there is replaced.
    session
        Only what concerns this session; may be given several times.
    name
        The name of the scenario; that of the journal if it is left out.
    html
        Draw what the journal tells, too: one page with its first thousands of lines, of the texts only the lengths.
    check
        Replay the scenario once it is written, and tell whether it comes to the same.
    """
    from .actors.journal_reader import InvalidJournal, read_journal
    from .scenarios.journal_scenario import retell

    logger.remove()
    status = unwritable(output=output, html=html)
    if status is not None:
        return status
    try:
        told = read_journal(journal)
        retold = retell(told, name or journal.name, sessions=session)
    except InvalidJournal as error:
        return usage(str(error))
    status = write_told("output", output, retold.text.encode())
    if status is None and html is not None:
        status = write_journal(html, told, name or journal.name)
    if status is not None:
        return status
    out = console(sys.stdout)
    for line in _told(retold):
        out.print(line)
    if not check:
        out.print(f"{output}: written")
        return PASSED
    return _checked(output)


def _told(retold: Retold) -> list[str]:
    """What there is to know of a scenario beyond itself."""
    lines = [f"{retold.steps} steps, {retold.together} of them together with others"]
    if retold.lost:
        lines.append(f"the journal has lost {retold.lost} notes: what came of them is missing")
    if retold.left_out:
        lines.append(
            f"{retold.left_out} calls, answers and timers are left out: their sessions began before the journal"
        )
    if retold.misplaced:
        lines.append(f"{retold.misplaced} timers fired in an order which virtual time cannot repeat")
    return lines


def _checked(output: Path) -> int:
    from .scenarios import replay_file

    result: Result = replay_file(output)
    out = console(sys.stdout)
    if result.invalid is not None:
        out.print(f"{output}: written, but it cannot be replayed: {result.invalid}", style="bold red")
        return FAILED
    if result.passed:
        out.print(f"{output}: replays to the same", style="bold green")
        return PASSED
    first = result.failures[0]
    out.print(f"{output}: comes to something else in {len(result.failures)} places; the first:", style="bold red")
    out.print(f"line {first.line}: {first.message}")
    return FAILED
