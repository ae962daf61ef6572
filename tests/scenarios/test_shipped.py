"""The scenarios that ship pass; so do the worked examples, where their folder is there; and a replay is repeatable."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dragoman.scenarios import SHIPPED, read_scenario, replay_file
from dragoman.scenarios.logs import OWN_WORDS, LogWatch
from dragoman.scenarios.report import as_json

TELLING = 10
"""Shorter texts stand in a line by chance."""
REF = re.compile(r"content:[\w-]+")
"""What somebody says may be a ref and nothing else."""
EXAMPLES = Path(__file__).resolve().parents[3] / "shared" / "examples"

shipped_files = sorted(SHIPPED.rglob("*.yaml"))
example_files = sorted(EXAMPLES.rglob("*.yaml"))

each_shipped = pytest.mark.parametrize("path", shipped_files, ids=lambda path: path.stem)
each_example = pytest.mark.parametrize("path", example_files, ids=lambda path: path.stem)


def shown_texts(path: Path, timeline: tuple[str, ...]) -> list[str]:
    """The texts of a scenario that its timeline shows, in whole; what is part of a name does not count."""
    verbs = [step.verb for moment in read_scenario(path).timeline for step in moment.steps]
    names = {str(name) for verb in verbs for name in verb.ids()}
    texts = {text for verb in verbs for text in verb.texts() if isinstance(text, str) and len(text) >= TELLING}
    told = [text for text in texts if not any(text in name for name in (*names, *OWN_WORDS))]
    telling = [text for text in told if not REF.fullmatch(text)]
    whole = "\n".join(timeline)
    return [text for text in telling if text in whole]


def test_some_scenarios_ship() -> None:
    assert shipped_files


@each_shipped
def test_a_shipped_scenario_passes(path: Path) -> None:
    with LogWatch() as watch:
        result = replay_file(path, watch=watch)
    assert result.invalid is None
    assert result.failures == ()


@each_example
def test_an_example_passes(path: Path) -> None:
    with LogWatch() as watch:
        result = replay_file(path, watch=watch)
    assert result.invalid is None
    assert result.failures == ()


@pytest.mark.parametrize("path", [*shipped_files, *example_files], ids=lambda path: path.stem)
def test_a_replay_repeats_itself_to_the_byte(path: Path) -> None:
    once = replay_file(path, seed=7, with_timeline=True)
    again = replay_file(path, seed=7, with_timeline=True)
    assert as_json([once]) == as_json([again])
    changed = [pair for pair in zip(once.timeline, again.timeline, strict=True) if pair[0] != pair[1]]
    assert changed == []
    assert shown_texts(path, once.timeline) == []
