"""What is told of the parents on the way (C21): in order, to whoever reads, and without effect on the request."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterator
from typing import Any

import pytest

from dragoman import (
    DirectRequest,
    ParentEvent,
    Runtime,
    ScriptedProvider,
    Settings,
    SimulatedDispatcher,
    TextDocument,
    Translation,
    TranslationRequest,
)

PATIENCE_S = 20.0
"""How long a test waits for what must come at once; only a failing test ever waits that long."""

SOURCES = {"p1": "one", "p2": "two", "p3": "three"}


@pytest.fixture
def runtime() -> Iterator[Runtime]:
    with Runtime(Settings(batch_units=1, execution_timeout=60.0), dispatcher=SimulatedDispatcher()) as made:
        yield made
    assert made.close().clean
    assert made.close().counts.failed == 0


def begin(runtime: Runtime, feature: TextDocument | None = None, progress: Any = None) -> Translation:
    request = TranslationRequest("r1", "s1", SOURCES, "de")
    running = runtime.translate(request, provider=ScriptedProvider(), feature=feature, progress=progress)
    running.started.get()
    return running


def answer(runtime: Runtime, *numbers: int) -> None:
    for number in numbers:
        runtime.respond(f"r1/{number}", translations={f"p{number}": f"P{number}"}).get()


def told(events: list[ParentEvent]) -> list[str]:
    return [f"{event.parent_id} {event.kind}" for event in events]


def in_time(test: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(test, PATIENCE_S))


async def rest_of(running: Translation) -> list[ParentEvent]:
    return [event async for event in running.events()]


def test_a_parent_is_dispatched_before_it_is_acknowledged(runtime: Runtime) -> None:
    events: list[ParentEvent] = []
    begin(runtime, TextDocument(SOURCES, refuse=["p2"]), events.append)
    answer(runtime, 3, 2, 1)
    wanted = ("p3 DISPATCHED", "p3 ACCEPTED", "p2 DISPATCHED", "p2 REJECTED", "p1 DISPATCHED", "p1 ACCEPTED")
    assert told(events) == list(wanted)
    assert [event.segments for event in events] == [("P3",), (), ("P2",), (), ("P1",), ()]


def test_a_parent_is_told_as_accepted_once_its_turn_can_be_read(runtime: Runtime) -> None:
    seen: list[tuple[str, int]] = []

    def look(event: ParentEvent) -> None:
        sessions: Any = runtime._crew.sessions.actor
        seen.append((str(event.kind), len(list(sessions._sessions["s1"].turns))))

    begin(runtime, TextDocument(SOURCES), look)
    answer(runtime, 1)
    assert seen == [("DISPATCHED", 0), ("ACCEPTED", 1)]


def test_a_request_without_a_feature_tells_what_the_caller_is_to_acknowledge(runtime: Runtime) -> None:
    events: list[ParentEvent] = []
    begin(runtime, None, events.append)
    answer(runtime, 2)
    assert [(event.parent_id, event.kind, event.segments) for event in events] == [("p2", "DISPATCHED", ("P2",))]


def test_a_parent_whose_batch_failed_is_told_as_unresolved(runtime: Runtime) -> None:
    events: list[ParentEvent] = []
    begin(runtime, TextDocument(SOURCES), events.append)
    runtime.fail("r1/2", "VALIDATION").get()
    answer(runtime, 1, 3)
    assert told(events)[0] == "p2 UNRESOLVED"
    assert told(events).count("p2 UNRESOLVED") == 1


@pytest.mark.parametrize("answered", [0, 1])
def test_the_open_parents_of_a_request_that_timed_out_are_told_as_unresolved(runtime: Runtime, answered: int) -> None:
    events: list[ParentEvent] = []
    running = begin(runtime, TextDocument(SOURCES), events.append)
    answer(runtime, *range(1, answered + 1))
    dispatcher = runtime.dispatcher
    assert isinstance(dispatcher, SimulatedDispatcher)
    dispatcher.advance(60_000_000)
    assert running.get().error == "TRANSLATION_TIMEOUT"
    assert told(events)[2 * answered :] == [f"p{number} UNRESOLVED" for number in range(answered + 1, 4)]


def test_each_parent_of_a_request_that_failed_as_a_whole_is_told_as_unresolved_once(runtime: Runtime) -> None:
    events: list[ParentEvent] = []
    running = begin(runtime, TextDocument(SOURCES), events.append)
    for number in (2, 1, 3):
        runtime.fail(f"r1/{number}", "VALIDATION").get()
    assert (running.get().execution, running.get().unresolved) == ("FAILED", ("p1", "p2", "p3"))
    assert sorted(told(events)) == ["p1 UNRESOLVED", "p2 UNRESOLVED", "p3 UNRESOLVED"]


def test_the_parents_of_a_request_that_was_cancelled_are_not_unresolved(runtime: Runtime) -> None:
    events: list[ParentEvent] = []
    running = begin(runtime, TextDocument(SOURCES), events.append)
    answer(runtime, 1)
    runtime.cancel("r1").get()
    assert running.get().cancelled == ("p2", "p3")
    assert told(events) == ["p1 DISPATCHED", "p1 ACCEPTED"]


@pytest.mark.parametrize("fault", [LookupError, SystemExit, GeneratorExit, asyncio.CancelledError, StopIteration])
def test_a_progress_callback_that_raises_changes_nothing(runtime: Runtime, fault: type[BaseException]) -> None:
    calls: list[ParentEvent] = []

    def raises(event: ParentEvent) -> None:
        calls.append(event)
        raise fault

    document = TextDocument(SOURCES)
    running = begin(runtime, document, raises)
    answer(runtime, 1, 2, 3)
    assert running.get().quality == "COMPLETE"
    assert document.texts() == {"p1": "P1", "p2": "P2", "p3": "P3"}
    assert [turn.assistant for turn in runtime.history("s1").get()] == ["P1", "P2", "P3"]
    assert len(calls) == 6
    in_time(_all_are_read(running))


async def _all_are_read(running: Translation) -> None:
    assert len(await rest_of(running)) == 6


def test_a_keyboard_interrupt_in_a_progress_callback_reaches_the_program_and_changes_nothing(
    runtime: Runtime,
) -> None:
    def interrupted(event: ParentEvent) -> None:
        if event.kind == "ACCEPTED":
            raise KeyboardInterrupt

    running = begin(runtime, TextDocument(SOURCES), interrupted)
    with pytest.raises(KeyboardInterrupt):
        answer(runtime, 1)
    for number in (2, 3):
        runtime.respond(f"r1/{number}", translations={f"p{number}": "text"})
    with pytest.raises(KeyboardInterrupt):
        running.get()
    assert running.get().quality == "COMPLETE"


def test_an_iteration_that_was_left_does_not_keep_the_next_one_from_being_woken(runtime: Runtime) -> None:
    async def main() -> None:
        running = begin(runtime, TextDocument(SOURCES))
        answer(runtime, 1)
        left: Any = running.events()
        assert told([await anext(left)]) == ["p1 DISPATCHED"]
        following = asyncio.ensure_future(rest_of(running))
        await asyncio.sleep(0)
        # As asyncio does, later, with a generator that a loop has broken out of.
        await left.aclose()
        answer(runtime, 2, 3)
        wanted = ("p1 ACCEPTED", "p2 DISPATCHED", "p2 ACCEPTED", "p3 DISPATCHED", "p3 ACCEPTED")
        assert told(await following) == list(wanted)

    in_time(main())


def test_an_iteration_goes_on_where_a_break_left_the_one_before(runtime: Runtime) -> None:
    async def main() -> None:
        running = begin(runtime, TextDocument(SOURCES))
        seen: list[ParentEvent] = []
        for number in (1, 2, 3):
            answer(runtime, number)
            async for event in running.events():
                seen.append(event)
                if event.kind == "ACCEPTED":
                    break
        assert told(seen) == [f"p{number} {kind}" for number in (1, 2, 3) for kind in ("DISPATCHED", "ACCEPTED")]
        assert await rest_of(running) == []

    in_time(main())


def test_each_event_is_read_once(runtime: Runtime) -> None:
    async def main() -> None:
        running = begin(runtime, TextDocument(SOURCES))
        answer(runtime, 1, 2, 3)
        assert len(await rest_of(running)) == 6
        assert await rest_of(running) == []
        assert (await running).quality == "COMPLETE"

    in_time(main())


def test_events_are_read_while_they_come_and_end_with_the_outcome(runtime: Runtime) -> None:
    async def main() -> None:
        running = begin(runtime, TextDocument(SOURCES))
        events = running.events()
        for number in (1, 2, 3):
            for kind in ("DISPATCHED", "ACCEPTED"):
                waiting = asyncio.ensure_future(anext(events))
                await asyncio.sleep(0)
                assert waiting.done() == (kind == "ACCEPTED")
                if kind == "DISPATCHED":
                    answer(runtime, number)
                assert told([await waiting]) == [f"p{number} {kind}"]
        assert [event async for event in events] == []
        assert running.done

    in_time(main())


def test_events_that_nobody_reads_are_all_kept(runtime: Runtime) -> None:
    async def main() -> None:
        running = begin(runtime, TextDocument(SOURCES))
        answer(runtime, 1, 2, 3)
        await running
        assert len(await rest_of(running)) == 2 * len(SOURCES)

    in_time(main())


def test_a_direct_call_has_an_outcome_and_no_events(runtime: Runtime) -> None:
    async def main() -> None:
        running = runtime.direct(DirectRequest("r1", "s1", "one", "de"), provider=ScriptedProvider())
        running.started.get()
        runtime.respond("r1/1", translations={"r1": "eins"})
        assert await rest_of(running) == []
        assert (await running).text() == "eins"

    in_time(main())
