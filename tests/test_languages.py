"""What a tag of a language tells."""

from __future__ import annotations

import pytest

from dragoman import languages
from dragoman.languages import is_language, name_of, names_script, primary, right_to_left, script_of


@pytest.fixture
def without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(languages, "_known", lambda: False)
    monkeypatch.setattr(languages, "script_of", script_of.__wrapped__)


@pytest.mark.parametrize("tag", ["de", "pt-BR", "zh-Hant-TW", "EN-us", "ckb"])
def test_tags_of_languages(tag: str) -> None:
    assert is_language(tag)


@pytest.mark.parametrize("tag", ["", "german", "en_US", "xx-yy", "und", "mul", "de-", None, 3])
def test_what_is_no_tag_of_a_language(tag: object) -> None:
    assert not is_language(tag)


@pytest.mark.parametrize(("tag", "name"), [("de", "German"), ("pt-BR", "Portuguese (Brazil)"), ("nothing", "nothing")])
def test_the_name_of_a_language(tag: str, name: str) -> None:
    assert name_of(tag) == name


def test_the_language_of_a_tag() -> None:
    assert [primary(tag) for tag in ("de", "PT-br", "zh-Hant-TW")] == ["de", "pt", "zh"]


@pytest.mark.parametrize(
    ("tag", "script"),
    [
        ("de", "Latn"),
        ("ru", "Cyrl"),
        ("ja", "Jpan"),
        ("zh-TW", "Hant"),
        ("sr", "Cyrl"),
        ("sr-latn", "Latn"),
        ("xx", None),
    ],
)
def test_the_script_of_a_language(tag: str, script: str | None) -> None:
    assert script_of(tag) == script
    assert names_script(tag) == (tag == "sr-latn")


@pytest.mark.parametrize("tag", ["ar", "he", "iw", "fa-IR", "ur", "yi", "ckb", "dv", "az-Arab"])
def test_languages_from_right_to_left(tag: str) -> None:
    assert right_to_left(tag)


@pytest.mark.parametrize("tag", [None, "de", "ja", "az", "ur-Latn", "he-latn", "arn"])
def test_languages_from_left_to_right(tag: str | None) -> None:
    assert not right_to_left(tag)


def test_the_direction_of_some_languages_needs_the_extra() -> None:
    assert right_to_left("pa-PK")


@pytest.mark.usefixtures("without_the_extra")
def test_without_the_extra_tags_are_judged_by_their_form() -> None:
    assert is_language("de-DE")
    assert is_language("xx")
    assert not is_language("en_US")
    assert name_of("de") == "de"
    assert languages.script_of("de") is None
    assert languages.script_of("sr-Latn-RS") == "Latn"


@pytest.mark.usefixtures("without_the_extra")
@pytest.mark.parametrize("tag", ["ar", "he-IL", "fa", "az-Arab"])
def test_without_the_extra_the_direction_is_known(tag: str) -> None:
    assert right_to_left(tag)
    assert not right_to_left("ur-Latn")
    assert not right_to_left("de")
