"""The stack of open elements, with what the rules of the tree ask of it in constant time."""

from __future__ import annotations

import attrs

from .html_elements import BLOCK, MARKED, ROWS, SCOPES, SPECIAL, TABLE_PARTS, TEXT_IN_FOREIGN, UNTOUCHED
from .html_tokens import Token

__all__ = ["Element", "ElementStack"]

_IN_ROWS = frozenset(TABLE_PARTS) | {"script", "style", "template"}
"""What may stand in a table and in no cell of it."""


@attrs.define(eq=False)
class Element:
    """An open element, and what holds for what is in it."""

    name: str
    effect: bool | None
    """Whether what is in it is translated; None: as around it."""
    tag: Token
    translated: bool = True
    block: Token | None = None
    is_open: bool = True

    @property
    def kind(self) -> tuple[str, bool | None]:
        """What makes two formatting elements alike."""
        return self.name, self.effect


class ElementStack:
    """The elements that are open, the innermost last. The names of those of SVG and MathML begin with an asterisk."""

    def __init__(self) -> None:
        self._stack: list[Element] = []
        self._places: dict[str, list[int]] = {}
        self._special: list[int] = []
        self._barriers: list[int] = []  # those of them that no item of a list reaches beyond
        self._html: list[int] = []
        self._formatting: list[Element | None] = []  # what goes on in the next block; None: nothing before goes on

    @property
    def translated(self) -> bool:
        """Whether a text at this place is to be translated."""
        around = self._around
        return True if around is None else around.translated

    @property
    def block(self) -> Token | None:
        """The start tag of the block element that is around this place, if there is one."""
        around = self._around
        return None if around is None else around.block

    @property
    def in_foreign(self) -> bool:
        """Whether what follows belongs to SVG or MathML."""
        top = self._top
        return top.startswith("*") and top not in TEXT_IN_FOREIGN

    @property
    def in_svg_or_math(self) -> bool:
        """Whether the innermost element is one of SVG or MathML."""
        return self._top.startswith("*")

    @property
    def _around(self) -> Element | None:
        """The element that a text here goes into; one in a table and in no cell of it goes before the table."""
        place = len(self._stack) - 1
        if self._top in ROWS:
            place = self._last("table") - 1 if self._last("table") > self._last("template") else place
        return self._stack[place] if place >= 0 else None

    @property
    def _top(self) -> str:
        return self._stack[-1].name if self._stack else ""

    def _last(self, name: str) -> int:
        places = self._places.get(name)
        return places[-1] if places else -1

    def _in_scope(self, *names: str, scope: str = "") -> int:
        """The innermost open element of one of these names that can be closed from here, or -1."""
        place = max(map(self._last, names))
        if place >= 0 and place < max(map(self._last, SCOPES[scope])):
            return -1
        return place

    def _push(self, tag: Token, *, foreign: bool = False) -> None:
        self._put(Element("*" + tag.name if foreign else tag.name, _effect(tag), tag))

    def _put(self, element: Element, *, moves: bool = True) -> None:
        place, name = len(self._stack), element.name
        if moves:
            around = self._stack[-1] if self._stack and name in _IN_ROWS else self._around
            inherited = True if around is None else around.translated
            element.translated = inherited if element.effect is None else element.effect
            element.block = element.tag if name in BLOCK else None if around is None else around.block
        element.is_open = True
        self._stack.append(element)
        self._places.setdefault(name, []).append(place)
        if name in SPECIAL or name in TEXT_IN_FOREIGN:
            self._special.append(place)
            if name not in ("address", "div", "p"):
                self._barriers.append(place)
        if not name.startswith("*"):
            self._html.append(place)

    def _pop(self, *, for_good: bool = True) -> Element:
        element = self._stack.pop()
        element.is_open = False
        self._places[element.name].pop()
        for places in (self._special, self._barriers, self._html):
            if places and places[-1] == len(self._stack):
                places.pop()
        if for_good and element.name in MARKED:
            while self._formatting and self._formatting.pop() is not None:
                pass
        return element

    def _pop_to(self, place: int) -> bool:
        """Close the element at this place and all in it; a place of -1 is none."""
        if place < 0:
            return False
        self._pop_above(place - 1)
        return True

    def _pop_above(self, place: int) -> None:
        while len(self._stack) > place + 1:
            self._pop()


def _effect(tag: Token) -> bool | None:
    if tag.attributes:
        translate = tag.value("translate")
        if translate is not None:
            if translate.lower() in ("", "yes"):
                return True
            if translate.lower() == "no":
                return False
        if "notranslate" in (tag.value("class") or "").split():
            return False
    return False if tag.name in UNTOUCHED else None
