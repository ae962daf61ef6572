"""The keys of a provider: where they come from, and that they are never shown.

A key is sent as a header, so it is printable ASCII without white space. What is anything else is refused by the place
that it came from and its number there; no error, `repr` or log line holds any part of it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

from ..protocol.errors import DragomanError, InvalidArgument

__all__ = ["Credentials", "InvalidCredentials", "credentials_from"]

_SEPARATORS = re.compile(r"[,\s]+", re.ASCII)
_MAX_FILE_BYTES = 1 << 20


class InvalidCredentials(DragomanError, ValueError):
    """`source` (an argument, an environment variable or a file) holds no usable key; `problem` says why, without it.

    Raised as a provider is made. What to do: correct what `source` names.
    """

    fields = ("source", "problem")

    def __init__(self, source: str, problem: str) -> None:
        super().__init__(f"{source}: {problem}")
        self.source = source
        self.problem = problem


class Credentials:
    """Keys, counted from 1."""

    __slots__ = ("_keys",)

    def __init__(self, keys: Iterable[str] = ()) -> None:
        self._keys = tuple(keys)

    def __len__(self) -> int:
        return len(self._keys)

    def __repr__(self) -> str:
        return f"<{len(self)} keys>"

    def reveal(self, number: int) -> str:
        """Key `number`, to be sent and not to be kept."""
        return self._keys[number - 1]


def credentials_from(
    keys: str | Iterable[str] | None, key_file: str | os.PathLike[str] | None, variable: str
) -> Credentials:
    """The given keys; else those of a file, one a line; else those of an environment variable; else none.

    In the variable, commas or white space separate the keys. Raises `InvalidCredentials` for keys that cannot be sent,
    a file that cannot be read, and for an argument or a file without any key.
    """
    if keys is not None and key_file is not None:
        raise InvalidArgument("key_file", "stands beside keys; give one of the two")
    if keys is not None:
        given = (keys,) if isinstance(keys, str) else tuple(keys)
        return _checked(given, "keys", "key")
    if key_file is not None:
        source = os.fspath(key_file)
        lines = _text_of(source).splitlines()
        return _checked(lines, source, "line", skip_blank=True)
    found = [key for key in _SEPARATORS.split(os.environ.get(variable, "")) if key]
    return _checked(found, variable, "key") if found else Credentials()


def _checked(found: Iterable[object], source: str, place: str, *, skip_blank: bool = False) -> Credentials:
    keys: list[str] = []
    for number, key in enumerate(found, start=1):
        if skip_blank and key == "":
            continue
        problem = _problem_of(key)
        if problem is not None:
            raise InvalidCredentials(source, f"{place} {number} {problem}")
        keys.append(str(key))
    if not keys:
        raise InvalidCredentials(source, "holds no key")
    return Credentials(keys)


def _problem_of(key: object) -> str | None:
    if not isinstance(key, str):
        return "is no text"
    if key == "":
        return "is empty"
    if key.startswith("\ufeff"):
        return "begins with a byte order mark; save it without one"
    if any(letter.isspace() for letter in key):
        return "holds white space or a line break"
    if not key.isascii():
        return "holds a character that is not ASCII"
    if not key.isprintable():
        return "holds a control character"
    return None


def _text_of(source: str) -> str:
    problem: str | None = None
    content = b""
    try:
        with open(source, "rb") as file:
            content = file.read(_MAX_FILE_BYTES + 1)
    except OSError as failure:
        problem = f"cannot be read ({type(failure).__name__})"
    if problem is None and len(content) > _MAX_FILE_BYTES:
        problem = "is too large for a list of keys"
    if problem is None and content.startswith((b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf")):
        problem = "begins with a byte order mark; save it as plain text without one"
    if problem is not None:
        raise InvalidCredentials(source, problem)
    # Latin-1 reads any byte: what is not ASCII is refused by its line, and no decoding error carries the content.
    return content.decode("latin-1").replace("\r\n", "\n")
