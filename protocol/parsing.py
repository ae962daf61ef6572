"""Reading the wire envelope out of the body of a structured answer (language page, "Units and batches").

An envelope is `{"translations": [ITEM, …]}` or a bare list of items, in strict JSON but for three repairs: trailing
commas, single-quoted strings, and closing brackets that are missing behind the last complete item. An item that is
itself cut off is left out, never completed. Whatever stands around envelopes, prose or code fences, is passed over;
JSON in it is a value of its own, and nothing inside such a value is an envelope.

Not promised: to find an envelope wherever a reader would. What is doubtful is not parsed, because the recovery of an
answer costs a call, and a wrong translation is never noticed.
"""

from __future__ import annotations

import json
import re
from typing import NoReturn

import attrs

from .redaction import redacted

__all__ = ["Item", "Parsed", "parse"]

_MAX_DEPTH = 32
_CANDIDATE_COST = 64

_SPACE = re.compile(r"[ \t\r\n]*+")
_CANDIDATE = re.compile(r"""\{[ \t\r\n]*+["']|\[[ \t\r\n]*+["'{\[\]\-0-9tfn]""")
_KEY_BEFORE = re.compile(r"""(?:["']|\{\s*\w+)\s*:\s*\Z""")
_KEY_REACH = 64
_AROUND = re.compile(r"\s*+(?:(?:`{3,}+|~{3,}+)\w*+\s*+)?+")
_BRACKET = re.compile(r"[\[\]{}]")
_LITERAL = re.compile(r"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?|true|false|null")
_WHOLE_NUMBER = re.compile(r"-?[0-9]+")
_UNCLOSED = {
    '"': re.compile(r"""["][^"\\\x00-\x1f]*+(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*+)*+"""),
    "'": re.compile(r"""['][^'\\\x00-\x1f]*+(?:\\(?:['"\\/bfnrt]|u[0-9a-fA-F]{4})[^'\\\x00-\x1f]*+)*+"""),
}
_REQUOTED = re.compile(r"""\\.|["]""")
_AS_DOUBLE = {"\\'": "'", '"': '\\"'}


@attrs.frozen
class Item:
    """One item of an envelope.

    `id` is None where the item has none (no object, no key, null); a whole number stands as its digits. `odd_id` tells
    an id that is neither text nor whole number. `text` is None where it is absent or not a string.
    """

    id: str | None = None
    text: str | None = attrs.field(default=None, repr=redacted)
    odd_id: bool = False


@attrs.frozen
class Parsed:
    """The items of all envelopes of a body, in order.

    `repaired`: one of the three repairs was needed. `doubled`: a key `translations`, `id` or `text` stood twice in its
    object, so that nothing here can be trusted. `whole`: the body is one envelope and nothing else, fences aside.
    """

    items: tuple[Item, ...]
    repaired: bool = False
    doubled: bool = False
    whole: bool = False


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    """Where the match of `pattern` at `at` ends; `at` itself if there is none."""
    found = pattern.match(text, at)
    return found.end() if found else at


class _CutOff(Exception):
    """The body ends inside a value: nothing follows but closing brackets of the envelope, and prose."""


class _Broken(Exception):
    """Not the JSON that is read here. `reached` is how far the body was looked at."""

    def __init__(self, reached: int) -> None:
        super().__init__(reached)
        self.reached = reached


class _Candidate:
    """One value of a body that may be an envelope, and what was found in it so far.

    `listed`: it has a list `translations`. `keyed`: one of its items has an id or a text. `told`: so has an item that
    may not be complete, or the value is nested too deeply to be anything else than trouble.
    """

    __slots__ = ("_body", "_closing", "doubled", "items", "keyed", "listed", "repaired", "told")

    def __init__(self, body: str) -> None:
        self._body = body
        self._closing = ""
        self.items: list[Item] = []
        self.listed = self.keyed = self.told = self.repaired = self.doubled = False

    def read(self, at: int) -> int:
        """The end of the value that opens at `at`."""
        if self._body[at] == "[":
            return self._list(at)
        self._closing = "}"
        seen = False
        more, at = self._enter(at, "}")
        while more:
            key, at = self._key(at)
            if key == "translations":
                self.doubled |= seen
                seen = True
                if self._body.startswith("[", at):
                    self.listed = True
                    at = self._list(at)
                else:
                    at = self._skip(at, 1)
            else:
                at = self._skip(at, 1)
            more, at = self._next(at, "}")
        return at

    def _list(self, at: int) -> int:
        outside = self._closing
        self._closing = "]" + outside
        more, at = self._enter(at, "]")
        while more:
            item, at = self._item(at)
            self.items.append(item)
            more, at = self._next(at, "]")
        self._closing = outside
        return at

    def _item(self, at: int) -> tuple[Item, int]:
        if not self._body.startswith("{", at):
            return Item(), self._skip(at, 1)
        found: dict[str, tuple[int, int]] = {}
        more, at = self._enter(at, "}")
        while more:
            key, at = self._key(at)
            end = self._skip(at, 2)
            if key in ("id", "text"):
                self.told = True
                self.doubled |= key in found
                found[key] = (at, end)
            more, at = self._next(end, "}")
        self.keyed |= bool(found)
        identity, odd_id = self._identity(*found["id"]) if "id" in found else (None, False)
        return Item(identity, self._text(*found["text"]) if "text" in found else None, odd_id), at

    def _identity(self, start: int, end: int) -> tuple[str | None, bool]:
        text = self._text(start, end)
        if text is None and _WHOLE_NUMBER.fullmatch(self._body, start, end):
            text = self._body[start:end]
        return text, text is None and self._body[start:end] != "null"

    def _text(self, start: int, end: int) -> str | None:
        """The string that stands there, or None for any other value."""
        quote, inner = self._body[start], self._body[start + 1 : end - 1]
        if quote not in _UNCLOSED:
            return None
        if "\\" not in inner:
            return inner
        if quote == "'":
            inner = _REQUOTED.sub(lambda found: _AS_DOUBLE.get(found[0], found[0]), inner)
        return str(json.loads(f'"{inner}"'))

    def _key(self, at: int) -> tuple[str | None, int]:
        """A key of an object, and where its value stands."""
        if self._body[at : at + 1] not in ('"', "'"):
            self._fail(at)
        end = self._skip(at, 0)
        colon = self._space(end)
        if not self._body.startswith(":", colon):
            self._fail(colon)
        return self._text(at, end), self._space(colon + 1)

    def _skip(self, at: int, depth: int) -> int:
        """The end of the value at `at`."""
        opening = self._body[at : at + 1]
        if opening in ('"', "'"):
            return self._string(at, opening)
        if opening not in ("[", "{"):
            literal = _LITERAL.match(self._body, at)
            return literal.end() if literal else self._fail(at)
        if depth == _MAX_DEPTH:
            self.told = True
            raise _Broken(at)
        closing = "]" if opening == "[" else "}"
        more, at = self._enter(at, closing)
        while more:
            if opening == "{":
                _, at = self._key(at)
            more, at = self._next(self._skip(at, depth + 1), closing)
        return at

    def _string(self, at: int, quote: str) -> int:
        end = _end(_UNCLOSED[quote], self._body, at)
        if not self._body.startswith(quote, end):
            self._fail(end)
        self.repaired |= quote == "'"
        return end + 1

    def _enter(self, at: int, closing: str) -> tuple[bool, int]:
        """Whether the container that opens at `at` holds anything, and where that stands, or where it ends."""
        at = self._space(at + 1)
        return (False, at + 1) if self._body.startswith(closing, at) else (True, at)

    def _next(self, at: int, closing: str) -> tuple[bool, int]:
        """The same behind a value of the container, past the comma."""
        at = self._space(at)
        if self._body.startswith(closing, at):
            return False, at + 1
        if not self._body.startswith(",", at):
            self._fail(at)
        at = self._space(at + 1)
        if not self._body.startswith(closing, at):
            return True, at
        self.repaired = True
        return False, at + 1

    def _space(self, at: int) -> int:
        return _end(_SPACE, self._body, at)

    def _fail(self, at: int) -> NoReturn:
        for bracket in self._closing:
            at = self._space(at)
            at += self._body.startswith(bracket, at)
        further = _BRACKET.search(self._body, at)
        if further:
            raise _Broken(further.start())
        self.repaired = True
        raise _CutOff


def parse(body: str) -> Parsed | None:
    """The items of every envelope in `body`; None if there is none, or one that is beyond the three repairs.

    A bare list with prose around it counts only if one of its items has an id or a text. Raises nothing, whatever
    `body` holds; the work is linear in its length.
    """
    items: list[Item] = []
    repaired = doubled = whole = found = False
    start = _end(_AROUND, body, 0)
    at, allowance = 0, 2 * len(body) + 1000 * _CANDIDATE_COST
    while opening := _CANDIDATE.search(body, at):
        at = opening.start()
        candidate = _Candidate(body)
        cut_off = False
        try:
            end = candidate.read(at)
        except _CutOff:
            end, cut_off = len(body), True
        except _Broken as broken:
            allowance -= broken.reached - at + _CANDIDATE_COST
            if candidate.told or allowance < 0:
                return None
            at += 1
            continue
        allowance -= end - at + _CANDIDATE_COST
        alone = at == start and not cut_off and _AROUND.fullmatch(body, end) is not None
        envelope = candidate.listed or candidate.keyed or (alone and body[at] == "[")
        if cut_off and not (envelope and candidate.items):
            return None
        if envelope:
            if body[at] == "[" and _KEY_BEFORE.search(body, max(0, at - _KEY_REACH), at):
                return None
            items += candidate.items
            repaired |= candidate.repaired
            doubled |= candidate.doubled
            whole = alone
            found = True
        at = end
    return Parsed(tuple(items), repaired, doubled, whole) if found else None
