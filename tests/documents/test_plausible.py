"""Which answers can be no translation."""

from __future__ import annotations

import pytest

from dragoman.documents.plausible import implausible

_ENGLISH = "The cat sat on the mat"


@pytest.mark.parametrize("answer", [_ENGLISH, "  the cat  SAT on\nthe mat "])
def test_the_source_itself_is_no_translation(answer: str) -> None:
    assert implausible([_ENGLISH], [answer], "en", "de") == "UNTRANSLATED"
    assert implausible(["The cat ", "sat on the mat"], ["", answer], None, "de") == "UNTRANSLATED"


@pytest.mark.parametrize("text", ["Ada Lovelace", "Linux", "IBM PC AT", "42 %", "OK", "Berlin – Paris", "E = mc²", ""])
def test_names_and_numbers_may_stay_as_they_are(text: str) -> None:
    assert implausible([text], [text], "en", "de") is None


def test_a_text_without_capitals_is_prose_from_some_letters_on() -> None:
    assert implausible(["こんにちは世界の皆さん"], ["こんにちは世界の皆さん"], "ja", "de") == "UNTRANSLATED"
    assert implausible(["東京"], ["東京"], "ja", "zh") is None


def test_nothing_is_judged_without_a_target_or_within_one_language() -> None:
    assert implausible([_ENGLISH], [_ENGLISH], "en", None) is None
    assert implausible([_ENGLISH], [_ENGLISH], "en-US", "en-GB") is None


@pytest.mark.parametrize(
    ("target", "answer"),
    [
        ("ru", "Die Katze saß auf der Matte"),
        ("de", "Кошка сидела на коврике"),
        ("ar", "Die Katze saß auf der Matte"),
        ("ja", "Die Katze saß auf der Matte"),
        ("hi", "Die Katze saß auf der Matte"),
        ("th", "Die Katze saß auf der Matte"),
        ("sr-Cyrl", "Mačka je sedela na prostirci"),
        ("he", "جلست القطة على السجادة"),
    ],
)
def test_a_text_in_another_script_is_no_translation(target: str, answer: str) -> None:
    assert implausible([_ENGLISH], [answer], "en", target) == "WRONG_SCRIPT"


@pytest.mark.parametrize(
    ("target", "answer"),
    [
        ("ru", "Кошка сидела на коврике"),
        ("ja", "猫がマットの上に座った"),
        ("zh", "猫坐在垫子上面一动也不动"),
        ("ko", "고양이가 매트 위에 앉았다"),
        ("hi", "बिल्ली चटाई पर बैठी थी Microsoft"),
        ("th", "แมวนั่งอยู่บนเสื่อ Microsoft"),
        ("ar", "جَلَسَتِ القِطَّةُ على السجادة"),
        ("sr", "Mačka je sedela na prostirci"),
        ("sr", "Мачка је седела на простирци"),
        ("uz", "Мушук гиламда ўтирарди"),
        ("am", "Die Katze saß auf der Matte"),
        ("ru", "cat OK"),
    ],
)
def test_a_text_in_a_script_of_the_language_is_not_judged(target: str, answer: str) -> None:
    assert implausible([_ENGLISH], [answer], "en", target) is None


def test_words_of_the_source_may_stay_in_their_script() -> None:
    source = "Install the packages openssl libcurl zlib pkgconfig"
    assert implausible([source], ["Установите openssl libcurl zlib pkgconfig"], "en", "ru") is None
