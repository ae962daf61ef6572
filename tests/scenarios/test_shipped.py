"""The scenarios that ship pass, and so do the worked examples, where their folder is there: each time the same."""

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


def passes_twice(path: Path) -> None:
    """The same to the byte each time, and no text of it is logged or shown."""
    with LogWatch() as watch:
        once = replay_file(path, seed=7, with_timeline=True, watch=watch)
    assert once.invalid is None
    assert once.failures == ()
    again = replay_file(path, seed=7, with_timeline=True)
    assert as_json([once]) == as_json([again])
    changed = [pair for pair in zip(once.timeline, again.timeline, strict=True) if pair[0] != pair[1]]
    assert changed == []
    assert shown_texts(path, once.timeline) == []


@pytest.mark.parametrize("path", shipped_files, ids=lambda path: path.stem)
def test_a_shipped_scenario_passes(path: Path) -> None:
    passes_twice(path)


@pytest.mark.parametrize("path", example_files, ids=lambda path: path.stem)
def test_an_example_passes(path: Path) -> None:
    passes_twice(path)
