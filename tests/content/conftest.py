"""What the tests of content share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from dragoman import Runtime

from .stage import simulated


@pytest.fixture
def runtime() -> Iterator[Runtime]:
    """In virtual time; when it closes nothing is left, and nothing has failed."""
    with simulated() as made:
        yield made
    assert made.close().clean
    assert made.close().counts.failed == 0
