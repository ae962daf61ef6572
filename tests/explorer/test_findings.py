"""Planted faults of order are found, told apart from orders that are right, and shrunk to few deviations."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pykka
import pytest

from dragoman.actors.coordinator import AcceptanceCoordinator
from dragoman.actors.lanes import LaneFree
from dragoman.scenarios import SHIPPED, explore, read_scenario, replay_schedule
from dragoman.scenarios.explorer import Exploration
from dragoman.scenarios.judging import Kind
from dragoman.scenarios.outcomes import sharing_tells
from dragoman.scenarios.schedules import ScheduleMismatch
from dragoman.scenarios.shrinking import Tried, shrink

from ..planting import replace_handler
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


SHARED = CANARIES.replace("timeline:", "settings: {ledger_entries: 1}\ntimeline:", 1) + (
    "  - {at: 301s, register: {request: r3, session: s2, parents: {p1: canary four}}}\n"
)


def test_where_what_sessions_share_may_tell_a_run_is_undecided(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    FAULTS["does_not_wait_for_answers_on_their_way"](monkeypatch)
    path = tmp_path / "shared.yaml"
    path.write_text(SHARED)
    found = explore(read_scenario(path))
    assert found.passed
    assert found.undecided > 0
    monkeypatch.undo()
    assert explore(read_scenario(path)).undecided == 0


@pytest.mark.parametrize(
    ("head", "steps", "expected"),
    [
        ("", ["translate: {request: r1, session: s1}", "translate: {request: r2, session: s2}"], False),
        ("settings: {circuit_failures: 2}", ["direct: {request: r1, session: s1}"] * 2, False),
        (
            "settings: {circuit_failures: 2}",
            ["translate: {request: r1, session: s1}", "translate: {request: r2, session: s2}"],
            True,
        ),
        (
            "providers: {openai: {keys: 2}}",
            ["translate: {request: r1, session: s1}", "register: {request: r2, session: s2}"],
            False,
        ),
        ("settings: {max_open_handles: 1}", ["register: {request: r1, session: s1}"] * 2, False),
        (
            "settings: {max_open_handles: 1}",
            ["register: {request: r1, session: s1}", "register: {request: r2, session: s2}"],
            True,
        ),
    ],
)
def test_what_sessions_share_may_tell_where_two_of_them_come_to_it(
    tmp_path: Path, head: str, steps: list[str], expected: bool
) -> None:
    path = tmp_path / "shared.yaml"
    lines = [
        f"  - {{at: 0s, {step[:-1]}, {'source: a' if step.startswith('direct') else 'parents: {p1: a}'}}}}}"
        for step in steps
    ]
    path.write_text("\n".join(["scenario: x", *([head] if head else []), "timeline:", *lines]) + "\n")
    assert sharing_tells(read_scenario(path)) is expected


def test_a_failure_names_the_line_and_the_step_where_it_differs_first(monkeypatch: pytest.MonkeyPatch) -> None:
    FAULTS["does_not_wait_for_answers_on_their_way"](monkeypatch)
    found = explore(read_scenario(LOOKED_AT[0]))
    assert found.finding is not None
    assert found.finding.verdict.step == 4
    assert found.finding.verdict.line in range(12, 16)


def test_a_scenario_without_steps_has_one_order(tmp_path: Path) -> None:
    path = tmp_path / "nothing.yaml"
    path.write_text("scenario: nothing\ntimeline: []\n")
    found = explore(read_scenario(path), strategy="exhaustive")
    assert (found.passed, found.complete, found.orders) == (True, True, 1)


def test_an_exploration_leaves_no_actor_behind() -> None:
    before = set(pykka.ActorRegistry.get_all())
    explore(read_scenario(LOOKED_AT[0]), schedules=5)
    explore(read_scenario(LOOKED_AT[0]), schedules=5, strategy="exhaustive")
    assert set(pykka.ActorRegistry.get_all()) == before


def test_what_depends_on_more_than_the_messages_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fault that strikes every other time, whatever the order."""
    handled = iter(range(10**9))

    def wrap(original: Any, self: Any, message: Any, envelope: Any) -> Any:
        if next(handled) % 2:
            self.mailbox.tell(LaneFree("s1"))
        return original(self, message, envelope)

    replace_handler(monkeypatch, AcceptanceCoordinator, "Acknowledge", wrap)
    found = explore(read_scenario(EXPLORATIONS / "two-requests-of-one-session.yaml"), strategy="exhaustive")
    assert found.finding is not None
    assert found.finding.verdict.kind is Kind.NOT_REPEATABLE


def test_the_order_of_registrations_is_that_in_which_they_took_effect(tmp_path: Path) -> None:
    """The file lists one order, and the schedules have both; neither is a breach."""
    path = tmp_path / "registrations.yaml"
    path.write_text(
        "scenario: two registrations\ntimeline:\n"
        "  - at: 0s\n    together:\n"
        "      - {register: {request: r1, session: s1, parents: {p1: one}}}\n"
        "      - {register: {request: r2, session: s1, parents: {p1: two}}}\n"
        "  - {at: 1s, ack: {request: r1, parent: p1, result: eins}}\n"
        "  - {at: 1s, ack: {request: r2, parent: p1, result: zwei}}\n"
        "then: {history: {s1: [[one, eins], [two, zwei]]}}\n"
    )
    found = explore(read_scenario(path), strategy="exhaustive")
    assert (found.finding, found.complete, found.serial_outcomes) == (None, True, 2)


def test_a_step_that_is_refused_for_what_came_before_it_is_a_reply_like_others(tmp_path: Path) -> None:
    """The call is made only if the request is started first."""
    path = tmp_path / "refused.yaml"
    path.write_text(
        "scenario: an answer to a call that may not have been made\ntimeline:\n"
        "  - at: 0s\n    together:\n"
        "      - {translate: {request: r1, session: s1, parents: {p1: one}}, expect: STARTED}\n"
        "      - {respond: {call: r1/1, translations: {p1: eins}}}\n"
    )
    found = explore(read_scenario(path), strategy="exhaustive")
    assert (found.finding, found.complete) == (None, True)
    assert found.serial_outcomes == 2
