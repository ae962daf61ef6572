"""The command `load`: many callers against one runtime, and the verdict."""

from __future__ import annotations

import json as json_text
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from loguru import logger
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from .pictures import Capture, Outcome
from .picturing import MAX_NOTES, Traces, unwritable, write_run
from .protocol.errors import InvalidArgument, InvalidSetting
from .terminal import FAILED, PASSED, USAGE, Switch, console, seconds, usage

if TYPE_CHECKING:
    from .scenarios.load import LoadReport, Reached

__all__ = ["load"]

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
    journal: Path | None = None,
    html: Path | None = None,
    trace: Path | None = None,
    json: Switch = False,
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
    journal
        Keep the runtime's journal in this file: what it did, without any text, for `dragoman timeline`.
    html
        Draw how it began: one page with the first thousands of events, of their texts only the lengths.
    trace
        Write what the actors told each other at first, for the timeline of Perfetto or of Chrome.
    json
        Print one JSON object, and nothing else.
    """
    from .scenarios.load import run_load
    from .scenarios.load_options import LoadOptions
    from .scenarios.load_report import as_json, as_lines, verdict_line

    lengths = {"--requests": requests, "--count": count, "--duration": duration}
    given = [option for option, value in lengths.items() if value is not None]
    if len(given) > 1:
        return usage(f"{' and '.join(given)}: give only one of them")
    try:
        duration_s = None if duration is None else seconds(duration)
        if duration is not None and duration_s is None:
            raise InvalidArgument("duration", "must be a number with ms, s, min or h, or seconds")
        options = LoadOptions(
            sessions=sessions,
            requests=requests,
            parents=parents,
            callers=callers,
            mode=mode,
            faults=faults,
            duration_s=duration_s,
            count=count,
            seed=seed,
            commit_order=commit_order,
            switch_interval_s=switch_interval,
            journal=None if journal is None else str(journal),
        )
    except InvalidArgument as error:
        option = _OPTIONS.get(error.field, error.field.replace("_", "-"))
        return usage(f"--{option}: {error.problem}")
    status = unwritable(html=html, trace=trace)
    if status is not None:
        return status
    logger.remove()
    capture = None if html is None else Capture(max_notes=MAX_NOTES)
    traces = Traces(trace)
    tracer = traces.tracer()
    try:
        report = _with_progress(lambda progress: run_load(options, progress, journal=capture, tracer=tracer))
    except InvalidSetting as error:
        return usage(f"--{error.field}: {error.problem}")
    traces.add(tracer, "dragoman load")
    if json:
        sys.stdout.write(json_text.dumps(as_json(report)) + "\n")
    else:
        out = console(sys.stdout)
        for line in as_lines(report):
            out.print(line)
        doubtful = "bold yellow" if report.verdict.ambiguous else "bold green"
        out.print(verdict_line(report), style=doubtful if report.verdict.clean else "bold red")
    if html is not None and capture is not None:
        outcome = Outcome(
            title=f"A load run: {report.requests:,} requests, {report.parents:,} parents",
            passed=report.verdict.clean,
            remarks=(*list(as_lines(report))[:2], verdict_line(report)),
        )
        status = write_run(html, capture, options.settings, outcome, virtual=mode == "simulated")
    if traces.write() is not None or status is not None:
        return USAGE
    return PASSED if report.verdict.clean else FAILED


def _with_progress(run: Callable[[Callable[[Reached], object] | None], LoadReport]) -> LoadReport:
    """Run with a bar on standard error, where that is a terminal."""
    errors = console(sys.stderr)
    if not errors.is_terminal:
        return run(None)
    columns: tuple[Any, ...] = (
        SpinnerColumn(),
        TextColumn("{task.completed:.0f}{task.description}"),
        BarColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=errors, transient=True) as bar:
        task = bar.add_task(" requests")

        def show(reached: Reached) -> None:
            broken = f", {reached.breaches} breaches" if reached.breaches else ""
            bar.update(task, completed=reached.ended, total=reached.of, description=f" requests{broken}")

        return run(show)
