"""Translations under asyncio: awaited, cancelled, followed by their events; and providers that misbehave."""

from __future__ import annotations

import asyncio
import functools
import threading
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from typing import Any

import pytest

from dragoman import (
    Completion,
    DirectRequest,
    ProviderCall,
    Runtime,
    RuntimeClosed,
    Settings,
    TextDocument,
    TranslationRefused,
    TranslationRequest,
)
from dragoman.protocol.failures import ProviderError
from dragoman.protocol.outcomes import ParentEventKind

from .fragments import good_answer

PATIENCE_S = 20.0
"""How long a test waits for what must come at once; only a failing test ever waits that long."""

Test = Callable[[Runtime], Coroutine[Any, Any, None]]


def under_asyncio(test: Test) -> Callable[[Runtime], None]:
    @functools.wraps(test)
    def run(runtime: Runtime) -> None:
        asyncio.run(asyncio.wait_for(test(runtime), PATIENCE_S))

    return run


class Provider:
    """A provider of one behaviour, which counts what becomes of its calls. To be made in the loop of the test."""

    def __init__(self, behaviour: Callable[[ProviderCall], Awaitable[object]]) -> None:
        self._behaviour = behaviour
        self._loop = asyncio.get_running_loop()
        self.called = asyncio.Event()
        self.begun = self.ended = self.cancelled = 0

    async def complete(self, call: ProviderCall) -> Completion:
        self.begun += 1
        self._loop.call_soon_threadsafe(self.called.set)
        try:
            return await self._behaviour(call)  # type: ignore[return-value]
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        finally:
            self.ended += 1


async def hangs(_call: ProviderCall) -> Completion:
    await asyncio.Event().wait()
    raise AssertionError


async def answers(call: ProviderCall) -> Completion:
    await asyncio.sleep(0)
    return good_answer(call)


def request(name: str = "r1", session: str = "s1") -> TranslationRequest:
    return TranslationRequest(name, session, {"p1": "ab", "p2": "ce"}, "de")


@pytest.fixture
def runtime(monkeypatch: pytest.MonkeyPatch) -> Iterator[Runtime]:
    """Its retries come at once; when it closes nothing is left."""
    monkeypatch.setattr("dragoman.actors.operation.longest_delay_us", lambda _attempt: 0)
    with Runtime(Settings(max_turns=1000, batch_units=1, circuit_failures=0)) as made:
        yield made
    assert made.close().clean
    assert "dragoman-provider-calls" not in {thread.name for thread in threading.enumerate()}


async def rest(runtime: Runtime, provider: Provider | None = None) -> None:
    """Wait until nothing runs and no call, task or timer is left but that of the sessions."""
    while True:
        left = await asyncio.to_thread(runtime.snapshot)
        if not (left.running or left.open_calls or left.provider_tasks or left.open_requests or left.live_timers > 1):
            break
        await asyncio.sleep(0)
    assert not left.counts.failed
    assert provider is None or provider.begun == provider.ended


@under_asyncio
async def test_a_translation_is_awaited(runtime: Runtime) -> None:
    provider, document = Provider(answers), TextDocument({"p1": "ab", "p2": "ce"})
    outcome = await runtime.translate(request(), provider=provider, feature=document)
    assert (outcome.execution, outcome.quality, outcome.calls) == ("COMPLETED", "COMPLETE", 2)
    assert [document["p1"], document["p2"]] == [turn.assistant for turn in await runtime.history("s1")]
    await rest(runtime, provider)


@under_asyncio
async def test_many_translations_run_at_once(runtime: Runtime) -> None:
    provider = Provider(answers)
    wanted = [request(f"r{number}", f"s{number % 3}") for number in range(60)]
    documents = [TextDocument({"p1": "ab", "p2": "ce"}) for _ in wanted]
    outcomes = await asyncio.gather(
        *(
            runtime.translate(one, provider=provider, feature=document)
            for one, document in zip(wanted, documents, strict=True)
        )
    )
    assert [outcome.request_id for outcome in outcomes] == [one.request_id for one in wanted]
    for session in range(3):
        turns = await runtime.history(f"s{session}", max_turns=1000)
        names = [f"r{number}" for number in range(session, 60, 3) for _ in "ab"]
        assert [turn.request_id for turn in turns] == names
    await rest(runtime, provider)


@under_asyncio
async def test_cancelling_the_task_that_awaits_cancels_the_request_and_the_task_of_the_provider(
    runtime: Runtime,
) -> None:
    provider = Provider(hangs)
    running = runtime.translate(request(), provider=provider)
    task = asyncio.create_task(_awaited(running))
    await provider.called.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    outcome = await asyncio.shield(running)
    assert (outcome.execution, outcome.error, outcome.cancelled) == ("CANCELLED", "USER_CANCELLED", ("p1", "p2"))
    await rest(runtime, provider)
    assert provider.cancelled == provider.begun
    assert (await runtime.request_status("r1")).cause == "CANCELLED"


@under_asyncio
async def test_a_wait_that_is_over_cancels_the_request(runtime: Runtime) -> None:
    provider = Provider(hangs)
    running = runtime.translate(request(), provider=provider)
    task = asyncio.create_task(_awaited(running))
    await provider.called.wait()
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(task, 0)
    assert (await running).error == "USER_CANCELLED"
    await rest(runtime, provider)


@under_asyncio
async def test_a_shielded_wait_ends_alone(runtime: Runtime) -> None:
    provider = Provider(hangs)
    running = runtime.translate(request(), provider=provider)
    task = asyncio.create_task(_shielded(running))
    await provider.called.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not running.done
    assert (await runtime.cancel("r1")).status == "DISPOSED"
    await rest(runtime, provider)


@under_asyncio
async def test_a_task_that_is_cancelled_before_its_request_has_started_cancels_it_all_the_same(
    runtime: Runtime,
) -> None:
    for number in range(30):
        provider = Provider(hangs)
        running = runtime.translate(request(f"r{number}"), provider=provider)
        task = asyncio.create_task(_awaited(running))
        await asyncio.sleep(0)
        task.cancel()
        assert (await running).error == "USER_CANCELLED"
        await rest(runtime, provider)


@under_asyncio
async def test_cancelling_the_wait_for_a_refused_start_leaves_the_first_request_alone(runtime: Runtime) -> None:
    provider = Provider(hangs)
    first = runtime.translate(request(), provider=provider)
    await first.started
    task = asyncio.create_task(_awaited(runtime.translate(request(), provider=provider)))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises((asyncio.CancelledError, TranslationRefused)):
        await task
    assert not first.done
    await runtime.cancel("r1")
    await rest(runtime, provider)


@under_asyncio
async def test_events_tell_each_parent_until_the_outcome_is_there(runtime: Runtime) -> None:
    provider, document = Provider(answers), TextDocument({"p1": "ab", "p2": "ce"}, refuse=["p2"])
    running = runtime.translate(request(), provider=provider, feature=document)
    seen = [(event.parent_id, event.kind) async for event in running.events()]
    assert sorted(seen) == [
        ("p1", ParentEventKind.ACCEPTED),
        ("p1", ParentEventKind.DISPATCHED),
        ("p2", ParentEventKind.DISPATCHED),
        ("p2", ParentEventKind.REJECTED),
    ]
    assert running.done


@under_asyncio
async def test_events_end_with_the_request_however_it_ends(runtime: Runtime) -> None:
    provider = Provider(hangs)
    running = runtime.translate(request(), provider=provider)

    async def read() -> list[object]:
        return [event async for event in running.events()]

    reader = asyncio.create_task(read())
    await provider.called.wait()
    await runtime.cancel("r1")
    assert await reader == []
    refused = runtime.translate(request(), provider=provider)
    assert [event async for event in refused.events()] == []
    with pytest.raises(TranslationRefused):
        await refused


@under_asyncio
async def test_leaving_the_events_early_changes_nothing(runtime: Runtime) -> None:
    provider, document = Provider(answers), TextDocument({"p1": "ab", "p2": "ce"})
    running = runtime.translate(request(), provider=provider, feature=document)
    async for _event in running.events():
        break
    assert (await running).quality == "COMPLETE"
    later = [event async for event in running.events()]
    assert len(later) == 3


def test_a_loop_that_closes_early_leaves_the_request_to_others(runtime: Runtime) -> None:
    class Plain:
        async def complete(self, call: ProviderCall) -> Completion:
            return await answers(call)

    async def begin() -> Any:
        running = runtime.translate(request(), provider=Plain())
        reader = asyncio.create_task(_first(running.events()))
        await asyncio.sleep(0)
        reader.cancel()
        return running

    assert asyncio.run(begin()).get(PATIENCE_S).quality == "COMPLETE"


async def _first(events: Any) -> object:
    return await anext(events)


async def _awaited(running: Any) -> Any:
    return await running


async def _shielded(running: Any) -> Any:
    return await asyncio.shield(_awaited(running))


async def names_an_error(_call: ProviderCall) -> Completion:
    raise ProviderError("QUOTA_EXCEEDED")


async def raises_anything(_call: ProviderCall) -> Completion:
    raise LookupError("private text")


async def cancels_itself(_call: ProviderCall) -> Completion:
    raise asyncio.CancelledError


async def returns_nonsense(_call: ProviderCall) -> object:
    return {"translations": []}


async def returns_bytes(_call: ProviderCall) -> object:
    return Completion(b"bytes")  # type: ignore[arg-type]


async def returns_nothing(_call: ProviderCall) -> object:
    return None


@pytest.mark.parametrize(
    ("behaviour", "error", "calls"),
    [
        (names_an_error, "QUOTA_EXCEEDED", 3),
        (raises_anything, "PROVIDER_FAULT", 2),
        (cancels_itself, "PROVIDER_FAULT", 2),
        (returns_nonsense, "PROVIDER_FAULT", 2),
        (returns_bytes, "PROVIDER_FAULT", 2),
        (returns_nothing, "PROVIDER_FAULT", 2),
    ],
)
def test_whatever_a_provider_does_its_request_has_an_outcome(
    runtime: Runtime, behaviour: Callable[[ProviderCall], Awaitable[object]], error: str, calls: int
) -> None:
    async def main() -> None:
        provider = Provider(behaviour)
        outcome = await runtime.direct(DirectRequest("r1", "s1", "ab", "de"), provider=provider)
        assert (outcome.execution, outcome.error, outcome.calls) == ("FAILED", error, calls)
        await rest(runtime, provider)
        assert (await runtime.statistics())["openai"].errors == calls

    asyncio.run(asyncio.wait_for(main(), PATIENCE_S))


def test_a_provider_that_answers_its_own_cancellation_is_too_late(runtime: Runtime) -> None:
    async def stubborn(call: ProviderCall) -> Completion:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            await asyncio.sleep(0)
        return good_answer(call)

    async def main() -> None:
        provider = Provider(stubborn)
        running = runtime.direct(DirectRequest("r1", "s1", "ab", "de"), provider=provider)
        await provider.called.wait()
        await runtime.cancel("r1")
        assert (await running).error == "USER_CANCELLED"
        await rest(runtime, provider)
        assert await runtime.history("s1") == ()
        assert (await runtime.statistics())["openai"].errors == 0

    asyncio.run(asyncio.wait_for(main(), PATIENCE_S))


def test_a_taker_of_calls_that_raises_has_failed_them(runtime: Runtime) -> None:
    class Taker:
        def take(self, call: ProviderCall) -> None:
            raise LookupError("private text")

    outcome = runtime.direct(DirectRequest("r1", "s1", "ab", "de"), provider=Taker()).get(PATIENCE_S)
    assert (outcome.error, outcome.calls) == ("PROVIDER_FAULT", 2)


def test_a_taker_that_answers_at_once_is_heard(runtime: Runtime) -> None:
    class Taker:
        def take(self, call: ProviderCall) -> None:
            runtime.respond(call.id, good_answer(call))

    document = TextDocument({"p1": "ab", "p2": "ce"})
    outcome = runtime.translate(request(), provider=Taker(), feature=document).get(PATIENCE_S)
    assert (outcome.quality, len(runtime.history("s1").get())) == ("COMPLETE", 2)


@under_asyncio
async def test_a_runtime_that_closes_ends_what_is_awaited(runtime: Runtime) -> None:
    provider = Provider(hangs)
    tasks = [
        asyncio.create_task(_awaited(runtime.translate(request(f"r{number}"), provider=provider)))
        for number in range(10)
    ]
    await provider.called.wait()
    assert (await runtime.aclose()).clean
    assert {outcome.error for outcome in await asyncio.gather(*tasks)} == {"SHUT_DOWN"}
    assert provider.begun == provider.ended
    with pytest.raises(RuntimeClosed):
        runtime.translate(request("late"), provider=provider)
