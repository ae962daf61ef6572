"""Pages that other people wrote: each is read, written back, and translated, and html5lib is the judge."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest

from dragoman.documents.html import HtmlDocument

from .html_oracle import texts, translated, untouched, without_texts
from .pages import real_pages

_FEWEST = 5
_PAGES = real_pages(most=40)

pytestmark = pytest.mark.skipif(
    len(_PAGES) < _FEWEST, reason=f"fewer than {_FEWEST} HTML pages below /usr/share/doc and the Python libraries"
)


def _letters(words: Iterable[str]) -> Counter[str]:
    return Counter(letter for word in words for letter in word if letter.isalpha())


@pytest.fixture(params=_PAGES, ids=lambda path: "/".join(path.parts[-3:]))
def page(request: pytest.FixtureRequest) -> bytes:
    path: Path = request.param
    return path.read_bytes()


def test_a_page_that_is_not_translated_is_itself(page: bytes) -> None:
    assert HtmlDocument(page).render() == page


def test_every_text_that_is_to_be_translated_is_in_one_parent(page: bytes) -> None:
    document = HtmlDocument(page)
    text = page.decode(document.encoding)
    assert _letters(texts(text)) == _letters(segment for parent in document.parents.values() for segment in parent)


def test_a_translated_page_is_the_same_but_for_these_texts(page: bytes) -> None:
    document = HtmlDocument(page)
    before, after = page.decode(document.encoding), translated(document).decode(document.encoding)
    assert without_texts(after) == without_texts(before)
    assert untouched(after) == untouched(before)
    assert (after == before) == (not document.parents)
