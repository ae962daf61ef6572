"""The executing face: what it refuses at once and by name, what it takes for what it is, and what it never shows."""

from __future__ import annotations

import asyncio
import copy
import enum
import gc
import pickle
import threading
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest

from dragoman import (
    AppliedKey,
    Completion,
    DirectRequest,
    DispatchFailed,
    DragomanError,
    InvalidArgument,
    ParentEvent,
    ParentRefused,
    ProviderCall,
    ProviderError,
    Runtime,
    RuntimeClosed,
    ScriptedProvider,
    Settings,
    SimulatedDispatcher,
    StartReply,
    StartStatus,
    TextDocument,
    TranslationRefused,
    TranslationRequest,
    UnknownCall,
)
from dragoman.scenarios.logs import LogWatch

from .fragments import good_answer, mapped

PATIENCE_S = 20.0
"""How long a test waits for what must come at once; only a failing test ever waits that long."""

SOURCES = {"p1": "the first source", "p2": "the second source"}
KEY = AppliedKey(document="d", parent_id="p", digest="0", source_language="en", target_language="de", provider="x")

Use = Callable[[Runtime], Any]


@pytest.fixture
def runtime() -> Iterator[Runtime]:
    with Runtime(Settings(batch_units=1), dispatcher=SimulatedDispatcher()) as made:
        yield made
    assert made.close().clean
    assert made.close().counts.failed == 0


def request(**changes: Any) -> TranslationRequest:
    return TranslationRequest(
        **{"request_id": "r1", "session_id": "s1", "parents": SOURCES, "target_language": "de"} | changes
    )


class Asynchronous:
    async def complete(self, call: ProviderCall) -> Completion:
        return good_answer(call)


class Feature:
    """A feature whose name may be anything."""

    def __init__(self, document: Any) -> None:
        self.document = document

    def dispatch(self, _parent_id: str, _segments: tuple[str, ...]) -> tuple[()]:
        return ()


REFUSED: list[tuple[str, Use]] = [
    ("request", lambda runtime: runtime.translate({"request_id": "r1"})),  # type: ignore[arg-type]
    ("request", lambda runtime: runtime.translate(DirectRequest("r1", "s1", "a", "de"))),  # type: ignore[arg-type]
    ("request", lambda runtime: runtime.direct(request())),  # type: ignore[arg-type]
    ("provider", lambda runtime: runtime.translate(request(), provider="openai")),  # type: ignore[arg-type]
    ("provider", lambda runtime: runtime.direct(DirectRequest("r1", "s1", "a", "de"), provider=5)),  # type: ignore[arg-type]
    ("provider", lambda runtime: runtime.translate(request(), provider=Asynchronous())),
    ("feature", lambda runtime: runtime.translate(request(), feature={})),  # type: ignore[arg-type]
    ("feature", lambda runtime: runtime.translate(request(), feature=Feature(None))),
    ("feature", lambda runtime: runtime.translate(request(), feature=Feature(""))),
    ("progress", lambda runtime: runtime.translate(request(), progress=[])),  # type: ignore[arg-type]
    ("completion", lambda runtime: runtime.respond("r1/1")),
    ("completion", lambda runtime: runtime.respond("r1/1", Completion("a"), translations={"p1": "a"})),
    ("completion", lambda runtime: runtime.respond("r1/1", "a")),  # type: ignore[arg-type]
    ("completion", lambda runtime: runtime.respond("r1/1", Completion(5))),  # type: ignore[arg-type]
    ("translations", lambda runtime: runtime.respond("r1/1", translations=["a"])),  # type: ignore[arg-type]
    ("translations", lambda runtime: runtime.respond("r1/1", translations={"p1": None})),  # type: ignore[dict-item]
    ("translations", lambda runtime: runtime.respond("r1/1", translations={"p1": ["a", 5]})),  # type: ignore[list-item]
    ("translations", lambda runtime: runtime.respond("r1/1", translations={5: "a"})),  # type: ignore[dict-item]
    ("termination", lambda runtime: runtime.respond("r1/1", translations={"p1": "a"}, termination="ENDED")),  # type: ignore[arg-type]
    ("termination", lambda runtime: runtime.respond("r1/1", Completion("a"), termination=["NORMAL"])),  # type: ignore[arg-type]
    *(
        ("call", lambda runtime, call=call: runtime.respond(call, Completion("a")))
        for call in (None, 1, "r1", "", "r1/", "r1/x", "r1/-1", "r1/1 ", "r1/٣", "r1/²", "r1/1234567890123")
    ),
    *(
        ("error", lambda runtime, error=error: runtime.fail("r1/1", error))
        for error in (None, 5, "", "network_error", "NETWORK ERROR", "_", "É")
    ),
    ("call", lambda runtime: runtime.fail("r1", "NETWORK_ERROR")),
    ("request_id", lambda runtime: runtime.time_out(None)),  # type: ignore[arg-type]
    ("request_id", lambda runtime: runtime.request_outcome(b"r1")),  # type: ignore[arg-type]
    ("key", lambda runtime: runtime.find_applied(("d", "p"))),  # type: ignore[arg-type]
    ("key", lambda runtime: runtime.find_applied(attrs.evolve(KEY, document=None))),  # type: ignore[arg-type]
]


@pytest.mark.parametrize(("field", "use"), REFUSED)
def test_a_wrong_argument_is_refused_at_once_and_by_its_name(runtime: Runtime, field: str, use: Use) -> None:
    with pytest.raises(InvalidArgument) as refused:
        use(runtime)
    assert refused.value.field == field
    assert runtime.snapshot().running == ()


@pytest.mark.parametrize("call", ["r1/1", "/1", "r1/0", "r1/01", "r1/1/2", "r1/999999999999"])
def test_an_answer_to_a_call_that_was_never_made_is_no_wrong_argument(runtime: Runtime, call: str) -> None:
    with pytest.raises(UnknownCall):
        runtime.respond(call, Completion("a")).get()


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"request_id": None}, "request_id"),
        ({"session_id": 5}, "session_id"),
        ({"target_language": None}, "target_language"),
        ({"source_language": ""}, "source_language"),
        ({"provider": ["openai"]}, "provider"),
        ({"mode": b"mode"}, "mode"),
        ({"purpose": None}, "purpose"),
        ({"parents": None}, "parents"),
        ({"parents": {}}, "parents"),
        ({"parents": ["p1", "p2"]}, "parents"),
        ({"parents": {"p1": {"k": "v"}}}, "parents[0].source"),
        ({"parents": {"p1": {"v"}}}, "parents[0].source"),
        ({"parents": {"p1": frozenset("v")}}, "parents[0].source"),
        ({"parents": {"p1": []}}, "parents[0].source"),
        ({"parents": {"p1": ["", ""]}}, "parents[0].source"),
        ({"parents": {"p1": ["a", None]}}, "parents[0].source"),
        ({"parents": {"p1": b"abc"}}, "parents[0].source"),
        ({"parents": {"p1": 5}}, "parents[0].source"),
        ({"parents": {5: "a"}}, "parents[0].id"),
        ({"parents": (("p1", "a"), ("p1", "b"))}, "parents[1].id"),
    ],
    ids=repr,
)
def test_a_request_that_is_not_valid_is_refused_with_the_field_as_the_reason(
    runtime: Runtime, changes: dict[str, Any], named: str
) -> None:
    running = runtime.translate(request(**changes), provider=ScriptedProvider())
    reply = running.started.get()
    assert reply.status is StartStatus.INVALID_HANDOFF
    assert (reply.reason or "").startswith(named)
    with pytest.raises(TranslationRefused) as refused:
        running.get()
    assert (refused.value.status, refused.value.reason) == ("INVALID_HANDOFF", reply.reason)
    assert runtime.snapshot().running == ()


@pytest.mark.parametrize("source", [None, "", 5, ["a"], b"a"])
def test_a_direct_source_that_is_no_text_is_refused_with_the_field_as_the_reason(runtime: Runtime, source: Any) -> None:
    reply = runtime.direct(DirectRequest("r1", "s1", source, "de"), provider=ScriptedProvider()).started.get()
    assert (reply.status, (reply.reason or "").split()[0]) == ("INVALID_HANDOFF", "source")


class Name(enum.StrEnum):
    REQUEST = "r1"
    SESSION = "s1"
    PARENT = "p1"
    LANGUAGE = "de"
    SOURCE = "the first source"
    TEXT = "der erste Text"


class Sly(str):
    """A text that shows, compares and hashes as another one."""

    __slots__ = ()

    def __str__(self) -> str:
        return "something else"

    def __eq__(self, _other: object) -> bool:
        return False

    def __hash__(self) -> int:
        return 1

    def __len__(self) -> int:
        return 0


@pytest.mark.parametrize("kind", [str, Sly, Name], ids=["text", "sly text", "enumeration"])
def test_a_text_of_a_subclass_is_taken_for_what_it_is(runtime: Runtime, kind: Callable[[str], str]) -> None:
    document = TextDocument({"p1": "the first source"})
    provider = ScriptedProvider()
    wanted = TranslationRequest(kind("r1"), kind("s1"), {kind("p1"): kind("the first source")}, kind("de"))
    running = runtime.translate(wanted, provider=provider, feature=document)
    running.started.get()
    (call,) = provider.calls
    assert (call.id, call.units[0].text, call.target_language) == ("r1/1", "the first source", "de")
    runtime.respond(kind("r1") + "/1", translations={kind("p1"): kind("der erste Text")}).get()
    outcome = running.get()
    assert (outcome.request_id, dict(outcome.translations)) == ("r1", {"p1": ("der erste Text",)})
    assert running.request_id == "r1"
    assert type(running.request_id) is str
    (turn,) = runtime.history(kind("s1")).get()
    assert [type(text) for text in (turn.request_id, turn.parent_id, turn.user, turn.assistant)] == [str] * 4
    assert (document["p1"], turn.assistant) == ("der erste Text", "der erste Text")
    found = runtime.request_outcome(kind("r1")).get()
    assert found is not None
    assert found.request_id == "r1"


def test_what_the_caller_changes_later_changes_no_request(runtime: Runtime) -> None:
    segments = ["the ", "first"]
    parents: dict[str, Any] = {"p1": segments}
    wanted = request(parents=parents)
    provider = ScriptedProvider()
    segments[0] = "changed "
    parents["p2"] = "added"
    running = runtime.translate(wanted, provider=provider)
    parents.clear()
    running.started.get()
    assert [call.units[0].texts for call in provider.calls] == [("the ", "first")]
    answer: dict[str, Any] = {"p1": ["der ", "erste"]}
    answered = runtime.respond("r1/1", translations=answer)
    answer["p1"].clear()
    answer.clear()
    answered.get()
    assert running.get().translations["p1"] == ("der ", "erste")


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value))])
def test_what_the_runtime_answers_can_be_copied_and_sent_elsewhere(
    runtime: Runtime, copied: Callable[[Any], Any]
) -> None:
    wanted = request(parents={"p1": "the first source", "p2": ["the ", "second"]})
    events: list[ParentEvent] = []
    feature = TextDocument(SOURCES, refuse=["p2"])
    running = runtime.translate(wanted, provider=ScriptedProvider(), feature=feature, progress=events.append)
    started = running.started.get()
    for number, text in ((1, "der erste"), (2, ["der ", "zweite"])):
        runtime.respond(f"r1/{number}", translations={f"p{number}": text}).get()
    answers = [
        *(wanted, started, StartReply(StartStatus.INVALID_HANDOFF, "a reason"), running.get(), *events),
        *(runtime.request_outcome("r1").get(), runtime.statistics().get(), runtime.request_status("r1").get()),
        *runtime.history("s1").get(),
    ]
    assert len(events) == 4
    for value in answers:
        twin = copied(value)
        assert (type(twin), twin, hash(twin)) == (type(value), value, hash(value))
    assert copied(running.get()).text("p2") == "der zweite"


@pytest.mark.parametrize(
    "error",
    [
        TranslationRefused("INVALID_HANDOFF", "a reason"),
        TranslationRefused("OVERLOADED"),
        UnknownCall("r1/7"),
        ProviderError("NETWORK_ERROR"),
        DispatchFailed(),
        ParentRefused(),
    ],
    ids=repr,
)
@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value))])
def test_an_error_of_an_execution_can_be_copied(error: DragomanError, copied: Callable[[Any], Any]) -> None:
    twin = copied(error)
    assert (type(twin), str(twin), vars(twin)) == (type(error), str(error), vars(error))


CLOSED: list[Use] = [
    lambda runtime: runtime.translate(request()),
    lambda runtime: runtime.translate(request(parents={})),
    lambda runtime: runtime.direct(DirectRequest("r1", "s1", "a", "de")),
    lambda runtime: runtime.respond("r1/1", Completion("a")),
    lambda runtime: runtime.respond("r1/1", translations={"p1": "a"}),
    lambda runtime: runtime.fail("r1/1", "NETWORK_ERROR"),
    lambda runtime: runtime.time_out("r1"),
    lambda runtime: runtime.cancel("r1"),
    lambda runtime: runtime.request_outcome("r1"),
    lambda runtime: runtime.statistics(),
    lambda runtime: runtime.feature_history(),
    lambda runtime: runtime.find_applied(KEY),
    lambda runtime: runtime.snapshot(),
]


@pytest.mark.parametrize("use", CLOSED)
def test_a_closed_runtime_executes_nothing(runtime: Runtime, use: Use) -> None:
    runtime.close()
    with pytest.raises(RuntimeClosed):
        use(runtime)


class Hanging:
    """An asynchronous provider that never answers."""

    def __init__(self) -> None:
        self.called, self.ended = threading.Event(), threading.Event()

    async def complete(self, _call: ProviderCall) -> Completion:
        self.called.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.ended.set()
        raise AssertionError


def test_a_forgotten_runtime_ends_what_it_executes() -> None:
    before = set(threading.enumerate())
    provider = Hanging()
    runtime = Runtime()
    running = runtime.translate(request(), provider=provider, feature=TextDocument(SOURCES))
    assert provider.called.wait(PATIENCE_S)
    threads = [thread for thread in threading.enumerate() if thread not in before]
    assert "dragoman-provider-calls" in {thread.name for thread in threads}
    gone = weakref.ref(runtime)
    del runtime
    gc.collect()
    assert gone() is None
    with pytest.raises(DragomanError):
        running.get(PATIENCE_S)
    assert provider.ended.wait(PATIENCE_S)
    for thread in threads:
        thread.join(PATIENCE_S)
    assert not any(thread.is_alive() for thread in threads)


class Unruly(TextDocument):
    """Fails with the texts that it was given, and keeps what it saw."""

    def dispatch(self, parent_id: str, segments: tuple[str, ...]) -> Any:
        if parent_id == "p2":
            raise LookupError(*segments)
        return super().dispatch(parent_id, segments)


def test_a_whole_run_shows_no_text_in_a_repr_or_in_the_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dragoman.actors.operation.longest_delay_us", lambda _attempt: 0)
    secrets = {"p1": "Bernina Zephyr", "p2": "Quagga Fjordland"}
    seen: list[Any] = []

    class Telling:
        async def complete(self, call: ProviderCall) -> Completion:
            completion = good_answer(call)
            seen.extend((call, *call.units, completion))
            if call.attempt == 1:
                raise ValueError(call.body, completion.text)
            return completion

    def progress(event: ParentEvent) -> None:
        seen.append(event)
        raise RuntimeError(*event.segments, secrets["p1"])

    settings = Settings(batch_units=1, feature_history=str(tmp_path / "history"))
    with LogWatch() as watch, Runtime(settings) as runtime:
        document, wanted = Unruly(secrets), request(parents=secrets)
        running = runtime.translate(wanted, provider=Telling(), feature=document, progress=progress)
        outcome = running.get(PATIENCE_S)
        direct = DirectRequest("r2", "s1", secrets["p2"], "de")
        seen += [wanted, direct, running, outcome, document, runtime, runtime.snapshot(PATIENCE_S)]
        seen += [runtime.direct(direct, provider=Telling()).get(PATIENCE_S), *outcome.completions, *outcome.diagnostics]
        seen += [runtime.request_outcome("r1").get(PATIENCE_S), runtime.statistics().get(PATIENCE_S)]
        seen += [*runtime.history("s1").get(PATIENCE_S), *runtime.feature_history().get(PATIENCE_S)]
        assert (outcome.quality, len(runtime.feature_history().get(PATIENCE_S))) == ("COMPLETE", 1)
        raised = [line for line in watch.messages if "raised" in line or "failed" in line]
        words = {word for text in secrets.values() for both in (text, str(mapped(text))) for word in both.split()}
        assert len(raised) >= 6
        assert not watch.leaks(words, ids=())
    shown = [*map(repr, seen), *map(str, seen)]
    assert not [line for line in shown if any(word in line for word in words)]
