"""The encoding that an HTML page says it is in."""

from __future__ import annotations

import codecs
import html
import re
from collections.abc import Iterator

from .html_tokens import Kind, Token, Tokens

__all__ = ["declared_encoding"]

_LOOKED_AT_BYTES = 4096
"""How far a declaration is looked for; the standard asks authors for the first 1024 bytes."""

_PROLOG = re.compile(rb"""\s*<\?xml[^>]*?\sencoding\s*=\s*["']([A-Za-z0-9._:-]+)["']""")
_CHARSET = re.compile(r"""charset\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s;"']+))""", re.IGNORECASE)

_WIDER = {
    "ascii": "cp1252",
    "big5": "big5hkscs",
    "euc_kr": "cp949",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "iso8859-11": "cp874",
    "shift_jis": "cp932",
    "tis-620": "cp874",
    "utf-16": "utf-8",
    "utf-16-be": "utf-8",
    "utf-16-le": "utf-8",
}
"""What browsers take a declared encoding for: one with more characters. A page whose declaration can be read by its
ASCII letters is not in UTF-16."""

_OF_PAGES = frozenset(_WIDER.values()) | {f"iso8859-{part}" for part in (2, 3, 4, 5, 6, 7, 8, 10, 13, 14, 15, 16)}
_OF_PAGES |= {f"cp{page}" for page in (866, 1250, 1251, 1253, 1255, 1256, 1257, 1258)}
_OF_PAGES |= {"euc_jp", "iso2022_jp", "koi8-r", "koi8-u", "mac-cyrillic", "mac-roman", "utf-8"}
"""The encodings that the web knows, as Python names them."""

_OTHER_NAMES = {
    "iso-8859-8-i": "iso8859-8",
    "windows-874": "cp874",
    "x-cp1252": "cp1252",
    "x-euc-jp": "euc_jp",
    "x-gbk": "gbk",
    "x-mac-cyrillic": "mac-cyrillic",
    "x-sjis": "shift_jis",
}
"""Labels of the web that Python does not know."""


def declared_encoding(page: bytes) -> str | None:
    """The encoding that a page declares and is written in, in an XML declaration or a `meta` element; None if none."""
    for label in _labels(page[:_LOOKED_AT_BYTES]):
        try:
            name = codecs.lookup(_OTHER_NAMES.get(label.strip().lower(), label.strip())).name
        except (LookupError, ValueError):
            continue
        wider = _WIDER.get(name, name)
        if wider in _OF_PAGES:
            return wider if wider == name or _is_lossless(page, wider) else name
    return None


def _labels(beginning: bytes) -> Iterator[str]:
    prolog = _PROLOG.match(beginning)
    if prolog is not None:
        yield prolog[1].decode("ascii")
    tokens = Tokens(beginning.decode("latin-1"))
    for token in tokens:
        if token.kind is not Kind.START:
            continue
        if token.name in ("noscript", "script", "style", "textarea", "title"):
            if token.name != "noscript":
                tokens.read_raw(token.name)
        elif token.name == "meta":
            label = _label(token)
            if label is not None:
                yield label


def _label(meta: Token) -> str | None:
    charset = meta.value("charset")
    if charset is not None:
        return charset
    if (meta.value("http-equiv") or "").lower() != "content-type":
        return None
    found = _CHARSET.search(html.unescape(meta.value("content") or ""))
    return None if found is None else found[1] or found[2] or found[3]


def _is_lossless(page: bytes, encoding: str) -> bool:
    try:
        return page.decode(encoding).encode(encoding) == page
    except UnicodeError:
        return False
