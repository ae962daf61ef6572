"""A scenario file as YAML nodes, each with its place; whatever is wrong is told as `FILE:LINE:COLUMN: what`.

The nodes are kept as the parser made them: no alias is expanded here, and every walk over them counts its steps, so
that a file cannot make the reader work longer than its size allows.
"""

from __future__ import annotations

import bisect
import difflib
import re
import stat
from collections import namedtuple
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml

from ..protocol.errors import DragomanError

__all__ = ["MAX_BYTES", "InvalidScenario", "Place", "did_you_mean", "load", "place_of", "plain"]

MAX_BYTES = 8 * 1024 * 1024
_MAX_DEPTH = 200
_MAX_VALUE_DEPTH = 500
_MAX_VALUES = 5_000_000
_MERGE = "tag:yaml.org,2002:merge"
_VALUE = "tag:yaml.org,2002:value"
_NUMBERS = frozenset({"tag:yaml.org,2002:int", "tag:yaml.org,2002:float"})

_Loader: type[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

Place = tuple[int, int]
"""Line and column, from 1."""


class InvalidScenario(DragomanError, ValueError):
    """A scenario file that cannot be read or is not valid; `line` and `column` count from 1."""

    fields = ("place", "problem")

    def __init__(self, place: Place, problem: str) -> None:
        super().__init__(f"{place[0]}:{place[1]}: {problem}")
        self.place = place
        self.line, self.column = place
        self.problem = problem


def place_of(node: yaml.Node) -> Place:
    """Where a node begins."""
    return node.start_mark.line + 1, node.start_mark.column + 1


def one_line(text: str) -> str:
    """A text of the file as it may be printed in a line."""
    return text if text.isprintable() else repr(text)


def word(text: str) -> str:
    """A word of the file in an error message."""
    return one_line(text if len(text) <= 60 else f"{text[:60]}…")


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """A suggestion to end an error message with, or nothing."""
    names = list(known)
    close = difflib.get_close_matches(word, names, 1) or difflib.get_close_matches(word.upper(), names, 1)
    return f"; did you mean {close[0]}?" if close else ""


def load(path: Path) -> yaml.MappingNode:
    """The one document of the file, a mapping."""
    try:
        if stat.S_ISFIFO(path.stat().st_mode) and path.parts[:2] != ("/", "dev"):
            raise InvalidScenario((1, 1), "is a pipe, and no file")
        with path.open("rb") as file:
            body = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise InvalidScenario((1, 1), f"cannot be read: {error.strerror or type(error).__name__}") from None
    if len(body) > MAX_BYTES:
        raise InvalidScenario((1, 1), f"is larger than {MAX_BYTES} bytes; split it into several scenarios")
    text = _decoded(body)
    node = _parsed(text)
    if node is None:
        raise InvalidScenario((1, 1), "is empty; a scenario needs the keys scenario and timeline")
    if not isinstance(node, yaml.MappingNode):
        raise InvalidScenario(place_of(node), "must be a mapping with the keys scenario and timeline")
    _count_lines_alike(node, text)
    _refuse_shape(node)
    return node


_Mark = namedtuple("_Mark", "line column")


def _count_lines_alike(root: yaml.Node, text: str) -> None:
    """YAML also counts NEL, LS and PS as line breaks; editors do not, and neither do the places told here."""
    if not any(odd in text for odd in "\x85\u2028\u2029"):
        return
    starts = [0, *(match.end() for match in re.finditer("\n", text))]
    stack, seen = [root], {id(root)}
    while stack:
        node = stack.pop()
        line = bisect.bisect_right(starts, node.start_mark.index) - 1
        node.start_mark = _Mark(line, node.start_mark.index - starts[line])
        for child in _children(node):
            if id(child) not in seen:
                seen.add(id(child))
                stack.append(child)


def _children(node: yaml.Node) -> list[yaml.Node]:
    if isinstance(node, yaml.MappingNode):
        return [part for pair in node.value for part in pair]
    return list(node.value) if isinstance(node, yaml.SequenceNode) else []


def _checked(node: yaml.Node, calls: set[int]) -> list[yaml.Node]:
    """The children whose shape matters. What a call returned may have any, and is read with that in mind."""
    if not isinstance(node, yaml.MappingNode):
        return _children(node)
    calls.update(id(value) for key, value in node.value if _is_key(key, "call"))
    pairs = [pair for pair in node.value if not (id(node) in calls and _is_key(pair[0], "value"))]
    return [part for pair in pairs for part in pair]


def _is_key(node: yaml.Node, key: str) -> bool:
    return isinstance(node, yaml.ScalarNode) and node.value == key


def _refuse_shape(root: yaml.Node) -> None:
    """Aliases can make a value contain itself, or nest deeper than the text does: no walk may follow them then."""
    height: dict[int, int] = {}
    path: set[int] = set()
    calls: set[int] = set()
    stack = [(root, iter(_checked(root, calls)))]
    path.add(id(root))
    while stack:
        node, rest = stack[-1]
        child = next(rest, None)
        if child is None:
            stack.pop()
            path.discard(id(node))
            height[id(node)] = 1 + max((height[id(inner)] for inner in _checked(node, calls)), default=0)
            if height[id(node)] > _MAX_DEPTH:
                raise InvalidScenario(place_of(node), f"nests deeper than {_MAX_DEPTH} levels")
        elif id(child) in path:
            raise InvalidScenario(place_of(child), "contains itself")
        elif id(child) not in height:
            path.add(id(child))
            stack.append((child, iter(_checked(child, calls))))


def _decoded(body: bytes) -> str:
    try:
        return body.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = body[: error.start]
        line = before.count(b"\n") + 1
        column = len(before) - (before.rfind(b"\n") + 1) + 1
        raise InvalidScenario((line, column), "is not UTF-8 text") from None


def _parsed(text: str) -> yaml.Node | None:
    try:
        _refuse_depth(text)
        loader = _Loader(text)
        try:
            node: yaml.Node | None = loader.get_single_node()
        finally:
            loader.dispose()
    except yaml.reader.ReaderError as error:
        raise InvalidScenario(
            _place_in(text, error.position), f"holds a character that YAML does not allow: {error.reason}"
        ) from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        raise InvalidScenario(place, f"is not YAML: {error.problem or error.context}") from None
    except yaml.YAMLError as error:
        raise InvalidScenario((1, 1), f"is not YAML: {error}") from None
    return node


def _place_in(text: str, position: int) -> Place:
    before = text[: max(0, position)]
    return before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1


class _Open:
    """A collection that the parser is in: for a mapping, the key whose value comes next."""

    __slots__ = ("inside_call", "is_mapping", "key")

    def __init__(self, is_mapping: bool, inside_call: bool) -> None:
        self.is_mapping = is_mapping
        self.inside_call = inside_call
        self.key: str | None = None


def _refuse_depth(text: str) -> None:
    """The composer recurses; the parser does not: look at the events first. What a call returned may nest deeper."""
    path: list[_Open] = []
    limit, returned_at = _MAX_DEPTH, 0
    for event in yaml.parse(text, Loader=_Loader):
        parent = path[-1] if path else None
        if isinstance(event, yaml.CollectionStartEvent):
            key = None if parent is None else parent.key
            if not returned_at and parent is not None and parent.inside_call and key == "value":
                limit, returned_at = _MAX_VALUE_DEPTH, len(path) + 1
            path.append(_Open(isinstance(event, yaml.MappingStartEvent), key == "call"))
            if len(path) > limit:
                mark: Any = event.start_mark
                raise InvalidScenario((mark.line + 1, mark.column + 1), f"nests deeper than {limit} levels")
        elif isinstance(event, yaml.CollectionEndEvent):
            if len(path) == returned_at:
                limit, returned_at = _MAX_DEPTH, 0
            path.pop()
            if path:
                path[-1].key = None
        elif parent is not None and parent.is_mapping:
            parent.key = event.value if parent.key is None and isinstance(event, yaml.ScalarEvent) else None


class _Scalars(yaml.SafeLoader):
    """Constructs scalars only."""

    def __init__(self) -> None:
        super().__init__("")


_scalars = _Scalars()


def scalar(node: yaml.ScalarNode) -> Any:
    """The value of a scalar, by YAML's own rules."""
    if node.tag == _VALUE:
        return node.value
    if node.tag in _NUMBERS and ":" in node.value:
        raise InvalidScenario(place_of(node), "is read by YAML as a number to the base 60; quote it, or write a unit")
    try:
        return _scalars.construct_object(node)
    except (yaml.YAMLError, ValueError, OverflowError):
        raise InvalidScenario(place_of(node), f"is no value of the type {node.tag.rpartition(':')[2]}") from None


def is_null(node: yaml.Node) -> bool:
    """Whether a node is the null of YAML."""
    return isinstance(node, yaml.ScalarNode) and scalar(node) is None


def merged(node: yaml.MappingNode) -> list[tuple[yaml.Node, yaml.Node]]:
    """The entries of a mapping, with what a merge key (`<<`) brings from others where the mapping has none itself."""
    own = [(key, value) for key, value in node.value if key.tag != _MERGE]
    if len(own) == len(node.value):
        return own
    known = {key.value for key, _value in own if isinstance(key, yaml.ScalarNode)}
    brought = []
    for key, value in node.value:
        sources = value.value if key.tag == _MERGE and isinstance(value, yaml.SequenceNode) else [value]
        for source in sources if key.tag == _MERGE else ():
            if not isinstance(source, yaml.MappingNode):
                raise InvalidScenario(place_of(source), "a merge key (<<) takes a mapping, or a list of mappings")
            for inner_key, inner_value in merged(source):
                if inner_key.value not in known:
                    known.add(inner_key.value)
                    brought.append((inner_key, inner_value))
    return own + brought


class Budget:
    """Counts the values that a walk over the nodes has visited; aliases make a file larger than it looks."""

    def __init__(self) -> None:
        self._left = _MAX_VALUES

    def spend(self, node: yaml.Node) -> None:
        self._left -= 1
        if self._left < 0:
            raise InvalidScenario(place_of(node), f"expands to more than {_MAX_VALUES} values; use fewer aliases")


def plain(node: yaml.Node, budget: Budget) -> Any:
    """The node as dicts, lists and scalars."""
    budget.spend(node)
    if isinstance(node, yaml.ScalarNode):
        return scalar(node)
    if isinstance(node, yaml.SequenceNode):
        return [plain(item, budget) for item in node.value]
    assert isinstance(node, yaml.MappingNode)
    mapping: dict[Any, Any] = {}
    for key_node, value_node in merged(node):
        key = plain(key_node, budget)
        if not isinstance(key, str | int | float | bool | None):
            raise InvalidScenario(place_of(key_node), "is no key")
        if key in mapping:
            raise InvalidScenario(place_of(key_node), f"the key {word(str(key))} stands twice")
        mapping[key] = plain(value_node, budget)
    return mapping
