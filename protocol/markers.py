"""The marker grammar: how the segments of one parent are joined on the wire, and found again.

A marker is `<dm-TOKEN-N/>`: ASCII, shaped like an empty element because models keep those, with a token of eight
base-32 characters that is drawn anew for each request, and the number of the segment that follows it (from 1).
Reading is tolerant about case and about white space inside the brackets. A literal that looks like the beginning of
a marker is escaped with a backslash, and `unescape` is the exact inverse.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from .errors import InvalidArgument

__all__ = ["TOKEN_BITS", "contains_marker", "escape", "join", "split", "token_from", "unescape"]

TOKEN_BITS = 40
_ALPHABET = "abcdefghijklmnopqrstuvwxyz234567"
_LENGTH = TOKEN_BITS // 5
_MARKER = re.compile(r"<\s*dm-([a-z2-7]{8})-(\d{1,6})\s*(?:/\s*)?>", re.IGNORECASE | re.ASCII)
_OPENING = re.compile(r"(<\s*dm)(\\*)-", re.IGNORECASE | re.ASCII)
_ESCAPED = re.compile(r"(<\s*dm\\*)\\-", re.IGNORECASE | re.ASCII)


def token_from(entropy: int) -> str:
    """The token that `entropy` (an integer of `TOKEN_BITS` random bits) stands for."""
    return "".join(_ALPHABET[(entropy >> (5 * place)) & 31] for place in range(_LENGTH))


def contains_marker(text: str) -> bool:
    """Whether `text` carries a marker of the runtime's grammar, of whatever request."""
    return "<" in text and _MARKER.search(text) is not None


def escape(text: str) -> str:
    """`text` with every literal that could open a marker made harmless."""
    return _OPENING.sub(r"\1\2\\-", text) if "<" in text else text


def unescape(text: str) -> str:
    """The inverse of `escape`."""
    return _ESCAPED.sub(r"\1-", text) if "<" in text else text


def join(segments: Sequence[str], token: str) -> str:
    """The segments with a marker between each two; one segment is that text, escaped."""
    if not segments:
        raise InvalidArgument("segments", "must hold at least one text")
    parts = [escape(segments[0])]
    for number, segment in enumerate(segments[1:], start=1):
        parts.append(f"<dm-{token}-{number}/>")
        parts.append(escape(segment))
    return "".join(parts)


def split(text: str, token: str) -> tuple[str, ...] | None:
    """The segments that `join` made `text` of; None if a marker is foreign, doubled, missing or out of order."""
    pieces = _MARKER.split(text)
    tokens, numbers = pieces[1::3], pieces[2::3]
    if any(found.lower() != token for found in tokens):
        return None
    if [int(number) for number in numbers] != list(range(1, len(numbers) + 1)):
        return None
    return tuple(unescape(piece) for piece in pieces[0::3])
