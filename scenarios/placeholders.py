"""Texts in the place of those that a journal does not tell: as long, alike where they were alike, and without meaning.

A text is told by `CHARACTERS:BYTES:DIGEST`, where the bytes are those of its JSON without the quotes. Two texts of
different digests get different placeholders, as far as there are so many of that size. No placeholder has white space,
a marker, a quote, or the look of JSON; in the place of a blank text stands white space.
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["NEVER_CLEAN", "Placeholders"]

NEVER_CLEAN = '[{"id": "x", "text": "x"}]'
"""A result that no ACK may carry: an envelope."""

_BY_BYTES = {1: 0, 2: 1, 3: 2, 4: 3, 6: 5}
"""Characters that take so many bytes in JSON, and what each adds to the count of characters."""
_FIRST = {1: ord("a"), 2: 0x0430, 3: 0x4E00, 4: 0x10428, 6: 0x01}
_COUNT = {1: 26, 2: 32, 3: 20_000, 4: 40, 6: 7}
"""Which characters these are: letters, and control characters where nothing else is long enough."""


class Placeholders:
    """Gives the placeholder of each text; the same one for the same text."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, int, str], str] = {}
        self._numbers: dict[tuple[int, int], int] = {}

    def text(self, told: str) -> str:
        """What stands in the place of a text; the text itself where the journal has it."""
        told_chars, told_size, digest, *text = told.split(":", 3)
        if text:
            return text[0]
        return self.like(int(told_chars), int(told_size), digest)

    def texts(self, told: str | Sequence[str]) -> tuple[str, ...]:
        """The same for a text, or the pieces of one."""
        return (self.text(told),) if isinstance(told, str) else tuple(map(self.text, told))

    def like(self, chars: int, size: int, digest: str) -> str:
        """A text of so many characters, and bytes; the same one for the same digest."""
        if not digest:
            return _blank(chars, size)
        known = self._known.get((chars, size, digest))
        if known is None:
            number = self._numbers.get((chars, size), 0)
            self._numbers[chars, size] = number + 1
            known = self._known[chars, size, digest] = _letters(number, chars, size)
        return known

    def stretches(self, digest: str, lengths: Sequence[int]) -> str:
        """A source that is to be split as that one was: white space and words in turn, of these lengths."""
        parts = []
        for place, length in enumerate(lengths):
            is_word = place % 2 == 1
            parts.append(self.like(length, length, f"{digest} {place}") if is_word else " " * length)
        return "".join(parts)


def _blank(chars: int, size: int) -> str:
    more = min(max(0, size - chars), chars)
    return "\n" * more + " " * (chars - more)


def _letters(number: int, chars: int, size: int) -> str:
    widths = _widths(chars, size - chars)
    name = f"t{number}"
    plain = len(widths) - len([width for width in widths if width > 1])
    if len(name) <= plain:
        rest = "".join(chr(_FIRST[width]) for width in widths[plain:])
        return name + "x" * (plain - len(name)) + rest
    found = []
    for width in widths:
        # The first character of this kind is never the one of the names above.
        number, digit = divmod(number, _COUNT[width] - (width == 1))
        letter = chr(_FIRST[width] + digit)
        found.append("z" if width == 1 and letter == "t" else letter)
    return "".join(found)


def _widths(chars: int, more: int) -> list[int]:
    """The bytes of each of `chars` characters which take `more` bytes than there are characters; as near as can be."""
    widths: list[int] = []
    left = max(0, more)
    for place in range(chars):
        rest = chars - place
        width = next((width for width in (1, 2, 3, 4) if left <= _BY_BYTES[width] * rest), 6)
        if width > 1 and left < _BY_BYTES[width]:
            width = left + 1
        left -= _BY_BYTES[width]
        widths.append(width)
        if left <= 0:
            widths += [1] * (chars - place - 1)
            break
    return sorted(widths)
