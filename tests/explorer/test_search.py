"""The exhaustive search sees exactly the orders that brute force sees, each class once."""

from __future__ import annotations

import math

import pytest
from hypothesis import HealthCheck, given, settings

from dragoman.actors.footprints import Footprint, independent
from dragoman.actors.scheduled import Event, Schedule, Step
from dragoman.scenarios import SHIPPED, read_scenario
from dragoman.scenarios.exhaustive import Cut, NotRepeatable, Search
from dragoman.scenarios.scheduled_run import Runner
from dragoman.scenarios.schedules import Uniform

from .systems import EverySchedule, System, all_of, systems

BY_FORCE = 250
"""Runs by brute force; a system that has more is too large to compare."""


def seen_by(system: System, schedule: EverySchedule | Search) -> tuple[list[object], int]:
    found = all_of(system.play, schedule, 5_000)
    assert found is not None
    return found


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
@given(system=systems())
def test_the_search_sees_what_brute_force_sees(system: System) -> None:
    by_force = all_of(system.play, EverySchedule(), BY_FORCE)
    if by_force is not None:
        searched, _cut = seen_by(system, Search())
        assert set(searched) == set(by_force[0])


@pytest.mark.parametrize("callers", [1, 2, 3, 4])
def test_callers_of_one_actor_come_in_every_order_and_each_is_run_once(callers: int) -> None:
    system = System(({}, {}, {}), ((0, 0),) * callers, ())
    searched, cut = seen_by(system, Search())
    assert len(searched) == len(set(searched)) == math.factorial(callers)
    assert cut == 0


def test_callers_of_different_actors_have_one_order() -> None:
    searched, cut = seen_by(System(({}, {}, {}), ((0, 0), (1, 0), (2, 0)), ()), Search())
    assert (len(searched), cut) == (1, 0)


def test_a_timer_that_is_due_races_with_who_cancels_it() -> None:
    system = System(({1: (("cancel", 0, 0),)}, {}, {}), ((0, 1),), ((0, 0),))
    searched, _cut = seen_by(system, Search())
    assert {seen[0] for _order, seen in searched} == {("timer 0", 1), (1,)}


def test_who_looks_at_an_answer_races_with_who_gives_it() -> None:
    system = System(({1: (("look", 1, 0),)}, {1: (("settle", 1, 0),)}, {}), ((0, 1), (1, 1)), ())
    searched, _cut = seen_by(system, Search())
    assert {seen[0] for _order, seen in searched} == {(1, True), (1, False)}


def test_a_timer_that_sleeps_as_it_is_ended_may_have_been_woken_before() -> None:
    programs = ({0: (("send", 1, 1),)}, {1: (("start", 0, 0),)}, {})
    system = System(programs, ((0, 0), (0, 0)), ((1, 0),))
    by_force = all_of(system.play, EverySchedule(), BY_FORCE)
    assert by_force is not None
    searched, _cut = seen_by(system, Search())
    assert len(set(searched)) == 8
    assert set(searched) == set(by_force[0])


def test_two_who_give_one_answer_race() -> None:
    system = System(({}, {-1: (("look", 1, 0), ("settle", 1, 0))}, {}), ((0, 0), (0, 0)), ((1, 0),))
    by_force = all_of(system.play, EverySchedule(), BY_FORCE)
    assert by_force is not None
    searched, _cut = seen_by(system, Search())
    assert set(searched) == set(by_force[0])


def test_what_comes_to_an_actor_that_stops_races_with_its_stopping() -> None:
    system = System(({}, {1: (("stop", 0, 0),)}, {}), ((1, 1), (1, 0)), ())
    searched, _cut = seen_by(system, Search())
    assert {seen[1] for _order, seen in searched} == {(1,), (0, 1)}


def test_a_search_that_takes_everything_for_independent_misses_orders(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dragoman.scenarios.exhaustive.independent", lambda _one, _other: True)
    searched, _cut = seen_by(System(({}, {}, {}), ((0, 0), (0, 0)), ()), Search())
    assert len(searched) == 1


def test_a_run_that_is_not_repeatable_is_told() -> None:
    search = Search()
    first, second = (Step(name, "outside", "A", "x") for name in ("one", "two"))
    search.rested()
    search.choose([first, second])
    search.took(Event("one", "", Footprint(frozenset(), frozenset({"queue A"})), ()))
    search.choose([second])
    search.took(Event("two", "", Footprint(frozenset(), frozenset({"queue A"})), ()))
    assert search.go_on()
    search.rested()
    with pytest.raises(NotRepeatable) as told:
        search.choose([first])
    assert told.value.place == 0


def test_footprints_meet_where_one_writes_what_the_other_reads_or_writes() -> None:
    def footprint(reads: str = "", writes: str = "") -> Footprint:
        return Footprint(frozenset(reads), frozenset(writes))

    assert independent(footprint(reads="ab"), footprint(reads="bc"))
    assert independent(footprint(writes="a"), footprint(reads="b", writes="c"))
    assert not independent(footprint(writes="a"), footprint(reads="a"))
    assert not independent(footprint(reads="a"), footprint(writes="a"))
    assert not independent(footprint(writes="a"), footprint(writes="ab"))


SMALL = ("a-clearing-against-an-ack", "two-requests-of-one-session", "an-answer-against-the-execution-timeout")


@pytest.mark.parametrize("name", SMALL)
def test_no_random_schedule_of_a_scenario_has_an_order_that_the_search_does_not_see(name: str) -> None:
    with Runner(read_scenario(SHIPPED / "explorations" / f"{name}.yaml"), 0) as runner:

        def play(schedule: Schedule) -> tuple[str, str]:
            report = runner.run(schedule)
            if report is None:
                raise Cut
            return report.order, report.outcome

        found = all_of(play, Search(), 1_000)
        assert found is not None
        sampled = {play(Uniform(1, number)) for number in range(150)}
    assert sampled <= set(found[0])
    assert len(sampled) > len(set(found[0])) / 2
