"""From resolved units to complete parents: out of order, doubled, late, failed (design "Fragments", C3.4)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.protocol.progress import Progress
from dragoman.protocol.units import ParentPlan, Unit, plan_parent

Pieces = tuple[str, tuple[str, ...]]

SHORT, LONG, LAST = (
    plan_parent(name, segments, 6)
    for name, segments in (("p1", ("one",)), ("p2", ("alpha ", "beta gamma")), ("p3", ("end",)))
)
"""The second is split into `alpha`, `beta` and `gamma`, with a gap before each but the first."""


def texts_of(plan: ParentPlan, mark: str = "") -> list[Pieces]:
    return [(unit.id, tuple(piece.upper() + mark for piece in unit.pieces)) for unit in plan.units]


def ids(plans: tuple[ParentPlan, ...]) -> list[str]:
    return [plan.id for plan in plans]


def progress() -> Progress:
    return Progress((SHORT, LONG, LAST))


def test_the_parents_here_are_split_as_it_says() -> None:
    assert [unit.source for unit in LONG.units] == ["alpha", "beta", "gamma"]


def test_a_parent_of_one_unit_is_complete_with_it() -> None:
    parents = progress()
    complete, suppressed = parents.resolve(texts_of(SHORT))
    assert (ids(complete), suppressed) == (["p1"], 0)
    assert parents.translated == {"p1": ("ONE",)}
    assert parents.open == ("p2", "p3")
    assert not parents.dispatchable


@given(st.permutations(texts_of(LONG)))
def test_a_parent_is_emitted_once_and_complete_whatever_the_order_of_its_fragments(pieces: list[Pieces]) -> None:
    parents = progress()
    for piece in pieces[:-1]:
        assert parents.resolve([piece]) == ((), 0)
        assert "p2" not in parents.translated
    complete, suppressed = parents.resolve(pieces[-1:])
    assert (ids(complete), suppressed) == (["p2"], 0)
    assert parents.translated["p2"] == ("ALPHA ", "BETA GAMMA")


def test_parents_that_become_complete_together_come_in_source_order() -> None:
    complete, _suppressed = progress().resolve([*texts_of(LAST), *reversed(texts_of(LONG)), *texts_of(SHORT)])
    assert ids(complete) == ["p1", "p2", "p3"]


def test_of_a_fragment_that_comes_twice_the_first_stands() -> None:
    parents = progress()
    first, *rest = texts_of(LONG)
    assert parents.resolve([first, *texts_of(LONG, " AGAIN")[:1]]) == ((), 1)
    parents.resolve(rest)
    assert parents.translated["p2"] == ("ALPHA ", "BETA GAMMA")


def test_a_fragment_of_a_complete_parent_is_suppressed() -> None:
    parents = progress()
    parents.resolve(texts_of(LONG))
    assert parents.resolve(texts_of(LONG, " AGAIN")) == ((), 3)
    assert parents.translated["p2"] == ("ALPHA ", "BETA GAMMA")


@pytest.mark.parametrize("before", [0, 1, 2])
def test_a_parent_that_failed_takes_no_late_fragments(before: int) -> None:
    parents = progress()
    pieces = texts_of(LONG)
    parents.resolve(pieces[:before])
    assert parents.fail(LONG.units[before : before + 1]) == ("p2",)
    assert parents.resolve(pieces) == ((), 3)
    assert "p2" not in parents.translated
    assert list(parents.unresolved) == ["p2"]


def test_a_parent_is_unresolved_once_however_many_of_its_units_fail() -> None:
    parents = progress()
    assert parents.fail(LONG.units[:2]) == ("p2",)
    assert parents.fail(LONG.units) == ()


def test_the_parents_of_a_failed_batch_come_in_source_order() -> None:
    units: tuple[Unit, ...] = (*LAST.units, *LONG.units[2:], *SHORT.units)
    assert progress().fail(units) == ("p1", "p2", "p3")


def test_nothing_more_is_dispatched_when_every_parent_is_complete_or_unresolved() -> None:
    parents = progress()
    parents.resolve([*texts_of(LAST), *texts_of(SHORT)])
    assert (parents.dispatchable, parents.open) == (False, ("p2",))
    parents.fail(LONG.units[:1])
    assert parents.dispatchable
    assert parents.open == ()


def test_names_are_put_in_source_order() -> None:
    assert progress().in_source_order({"p3": None, "p1": None}) == ("p1", "p3")


@st.composite
def arrivals(draw: st.DrawFn) -> tuple[list[ParentPlan], list[tuple[Unit, bool]]]:
    """Parents, and the end of each of their units in any order: resolved, some of them twice, or failed."""
    limit = draw(st.integers(1, 8))
    sources = draw(st.lists(st.lists(st.text("ab <\n", max_size=12), min_size=1, max_size=3), min_size=1, max_size=5))
    plans = [plan_parent(f"p{place}", ("x", *source), limit) for place, source in enumerate(sources)]
    units = [unit for plan in plans for unit in plan.units]
    failed = draw(st.sets(st.sampled_from(units), max_size=2))
    doubled = draw(st.lists(st.sampled_from(units), max_size=4))
    events = [(unit, unit not in failed) for unit in (*units, *(unit for unit in doubled if unit not in failed))]
    return plans, draw(st.permutations(events))


@given(arrivals())
def test_what_becomes_of_the_parents_does_not_depend_on_fragments_or_their_order(
    found: tuple[list[ParentPlan], list[tuple[Unit, bool]]],
) -> None:
    plans, events = found
    parents = Progress(plans)
    complete: list[str] = []
    unresolved: list[str] = []
    suppressed = 0
    for unit, resolved in events:
        if resolved:
            ready, late = parents.resolve([(unit.id, tuple(piece.upper() for piece in unit.pieces))])
            complete += ids(ready)
            suppressed += late
        else:
            unresolved += parents.fail([unit])
    failed = {unit.parent_id for unit, resolved in events if not resolved}
    whole = [plan for plan in plans if plan.id not in failed]
    assert parents.translated == {plan.id: tuple(segment.upper() for segment in plan.segments) for plan in whole}
    assert sorted(complete) == [plan.id for plan in whole]
    assert sorted(unresolved) == sorted(parents.unresolved) == sorted(failed)
    assert parents.dispatchable
    assert suppressed >= len(events) - len({unit.id for unit, _resolved in events})
