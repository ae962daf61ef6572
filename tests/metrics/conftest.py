from __future__ import annotations

from collections.abc import Iterator

import pytest

from dragoman import Runtime, SimulatedDispatcher


@pytest.fixture
def clock() -> SimulatedDispatcher:
    return SimulatedDispatcher()


@pytest.fixture
def runtime(clock: SimulatedDispatcher) -> Iterator[Runtime]:
    """A runtime in virtual time."""
    with Runtime(dispatcher=clock) as runtime:
        yield runtime


@pytest.fixture
def threaded() -> Iterator[Runtime]:
    """A runtime in real time."""
    with Runtime() as runtime:
        yield runtime
