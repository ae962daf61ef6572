"""The marker grammar: joining segments, finding them again, and never mistaking a literal for a marker."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from dragoman.protocol.errors import InvalidArgument
from dragoman.protocol.markers import TOKEN_BITS, contains_marker, escape, join, split, token_for, token_from, unescape

from ..strategies import segment_lists, tokens

TOKEN = "abcdefgh"
OTHER = "hgfedcba"


@given(segment_lists, tokens, st.integers(1, 1000))
def test_splitting_undoes_joining(segments: list[str], token: str, first: int) -> None:
    assert split(join(segments, token), token) == tuple(segments)
    assert split(join(segments, token, first), token, first) == tuple(segments)


@given(segment_lists)
def test_unescaping_undoes_escaping(segments: list[str]) -> None:
    text = "".join(segments)
    assert unescape(escape(text)) == text


@given(segment_lists)
def test_an_escaped_text_carries_no_marker(segments: list[str]) -> None:
    assert not contains_marker(escape("".join(segments)))


@given(st.text(st.characters(exclude_characters="<", codec="utf-8")))
def test_a_text_without_a_bracket_is_not_touched(text: str) -> None:
    assert escape(text) == unescape(text) == text


@given(segment_lists, tokens)
def test_several_segments_show_a_marker_and_one_does_not(segments: list[str], token: str) -> None:
    assert contains_marker(join(segments, token)) == (len(segments) > 1)


@given(segment_lists, tokens, tokens)
def test_the_markers_of_another_request_are_foreign(segments: list[str], token: str, other: str) -> None:
    assume(token != other and len(segments) > 1)
    assert split(join(segments, token), other) is None


@given(segment_lists, tokens, st.integers(1, 1000), st.integers(1, 1000))
def test_markers_that_begin_with_another_number_are_refused(
    segments: list[str], token: str, first: int, other: int
) -> None:
    assume(first != other and len(segments) > 1)
    assert split(join(segments, token, first), token, other) is None


@given(st.lists(st.text("ab ", max_size=4), min_size=3, max_size=6), st.data())
def test_a_missing_a_doubled_and_a_displaced_marker_are_refused(segments: list[str], data: st.DataObject) -> None:
    markers = [f"<dm-{TOKEN}-{number}/>" for number in range(1, len(segments))]
    place = data.draw(st.integers(0, len(markers) - 2))

    def with_markers(changed: list[str]) -> str:
        return "".join(segment + marker for segment, marker in zip(segments, [*changed, ""], strict=False))

    assert split(with_markers(markers), TOKEN) is not None
    assert split(with_markers([*markers[:place], *markers[place + 1 :]]), TOKEN) is None
    assert split(with_markers([*markers[:place], markers[place], *markers[place:-1]]), TOKEN) is None
    swapped = [*markers[:place], markers[place + 1], markers[place], *markers[place + 2 :]]
    assert split(with_markers(swapped), TOKEN) is None


@pytest.mark.parametrize(
    "text",
    [
        f"a<dm-{OTHER}-1/>b",
        f"a<dm-{TOKEN}-1/>b<dm-{OTHER}-2/>c",
        f"a<dm-{TOKEN}-1/>b<dm-{TOKEN}-1/>c",
        f"a<dm-{TOKEN}-2/>b<dm-{TOKEN}-1/>c",
        f"a<dm-{TOKEN}-1/>b<dm-{TOKEN}-3/>c",
        f"a<dm-{TOKEN}-2/>b",
        f"a<dm-{TOKEN}-0/>b",
    ],
)
def test_a_marker_that_is_foreign_doubled_missing_or_out_of_order_is_refused(text: str) -> None:
    assert split(text, TOKEN) is None


@pytest.mark.parametrize(
    "marker",
    [
        f"<dm-{TOKEN}-1/>",
        f"<dm-{TOKEN}-1>",
        f"<dm-{TOKEN}-1 />",
        f"< dm-{TOKEN}-1/>",
        f"<dm-{TOKEN}-1/ >",
        f"<\n dm-{TOKEN}-1 \t/ >",
        f"<DM-{TOKEN.upper()}-1/>",
        f"<Dm-{TOKEN.title()}-1/>",
    ],
)
def test_reading_is_tolerant_about_case_and_about_white_space_inside_the_brackets(marker: str) -> None:
    assert split(f"a{marker}b", TOKEN) == ("a", "b")
    assert contains_marker(f"a{marker}b")
    assert split(join([f"a{marker}b", "c"], TOKEN), TOKEN) == (f"a{marker}b", "c")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "plain",
        "a < b",
        "<dm>",
        "</dm>",
        "<dmx-1/>",
        "dm-abcdefgh-1/>",
        "<em-abcdefgh-1/>",
        "<\u00a0dm-abcdefgh-1/>",
    ],
)
def test_what_is_not_of_the_grammar_is_a_text(text: str) -> None:
    assert not contains_marker(text)
    assert split(text, TOKEN) == (text,)


@pytest.mark.parametrize(
    "stray",
    [
        "<dm-",
        "<dm-/>",
        "<dm-abc-1/>",
        f"<dm-{TOKEN}/>",
        f"<dm-{TOKEN}-/>",
        f"<dm-{TOKEN}-1",
        f"<dm-{TOKEN}-1234567/>",
        f"< DM-{TOKEN}-x/>",
        f"</dm-{TOKEN}-1>",
        f"< / dm-{TOKEN}-1/>",
    ],
)
def test_a_damaged_marker_is_refused_and_as_a_literal_it_is_a_text(stray: str) -> None:
    assert not contains_marker(stray)
    assert split(stray, TOKEN) is None
    assert split(f"a<dm-{TOKEN}-1/>b{stray}", TOKEN) is None
    assert split(join([stray, stray], TOKEN), TOKEN) == (stray, stray)


@pytest.mark.parametrize("text", ["<" + " " * 200_000, "< / " * 50_000, "<dm" + "\\" * 200_000])
def test_what_only_begins_like_a_marker_costs_no_more_than_its_length(text: str) -> None:
    assert split(text * 2, TOKEN) == (text * 2,)


def test_the_white_space_around_a_marker_belongs_to_the_segments() -> None:
    assert split(f" a <dm-{TOKEN}-1/>\nb ", TOKEN) == (" a ", "\nb ")


def test_empty_segments_are_segments() -> None:
    assert split(join(["", "", ""], TOKEN), TOKEN) == ("", "", "")


def test_there_is_no_joining_of_nothing() -> None:
    with pytest.raises(InvalidArgument):
        join([], TOKEN)


@given(st.integers(0, 2**TOKEN_BITS - 1), st.integers(0, 2**TOKEN_BITS - 1))
def test_a_token_tells_every_bit_it_was_drawn_from(one: int, other: int) -> None:
    assert (token_from(one) == token_from(other)) == (one == other)


@given(st.text(max_size=5), st.lists(st.text(st.characters(exclude_categories=()), max_size=5), max_size=3))
def test_the_token_of_a_request_depends_on_its_id_and_texts_alone(request_id: str, texts: list[str]) -> None:
    token = token_for(request_id, texts)
    assert token == token_for(request_id, iter(texts))
    assert split(join(["a", "b"], token), token) == ("a", "b")
    assert token != token_for(request_id + "!", texts)
    assert token != token_for(request_id, [*texts, ""])
