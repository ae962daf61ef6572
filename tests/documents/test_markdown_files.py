"""Markdown that other people wrote: each file is read, written back and translated, and markdown-it-py is the judge."""

from __future__ import annotations

import hashlib
import re
import sysconfig
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest

from dragoman.documents.markdown import _FRONT_MATTER, MarkdownDocument

from .markdown_oracle import reversed_words, skeleton, translate

_FEWEST = 5
_MOST = 40
_MOST_BYTES = 60_000
_FOLDERS = (Path("/usr/share/doc"), Path("/usr/lib/node_modules"), Path(sysconfig.get_path("purelib")))


def _files() -> Iterator[Path]:
    for folder in _FOLDERS:
        for path in folder.rglob("*.md"):
            if path.is_file() and 0 < path.stat().st_size <= _MOST_BYTES:
                yield path


def _shuffled(path: Path) -> bytes:
    return hashlib.sha256(str(path).encode()).digest()


_CHOSEN = sorted(islice(sorted(_files(), key=_shuffled), _MOST))

pytestmark = pytest.mark.skipif(
    len(_CHOSEN) < _FEWEST, reason=f"fewer than {_FEWEST} Markdown files below /usr/share/doc and the libraries"
)


@pytest.fixture(params=_CHOSEN, ids=lambda path: "/".join(path.parts[-3:]))
def page(request: pytest.FixtureRequest) -> bytes:
    path: Path = request.param
    return path.read_bytes()


def _body(page: bytes) -> str:
    text = re.sub("\r\n?", "\n", page.decode())
    front = _FRONT_MATTER.match(text)
    return text[front.end() :] if front is not None else text


def test_a_file_that_is_not_translated_is_itself(page: bytes) -> None:
    assert MarkdownDocument(page).render() == page


def test_a_translated_file_has_the_same_structure(page: bytes) -> None:
    document = MarkdownDocument(page)
    translated = translate(document, reversed_words).encode()
    assert skeleton(_body(translated)) == skeleton(_body(page))
    assert document.translated == frozenset(document.parents)


def test_nearly_every_block_can_be_placed() -> None:
    documents = [MarkdownDocument(path.read_bytes()) for path in _CHOSEN]
    placed = sum(len(document.parents) for document in documents)
    assert sum(document.unplaced for document in documents) * 500 <= placed
