"""From nodes to typed values: a cattrs converter whose input are YAML nodes, so that every error knows its place.

What is to be read is said by attrs classes and the types of their fields (`Id`, `Duration`, `Value`, …); this module
only knows how. Unknown, missing and doubled keys, wrong types and bad durations are `InvalidScenario`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any, NewType, TypeVar, get_args, get_origin, get_type_hints

import attrs
import yaml
from cattrs import BaseConverter

from ..protocol.settings import MAX_COUNT
from .source import Budget, InvalidScenario, did_you_mean, merged, place_of, plain, scalar, word

__all__ = [
    "Count",
    "Duration",
    "Id",
    "Located",
    "Name",
    "Reader",
    "Text",
    "Value",
    "duration_us",
    "fields_of",
    "key_of",
]

Id = NewType("Id", str)
"""An id: text. One that YAML reads as something else must be quoted."""
Name = NewType("Name", str)
Text = NewType("Text", str)
Count = NewType("Count", int)
Duration = NewType("Duration", int)
"""Microseconds."""
Value = NewType("Value", object)
"""Anything, as dicts, lists and scalars."""

T = TypeVar("T")

_DURATION = re.compile(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*(ms|s|min|h)\s*", re.ASCII)
_MAX_SECONDS = 10**30
_UNIT_US = {"ms": 1_000, "s": 1_000_000, "min": 60_000_000, "h": 3_600_000_000}


@attrs.frozen
class Located:
    """A value with the line on which its entry stands."""

    value: Any
    line: int


def key_of(field: attrs.Attribute[Any]) -> str:
    """The key in the file for a field; the same name, unless that is a word of Python."""
    return str(field.metadata.get("key", field.name))


def fields_of(cls: type) -> dict[str, attrs.Attribute[Any]]:
    return {key_of(field): field for field in attrs.fields(cls)}


def kind(node: yaml.Node) -> str:
    """What a node is, for an error message."""
    if isinstance(node, yaml.MappingNode):
        return "a mapping"
    if isinstance(node, yaml.SequenceNode):
        return "a list"
    name = node.tag.rpartition(":")[2]
    return {"str": "text", "int": "a number", "float": "a number", "bool": "true or false", "null": "nothing"}.get(
        name, f"a {name}"
    )


def _origin(wanted: Any) -> Any:
    return get_origin(wanted)


class Reader:
    """Reads nodes of one file as the types that are asked for."""

    def __init__(self) -> None:
        self.budget = Budget()
        self._converter = BaseConverter()
        for wanted, hook in (
            (Id, self._id),
            (Name, self._text),
            (Text, self._text),
            (Count, self._count),
            (Duration, self._duration),
            (Value, self._value),
            (bool, self._switch),
        ):
            self._converter.register_structure_hook(wanted, hook)
        self._converter.register_structure_hook_factory(attrs.has, self._record_hook)
        self._converter.register_structure_hook_func(lambda wanted: _origin(wanted) is tuple, self._list)

    def read(self, node: yaml.Node, wanted: type[T]) -> T:
        """`node` as a value of the type `wanted`."""
        self.budget.spend(node)
        result: T = self._converter.structure(node, wanted)
        return result

    def teach(self, wanted: Any, hook: Callable[[yaml.Node, Any], Any]) -> None:
        """Read `wanted` with `hook(node, wanted)`."""
        self._converter.register_structure_hook(wanted, hook)

    def entries(self, node: yaml.Node, what: str) -> Iterator[tuple[str, yaml.Node, yaml.Node]]:
        """Key, key node and value node of a mapping, each key text and there once."""
        if not isinstance(node, yaml.MappingNode):
            raise InvalidScenario(place_of(node), f"{what} must be a mapping, not {kind(node)}")
        seen: set[str] = set()
        for key_node, value_node in merged(node):
            key = self._id(key_node, Id)
            if key in seen:
                raise InvalidScenario(place_of(key_node), f"the key {word(key)} stands twice")
            seen.add(key)
            yield key, key_node, value_node

    def items(self, node: yaml.Node, what: str) -> list[yaml.Node]:
        """The nodes of a list."""
        if not isinstance(node, yaml.SequenceNode):
            raise InvalidScenario(place_of(node), f"{what} must be a list, not {kind(node)}")
        return list(node.value)

    def known(self, node: yaml.Node, known: Any, what: str) -> Iterator[tuple[str, yaml.Node, yaml.Node]]:
        """`entries`, of which each key must be one of `known`."""
        for key, key_node, value_node in self.entries(node, what):
            if key not in known:
                raise InvalidScenario(
                    place_of(key_node), f"unknown key {word(key)} in {what}{did_you_mean(key, known)}"
                )
            yield key, key_node, value_node

    def _record_hook(self, cls: type[Any]) -> Callable[[yaml.Node, Any], Any]:
        fields = fields_of(cls)
        types = get_type_hints(cls)
        what = str(getattr(cls, "what", cls.__name__.lower()))

        def read(node: yaml.Node, _wanted: Any) -> Any:
            values = {
                fields[key].name: self.read(value_node, types[fields[key].name])
                for key, _key_node, value_node in self.known(node, fields, what)
            }
            for key, field in fields.items():
                if field.default is attrs.NOTHING and field.name not in values:
                    raise InvalidScenario(place_of(node), f"{what} lacks the key {key}")
            return cls(**values)

        return read

    def _list(self, node: yaml.Node, wanted: Any) -> tuple[Any, ...]:
        inner = get_args(wanted)[0]
        return tuple(self.read(item, inner) for item in self.items(node, "this key"))

    def _value(self, node: yaml.Node, _wanted: Any) -> Any:
        return plain(node, self.budget)

    def _id(self, node: yaml.Node, _wanted: Any) -> str:
        if isinstance(node, yaml.ScalarNode):
            value = scalar(node)
            if isinstance(value, str):
                return value
            raise InvalidScenario(
                place_of(node),
                f'an id must be text, and YAML reads this as {kind(node)}: quote it, "{word(node.value)}"',
            )
        raise InvalidScenario(place_of(node), f"an id must be text, not {kind(node)}")

    def _text(self, node: yaml.Node, _wanted: Any) -> str:
        value = scalar(node) if isinstance(node, yaml.ScalarNode) else None
        if not isinstance(value, str):
            raise InvalidScenario(place_of(node), f"must be text, not {kind(node)}")
        return value

    def _count(self, node: yaml.Node, _wanted: Any) -> int:
        value = scalar(node) if isinstance(node, yaml.ScalarNode) else None
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= MAX_COUNT:
            raise InvalidScenario(place_of(node), f"must be a whole number from 0 to {MAX_COUNT}, not {kind(node)}")
        return value

    def _switch(self, node: yaml.Node, _wanted: Any) -> bool:
        value = scalar(node) if isinstance(node, yaml.ScalarNode) else None
        if not isinstance(value, bool):
            raise InvalidScenario(place_of(node), f"must be true or false, not {kind(node)}")
        return value

    def _duration(self, node: yaml.Node, _wanted: Any) -> int:
        value = scalar(node) if isinstance(node, yaml.ScalarNode) else None
        amount = duration_us(value)
        if amount is None:
            raise InvalidScenario(place_of(node), "must be a duration: a number with ms, s, min or h, or seconds")
        if amount > _MAX_SECONDS * 1_000_000:
            raise InvalidScenario(place_of(node), f"must be a duration of at most {_MAX_SECONDS} s")
        return round(amount)


def duration_us(value: object) -> Decimal | None:
    """A duration as the language writes it, in microseconds; None if it is none."""
    if isinstance(value, str) and (match := _DURATION.fullmatch(value)):
        return Decimal(match[1]) * _UNIT_US[match[2]]
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= _MAX_SECONDS:
        return Decimal(str(value)) * 1_000_000
    return None
