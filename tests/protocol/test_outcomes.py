"""What became of an execution (design "Completion records" and "Outcomes", C21, ADR-015)."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.protocol.endings import outcome_of
from dragoman.protocol.executions import ExecutionState
from dragoman.protocol.outcomes import ParentEvent, ParentEventKind, TranslationOutcome, quality_of
from dragoman.protocol.progress import Progress
from dragoman.protocol.schedule import Schedule
from dragoman.protocol.settings import Settings
from dragoman.protocol.statuses import ExecutionStatus, Quality
from dragoman.protocol.translations import Plan, TranslationRequest, plan_translation

from .scripted import TOKEN, batch


def outcome(**changes: Any) -> TranslationOutcome:
    facts: dict[str, Any] = {
        "request_id": "r1",
        "execution": ExecutionStatus.COMPLETED,
        "quality": Quality.PARTIAL,
        "error": None,
        "retries": 0,
        "failover": False,
        "translated": ("p1",),
        "unresolved": ("p2",),
        "cancelled": (),
        "calls": 1,
        "translations": {"p1": ("Good ", "morning")},
    }
    return TranslationOutcome(**(facts | changes))


def ended(state: ExecutionState, ends: list[bool | None]) -> TranslationOutcome:
    """The outcome of a request whose parents were translated, came unresolved, or neither by its end."""
    parents = {f"p{place}": f"source {place}" for place in range(len(ends))}
    plan = plan_translation(TranslationRequest("r1", "s1", parents, "de"), Settings())
    assert isinstance(plan, Plan)
    progress = Progress(plan.parents)
    for parent, end in reversed(list(zip(plan.parents, ends, strict=True))):
        if end:
            progress.resolve([(parent.id, (f"{parent.id} translated",))])
        elif end is not None:
            progress.fail(parent.units)
    schedule = Schedule(plan.batches, token=TOKEN, policy=batch("p0")._policy, direct=False, max_concurrent_calls=4)
    return outcome_of(plan, progress, schedule, state, "ERROR", completions=(), diagnostics=())


@pytest.mark.parametrize(
    ("translated", "requested", "quality"),
    [(0, 1, "NONE"), (1, 1, "COMPLETE"), (0, 5, "NONE"), (1, 5, "PARTIAL"), (4, 5, "PARTIAL"), (5, 5, "COMPLETE")],
)
def test_quality_is_the_share_that_was_translated(translated: int, requested: int, quality: str) -> None:
    assert quality_of(translated, requested) == quality


@pytest.mark.parametrize("state", [state for state in ExecutionState if state is not ExecutionState.RUNNING])
@given(st.lists(st.sampled_from([True, False, None]), min_size=1, max_size=6))
def test_requested_is_translated_and_unresolved_and_cancelled(state: ExecutionState, ends: list[bool | None]) -> None:
    found = ended(state, ends)
    names = [f"p{place}" for place in range(len(ends))]
    kinds = (found.translated, found.unresolved, found.cancelled)
    assert sorted(name for kind in kinds for name in kind) == names
    assert found.requested == len(ends)
    assert all(list(kind) == sorted(kind) for kind in kinds)
    assert found.translated == tuple(name for name, end in zip(names, ends, strict=True) if end)
    still_open = tuple(name for name, end in zip(names, ends, strict=True) if end is None)
    assert found.cancelled == (still_open if state is ExecutionState.CANCELLED else ())
    assert found.translations == {name: (f"{name} translated",) for name in found.translated}
    assert found.quality is quality_of(len(found.translated), len(ends))
    assert (found.execution.value, found.error) == (state.value, "ERROR")


@pytest.mark.parametrize(("execution", "quality"), list(product(ExecutionStatus, Quality)))
def test_execution_and_quality_are_separate_facts(execution: ExecutionStatus, quality: Quality) -> None:
    found = outcome(execution=execution, quality=quality)
    assert (found.execution, found.quality) == (execution, quality)


def test_the_translation_of_a_parent_is_its_segments_with_nothing_between() -> None:
    found = outcome(translations={"p1": ("Good ", "morning"), "p2": ("x",)})
    assert found.text("p1") == "Good morning"
    assert outcome().text() == "Good morning"


@pytest.mark.parametrize(("translations", "parent"), [({}, None), ({"p1": ("a",), "p2": ("b",)}, None), ({}, "p1")])
def test_what_was_not_translated_has_no_text(translations: dict[str, tuple[str, ...]], parent: str | None) -> None:
    with pytest.raises(KeyError):
        outcome(translations=translations).text(parent)


def test_the_translations_are_read_only() -> None:
    found = outcome()
    with pytest.raises(TypeError):
        found.translations["p2"] = ("x",)  # type: ignore[index]
    assert isinstance(hash(found), int)
    assert found == outcome()


def test_no_repr_shows_a_translation() -> None:
    event = ParentEvent("r1", "p1", ParentEventKind.DISPATCHED, ("Good ", "morning"))
    for shown in (repr(outcome()), repr(event)):
        assert "p1" in shown
        assert "morning" not in shown
