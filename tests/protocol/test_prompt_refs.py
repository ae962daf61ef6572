"""Refs in a prompt: a line a record within a budget of characters, and what to say of a miss (P phase 2.2, 2.3)."""

from __future__ import annotations

import re
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.content_tool import ContentTool
from dragoman.protocol.prompt_refs import (
    INSTRUCTIONS,
    LOW_UTILITY_GUIDANCE,
    MISS_GUIDANCE,
    PromptRefs,
    line_of,
    render_refs,
)
from dragoman.protocol.records import CallRecord
from dragoman.protocol.statuses import CallStatus, ContentKind, LowUtility, MissReason

NO_LIMIT = 10**6


def record(number: int = 1, **changes: Any) -> CallRecord:
    made = CallRecord(
        *(f"c{number}", "assistant", "ask", 0, None, CallStatus.OK),
        content_ref=f"content:{'r' * 30}{number:02}",
        content_kind=ContentKind.OBJECT,
        content_bytes=100 * number,
        content_digest="d" * 64,
    )
    return attrs.evolve(made, **changes)


names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30) | st.sampled_from(
    ["a b", "a\nb", "\n", "a\r\n\r\nb", "\u2028", "a\x85b", "x\x1cy", "c1 assistant.ask null 4B", "line\ncontent:fake"]
)
records = st.lists(
    st.builds(
        lambda number, name, role, method: record(number, id=name, role=role, method=method),
        st.integers(1, 99),
        names,
        names,
        names,
    ),
    max_size=8,
)


@given(records, st.integers(0, 700))
def test_the_lines_never_exceed_the_budget(newest_first: list[CallRecord], max_chars: int) -> None:
    refs = render_refs(newest_first, max_chars, None)
    assert len(refs.lines) <= max_chars
    assert refs.shown + refs.omitted == len(newest_first)


def fitting(newest_first: list[CallRecord], max_chars: int) -> list[str]:
    """Those that would fit alone, up to the first for which there is no place left."""
    lines: list[str] = []
    for line in (render_refs([one], NO_LIMIT, None).lines for one in newest_first):
        if len(line) > max_chars:
            continue
        if len("\n".join([*lines, line])) > max_chars:
            break
        lines.append(line)
    return lines


@given(records, st.integers(0, 700))
def test_the_newest_are_shown_and_come_first(newest_first: list[CallRecord], max_chars: int) -> None:
    assert render_refs(newest_first, max_chars, None).lines.splitlines() == fitting(newest_first, max_chars)


@given(records)
def test_every_record_is_one_line_that_begins_with_its_ref_and_ends_with_kind_and_size(
    newest_first: list[CallRecord],
) -> None:
    lines = render_refs(newest_first, NO_LIMIT, None).lines.splitlines()
    assert len(lines) == len(newest_first)
    for line, one in zip(lines, newest_first, strict=True):
        fields = line.split(" ")
        assert fields[0] == one.content_ref
        assert fields[-2:] == ["object", f"{one.content_bytes}B"]


@given(records)
def test_white_space_in_a_name_makes_no_further_field(newest_first: list[CallRecord]) -> None:
    # "ref, role.method, kind, size": a name of several words must not be read as the fields behind it.
    for line in render_refs(newest_first, NO_LIMIT, None).lines.splitlines():
        assert len(line.split(" ")) == 4


def test_a_line_tells_ref_role_method_kind_and_size_and_nothing_else() -> None:
    one = record(7, role="debate", method="verdict")
    assert line_of(one) == f"{one.content_ref} debate.verdict object 700B"


def test_a_budget_of_exactly_the_lines_is_enough_and_one_less_is_not() -> None:
    newest_first = [record(2), record(1)]
    exact = len(render_refs(newest_first, NO_LIMIT, None).lines)
    assert render_refs(newest_first, exact, None).shown == 2
    assert render_refs(newest_first, exact - 1, None).shown == 1


def test_a_budget_of_nothing_shows_nothing() -> None:
    refs = render_refs([record(2), record(1)], 0, 1000)
    assert refs == PromptRefs(lines="", text="", shown=0, omitted=2, growth=0.0)
    assert refs.text == ""


def test_without_a_record_nothing_is_added() -> None:
    refs = render_refs([], NO_LIMIT, 1000)
    assert (refs, refs.text) == (PromptRefs(lines="", text="", shown=0, omitted=0, growth=0.0), "")


def test_an_older_record_does_not_take_the_place_of_a_newer_one() -> None:
    refs = render_refs([record(3), record(2, method="x" * 100), record(1)], 200, None)
    assert (refs.shown, refs.omitted) == (1, 2)


def test_a_record_that_can_never_fit_keeps_none_from_its_place() -> None:
    newest, oldest = record(3), record(1)
    refs = render_refs([newest, record(2, role="x" * 500), oldest], 200, None)
    shown = [line.split()[0] for line in refs.lines.splitlines()]
    assert (shown, refs.omitted) == ([newest.content_ref, oldest.content_ref], 1)


def test_the_text_is_the_instructions_and_the_lines() -> None:
    refs = render_refs([record(2), record(1)], NO_LIMIT, None)
    assert refs.text == f"{INSTRUCTIONS}\n{refs.lines}"


def test_the_instructions_may_stand_elsewhere() -> None:
    refs = render_refs([record(2), record(1)], NO_LIMIT, 10_000, instructions=False)
    assert (refs.text, refs.growth) == (refs.lines, len(refs.lines) / 10_000)


def test_the_growth_is_all_that_is_added_by_the_conversation() -> None:
    refs = render_refs([record(2), record(1)], NO_LIMIT, 10_000)
    assert refs.growth == len(refs.text) / 10_000
    assert refs.growth > (len(INSTRUCTIONS) + len(refs.lines)) / 10_000


@pytest.mark.parametrize("conversation_chars", [None, 0])
def test_without_a_conversation_there_is_no_growth(conversation_chars: int | None) -> None:
    assert render_refs([record()], NO_LIMIT, conversation_chars).growth is None


def test_the_instructions_are_the_steps_of_the_plan_in_order() -> None:
    steps = [r"builds on one", r"pick its line", r"kind and size", r"get_content\(ref\)", "miss follow its guidance"]
    places = [match.start() for step in steps if (match := re.search(step, INSTRUCTIONS))]
    assert len(places) == len(steps)
    assert places == sorted(places)
    assert "make nothing up" in INSTRUCTIONS


def test_the_instructions_name_the_tool_that_there_is() -> None:
    assert re.findall(r"(\w+)\(", INSTRUCTIONS) == [ContentTool.name]


def test_every_reason_of_a_miss_has_its_own_guidance() -> None:
    assert set(MISS_GUIDANCE) == set(MissReason)
    assert len(set(MISS_GUIDANCE.values())) == len(MissReason)
    assert set(LOW_UTILITY_GUIDANCE) == set(LowUtility)
    assert len(set(LOW_UTILITY_GUIDANCE.values())) == len(LowUtility)


@pytest.mark.parametrize("reason", MissReason)
def test_the_guidance_for_a_miss_forbids_to_make_the_result_up(reason: MissReason) -> None:
    assert re.search(r"Do not (write it from memory|guess)", MISS_GUIDANCE[reason])


@pytest.mark.parametrize(("room", "shown"), [(0, 1), (-1, 2)], ids=["fits alone", "never fits"])
def test_a_record_that_fits_alone_and_not_here_keeps_the_older_ones_from_its_place(room: int, shown: int) -> None:
    middle = record(2, method="x" * 100)
    assert render_refs([record(3), middle, record(1)], len(line_of(middle)) + room, None).shown == shown
