"""What `then` may say, read with the place of each entry; and the values that stand in the place of an answer."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import yaml

from ..protocol.payloads import Payload, serialize, value_in
from ..protocol.statuses import (
    CallStatus,
    CloseCause,
    ContentKind,
    ExecutionStatus,
    ParentState,
    ProposalState,
    Quality,
)
from .content_values import content_in
from .expectations import OneOf, Rows
from .reading import Id, Located, Reader, Text, Value, kind
from .source import MAX_BYTES, InvalidScenario, did_you_mean, is_null, merged, place_of, scalar, word
from .verb import words

__all__ = ["ThenReader"]

_LONGEST_LEAF = MAX_BYTES * 6
"""Bytes; more than any scalar of a file can be as JSON."""


class ThenReader:
    """Reads expectations of one file."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    def then(self, node: yaml.Node) -> dict[str, Located]:
        """What must be true at the end, by its key."""
        if is_null(node):
            raise InvalidScenario(place_of(node), "then has nothing behind it")
        then = {}
        for key, key_node, value_node in self._reader.known(node, _READERS, "then"):
            then[key] = Located(_READERS[key](self, value_node), place_of(key_node)[0])
        return then

    def one_of(self, node: yaml.Node) -> list[yaml.Node] | None:
        """The alternatives, where `one_of` stands in the place of a value."""
        if isinstance(node, yaml.MappingNode) and len(node.value) == 1:
            key_node, value_node = node.value[0]
            if isinstance(key_node, yaml.ScalarNode) and key_node.value == "one_of":
                self._reader.budget.spend(node)
                return self._reader.items(value_node, "one_of")
        return None

    def value(self, node: yaml.Node) -> Any:
        return self._tree(node, self._value_entries, lambda leaf: self._reader.read(leaf, Value))

    def content(self, node: yaml.Node) -> Any:
        """A content value that is expected: its keys are as JSON has them, numbers as text."""
        return self._tree(node, self._content_entries, self._content_leaf)

    def _tree(
        self,
        node: yaml.Node,
        entries: Callable[[yaml.MappingNode], Iterator[tuple[str, yaml.Node]]],
        leaf: Callable[[yaml.Node], Any],
    ) -> Any:
        """A value in which `one_of` may stand at any depth."""

        def read(node: yaml.Node) -> Any:
            self._reader.budget.spend(node)
            alternatives = self.one_of(node)
            if alternatives is not None:
                return OneOf(tuple(map(read, alternatives)))
            if isinstance(node, yaml.SequenceNode):
                return list(map(read, node.value))
            if isinstance(node, yaml.MappingNode):
                return {key: read(value_node) for key, value_node in entries(node)}
            return leaf(node)

        return read(node)

    def _value_entries(self, node: yaml.MappingNode) -> Iterator[tuple[str, yaml.Node]]:
        for key, _key_node, value_node in self._reader.entries(node, "this"):
            yield key, value_node

    def _content_leaf(self, node: yaml.Node) -> Any:
        """What is kept of it: a date, say, is expected as text."""
        kept = serialize(content_in(node, self._reader.budget), _LONGEST_LEAF)
        if not isinstance(kept, Payload):
            raise InvalidScenario(place_of(node), "is nothing that could have been stored")
        return value_in(kept.body)

    def _content_entries(self, node: yaml.MappingNode) -> Iterator[tuple[str, yaml.Node]]:
        seen = set()
        for key_node, value_node in merged(node):
            value = scalar(key_node) if isinstance(key_node, yaml.ScalarNode) else None
            if not isinstance(value, str | int | float) or isinstance(value, bool):
                raise InvalidScenario(place_of(key_node), "a key of content is text or a number")
            key = value if isinstance(value, str) else json.dumps(value)
            if key in seen:
                raise InvalidScenario(place_of(key_node), f"the key {word(key)} stands twice")
            seen.add(key)
            yield key, value_node

    def or_one_of(self, node: yaml.Node, read: Any) -> Any:
        alternatives = self.one_of(node)
        if alternatives is not None:
            return OneOf(tuple(self.or_one_of(one, read) for one in alternatives))
        return read(node)

    def _named(self, node: yaml.Node, what: str, inner: Any) -> Any:
        """A mapping from ids to what `inner` reads, each with its line."""

        def read(mapping: yaml.Node) -> dict[str, Located]:
            return {
                key: Located(self.or_one_of(value_node, inner), place_of(key_node)[0])
                for key, key_node, value_node in self._reader.entries(mapping, what)
            }

        return self.or_one_of(node, read)

    def _word(self, node: yaml.Node, words: frozenset[str], what: str) -> Any:
        value = self.value(node)
        if isinstance(value, str) and value not in words:
            raise InvalidScenario(place_of(node), f"unknown {what} {word(value)}{did_you_mean(value, words)}")
        if not isinstance(value, str | None):
            raise InvalidScenario(place_of(node), f"a {what} must be text, not {kind(node)}")
        return value

    def _fields(self, node: yaml.Node, what: str, readers: Mapping[str, Callable[[yaml.Node], Any]]) -> Any:
        """A mapping of known keys, each read by its own reader."""
        return {
            key: Located(self.or_one_of(value_node, readers[key]), place_of(key_node)[0])
            for key, key_node, value_node in self._reader.known(node, readers, what)
        }

    def _rows(self, node: yaml.Node, what: str, readers: Mapping[str, Callable[[yaml.Node], Any]]) -> Any:
        """A list of mappings, each compared by the keys that it has."""
        return Rows(
            [
                Located(
                    self.or_one_of(item, lambda one: self._fields(one, f"an entry of {what}", readers)),
                    place_of(item)[0],
                )
                for item in self._reader.items(node, what)
            ]
        )

    def _calls(self, node: yaml.Node) -> Any:
        readers = {
            "purpose": self._text,
            "provider": self._text,
            "key": self._one_number,
            "units": self._ids,
            "history": lambda one: self._listed(one, "the history of a call"),
        }
        return self._named(node, "calls", lambda one: self._rows(one, "the calls of a request", readers))

    def _feature_history(self, node: yaml.Node) -> Any:
        readers = {"source": self._text, "translated": self._text}
        return self.or_one_of(node, lambda one: self._rows(one, "feature_history", readers))

    def _text(self, node: yaml.Node) -> Any:
        return self._reader.read(node, Text)

    def _ids(self, node: yaml.Node) -> Any:
        return [self.or_one_of(item, self._id) for item in self._reader.items(node, "the units of a call")]

    def _id(self, node: yaml.Node) -> Any:
        return self._reader.read(node, Id)

    def _text_or_null(self, node: yaml.Node) -> Any:
        return None if is_null(node) else self._text(node)

    def _switch(self, node: yaml.Node) -> Any:
        return self._reader.read(node, bool)

    def _shown_text(self, node: yaml.Node) -> Any:
        """A text, or the list of the segments of one."""
        if isinstance(node, yaml.SequenceNode):
            return [self.or_one_of(item, self._text) for item in node.value]
        return self._text(node)

    def _outcomes(self, node: yaml.Node) -> Any:
        return self._named(node, "outcomes", self._outcome)

    def _outcome(self, node: yaml.Node) -> Any:
        """The keys of an outcome; null for a request that still runs."""
        if is_null(node):
            return None
        readers = {
            "execution": self._execution,
            "quality": self._quality,
            "error": self._text_or_null,
            "retries": self._one_number,
            "failover": self._switch,
        }
        return self._fields(node, "an outcome", readers)

    def _execution(self, node: yaml.Node) -> Any:
        return self._word(node, words(ExecutionStatus), "execution")

    def _quality(self, node: yaml.Node) -> Any:
        return self._word(node, words(Quality), "quality")

    def _document(self, node: yaml.Node) -> Any:
        return self._named(node, "document", self._document_of_a_request)

    def _document_of_a_request(self, node: yaml.Node) -> Any:
        return None if is_null(node) else self._named(node, "the document of a request", self._shown_text)

    def _stats(self, node: yaml.Node) -> Any:
        return self._named(node, "stats", self._stats_of_a_provider)

    def _stats_of_a_provider(self, node: yaml.Node) -> Any:
        readers = {"calls": self._one_number, "errors": self._one_number, "by_purpose": self._purposes}
        return self._fields(node, "the stats of a provider", readers)

    def _purposes(self, node: yaml.Node) -> Any:
        return self._named(node, "by_purpose", self._one_number)

    def _listed(self, node: yaml.Node, what: str) -> Any:
        self._reader.items(node, what)
        return self.value(node)

    def _history(self, node: yaml.Node) -> Any:
        return self._named(node, "history", lambda one: self._listed(one, "the history of a session"))

    def _handles(self, node: yaml.Node) -> Any:
        return self._named(node, "handles", self._handles_of_a_request)

    def _handles_of_a_request(self, node: yaml.Node) -> Any:
        """Parents with their states; null for a request that has none (any more)."""
        if is_null(node):
            return None
        states = frozenset(state.value for state in ParentState)
        return self._named(node, "the handles of a request", lambda one: self._word(one, states, "state"))

    def _closed(self, node: yaml.Node) -> Any:
        causes = frozenset(cause.value for cause in CloseCause)
        return self._named(node, "closed", lambda inner: self._word(inner, causes, "cause"))

    def _number(self, node: yaml.Node) -> Any:
        return self.or_one_of(node, self._one_number)

    def _one_number(self, node: yaml.Node) -> Any:
        value = self.value(node)
        if not isinstance(value, int | float) or isinstance(value, bool):
            raise InvalidScenario(place_of(node), f"must be a number, not {kind(node)}")
        return value

    def _sessions(self, node: yaml.Node) -> Any:
        return self.or_one_of(
            node,
            lambda inner: [self.or_one_of(item, self._id) for item in self._reader.items(inner, "sessions")],
        )

    def kind(self, node: yaml.Node) -> Any:
        """A kind of content, for which the null of YAML stands too."""
        if self.one_of(node) is not None:
            return self.or_one_of(node, self.kind)
        return ContentKind.NULL.value if is_null(node) else self.value(node)

    def _store(self, node: yaml.Node) -> Any:
        """What each session holds, and beside the sessions the counters over all of them."""

        def read(mapping: yaml.Node) -> dict[str, Located]:
            return {
                key: Located(
                    self.or_one_of(value_node, self._counters if key == "counters" else self._content_of_a_session),
                    place_of(key_node)[0],
                )
                for key, key_node, value_node in self._reader.entries(mapping, "store")
            }

        return self.or_one_of(node, read)

    def _counters(self, node: yaml.Node) -> Any:
        return self._fields(node, "counters", dict.fromkeys(_COUNTERS, self._one_number))

    def _content_of_a_session(self, node: yaml.Node) -> Any:
        return self._fields(node, "the content of a session", dict.fromkeys(("entries", "bytes"), self._one_number))

    def _call_records(self, node: yaml.Node) -> Any:
        readers = {
            "id": self._id,
            "role": self._text,
            "method": self._text,
            "depth": self._one_number,
            "status": lambda one: self._word(one, words(CallStatus), "status"),
            "kind": self._kind_if_stored,
            "bytes": self._bytes_if_stored,
            "has_ref": self._switch,
        }
        return self._named(node, "call_records", lambda one: self._rows(one, "the call records of a session", readers))

    def _kind_if_stored(self, node: yaml.Node) -> Any:
        """Null is the kind of a null, and stands where nothing was stored."""
        return OneOf((ContentKind.NULL.value, None)) if is_null(node) else self.value(node)

    def _bytes_if_stored(self, node: yaml.Node) -> Any:
        """No content has 0 bytes: that, and null, stand where nothing was stored."""
        if is_null(node):
            return None
        number = self._one_number(node)
        return number or OneOf((number, None))

    def _proposals(self, node: yaml.Node) -> Any:
        return self._named(node, "proposals", lambda one: self._word(one, words(ProposalState), "state"))

    def _turn_counter(self, node: yaml.Node) -> Any:
        return self._named(node, "turn_counter", self._one_number)


_COUNTERS = ("writes", "skips", "hits", "misses", "evictions", "expired")

_READERS: dict[str, Callable[[ThenReader, yaml.Node], Any]] = {
    "history": ThenReader._history,
    "handles": ThenReader._handles,
    "closed": ThenReader._closed,
    "open_handles": ThenReader._number,
    "sessions": ThenReader._sessions,
    "turn_counter": ThenReader._turn_counter,
    "calls": ThenReader._calls,
    "outcomes": ThenReader._outcomes,
    "document": ThenReader._document,
    "stats": ThenReader._stats,
    "feature_history": ThenReader._feature_history,
    "store": ThenReader._store,
    "call_records": ThenReader._call_records,
    "proposals": ThenReader._proposals,
}
