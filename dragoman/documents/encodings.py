"""From the bytes of a document to its text and back, without loss."""

from __future__ import annotations

import codecs

import attrs

from .invalid import InvalidDocument

__all__ = ["Decoded", "decode"]

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
"""Byte order marks, longer ones first where one begins with another."""

_BINARY = "is binary, not a text"


@attrs.frozen
class Decoded:
    """The text of a document, and how it is written."""

    text: str = attrs.field(repr=lambda text: f"<{len(text)} characters>")
    encoding: str
    mark: bytes = b""

    def encode(self, text: str, *, errors: str = "strict") -> bytes:
        """`text` in the encoding of the document, behind the same byte order mark."""
        return self.mark + text.encode(self.encoding, errors)


def decode(source: bytes | str, declared: str | None, *, document: str) -> Decoded:
    """Read a document: by its byte order mark, else as `declared`, else as UTF-8. Text is written as UTF-8.

    Raises `InvalidDocument` for what is binary, or is not written in that encoding.
    """
    decoded = _as_text(source) if isinstance(source, str) else _decoded(source, declared)
    if isinstance(decoded, Decoded) and "\0" in decoded.text:
        decoded = _BINARY
    if isinstance(decoded, str):  # raised here, and not where a codec failed, whose error holds the document
        raise InvalidDocument(document, decoded)
    return decoded


def _as_text(text: str) -> Decoded | str:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        return f"holds a half of a surrogate pair (character {error.start})"
    return Decoded(text, "utf-8")


def _decoded(source: bytes, declared: str | None) -> Decoded | str:
    """The text of a document, or why it is none."""
    without = b"", declared or "utf-8"
    mark, encoding = next(((mark, name) for mark, name in _MARKS if source.startswith(mark)), without)
    try:
        encoding = codecs.lookup(encoding).name
    except (LookupError, ValueError):
        return f"is in the encoding {encoding[:40]!r}, which Python does not know"
    if encoding == "utf-8-sig":
        encoding = "utf-8"
    body = source[len(mark) :]
    if not mark and b"\0" in body and encoding in ("utf-8", "ascii"):
        return _BINARY
    try:
        text = body.decode(encoding)
        lossless = text.encode(encoding) == body
    except UnicodeError as error:
        where = f" (byte {error.start})" if isinstance(error, UnicodeDecodeError) else ""
        return f"is not written in {encoding}{where}: name its encoding"
    except (LookupError, TypeError, ValueError):  # codecs that are none for texts
        lossless = False
    if not lossless:
        return f"cannot be read and written back in {encoding}: name another encoding"
    return Decoded(text, encoding, mark)
