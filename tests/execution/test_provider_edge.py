"""Where a provider meets the runtime: what it raises and returns, what it calls, and answers that come twice."""

from __future__ import annotations

import asyncio
import enum
import gc
import random
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import attrs
import pytest

from dragoman import (
    ActorFailed,
    BlockingInHandler,
    CallFormat,
    Completion,
    DirectRequest,
    Future,
    ParentEvent,
    ProviderCall,
    Runtime,
    ScriptedProvider,
    Settings,
    SimulatedDispatcher,
    Termination,
    TextDocument,
    Translation,
    TranslationRequest,
)
from dragoman.actors.gateway import ProviderGateway, _Arrived

from .fragments import good_answer, mapped

PATIENCE_S = 20.0
"""How long a test waits for what must come at once; only a failing test ever waits that long."""

SOURCES = {"p1": "the first source", "p2": "the second source"}


class Provider:
    """A provider of one behaviour, which counts."""

    def __init__(self, behaviour: Callable[[ProviderCall], Awaitable[object]]) -> None:
        self._behaviour = behaviour
        self.called = threading.Event()
        self.begun = self.ended = 0

    async def complete(self, call: ProviderCall) -> Completion:
        self.begun += 1
        self.called.set()
        try:
            return await self._behaviour(call)  # type: ignore[return-value]
        finally:
            self.ended += 1


async def answers(call: ProviderCall) -> Completion:
    return good_answer(call)


async def hangs(_call: ProviderCall) -> Completion:
    await asyncio.Event().wait()
    raise AssertionError


@pytest.fixture
def runtime(monkeypatch: pytest.MonkeyPatch) -> Iterator[Runtime]:
    """On real threads; its retries come at once, and when it closes nothing is left."""
    monkeypatch.setattr("dragoman.actors.operation.longest_delay_us", lambda _attempt: 0)
    with Runtime(Settings(batch_units=1)) as made:
        yield made
    assert made.close().clean


def translate(
    runtime: Runtime, provider: Any, name: str = "r1", session: str = "s1", **others: Any
) -> tuple[Translation, TextDocument]:
    document = TextDocument(SOURCES)
    request = TranslationRequest(name, session, SOURCES, "de")
    return runtime.translate(request, provider=provider, feature=document, **others), document


def rest(runtime: Runtime) -> None:
    """Until nothing runs and no call or task is left."""
    until = time.monotonic() + PATIENCE_S
    while True:
        left = runtime.snapshot(PATIENCE_S)
        if not (left.running or left.open_calls or left.open_requests or left.provider_tasks):
            return
        assert time.monotonic() < until, left


class Odd(BaseException):
    """No `Exception`."""


@pytest.mark.parametrize("fault", [SystemExit, KeyboardInterrupt, GeneratorExit, Odd, StopIteration, MemoryError])
def test_whatever_a_provider_raises_fails_its_call_alone_and_is_not_printed(
    runtime: Runtime, fault: type[BaseException], capfd: pytest.CaptureFixture[str]
) -> None:
    async def raises(_call: ProviderCall) -> Completion:
        raise fault("private text")

    provider = Provider(raises)
    beside, _document = translate(runtime, Provider(hangs), "beside", "s2")
    outcome = translate(runtime, provider)[0].get(PATIENCE_S)
    assert (outcome.execution, outcome.error, outcome.calls) == ("FAILED", "PROVIDER_FAULT", provider.begun)
    assert not beside.done
    assert translate(runtime, Provider(answers), "r2")[0].get(PATIENCE_S).quality == "COMPLETE"
    runtime.cancel("beside").get(PATIENCE_S)
    rest(runtime)
    runtime.close()
    gc.collect()
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("fault", [None, SystemExit, LookupError])
def test_a_provider_that_forgets_to_be_asynchronous_fails_its_calls(
    runtime: Runtime, fault: type[BaseException] | None
) -> None:
    class Blunt:
        def complete(self, call: ProviderCall) -> Completion:
            if fault is not None:
                raise fault
            return good_answer(call)

    assert translate(runtime, Blunt())[0].get(PATIENCE_S).error == "PROVIDER_FAULT"
    assert translate(runtime, Provider(answers), "r2")[0].get(PATIENCE_S).quality == "COMPLETE"


def test_a_provider_cannot_close_the_runtime_that_calls_it(runtime: Runtime) -> None:
    async def closes(call: ProviderCall) -> Completion:
        with pytest.raises(BlockingInHandler):
            runtime.close(1)
        assert not runtime.closed
        return good_answer(call)

    assert translate(runtime, Provider(closes))[0].get(PATIENCE_S).quality == "COMPLETE"


def test_a_provider_may_ask_the_runtime_and_wait_for_the_answer(runtime: Runtime) -> None:
    seen: list[object] = []

    async def asks(call: ProviderCall) -> Completion:
        seen.append(runtime.history("s2").get(PATIENCE_S))
        seen.append(await runtime.history("s2"))
        inner, _document = translate(runtime, Provider(answers), f"{call.request_id}-{call.number}", "s2")
        seen.append((await inner).quality)
        return good_answer(call)

    running = runtime.direct(DirectRequest("r1", "s1", "ab", "de"), provider=Provider(asks))
    assert running.get(PATIENCE_S).text() == mapped("ab")
    assert seen == [(), (), "COMPLETE"]
    assert len(runtime.history("s2").get(PATIENCE_S)) == 2


def test_a_gateway_that_fails_half_way_leaves_no_call_open(runtime: Runtime, monkeypatch: pytest.MonkeyPatch) -> None:
    place, placed = ProviderGateway._place, list[str]()

    def half_way(self: ProviderGateway, call: ProviderCall, *values: Any) -> None:
        placed.append(call.id)
        if len(placed) == 2:
            raise ZeroDivisionError
        place(self, call, *values)

    monkeypatch.setattr(ProviderGateway, "_place", half_way)
    provider = Provider(hangs)
    with pytest.raises(ActorFailed):
        translate(runtime, provider)[0].get(PATIENCE_S)
    assert placed == ["r1/1", "r1/2"]
    rest(runtime)
    assert provider.begun == provider.ended
    assert translate(runtime, Provider(answers), "r2")[0].get(PATIENCE_S).quality == "COMPLETE"


class Word(str, enum.Enum):  # noqa: UP042  # the kind of text whose str() is another one
    ANSWER = "eine Antwort"


class Sly(str):
    """A text that shows and compares as another one."""

    __slots__ = ()

    def __str__(self) -> str:
        return "something else"

    def __eq__(self, _other: object) -> bool:
        return False

    __hash__ = str.__hash__


def _odd(**facts: Any) -> Completion:
    return Completion(Word.ANSWER, **facts)


@pytest.mark.parametrize(
    ("completion", "termination"),
    [
        (_odd(), "NORMAL"),
        (_odd(termination=["NORMAL"]), "UNKNOWN"),
        (_odd(termination="TRUNCATED"), "TRUNCATED"),
        (_odd(termination=None, model=["gpt"], input_tokens="3", output_tokens=-1), "UNKNOWN"),
        (_odd(input_tokens=True, output_tokens=1.5), "NORMAL"),
        (Completion(Sly("eine Antwort")), "NORMAL"),
    ],
)
def test_an_odd_completion_with_a_text_is_taken_for_what_it_is(
    runtime: Runtime, completion: Completion, termination: str
) -> None:
    async def odd(_call: ProviderCall) -> Completion:
        return completion

    outcome = runtime.direct(DirectRequest("r1", "s1", "a question", "de"), provider=Provider(odd)).get(PATIENCE_S)
    assert (outcome.error, type(outcome.text()), outcome.text()) == (None, str, "eine Antwort")
    (record,) = outcome.completions
    assert record.termination is Termination(termination)
    assert (record.model, record.input_tokens, record.output_tokens) == (None, None, None)
    (turn,) = runtime.history("s1").get(PATIENCE_S)
    assert (type(turn.assistant), turn.assistant) == (str, "eine Antwort")


@pytest.mark.parametrize(
    "completion",
    [Completion(5), Completion(texts="eine"), Completion(texts=(None,)), Completion(texts={"p1": "eins"})],  # type: ignore[arg-type]
)
def test_a_completion_that_holds_no_texts_is_a_fault_of_the_provider(runtime: Runtime, completion: Completion) -> None:
    async def odd(_call: ProviderCall) -> Completion:
        return completion

    assert translate(runtime, Provider(odd))[0].get(PATIENCE_S).error == "PROVIDER_FAULT"


@pytest.mark.parametrize("completion", [Completion(), Completion(texts=("eins", "zwei")), Completion(texts=())])
def test_an_answer_without_a_body_is_recovered_like_any_other_violation(
    runtime: Runtime, completion: Completion
) -> None:
    async def odd(call: ProviderCall) -> Completion:
        return completion if call.format is CallFormat.STRUCTURED else good_answer(call)

    outcome = translate(runtime, Provider(odd))[0].get(PATIENCE_S)
    assert (outcome.quality, outcome.calls) == ("COMPLETE", 4)


@attrs.define
class Race:
    """A translation in virtual time whose provider has an answer of its own, `p1` mapped, beside that by message."""

    runtime: Runtime
    running: Translation
    document: TextDocument
    events: list[ParentEvent]
    scripted: ScriptedProvider

    def arrive(self, call: ProviderCall) -> None:
        """The provider has answered, as the event loop tells it."""
        arrived = _Arrived(call.request_id, call.number, call.number, good_answer(call), None)
        self.runtime._crew.gateway.tell(arrived)

    def looks_like_one_answer(self, texts: dict[str, Any]) -> None:
        assert self.running.get().quality == "COMPLETE"
        assert self.document.texts() == texts
        turns = [(turn.parent_id, turn.assistant) for turn in self.runtime.history("s1").get()]
        assert turns == list(texts.items())
        told = [(event.parent_id, event.kind) for event in self.events]
        for parent in texts:
            assert [str(kind) for name, kind in told if name == parent] == ["DISPATCHED", "ACCEPTED"]
        assert self.runtime.request_status("r1").get().cause == "COMPLETED"
        left = self.runtime.snapshot()
        assert (left.running, left.open_calls, left.open_requests, left.counts.failed) == ((), (), (), 0)


@pytest.fixture
def begin() -> Iterator[Callable[[SimulatedDispatcher], Race]]:
    made: list[Runtime] = []

    def begin(dispatcher: SimulatedDispatcher) -> Race:
        runtime = Runtime(Settings(batch_units=1), dispatcher=dispatcher)
        made.append(runtime)
        scripted, events = ScriptedProvider(), list[ParentEvent]()
        running, document = translate(runtime, scripted, progress=events.append)
        running.started.get()
        return Race(runtime, running, document, events, scripted)

    yield begin
    assert [runtime.close().clean for runtime in made] == [True] * len(made)


@pytest.mark.parametrize(
    ("actor", "message"),
    [
        ("AcceptanceCoordinator", "AnswerCall"),
        ("TranslationService", "AnswerCall"),
        ("TranslationOperation(r1)", "AnswerCall"),
        ("TranslationOperation(r1)", "Granted"),
        ("ProviderGateway", "AnswerCall"),
    ],
)
def test_an_answer_by_message_that_is_overtaken_by_the_provider_changes_nothing(
    begin: Callable[[SimulatedDispatcher], Race], actor: str, message: str
) -> None:
    """The provider answers while the message is at each of its stations; at the last one it comes too late itself."""
    dispatcher = SimulatedDispatcher()
    race = begin(dispatcher)
    first, second = race.scripted.calls
    race.arrive(first)
    dispatcher.run()

    def watch(kind: str, name: str, what: Any) -> None:
        if (kind, name, type(what).__name__) == ("message", actor, message) and not arrived:
            arrived.append(second)
            race.arrive(second)

    arrived: list[ProviderCall] = []
    dispatcher.observer = watch
    assert race.runtime.respond(second.id, translations={"p2": "by hand"}).get() is None
    assert arrived
    too_late = actor == "ProviderGateway"
    race.looks_like_one_answer({"p1": mapped(SOURCES["p1"]), "p2": "by hand" if too_late else mapped(SOURCES["p2"])})


def test_of_two_answers_to_a_call_one_counts_whatever_the_schedule(
    begin: Callable[[SimulatedDispatcher], Race],
) -> None:
    for seed in range(100):
        rng = random.Random(seed)
        dispatcher = SimulatedDispatcher(seed, rng.randrange)
        race = begin(dispatcher)
        answered = list[Future[None]]()
        for call in rng.sample(race.scripted.calls, 2):
            by_message = rng.random() < 0.5
            for again in (by_message, not by_message):
                if again:
                    unit = call.units[0].id
                    answered.append(race.runtime.respond(call.id, translations={unit: "by hand"}))
                else:
                    race.arrive(call)
                for _ in range(rng.randrange(8)):
                    dispatcher._step(None)
        dispatcher.run()
        assert [one.get() for one in answered] == [None, None]
        texts = race.document.texts()
        assert all(text in ("by hand", mapped(SOURCES[parent])) for parent, text in texts.items())
        race.looks_like_one_answer(texts)


def test_a_taker_that_answers_and_then_raises_has_one_of_the_two_ends() -> None:
    for seed in range(100):
        dispatcher = SimulatedDispatcher(seed, random.Random(seed).randrange)
        with Runtime(Settings(batch_units=1), dispatcher=dispatcher) as runtime:
            answered = list[Future[None]]()

            class Taker:
                def take(
                    self, call: ProviderCall, runtime: Runtime = runtime, answered: list[Future[None]] = answered
                ) -> None:
                    answered.append(runtime.respond(call.id, good_answer(call)))
                    raise LookupError

            running, document = translate(runtime, Taker())
            running.started.get()
            dispatcher.advance(10_000_000)
            outcome = running.get()
            assert all(one.done for one in answered)
            assert outcome.error in (None, "PROVIDER_FAULT")
            turns = [(turn.user, turn.assistant) for turn in runtime.history("s1").get()]
            assert turns == [(SOURCES[parent], document[parent]) for parent in outcome.translated]
            left = runtime.snapshot()
            assert (left.running, left.open_calls, left.open_requests) == ((), (), ())


def test_an_answer_by_message_ends_the_call_that_the_provider_still_makes(runtime: Runtime) -> None:
    provider = Provider(hangs)
    running = runtime.direct(DirectRequest("r1", "s1", "ab", "de"), provider=provider)
    assert provider.called.wait(PATIENCE_S)
    assert runtime.respond("r1/1", Completion("by hand")).get(PATIENCE_S) is None
    assert running.get(PATIENCE_S).text() == "by hand"
    rest(runtime)
    assert (provider.begun, provider.ended) == (1, 1)


def test_an_answer_that_was_given_to_an_earlier_request_of_the_same_id_changes_nothing() -> None:
    dispatcher = SimulatedDispatcher()
    with Runtime(Settings(ledger_entries=0), dispatcher=dispatcher) as runtime:
        running, scripted = list[Translation](), ScriptedProvider()
        for _ in range(2):
            running.append(runtime.direct(DirectRequest("r1", "s1", "ab", "de"), provider=scripted))
            running[-1].started.get()
            if len(running) == 1:
                runtime.cancel("r1").get()
        runtime._crew.gateway.tell(_Arrived("r1", 1, 1, Completion("late"), None))
        dispatcher.run()
        assert not running[1].done
        runtime.respond("r1/1", Completion("in time")).get()
        assert running[1].get().text() == "in time"
