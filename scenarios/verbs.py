"""The verbs of the timeline: what each takes, what it does to a runtime, and how its reply reads."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import attrs
import yaml

from ..actors.futures import Future
from ..protocol.handoff import Handoff, Parent
from ..protocol.markers import TOKEN_BITS, join, token_from
from ..protocol.statuses import (
    AckStatus,
    ActivateStatus,
    ClaimStatus,
    ClearStatus,
    CloseStatus,
    ConfigureStatus,
    Purpose,
    RegisterStatus,
)
from ..runtime import Runtime
from .reading import Count, Id, Name, Reader, Text, Value, kind
from .source import InvalidScenario, place_of, scalar

__all__ = ["LATER_VERBS", "VERBS", "Verb", "teach_verbs"]

LATER_VERBS = frozenset(
    {
        "translate",
        "direct",
        "respond",
        "fail",
        "fail_dispatch",
        "time_out",
        "edit_source",
        "call",
        "refer",
        "fetch",
        "follow_up",
        "propose",
        "approve",
        "acknowledge",
        "refuse",
        "apply",
    }
)
"""Verbs of the language that this version does not run yet."""

_PROVIDER = Name("openai")
_MODE = Name("select-element")
_MAX_TURNS = Count(10)
_ONCE = Count(1)
_PURPOSE = Name(Purpose.PRIMARY_TRANSLATION.value)


class Verb:
    """A verb with its argument. `statuses`: the words that may be expected of it; `replies`: the keys of its reply."""

    what: ClassVar[str]
    statuses: ClassVar[frozenset[str]] = frozenset()
    replies: ClassVar[frozenset[str]] = frozenset()

    def post(self, runtime: Runtime) -> Future[Any] | None:
        """Send it; the future of its reply, or None where there is none."""
        raise NotImplementedError

    def read(self, answer: Any) -> Any:
        """The reply as `expect` compares it; one without keys as it is."""
        return answer if not self.replies else {name: _word(getattr(answer, name)) for name in sorted(self.replies)}


def _word(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _words(*enums: type) -> frozenset[str]:
    return frozenset(str(word) for enum in enums for word in enum)  # type: ignore[attr-defined]


@attrs.frozen
class _Parents:
    """The parents of a handoff as the file gives them; not always valid."""

    parents: tuple[object, ...] | object


@attrs.frozen
class _Loose:
    """A text of a handoff, or whatever stands in its place."""

    value: object


@attrs.frozen
class _Result:
    """The result of an ACK: a value, or segments to be joined with the runtime's markers."""

    value: object = None
    segments: tuple[str, ...] = ()

    def text(self, runtime: Runtime) -> object:
        if not self.segments:
            return self.value
        return join(self.segments, token_from(runtime.dispatcher.random_bits(TOKEN_BITS)))


@attrs.frozen(kw_only=True)
class Register(Verb):
    what = "register"
    statuses = _words(RegisterStatus)
    replies = frozenset({"status", "reason"})

    request: Id
    session: Id
    parents: _Parents
    provider: _Loose = _Loose(_PROVIDER)
    mode: _Loose = _Loose(_MODE)
    purpose: _Loose = _Loose(_PURPOSE)

    def post(self, runtime: Runtime) -> Future[Any]:
        provider, mode, purpose = (loose.value for loose in (self.provider, self.mode, self.purpose))
        return runtime.register(
            Handoff(self.request, self.session, provider, mode, self.parents.parents, purpose)  # type: ignore[arg-type]
        )


class _OfRequest(Verb):
    """A verb whose argument is a request id alone."""

    request: str

    call: ClassVar[Callable[[Runtime, str], Future[Any]]]
    replies = frozenset({"status"})

    def __init__(self, request: str) -> None:
        self.request = request

    def post(self, runtime: Runtime) -> Future[Any]:
        return type(self).call(runtime, self.request)


class Activate(_OfRequest):
    what = "activate"
    statuses = _words(ActivateStatus)
    call = Runtime.activate


class DispatchFailed(_OfRequest):
    what = "dispatch_failed"
    statuses = _words(CloseStatus)
    call = Runtime.dispatch_failed


class Cancel(_OfRequest):
    what = "cancel"
    statuses = _words(CloseStatus)
    call = Runtime.cancel


class ClearSession(_OfRequest):
    what = "clear_session"
    statuses = _words(ClearStatus)
    call = Runtime.clear_session


@attrs.frozen(kw_only=True)
class Ack(Verb):
    what = "ack"
    statuses = _words(AckStatus)
    replies = frozenset({"status", "committed"})

    request: Id
    parent: Id
    result: _Result

    def post(self, runtime: Runtime) -> Future[Any]:
        return runtime.acknowledge(self.request, self.parent, self.result.text(runtime))  # type: ignore[arg-type]


@attrs.frozen(kw_only=True)
class Reject(Verb):
    what = "reject"
    statuses = _words(AckStatus)
    replies = frozenset({"status", "committed"})

    request: Id
    parent: Id

    def post(self, runtime: Runtime) -> Future[Any]:
        return runtime.reject(self.request, self.parent)


@attrs.frozen(kw_only=True)
class ClaimTurn(Verb):
    what = "claim_turn"
    statuses = _words(ClaimStatus)

    session: Id
    provider: Name = _PROVIDER
    mode: Name = _MODE
    purpose: Name = _PURPOSE

    def post(self, runtime: Runtime) -> Future[Any]:
        return runtime.claim_turn(self.session, provider=self.provider, mode=self.mode, purpose=self.purpose)

    def read(self, answer: Any) -> Any:
        return {"status": answer} if isinstance(answer, ClaimStatus) else answer


@attrs.frozen(kw_only=True)
class ReadHistory(Verb):
    what = "read_history"

    session: Id
    provider: Name = _PROVIDER
    mode: Name = _MODE
    purpose: Name = _PURPOSE
    max_turns: Count = _MAX_TURNS
    max_chars: Count | None = None

    def post(self, runtime: Runtime) -> Future[Any]:
        return runtime.history(
            self.session,
            provider=self.provider,
            mode=self.mode,
            purpose=self.purpose,
            max_turns=self.max_turns,
            max_chars=self.max_chars,
        )

    def read(self, answer: Any) -> Any:
        return [[turn.user, turn.assistant] for turn in answer]


@attrs.frozen(kw_only=True)
class Configure(Verb):
    what = "configure"
    statuses = _words(ConfigureStatus)
    replies = frozenset({"status"})

    history_enabled: bool

    def post(self, runtime: Runtime) -> Future[Any]:
        return runtime.configure(history_enabled=self.history_enabled)


@attrs.frozen(kw_only=True)
class FailCommits(Verb):
    what = "fail_commits"

    session: Id
    times: Count = _ONCE

    def post(self, runtime: Runtime) -> Future[Any]:
        return runtime.fail_commits(self.session, self.times)


class Wait(Verb):
    what = "wait"

    def post(self, _runtime: Runtime) -> None:
        return None


VERBS: Mapping[str, type[Verb]] = {
    verb.what: verb
    for verb in (
        Register,
        Activate,
        Ack,
        Reject,
        DispatchFailed,
        Cancel,
        ClaimTurn,
        ReadHistory,
        ClearSession,
        Configure,
        FailCommits,
        Wait,
    )
}

STATUSES = frozenset().union(*(verb.statuses for verb in VERBS.values()))


def teach_verbs(reader: Reader) -> None:
    """Make `reader` understand the arguments of every verb."""

    def of_request(node: yaml.Node, wanted: Any) -> Any:
        return wanted(reader.read(node, Id))

    def wait(node: yaml.Node, _wanted: Any) -> Wait:
        if not (isinstance(node, yaml.ScalarNode) and scalar(node) is None):
            raise InvalidScenario(place_of(node), f"wait takes null, not {kind(node)}")
        return Wait()

    def optional_count(node: yaml.Node, _wanted: Any) -> int | None:
        if isinstance(node, yaml.ScalarNode) and scalar(node) is None:
            return None
        return reader.read(node, Count)

    def loose(node: yaml.Node, _wanted: Any) -> _Loose:
        return _Loose(reader.read(node, Value))

    def result(node: yaml.Node, _wanted: Any) -> _Result:
        if not isinstance(node, yaml.MappingNode):
            return _Result(value=reader.read(node, Value))
        segments: tuple[str, ...] | None = None
        for _key, _key_node, value_node in reader.known(node, {"marked"}, "result"):
            segments = tuple(reader.read(item, Text) for item in reader.items(value_node, "marked"))
        if not segments:
            raise InvalidScenario(place_of(node), "a result that is a mapping must be {marked: [text, …]}")
        return _Result(value=segments[0]) if len(segments) == 1 else _Result(segments=segments)

    def parents(node: yaml.Node, _wanted: Any) -> _Parents:
        if isinstance(node, yaml.MappingNode):
            return _Parents(
                tuple(
                    Parent(key, order, reader.read(value_node, Value))  # type: ignore[arg-type]
                    for order, (key, _key_node, value_node) in enumerate(reader.entries(node, "parents"))
                )
            )
        if isinstance(node, yaml.SequenceNode):
            return _Parents(tuple(parent(item) for item in node.value))
        return _Parents(reader.read(node, Value))

    def parent(node: yaml.Node) -> object:
        """A `Parent`, or anything else if its keys are not those of one."""
        if not isinstance(node, yaml.MappingNode):
            return reader.read(node, Value)
        values: dict[str, Any] = {}
        for key, _key_node, value_node in reader.entries(node, "a parent"):
            values[key] = reader.read(value_node, Id) if key == "id" else reader.read(value_node, Value)
        return Parent(**values) if values.keys() == {"id", "order", "source"} else frozenset(values)

    for verb in VERBS.values():
        if issubclass(verb, _OfRequest):
            reader.teach(verb, of_request)
    reader.teach(Wait, wait)
    reader.teach(Count | None, optional_count)
    reader.teach(_Loose, loose)
    reader.teach(_Result, result)
    reader.teach(_Parents, parents)
