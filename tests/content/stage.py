"""A runtime in virtual time, for the tests of content."""

from __future__ import annotations

from typing import Any

from dragoman import Runtime, Settings, SimulatedDispatcher

__all__ = ["simulated"]


def simulated(**settings: Any) -> Runtime:
    return Runtime(Settings(**settings), dispatcher=SimulatedDispatcher())
