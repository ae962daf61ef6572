"""Ends in every order: exactly one outcome, the first cause, and nothing that is left behind."""

from __future__ import annotations

import pytest

from .scenes import SCENES, follow_scene


@pytest.mark.parametrize("name", SCENES)
def test_a_meeting_ends_as_its_steps_one_after_another_would(name: str) -> None:
    follow_scene(name, orders=None, schedules=25)
