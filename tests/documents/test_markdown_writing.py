"""What is written into a Markdown page: the text, escaped where it would be markup and nowhere else; or nothing."""

from __future__ import annotations

import pytest

from dragoman.documents.markdown import MarkdownDocument
from dragoman.protocol.features import ParentRefused

from .markdown_oracle import apply, runs, skeleton


@pytest.mark.parametrize(
    "text",
    [
        "snake_case and __init__py",
        "2 * 3 < 4 > 1 & more",
        "AT&T, R&D; 5 ~ 6",
        "an array[0] and [note] here!",
        "C:\\dir costs $5 (about #3) = 100%",
        "https://example.org/a_b?c=d&e=f",
        "a - b + c, 1. of May",
        '"quoted" and (bracketed)',
        "-5 degrees",
        "1.5 metres",
        "#hashtag",
    ],
)
def test_ordinary_prose_is_written_as_it_is(text: str) -> None:
    assert apply(MarkdownDocument("words\n"), "b1", text) == text.replace("__init__py", "\\_\\_init\\_\\_py") + "\n"


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("*not* emphasis", "\\*not\\* emphasis"),
        ("_not_ emphasis", "\\_not\\_ emphasis"),
        ("a `tick`", "a \\`tick\\`"),
        ("[a](b)", "\\[a\\](b)"),
        ("![a](b)", "!\\[a\\](b)"),
        ("<b>bold</b>", "\\<b>bold\\</b>"),
        ("&amp; stays", "\\&amp; stays"),
        ("a\\*b", "a\\\\\\*b"),
        ("ends with \\", "ends with \\\\"),
        ("~~gone~~", "\\~\\~gone\\~\\~"),
        ("# no heading", "\\# no heading"),
        ("- no item", "\\- no item"),
        ("+ no item", "\\+ no item"),
        ("* no item", "\\* no item"),
        ("1. no item", "1\\. no item"),
        ("12) no item", "12\\) no item"),
        ("> no quote", "\\> no quote"),
        ("--- no rule", "\\--- no rule"),
        ("a\nb\n\nc", "a b c"),
        ("  spaces around  ", "spaces around"),
        ("\xa0hard space", "&nbsp;hard space"),
    ],
)
def test_what_would_be_markup_is_escaped(text: str, written: str) -> None:
    page = apply(MarkdownDocument("words\n"), "b1", text)
    assert page == written + "\n"
    assert runs(page) == [[" ".join(text.split()) if "\xa0" not in text else text.strip()]]
    assert skeleton(page) == skeleton("words\n")


@pytest.mark.parametrize(
    ("page", "segments", "written"),
    [
        ("# words\n", ("C #",), "# C \\#\n"),
        ("|a|b|\n|-|-|\n", ("x|y",), "|x\\|y|b|\n|-|-|\n"),
        ("a|b\n-|-\n", ("\\",), "&#92;|b\n-|-\n"),
        ("words\n---\n", ("|a|",), "&#124;a&#124;\n---\n"),
        ("a [word] b\n\n[word]: /u\n", ("x ", "y", " z"), "x [y][word] z\n\n[word]: /u\n"),
        ("[word][]\n\n[Word]: /u\n", ("y",), "[y][word]\n\n[Word]: /u\n"),
        ("words\n\n[x]: /u\n", ("see [x]",), "see \\[x\\]\n\n[x]: /u\n"),
        ("wow [link](u)\n", ("so!", "x"), "so\\![x](u)\n"),
        ("[x]: /u\nwords\n", ('"title"',), '[x]: /u\n\\"title"\n'),
        ("> one\n> *two*\n> three\n", ("eins ", "zwei", " drei"), "> eins\n> *zwei*\n> drei\n"),
        ("one\n*two*\nthree\n", ("eins", "zwei", "drei"), "eins*zwei*drei\n"),
        ("a [^1] b\n", ("see [^2]", " c"), "see \\[^2\\][^1] c\n"),
        ("- [x] done\n", ("[ ] fertig",), "- [x] [ ] fertig\n"),
    ],
)
def test_each_place_has_its_own_dangers(page: str, segments: tuple[str, ...], written: str) -> None:
    result = apply(MarkdownDocument(page), "b1", *segments)
    assert result == written
    assert skeleton(result) == skeleton(page)


@pytest.mark.parametrize(
    ("page", "segments", "written"),
    [
        ("a **bold** word\n", ("ein", " fettes ", "Wort"), "ein **fettes** Wort\n"),
        ("**Note:** this\n", ("注意：", "这"), "**注意：** 这\n"),
    ],
)
def test_white_space_in_the_way_of_emphasis_is_that_of_the_source(
    page: str, segments: tuple[str, ...], written: str
) -> None:
    assert apply(MarkdownDocument(page), "b1", *segments) == written


@pytest.mark.parametrize(
    ("page", "segments"),
    [
        ("a **b** c\n", ("a ", "", " c")),
        ("a *b*c\n", ("a ", "(b)", "c")),
        ("words\n", ("",)),
        ("a|b\n-|-\n", (" ",)),
        ("words\n", ("bell\x07",)),
        ("words\n", ("half \ud800",)),
    ],
)
def test_what_cannot_be_written_is_refused_and_nothing_changes(page: str, segments: tuple[str, ...]) -> None:
    document = MarkdownDocument(page)
    with pytest.raises(ParentRefused) as caught:
        document.dispatch("b1", segments)
    assert caught.value.reason == "STRUCTURE"
    assert document.render() == page.encode()


def test_a_segment_that_stays_is_not_written() -> None:
    page = "A \\& hard-wrapped\nline *of*\n  words\n"
    document = MarkdownDocument(page)
    assert apply(document, "b1", "A & hard-wrapped line ", "von", " words") == page.replace("of", "von")


def test_checking_a_block_does_not_read_the_document_again() -> None:
    page = "".join(f"{number}. item *number* {number}\n" for number in range(1, 400))
    document = MarkdownDocument(page)
    read: list[int] = []
    blocks = document._parser.blocks
    document._parser.blocks = lambda text, references: read.append(len(text)) or blocks(text, references)  # type: ignore[method-assign, func-returns-value]
    for parent_id in document.parents:
        document.dispatch(parent_id, ("x ", "y", " z"))
    assert len(read) == len(document.parents)
    assert max(read) < 40
