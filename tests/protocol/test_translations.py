"""The plan of a request, or why it is not valid (C3.3, language page "Execution verbs" and "Smaller rulings")."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.protocol.handoff import Handoff, Parent
from dragoman.protocol.settings import Settings
from dragoman.protocol.translations import DirectRequest, Plan, TranslationRequest, plan_direct, plan_translation

from ..strategies import segment_lists

GOOD = TranslationRequest("r1", "s1", {"p1": "Hello", "p2": ["Good ", "bye"]}, "de")
DIRECT = DirectRequest("r1", "s1", "Hello", "de")
IDENTITIES = ("request_id", "provider", "mode", "source_language", "target_language")
NO_TEXT = (None, 1, b"x", ["x"], object())


class OddText(str):
    """Shows itself as something else."""

    __slots__ = ()

    def __str__(self) -> str:
        return "something else"

    def __eq__(self, other: object) -> bool:
        return self is other

    __hash__ = str.__hash__


class Torn(Mapping[str, str]):
    """A mapping that cannot be read."""

    def __getitem__(self, key: str) -> str:
        raise KeyError(key)

    def __iter__(self) -> Iterator[str]:
        yield "p1"

    def __len__(self) -> int:
        return 1


def torn() -> Iterator[str]:
    yield "one"
    raise ValueError("canary")


def plan(request: TranslationRequest = GOOD, settings: Settings | None = None, **changes: Any) -> Plan:
    found = plan_translation(attrs.evolve(request, **changes), settings or Settings())
    assert isinstance(found, Plan)
    return found


def refusal(settings: Settings | None = None, **changes: Any) -> str:
    found = plan_translation(attrs.evolve(GOOD, **changes), settings or Settings())
    assert isinstance(found, str)
    return found


def direct_refusal(**changes: Any) -> str:
    found = plan_direct(attrs.evolve(DIRECT, **changes))
    assert isinstance(found, str)
    return found


def test_a_plan_holds_the_handoff_with_the_clean_sources_in_their_order() -> None:
    found = plan()
    assert found.handoff == Handoff(
        "r1", "s1", "openai", "select-element", (Parent("p1", 0, "Hello"), Parent("p2", 1, "Good bye"))
    )
    assert (found.source_language, found.target_language, found.direct) == ("en", "de", False)
    assert [parent.segments for parent in found.parents] == [("Hello",), ("Good ", "bye")]


@given(st.lists(segment_lists.filter(any), min_size=1, max_size=6), st.integers(1, 30), st.integers(1, 5))
def test_units_are_batched_in_source_order_and_hold_all_of_every_source(
    sources: list[list[str]], chars: int, count: int
) -> None:
    parents = {f"p{place}": source for place, source in enumerate(sources)}
    found = plan(parents=parents, settings=Settings(batch_chars=chars, batch_units=count))
    assert [parent.id for parent in found.handoff.parents] == [parent.id for parent in found.parents] == list(parents)
    units = [unit for batch in found.batches for unit in batch]
    assert units == [unit for parent in found.parents for unit in parent.units]
    assert all(1 <= len(batch) <= count for batch in found.batches)
    assert all(sum(unit.chars for unit in batch) <= chars for batch in found.batches)
    for parent, source in zip(found.parents, sources, strict=True):
        assert parent.assemble({unit.id: unit.pieces for unit in parent.units}) == tuple(source)


def test_a_text_and_a_list_of_that_one_segment_are_the_same() -> None:
    assert plan(parents={"p1": "Hello"}) == plan(parents={"p1": ["Hello"]})


def test_a_source_that_looks_like_a_marker_is_planned_and_sent_escaped() -> None:
    literal = "<dm-abcdefgh-1/>"
    found = plan(parents={"p1": literal})
    assert found.handoff.parents[0].source == literal
    assert literal not in found.batches[0][0].wire("abcdefgh")


@pytest.mark.parametrize("source", [" ", ["", "\n"]])
def test_a_source_of_white_space_alone_is_planned(source: Any) -> None:
    assert len(plan(parents={"p1": source}).batches) == 1


def test_an_empty_session_is_planned_it_takes_no_part() -> None:
    assert plan(session_id="").handoff.session_id == ""
    assert isinstance(plan_direct(attrs.evolve(DIRECT, session_id="")), Plan)


@pytest.mark.parametrize("name", IDENTITIES)
@pytest.mark.parametrize("value", ["", *NO_TEXT])
def test_an_identity_or_language_that_is_empty_or_no_text_is_refused_by_its_name(name: str, value: Any) -> None:
    assert name in refusal(**{name: value})
    assert name in direct_refusal(**{name: value})


@pytest.mark.parametrize("name", ["session_id", "purpose"])
@pytest.mark.parametrize("value", NO_TEXT)
def test_a_session_or_purpose_that_is_no_text_is_refused_by_its_name(name: str, value: Any) -> None:
    assert name in refusal(**{name: value})
    assert name in direct_refusal(**{name: value})


@pytest.mark.parametrize(
    "parents",
    [
        *(None, 5, "p1", b"p1", ["p1"], [("p1", "Hello")], {"p1"}, object(), Torn(), {}),
        *(("p1",), ("ab", "cd"), (1,), (("p1",),), (["p1", "Hello"],), (("p1", "Hello", 0),)),
    ],
    ids=repr,
)
def test_parents_that_are_no_mapping_or_an_empty_one_are_refused_by_their_name(parents: object) -> None:
    assert "parents" in refusal(parents=parents)


@pytest.mark.parametrize("source", ["", [], [""], ["", ""], None, 5, b"one", ["one", None], [["one"]], torn()])
def test_a_source_that_is_empty_or_no_text_is_refused_by_its_name(source: Any) -> None:
    reason = refusal(parents={"p0": "one", "p1": source})
    assert "parents" in reason
    assert "canary" not in reason


@pytest.mark.parametrize("parent_id", ["", None, 1, b"p1", ("p1",)])
def test_an_id_that_is_empty_or_no_text_is_refused_by_its_name(parent_id: Any) -> None:
    assert "parents[1].id" in refusal(parents={"p0": "one", parent_id: "two"})


def test_two_ids_of_the_same_letters_are_refused() -> None:
    assert "parents[1].id" in refusal(parents={OddText("p1"): "one", OddText("p1"): "two"})


@pytest.mark.parametrize("clash", ["p1.1", "p1.2"])
def test_an_id_that_is_also_the_unit_of_another_parent_is_refused_by_the_name_of_it(clash: str) -> None:
    parents = {"p1": "aaaa bbbb", clash: "cc"}
    assert clash in refusal(parents=parents, settings=Settings(batch_chars=5))
    assert "parents" in refusal(parents=parents, settings=Settings(batch_chars=5))
    assert plan(parents=parents).batches
    assert plan(parents={"p1": "aaaa bbbb", "p1.3": "cc"}, settings=Settings(batch_chars=5)).batches


@pytest.mark.parametrize("source", ["", *NO_TEXT])
def test_a_direct_source_that_is_empty_or_no_text_is_refused_by_its_name(source: Any) -> None:
    reason = direct_refusal(source=source)
    assert reason.startswith("source ")
    assert "parents" not in reason


def test_a_direct_call_is_one_unit_named_as_its_request_however_long() -> None:
    found = plan_direct(attrs.evolve(DIRECT, source="word " * 5000))
    assert isinstance(found, Plan)
    assert found.handoff.parents == (Parent("r1", 0, "word " * 5000),)
    assert [[(unit.id, unit.source) for unit in batch] for batch in found.batches] == [[("r1", "word " * 5000)]]
    assert (found.direct, found.parents[0].units) == (True, found.batches[0])


def test_no_reason_shows_a_source() -> None:
    for reason in (
        refusal(parents={"p1": "canary", "": "canary"}),
        refusal(parents={"p1": ["canary", 5]}),
        direct_refusal(source=["canary"]),
        direct_refusal(source="canary", mode=""),
    ):
        assert "canary" not in reason


def texts_in(value: Any) -> Iterator[str]:
    """Every text in a value, its inner values included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, tuple):
        for inner in value:
            yield from texts_in(inner)
    elif attrs.has(type(value)):
        for field in attrs.fields(type(value)):
            yield from texts_in(getattr(value, field.name))


@pytest.mark.parametrize("chars", [3, 3500])
def test_every_text_of_a_plan_is_exact(chars: int) -> None:
    odd = OddText
    names = dict.fromkeys(("provider", "mode", "purpose", "source_language"))
    fields: dict[str, Any] = {name: odd(name) for name in names}
    request = TranslationRequest(
        odd("r1"), odd("s1"), {odd("p1"): odd("Hello you"), odd("p2"): [odd("Good "), odd("bye")]}, odd("de"), **fields
    )
    scalar = plan_direct(DirectRequest(odd("r1"), odd("s1"), odd("Hello"), odd("de"), **fields))
    for found in (plan_translation(request, Settings(batch_chars=chars)), scalar):
        assert isinstance(found, Plan)
        assert {type(text) for text in texts_in(found)} == {str}
        assert "something else" not in set(texts_in(found))


def test_a_mapping_that_changes_later_changes_no_request() -> None:
    segments = ["Good ", "bye"]
    parents: dict[str, Any] = {"p1": "Hello", "p2": segments}
    request = attrs.evolve(GOOD, parents=parents)
    before = plan(request)
    segments[0] = "changed"
    segments.append("changed")
    parents["p1"] = "changed"
    parents["p3"] = "changed"
    assert plan(request) == before == plan(GOOD)


def test_segments_may_be_any_iterable_and_are_read_once() -> None:
    request = attrs.evolve(GOOD, parents={"p1": (text for text in ("one ", "two"))})
    assert plan(request) == plan(request) == plan(parents={"p1": ["one ", "two"]})


def test_a_request_can_be_made_anew_from_another() -> None:
    assert attrs.evolve(GOOD, mode="page").parents == GOOD.parents


def test_requests_and_plans_are_values() -> None:
    for value in (GOOD, DIRECT, plan()):
        assert hash(value) == hash(attrs.evolve(value))
        with pytest.raises(attrs.exceptions.FrozenInstanceError):
            value.direct = False  # type: ignore[misc, union-attr]


@pytest.mark.parametrize("parents", [{"p1": "canary"}, {"p1": ["canary"]}, "canary", ["canary"], {"canary"}])
def test_no_repr_shows_a_source(parents: Any) -> None:
    assert "canary" not in repr(attrs.evolve(GOOD, parents=parents))
    assert "canary" not in repr(attrs.evolve(DIRECT, source="canary"))
    assert "canary" not in repr(plan(parents={"p1": "canary <dm-canary"}))
