"""What can be no translation, whoever says so: the source itself, or a text in another script.

Cheap and careful: names, numbers and short formulas may stay as they are, and a text in the right script is not judged.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

from ..languages import names_script, primary, script_of

__all__ = ["implausible"]

_WORD = re.compile(r"[^\W\d_]{2,}")
_LEAST_LETTERS = 8
"""Letters of a text without capitals that are enough to be a sentence, and letters from which a script is judged."""

_SCRIPTS = {
    "Arab": ("ARABIC",),
    "Armn": ("ARMENIAN",),
    "Beng": ("BENGALI",),
    "Cyrl": ("CYRILLIC",),
    "Deva": ("DEVANAGARI",),
    "Geor": ("GEORGIAN",),
    "Grek": ("GREEK",),
    "Hang": ("HANGUL",),
    "Hans": ("CJK",),
    "Hant": ("CJK",),
    "Hebr": ("HEBREW",),
    "Jpan": ("HIRAGANA", "KATAKANA", "CJK"),
    "Kore": ("HANGUL", "CJK"),
    "Latn": ("LATIN",),
    "Taml": ("TAMIL",),
    "Thai": ("THAI",),
}
"""Scripts, by how the names of their letters begin."""

_IN_TWO_SCRIPTS = frozenset({"az", "bs", "kk", "ku", "ky", "mn", "ms", "pa", "sh", "sr", "tg", "tk", "tt", "ug", "uz"})
"""Languages whose tag does not tell their script, unless it names it."""


def implausible(
    source: Sequence[str], translation: Sequence[str], source_language: str | None, target_language: str | None
) -> str | None:
    """Why a translation cannot be one: `UNTRANSLATED`, `WRONG_SCRIPT`; None if it can."""
    if target_language is None:
        return None
    before, after = "".join(source), "".join(translation)
    changes = source_language is None or primary(source_language) != primary(target_language)
    if changes and _is_prose(before) and _folded(before) == _folded(after):
        return "UNTRANSLATED"
    return "WRONG_SCRIPT" if _in_another_script(before, after, target_language) else None


def _folded(text: str) -> str:
    return " ".join(text.split()).casefold()


def _is_prose(text: str) -> bool:
    """Whether a text cannot well be the same in two languages: more than names, numbers and single words."""
    words = _words(text)
    if any(word[0].isupper() or word[0].islower() for word in words):
        return len(words) >= 2 and any(word[0].islower() for word in words)
    return sum(map(len, words)) >= _LEAST_LETTERS


def _in_another_script(before: str, after: str, target_language: str) -> bool:
    """Whether the letters of `after` are of no script of the language; what stood in the source does not count."""
    names = _SCRIPTS.get(script_of(target_language) or "")
    if names is None or (primary(target_language) in _IN_TWO_SCRIPTS and not names_script(target_language)):
        return False
    kept = set(_words(before))
    letters = [letter for word in _words(after) if word not in kept for letter in word]
    if len(letters) < _LEAST_LETTERS:
        return False
    ours = sum(_script_name(letter).startswith(names) for letter in letters)
    return ours * 4 < len(letters)


def _words(text: str) -> list[str]:
    """The runs of letters in a text, without the marks that many scripts write in the midst of a word."""
    if not text.isascii():
        text = "".join(character for character in text if not _is_mark(character))
    return _WORD.findall(text)


@lru_cache(maxsize=4096)
def _is_mark(character: str) -> bool:
    return unicodedata.category(character).startswith("M")


@lru_cache(maxsize=4096)
def _script_name(letter: str) -> str:
    return unicodedata.name(letter, "")
