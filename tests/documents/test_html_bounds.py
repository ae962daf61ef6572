"""No page takes more than linear time, nor any depth of the interpreter's stack."""

from __future__ import annotations

import pytest

from dragoman.documents.html import HtmlDocument

_MANY = 25_000


@pytest.mark.parametrize(
    "page",
    [
        "<div>" * _MANY + "wort",
        "<b>" * _MANY + "<p>wort" * 100,
        "<p><b>" * _MANY + "wort" + "</b>" * _MANY,
        "<div>" * _MANY + "<li>wort" * _MANY,
        "<foo><div>" + "<span>" * _MANY + "</foo>" * _MANY + "wort",
        "<b><div>" * _MANY + "</b>" * _MANY + "wort",
        "<svg>" + "<g>" * _MANY + "</x>" * _MANY + "</svg>wort",
        "<b translate=no><i translate=yes>" * _MANY + "<p>wort",
        "<table><tr><td>" * _MANY + "wort",
        "wort" + "<" * _MANY,
        "wort" + "&" * _MANY,
        "wort" + ";" * _MANY + " " * _MANY,
        "&nbsp;" * _MANY + "wort" + "&nbsp;" * _MANY,
        "wort<script>" + "<!--<script>" * _MANY,
        "wort" + "<a b='" * _MANY,
        "wort" + "<!--" * _MANY,
        "wort<p " + "a=1 " * _MANY + ">",
    ],
    ids=lambda page: page[:20],
)
@pytest.mark.timeout(20)
def test_what_could_take_a_square_of_steps_does_not(page: str) -> None:
    document = HtmlDocument(page)
    assert "wort" in "".join(text for segments in document.parents.values() for text in segments)
    assert document.render() == page.encode()


def test_a_page_may_be_nested_a_hundred_thousand_deep() -> None:
    page = "<div>" * 100_000 + "wort" + "</div>" * 100_000
    assert dict(HtmlDocument(page).parents) == {"b1": ("wort",)}
