"""What a scenario expects, and whether it is so.

Only the top level of a reply, and the inner mappings of `then`, are compared key by key; whatever is inside must be
equal: `true` is not 1, 1 equals 1.0, null is not a missing key, lists are compared whole. `one_of` may stand in the
place of any value.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from .reading import Located

__all__ = ["Mismatch", "OneOf", "compare_reply", "compare_then", "shown"]


@attrs.frozen
class OneOf:
    """Any of the alternatives will do."""

    alternatives: tuple[Any, ...]


@attrs.frozen
class Mismatch:
    """An expected value that did not hold, at `path` below the step or the entry, on `line` of the file."""

    expected: Any
    actual: Any
    path: str
    line: int | None = None


def shown(expected: Any) -> Any:
    """An expectation as JSON can show it."""
    if isinstance(expected, OneOf):
        return {"one_of": [shown(alternative) for alternative in expected.alternatives]}
    if isinstance(expected, Located):
        return shown(expected.value)
    if isinstance(expected, dict):
        return {key: shown(value) for key, value in expected.items()}
    if isinstance(expected, list):
        return [shown(value) for value in expected]
    return expected


def same(expected: Any, actual: Any) -> bool:
    """Whether a value is as expected, all the way down."""
    if isinstance(expected, OneOf):
        return any(same(alternative, actual) for alternative in expected.alternatives)
    if isinstance(expected, Located):
        return same(expected.value, actual)
    if isinstance(expected, dict):
        return (
            isinstance(actual, dict)
            and expected.keys() == actual.keys()
            and all(same(value, actual[key]) for key, value in expected.items())
        )
    if isinstance(expected, list):
        return (
            isinstance(actual, list)
            and len(expected) == len(actual)
            and all(same(left, right) for left, right in zip(expected, actual, strict=True))
        )
    if isinstance(expected, bool) or isinstance(actual, bool):
        return isinstance(expected, bool) and isinstance(actual, bool) and expected == actual
    if isinstance(expected, int | float):
        return isinstance(actual, int | float) and expected == actual
    return (type(expected) is type(actual) and bool(expected == actual)) or _same_text(expected, actual)


def _same_text(expected: Any, actual: Any) -> bool:
    return isinstance(expected, str) and isinstance(actual, str) and expected == actual


class Rows(list[Any]):
    """A list of mappings: as long as expected, and each compared by the keys that it names."""


_ABSENT = object()


def compare_reply(expected: Any, reply: Any) -> Mismatch | None:
    """The reply of a step against its `expect`."""
    if isinstance(expected, OneOf):
        found = [compare_reply(alternative, reply) for alternative in expected.alternatives]
        return None if None in found else Mismatch(shown(expected), reply, "")
    if isinstance(expected, dict):
        if not isinstance(reply, dict):
            return Mismatch(shown(expected), reply, "")
        for key, value in expected.items():
            actual = reply.get(key, _ABSENT)
            if actual is _ABSENT:
                return Mismatch(shown(value), None, key)
            if not same(value, actual):
                return Mismatch(shown(value), actual, key)
        return None
    if isinstance(expected, list) or reply is None or not isinstance(reply, dict):
        return None if same(expected, reply) else Mismatch(shown(expected), reply, "")
    actual = reply.get("status", _ABSENT)
    if actual is not _ABSENT and same(expected, actual):
        return None
    return Mismatch(shown(expected), reply if actual is _ABSENT else actual, "status")


def compare_then(expected: Located, actual: Any, path: str, default: Any = None) -> Iterator[Mismatch]:
    """An entry of `then` against what is so, innermost entries first told; a name that never was has the default."""
    value = expected.value
    if isinstance(value, OneOf):
        alternatives = (Located(alternative, expected.line) for alternative in value.alternatives)
        if all(any(True for _ in compare_then(one, actual, path, default)) for one in alternatives):
            yield Mismatch(shown(value), actual, path, expected.line)
    elif value is None and actual == {}:
        return  # a request that is not known, or no more
    elif isinstance(value, dict) and isinstance(actual, Mapping):
        for key, inner in value.items():
            yield from compare_then(inner, actual.get(key, default), f"{path}.{key}")
    elif isinstance(value, Rows) and isinstance(actual, list) and len(value) == len(actual):
        for place, row in enumerate(value):
            yield from compare_then(row, actual[place], f"{path}[{place}]")
    elif not same(value, actual):
        yield Mismatch(shown(value), actual, path, expected.line)
