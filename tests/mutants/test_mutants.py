"""The checkers are checked: what is planted must be noticed in its quickest way, and nothing else must be."""

from __future__ import annotations

import re
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest

from dragoman.scenarios import SHIPPED, explore, explorer, read_scenario, replay_schedule

from .budgets import QUICKEST, UNSEEN
from .crew import look_apart
from .looking import CONTROL, look_at
from .mutants import MUTANTS
from .registry import AREAS
from .table import PAGE
from .ways import Caught, Missed, Way

KERNEL = ("mailbox", "dispatcher", "futures", "timers")
APART = [name for name, mutant in MUTANTS.items() if mutant.area in KERNEL]
"""Faults that may leave threads that wait for ever: they are looked for in processes of their own."""
IN_THIS_PROCESS = [name for name in MUTANTS if name not in APART]
PROCESSES = 3


def test_every_part_has_its_faults() -> None:
    counted = Counter(mutant.area for mutant in MUTANTS.values())
    assert len(MUTANTS) >= 25
    assert min(counted[area] for area in AREAS) >= 2


def test_every_fault_has_a_sentence_and_a_budget() -> None:
    assert list(QUICKEST) == list(MUTANTS)
    assert not set(UNSEEN) - set(MUTANTS)
    for mutant in MUTANTS.values():
        assert re.fullmatch(r"[A-Z][^.]*\.", mutant.breaks), mutant.name


@pytest.mark.parametrize("name", IN_THIS_PROCESS)
def test_a_fault_is_noticed_within_its_budget(name: str) -> None:
    way, budget = QUICKEST[name]
    found = look_at(name, way, limit=budget)
    assert isinstance(found, Caught), f"{name} survived {budget} of {way}"
    assert found.after <= budget


def test_a_fault_that_may_hang_is_noticed_within_its_budget() -> None:
    def look(names: list[str]) -> list[tuple[str, Caught | Missed | None]]:
        pairs = [(name, QUICKEST[name][0]) for name in names]
        limits = [QUICKEST[name][1] for name in names]
        return [(pair[0], found) for pair, found in look_apart(pairs, limits=limits, patience_s=60.0, answer_s=1.5)]

    with ThreadPoolExecutor(PROCESSES) as pool:
        found = [one for share in pool.map(look, [APART[n::PROCESSES] for n in range(PROCESSES)]) for one in share]
    assert [name for name, _what in found if name not in APART] == []
    assert len(found) == len(APART)
    assert [name for name, what in found if isinstance(what, Missed)] == []


@pytest.mark.parametrize(("way", "limit"), [(Way.SCENARIOS, 40), (Way.EXPLORER, 60), (Way.LOAD, 300)])
def test_without_a_fault_nothing_is_noticed(way: Way, limit: int) -> None:
    found = look_at(CONTROL, way, limit=limit)
    assert isinstance(found, Missed)
    assert found.looked_at >= limit


@pytest.mark.parametrize("suite", ["acceptance", "execution", "content", "kernel"])
def test_without_a_fault_no_property_is_broken(suite: str) -> None:
    assert look_at(CONTROL, Way.PROPERTIES, limit=8, suite=suite) == Missed(8)


def test_a_fault_is_taken_out_again() -> None:
    name = next(name for name, (way, budget) in QUICKEST.items() if way is Way.SCENARIOS)
    budget = QUICKEST[name][1]
    assert isinstance(look_at(name, Way.SCENARIOS, limit=budget), Caught)
    assert look_at(CONTROL, Way.SCENARIOS, limit=budget, suite=MUTANTS[name].suite) == Missed(budget)


def test_the_page_names_exactly_the_faults() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert re.findall(r"^\| `(\w+)` \(", page, re.MULTILINE) == list(MUTANTS)
    for mutant in MUTANTS.values():
        assert f"| `{mutant.name}` ({mutant.where}): {mutant.breaks} |" in page


def test_every_row_of_the_page_has_two_who_notice_or_says_why_not() -> None:
    page = PAGE.read_text(encoding="utf-8")
    for name in MUTANTS:
        row = re.search(rf"^\| `{name}` .* \| (.*) \| (.*) \| (.*) \| (.*) \|$", page, re.MULTILINE)
        assert row is not None, name
        silent = [cell for cell in row.groups() if cell.startswith("- ")]
        assert len(silent) <= 2 or not any(cell.startswith("- not in ") for cell in silent), name


ORDERING = {
    "does_not_await_a_commit_in_flight": "a-cancel-against-an-ack",
    "an_ack_overtakes_its_registration": "two-registrations-of-one-id",
    "clears_the_session_before_its_handles": "a-clearing-against-a-registration",
    "drops_a_session_that_was_used_meanwhile": "a-claim-against-the-end-of-a-session-with-a-request",
}
"""Faults that plain order does not show, with a scenario in which another order does."""


@pytest.mark.parametrize("name", ORDERING)
def test_a_schedule_that_shows_an_ordering_fault_shrinks_to_three_deviations_at_most(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    scenario = read_scenario(SHIPPED / "explorations" / f"{ORDERING[name]}.yaml")
    MUTANTS[name].plant(monkeypatch)
    monkeypatch.setattr(explorer, "_SHRINKING_RUNS", 300)
    finding = explore(scenario, schedules=300).finding
    assert finding is not None
    assert 1 <= len(finding.deviations) <= 3
    verdict, _run = replay_schedule(scenario, finding.tape)
    assert verdict is not None
    assert verdict.fails
    monkeypatch.undo()
    verdict, _run = replay_schedule(scenario, finding.tape)
    assert verdict is None
