"""The tokens of an HTML page, each with its place.

They are found as the HTML standard's tokenizer finds them, whatever the Python: the standard library's parser differs
from it, and between its own patch releases, in comments, CDATA and elements whose content is raw text. Together the
tokens cover the page without a gap. What is in them is not decoded. The time is linear in the size of the page.
"""

from __future__ import annotations

import enum
import html
import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType

import attrs

from ..protocol.redaction import redacted

__all__ = ["Attribute", "Kind", "Token", "Tokens", "lowered"]

_SPACE = "\t\n\f\r "
_MARKUP = re.compile(r"<(?:[A-Za-z!?]|/.)", re.DOTALL)
"""What opens markup; any other `<` is text."""

_NAME = re.compile(rf"[^{_SPACE}/>]*")
_GAP = re.compile(rf"[{_SPACE}/]*")
_ATTRIBUTE = re.compile(rf"=?[^{_SPACE}/>=]*")
_EQUALS = re.compile(rf"[{_SPACE}]*=[{_SPACE}]*")
_UNQUOTED = re.compile(rf"[^{_SPACE}>]*")
_COMMENT_END = re.compile(r"--!?>")
_SCRIPT = re.compile(rf"<!--|-->|<(/?)script(?=[{_SPACE}/>])", re.IGNORECASE | re.ASCII)
_ASCII_LOWER = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}


class Kind(enum.Enum):
    """What a token is."""

    TEXT = enum.auto()
    """Text in which character references stand for characters."""
    RAW = enum.auto()
    """Text of elements such as `script`, in which they do not."""
    START = enum.auto()
    END = enum.auto()
    DOCTYPE = enum.auto()
    OTHER = enum.auto()
    """Comments, processing instructions, and markup that comes to nothing."""


@attrs.frozen
class Attribute:
    """An attribute in a start tag: where its name ends, where its value stands (with its quotes), and the value."""

    name_end: int
    start: int
    end: int
    value: str = attrs.field(repr=redacted)


_NO_ATTRIBUTES: Mapping[str, Attribute] = MappingProxyType({})


@attrs.frozen
class Token:
    """A stretch of the page, `page[start:end]`. `name` is the lower-case name of a tag, `name_end` where it ends."""

    kind: Kind
    start: int
    end: int
    name: str = ""
    name_end: int = 0
    attributes: Mapping[str, Attribute] = _NO_ATTRIBUTES
    closes_itself: bool = False

    def value(self, attribute: str) -> str | None:
        """The value of an attribute; None where it is missing."""
        found = self.attributes.get(attribute)
        return None if found is None else html.unescape(found.value)


def lowered(name: str) -> str:
    """A name with its ASCII letters in lower case, and no others."""
    return name.lower() if name.isascii() else name.translate(_ASCII_LOWER)


class Tokens:
    """Iterates over the tokens of a page.

    What comes next depends on the tree. So whoever iterates says, before it takes the next token: after a start tag,
    whether its content is raw (`read_raw`), and with `foreign` whether it is inside of SVG or MathML.
    """

    def __init__(self, page: str) -> None:
        self.foreign = False
        self._page = page
        self._raw: tuple[str, Kind] | None = None

    def read_raw(self, name: str, kind: Kind = Kind.RAW) -> None:
        """What follows is the content of the element `name`, without markup, to its end tag."""
        self._raw = (name, kind)

    def __iter__(self) -> Iterator[Token]:
        page, size, reached = self._page, len(self._page), 0
        while reached < size:
            if self._raw is not None:
                (name, kind), self._raw = self._raw, None
                end = self._raw_end(name, reached)
                if end > reached:
                    yield Token(kind, reached, end)
                reached = end
                continue
            found = _MARKUP.search(page, reached)
            start = size if found is None else found.start()
            if start > reached:
                yield Token(Kind.TEXT, reached, start)
            if found is None:
                return
            if found[0] == "<!":
                token = self._declaration(start)
            elif found[0] == "<?":
                token = Token(Kind.OTHER, start, self._after(">", start))
            else:
                token = self._tag(start, found[0])
            reached = token.end
            yield token

    def _after(self, closing: str, start: int) -> int:
        """The place behind the next `closing`, or the end of the page."""
        place = self._page.find(closing, start)
        return len(self._page) if place < 0 else place + len(closing)

    def _declaration(self, start: int) -> Token:
        page = self._page
        if page.startswith("<!--", start):
            for empty in ("<!-->", "<!--->"):
                if page.startswith(empty, start):
                    return Token(Kind.OTHER, start, start + len(empty))
            found = _COMMENT_END.search(page, start + 4)
            return Token(Kind.OTHER, start, len(page) if found is None else found.end())
        if self.foreign and page.startswith("<![CDATA[", start):
            return Token(Kind.OTHER, start, self._after("]]>", start))
        kind = Kind.DOCTYPE if lowered(page[start + 2 : start + 9]) == "doctype" else Kind.OTHER
        return Token(kind, start, self._after(">", start))

    def _tag(self, start: int, opening: str) -> Token:
        """A tag; a page that ends in it ends with nothing."""
        page, size = self._page, len(self._page)
        is_end = opening[1] == "/"
        if is_end and not (opening[2].isascii() and opening[2].isalpha()):
            return Token(Kind.OTHER, start, self._after(">", start))
        name_end = _end(_NAME, page, start + 1 + is_end)
        name = lowered(page[start + 1 + is_end : name_end])
        attributes: dict[str, Attribute] = {}
        place = name_end
        while True:
            gap_end = _end(_GAP, page, place)
            if gap_end == size:
                return Token(Kind.OTHER, start, size)
            if page[gap_end] == ">":
                closes_itself = gap_end > place and page[gap_end - 1] == "/"
                kind = Kind.END if is_end else Kind.START
                return Token(kind, start, gap_end + 1, name, name_end, attributes or _NO_ATTRIBUTES, closes_itself)
            attribute_end = _end(_ATTRIBUTE, page, gap_end)
            equals = _EQUALS.match(page, attribute_end)
            value_start = place = attribute_end if equals is None else equals.end()
            if equals is None or page[place : place + 1] not in ('"', "'"):
                place = place if equals is None else _end(_UNQUOTED, page, place)
                value = page[value_start:place]
            else:
                place = page.find(page[value_start], value_start + 1) + 1
                if not place:
                    return Token(Kind.OTHER, start, size)
                value = page[value_start + 1 : place - 1]
            attributes.setdefault(
                lowered(page[gap_end:attribute_end]), Attribute(attribute_end, value_start, place, value)
            )

    def _raw_end(self, name: str, start: int) -> int:
        """Where the content of an element without markup ends: before its end tag, or with the page."""
        if name == "plaintext":
            return len(self._page)
        if name == "script":
            return self._script_end(start)
        ending = re.compile(rf"</{name}(?=[{_SPACE}/>])", re.IGNORECASE | re.ASCII)
        found = ending.search(self._page, start)
        return len(self._page) if found is None else found.start()

    def _script_end(self, start: int) -> int:
        """In a comment of a script, an end tag closes the script only if it closes no start tag there."""
        commented = nested = False
        place = start
        while (found := _SCRIPT.search(self._page, place)) is not None:
            place = found.end()
            if found[0] == "<!--":
                commented = True
                place -= 2  # these dashes may also begin the end of the comment
            elif found[0] == "-->":
                commented = nested = False
            elif found[1]:
                if not nested:
                    return found.start()
                nested = False
            else:
                nested = commented
        return len(self._page)


def _end(pattern: re.Pattern[str], page: str, start: int) -> int:
    """Where a pattern ends that may be empty."""
    found = pattern.match(page, start)
    return start if found is None else found.end()
