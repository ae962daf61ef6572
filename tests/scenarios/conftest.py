"""Fixtures that write, read and replay a scenario given as text."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from dragoman.scenarios import Failure, Scenario, read_scenario, replay_file

Write = Callable[[str | bytes], Path]
Read = Callable[[str], Scenario]
Failures = Callable[[str], tuple[Failure, ...]]
Refusal = Callable[[str | bytes], str]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a file `scenario.yaml`; its path."""

    def to_file(body: str | bytes) -> Path:
        path = tmp_path / "scenario.yaml"
        path.write_bytes(body.encode() if isinstance(body, str) else body)
        return path

    return to_file


@pytest.fixture
def read(write: Write) -> Read:
    """Read a valid scenario."""
    return lambda text: read_scenario(write(text))


@pytest.fixture
def failures(write: Write) -> Failures:
    """Replay a valid scenario; what did not hold."""

    def of(text: str) -> tuple[Failure, ...]:
        result = replay_file(write(text))
        assert result.invalid is None
        assert result.passed == (not result.failures)
        return result.failures

    return of


@pytest.fixture
def refusal(write: Write) -> Refusal:
    """Replay an invalid scenario; its one error line, behind `FILE:`."""

    def of(body: str | bytes) -> str:
        path = write(body)
        result = replay_file(path)
        assert result.invalid is not None
        assert not result.passed
        assert not result.failures
        assert result.invalid.startswith(f"{path}:")
        assert len(result.invalid.splitlines()) == 1
        return result.invalid.removeprefix(f"{path}:")

    return of
