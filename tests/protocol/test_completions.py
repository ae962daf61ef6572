"""What a provider returned, as the runtime takes it (design "Completion records", C3.1)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.protocol.calls import Completion
from dragoman.protocol.completions import normalised
from dragoman.protocol.statuses import Termination

from ..strategies import texts


class OddText(str):
    """Shows itself as something else."""

    __slots__ = ()

    def __str__(self) -> str:
        return "something else"

    def __eq__(self, other: object) -> bool:
        return False

    __hash__ = str.__hash__


class OddCount(int):
    """A number of another type."""


def take(**facts: Any) -> Completion:
    completion = normalised(Completion(**{"text": "Hallo", **facts}))
    assert completion is not None
    return completion


@given(st.none() | texts, st.none() | st.lists(texts).map(tuple), st.sampled_from(Termination), st.none() | texts)
def test_a_completion_of_exact_types_stays_as_it_is(
    text: str | None, many: tuple[str, ...] | None, termination: Termination, model: str | None
) -> None:
    completion = Completion(text, texts=many, termination=termination, model=model, input_tokens=0, output_tokens=7)
    assert normalised(completion) == completion


@pytest.mark.parametrize("answer", [None, "Hallo", {"text": "Hallo"}, ("Hallo",), 1, object(), Completion])
def test_what_is_no_completion_is_none(answer: object) -> None:
    assert normalised(answer) is None


@pytest.mark.parametrize("text", [b"Hallo", 5, ["Hallo"], {"text": "Hallo"}, object(), True])
def test_a_body_that_is_no_text_is_no_completion(text: Any) -> None:
    assert normalised(Completion(text)) is None


@pytest.mark.parametrize("many", ["Hallo", b"Hallo", 5, {"Hallo"}, {"a": "b"}, iter(["a"]), ["a", None], ("a", b"b")])
def test_texts_that_are_no_list_of_texts_are_no_completion(many: Any) -> None:
    assert normalised(Completion(texts=many)) is None


def test_a_list_of_texts_becomes_a_tuple_that_does_not_follow_it() -> None:
    given_list: Any = ["eins", "zwei"]
    completion = take(texts=given_list)
    given_list.clear()
    assert completion.texts == ("eins", "zwei")


def test_texts_of_another_type_become_exact() -> None:
    completion = take(text=OddText("Hallo"), texts=(OddText("Welt"),), model=OddText("m1"))
    found = (completion.text, *(completion.texts or ()), completion.model)
    assert [type(text) for text in found] == [str, str, str]
    assert found == ("Hallo", "Welt", "m1")


@pytest.mark.parametrize("termination", Termination)
def test_a_termination_may_be_given_by_its_name(termination: Termination) -> None:
    assert take(termination=termination.value).termination is termination


@pytest.mark.parametrize("termination", ["stop", "normal", "", None, 1, [], {}, object()])
def test_any_other_termination_is_unknown(termination: object) -> None:
    assert take(termination=termination).termination is Termination.UNKNOWN


@pytest.mark.parametrize("model", [None, 5, b"m1", ["m1"], object()])
def test_a_model_that_is_no_text_is_absent(model: object) -> None:
    assert take(model=model).model is None


@pytest.mark.parametrize("count", [None, -1, 1.0, "1", True, False, [], object()])
def test_a_count_that_is_no_count_is_absent(count: object) -> None:
    completion = take(input_tokens=count, output_tokens=count)
    assert (completion.input_tokens, completion.output_tokens) == (None, None)


def test_a_count_of_another_type_becomes_exact() -> None:
    count = take(input_tokens=OddCount(5)).input_tokens
    assert (type(count), count) == (int, 5)


def test_absent_facts_stay_absent() -> None:
    assert normalised(Completion()) == Completion()
    assert Completion().text is None
    assert Completion().termination is Termination.NORMAL
