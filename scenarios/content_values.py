"""What a recorded call returned, as the file gives it: any value of YAML, also one that JSON cannot express.

Unlike everything else in a file, such a value may contain itself, nest deeply, and be tagged `!opaque NAME`: the
runtime is to be shown what programs return. Anchors are kept as shared objects, so that nothing expands here.
"""

from __future__ import annotations

import json
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
    known: dict[int, Any] = {}
    whole = _begun(node, budget, known)
    unfilled = [] if isinstance(node, yaml.ScalarNode) else [node]
    while unfilled:
        parent = unfilled.pop()
        container = known[id(parent)]
        for key, child in _items(parent):
            if id(child) not in known and not isinstance(child, yaml.ScalarNode):
                unfilled.append(child)
            value = known[id(child)] if id(child) in known else _begun(child, budget, known)
            if isinstance(container, list):
                container.append(value)
            else:
                container[key] = value
    return whole


def _begun(node: yaml.Node, budget: Budget, known: dict[int, Any]) -> Any:
    """A scalar as it is, a container still empty."""
    budget.spend(node)
    if isinstance(node, yaml.ScalarNode):
        return Opaque(node.value) if node.tag == OPAQUE_TAG else scalar(node)
    if node.tag.startswith("!"):
        raise InvalidScenario(place_of(node), f"has the unknown tag {word(node.tag)}")
    begun: list[Any] | dict[Any, Any] = [] if isinstance(node, yaml.SequenceNode) else {}
    known[id(node)] = begun
    return begun


def _items(node: yaml.Node) -> Iterator[tuple[Any, yaml.Node]]:
    """The children of a container, with their keys where it has any."""
    if not isinstance(node, yaml.MappingNode):
        yield from ((None, item) for item in node.value)
        return
    seen: set[tuple[type, Any]] = set()
    keys: set[Any] = set()
    for key_node, value_node in merged(node):
        key = _key(key_node)
        if (type(key), key) in seen:
            raise InvalidScenario(place_of(key_node), f"the key {word(str(key))} stands twice")
        seen.add((type(key), key))
        # 1 and 1.0 are one key to Python, and two to JSON, which makes text of them.
        yield (json.dumps(key) if key in keys and not isinstance(key, str) else key), value_node
        keys.add(key)


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
