"""The marker grammar: how the segments of one parent are joined on the wire, and found again.

A marker is `<dm-TOKEN-N/>`: ASCII, shaped like an empty element because models keep those, with a token of eight
base-32 characters that each request has of its own, made of its id and texts so that the same request always sends the
same prompts, and the number of the segment that follows it (from 1).
Reading is tolerant about case and about white space inside the brackets. A literal that looks like the beginning of
a marker, or of the end tag that a model might close one with, is escaped with a backslash, and `unescape` is the exact
inverse. An opening that is neither a marker nor escaped is a marker that was damaged.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence

from .errors import InvalidArgument

__all__ = [
    "TOKEN_BITS",
    "contains_marker",
    "escape",
    "join",
    "markers_of",
    "split",
    "token_for",
    "token_from",
    "unescape",
]

TOKEN_BITS = 40
_ALPHABET = "abcdefghijklmnopqrstuvwxyz234567"
_LENGTH = TOKEN_BITS // 5
_MARKER = re.compile(r"<\s*dm-([a-z2-7]{8})-(\d{1,6})\s*(?:/\s*)?>", re.IGNORECASE | re.ASCII)
_OPENING = re.compile(r"(<\s*+/?\s*+dm)(\\*)-", re.IGNORECASE | re.ASCII)
_ESCAPED = re.compile(r"(<\s*+/?\s*+dm\\*)\\-", re.IGNORECASE | re.ASCII)
_STRAY = re.compile(r"<\s*+/?\s*+dm-", re.IGNORECASE | re.ASCII)


def token_from(entropy: int) -> str:
    """The token that `entropy` (an integer of `TOKEN_BITS` bits) stands for."""
    return "".join(_ALPHABET[(entropy >> (5 * place)) & 31] for place in range(_LENGTH))


def token_for(request_id: str, texts: Iterable[str]) -> str:
    """The token of a request with these texts."""
    digest = hashlib.sha256()
    for text in (request_id, *texts):
        digest.update(text.encode("utf-8", "surrogatepass"))
        digest.update(b"\0")
    return token_from(int.from_bytes(digest.digest()[: TOKEN_BITS // 8]))


def contains_marker(text: str) -> bool:
    """Whether `text` carries a marker of the runtime's grammar, of whatever request."""
    return "<" in text and _MARKER.search(text) is not None


def markers_of(text: str) -> tuple[str, ...]:
    """The markers in `text`, as they stand, in order."""
    return tuple(match.group() for match in _MARKER.finditer(text))


def escape(text: str) -> str:
    """`text` with every literal that could open a marker made harmless."""
    return _OPENING.sub(r"\1\2\\-", text) if "<" in text else text


def unescape(text: str) -> str:
    """The inverse of `escape`."""
    return _ESCAPED.sub(r"\1-", text) if "<" in text else text


def join(segments: Sequence[str], token: str, first: int = 1) -> str:
    """The segments with a marker between each two, numbered from `first`; one segment is that text, escaped."""
    if not segments:
        raise InvalidArgument("segments", "must hold at least one text")
    parts = [escape(segments[0])]
    for number, segment in enumerate(segments[1:], start=first):
        parts.append(f"<dm-{token}-{number}/>")
        parts.append(escape(segment))
    return "".join(parts)


def split(text: str, token: str, first: int = 1) -> tuple[str, ...] | None:
    """The segments that `join` made `text` of, the markers numbered from `first`.

    None if a marker is foreign, doubled, missing between others, out of order or damaged. How many there should be is
    for the caller to say.
    """
    pieces = _MARKER.split(text)
    tokens, numbers, segments = pieces[1::3], pieces[2::3], pieces[0::3]
    if any(found.lower() != token for found in tokens):
        return None
    if [int(number) for number in numbers] != list(range(first, first + len(numbers))):
        return None
    if any(_STRAY.search(segment) for segment in segments):
        return None
    return tuple(map(unescape, segments))
