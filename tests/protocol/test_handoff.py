"""Which handoffs are valid, and what is said of the others (design "Handoff", C2, C3.3)."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.protocol.handoff import Handoff, Parent, examine, in_source_order, is_plainly_valid
from dragoman.protocol.statuses import Purpose

from ..strategies import parents

GOOD = Handoff("r1", "s1", "openai", "select-element", (Parent("p1", 0, "one"), Parent("p2", 7, "two")))


def with_parents(*items: object) -> Handoff:
    return attrs.evolve(GOOD, parents=items)


def test_a_good_handoff_has_no_reason() -> None:
    assert examine(GOOD) is None


@given(parents())
def test_any_unique_ids_and_orders_are_valid_gaps_and_all(items: tuple[Parent, ...]) -> None:
    assert examine(with_parents(*items)) is None
    assert examine(with_parents(*reversed(items))) is None


@pytest.mark.parametrize("name", ["request_id", "session_id", "provider", "mode"])
@pytest.mark.parametrize("value", ["", None, 1, b"r1", ["r1"], object()])
def test_an_identity_that_is_not_text_or_empty_is_refused_by_its_name(name: str, value: Any) -> None:
    reason = examine(attrs.evolve(GOOD, **{name: value}))
    assert reason is not None
    assert name in reason


@pytest.mark.parametrize("value", [[], (), {}, iter(())])
def test_at_least_one_parent_is_needed(value: Any) -> None:
    reason = examine(attrs.evolve(GOOD, parents=value))
    assert reason is not None
    assert "parents" in reason


@pytest.mark.parametrize("value", [None, 3, 0.5, True, object(), "p1", b"p1"])
def test_parents_must_be_a_sequence_of_them(value: Any) -> None:
    reason = examine(attrs.evolve(GOOD, parents=value))
    assert reason is not None
    assert "parents" in reason


@pytest.mark.parametrize("item", [None, "p1", 1, ("p1", 0, "one"), {"id": "p1", "order": 0, "source": "one"}, object()])
def test_what_is_no_parent_is_refused_by_its_place(item: object) -> None:
    reason = examine(with_parents(Parent("p1", 0, "one"), item))
    assert reason is not None
    assert "parents[1]" in reason


def test_parents_may_be_any_iterable_and_are_kept_as_a_tuple() -> None:
    items = [Parent("p1", 0, "one"), Parent("p2", 1, "two")]
    for given_as in (items, tuple(items), (item for item in items), dict.fromkeys(items)):
        handoff = attrs.evolve(GOOD, parents=given_as)
        assert handoff.parents == tuple(items)
        assert examine(handoff) is None


def test_a_list_that_changes_later_changes_no_handoff() -> None:
    items = [Parent("p1", 0, "one")]
    handoff = attrs.evolve(GOOD, parents=items)
    items.clear()
    assert handoff.parents == (Parent("p1", 0, "one"),)


@pytest.mark.parametrize(
    ("parent", "named"),
    [
        (Parent("", 0, "one"), "id"),
        (Parent(None, 0, "one"), "id"),  # type: ignore[arg-type]
        (Parent(1, 0, "one"), "id"),  # type: ignore[arg-type]
        (Parent(["p1"], 0, "one"), "id"),  # type: ignore[arg-type]
        (Parent("p1", -1, "one"), "order"),
        (Parent("p1", True, "one"), "order"),
        (Parent("p1", False, "one"), "order"),
        (Parent("p1", 0.0, "one"), "order"),  # type: ignore[arg-type]
        (Parent("p1", 0.5, "one"), "order"),  # type: ignore[arg-type]
        (Parent("p1", "0", "one"), "order"),  # type: ignore[arg-type]
        (Parent("p1", None, "one"), "order"),  # type: ignore[arg-type]
        (Parent("p1", [0], "one"), "order"),  # type: ignore[arg-type]
        (Parent("p1", 0, ""), "source"),
        (Parent("p1", 0, None), "source"),  # type: ignore[arg-type]
        (Parent("p1", 0, 1), "source"),  # type: ignore[arg-type]
        (Parent("p1", 0, b"one"), "source"),  # type: ignore[arg-type]
        (Parent("p1", 0, ["one"]), "source"),  # type: ignore[arg-type]
        (Parent("p1", 0, "one<dm-abcdefgh-1/>two"), "source"),
        (Parent("p1", 0, "one< DM-abcdefgh-12 / >two"), "source"),
    ],
)
def test_a_bad_field_of_a_parent_is_refused_by_its_place_and_name(parent: Parent, named: str) -> None:
    reason = examine(with_parents(Parent("p0", 99, "good"), parent))
    assert reason is not None
    assert f"parents[1].{named}" in reason


def test_two_parents_must_not_share_an_id() -> None:
    reason = examine(with_parents(Parent("p1", 0, "one"), Parent("p1", 1, "two")))
    assert reason is not None
    assert "parents[1].id" in reason


def test_two_parents_must_not_share_an_order() -> None:
    reason = examine(with_parents(Parent("p1", 4, "one"), Parent("p2", 4, "two")))
    assert reason is not None
    assert "parents[1].order" in reason


def test_a_request_that_the_runtime_executes_may_do_without_a_session_and_hold_markers() -> None:
    marked = attrs.evolve(with_parents(Parent("p1", 0, "one<dm-abcdefgh-1/>two")), session_id="")
    assert examine(marked, executed=True) is None


@pytest.mark.parametrize("name", ["request_id", "session_id", "provider", "mode"])
@pytest.mark.parametrize("value", ["", None, 1, b"r1", ["r1"], object()])
def test_every_other_identity_of_an_executed_request_is_refused_as_ever(name: str, value: Any) -> None:
    reason = examine(attrs.evolve(GOOD, **{name: value}), executed=True)
    assert (reason is None) == (name == "session_id" and value == "")
    assert reason is None or name in reason


def test_two_parents_may_share_their_text() -> None:
    assert examine(with_parents(Parent("p1", 0, "same"), Parent("p2", 1, "same"))) is None


@pytest.mark.parametrize("source", [" ", "\n\t", "\u2003", "\u00a0"])
def test_a_source_of_white_space_alone_is_allowed(source: str) -> None:
    assert examine(with_parents(Parent("p1", 0, source))) is None


@pytest.mark.parametrize("source", ["<dm-", "<dm-abcdefgh>", "a <b> c", "<dm\\-abcdefgh-1/>", '{"translations": []}'])
def test_what_only_looks_like_a_marker_is_a_source(source: str) -> None:
    assert examine(with_parents(Parent("p1", 0, source))) is None


@pytest.mark.parametrize("purpose", ["PRIMARY_TRANSLATION", "STRUCTURED_RECOVERY", "SOMETHING_ELSE"])
def test_any_purpose_is_valid_here_participation_judges_it(purpose: str) -> None:
    assert examine(attrs.evolve(GOOD, purpose=purpose)) is None


def test_the_purpose_is_a_primary_translation_if_left_out() -> None:
    assert GOOD.purpose == "PRIMARY_TRANSLATION"


@given(st.text("ab<dm-/> ", min_size=1, max_size=20), st.sampled_from([0, -1, True]))
def test_no_reason_shows_a_source(source: str, order: int) -> None:
    text = f"canary {source} canary <dm-abcdefgh-1/>"
    reason = examine(with_parents(Parent("p1", order, text), Parent("p1", order, text)))
    assert reason is not None
    assert "canary" not in reason


@given(parents().flatmap(st.permutations))
def test_source_order_is_the_order_of_the_orders(items: list[Parent]) -> None:
    ordered = in_source_order(with_parents(*items))
    assert ordered.parents == tuple(sorted(items, key=lambda parent: parent.order))
    assert attrs.evolve(ordered, parents=items) == with_parents(*items)


def test_a_handoff_that_is_in_source_order_stays_the_same() -> None:
    assert in_source_order(GOOD) == GOOD


class OddText(str):
    """A text that is not exactly one."""

    __slots__ = ()


class OddParent(Parent):
    """A parent that is not exactly one."""


PLAIN = with_parents(Parent("p0", 0, "zero"), Parent("p1", 3, "one"), Parent("p2", 5, "two"))
ODD: list[Any] = ["", None, 1, 3, True, -1, OddText("p1"), "p0", "<dm-abcdefgh-1/>", Purpose.STRUCTURED_RECOVERY, b"p1"]


def one_change_away() -> Iterator[Handoff]:
    for name in ("request_id", "session_id", "provider", "mode", "purpose"):
        yield from (attrs.evolve(PLAIN, **{name: value}) for value in ODD)
    for place, parent in enumerate(PLAIN.parents):
        changed = [attrs.evolve(parent, **{name: value}) for name in ("id", "order", "source") for value in ODD]
        for odd in [*changed, OddParent(*attrs.astuple(parent)), None, "p1"]:
            yield with_parents(*PLAIN.parents[:place], odd, *PLAIN.parents[place + 1 :])
    yield from (with_parents(*items) for items in itertools.permutations(PLAIN.parents))


def test_what_is_plainly_valid_is_valid_as_it_stands() -> None:
    """The short way in lets nothing through that the long one would refuse or change."""
    for handoff in filter(is_plainly_valid, one_change_away()):
        assert examine(handoff) is None, handoff
        assert in_source_order(handoff) is handoff
        texts = [handoff.request_id, handoff.session_id, handoff.provider, handoff.mode]
        texts += [text for parent in handoff.parents for text in (parent.id, parent.source)]
        assert {*map(type, texts), *map(type, handoff.parents), type(handoff.purpose)} <= {str, Parent, Purpose}


@given(parents())
def test_an_ordinary_handoff_is_plainly_valid(items: tuple[Parent, ...]) -> None:
    assert is_plainly_valid(with_parents(*items))
    assert is_plainly_valid(attrs.evolve(GOOD, purpose=Purpose.STRUCTURED_RECOVERY))


@pytest.mark.parametrize("items", [None, (), [], "p1", 7])
def test_what_has_no_parents_is_not_plainly_valid(items: Any) -> None:
    assert not is_plainly_valid(attrs.evolve(GOOD, parents=items))
