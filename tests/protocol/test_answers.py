"""The body that a scripted provider sends for given translations (language page, `respond`)."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.protocol.answers import answer_with
from dragoman.protocol.calls import Completion
from dragoman.protocol.content import is_blank
from dragoman.protocol.statuses import CallFormat, Termination
from dragoman.protocol.units import Unit
from dragoman.protocol.verdicts import judge

from ..strategies import texts

TOKEN = "abcdefgh"
ONE, TWO = Unit("p1", "p1", ("one",)), Unit("p2", "p2", ("two ", "halves"), 4)

formats = pytest.mark.parametrize("wanted", CallFormat)


def said(translations: dict[str, str | tuple[str, ...]], *units: Unit, wanted: CallFormat) -> Completion:
    return answer_with(wanted, units, TOKEN, translations, Termination.NORMAL)


def test_a_structured_call_is_answered_by_an_envelope() -> None:
    completion = said({"p1": "eins", "p2": "zwei"}, ONE, TWO, wanted=CallFormat.STRUCTURED)
    assert completion.texts is None
    assert json.loads(completion.text or "") == {
        "translations": [{"id": "p1", "text": "eins"}, {"id": "p2", "text": "zwei"}]
    }


def test_segments_are_joined_with_the_markers_that_the_unit_was_sent_with() -> None:
    completion = said({"p2": ("zwei ", "Hälften")}, ONE, TWO, wanted=CallFormat.STRUCTURED)
    assert json.loads(completion.text or "")["translations"] == [{"id": "p2", "text": f"zwei <dm-{TOKEN}-4/>Hälften"}]


def test_units_that_are_not_named_are_missing_and_other_ids_are_extra_items() -> None:
    completion = said({"p9": "neun"}, ONE, wanted=CallFormat.STRUCTURED)
    assert json.loads(completion.text or "") == {"translations": [{"id": "p9", "text": "neun"}]}


def test_a_scalar_call_is_answered_by_the_bare_text() -> None:
    assert said({"p1": "eins"}, ONE, wanted=CallFormat.SCALAR) == Completion("eins")
    assert said({"p2": ("a", "b")}, TWO, wanted=CallFormat.SCALAR) == Completion(f"a<dm-{TOKEN}-4/>b")


def test_a_machine_is_answered_by_the_segments_of_the_units_in_their_order() -> None:
    completion = said({"p2": ("zwei ", "Hälften"), "p1": "eins"}, ONE, TWO, wanted=CallFormat.TEXTS)
    assert completion == Completion(texts=("eins", "zwei ", "Hälften"))


def test_a_machine_may_answer_too_few_and_too_many_texts() -> None:
    assert said({"p2": "zwei"}, ONE, TWO, wanted=CallFormat.TEXTS) == Completion(texts=("zwei",))
    assert said({"p9": "neun", "p1": "eins"}, ONE, wanted=CallFormat.TEXTS) == Completion(texts=("eins", "neun"))


@formats
@pytest.mark.parametrize("termination", Termination)
def test_the_termination_is_what_was_said(wanted: CallFormat, termination: Termination) -> None:
    assert answer_with(wanted, (ONE,), TOKEN, {"p1": "eins"}, termination).termination is termination


@formats
@pytest.mark.parametrize("translations", [{}, {"p9": "neun", "p8": "acht"}])
def test_an_answer_without_the_unit_is_not_valid(wanted: CallFormat, translations: dict[str, str]) -> None:
    completion = said({**translations}, ONE, wanted=wanted)
    assert not judge(wanted, (ONE,), TOKEN, completion.text, completion.texts).good


@formats
@pytest.mark.parametrize("segments", [("a",), ("a", "b", "c")])
def test_too_few_and_too_many_segments_are_not_valid(wanted: CallFormat, segments: tuple[str, ...]) -> None:
    completion = said({"p2": segments}, TWO, wanted=wanted)
    assert not judge(wanted, (TWO,), TOKEN, completion.text, completion.texts).good


plain = texts.map(lambda text: text.replace("<", "").replace("`", "").replace("{", "").replace("[", "").strip()).filter(
    lambda text: not is_blank(text)
)


@formats
@given(st.lists(plain, min_size=1, max_size=4).map(tuple), st.integers(1, 20))
def test_what_was_said_of_a_unit_is_what_it_becomes(wanted: CallFormat, pieces: tuple[str, ...], first: int) -> None:
    unit = Unit("p1", "p1", tuple("source" for _ in pieces), first)
    completion = said({"p1": pieces}, unit, wanted=wanted)
    assert judge(wanted, (unit,), TOKEN, completion.text, completion.texts).valid == {"p1": pieces}
