"""The verbs of execution: translations and direct calls, and what their providers and their application do."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import attrs
import yaml

from ..actors.futures import Future
from ..protocol.calls import Completion
from ..protocol.failures import is_error_name
from ..protocol.statuses import StartStatus, Termination
from ..protocol.translations import DirectRequest, TranslationRequest
from ..runtime import Runtime
from .reading import Duration, Id, Reader, Text, Value
from .source import InvalidScenario, did_you_mean, place_of, scalar, word
from .stage import Stage
from .verb import LOOSE_MODE, LOOSE_PROVIDER, LOOSE_PURPOSE, Loose, OfRequest, Verb, words

__all__ = [
    "Direct",
    "EditSource",
    "Fail",
    "FailDispatch",
    "Respond",
    "TimeOut",
    "Translate",
    "teach_execution_verbs",
]

_CALL = re.compile(r".+/\d{1,9}", re.ASCII | re.DOTALL)


@attrs.frozen
class _Sources:
    """Parents of a translation as the file gives them: pairs of an id and a text or segments; not always valid."""

    found: tuple[tuple[str, object], ...] | object


@attrs.frozen
class _Accept:
    """What the application does with the parents of a translation, all of them or some."""

    by_hand: bool = False
    reject: tuple[str, ...] = ()
    manual: tuple[str, ...] = ()
    undeliverable: tuple[str, ...] = ()


@attrs.frozen
class _Pieces:
    """A text, or the segments of one."""

    value: str | tuple[str, ...]


_ENGLISH = Loose("en")
_GERMAN = Loose("de")
_AUTO = _Accept()


@attrs.frozen(kw_only=True)
class Translate(Verb):
    what = "translate"
    statuses = words(StartStatus)
    replies = frozenset({"status", "reason"})

    request: Id
    session: Id
    parents: _Sources
    provider: Loose = LOOSE_PROVIDER
    mode: Loose = LOOSE_MODE
    purpose: Loose = LOOSE_PURPOSE
    source_language: Loose = _ENGLISH
    target_language: Loose = _GERMAN
    accept: _Accept = _AUTO
    history_until: Text | None = None

    def post(self, stage: Stage) -> Future[Any]:
        found: Any = self.parents.found
        request = TranslationRequest(
            self.request,
            self.session,
            dict(found) if isinstance(found, tuple) else found,
            self.target_language.value,  # type: ignore[arg-type]
            source_language=self.source_language.value,  # type: ignore[arg-type]
            provider=self.provider.value,  # type: ignore[arg-type]
            mode=self.mode.value,  # type: ignore[arg-type]
            purpose=self.purpose.value,  # type: ignore[arg-type]
        )
        return stage.translate(
            self,
            request,
            refuse_parents=self.accept.reject,
            left_parents=self.accept.manual,
            undeliverable_parents=self.accept.undeliverable,
            by_hand=self.accept.by_hand,
            history_until=self.history_until,
        )

    def sources(self) -> dict[str, str]:
        """The clean source of each parent that has one."""
        found: Any = self.parents.found
        pairs = found if isinstance(found, tuple) else ()
        texts = {parent: source if isinstance(source, list) else [source] for parent, source in pairs}
        return {
            parent: "".join(segments)
            for parent, segments in texts.items()
            if all(isinstance(segment, str) for segment in segments)
        }

    def ids(self) -> Iterator[object]:
        yield from (self.request, self.session, self.provider.value, self.mode.value, self.purpose.value)
        yield from self.sources()

    def texts(self) -> Iterator[object]:
        yield from self.sources().values()


@attrs.frozen(kw_only=True)
class Direct(Verb):
    what = "direct"
    statuses = words(StartStatus)
    replies = frozenset({"status", "reason"})

    request: Id
    session: Id
    source: Loose
    provider: Loose = LOOSE_PROVIDER
    mode: Loose = LOOSE_MODE
    purpose: Loose = LOOSE_PURPOSE

    def post(self, stage: Stage) -> Future[Any]:
        request = DirectRequest(
            self.request,
            self.session,
            self.source.value,  # type: ignore[arg-type]
            "de",
            provider=self.provider.value,  # type: ignore[arg-type]
            mode=self.mode.value,  # type: ignore[arg-type]
            purpose=self.purpose.value,  # type: ignore[arg-type]
        )
        return stage.direct(request)

    def ids(self) -> Iterator[object]:
        yield from (self.request, self.session, self.provider.value, self.mode.value, self.purpose.value)

    def texts(self) -> Iterator[object]:
        yield self.source.value


@attrs.frozen
class _Call:
    """`REQUEST/N`."""

    id: str


@attrs.frozen
class _Translations:
    units: tuple[tuple[str, str | tuple[str, ...]], ...]


@attrs.frozen(kw_only=True)
class Respond(Verb):
    what = "respond"

    call: _Call
    translations: _Translations | None = None
    text: Text | None = None
    termination: Termination = Termination.NORMAL

    def post(self, stage: Stage) -> Future[Any]:
        if self.translations is None:
            completion = Completion(self.text, termination=self.termination)
            return stage.answer(self.call.id, stage.runtime.respond(self.call.id, completion))
        units = dict(self.translations.units)
        answered = stage.runtime.respond(self.call.id, translations=units, termination=self.termination)
        return stage.answer(self.call.id, answered)

    def texts(self) -> Iterator[object]:
        yield self.text
        for _unit, text in () if self.translations is None else self.translations.units:
            yield from (text,) if isinstance(text, str) else text


@attrs.frozen
class _Error:
    name: str


@attrs.frozen(kw_only=True)
class Fail(Verb):
    what = "fail"

    call: _Call
    error: _Error
    retry_after: Duration | None = None

    def post(self, stage: Stage) -> Future[Any]:
        retry_after = None if self.retry_after is None else self.retry_after / 1e6
        return stage.answer(self.call.id, stage.runtime.fail(self.call.id, self.error.name, retry_after=retry_after))


class TimeOut(OfRequest):
    what = "time_out"
    call = Runtime.time_out
    replies = frozenset()

    def read(self, answer: Any) -> None:
        """It has no reply in the language."""


class FailDispatch(OfRequest):
    what = "fail_dispatch"
    replies = frozenset()

    def post(self, stage: Stage) -> Future[Any]:
        return stage.fail_dispatch(self.request)


@attrs.frozen(kw_only=True)
class EditSource(Verb):
    what = "edit_source"

    request: Id
    parent: Id
    text: _Pieces

    def post(self, stage: Stage) -> Future[Any]:
        return stage.edit_source(self.request, self.parent, self.text.value)

    def ids(self) -> Iterator[object]:
        yield from (self.request, self.parent)

    def texts(self) -> Iterator[object]:
        yield from (self.text.value,) if isinstance(self.text.value, str) else self.text.value


def teach_execution_verbs(reader: Reader) -> None:
    """Make `reader` understand the arguments of the verbs of execution."""

    def sources(node: yaml.Node, _wanted: Any) -> _Sources:
        if not isinstance(node, yaml.MappingNode):
            return _Sources(reader.read(node, Value))
        entries = reader.entries(node, "parents")
        return _Sources(tuple((key, reader.read(value_node, Value)) for key, _key_node, value_node in entries))

    def accept(node: yaml.Node, _wanted: Any) -> _Accept:
        if isinstance(node, yaml.MappingNode):
            parents: dict[str, tuple[str, ...]] = {}
            for key, _key_node, value_node in reader.known(node, ("reject", "manual", "undeliverable"), "accept"):
                parents[key] = tuple(reader.read(item, Id) for item in reader.items(value_node, key))
            if not parents:
                raise InvalidScenario(place_of(node), "accept lacks the key reject, manual or undeliverable")
            return _Accept(False, **parents)
        value = scalar(node) if isinstance(node, yaml.ScalarNode) else None
        if value not in ("auto", "manual"):
            raise InvalidScenario(place_of(node), "accept must be auto, manual or {reject: [parent, …]}")
        return _Accept(by_hand=value == "manual")

    def call(node: yaml.Node, _wanted: Any) -> _Call:
        name = reader.read(node, Id)
        if not _CALL.fullmatch(name):
            raise InvalidScenario(place_of(node), "a call must be REQUEST/N, with N from 1")
        return _Call(name)

    def pieces(node: yaml.Node, _wanted: Any) -> _Pieces:
        if isinstance(node, yaml.SequenceNode):
            return _Pieces(tuple(reader.read(item, Text) for item in node.value))
        return _Pieces(reader.read(node, Text))

    def translations(node: yaml.Node, _wanted: Any) -> _Translations:
        entries = reader.entries(node, "translations")
        return _Translations(tuple((key, pieces(value_node, None).value) for key, _key_node, value_node in entries))

    def termination(node: yaml.Node, _wanted: Any) -> Termination:
        value = reader.read(node, Text)
        known = words(Termination)
        if value not in known:
            raise InvalidScenario(place_of(node), f"unknown termination {word(value)}{did_you_mean(value, known)}")
        return Termination(value)

    def error(node: yaml.Node, _wanted: Any) -> _Error:
        name = reader.read(node, Text)
        if not is_error_name(name):
            raise InvalidScenario(place_of(node), f"an error must be a name in capitals, not {word(name)}")
        return _Error(name)

    def respond(node: yaml.Node, _wanted: Any) -> Respond:
        values: dict[str, Any] = {}
        types = {"call": _Call, "translations": _Translations, "text": Text, "termination": Termination}
        for key, _key_node, value_node in reader.known(node, types, "respond"):
            values[key] = reader.read(value_node, types[key])
        if "call" not in values:
            raise InvalidScenario(place_of(node), "respond lacks the key call")
        if ("text" in values) == ("translations" in values):
            raise InvalidScenario(place_of(node), "respond takes either translations or text")
        return Respond(**values)

    for wanted, hook in (
        (_Sources, sources),
        (_Accept, accept),
        (_Call, call),
        (_Pieces, pieces),
        (_Translations, translations),
        (Termination, termination),
        (_Error, error),
        (Respond, respond),
    ):
        reader.teach(wanted, hook)
