"""Wire units: splitting, batches, and putting the translated pieces together again (C3.4)."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from dragoman.protocol.markers import escape, join
from dragoman.protocol.units import ParentPlan, Unit, fill_batches, plan_parent, unit_ids_clash

from ..strategies import segment_lists, texts

TOKEN = "abcdefgh"
SPARROWS = "Clockwork sparrows chirped"

limits = st.integers(1, 12)
scraps = st.text(st.sampled_from("aábcd  \n\t\u00a0\u2028\u3000\x1c"), max_size=20)
parts = st.lists(st.one_of(st.just(""), scraps, texts), min_size=1, max_size=8).map(tuple)
batched_units = st.lists(st.text("ab ", min_size=1, max_size=9)).map(
    lambda sources: [Unit(f"p{place}", f"p{place}", (source,)) for place, source in enumerate(sources)]
)


def sources(plan: ParentPlan) -> list[str]:
    return [unit.source for unit in plan.units]


def by_the_rule(text: str, limit: int) -> list[str]:
    """The units of a text longer than `limit`, by the rule taken literally, in quadratic time."""
    if text.isspace():
        return [text[start : start + limit] for start in range(0, len(text), limit)]
    units = []
    while len(text) > limit:
        cuts = [length for length in range(1, limit + 1) if text[length].isspace() and text[:length].strip()]
        if cuts:
            units.append(text[: max(cuts)].rstrip())
            text = text[max(cuts) :].lstrip()
        elif text[0].isspace():
            text = text.lstrip()
        else:
            units.append(text[:limit])
            text = text[limit:]
    return [*units, text] if text else units


@pytest.mark.parametrize(
    ("text", "limit", "units"),
    [
        ("Clockwork sparrows", 12, ["Clockwork", "sparrows"]),
        (SPARROWS, 12, ["Clockwork", "sparrows", "chirped"]),
        (SPARROWS, 18, ["Clockwork sparrows", "chirped"]),
        (SPARROWS, 17, ["Clockwork", "sparrows chirped"]),
        ("aa  bb", 3, ["aa", "bb"]),
        ("aa \n\u00a0\t bb", 3, ["aa", "bb"]),
        ("aaaaaaa b c", 3, ["aaa", "aaa", "a b", "c"]),
        ("a bbbbbbb", 3, ["a", "bbb", "bbb", "b"]),
        (" a bb", 3, [" a", "bb"]),
        ("  aa", 3, ["aa"]),
        ("     aaaa", 3, ["aaa", "a"]),
        ("aa b ", 3, ["aa", "b "]),
        ("aa bb  ", 3, ["aa", "bb"]),
        ("     ", 2, ["  ", "  ", " "]),
    ],
)
def test_a_long_parent_is_split_before_white_space(text: str, limit: int, units: list[str]) -> None:
    plan = plan_parent("p1", (text,), limit)
    assert sources(plan) == units
    assert [unit.id for unit in plan.units] == [f"p1.{number}" for number in range(1, len(units) + 1)]
    assert {unit.parent_id for unit in plan.units} == {"p1"}


@given(parts, limits)
@example((" a",), 1)
@example(("a" * 7 + " ",), 3)
def test_splitting_is_the_rule_taken_literally(segments: tuple[str, ...], limit: int) -> None:
    text = "".join(segments)
    assume(len(text) > limit)
    assert sources(plan_parent("p1", segments, limit)) == by_the_rule(text, limit)


@given(parts)
def test_a_parent_as_long_as_the_limit_is_one_unit_with_all_its_segments(segments: tuple[str, ...]) -> None:
    plan = plan_parent("p1", segments, len("".join(segments)))
    assert plan.units == (Unit("p1", "p1", segments),)
    assert plan.units[0].wire(TOKEN) == join(segments, TOKEN)


@given(parts, limits)
def test_no_unit_is_empty_or_longer_than_the_limit(segments: tuple[str, ...], limit: int) -> None:
    assume("".join(segments))
    units = plan_parent("p1", segments, limit).units
    assert all(1 <= unit.chars == len(unit.source) <= limit for unit in units)


@given(parts, limits)
def test_no_white_space_stands_at_a_cut(segments: tuple[str, ...], limit: int) -> None:
    assume(not "".join(segments).isspace())
    units = plan_parent("p1", segments, limit).units
    assert not any(unit.source[0].isspace() for unit in units[1:])
    assert not any(unit.source[-1].isspace() for unit in units[:-1])


@given(parts, limits)
def test_assembling_the_source_gives_the_segments_back(segments: tuple[str, ...], limit: int) -> None:
    plan = plan_parent("p1", segments, limit)
    assert plan.assemble({unit.id: unit.pieces for unit in plan.units}) == plan.segments == segments
    assert plan.source == "".join(segments)


@given(parts, limits)
def test_each_piece_lands_in_its_segment_and_only_white_space_is_added(segments: tuple[str, ...], limit: int) -> None:
    segments = tuple(re.sub("[<>]", "", segment) for segment in segments)
    plan = plan_parent("p1", segments, limit)
    results = {
        unit.id: tuple(
            f"<{unit.first_marker + place} {unit.id}/{place}>{piece}</>" for place, piece in enumerate(unit.pieces)
        )
        for unit in plan.units
    }
    assembled = plan.assemble(results)
    assert tuple(re.sub("<[^>]*>", "", segment) for segment in assembled) == segments
    for number, segment in enumerate(assembled, 1):
        assert set(re.findall(r"<(\d+)", segment)) <= {str(number)}
        assert not re.sub("<[^/].*?</>", "", segment, flags=re.DOTALL).strip()
    opened = re.findall(r" (p1[.\d]*)/(\d+)>", "".join(assembled))
    assert opened == [(unit.id, str(place)) for unit in plan.units for place in range(len(unit.pieces))]


@given(segment_lists.map(tuple), st.integers(1, 60))
def test_the_wire_is_the_escaped_pieces_with_consecutive_markers(segments: tuple[str, ...], limit: int) -> None:
    for unit in plan_parent("p1", segments, limit).units:
        numbers = range(unit.first_marker, unit.first_marker + len(unit.pieces) - 1)
        markers = [f"<dm-{TOKEN}-{number}/>" for number in numbers]
        assert unit.wire(TOKEN) == "".join(
            escape(piece) + marker for piece, marker in zip(unit.pieces, [*markers, ""], strict=True)
        )


def test_a_border_inside_a_unit_is_a_marker_numbered_by_the_segment_it_ends() -> None:
    plan = plan_parent("p1", ("Clock", "work ", "spar", "rows", " chirped"), 12)
    assert [unit.wire(TOKEN) for unit in plan.units] == [
        f"Clock<dm-{TOKEN}-1/>work",
        f"spar<dm-{TOKEN}-3/>rows",
        "chirped",
    ]
    translated = {"p1.1": ("Uhr", "werk"), "p1.2": ("Spat", "zen"), "p1.3": ("zirpten",)}
    assert plan.assemble(translated) == ("Uhr", "werk ", "Spat", "zen", " zirpten")


def test_a_border_in_a_gap_divides_the_gap() -> None:
    plan = plan_parent("p1", ("aaa \n", "\t bbb"), 5)
    assert plan.assemble({"p1.1": ("x",), "p1.2": ("y",)}) == ("x \n", "\t y")


def test_empty_segments_at_the_edge_of_a_unit_stay_empty() -> None:
    plan = plan_parent("p1", ("", "aaa", "", "", "bbb", ""), 3)
    assert [unit.pieces for unit in plan.units] == [("aaa",), ("bbb",)]
    assert plan.assemble({"p1.1": ("x",), "p1.2": ("y",)}) == ("", "x", "", "", "y", "")


def test_an_empty_segment_behind_blank_units_stays_empty() -> None:
    plan = plan_parent("p1", ("   ", ""), 2)
    assert [unit.pieces for unit in plan.units] == [("  ",), (" ",)]


def test_empty_segments_inside_a_unit_are_pieces() -> None:
    plan = plan_parent("p1", ("ccc ", "a", "", "b"), 3)
    assert plan.units[1] == Unit("p1.2", "p1", ("a", "", "b"), 2)


def test_a_segment_cut_in_two_is_joined_with_what_splitting_took() -> None:
    plan = plan_parent("p1", (SPARROWS,), 12)
    results = {"p1.3": ("pépiaient",), "p1.1": ("Mécaniques,",), "p1.2": ("les moineaux",)}
    assert plan.assemble(results) == ("Mécaniques, les moineaux pépiaient",)


def test_a_parent_is_not_assembled_without_each_of_its_units() -> None:
    plan = plan_parent("p1", ("Clockwork sparrows",), 12)
    with pytest.raises(KeyError):
        plan.assemble({"p1.1": ("Mechanische",)})


@pytest.mark.parametrize("pieces", [(), ("a",), ("a", "b", "c")])
def test_a_unit_with_other_than_its_number_of_pieces_is_not_assembled(pieces: tuple[str, ...]) -> None:
    plan = plan_parent("p1", ("one", "two"), 12)
    with pytest.raises(ValueError, match="zip"):
        plan.assemble({"p1": pieces})


def test_the_id_of_a_parent_that_is_a_unit_of_another_is_a_clash() -> None:
    split, whole = plan_parent("p1", (SPARROWS,), 12), plan_parent("p1.3", ("Rain",), 12)
    assert unit_ids_clash([split, whole]) == unit_ids_clash([whole, split]) == "p1.3"
    assert unit_ids_clash(iter([plan_parent("p1.1", (SPARROWS,), 12), split])) == "p1.1"


def test_an_id_that_is_no_unit_of_another_is_no_clash() -> None:
    plans = [plan_parent("p1", (SPARROWS,), 12), plan_parent("p1.4", ("Rain",), 12), plan_parent("p2", ("Rain",), 12)]
    assert unit_ids_clash(plans) is None


@pytest.mark.parametrize(
    ("chars", "count", "batches"),
    [
        (12, 25, ["aaaa bbbb cccc", "dddd"]),
        (11, 25, ["aaaa bbbb", "cccc dddd"]),
        (100, 4, ["aaaa bbbb cccc dddd"]),
        (100, 3, ["aaaa bbbb cccc", "dddd"]),
        (3, 25, ["aaaa", "bbbb", "cccc", "dddd"]),
    ],
)
def test_batches_are_filled_up_to_both_limits(chars: int, count: int, batches: list[str]) -> None:
    units = plan_parent("p1", ("aaaa bbbb cccc dddd",), 4).units
    assert [" ".join(unit.source for unit in batch) for batch in fill_batches(units, chars, count)] == batches


@given(batched_units, st.integers(9, 30), st.integers(1, 5))
def test_a_new_batch_begins_only_where_a_unit_does_not_fit(units: list[Unit], chars: int, count: int) -> None:
    batches = fill_batches(units, chars, count)
    assert [unit for batch in batches for unit in batch] == units
    for batch in batches:
        assert 1 <= len(batch) <= count
        assert sum(unit.chars for unit in batch) <= chars
    for batch, following in pairwise(batches):
        assert len(batch) == count or sum(unit.chars for unit in (*batch, following[0])) > chars


def test_markers_do_not_count_for_a_batch() -> None:
    unit = plan_parent("p1", ("a", "b"), 2).units[0]
    assert fill_batches([unit], 2, 25) == ((unit,),)
    assert unit.chars == 2


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    ("segments", "units"),
    [
        (("a " * 100_000,), 100_000),
        (("a" * 200_000,), 200_000),
        ((" " * 1_000_000 + "a" + " " * 1_000_000,), 1),
        (("a ",) * 100_000, 100_000),
        (("",) * 200_000 + ("aa",) + ("",) * 200_000, 2),
    ],
    ids=["words", "one word", "white space", "segments", "empty segments"],
)
def test_a_large_parent_is_split_and_assembled_in_linear_time(segments: tuple[str, ...], units: int) -> None:
    plan = plan_parent("p1", segments, 1)
    assert len(plan.units) == units
    assert plan.assemble({unit.id: unit.pieces for unit in plan.units}) == segments


def test_no_repr_shows_text() -> None:
    plan = plan_parent("p1", ("Clock", "work sparrows", " chirped"), 12)
    shown = repr((plan, plan.layout, plan.units))
    assert "p1.3" in shown
    assert not re.search("Clock|work|sparrows|chirped|' '", shown)
