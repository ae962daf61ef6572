"""The command `load`: many callers against one runtime, and the verdict."""

from __future__ import annotations

import json as json_text
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter
from loguru import logger
from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from .protocol.errors import InvalidArgument

if TYPE_CHECKING:
    from .scenarios.load import LoadReport, Reached

__all__ = ["load"]

CLEAN, BROKEN, USAGE = 0, 1, 2
_OPTIONS = {"duration_s": "duration", "switch_interval_s": "switch-interval"}
"""Options that do not have the name of their field."""


def load(
    *,
    sessions: int = 40,
    requests: int | None = None,
    parents: int = 50,
    callers: int = 8,
    mode: Literal["threads", "async", "simulated"] = "threads",
    faults: Literal["none", "light", "heavy", "hardest"] = "light",
    duration: str | None = None,
    count: int | None = None,
    seed: int = 0,
    commit_order: Literal["session", "request"] = "session",
    switch_interval: float | None = None,
    json: Annotated[bool, Parameter(negative=(), show_default=False)] = False,
) -> int:
    """Put one runtime under load through its public face, and judge what came of it.

    Exit status: 0 if the verdict is clean, 1 if a promise was broken (the evidence is printed), 2 for bad options.

    Parameters
    ----------
    sessions
        Sessions at a time.
    requests
        Requests in all: 200, unless this, a count or a duration is given, which exclude each other.
    parents
        Parents of each request; with a count the last one has those that are left.
    callers
        Callers at a time.
    mode
        Real threads, asyncio tasks, or callers in virtual time under a seeded schedule.
    faults
        How much goes wrong: none, light, heavy or hardest; see docs/proof.md.
    duration
        How long, such as 30s or 10min. Then no request is begun, and what has begun is cut short: it gets no more ACKs
        and is cancelled. A call that is under way is waited for, so very large requests end later.
    count
        Parents of all requests together.
    seed
        Seed of the plans, and in virtual time of the schedule.
    commit_order
        The setting of that name.
    switch_interval
        Seconds after which the interpreter changes threads, at most 60; not in virtual time.
    json
        Print one JSON object, and nothing else.
    """
    from .scenarios.load import run_load
    from .scenarios.load_options import LoadOptions
    from .scenarios.load_report import as_json, as_lines, verdict_line
    from .scenarios.reading import duration_us

    errors = _to(sys.stderr)
    lengths = {"--requests": requests, "--count": count, "--duration": duration}
    given = [option for option, value in lengths.items() if value is not None]
    if len(given) > 1:
        errors.print(f"dragoman: {' and '.join(given)}: give only one of them")
        return USAGE
    try:
        amount = None if duration is None else duration_us(_number_or_text(duration))
        if duration is not None and amount is None:
            raise InvalidArgument("duration", "must be a number with ms, s, min or h, or seconds")
        options = LoadOptions(
            sessions=sessions,
            requests=requests,
            parents=parents,
            callers=callers,
            mode=mode,
            faults=faults,
            duration_s=None if amount is None else float(amount) / 1e6,
            count=count,
            seed=seed,
            commit_order=commit_order,
            switch_interval_s=switch_interval,
        )
    except InvalidArgument as error:
        option = _OPTIONS.get(error.field, error.field.replace("_", "-"))
        errors.print(f"dragoman: --{option}: {error.problem}")
        return USAGE
    logger.remove()
    report = _with_progress(lambda progress: run_load(options, progress))
    if json:
        sys.stdout.write(json_text.dumps(as_json(report)) + "\n")
    else:
        out = _to(sys.stdout)
        for line in as_lines(report):
            out.print(line)
        doubtful = "bold yellow" if report.verdict.ambiguous else "bold green"
        out.print(verdict_line(report), style=doubtful if report.verdict.clean else "bold red")
    return CLEAN if report.verdict.clean else BROKEN


def _number_or_text(duration: str) -> object:
    try:
        return float(duration)
    except ValueError:
        return duration


def _with_progress(run: Callable[[Callable[[Reached], object] | None], LoadReport]) -> LoadReport:
    """Run with a bar on standard error, where that is a terminal."""
    console = _to(sys.stderr)
    if not console.is_terminal:
        return run(None)
    columns: tuple[Any, ...] = (
        SpinnerColumn(),
        TextColumn("{task.completed:.0f}{task.description}"),
        BarColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(" requests")

        def show(reached: Reached) -> None:
            broken = f", {reached.breaches} breaches" if reached.breaches else ""
            bar.update(task, completed=reached.ended, total=reached.of, description=f" requests{broken}")

        return run(show)


def _to(stream: object) -> Console:
    return Console(file=stream, highlight=False, markup=False, emoji=False, soft_wrap=True)  # type: ignore[arg-type]
