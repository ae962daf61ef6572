"""A scenario as the file says it: settings, providers, timeline and what must be true at the end."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import yaml

from ..protocol.errors import InvalidSetting
from ..protocol.participation import ProviderPolicy
from ..protocol.settings import Settings
from .expectations import OneOf
from .reading import Duration, Id, Located, Name, Reader, Text, kind
from .source import InvalidScenario, did_you_mean, load, place_of, scalar, word
from .then import ThenReader
from .verbs import STATUSES, VERBS, Verb, teach_verbs

__all__ = ["Moment", "Scenario", "Step", "read_scenario"]

_DURATIONS = frozenset({"ack_window", "execution_timeout", "session_ttl", "circuit_cooldown", "store_ttl"})
_LISTS = frozenset({"eligible_modes", "maintainers"})
_NOT_FOR_SCENARIOS = {"feature_history", "journal", "journal_texts", "journal_bytes"}
"""A scenario that comes from elsewhere must not name where to write; its feature history has a temporary file."""
_TOP = ("scenario", "about", "clauses", "settings", "providers", "back_offs", "timeline", "then")


@attrs.frozen
class Step:
    """One operation. `expected` is compared with its reply unless `expects` is false."""

    verb: Verb
    line: int
    expected: Any = None
    expects: bool = False


@attrs.frozen
class Moment:
    """The steps posted at one instant of virtual time; more than one only where the file says `together`."""

    at_us: int
    steps: tuple[Step, ...]
    line: int


@attrs.frozen
class Scenario:
    """A valid scenario file."""

    name: str
    about: str | None
    clauses: tuple[str, ...]
    settings: Settings
    providers: dict[str, ProviderPolicy]
    timeline: tuple[Moment, ...]
    then: dict[str, Located]
    back_offs: dict[str, tuple[int, ...]] = attrs.field(factory=dict)
    """How long the retries of a request wait, in microseconds, in their order; those that are not said are drawn."""


def read_scenario(path: Path) -> Scenario:
    """The scenario in a file; raises `InvalidScenario` with the place of what is wrong."""
    try:
        return _ScenarioReader().scenario(load(path))
    except RecursionError:
        # What a call returned may contain itself; an alias to it from elsewhere must not.
        raise InvalidScenario((1, 1), "contains itself, by an alias to what a call returned") from None


class _ScenarioReader:
    def __init__(self) -> None:
        self._reader = Reader()
        teach_verbs(self._reader)
        self._expected = ThenReader(self._reader)

    def scenario(self, root: yaml.MappingNode) -> Scenario:
        found = {key: node for key, _key_node, node in self._reader.known(root, _TOP, "a scenario")}
        for key in ("scenario", "timeline"):
            if key not in found:
                raise InvalidScenario(place_of(root), f"a scenario lacks the key {key}")
        read = self._reader.read
        return Scenario(
            name=read(found["scenario"], Text),
            about=read(found["about"], Text) if "about" in found else None,
            clauses=read(found["clauses"], tuple[Text, ...]) if "clauses" in found else (),
            settings=self._settings(found["settings"]) if "settings" in found else Settings(),
            providers=self._providers(found["providers"]) if "providers" in found else {},
            timeline=self._timeline(found["timeline"]),
            then=self._expected.then(found["then"]) if "then" in found else {},
            back_offs=self._back_offs(found["back_offs"]) if "back_offs" in found else {},
        )

    def _settings(self, node: yaml.Node) -> Settings:
        known = attrs.fields_dict(Settings).keys() - _NOT_FOR_SCENARIOS
        values: dict[str, Any] = {}
        for key, key_node, value_node in self._reader.known(node, known, "settings"):
            values[key] = self._setting(key, value_node)
            try:
                Settings(**{key: values[key]})
            except InvalidSetting as error:
                raise InvalidScenario(place_of(key_node), f"the setting {error}") from None
        return Settings(**values)

    def _setting(self, key: str, node: yaml.Node) -> Any:
        if isinstance(node, yaml.ScalarNode):
            value = scalar(node)
            if key in _DURATIONS and value is not None:
                return self._reader.read(node, Duration) / 1_000_000
            return value
        if key not in _LISTS:
            raise InvalidScenario(place_of(node), f"the setting {key} must be a single value, not {kind(node)}")
        return tuple(self._reader.read(item, Name) for item in self._reader.items(node, f"the setting {key}"))

    def _providers(self, node: yaml.Node) -> dict[str, ProviderPolicy]:
        policies = {}
        known = attrs.fields_dict(ProviderPolicy)
        for name, _name_node, policy_node in self._reader.entries(node, "providers"):
            values: dict[str, Any] = {}
            for key, key_node, value_node in self._reader.known(policy_node, known, f"the provider {word(name)}"):
                values[key] = scalar(value_node) if isinstance(value_node, yaml.ScalarNode) else object()
                try:
                    ProviderPolicy(**{key: values[key]})
                except InvalidSetting as error:
                    raise InvalidScenario(place_of(key_node), f"the provider {word(name)}: {error}") from None
            policies[name] = ProviderPolicy(**values)
        return policies

    def _back_offs(self, node: yaml.Node) -> dict[str, tuple[int, ...]]:
        return {
            request: tuple(
                self._reader.read(item, Duration)
                for item in self._reader.items(waits, f"the back-offs of {word(request)}")
            )
            for request, _request_node, waits in self._reader.entries(node, "back_offs")
        }

    def _timeline(self, node: yaml.Node) -> tuple[Moment, ...]:
        if isinstance(node, yaml.ScalarNode) and scalar(node) is None:
            return ()
        moments: list[Moment] = []
        for item in self._reader.items(node, "the timeline"):
            moment = self._moment(item)
            if moments and moment.at_us < moments[-1].at_us:
                raise InvalidScenario(place_of(item), "at goes back: steps stand in the order of time")
            moments.append(moment)
        return tuple(moments)

    def _moment(self, node: yaml.Node) -> Moment:
        keys = dict(self._step_keys(node))
        line = place_of(node)[0]
        if "at" not in keys:
            raise InvalidScenario(place_of(node), "a step lacks the key at")
        at_us = self._reader.read(keys.pop("at"), Duration)
        if "together" not in keys:
            return Moment(at_us, (self._step(node, keys),), line)
        together = keys.pop("together")
        for key, value_node in keys.items():
            raise InvalidScenario(
                place_of(value_node), f"{key} cannot stand beside together; it belongs to a step inside"
            )
        steps = []
        for item in self._reader.items(together, "together"):
            inner = dict(self._step_keys(item))
            for key in ("at", "together"):
                if key in inner:
                    raise InvalidScenario(place_of(inner[key]), f"a step inside together has no {key} of its own")
            steps.append(self._step(item, inner))
        return Moment(at_us, tuple(steps), line)

    def _step_keys(self, node: yaml.Node) -> Any:
        for key, _key_node, value_node in self._reader.known(node, ("at", "together", "expect", *VERBS), "a step"):
            yield key, value_node

    def _step(self, node: yaml.Node, keys: dict[str, yaml.Node]) -> Step:
        expect = keys.pop("expect", None)
        if not keys:
            raise InvalidScenario(place_of(node), "a step lacks a verb")
        if len(keys) > 1:
            second = list(keys)[1]
            raise InvalidScenario(place_of(keys[second]), f"a step has one verb; {second} is a second one")
        ((name, argument),) = keys.items()
        verb = self._reader.read(argument, VERBS[name])
        line = place_of(node)[0]
        if expect is None:
            return Step(verb, line)
        return Step(verb, line, self._expected_reply(expect, verb), expects=True)

    def _expected_reply(self, node: yaml.Node, verb: Verb) -> Any:
        """The expected reply, with its keys and words checked against those of the verb."""
        alternatives = self._expected.one_of(node)
        if alternatives is not None:
            return OneOf(tuple(self._expected_reply(one, verb) for one in alternatives))
        if isinstance(node, yaml.MappingNode):
            known = verb.replies or ({"status"} if verb.statuses else frozenset())
            readers: dict[str, Callable[[yaml.Node], Any]] = {
                "status": lambda inner: self._status(inner, verb),
                "committed": self._ids,
                "kind": self._expected.kind,
                "value": self._expected.content,
            }
            return {
                key: readers.get(key, self._expected.value)(value_node)
                for key, _key_node, value_node in self._reader.known(node, known, f"the reply to {verb.what}")
            }
        return self._status(node, verb) if verb.statuses else self._expected.value(node)

    def _ids(self, node: yaml.Node) -> Any:
        """A list of ids, or something else that will not be equal to one."""
        if self._expected.one_of(node) is not None:
            return self._expected.or_one_of(node, self._ids)
        if not isinstance(node, yaml.SequenceNode):
            return self._expected.value(node)
        return [self._expected.or_one_of(item, lambda one: self._reader.read(one, Id)) for item in node.value]

    def _status(self, node: yaml.Node, verb: Verb) -> Any:
        alternatives = self._expected.one_of(node)
        if alternatives is not None:
            return OneOf(tuple(self._status(one, verb) for one in alternatives))
        value = self._expected.value(node)
        if isinstance(value, str) and value not in STATUSES:
            raise InvalidScenario(place_of(node), f"unknown status {word(value)}{did_you_mean(value, verb.statuses)}")
        return value
