"""Which elements are open at a place of an HTML page, as the HTML standard builds the tree, without building it.

What is needed of the tree is where an element ends: a start tag may close others, an end tag may be missing, or close
none, and a formatting element that is not closed goes on in the next block. What a later tag moves is judged by where
it stood before: that changes the place of a text, and hardly ever whether it is to be translated.

Each step takes constant time on average, however deep the page is nested and whatever is closed in which order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import attrs

from .html_elements import (
    BREAKOUT,
    CLOSES_BESIDE,
    FORMATTING,
    HEAD,
    HEADINGS,
    IMPLIED_END,
    MARKED,
    P_CLOSING,
    RAW,
    ROWS,
    SCOPES,
    SPECIAL,
    TABLE_PARTS,
    VOID,
)
from .html_stack import Element, ElementStack
from .html_tokens import Token

__all__ = ["OpenElements"]

_CELLS = ("caption", "td", "template", "th")
_NO_TEXT = ROWS | {"", "colgroup", "head", "html"}
"""White space in these is no text."""

_MOST_ALIKE = 3
"""How many formatting elements of one kind go on at once."""

_MOST_MOVED = 100
"""How many open elements are looked at to close one in their midst; a page nested deeper keeps it open."""


class OpenElements(ElementStack):
    """The elements that are open, the innermost last. Feed it every tag and every text, in order."""

    def __init__(self) -> None:
        super().__init__()
        self._has_doctype = False
        self._in_head = True

    def doctype(self) -> None:
        """The document type; it counts if nothing stands before it."""
        self._has_doctype = self._has_doctype or not self._stack

    def text(self, *, blank: bool) -> None:
        """A text; one of white space alone opens nothing where none is expected."""
        if self.in_foreign or self._top in RAW or (blank and self._top in _NO_TEXT):
            return
        self._leave_head()
        self._go_on()

    def start(self, tag: Token) -> bool:
        """A start tag; whether it opens or closes anything."""
        name = tag.name
        if self.in_foreign:
            if not _breaks_out(tag):
                self._push(tag, foreign=True)
                if tag.closes_itself:
                    self._pop()
                return True
            while self.in_foreign:
                self._pop()
        if name in ("html", "body", "frameset"):
            if self._last(name) >= 0:
                return False
            if name != "html":
                self._leave_head()
            self._push(tag)
            return True
        if name not in HEAD and name != "head":
            self._leave_head()
        handler = _STARTS.get(name)
        if handler is not None:
            return handler(self, tag)
        if name in P_CLOSING:
            self._close_p()
            if name in HEADINGS and self._top in HEADINGS:
                self._pop()
        elif name in CLOSES_BESIDE:
            has_beside = name in ("optgroup", "option") or self._in_scope("ruby") >= 0
            while has_beside and self._top in CLOSES_BESIDE[name]:
                self._pop()
            self._go_on()
        elif name in FORMATTING:
            if name in ("a", "nobr"):
                self._close_formatting(name)
            self._go_on()
        elif name not in HEAD:
            self._go_on()
        if name in ("svg", "math"):
            self._push(tag, foreign=True)
            if tag.closes_itself:
                self._pop()
        elif name not in VOID:
            self._push(tag)
            if name in FORMATTING:
                self._remember(self._stack[-1])
            elif name in MARKED:
                self._formatting.append(None)
        return True

    def end(self, tag: Token) -> bool:
        """An end tag; whether it closes or means anything."""
        name = tag.name
        if self.in_svg_or_math and self._foreign_end(name):
            return True
        if name in ("p", "br"):
            while self.in_foreign:
                self._pop()
            if name == "p":
                self._close_p()
            return True
        if name in ("html", "body"):
            return True
        if name in FORMATTING:
            return self._close_formatting(name)
        if name in HEADINGS:
            return self._pop_to(self._in_scope(*HEADINGS))
        if name in ("table", "tbody", "td", "tfoot", "th", "thead", "tr", "caption", "colgroup", "template"):
            return self._pop_to(self._in_scope(name, scope="table"))
        if name == "form":
            return self._end_of_form(self._in_scope(name))
        if name == "li":
            return self._pop_to(self._in_scope(name, scope="list"))
        if name in SPECIAL or name == "dialog":
            return self._pop_to(self._in_scope(name))
        return self._end_of_ordinary(name)

    def _end_of_ordinary(self, name: str) -> bool:
        place = self._last(name)
        return place > (self._special[-1] if self._special else -1) and self._pop_to(place)

    @property
    def _in_rows(self) -> bool:
        """Whether the innermost table has no cell open."""
        return self._last("table") >= 0 and max(map(self._last, ROWS)) > max(map(self._last, _CELLS))

    def _start_in_list(self, tag: Token) -> bool:
        """An item of a list closes the one before it, but none of a list around it."""
        names = ("li",) if tag.name == "li" else ("dd", "dt")
        if self._barriers and self._stack[self._barriers[-1]].name in names:
            self._pop_to(self._barriers[-1])
        self._close_p()
        self._push(tag)
        return True

    def _start_of_table(self, tag: Token) -> bool:
        if self._in_rows:
            self._pop_to(self._last("table"))
        if self._has_doctype:
            self._close_p()
        self._push(tag)
        return True

    def _start_in_table(self, tag: Token) -> bool:
        """A part of a table closes what is open in the parts before it; without a table it is nothing."""
        floor = max(map(self._last, ("table", "template")))
        if floor < 0:
            return False
        names = TABLE_PARTS[tag.name]
        self._pop_above(max(floor, *map(self._last, names)))
        if tag.name in ("td", "th") and self._top in ("table", "tbody", "tfoot", "thead"):
            if self._top == "table":
                self._push(attrs.evolve(tag, name="tbody", attributes={}))
            self._push(attrs.evolve(tag, name="tr", attributes={}))
        elif tag.name == "tr" and self._top == "table":
            self._push(attrs.evolve(tag, name="tbody", attributes={}))
        if tag.name not in VOID:
            self._push(tag)
            if tag.name in MARKED:
                self._formatting.append(None)
        return True

    def _start_of_head(self, tag: Token) -> bool:
        if not self._in_head or self._last("head") >= 0:
            return False
        self._push(tag)
        return True

    def _start_of_form(self, tag: Token) -> bool:
        if self._last("form") >= 0 and self._last("template") < 0:
            return False
        if not self._in_rows:  # a form there is empty
            self._close_p()
            self._push(tag)
        return True

    def _start_of_button(self, tag: Token) -> bool:
        self._pop_to(self._in_scope("button"))
        self._go_on()
        self._push(tag)
        return True

    def _start_of_select(self, tag: Token) -> bool:
        if self._pop_to(self._in_scope("select")):
            return True
        self._go_on()
        self._push(tag)
        return True

    def _start_of_rule(self, tag: Token) -> bool:
        self._close_p()
        return True

    def _close_p(self) -> None:
        self._pop_to(self._in_scope("p", scope="button"))

    def _leave_head(self) -> None:
        """What cannot stand in the head ends it, and a `noscript` in it."""
        if not self._in_head or self._last("template") >= 0:
            return
        self._in_head = False
        self._pop_above(self._last("html"))

    def _end_of_form(self, place: int) -> bool:
        """Close a form and leave open what is in it."""
        if place < 0:
            return False
        while self._top in IMPLIED_END:
            self._pop()
        if len(self._stack) - place > _MOST_MOVED:
            return self._pop_to(place)
        self._rebuild(place, lambda _: True, moves=False)
        return True

    def _rebuild(self, place: int, stays: Callable[[Element], bool], *, moves: bool) -> None:
        """Close the element at this place alone; those in it move out of it in the tree, or only in the stack."""
        above = [self._pop(for_good=False) for _ in range(len(self._stack) - place)]
        above.pop()
        for element in reversed(above):
            if stays(element):
                self._put(element, moves=moves)

    def _foreign_end(self, name: str) -> bool:
        """The end tag of an element of SVG or MathML; it closes none that HTML is between."""
        if name in ("p", "br"):
            return False
        place = self._last("*" + name)
        return place > (self._html[-1] if self._html else -1) and self._pop_to(place)

    def _remember(self, element: Element) -> None:
        alike = [
            place for place in self._since_mark() if (other := self._formatting[place]) and other.kind == element.kind
        ]
        if len(alike) >= _MOST_ALIKE:
            del self._formatting[alike[-1]]
        self._formatting.append(element)

    def _since_mark(self) -> Iterable[int]:
        """The places of the formatting elements that may go on here, the newest first."""
        for place in range(len(self._formatting) - 1, -1, -1):
            if self._formatting[place] is None:
                return
            yield place

    def _go_on(self) -> None:
        """Open the formatting elements again that were closed with the block around them."""
        closed: list[int] = []
        for place in self._since_mark():
            element = self._formatting[place]
            if element is None or element.is_open:
                break
            closed.append(place)
        for place in reversed(closed):
            element = self._formatting[place]
            if element is not None:
                self._push(element.tag)
                self._formatting[place] = self._stack[-1]

    def _close_formatting(self, name: str) -> bool:
        """Close a formatting element; blocks that were opened in it stay open, and so does the formatting in it."""
        for at in self._since_mark():
            element = self._formatting[at]
            if element is not None and element.name == name:
                break
        else:
            return self._end_of_ordinary(name)
        if not element.is_open:
            del self._formatting[at]
            return False
        place = next(place for place in reversed(self._places[name]) if self._stack[place] is element)
        if place < max(map(self._last, SCOPES[""])):
            return False
        del self._formatting[at]
        last_block = self._special[-1] if self._special else -1
        if last_block < place:
            return self._pop_to(place)
        if len(self._stack) - place <= _MOST_MOVED:
            self._pop_above(last_block)
            goes_on = {id(other) for other in map(self._formatting.__getitem__, self._since_mark())}
            self._rebuild(place, lambda other: other.name in SPECIAL or id(other) in goes_on, moves=True)
        return True


def _breaks_out(tag: Token) -> bool:
    return tag.name in BREAKOUT or (tag.name == "font" and any(map(tag.attributes.get, ("color", "face", "size"))))


_STARTS: dict[str, Callable[[OpenElements, Token], bool]] = {
    "button": OpenElements._start_of_button,
    "dd": OpenElements._start_in_list,
    "dt": OpenElements._start_in_list,
    "form": OpenElements._start_of_form,
    "head": OpenElements._start_of_head,
    "hr": OpenElements._start_of_rule,
    "li": OpenElements._start_in_list,
    "select": OpenElements._start_of_select,
    "table": OpenElements._start_of_table,
    **dict.fromkeys(TABLE_PARTS, OpenElements._start_in_table),
}
