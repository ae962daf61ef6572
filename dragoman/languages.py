"""Languages by their BCP 47 tags: names, scripts, and the direction of writing."""

from __future__ import annotations

import importlib.util
import re
from functools import lru_cache

__all__ = ["alpha3_of", "is_language", "name_of", "names_script", "primary", "right_to_left", "script_of"]

_TAG = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{1,8})*", re.ASCII)
_SCRIPT = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z]{3}){0,3}-([A-Za-z]{4})(?![A-Za-z0-9])", re.ASCII)
_RIGHT_TO_LEFT = frozenset(
    {"Adlm", "Arab", "Aran", "Hebr", "Mand", "Mend", "Nkoo", "Rohg", "Samr", "Syrc", "Thaa", "Yezi"}
)

_RIGHT_TO_LEFT_LANGUAGES = frozenset(
    {
        "ar",
        "arc",
        "ckb",
        "dv",
        "fa",
        "he",
        "iw",
        "ji",
        "ks",
        "lrc",
        "mzn",
        "nqo",
        "pnb",
        "ps",
        "sd",
        "syr",
        "ug",
        "ur",
        "yi",
    }
)
"""Those that are written in these scripts, for where the extra is not installed."""


def is_language(tag: object) -> bool:
    """Whether `tag` is the tag of a language that is registered; without the extra, whether it is written like one."""
    if not isinstance(tag, str) or not _TAG.fullmatch(tag):
        return False
    if not _known():
        return True
    import langcodes

    language = langcodes.Language.get(tag).language if langcodes.tag_is_valid(tag) else None
    return language not in (None, "und", "mul", "zxx", "mis")


def name_of(tag: str) -> str:
    """The English name of a language, such as `German`; the tag itself where that is not known."""
    if not _known() or not is_language(tag):
        return tag
    import langcodes

    return str(langcodes.Language.get(tag).display_name("en"))


def alpha3_of(tag: str) -> str | None:
    """The ISO 639-3 code of a language, such as `deu`; None where it has none. Needs the extra."""
    import langcodes

    try:
        return langcodes.Language.get(tag).to_alpha3()
    except LookupError:
        return None


def primary(tag: str) -> str:
    """The language of a tag, without region and script."""
    return tag.partition("-")[0].lower()


def names_script(tag: str) -> bool:
    """Whether the script is a part of the tag, as in `sr-Latn`."""
    return _SCRIPT.match(tag) is not None


@lru_cache(maxsize=256)
def script_of(tag: str) -> str | None:
    """The script in which a language is written, such as `Latn`; None where that is not known.

    Without the extra it is known where the tag names it.
    """
    named = _SCRIPT.match(tag)
    if named is not None:
        return named[1].capitalize()
    if not _known() or not is_language(tag):
        return None
    import langcodes

    return langcodes.Language.get(tag).maximize().script


def right_to_left(tag: str | None) -> bool:
    """Whether a language is written from right to left."""
    if tag is None:
        return False
    script = script_of(tag)
    return primary(tag) in _RIGHT_TO_LEFT_LANGUAGES if script is None else script in _RIGHT_TO_LEFT


@lru_cache(maxsize=1)
def _known() -> bool:
    """Whether the extra is installed: looked for on the disk once, for every prompt asks."""
    return importlib.util.find_spec("langcodes") is not None and importlib.util.find_spec("language_data") is not None
