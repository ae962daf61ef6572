"""Cutting a text to a limit, against an oracle written from the language page, "Cutting"."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dragoman.protocol.history import cut

from ..strategies import prose, texts

LINE_BREAKS = "\n\r\u2028"


def oracle(text: str, limit: int) -> str:
    """All prefixes, longest first, by the letter of the page."""
    if len(text) <= limit:
        return text
    if limit == 0:
        return ""
    prefixes = [text[:length] for length in range(limit - 1, 0, -1)]

    def ends_a_sentence(prefix: str) -> bool:
        following = text[len(prefix)]
        return (prefix[-1] in ".!?" and following.isspace()) or following in LINE_BREAKS

    sentence = next(filter(ends_a_sentence, prefixes), "")
    words = next((prefix for prefix in prefixes if text[len(prefix)].isspace()), "")
    if len(sentence) >= 0.75 * limit:
        kept = sentence
    elif words:
        kept = words
    else:
        kept = text[: limit - 1]
    return kept.strip() + "…"


# A text that begins with white space is the subject of a test of its own.
words = prose.filter(lambda text: not text[:1].isspace())


@given(words, st.integers(0, 32))
@example("a. b", 3)
@example("aaa. aaa", 6)
@example("aaaa. aaa", 6)
@example("aaa\naaa", 4)
@example("abcdefgh. i jkl", 12)
@example("abcdefgh. i jkl", 13)
@example("aa aa aa", 1)
def test_a_cut_is_the_one_of_the_page(text: str, limit: int) -> None:
    assert cut(text, limit) == oracle(text, limit)


@given(texts, st.integers(0, 45))
def test_a_cut_never_exceeds_its_limit(text: str, limit: int) -> None:
    assert len(cut(text, limit)) <= limit


@given(texts)
def test_without_a_limit_a_text_stays_as_it_is(text: str) -> None:
    assert cut(text, None) == text


@given(texts, st.integers(0, 5))
def test_a_text_that_fits_stays_as_it_is(text: str, spare: int) -> None:
    assert cut(f" {text} ", len(text) + 2 + spare) == f" {text} "


@pytest.mark.parametrize(
    ("text", "limit", "expected"),
    [
        ("One two. Three four five", 12, "One two.…"),
        ("One two. Three four five", 17, "One two. Three…"),
        ("Nine chars. And more of it", 14, "Nine chars.…"),
        ("Really? Yes, of course", 9, "Really?…"),
        ("Stop! Do not go any further", 6, "Stop!…"),
        ("A version 3.14 of it", 12, "A version…"),
        ("first line\nsecond line", 13, "first line…"),
        ("first line\r\nsecond line", 13, "first line…"),
        ("first\nsecond", 12, "first\nsecond"),
        ("one  two three", 6, "one…"),
        ("one\u00a0two three", 6, "one…"),
        ("Donaudampfschifffahrt", 6, "Donau…"),
        ("Donau Dampf", 6, "Donau…"),
    ],
)
def test_examples_of_each_way_to_cut(text: str, limit: int, expected: str) -> None:
    assert cut(text, limit) == expected


def test_a_sentence_counts_from_exactly_three_quarters_of_the_limit() -> None:
    assert cut("abcdefgh. i jkl", 12) == "abcdefgh.…"
    assert cut("abcdefgh. i jkl", 13) == "abcdefgh. i…"


def test_a_limit_of_one_leaves_the_ellipsis_and_a_limit_of_none_nothing() -> None:
    assert cut("two words", 1) == "…"
    assert cut("two words", 0) == ""


def test_outer_white_space_goes_with_the_cut() -> None:
    assert cut("  two words and more", 13) == "two words…"


def test_a_prefix_of_white_space_stands_before_white_space_like_any_other() -> None:
    assert cut("  words", 5) == "…"
