"""Journals for tests: of a scenario in virtual time, and of a load run."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import attrs

from dragoman.actors.dispatcher import Note
from dragoman.actors.journal_reader import Journal, read_journal
from dragoman.actors.simulation import SimulatedDispatcher
from dragoman.scenarios import read_scenario, replay_file
from dragoman.scenarios.journal_scenario import Retold, retell
from dragoman.scenarios.load import run_load
from dragoman.scenarios.load_options import LoadOptions
from dragoman.scenarios.replayer import Replay, Result

__all__ = ["journal_of", "load_journal", "replayed", "retold_load"]


def journal_of(path: Path, seed: int = 0) -> Journal:
    """What a replay of a scenario noted."""
    scenario = read_scenario(path)
    notes: list[Note] = []
    dispatcher = SimulatedDispatcher(seed)
    dispatcher.journal = notes.append
    with TemporaryDirectory() as scratch:
        run = Replay(scenario, dispatcher, Path(scratch) / "feature-history")
        with run.runtime:
            run.play()
            dispatcher.journal = None
    notes.append(("close", dispatcher.now_us()))
    head = {
        "settings": attrs.asdict(scenario.settings),
        "providers": {name: attrs.asdict(policy) for name, policy in scenario.providers.items()},
    }
    return Journal.of(head, notes)


def load_journal(folder: Path, **options: object) -> Journal:
    """The journal of a load run whose verdict is clean."""
    path = folder / "load.journal"
    report = run_load(LoadOptions(journal=str(path), **options))  # type: ignore[arg-type]
    assert report.verdict.clean
    return read_journal(path)


def replayed(retold: Retold, folder: Path) -> Result:
    """What becomes of a scenario that was made from a journal."""
    path = folder / "retold.yaml"
    path.write_text(retold.text, encoding="utf-8")
    return replay_file(path)


def retold_load(folder: Path, **options: object) -> tuple[Retold, Result]:
    """A load run, retold and replayed."""
    retold = retell(load_journal(folder, **options), "a load run")
    return retold, replayed(retold, folder)
