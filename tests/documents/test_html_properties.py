"""Tag soup: whatever tags stand in whatever order, html5lib and the document agree on what is translated."""

from __future__ import annotations

import re
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from dragoman.documents.html import HtmlDocument
from dragoman.documents.html_tokens import Tokens

from .html_oracle import texts, translated, untouched, without_texts

_WORD = re.compile(r"w\d+x")


def _names(names: str) -> list[str]:
    return names.split()


_INLINE = _names("a abbr b button code em font i kbd label ruby rt span tt u")
_BLOCKS = _names("blockquote dd details dl dt div form h1 h2 li ol p pre section table tbody td th tr ul")
_ODD = _names("br hr img input math noscript object option script style svg template textarea title video")
_MARKS = ["", "", "", "", " id=x", " translate=no", ' translate="yes"', " class='a notranslate'", " dir=ltr a"]
_REST = [
    "<!-- c -->",
    "<!-->",
    "<!x>",
    "<?x?>",
    "</>",
    "<",
    "< ",
    "&amp;",
    "&lt",
    "<br/>",
    "<svg><g>q</g></svg>",
    "<math>q</math>",
    "<p/>",
    "<![CDATA[z]]>",
    "</3>",
]
_SPACE = ["", " ", "\n", "&nbsp;", "\r\n\t"]


def _tags(names: list[str]) -> st.SearchStrategy[str]:
    name = st.sampled_from(names)
    return st.one_of(
        st.builds("<{}{}>".format, name, st.sampled_from(_MARKS)),
        st.builds("</{}>".format, name),
        st.builds("<{0}{1}> w {2}".format, name, st.sampled_from(_MARKS), st.sampled_from(_SPACE)),
        st.builds("<{0}{1}> w </{0}>".format, name, st.sampled_from(_MARKS)),
    )


@st.composite
def _pages(draw: st.DrawFn, names: list[str], size: int = 12) -> str:
    """A page in which each word is another one: w1x, w2x, …"""
    piece = st.one_of(_tags(names), st.sampled_from(_REST), st.builds("{}w{}".format, *[st.sampled_from(_SPACE)] * 2))
    soup = draw(st.sampled_from(["", "<!DOCTYPE html>"])) + "".join(draw(st.lists(piece, max_size=size)))
    # html5lib leaves some misplaced texts in a table that browsers put before it; so no table says more than its place
    soup = re.sub(r"<(table|tbody|tr)\s[^>]*>", r"<\1>", soup)
    count = 0

    def numbered(_: re.Match[str]) -> str:
        nonlocal count
        count += 1
        return f"w{count}x"

    return re.sub(r"(?<![<\w])w(?!\w)", numbered, soup)


def _words(document: HtmlDocument) -> Counter[str]:
    return Counter(word for segments in document.parents.values() for text in segments for word in _WORD.findall(text))


@given(_pages(_INLINE + _BLOCKS + _ODD, size=30))
def test_what_is_not_translated_is_written_back_as_it_was(page: str) -> None:
    assert HtmlDocument(page).render() == page.encode()


@given(_pages([*_BLOCKS, "span", "kbd"]))
def test_each_word_that_is_to_be_translated_is_in_one_parent(page: str) -> None:
    assert _words(HtmlDocument(page)) == Counter(word for text in texts(page) for word in _WORD.findall(text))


@given(_pages([*_INLINE, "p", "div", "ul", "li"]))
def test_formatting_goes_on_as_in_a_browser(page: str) -> None:
    """What html5lib moves after it was inserted may be judged otherwise; so much is never lost or doubled."""
    seen = [*texts(page), *untouched(page)]
    found, expected = _words(HtmlDocument(page)), Counter(word for text in seen for word in _WORD.findall(text))
    assert found <= expected
    if "translate" not in page and not re.search("<(code|kbd)", page):
        assert found == expected


@given(_pages(_INLINE + _BLOCKS + _ODD, size=30))
def test_a_translation_changes_no_structure(page: str) -> None:
    assert without_texts(translated(HtmlDocument(page))) == without_texts(page)


@given(_pages([*_BLOCKS, "span", "kbd", "script", "style", "br"]))
def test_a_translation_changes_no_text_that_is_not_to_be_translated(page: str) -> None:
    assert untouched(translated(HtmlDocument(page))) == untouched(page)


@given(_pages(_INLINE + _BLOCKS + _ODD, size=30), st.booleans())
def test_the_tokens_cover_the_page(page: str, foreign: bool) -> None:
    tokens = Tokens(page)
    tokens.foreign = foreign
    assert "".join(page[token.start : token.end] for token in tokens) == page
    assert all(token.start < token.end for token in Tokens(page))
