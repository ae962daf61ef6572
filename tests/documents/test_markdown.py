"""What is a parent in a Markdown page, what its segments are, and what is never touched."""

from __future__ import annotations

import pytest

from dragoman.documents.markdown import MarkdownDocument

from .markdown_oracle import apply, reversed_words, translate


def _segments(page: str) -> list[tuple[str, ...]]:
    return list(MarkdownDocument(page).parents.values())


@pytest.mark.parametrize(
    ("page", "segments"),
    [
        ("One paragraph.\n", ["One paragraph."]),
        ("# A heading #\n", ["A heading"]),
        ("Two lines\n=========\n", ["Two lines"]),
        ("A hard-wrapped\nsentence that goes\n  on.\n", ["A hard-wrapped sentence that goes on."]),
        ("> A quote\n> of two lines\n", ["A quote of two lines"]),
        ("> lazy\nlines\n", ["lazy lines"]),
        ("- one\n  and more\n- two\n", ["one and more", "two"]),
        ("1. > * deep\n   >   down\n", ["deep down"]),
        ("-\ttabs\n\tin lists\n", ["tabs in lists"]),
        ("a | b\n--|--\nc | d\n", ["a", "b", "c", "d"]),
        ("| a\\|b | `x\\|y` z |\n|---|---|\n| c | |\n", ["a|b", "z", "c"]),
        ("> | a | b |\n> |---|---|\n> | c |\n", ["a", "b", "c"]),
        ("Fish &amp; chips &copy; \\*me\\*\n", ["Fish & chips © *me*"]),
        ("no trailing newline", ["no trailing newline"]),
        ("Tom\xa0and\tJerry\n", ["Tom\xa0and\tJerry"]),
    ],
)
def test_the_text_of_a_block_is_one_segment(page: str, segments: list[str]) -> None:
    assert _segments(page) == [(segment,) for segment in segments]


@pytest.mark.parametrize(
    ("page", "segments"),
    [
        ("Some *nested **strong** words* here\n", ("Some ", "nested ", "strong", " words", " here")),
        ("*a [link](u) inside*\n", ("a ", "link", " inside")),
        ("Read [the docs][d] now\n\n[d]: /x 'title'\n", ("Read ", "the docs", " now")),
        ("Use `code` often\n", ("Use ", " often")),
        ("see\n`code`\nthere\n", ("see ", " there")),
        ("a<br>b\n", ("a ", "b")),
        ("first line  \nsecond\n", ("first line ", "second")),
        ("first line\\\nsecond\n", ("first line ", "second")),
        ("**one** **two**\n", ("one ", "two")),
        ("wo**r**d\n", ("wo", "r", "d")),
        ("![alt text](a.png) a caption\n", ("a caption",)),
        ("Go to <https://example.org> now\n", ("Go to ", " now")),
        ("~~gone~~ and <b>bold</b>\n", ("gone", " and ", "bold")),
        ("press <kbd>Enter</kbd> now\n", ("press ", " now")),
        ("A claim[^1] here\n", ("A claim", " here")),
        ("- [ ] a task\n", ("a task",)),
        ("> [!NOTE]\n> Mind the gap\n", ("Mind the gap",)),
        ("***a** b*\n", ("a", " b")),
        ("2 * 3 * x ** y\n", ("2 * 3 * x ** y",)),
    ],
)
def test_segments_are_the_texts_between_markup(page: str, segments: tuple[str, ...]) -> None:
    assert _segments(page) == [segments]


@pytest.mark.parametrize(
    "page",
    [
        "---\ntitle: Hello\n---\n",
        "+++\ntitle = 'Hello'\n+++\n",
        "\ufeff---\ntitle: Hello\n...\n",
        "```python\nprint('hello')\n```\n",
        "    indented code\n",
        "<div>\nraw text\n</div>\n",
        "<!-- a comment -->\n",
        "[label]: /url 'A title'\n",
        "![alt](x.png)\n",
        "`only code`\n",
        "<https://example.org>\n",
        "<code>only</code>\n",
        "12 + 30 = 42 …\n",
        "***\n",
        "",
        "\n \n",
    ],
)
def test_what_holds_no_text_to_translate_has_no_parents(page: str) -> None:
    document = MarkdownDocument(page)
    assert (list(document.parents), document.unplaced) == ([], 0)
    assert document.render() == page.encode()


def test_front_matter_stays_and_the_rest_is_translated() -> None:
    page = "---\ntitle: Hello\n---\n# Hello\n"
    assert apply(MarkdownDocument(page), "b1", "Hallo") == "---\ntitle: Hello\n---\n# Hallo\n"


def test_a_rule_at_the_top_is_no_front_matter() -> None:
    assert _segments("---\n\nText\n\n---\n") == [("Text",)]


def test_parents_are_numbered_in_the_order_of_the_page() -> None:
    assert MarkdownDocument("# a\n\n12\n\nb\n\n- c\n").parents == {"b1": ("a",), "b2": ("b",), "b3": ("c",)}


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_line_ends_stay_as_they_are(line_end: str) -> None:
    page = "# One\n\n> two\n> lines\n>\n> - *three*\n\n|a|b|\n|-|-|\n|c|d|\n".replace("\n", line_end)
    assert MarkdownDocument(page).render() == page.encode()
    expected = "# enOq\n\n> owtq senilq\n>\n> - *eerhtq*\n\n|aq|bq|\n|-|-|\n|cq|dq|\n".replace("\n", line_end)
    assert translate(MarkdownDocument(page), reversed_words) == expected


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "latin-1"])
def test_other_encodings_stay_as_they_are(encoding: str) -> None:
    raw = "Ein Gruß *aus* Köln\r\n".encode(encoding)
    document = MarkdownDocument(raw, encoding="latin-1")
    assert document.render() == raw
    for replacement in document.dispatch("b1", ("Üb ", "ér", " à")):
        replacement.apply()
    assert document.render() == "Üb *ér* à\r\n".encode(encoding)


def test_characters_that_the_encoding_lacks_are_written_as_references() -> None:
    document = MarkdownDocument(b"hello\n", encoding="latin-1")
    assert apply(document, "b1", "привет €").isascii()
    assert MarkdownDocument(document.render(), encoding="latin-1").parents["b1"] == ("привет €",)


def test_a_block_whose_places_cannot_be_shown_stays_as_it_is() -> None:
    # In a list in a quote markdown-it-py takes this underline for text, and nowhere else.
    page = ">10) [ref]\n>    ===\n\nmore\n\n[ref]: /x\n"
    document = MarkdownDocument(page)
    assert (document.parents, document.unplaced) == ({"b1": ("more",)}, 1)
    assert document.render() == page.encode()


def test_a_repr_shows_no_text() -> None:
    document = MarkdownDocument("A *secret* text\n")
    shown = repr(document) + repr(document._leaves) + repr(document._blocks)
    assert "secret" not in shown
    assert "text" not in shown.replace("text=", "").replace("context", "")
