"""Payloads: the resolved value of a call as JSON text, its kind, mode, size and digest (P constraint 5, phase 0).

`serialize` takes a snapshot: first a private copy in JSON's own types, in one walk that also bounds the size, then the
text. JSON is compact, keys keep their order, and non-ASCII characters stand as themselves (language page, "Continuity
verbs", "Smaller rulings"). A leaf that JSON cannot express is stored as text, and the mode is then `fallback`.

Not promised: that all of a value is copied at one instant. Each `dict`, `list`, `tuple` and set is; but the program may
change the value while it is walked, and its own methods (`__str__`, `items`) run in between. One that never returns
blocks.
"""

from __future__ import annotations

import base64
import builtins
import datetime
import hashlib
import json
import math
import re
from collections.abc import Iterable, Mapping
from enum import Enum
from json.encoder import encode_basestring
from typing import Any, Final

import attrs

from .handoff import exact
from .statuses import ContentKind, SerializationMode, SkipReason

__all__ = ["Payload", "serialize", "text_payload", "texts_bytes", "value_in"]

_MAX_LEVEL: Final = 100
_MAX_REPEATED_KEYS: Final = 100_000
"""In all mappings of a value: a mapping may yield the same key without end, and no size limit would ever stop that."""
_BEYOND_DIGITS: Final = 10**4300
"""Integers from here on have more digits than an interpreter reads or writes by default."""
_LEAST_SHORT: Final = -(10**18)
_MOST_SHORT: Final = 10**18
"""Integers up to here are charged as if they had one digit."""

# Members of an enum are looked up by Python code, for which there is no room in a handler on a full stack.
_FAILED: Final = SkipReason.SERIALIZATION_FAILED
_TOO_LARGE: Final = SkipReason.ENTRY_EXCEEDS_MAX_BYTES

_SETS: Final = (set, frozenset)
_ARRAYS: Final = (list, tuple, *_SETS)
_CONTAINERS: Final = (*_ARRAYS, Mapping)
_BINARIES: Final = (bytes, bytearray, memoryview)
_MOMENTS: Final = (datetime.datetime, datetime.date, datetime.time)

_KINDS: Final = {
    dict: ContentKind.OBJECT,
    list: ContentKind.ARRAY,
    str: ContentKind.STRING,
    int: ContentKind.NUMBER,
    float: ContentKind.NUMBER,
    bool: ContentKind.BOOLEAN,
    type(None): ContentKind.NULL,
}

_json_text = json.JSONEncoder(ensure_ascii=False, allow_nan=False, check_circular=False, separators=(",", ":")).encode
_value_of = json.JSONDecoder().decode

_ESCAPE: Final = re.compile(r"\\(?:u(d[89a-f][0-9a-f]{2})|.)")


@attrs.frozen
class Payload:
    """A value as it is stored. `digest` is the SHA-256 of `body`, in hexadecimal digits."""

    kind: ContentKind
    mode: SerializationMode
    body: builtins.bytes = attrs.field(repr=lambda body: f"<{len(body)} bytes>")
    digest: str

    @property
    def bytes(self) -> int:
        """The length of the UTF-8 JSON."""
        return len(self.body)


def texts_bytes(texts: Iterable[str]) -> list[int]:
    """How long the stored JSON of each text is: `text_payload(text).bytes`, without making the payload."""
    return [len(quoted) if quoted.isascii() else len(_utf8(quoted)) for quoted in map(encode_basestring, texts)]


def text_payload(text: str) -> Payload:
    """The payload of a text, whatever its size."""
    return _payload(ContentKind.STRING, SerializationMode.JSON, _utf8(encode_basestring(text)))


def value_in(body: bytes) -> Any:
    """The value in the `body` of a payload: a fresh copy each time."""
    text = body.decode()
    if "\\ud" in text:
        # Each escaped surrogate was a character by itself, but a JSON reader joins two of them into one.
        text = _ESCAPE.sub(lambda escape: chr(int(escape[1], 16)) if escape[1] else escape[0], text)
    return _value_of(text)


def serialize(value: object, max_bytes: int) -> Payload | SkipReason:
    """The payload of `value`, or why there is none: `SERIALIZATION_FAILED` or `ENTRY_EXCEEDS_MAX_BYTES`.

    The latter as soon as the JSON is certain to be larger than `max_bytes`; of two reasons the one that the walk, depth
    first and in order, meets first. Raises no `Exception`, whatever the value is and does; what is none passes through.
    """
    try:
        return _serialized(value, max_bytes)
    except _TooLarge:
        return _TOO_LARGE
    except Exception:
        return _FAILED


def _serialized(value: object, max_bytes: int) -> Payload | SkipReason:
    copying = _Copying(max_bytes)
    copy, level = copying.copy(value, 0)
    body = _utf8(_json_text(copy))
    if len(body) > max_bytes:
        return _TOO_LARGE
    mode = SerializationMode.FALLBACK if copying.fallback else SerializationMode.JSON
    kind = ContentKind.FALLBACK if copying.fallback and level == 0 else _KINDS[type(copy)]
    return _payload(kind, mode, body)


def _payload(kind: ContentKind, mode: SerializationMode, body: bytes) -> Payload:
    return Payload(kind, mode, body, hashlib.sha256(body).hexdigest())


def _utf8(json_text: str) -> bytes:
    """Lone surrogates, which UTF-8 has no bytes for, as JSON escapes: they stand nowhere but in a string."""
    return json_text.encode("utf-8", "backslashreplace")


class _TooLarge(Exception):
    """The JSON is certain to be larger than allowed."""


class _Copying:
    """One walk over a value: its copy in exact `dict`, `list`, `str`, `int`, `float`, `bool` and None.

    Every container is copied before anything of it is looked at. The room shrinks by no more than the JSON takes, so
    that the walk ends where it is used up. A shared container that holds others is walked once, however often it is
    met, and charged each time. `fallback` tells whether some leaf became text.
    """

    __slots__ = ("_copies", "_repeats_left", "_room", "fallback")

    def __init__(self, max_bytes: int) -> None:
        self._room = max_bytes
        self._repeats_left = _MAX_REPEATED_KEYS
        self._copies: dict[int, tuple[object, Any, int, int] | None] = {}
        self.fallback = False

    def copy(self, value: Any, depth: int) -> tuple[Any, int]:
        """The copy of `value`, which is inside `depth` containers, and its level.

        Only real types count: an `isinstance` would believe a `__class__` that lies.
        """
        kind = type(value)
        if kind is dict or kind is list or kind is tuple:
            return self._container(value, kind, depth)
        if value is None or kind is bool:
            self._charge(4)
            return value, 0
        if issubclass(kind, str):
            return self._text(exact(value)), 0
        if issubclass(kind, int):
            integer = int.__int__(value)
            self._charge(_least_digits(integer))
            return integer, 0
        if issubclass(kind, float):
            number = float.__float__(value)
            if math.isfinite(number):
                self._charge(3)
                return number, 0
            self.fallback = True
            return self._text(_number_text(number)), 0
        if issubclass(kind, _CONTAINERS) and not issubclass(kind, Enum):
            return self._container(value, kind, depth)
        self.fallback = True
        return self._text(_leaf_text(value, kind)), 0

    def _charge(self, least_bytes: int) -> None:
        self._room -= least_bytes
        if self._room < 0:
            raise _TooLarge

    def _text(self, text: str) -> str:
        self._charge(len(text) + 2)
        return text

    def _container(self, value: Any, kind: type, depth: int) -> tuple[Any, int]:
        if id(value) in self._copies:
            return self._again(value, depth)
        if depth == _MAX_LEVEL:
            raise ValueError("nested too deeply")
        if kind is list or kind is tuple:
            items = list(value)
            return items, self._fill(value, items, enumerate(items), depth + 1, len(items))
        if kind is dict or not issubclass(kind, _ARRAYS):
            return self._object(value, kind, depth + 1)
        items = _items(value, kind)
        level = self._fill(value, items, enumerate(items), depth + 1, len(items))
        if issubclass(kind, _SETS):
            self.fallback = True
            items.sort(key=lambda plain: _utf8(_json_text(plain)))
        return items, level

    def _object(self, value: Any, kind: type, depth: int) -> tuple[Any, int]:
        members = value.copy() if kind is dict else self._with_text_keys(value.items())
        least_bytes = 0
        for key in members:
            if type(key) is not str:
                members = self._with_text_keys(members.items())
                least_bytes = sum(map(len, members))
                break
            least_bytes += len(key)
        return members, self._fill(value, members, members.items(), depth, least_bytes + 4 * len(members))

    def _again(self, value: Any, depth: int) -> tuple[Any, int]:
        known = self._copies[id(value)]
        if known is None:
            raise ValueError("cyclic")
        _, copy, level, least_bytes = known
        if depth + level > _MAX_LEVEL:
            raise ValueError("nested too deeply")
        self._charge(least_bytes)
        return copy, level

    def _with_text_keys(self, pairs: Iterable[tuple[Any, Any]]) -> dict[str, Any]:
        """The members that count: a value whose key comes again has no effect at all.

        The pairs may come without end. Those with new keys are bounded by the room, the others by their number.
        """
        members: dict[str, Any] = {}
        least_bytes = 0
        for pair in pairs:
            key, value = tuple.__iter__(pair)
            text = _key_text(key)
            if text in members:
                self._repeats_left -= 1
                if self._repeats_left < 0:
                    raise ValueError("too many repeated keys")
            else:
                least_bytes += len(text) + 4
                if least_bytes > self._room:
                    raise _TooLarge
            members[text] = value
        return members

    def _fill(self, value: Any, copy: Any, places: Iterable[tuple[Any, Any]], depth: int, least_bytes: int) -> int:
        """Make `copy`, which holds the items of `value`, a copy throughout; its level.

        `least_bytes` is what its JSON takes without the items, less one. An item that is a plain scalar stays as it is,
        and needs no call.
        """
        room = self._room
        level = 0
        nested = False
        for place, item in places:
            kind = type(item)
            if kind is str:
                least_bytes += len(item) + 2
                continue
            if kind is int:
                if _LEAST_SHORT <= item <= _MOST_SHORT:
                    least_bytes += 1
                    continue
            elif kind is float:
                if item - item == 0.0:  # neither infinite nor NaN
                    least_bytes += 3
                    continue
            elif item is None or kind is bool:
                least_bytes += 4
                continue
            if not nested:
                nested = True
                self._copies[id(value)] = None
            if kind is dict or kind is list:
                copy[place], item_level = self._container(item, kind, depth)
            else:
                copy[place], item_level = self.copy(item, depth)
            if item_level > level:
                level = item_level
        self._charge(least_bytes + 1)
        level += 1
        if nested:
            # The value goes along so that no other one gets its id while the walk lasts.
            self._copies[id(value)] = (value, copy, level, room - self._room)
        return level


def _items(value: Any, kind: type) -> list[Any]:
    """What the array or set really holds: no method of a subclass is asked."""
    for base in _ARRAYS:
        if issubclass(kind, base):
            return list(base.__iter__(value))
    raise TypeError("neither array nor set")


def _key_text(key: Any) -> str:
    kind = type(key)
    if issubclass(kind, str):
        return exact(key)
    if kind is not bool:
        if issubclass(kind, int):
            integer = int.__int__(key)
            _least_digits(integer)
            return _number_text(integer)
        if issubclass(kind, float):
            return _number_text(float.__float__(key))
    raise TypeError("a key that is neither text nor number")


def _number_text(number: float) -> str:
    """As JSON writes it; what JSON has no number for as `NaN`, `Infinity`, `-Infinity`."""
    return json.dumps(number)


def _least_digits(integer: int) -> int:
    """Not more than the length of `integer`. Raises ValueError if it has too many digits to be written."""
    if not -_BEYOND_DIGITS < integer < _BEYOND_DIGITS:
        raise ValueError("too many digits")
    return integer.bit_length() * 3 // 10 or 1


def _leaf_text(value: Any, kind: type) -> str:
    """What stands for a leaf that JSON cannot express."""
    if issubclass(kind, _BINARIES):
        return base64.b64encode(memoryview(value).tobytes()).decode()
    for moment in _MOMENTS:
        if issubclass(kind, moment):
            return moment.isoformat(value)
    return exact(str(value))
