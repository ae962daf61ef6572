"""The commands around delivery orders: `dragoman explore`, and the replay of a schedule that it saved."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import attrs
from loguru import logger
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from .picturing import Pictures, unwritable
from .terminal import (
    FAILED,
    PASSED,
    USAGE,
    ScenarioPaths,
    Switch,
    console,
    scenario_files,
    seconds,
    speaks_unicode,
    usage,
)

if TYPE_CHECKING:
    from .actors.dispatcher import Note
    from .scenarios import Result
    from .scenarios.exploration_report import Explored

__all__ = ["explore", "replay_saved"]

_DEFAULT_FILE = "schedule.json"


def explore(
    paths: ScenarioPaths = None,
    /,
    *,
    schedules: int | None = None,
    strategy: Literal["random", "pct", "exhaustive"] = "random",
    seed: int = 0,
    budget: str | None = None,
    json: Switch = False,
    save: str = _DEFAULT_FILE,
    html: Path | None = None,
) -> int:
    """Run scenarios under many delivery orders, and shrink the first failure of each.

    Exit status: 0 if nothing was found, 1 if some scenario failed, 2 if a file could not be read or is not valid.

    Parameters
    ----------
    paths
        Scenario files, or folders of them (all *.yaml below). Without any, the small scenarios that ship for it.
    schedules
        Schedules to run of each scenario: 200 if it is left out, and of every order as many as there are.
    strategy
        How they are found: each step as likely as any other, random priorities that change at a few points, or every
        order once.
    seed
        Seed of everything random, the schedules included.
    budget
        The longest time for each scenario, as a duration of more than 0: a number with ms, s, min or h, or seconds.
    json
        Print one JSON array with an object for each file, and nothing else.
    save
        Where a failing schedule is written. With several of them, NAME-2.json and so on. A schedule that is there
        already is replaced, any other file is not.
    html
        Draw what happened: one page with the shrunk run of each scenario that failed, and the plain run of the others.
    """
    from .scenarios import SHIPPED
    from .scenarios.exploration_report import explorations_as_json
    from .scenarios.schedule_file import place_refused

    logger.remove()
    if schedules is not None and schedules < 1:
        return usage("--schedules must be at least 1")
    budget_s = None if budget is None else seconds(budget)
    if budget is not None and budget_s is None:
        return usage("--budget must be a duration: a number with ms, s, min or h, or seconds")
    if budget_s == 0:
        return usage("--budget must be more than 0")
    refused = place_refused(Path(save)) if save else "must be the name of a file"
    if refused is not None:
        return usage(f"{_save_option(save)}: {refused}")
    status = unwritable(html=html)
    if status is not None:
        return status
    pictures = Pictures(html)
    results: list[Explored] = []
    missing = False
    free = _free_files(Path(save))
    for path in paths or [SHIPPED / "explorations"]:
        files = list(scenario_files(path))
        if not files:
            missing = True
            console(sys.stderr).print(f"{path}: no scenario (*.yaml) below this folder")
        for file in files:
            result = _explored(file, strategy, schedules, seed, budget_s, free)
            results.append(result)
            _draw(pictures, result, seed)
            if not json:
                _show(result)
    if json:
        sys.stdout.write(explorations_as_json(results, ascii_only=not speaks_unicode()) + "\n")
        sys.stdout.flush()
        for result in results:
            _tell_unsaved(result)
    else:
        _summarise(results)
    if pictures.write() is not None:
        return USAGE
    if missing or any(result.invalid for result in results):
        return USAGE
    return PASSED if all(result.passed for result in results) else FAILED


def _draw(pictures: Pictures, explored: Explored, seed: int) -> None:
    """Run the schedule that failed once more for its picture, or plain FIFO where none did."""
    from .scenarios import Result, replay_schedule
    from .scenarios.replayer import Failure

    capture, scenario, exploration = pictures.capture(), explored.source, explored.exploration
    if capture is None or scenario is None or exploration is None:
        return
    finding = exploration.finding
    replay_schedule(scenario, () if finding is None else finding.tape, seed=seed, journal=capture)
    if finding is None:
        failures: tuple[Failure, ...] = ()
        remark = f"{exploration.orders:,} delivery orders were run, none failed; this is the plain one."
    else:
        verdict = finding.verdict
        failures = (Failure(verdict.line, verdict.step, None, None, verdict.message),)
        remark = f"The shrunk schedule: {len(finding.deviations)} deviations from plain FIFO."
    pictures.draw(capture, Result(explored.file, scenario.name, None, failures, (), scenario), remark)


def _save_option(place: str) -> str:
    from .scenarios.source import one_line

    return f"--save {one_line(place) if place else repr(place)}"


def _show(result: Explored) -> None:
    from .scenarios.exploration_report import exploration_lines

    if result.invalid is not None:
        console(sys.stderr).print(result.invalid)
        return
    out = console(sys.stdout)
    out.print("passed" if result.passed else "failed", style="green" if result.passed else "bold red", end="  ")
    for line in exploration_lines(result):
        out.print(line)
    _tell_unsaved(result)


def _tell_unsaved(result: Explored) -> None:
    if result.unsaved is not None:
        console(sys.stderr).print(f"dragoman: {result.unsaved}")


def _free_files(save: Path) -> Iterator[Path]:
    """`save`, and then the same with a number; a file that is no schedule is passed over."""
    from .scenarios.schedule_file import place_refused

    yield save
    for number in count(2):
        numbered = save.with_name(f"{save.stem}-{number}{save.suffix}")
        if place_refused(numbered) is None or not os.path.exists(numbered):
            yield numbered


def _explored(
    file: Path, strategy: str, schedules: int | None, seed: int, budget_s: float | None, free: Iterator[Path]
) -> Explored:
    from .scenarios import InvalidScenario, read_scenario
    from .scenarios import explore as explore_scenario
    from .scenarios.exploration_report import Explored
    from .scenarios.schedule_file import file_digest, save_schedule

    try:
        scenario = read_scenario(file)
        digest = file_digest(file)
    except InvalidScenario as error:
        return Explored(str(file), invalid=f"{file}:{error}")
    with _progress(scenario.name, schedules) as told:
        found = explore_scenario(
            scenario, strategy=strategy, schedules=schedules, seed=seed, budget_s=budget_s, progress=told
        )
    explored = Explored(str(file), scenario.name, exploration=found, source=scenario)
    finding = found.finding
    if finding is None or not finding.order:
        return explored
    place = next(free)
    try:
        save_schedule(
            place,
            file,
            digest=digest,
            seed=seed,
            tape=finding.tape,
            kind=finding.verdict.kind,
            order=finding.order,
        )
    except OSError as error:
        why = error.strerror or type(error).__name__
        return attrs.evolve(explored, unsaved=f"{_save_option(str(place))}: the schedule cannot be written: {why}")
    return attrs.evolve(explored, saved=str(place))


@contextmanager
def _progress(name: str, schedules: int | None) -> Iterator[Callable[[int, int], object] | None]:
    """A bar on a terminal; nothing elsewhere."""
    shown = console(sys.stderr)
    if not shown.is_terminal:
        yield None
        return
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[orders]:,} orders"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=shown, transient=True) as progress:
        task = progress.add_task(name, total=schedules, orders=0)
        yield lambda runs, orders: progress.update(task, completed=runs, orders=orders)


def _summarise(results: Sequence[Explored]) -> None:
    passed = sum(result.passed for result in results)
    invalid = sum(result.invalid is not None for result in results)
    failed = len(results) - passed - invalid
    orders = sum(result.exploration.orders for result in results if result.exploration is not None)
    style = "bold green" if passed == len(results) else "bold red"
    console(sys.stdout).print(
        f"{passed} passed, {failed} failed, {invalid} invalid; {orders:,} different orders", style=style
    )


def replay_saved(schedule: Path, paths: Sequence[Path], journal: Callable[[Note], object] | None = None) -> Result:
    """A saved schedule, replayed on its scenario or on the one file in `paths`; what is invalid is a result too."""
    from .scenarios import InvalidScenario, Result, read_scenario, replay_schedule
    from .scenarios.replayer import Failure
    from .scenarios.schedule_file import InvalidSchedule, file_digest, load_schedule
    from .scenarios.schedules import ScheduleMismatch
    from .scenarios.source import one_line

    def invalid(reason: object) -> Result:
        return Result(str(schedule), None, f"{schedule}: {reason}", ())

    try:
        saved = load_schedule(schedule)
    except OSError as error:
        return invalid(f"cannot be read: {error.strerror}")
    except InvalidSchedule as error:
        return invalid(error)
    if len(paths) > 1 or (paths and paths[0].is_dir()):
        return invalid("a schedule is of one scenario: give its file, or none")
    file = paths[0] if paths else saved.scenario_beside(schedule)
    try:
        scenario = read_scenario(file)
    except InvalidScenario as error:
        if not paths:
            return invalid(f"the scenario that it names, {one_line(str(file))}:{error}")
        return Result(str(file), None, f"{file}:{error}", ())
    if file_digest(file) != saved.sha256:
        return invalid(f"{one_line(str(file))} is not the scenario that it was saved for: it has another digest")
    try:
        verdict, report = replay_schedule(scenario, saved.tape, seed=saved.seed, with_timeline=True, journal=journal)
    except ScheduleMismatch as error:
        return invalid(error)
    if report.order != saved.order:
        return invalid("the schedule does not fit: the run comes to another order than the one that was saved")
    failures = () if verdict is None else (Failure(verdict.line, verdict.step, None, None, verdict.message),)
    return Result(str(file), scenario.name, None, failures, report.timeline, scenario)
