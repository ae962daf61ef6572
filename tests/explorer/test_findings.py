"""Planted faults of order are found, told apart from orders that are right, and shrunk to few deviations."""

from __future__ import annotations

from pathlib import Path

import pytest

from dragoman.scenarios import SHIPPED, explore, read_scenario, replay_schedule
from dragoman.scenarios.explorer import Exploration
from dragoman.scenarios.judging import Kind
from dragoman.scenarios.schedules import ScheduleMismatch
from dragoman.scenarios.shrinking import Tried, shrink

from .faults import FAULTS

EXPLORATIONS = SHIPPED / "explorations"
LOOKED_AT = [
    SHIPPED / "edges" / "race-a-timer-is-never-in-a-race.yaml",
    *sorted(EXPLORATIONS.glob("*.yaml")),
]
MOST = 3
"""Deviations that a shrunk failure may have."""


def first_finding(strategy: str, schedules: int = 60) -> tuple[Path, Exploration]:
    for path in LOOKED_AT:
        found = explore(read_scenario(path), strategy=strategy, schedules=schedules)
        if found.finding is not None:
            return path, found
    raise AssertionError("nobody noticed")


@pytest.mark.parametrize("strategy", ["random", "pct"])
@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_of_order_is_found_and_shrunk(name: str, strategy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    FAULTS[name](monkeypatch)
    path, found = first_finding(strategy)
    finding = found.finding
    assert finding is not None
    assert finding.verdict.kind in (Kind.BROKEN, Kind.UNEXPLAINED)
    assert 1 <= len(finding.deviations) <= MOST
    assert all(finding.tape[place] for place in finding.deviations)
    assert sum("  choice  " in line for line in finding.timeline) == len(finding.deviations)

    verdict, report = replay_schedule(read_scenario(path), finding.tape, seed=found.seed)
    assert verdict == finding.verdict
    assert report.order == finding.order

    monkeypatch.undo()
    verdict, report = replay_schedule(read_scenario(path), finding.tape, seed=found.seed)
    assert verdict is None


def test_without_a_fault_the_same_schedules_are_right() -> None:
    for path in LOOKED_AT:
        assert explore(read_scenario(path), schedules=20).passed


def test_plain_fifo_that_does_not_satisfy_the_file_is_the_failure(tmp_path: Path) -> None:
    path = tmp_path / "wrong.yaml"
    path.write_text(
        "scenario: wrong\ntimeline:\n"
        "  - at: 0s\n    together:\n"
        "      - {claim_turn: {session: s1}, expect: 2}\n"
        "      - {claim_turn: {session: s1}, expect: 1}\n"
    )
    found = explore(read_scenario(path))
    assert found.finding is not None
    assert found.finding.verdict.kind is Kind.EXPECTATION
    assert (found.finding.verdict.line, found.finding.verdict.step) == (5, 0)
    assert found.finding.tape == ()
    assert found.schedules == 1


def test_what_a_file_expects_does_not_bind_other_orders(tmp_path: Path) -> None:
    path = tmp_path / "right.yaml"
    path.write_text(
        "scenario: right\ntimeline:\n"
        "  - at: 0s\n    together:\n"
        "      - {claim_turn: {session: s1}, expect: 1}\n"
        "      - {claim_turn: {session: s1}, expect: 2}\n"
    )
    found = explore(read_scenario(path), strategy="exhaustive")
    assert (found.passed, found.complete, found.orders, found.serial_outcomes) == (True, True, 2, 2)


CANARIES = """\
scenario: texts that must not be told
timeline:
  - {at: 0s, register: {request: r1, session: s1, parents: {p1: canary one}}}
  - {at: 0s, register: {request: r2, session: s1, parents: {p1: canary two, p2: canary three}}}
  - {at: 0s, activate: r1}
  - {at: 1s, ack: {request: r2, parent: p1, result: canary zwei}}
  - at: 300s
    together:
      - {ack: {request: r1, parent: p1, result: canary eins}}
      - {read_history: {session: s1}}
      - {cancel: r1}
      - {ack: {request: r2, parent: p2, result: canary drei}}
"""


def test_no_text_of_the_scenario_is_told_of_a_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    FAULTS["does_not_wait_for_answers_on_their_way"](monkeypatch)
    path = tmp_path / "canaries.yaml"
    path.write_text(CANARIES)
    finding = explore(read_scenario(path)).finding
    assert finding is not None
    assert any("Acknowledge" in line for line in finding.timeline)
    assert "canary" not in "\n".join((finding.verdict.message, *finding.timeline))


@pytest.mark.parametrize("tape", [(99,), (0,) * 500 + (1,)])
def test_a_tape_of_another_scenario_is_told(tape: tuple[int, ...]) -> None:
    with pytest.raises(ScheduleMismatch):
        replay_schedule(read_scenario(LOOKED_AT[0]), tape)


def test_shrinking_finds_the_one_choice_that_matters() -> None:
    def attempt(tape: tuple[int, ...]) -> Tried:
        return Tried(len(tape) > 6 and tape[6] >= 2, tape, (4,) * 12)

    shrunk = shrink((1, 2, 0, 3, 1, 0, 3, 1, 1, 0, 2), attempt, 500)
    assert shrunk.tape == (0, 0, 0, 0, 0, 0, 2)
    assert shrunk.fewest


def test_shrinking_tries_every_tape_of_fewer_deviations() -> None:
    """Two that only help together hide one elsewhere that would do alone."""

    def attempt(tape: tuple[int, ...]) -> Tried:
        fails = tape == (0, 0, 0, 3) or (len(tape) > 7 and tape[2] == 2 and tape[7] == 1)
        return Tried(fails, tape, (4,) * 9)

    assert shrink((0, 0, 2, 0, 0, 0, 0, 1), attempt, 500).tape == (0, 0, 0, 3)
    too_few = shrink((0, 0, 2, 0, 0, 0, 0, 1), attempt, 6)
    assert (too_few.tape, too_few.fewest) == ((0, 0, 2, 0, 0, 0, 0, 1), False)
