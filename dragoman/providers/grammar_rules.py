"""The rules of a slot: what one translated segment may be, as a right-linear grammar.

Each rule is a list of ways, each way nothing at all or one terminal and the rule that goes on. The rules `open`,
`slash`, `d` and `dm` follow what could become a marker, so that none ever does: `<`, `/`, `d` and `m`, with white space
between them, may be followed by anything but what completes them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import lru_cache
from types import MappingProxyType

import attrs

__all__ = ["START", "Chars", "Rules", "SlotKind", "Way", "quoted", "rules_of"]

START = "text"

_SPACE = (
    (0x20, 0x20),
    (0xA0, 0xA0),
    (0x1680, 0x1680),
    (0x2000, 0x200A),
    (0x202F, 0x202F),
    (0x205F, 0x205F),
    (0x3000, 0x3000),
)
_NEVER = ((0x00, 0x1F), (0x7F, 0x9F), (0x2028, 0x2029), *_SPACE)
"""Control characters and separators of lines; white space has its own terminal."""

_OPENERS = "{[`~"
"""What a scalar answer may open with only where it does not go on as an envelope or a code fence would."""

_QUOTED = MappingProxyType({'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"})


@attrs.frozen
class Chars:
    """One character of the ranges of code points.

    It says what may come and never what may not: of a character that comes in several tokens, llama.cpp refuses the
    first where any character that begins so is ruled out.
    """

    ranges: tuple[tuple[int, int], ...]

    @classmethod
    def but(cls, ranges: Iterable[tuple[int, int]]) -> Chars:
        """One character of none of the ranges, and no half of a surrogate pair."""
        left: list[tuple[int, int]] = []
        start = 0
        for low, high in sorted((*ranges, (0xD800, 0xDFFF))):
            if low > start:
                left.append((start, low - 1))
            start = max(start, high + 1)
        return cls((*left, (start, 0x10FFFF)))

    def __contains__(self, char: str) -> bool:
        return any(low <= ord(char) <= high for low, high in self.ranges)

    def __str__(self) -> str:
        written = (_point(low) if low == high else f"{_point(low)}-{_point(high)}" for low, high in self.ranges)
        return f"[{''.join(written)}]"


Way = tuple[()] | tuple[Chars | str, str]
"""Nothing, or a terminal (characters, or a literal) and the name of the rule that goes on."""

Rules = Mapping[str, tuple[Way, ...]]


@attrs.frozen
class SlotKind:
    """What a slot may hold beyond plain text.

    `escaped`: it stands in a JSON string. `breaks`: which of line break and tab. `spaced`: several white space
    characters in a row. `leads`: it opens a scalar answer, which must not read as an envelope or a code fence.
    """

    escaped: bool
    breaks: str = ""
    spaced: bool = False
    leads: bool = False


def quoted(literal: str) -> str:
    """`literal` as the notation of llama.cpp writes it."""
    return (
        '"' + "".join(_QUOTED.get(char) or (char if char >= " " else f"\\x{ord(char):02X}") for char in literal) + '"'
    )


@lru_cache(maxsize=64)
def rules_of(kind: SlotKind) -> Rules:
    """The rules of a slot, `START` first."""
    forbidden = '<"\\' if kind.escaped else "<"
    escapes: tuple[Way, ...] = (('\\"', "more"), ("\\\\", "more")) if kind.escaped else ()

    def visible(without: str = "") -> Way:
        return Chars.but((*_NEVER, *_each(forbidden + without))), "more"

    def on(without: str = "") -> tuple[Way, ...]:
        return (visible(without), *escapes, ("<", "open"))

    def gap(after: str) -> tuple[Way, ...]:
        """White space, after which something visible must come."""
        breaks = (json.dumps(char)[1:-1] if kind.escaped else char for char in kind.breaks)
        return ((Chars(_SPACE), after), *((char, after) for char in breaks))

    more_gap = (*on(), *(gap("more-gap") if kind.spaced else ()))
    on_open = (*on("/dD"), ("/", "slash"), (Chars(_each("dD")), "d"))
    open_gap = (*on_open, *(gap("open-gap") if kind.spaced else ()))
    on_slash = (*on("dD"), (Chars(_each("dD")), "d"))
    slash_gap = (*on_slash, *(gap("slash-gap") if kind.spaced else ()))
    rules: dict[str, tuple[Way, ...]] = {
        START: on(),
        "more": ((), *on(), *gap("more-gap")),
        "more-gap": more_gap,
        "open": ((), *on_open, *gap("open-gap")),
        "open-gap": open_gap,
        "slash": ((), *on_slash, *gap("slash-gap")),
        "slash-gap": slash_gap,
        "d": ((), *on("mM"), (Chars(_each("mM")), "dm"), *gap("more-gap")),
        "dm": ((), *on("-"), *gap("more-gap")),
    }
    if kind.leads:
        digits = Chars(((0x30, 0x39),))
        words = {"t": "r", "f": "a", "n": "u"}
        rules |= {
            START: (*on(_OPENERS), ("{", "brace"), ("[", "bracket"), ("`", "tick"), ("~", "tilde")),
            "brace": ((), *on("\"'")),
            "bracket": ((), *on("\"'{[]-0123456789tfn"), (digits, "number"), *((char, char) for char in words)),
            "number": ((), *on(",.0123456789eE"), (digits, "number")),
            "tick": ((), *on("`")),
            "tilde": ((), *on("~")),
            **{char: ((), *on(second)) for char, second in words.items()},
        }
    return MappingProxyType(rules)


def _each(chars: str) -> tuple[tuple[int, int], ...]:
    return tuple((ord(char), ord(char)) for char in chars)


def _point(code: int) -> str:
    """A code point inside brackets."""
    if 0x30 <= code <= 0x39 or 0x41 <= code <= 0x5A or 0x61 <= code <= 0x7A:
        return chr(code)
    return f"\\x{code:02X}" if code <= 0xFF else f"\\u{code:04X}" if code <= 0xFFFF else f"\\U{code:08X}"
