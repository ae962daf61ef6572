"""The checkers are checked: what is planted must be noticed in its quickest way, and nothing else must be."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from dragoman.scenarios import SHIPPED, explore, explorer, read_scenario, replay_schedule

from .budgets import QUICKEST, UNSEEN
from .crew import look_apart
from .looking import CONTROL, look_at
from .mutants import MUTANTS
from .registry import AREAS
from .table import PAGE
from .ways import Caught, Missed, Way

THREADED = ("mailbox", "dispatcher", "futures")
"""Parts whose faults may leave threads that wait for ever: they are looked for in another process."""

IN_THIS_PROCESS = [name for name, mutant in MUTANTS.items() if mutant.area not in THREADED]
APART = [name for name, mutant in MUTANTS.items() if mutant.area in THREADED]


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
    pairs = [(name, *QUICKEST[name]) for name in APART]
    survived = [pair[0] for pair, found in look_apart(pairs, patience_s=60.0) if isinstance(found, Missed)]
    assert survived == []


@pytest.mark.parametrize(("way", "limit"), [(Way.SCENARIOS, 40), (Way.EXPLORER, 60), (Way.LOAD, 300)])
def test_without_a_fault_nothing_is_noticed(way: Way, limit: int) -> None:
    found = look_at(CONTROL, way, limit=limit)
    assert isinstance(found, Missed)
    assert found.looked_at >= limit


@pytest.mark.parametrize("area", ["handle", "recovery", "store", "mailbox"])
def test_without_a_fault_no_property_is_broken(area: str) -> None:
    assert look_at(CONTROL, Way.PROPERTIES, limit=12, area=area) == Missed(12)


def test_a_fault_is_taken_out_again() -> None:
    name = next(name for name, (way, budget) in QUICKEST.items() if way is Way.SCENARIOS)
    budget = QUICKEST[name][1]
    assert isinstance(look_at(name, Way.SCENARIOS, limit=budget), Caught)
    assert look_at(CONTROL, Way.SCENARIOS, limit=budget, area=MUTANTS[name].area) == Missed(budget)


def test_the_page_names_exactly_the_faults() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert re.findall(r"^\| `(\w+)` \(", page, re.MULTILINE) == list(MUTANTS)
    for mutant in MUTANTS.values():
        assert f"| `{mutant.name}` ({mutant.where}): {mutant.breaks} |" in page


ORDERING = {
    "does_not_await_a_commit_in_flight": "a-cancel-against-an-ack",
    "an_ack_overtakes_its_registration": "two-registrations-of-one-id",
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
