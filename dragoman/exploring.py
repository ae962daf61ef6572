"""The commands around delivery orders: `dragoman explore`, and the replay of a schedule that it saved."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter
from loguru import logger
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from .terminal import FAILED, PASSED, USAGE, console, scenario_files, speaks_unicode

if TYPE_CHECKING:
    from .scenarios import Result
    from .scenarios.exploration_report import Explored

__all__ = ["explore", "replay_saved"]

_DEFAULT_FILE = Path("schedule.json")


def explore(
    paths: Annotated[
        list[Path] | None, Parameter(name="path", show_default=False, json_list=False, json_dict=False)
    ] = None,
    /,
    *,
    schedules: int | None = None,
    strategy: Literal["random", "pct", "exhaustive"] = "random",
    seed: int = 0,
    budget: str | None = None,
    json: Annotated[bool, Parameter(negative=(), show_default=False)] = False,
    save: Path = _DEFAULT_FILE,
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
        The longest time for each scenario, as a duration: a number with ms, s, min or h, or seconds.
    json
        Print one JSON array with an object for each file, and nothing else.
    save
        Where a failing schedule is written. With several of them, NAME-2.json and so on.
    """
    from .scenarios import SHIPPED
    from .scenarios.exploration_report import exploration_lines, explorations_as_json

    logger.remove()
    if schedules is not None and schedules < 1:
        return _usage("--schedules must be at least 1")
    budget_s = None if budget is None else _seconds(budget)
    if budget is not None and budget_s is None:
        return _usage("--budget must be a duration: a number with ms, s, min or h, or seconds")
    results: list[Explored] = []
    missing = False
    free = _free_files(save)
    for path in paths or [SHIPPED / "explorations"]:
        files = list(scenario_files(path))
        if not files:
            missing = True
            console(sys.stderr).print(f"{path}: no scenario (*.yaml) below this folder")
        for file in files:
            result = _explored(file, strategy, schedules, seed, budget_s, free)
            results.append(result)
            if json:
                continue
            if result.invalid is not None:
                console(sys.stderr).print(result.invalid)
                continue
            out = console(sys.stdout)
            out.print("passed" if result.passed else "failed", style="green" if result.passed else "bold red", end="  ")
            for line in exploration_lines(result):
                out.print(line)
    if json:
        sys.stdout.write(explorations_as_json(results, ascii_only=not speaks_unicode()) + "\n")
    else:
        _summarise(results)
    if missing or any(result.invalid for result in results):
        return USAGE
    return PASSED if all(result.passed for result in results) else FAILED


def _usage(what: str) -> int:
    console(sys.stderr).print(f"dragoman: {what}")
    return USAGE


def _seconds(budget: str) -> float | None:
    """A duration of the scenario language; None if it is none."""
    from .scenarios.reading import duration_us

    try:
        amount = duration_us(float(budget))
    except ValueError:
        amount = duration_us(budget)
    return None if amount is None else float(amount) / 1e6


def _free_files(save: Path) -> Iterator[Path]:
    yield save
    number = 2
    while True:
        yield save.with_name(f"{save.stem}-{number}{save.suffix}")
        number += 1


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
    saved = None
    if found.finding is not None and found.finding.order:
        saved = next(free)
        finding = found.finding
        save_schedule(
            saved,
            file,
            digest=digest,
            seed=seed,
            tape=finding.tape,
            kind=finding.verdict.kind,
            order=finding.order,
        )
    return Explored(str(file), scenario.name, exploration=found, saved=None if saved is None else str(saved))


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


def replay_saved(schedule: Path, paths: Sequence[Path]) -> Result:
    """A saved schedule, replayed on its scenario or on the one file in `paths`; what is invalid is a result too."""
    from .scenarios import InvalidScenario, Result, read_scenario, replay_schedule
    from .scenarios.replayer import Failure
    from .scenarios.schedule_file import InvalidSchedule, file_digest, load_schedule
    from .scenarios.schedules import ScheduleMismatch

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
        return Result(str(file), None, f"{file}:{error}", ())
    if file_digest(file) != saved.sha256:
        return invalid(f"{file} is not the scenario that it was saved for: it has another digest")
    try:
        verdict, report = replay_schedule(scenario, saved.tape, seed=saved.seed, with_timeline=True)
    except ScheduleMismatch as error:
        return invalid(error)
    if report.order != saved.order:
        return invalid("the schedule does not fit: the run comes to another order than the one that was saved")
    failures = () if verdict is None else (Failure(verdict.line, verdict.step, None, None, verdict.message),)
    return Result(str(file), scenario.name, None, failures, report.timeline)
