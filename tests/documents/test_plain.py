"""Paragraphs of plain texts, and what a line break means in them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.documents.plain import PlainText
from dragoman.protocol.features import Feature, ParentRefused

_PROSE = (
    "Long ago, there was a king who had three\r\n"
    "daughters; and the youngest one of them\r\n"
    "was so lovely that the sun was amazed.\r\n"
)


def _put(document: PlainText, parent_id: str, text: str) -> str:
    for replacement in document.dispatch(parent_id, (text,)):
        replacement.apply()
    return document.render().decode()


def test_a_text_is_a_feature() -> None:
    assert isinstance(PlainText("Hello"), Feature)
    assert PlainText("Hello").document == "text.txt"


def test_a_paragraph_is_a_parent_with_one_segment() -> None:
    document = PlainText("\ufeffOne\n\n  Two\n \t\n\n3 – 4\n\nThree")
    assert dict(document.parents) == {"b1": ("\ufeffOne",), "b2": ("Two",), "b3": ("Three",)}


def test_wrapped_prose_is_one_line_and_is_wrapped_again() -> None:
    document = PlainText(_PROSE)
    clean = _PROSE.replace("\r\n", " ").strip()
    assert document.parents["b1"] == (clean,)
    assert _put(
        document, "b1", "Vor langer Zeit lebte ein König, der hatte drei Töchter, und die jüngste war schön."
    ) == ("Vor langer Zeit lebte ein König, der\r\nhatte drei Töchter, und die jüngste war\r\nschön.\r\n")


def test_wrapped_prose_keeps_its_indentation() -> None:
    document = PlainText("1. " + _PROSE.replace("\r\n", "\n   ").strip())
    assert _put(document, "b1", "1. " + "wort " * 12) == (
        "1. wort wort wort wort wort wort wort wort\n   wort wort wort wort"
    )


def test_a_word_that_was_wrapped_at_its_hyphen_is_one_again() -> None:
    document = PlainText("This is a text that was wrapped by a well-\nknown program.")
    assert document.parents["b1"] == ("This is a text that was wrapped by a well-known program.",)


def test_no_space_comes_between_ideographs() -> None:
    line = "很久以前有一个国王他有三个女儿其中最小的"
    assert PlainText(f"{line}\n{line}").parents["b1"] == (line + line,)


@pytest.mark.parametrize(
    "text",
    [
        "Roses are red,\nviolets are blue",
        "- the first thing that there is to be done here\n- the second thing that there is to be done here",
        "2026-01-01 12:00:00 ERROR the connection was lost\n2026-01-01 12:00:01 ERROR the connection was lost",
        "> quoted text that was wrapped by a mail program at\n> some width, as they do",
        "A long line that had no room for more, so far as one sees\nand one that had room for\nthe next word",
        "Name:\tvalue that goes on to the fortieth column and more\n  indented continuation\nName: other",
    ],
)
def test_other_lines_are_meant(text: str) -> None:
    document = PlainText(text)
    lines = text.split("\n")
    assert document.parents["b1"] == ("\n".join(line.strip() for line in lines),)
    assert _put(document, "b1", "\n".join(line.strip() + "!" for line in lines)) == "\n".join(
        line + "!" for line in lines
    )


def test_meant_lines_keep_their_indentation_and_their_ends() -> None:
    document = PlainText("  * one \r\n    * two\t\r    three  ")
    assert document.parents["b1"] == ("* one\n* two\nthree",)
    assert _put(document, "b1", "* eins\n* zwei\ndrei") == "  * eins \r\n    * zwei\t\r    drei  "


@pytest.mark.parametrize(
    "text", ["eins", "eins\nzwei\ndrei", "eins\n\nzwei", "", " \n ", "eins\nz\0wei", "eins\nz\u2029i"]
)
def test_a_translation_of_another_structure_is_refused(text: str) -> None:
    document = PlainText("one\ntwo")
    with pytest.raises(ParentRefused) as refused:
        document.dispatch("b1", (text,))
    assert refused.value.reason == "STRUCTURE"


def test_the_translation_of_one_line_stays_one_line() -> None:
    assert _put(PlainText("one\n"), "b1", " eins\nzwei ") == "eins zwei\n"


def test_a_blank_line_makes_two_paragraphs_and_is_refused_in_wrapped_prose_too() -> None:
    with pytest.raises(ParentRefused):
        PlainText(_PROSE).dispatch("b1", ("eins\n \nzwei",))


def test_a_translation_that_the_encoding_lacks_is_refused_before_it_is_applied() -> None:
    document = PlainText("Käse".encode("latin-1"), encoding="latin-1")
    with pytest.raises(ParentRefused) as refused:
        document.dispatch("b1", ("奶酪",))
    assert refused.value.reason == "ENCODING"
    assert document.render() == "Käse".encode("latin-1")


@given(
    st.lists(st.sampled_from(["a b", "wort", "-", "1", " ", "\t", "\n", "\n\n", "\r\n", "\r", "\x0c", "中", "é" * 45]))
)
def test_what_is_not_translated_is_written_back_as_it_was(pieces: list[str]) -> None:
    text = "".join(pieces)
    assert PlainText(text).render() == text.encode()


@given(st.lists(st.sampled_from(["a b", "wort", "- x", "1", " ", "\t", "\n", "\n\n", "\r\n", "\r", "é" * 45])))
def test_a_translation_changes_no_other_paragraph(pieces: list[str]) -> None:
    document = PlainText("".join(pieces))
    before = dict(document.parents)
    for parent_id, (text,) in before.items():
        document.dispatch(parent_id, (text.swapcase(),))[0].apply()
    after = PlainText(document.render()).parents
    assert [text.split() for (text,) in after.values()] == [text.swapcase().split() for (text,) in before.values()]


def test_a_text_of_many_blank_columns_is_read_at_once() -> None:
    assert dict(PlainText(" " * 1_000_000 + "\n" + "1\n" * 100_000 + "\n\nwort").parents) == {"b1": ("wort",)}
