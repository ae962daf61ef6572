"""What a recorded call returned, as the file gives it: any value of YAML, also one that JSON cannot express.

Unlike everything else in a file, such a value may contain itself, nest deeply, and be tagged `!opaque NAME`: the
runtime is to be shown what programs return. Anchors are kept as shared objects, so that nothing expands here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import yaml

from .source import Budget, InvalidScenario, merged, place_of, scalar, word

__all__ = ["OPAQUE_TAG", "Opaque", "content_in", "texts_in"]

OPAQUE_TAG = "!opaque"


class Opaque:
    """An object that JSON cannot express; as text it is its name."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __str__(self) -> str:
        return self.name


def content_in(node: yaml.Node, budget: Budget) -> Any:
    """The value of a node: dicts, lists and scalars, those that are anchored shared."""
    return _content(node, budget, {})


def _content(node: yaml.Node, budget: Budget, known: dict[int, Any]) -> Any:
    if id(node) in known:
        return known[id(node)]
    budget.spend(node)
    if isinstance(node, yaml.ScalarNode):
        return Opaque(node.value) if node.tag == OPAQUE_TAG else scalar(node)
    if node.tag.startswith("!"):
        raise InvalidScenario(place_of(node), f"has the unknown tag {word(node.tag)}")
    if isinstance(node, yaml.SequenceNode):
        items: list[Any] = []
        known[id(node)] = items
        items.extend(_content(item, budget, known) for item in node.value)
        return items
    assert isinstance(node, yaml.MappingNode)
    mapping: dict[Any, Any] = {}
    known[id(node)] = mapping
    for key_node, value_node in merged(node):
        key = _key(key_node)
        if key in mapping:
            raise InvalidScenario(place_of(key_node), f"the key {word(str(key))} stands twice")
        mapping[key] = _content(value_node, budget, known)
    return mapping


def _key(node: yaml.Node) -> Any:
    """A key; one that is neither text nor a number as an object of its own, since Python takes `true` for 1."""
    key = scalar(node) if isinstance(node, yaml.ScalarNode) and node.tag != OPAQUE_TAG else None
    return key if isinstance(key, str | int | float) and not isinstance(key, bool) else Opaque("key")


def texts_in(value: Any) -> Iterator[str]:
    """Every text in a value, once."""
    seen: set[int] = set()
    stack = [value]
    while stack:
        one = stack.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, dict | list) and id(one) not in seen:
            seen.add(id(one))
            stack.extend(one if isinstance(one, list) else [*one.keys(), *one.values()])
