"""The timeline language and its replayer: scenarios of fragments, ACKs and timers against the real actors."""

from __future__ import annotations

from pathlib import Path

from .explorer import Exploration, Finding, Strategy, explore, replay_schedule
from .replayer import Failure, Result, replay_file, replay_scenario
from .scenario import Scenario, read_scenario
from .source import InvalidScenario

__all__ = [
    "SHIPPED",
    "Exploration",
    "Failure",
    "Finding",
    "InvalidScenario",
    "Result",
    "Scenario",
    "Strategy",
    "explore",
    "read_scenario",
    "replay_file",
    "replay_scenario",
    "replay_schedule",
]

SHIPPED = Path(__file__).parent / "timelines"
"""The scenarios that come with the package."""
