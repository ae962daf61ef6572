"""The verbs of the timeline: what each takes, what it does to a runtime, and how its reply reads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

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
    RegisterStatus,
)
from ..runtime import Runtime
from .continuity_verbs import (
    Acknowledge,
    Apply,
    Approve,
    Fetch,
    FollowUp,
    Propose,
    RecordCall,
    Refer,
    Refuse,
    teach_continuity_verbs,
)
from .execution_verbs import (
    Direct,
    EditSource,
    Fail,
    FailDispatch,
    Respond,
    TimeOut,
    Translate,
    teach_execution_verbs,
)
from .reading import Count, Id, Name, Reader, Text, Value, kind
from .source import InvalidScenario, is_null, place_of
from .stage import Stage
from .verb import (
    LOOSE_MODE,
    LOOSE_PROVIDER,
    LOOSE_PURPOSE,
    MODE,
    PROVIDER,
    PURPOSE,
    Loose,
    OfRequest,
    Verb,
    words,
)

__all__ = ["VERBS", "Verb", "teach_verbs"]

_MAX_TURNS = Count(10)
_ONCE = Count(1)


@attrs.frozen
class Parents:
    """The parents of a handoff as the file gives them; not always valid."""

    parents: tuple[object, ...] | object


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
    statuses = words(RegisterStatus)
    replies = frozenset({"status", "reason"})

    request: Id
    session: Id
    parents: Parents
    provider: Loose = LOOSE_PROVIDER
    mode: Loose = LOOSE_MODE
    purpose: Loose = LOOSE_PURPOSE

    def post(self, stage: Stage) -> Future[Any]:
        provider, mode, purpose = (loose.value for loose in (self.provider, self.mode, self.purpose))
        return stage.runtime.register(
            Handoff(self.request, self.session, provider, mode, self.parents.parents, purpose)  # type: ignore[arg-type]
        )

    def ids(self) -> Iterator[object]:
        yield from (self.request, self.session, *(parent.id for parent in self._known()))

    def texts(self) -> Iterator[object]:
        yield from (parent.source for parent in self._known())

    def _known(self) -> list[Parent]:
        found = self.parents.parents
        return [parent for parent in found if isinstance(parent, Parent)] if isinstance(found, tuple) else []


class Activate(OfRequest):
    what = "activate"
    statuses = words(ActivateStatus)
    call = Runtime.activate


class DispatchFailed(OfRequest):
    what = "dispatch_failed"
    statuses = words(CloseStatus)
    call = Runtime.dispatch_failed


class Cancel(OfRequest):
    what = "cancel"
    statuses = words(CloseStatus)
    call = Runtime.cancel


class ClearSession(OfRequest):
    what = "clear_session"
    statuses = words(ClearStatus)
    call = Runtime.clear_session


@attrs.frozen(kw_only=True)
class Ack(Verb):
    what = "ack"
    statuses = words(AckStatus)
    replies = frozenset({"status", "committed"})

    request: Id
    parent: Id
    result: _Result

    def post(self, stage: Stage) -> Future[Any]:
        return stage.acknowledge(self.request, self.parent, self.result.text(stage.runtime))

    def ids(self) -> Iterator[object]:
        yield from (self.request, self.parent)

    def texts(self) -> Iterator[object]:
        yield from (self.result.value, *self.result.segments)


@attrs.frozen(kw_only=True)
class Reject(Verb):
    what = "reject"
    statuses = words(AckStatus)
    replies = frozenset({"status", "committed"})

    request: Id
    parent: Id

    def post(self, stage: Stage) -> Future[Any]:
        return stage.runtime.reject(self.request, self.parent)


@attrs.frozen(kw_only=True)
class ClaimTurn(Verb):
    what = "claim_turn"
    statuses = words(ClaimStatus)

    session: Id
    provider: Name = PROVIDER
    mode: Name = MODE
    purpose: Name = PURPOSE

    def post(self, stage: Stage) -> Future[Any]:
        return stage.runtime.claim_turn(self.session, provider=self.provider, mode=self.mode, purpose=self.purpose)

    def read(self, answer: Any) -> Any:
        return {"status": answer} if isinstance(answer, ClaimStatus) else answer


@attrs.frozen(kw_only=True)
class ReadHistory(Verb):
    what = "read_history"

    session: Id
    provider: Name = PROVIDER
    mode: Name = MODE
    purpose: Name = PURPOSE
    max_turns: Count = _MAX_TURNS
    max_chars: Count | None = None

    def post(self, stage: Stage) -> Future[Any]:
        return stage.runtime.history(
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
    statuses = words(ConfigureStatus)
    replies = frozenset({"status"})

    history_enabled: bool

    def post(self, stage: Stage) -> Future[Any]:
        return stage.runtime.configure(history_enabled=self.history_enabled)


@attrs.frozen(kw_only=True)
class FailCommits(Verb):
    what = "fail_commits"

    session: Id
    times: Count = _ONCE

    def post(self, stage: Stage) -> Future[Any]:
        return stage.runtime.fail_commits(self.session, self.times)


class Wait(Verb):
    what = "wait"

    def post(self, _stage: Stage) -> None:
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
        Translate,
        Direct,
        Respond,
        Fail,
        FailDispatch,
        TimeOut,
        EditSource,
        RecordCall,
        Refer,
        Fetch,
        FollowUp,
        Propose,
        Approve,
        Acknowledge,
        Refuse,
        Apply,
    )
}

STATUSES = frozenset().union(*(verb.statuses for verb in VERBS.values()))


def teach_verbs(reader: Reader) -> None:
    """Make `reader` understand the arguments of every verb."""

    def of_request(node: yaml.Node, wanted: Any) -> Any:
        return wanted(reader.read(node, Id))

    def wait(node: yaml.Node, _wanted: Any) -> Wait:
        if not is_null(node):
            raise InvalidScenario(place_of(node), f"wait takes null, not {kind(node)}")
        return Wait()

    def optional_count(node: yaml.Node, _wanted: Any) -> int | None:
        return None if is_null(node) else reader.read(node, Count)

    def loose(node: yaml.Node, _wanted: Any) -> Loose:
        return Loose(reader.read(node, Value))

    def result(node: yaml.Node, _wanted: Any) -> _Result:
        if not isinstance(node, yaml.MappingNode):
            return _Result(value=reader.read(node, Value))
        segments: tuple[str, ...] | None = None
        for _key, _key_node, value_node in reader.known(node, {"marked"}, "result"):
            segments = tuple(reader.read(item, Text) for item in reader.items(value_node, "marked"))
        if not segments:
            raise InvalidScenario(place_of(node), "a result that is a mapping must be {marked: [text, …]}")
        return _Result(value=segments[0]) if len(segments) == 1 else _Result(segments=segments)

    def parents(node: yaml.Node, _wanted: Any) -> Parents:
        if isinstance(node, yaml.MappingNode):
            return Parents(
                tuple(
                    Parent(key, order, reader.read(value_node, Value))  # type: ignore[arg-type]
                    for order, (key, _key_node, value_node) in enumerate(reader.entries(node, "parents"))
                )
            )
        if isinstance(node, yaml.SequenceNode):
            return Parents(tuple(parent(item) for item in node.value))
        return Parents(reader.read(node, Value))

    def parent(node: yaml.Node) -> object:
        """A `Parent`, or anything else if its keys are not those of one."""
        if not isinstance(node, yaml.MappingNode):
            return reader.read(node, Value)
        values: dict[str, Any] = {}
        for key, _key_node, value_node in reader.entries(node, "a parent"):
            values[key] = reader.read(value_node, Id) if key == "id" else reader.read(value_node, Value)
        return Parent(**values) if values.keys() == {"id", "order", "source"} else frozenset(values)

    for verb in VERBS.values():
        if issubclass(verb, OfRequest):
            reader.teach(verb, of_request)
    teach_execution_verbs(reader)
    teach_continuity_verbs(reader)
    reader.teach(Wait, wait)
    reader.teach(Count | None, optional_count)
    reader.teach(Loose, loose)
    reader.teach(_Result, result)
    reader.teach(Parents, parents)
