"""Every message and reply is frozen, slotted, immutable all the way down, and shows no text (design 1, C14)."""

from __future__ import annotations

import enum
import inspect
import re
import types
import typing
from collections.abc import Iterator, Mapping
from typing import Any, Literal, get_args, get_origin, get_type_hints

import attrs
import pytest

from dragoman.protocol import (
    batches,
    calls,
    content_messages,
    content_replies,
    continuity,
    execution_messages,
    follow_ups,
    governance_messages,
    handoff,
    histogram,
    history,
    messages,
    outcomes,
    participation,
    payloads,
    prompt_refs,
    proposals,
    records,
    replies,
    retention,
    runtime_statistics,
    settings,
    translations,
    units,
)
from dragoman.protocol.mappings import FrozenMapping, WordMapping
from dragoman.protocol.replies import ParentStates
from dragoman.protocol.statuses import CallStatus, ParentState

MODULES = (
    messages,
    execution_messages,
    replies,
    handoff,
    history,
    participation,
    settings,
    units,
    calls,
    batches,
    outcomes,
    translations,
    records,
    payloads,
    follow_ups,
    retention,
    proposals,
    prompt_refs,
    content_messages,
    content_replies,
    continuity,
    governance_messages,
    histogram,
    runtime_statistics,
)

VALUES: list[type[Any]] = sorted(
    {
        cls
        for module in MODULES
        for cls in vars(module).values()
        if inspect.isclass(cls) and cls.__module__ == module.__name__ and attrs.has(cls)
    }
    - {translations.TranslationRequest},
    key=lambda cls: cls.__name__,
)

MAPPINGS = (FrozenMapping, WordMapping)

SHOWN = {
    "request_id",
    "session_id",
    "parent_id",
    "parent_ids",
    "committed",
    "id",
    "provider",
    "mode",
    "purpose",
    "content_ref",
    "reason",
    "eligible_modes",
    "maintainers",
    "source_language",
    "target_language",
    "call",
    "model",
    "error",
    "subject",
    "detail",
    "repair",
    "by_purpose",
    "feature_history",
    "role",
    "method",
    "parent",
    "child_id",
    "call_id",
    "name",
    "target",
    "candidate",
    "roles",
    "methods",
    "forgets",
    "verb",
    "journal",
    "digest",
    "content_digest",
    "skips_by_reason",
    "misses_by_reason",
    "refused",
    "closed",
    "acks",
    "stale_acks",
    "ended",
    "errors",
    "errors_by_name",
    "dead_letters",
    "by",
    "approver",
    "acknowledger",
    "proposal_id",
    "proposed_by",
    "approved_by",
    "acknowledged_by",
    "change",
    "before",
    "until",
    "history_until",
    "after",
    "remedy",
    "lines",
}
"""The fields of text that a `repr` may show: ids and words of the vocabulary, and reasons that hold no content."""

SHOWN_IN = {"TranslationOutcome": {"translated", "unresolved", "cancelled"}, "PromptRefs": {"text"}}
"""Ids whose field elsewhere could be one of text."""

every_value = pytest.mark.parametrize("cls", VALUES, ids=lambda cls: cls.__name__)


def example(hint: Any, text: str) -> Any:
    """A value of the type `hint`, with `text` wherever text can be."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (typing.Union, types.UnionType):
        return example(next(one for one in arguments if one is not type(None)), text)
    if origin is Literal:
        return arguments[0]
    if origin in (Mapping, FrozenMapping, WordMapping):
        return (origin if origin is WordMapping else FrozenMapping)({text: example(arguments[-1], text)})
    if origin in (tuple, frozenset):
        return origin([example(arguments[0], text)])
    if hint is ParentStates:
        return ParentStates((text,), (ParentState.PENDING,))
    if attrs.has(hint):
        return build(hint, text)
    if issubclass(hint, enum.Enum):
        return next(iter(hint))
    return {str: text, bytes: text.encode(), int: 3, float: 3.0, bool: True}[hint]


def build(cls: type[Any], text: str) -> Any:
    hints = get_type_hints(cls)
    names = [field.name for field in attrs.fields(cls) if field.init]
    return cls(**{name: example(hints[name], f"{text}-{name}") for name in names})


def is_immutable(hint: Any) -> bool:
    """Whether a type without parts is one of those that cannot change."""
    if hint in (str, bytes, int, float, bool, type(None), ParentStates) or get_origin(hint) is Literal:
        return True
    return inspect.isclass(hint) and (issubclass(hint, enum.Enum) or hint in VALUES)


def mutable_parts(hint: Any) -> Iterator[Any]:
    """The parts of a type that could change."""
    if get_origin(hint) in (tuple, frozenset, *MAPPINGS, typing.Union, types.UnionType):
        for inner in get_args(hint):
            if inner is not Ellipsis:
                yield from mutable_parts(inner)
    elif not is_immutable(hint):
        yield hint


def all_texts(hint: Any, name: str) -> Iterator[str]:
    """The names of the fields of text in a type, its inner values included."""
    if hint is str:
        yield name
    for inner in get_args(hint):
        yield from all_texts(inner, name)
    if inspect.isclass(hint) and attrs.has(hint):
        for field in attrs.fields(hint):
            yield from all_texts(get_type_hints(hint)[field.name], field.name)


def test_every_message_and_reply_is_looked_at() -> None:
    found = {cls.__name__ for cls in VALUES} | {"ParentStates"}
    assert {*messages.__all__, *execution_messages.__all__, *replies.__all__} - {"NO_REQUEST"} <= found


@every_value
def test_a_value_is_frozen(cls: type[Any]) -> None:
    value = build(cls, "text")
    for field in attrs.fields(cls):
        with pytest.raises(attrs.exceptions.FrozenInstanceError):
            setattr(value, field.name, None)
        with pytest.raises(attrs.exceptions.FrozenInstanceError):
            delattr(value, field.name)
    assert value == build(cls, "text")


@every_value
def test_a_value_has_slots_and_no_dict(cls: type[Any]) -> None:
    assert not hasattr(build(cls, "text"), "__dict__")
    with pytest.raises((AttributeError, TypeError)):
        build(cls, "text").no_such_field = 1


@every_value
def test_a_value_is_immutable_all_the_way_down(cls: type[Any]) -> None:
    for name, hint in get_type_hints(cls).items():
        assert not list(mutable_parts(hint)), f"{name} can change"
        assert get_origin(hint) is not Mapping, f"{name} can change"


@every_value
def test_a_mapping_that_changes_later_changes_no_value(cls: type[Any]) -> None:
    hints = get_type_hints(cls)
    given = {name: dict(example(hint, "text")) for name, hint in hints.items() if get_origin(hint) in MAPPINGS}
    value = attrs.evolve(build(cls, "text"), **given)
    for name, mapping in given.items():
        before = dict(mapping)
        mapping.clear()
        assert getattr(value, name) == before


@every_value
def test_a_value_can_be_hashed_and_compared(cls: type[Any]) -> None:
    assert len({build(cls, "text"), build(cls, "text")}) == 1


@every_value
def test_a_repr_shows_no_text_but_ids_and_words(cls: type[Any]) -> None:
    shown = repr(build(cls, "canary"))
    told = {name for name in all_texts(cls, cls.__name__) if re.search(rf"canary-{name}\b", shown)}
    assert told <= SHOWN | SHOWN_IN.get(cls.__name__, set())


@pytest.mark.parametrize(
    "value",
    [
        handoff.Parent("p1", 0, "canary"),
        handoff.Handoff("r1", "s1", "openai", "select-element", (handoff.Parent("p1", 0, "canary"),)),
        history.Turn("r1", "p1", "canary", "canary"),
        messages.Acknowledge("r1", "p1", "canary"),
        messages.CommitTurns("s1", history.TurnRun("r1", ("p1",), ("canary",), ("canary",)), unpins=True),
        execution_messages.AnswerCall(request_id="r1", number=1, translations=(("p1", ("canary",)),)),
        execution_messages.AnswerCall(
            request_id="r1", number=1, completion=calls.Completion("canary", texts=("canary",))
        ),
        batches.Resolved((("p1", ("canary",)),), recovered=False),
        outcomes.ParentEvent("r1", "p1", outcomes.ParentEventKind.DISPATCHED, ("canary",)),
        units.plan_parent("p1", ("canary ", " canary"), 3),
        translations.DirectRequest("r1", "s1", "canary", "de"),
        payloads.text_payload("canary"),
        content_messages.RecordCall("s1", records.Call("c1"), CallStatus.OK, payloads.text_payload("canary")),
        content_messages.FollowUp("s1", "canary"),
        proposals.Proposal("q1", "ann", {}, "canary", "canary"),
        handoff.Parent("p1", 0, ["canary"]),  # type: ignore[arg-type]
        handoff.Handoff("r1", "s1", "openai", "select-element", [handoff.Parent("p1", 0, b"canary")]),  # type: ignore[arg-type]
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_holds_a_source_or_a_translation_never_shows_it(value: object) -> None:
    assert "canary" not in repr(value)
    assert "canary" not in f"{value}"


def test_the_states_of_parents_are_a_read_only_mapping_in_source_order() -> None:
    states = ParentStates(("p2", "p1"), (ParentState.COMMITTED, ParentState.PENDING))
    assert list(states.items()) == [("p2", "COMMITTED"), ("p1", "PENDING")]
    assert not hasattr(states, "__setitem__")
    assert not hasattr(states, "__dict__")
    with pytest.raises(TypeError):
        states["p1"] = ParentState.COMMITTED  # type: ignore[index]
    with pytest.raises(KeyError):
        states["p3"]
    assert isinstance(states, Mapping)
    assert states == {"p2": "COMMITTED", "p1": "PENDING"}
    assert len({states, ParentStates(("p2", "p1"), (ParentState.COMMITTED, ParentState.PENDING))}) == 1


def test_equal_states_have_equal_hashes_whatever_their_order() -> None:
    one = ParentStates(("p1", "p2"), (ParentState.COMMITTED, ParentState.PENDING))
    other = ParentStates(("p2", "p1"), (ParentState.PENDING, ParentState.COMMITTED))
    assert (one == other) <= (hash(one) == hash(other))


def test_the_states_do_not_follow_the_lists_they_were_made_of() -> None:
    ids, found = ["p1"], [ParentState.PENDING]
    states = ParentStates(ids, found)
    ids.append("p2")
    found[0] = ParentState.COMMITTED
    assert states == {"p1": "PENDING"}
