"""Between the raw text of a page and clean text: character references, and white space as HTML collapses it."""

from __future__ import annotations

import html
import re

__all__ = ["UNSAFE", "clean", "core", "raw"]

_COLLAPSING = re.compile(r"[ \t\n\f\r]+")
_SPACE = (
    r"(?:\s|&(?:nbsp|ensp|emsp|thinsp|Tab|NewLine|#(?:0*(?:9|10|12|13|32|160)|[xX]0*(?:9|[aA]|[cC]|[dD]|20|[aA]0)));)"
)
_LEADING = re.compile(rf"{_SPACE}*")
_REFERENCE = re.compile(r"&#?[0-9A-Za-z]{1,10};\Z")
UNSAFE = re.compile("[\0-\x08\x0b\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")
"""Control characters and the like, which a page cannot hold."""


def clean(text: str) -> str:
    """What a raw text reads as: references resolved, and each run of white space one space; a no-break space stays."""
    return _COLLAPSING.sub(" ", html.unescape(text) if "&" in text else text)


def core(page: str, start: int, end: int) -> tuple[int, int]:
    """The stretch of `page[start:end]` without the white space around it, be it written as such or as references.

    Only references that are closed count: what is put behind another one could become a part of it.
    """
    found = _LEADING.match(page, start, end)
    first = start if found is None else found.end()
    last = end
    while last > first:
        if page[last - 1].isspace():
            last -= 1
            continue
        reference = _REFERENCE.search(page, max(first, last - 13), last) if page[last - 1] == ";" else None
        if reference is None or not _LEADING.fullmatch(reference[0]):
            break
        last = reference.start()
    return first, last


def raw(text: str) -> str:
    """A clean text as it is written in a page."""
    return html.escape(text, quote=False)
