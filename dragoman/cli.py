"""The command line."""

from __future__ import annotations

import contextlib
import io
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from cyclopts import App, CycloptsError
from loguru import logger

from .exploring import explore, replay_saved
from .loading import load
from .picturing import Pictures, Traces, unwritable
from .terminal import (
    FAILED,
    INTERRUPTED,
    PASSED,
    USAGE,
    ScenarioPaths,
    Switch,
    console,
    scenario_files,
    speaks_unicode,
    usage,
)
from .timelines import timeline as retell_journal
from .translating import translate

if TYPE_CHECKING:
    from .scenarios import Result
    from .scenarios.logs import LogWatch

__all__ = ["app", "run"]

app = App(
    name="dragoman",
    help="Conversation memory for AI translation: only what was finally accepted, in source order, exactly once.",
    version_flags=["--version"],
    help_formatter="default" if sys.stdout is not None and sys.stdout.isatty() else "plain",
)


def run(arguments: Sequence[str]) -> int:
    """Run the command line; its exit status."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        status = app(arguments, exit_on_error=False, print_error=False, result_action="return_value")
    except CycloptsError as error:
        console(sys.stderr).print(f"dragoman: {error}")
        return USAGE
    except KeyboardInterrupt:
        console(sys.stderr).print("dragoman: interrupted")
        return INTERRUPTED
    except OSError as error:
        with contextlib.suppress(OSError):
            console(sys.stderr).print(f"dragoman: the output cannot be written: {error.strerror}")
        return USAGE
    return status if isinstance(status, int) else PASSED


app.command(explore)
app.command(load)
app.command(retell_journal, name="timeline")
app.command(translate)


@app.command
def replay(
    paths: ScenarioPaths = None,
    /,
    *,
    seed: int = 0,
    json: Switch = False,
    timeline: Switch = False,
    schedule: Path | None = None,
    html: Path | None = None,
    trace: Path | None = None,
) -> int:
    """Replay scenarios against the real actors in virtual time.

    Exit status: 0 if every scenario passed, 1 if some scenario failed, 2 if a file could not be read or is not valid.

    Parameters
    ----------
    paths
        Scenario files, or folders of them (all *.yaml below). Without any, the scenarios that ship with the package.
    seed
        Seed of everything random in the run.
    json
        Print one JSON array with a result for each scenario, and nothing else.
    timeline
        Print every message, timer and state change in the order of virtual time.
    schedule
        A file that `dragoman explore` has saved: repeat that run, of the scenario that it names. The seed is its own.
    html
        Draw what happened: one page, with nothing to load, that any browser shows. It holds the texts of the scenarios.
    trace
        Write what the actors told each other, for the timeline of Perfetto or of Chrome: a process for each scenario.
    """
    from .scenarios import SHIPPED
    from .scenarios.logs import LogWatch
    from .scenarios.report import as_json

    logger.remove()
    status = unwritable(html=html, trace=trace)
    if status is not None:
        return status
    if schedule is not None and trace is not None:
        return usage("--trace: is not written of a saved schedule")
    pictures, traces = Pictures(html), Traces(trace)
    results: list[Result] = []
    missing = False
    if schedule is not None:
        capture = pictures.capture()
        results.append(_shown(replay_saved(schedule, paths or (), capture), json=json, timeline=timeline))
        pictures.draw(capture, results[-1])
        paths = []
    with LogWatch() as watch:
        for path in [SHIPPED] if paths is None else paths:
            files = list(scenario_files(path))
            if not files:
                missing = True
                console(sys.stderr).print(f"{path}: no scenario (*.yaml) below this folder")
            results += [_replayed(file, seed, watch, pictures, traces, json=json, timeline=timeline) for file in files]
    if json:
        sys.stdout.write(as_json(results, ascii_only=not speaks_unicode()) + "\n")
    else:
        _summarise(results)
    if pictures.write() is not None or traces.write() is not None:
        return USAGE
    if missing or any(result.invalid for result in results):
        return USAGE
    return PASSED if all(result.passed for result in results) else FAILED


def _replayed(
    file: Path, seed: int, watch: LogWatch, pictures: Pictures, traces: Traces, *, json: bool, timeline: bool
) -> Result:
    from .scenarios import replay_file

    capture, tracer = pictures.capture(), traces.tracer()
    result = replay_file(file, seed=seed, watch=watch, with_timeline=timeline, journal=capture, tracer=tracer)
    pictures.draw(capture, result)
    traces.add(tracer, result.scenario or file.name)
    return _shown(result, json=json, timeline=timeline)


def _shown(result: Result, *, json: bool, timeline: bool) -> Result:
    """Print a result, unless it goes into the JSON with the others."""
    from .scenarios.report import as_lines
    from .scenarios.source import one_line

    if timeline and result.timeline:
        lines = console(sys.stderr if json else sys.stdout)
        lines.print(f"{one_line(str(result.scenario))} ({result.file})")
        for line in result.timeline:
            lines.print(line)
    if json:
        return result
    out = console(sys.stdout)
    if result.invalid is not None:
        console(sys.stderr).print(result.invalid)
    elif result.passed:
        out.print("passed", style="green", end="  ")
        out.print(one_line(str(result.scenario)))
    else:
        out.print("failed", style="bold red", end="  ")
        out.print(one_line(str(result.scenario)))
        for line in as_lines(result):
            out.print(line)
    return result


def _summarise(results: Sequence[Result]) -> None:
    passed = sum(result.passed for result in results)
    invalid = sum(result.invalid is not None for result in results)
    failed = len(results) - passed - invalid
    style = "bold green" if passed == len(results) else "bold red"
    console(sys.stdout).print(f"{passed} passed, {failed} failed, {invalid} invalid", style=style)
