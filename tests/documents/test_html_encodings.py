"""In which encoding a page is read and written."""

from __future__ import annotations

import codecs

import pytest

from dragoman.documents.html import HtmlDocument
from dragoman.documents.invalid import InvalidDocument


def _page(label: str) -> str:
    return f"<!-- <meta charset=koi8-r> --><title><meta charset=koi8-r></title><meta charset={label}><p>Käse"


@pytest.mark.parametrize(
    ("label", "encoding", "written_in"),
    [
        ("utf-8", "utf-8", "utf-8"),
        ("ISO-8859-1", "cp1252", "cp1252"),
        ("us-ascii", "cp1252", "cp1252"),
        ("' latin1 '", "cp1252", "cp1252"),
        ("gb2312", "gb18030", "gb18030"),
        ("utf-16", "utf-8", "utf-8"),
        ("x-sjis", "cp932", "utf-16-le"),
        ("iso-8859-15", "iso8859-15", "iso8859-15"),
        ("rot13", "utf-8", "utf-8"),
        ("utf-7", "utf-8", "utf-8"),
        ("nothing", "utf-8", "utf-8"),
    ],
)
def test_the_declared_encoding_is_the_one_that_browsers_take_it_for(label: str, encoding: str, written_in: str) -> None:
    text = _page(label) if written_in != "utf-16-le" else _page(label).replace("ä", "a")
    page = text.encode("ascii" if written_in == "utf-16-le" else written_in)
    document = HtmlDocument(page)
    assert document.encoding == encoding
    assert document.render() == page


def test_the_declared_encoding_itself_is_taken_where_the_wider_one_loses_something() -> None:
    page = b"<meta charset=iso-8859-1><p>K\xe4se \x81"
    assert HtmlDocument(page).encoding == "iso8859-1"
    assert HtmlDocument(page).render() == page


@pytest.mark.parametrize(
    "page",
    [
        '<meta http-equiv="Content-Type" content="text/html; charset=iso-8859-2"><p>Łódź',
        "<meta content='text/html;charset=\"iso-8859-2\"' HTTP-EQUIV=content-type><p>Łódź",
        "<?xml version='1.0' encoding='iso-8859-2'?><p>Łódź",
    ],
)
def test_the_encoding_may_be_declared_in_several_ways(page: str) -> None:
    assert list(HtmlDocument(page.encode("iso-8859-2")).parents.values()) == [("Łódź",)]


def test_an_argument_goes_before_the_declaration_and_a_byte_order_mark_before_both() -> None:
    page = "<meta charset=iso-8859-1><p>Łódź"
    assert HtmlDocument(page.encode("iso-8859-2"), encoding="iso-8859-2").parents["b1"] == ("Łódź",)
    marked = codecs.BOM_UTF16_LE + page.encode("utf-16-le")
    document = HtmlDocument(marked, encoding="iso-8859-2")
    assert document.parents["b1"] == ("Łódź",)
    assert document.render() == marked


def test_characters_that_the_encoding_lacks_become_references() -> None:
    document = HtmlDocument("<meta charset=latin-1><p>Käse".encode("latin-1"))
    for replacement in document.dispatch("b1", ("Käse 奶酪 €\u00a0&",)):
        replacement.apply()
    after = document.render()
    assert after == "<meta charset=latin-1><p>Käse &#22902;&#37226; €\u00a0&amp;".encode("cp1252")
    assert HtmlDocument(after).parents["b1"] == ("Käse 奶酪 €\u00a0&",)


def test_a_page_in_no_encoding_is_refused_without_its_text() -> None:
    with pytest.raises(InvalidDocument) as refused:
        HtmlDocument(b"<p>secret \xff")
    assert "secret" not in str(refused.value)
    assert refused.value.__context__ is None
    assert refused.value.document == "page.html"
