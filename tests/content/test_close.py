"""What may befall recording: many callers at once, a store that fails, the end of the runtime (P, design 3).

The outcome of an ACK and of what is recorded is never changed by it, and nobody waits for ever.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import random
import sys
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from dragoman import (
    ActorFailed,
    ActorStopped,
    Call,
    CallRecord,
    ContentRefNotFound,
    DragomanError,
    Handoff,
    Outcome,
    Parent,
    Runtime,
    RuntimeClosed,
    Settings,
    SimulatedDispatcher,
)
from dragoman.actors.content_store import ContentStore
from dragoman.protocol.content_messages import (
    CountMiss,
    CountSkip,
    DescribeCalls,
    DropContent,
    Refer,
    RefTurns,
    RenderRecords,
    Resolve,
    StoreCall,
    StoreTurns,
    Summarise,
)
from dragoman.protocol.governance_messages import ApplyRetention
from dragoman.scenarios.logs import LogWatch

from ..kernel.probes import PATIENCE_S, Block, Countdown, dragoman_threads, in_threads
from . import stage

PLAN: dict[str, Any] = {"steps": ["mix", "knead"], "minutes": 40}
MAINTAINERS = ("mira", "tomas")


class Failing(Exception):
    pass


simulated = functools.partial(stage.simulated, maintainers=MAINTAINERS)


@pytest.fixture
def threaded() -> Iterator[Runtime]:
    with Runtime(Settings(max_call_records=1000, store_max_entries=1000, maintainers=MAINTAINERS)) as made:
        yield made
    assert made.close().clean
    assert made.close().counts.failed == 0
    assert dragoman_threads() == []


def record(runtime: Runtime, name: str, value: Any = "a result", session: str = "s1", **changes: Any) -> CallRecord:
    return runtime.record_call(session, Call(name, **changes), Outcome.ok(value)).get(PATIENCE_S)


def register(runtime: Runtime, request: str, session: str = "s1") -> None:
    parents = (Parent("p1", 0, "source"),)
    runtime.register(Handoff(request, session, "openai", "select-element", parents)).get(PATIENCE_S)


def missing(runtime: Runtime, name: str) -> str:
    with pytest.raises(ContentRefNotFound) as miss:
        runtime.content("s1", name).get(PATIENCE_S)
    return miss.value.reason


def test_many_threads_record_by_hand_at_once_and_a_taken_id_is_recorded_once(threaded: Runtime) -> None:
    replies: list[CallRecord] = []

    def many(caller: int) -> None:
        replies.extend(record(threaded, f"c{number}", caller) for number in range(40))

    in_threads(*(functools.partial(many, caller) for caller in range(5)))
    winners = {told.id: told for told in replies if told.reason is None}
    assert len(winners) == 40
    assert [told.reason for told in replies if told.reason is not None] == ["duplicate_call"] * 160
    assert {told.id: told for told in threaded.calls("s1").get(PATIENCE_S)} == winners
    counters = threaded.snapshot(PATIENCE_S).store.counters
    assert (counters.writes, counters.skips) == (40, 160)


def test_many_tasks_record_at_once(threaded: Runtime) -> None:
    async def many() -> None:
        calls = [Call(f"c{number}") for number in range(200)]
        told = await asyncio.gather(*(threaded.record_call("s1", call, Outcome.ok(call.id)) for call in calls))
        assert [one.id for one in told] == [call.id for call in calls]
        found = await asyncio.gather(*(threaded.content("s1", one.content_ref or "") for one in told))
        assert found == [call.id for call in calls]

    asyncio.run(asyncio.wait_for(many(), PATIENCE_S))


STORE_MESSAGES = (
    *(StoreTurns, StoreCall, Refer, CountSkip, CountMiss, Resolve, RefTurns, DescribeCalls, RenderRecords),
    *(DropContent, ApplyRetention, Summarise),
)


def fail(*_arguments: object) -> None:
    raise RuntimeError("a fault")


def everything(runtime: Runtime, session: str) -> list[Any]:
    """Futures of whatever asks the store, posted together."""
    call, change = Call(f"{session}-c1"), {"store_max_entries": 100}
    name = f"{session}-q"
    return [
        runtime.record_call(session, call, Outcome.ok(PLAN)),
        runtime.record_call(session, call, Outcome.ok(PLAN)),
        runtime.record_call(session, Call(f"{session}-c2", depth=1), Outcome.ok(PLAN)),
        runtime.record_call(session, Call(f"{session}-c3"), Outcome.error("ValueError", "no")),
        runtime.refer(session, f"{session}-c1", f"{session}-c2"),
        runtime.content(session, f"{session}-c1"),
        runtime.content(session, "nobody"),
        runtime.follow_up(session, "again"),
        runtime.follow_up(session, f"show {session}-c2"),
        runtime.follow_up(session, f"show {session}-c3"),
        runtime.calls(session),
        runtime.content_prompt(session),
        runtime.continuity_report(),
        runtime.history(session),
        *(runtime.propose(name, "scout", change, "evidence", "back"), runtime.approve(name, "mira")),
        *(runtime.acknowledge_proposal(name, "tomas"), runtime.apply(name, "mira"), runtime.proposals()),
        *(runtime.retention_audit(), runtime.authority("mira")),
    ]


def test_every_message_of_the_store_is_made_to_fail_below() -> None:
    asked = {message for message in ContentStore.handlers if message.__module__.endswith("_messages")}
    assert asked == set(STORE_MESSAGES)


@pytest.mark.parametrize("message", STORE_MESSAGES)
def test_a_store_that_fails_changes_no_outcome_and_holds_nobody_up(
    message: type, monkeypatch: pytest.MonkeyPatch
) -> None:
    with simulated() as runtime:
        for request in ("r1", "r2", "r3"):
            register(runtime, request, f"s{request[1]}")
        monkeypatch.setitem(ContentStore.handlers, message, fail)

        @runtime.recorded("s1")
        def work(fails: bool) -> str:
            if fails:
                raise Failing
            return "a result"

        asked = everything(runtime, "s1")
        ack = runtime.acknowledge("r1", "p1", "Quelle")
        asked += everything(runtime, "s2")
        assert ack.get().committed == ("p1",)
        assert work(False) == "a result"
        with pytest.raises(Failing):
            work(True)
        for future in asked:
            with contextlib.suppress(ActorFailed, ContentRefNotFound):
                future.get()
        assert runtime.acknowledge("r2", "p1", "Quelle").get().committed == ("p1",)
        with contextlib.suppress(ActorFailed):
            runtime.history("s2").get()
        assert runtime.clear_session("s1").get().status == "CLEARED"
        assert runtime.request_status("r1").get().parents["p1"] == "COMMITTED"
        monkeypatch.undo()
        assert runtime.acknowledge("r3", "p1", "Quelle").get().committed == ("p1",)
        assert record(runtime, "later", PLAN, "s3").stored
        assert runtime.content("s3", "later").get() == PLAN
        assert [turn.assistant for turn in runtime.history("s2").get()] == ["Quelle"]
        assert runtime.snapshot().counts.failed > 0
    assert runtime.close().clean


def test_the_history_is_read_though_the_store_cannot_tell_the_refs(monkeypatch: pytest.MonkeyPatch) -> None:
    with simulated() as runtime:
        register(runtime, "r1")
        runtime.acknowledge("r1", "p1", "Quelle").get()
        monkeypatch.setitem(ContentStore.handlers, RefTurns, fail)
        assert [(turn.user, turn.assistant) for turn in runtime.history("s1").get()] == [("source", "Quelle")]
        assert [told["content"] for told in runtime.messages("s1").get()] == ["source", "Quelle"]


def test_a_call_stays_recorded_though_its_content_could_not_be_stored(monkeypatch: pytest.MonkeyPatch) -> None:
    with simulated() as runtime:
        with monkeypatch.context() as patch:
            patch.setitem(ContentStore.handlers, StoreCall, fail)
            with runtime.recorded("s1", id="c1") as call:
                call.result = PLAN
            with pytest.raises(ActorFailed):
                call.record.get()
        (told,) = runtime.calls("s1").get()
        assert (told.id, told.status, told.stored) == ("c1", "ok", False)
        assert record(runtime, "c1").reason == "duplicate_call"
        assert missing(runtime, "c1") in ("unknown", "not_stored")


def test_recording_after_the_end_of_the_runtime_changes_nothing_for_the_function() -> None:
    runtime = Runtime(dispatcher=SimulatedDispatcher())

    @runtime.recorded("s1")
    def answer(fails: bool) -> str:
        if fails:
            raise Failing
        return "a result"

    assert answer(False) == "a result"
    runtime.close()
    with LogWatch() as watch:
        assert answer(False) == "a result"
        assert len(watch.messages) == 1
        assert " in s1 was not recorded: RuntimeClosed" in watch.messages[0]
        with pytest.raises(Failing):
            answer(True)
        assert len(watch.messages) == 2
    with runtime.recorded("s1") as call, pytest.raises(RuntimeClosed):
        call.refer("c1")
    with pytest.raises(RuntimeClosed):
        call.record.get(0)


def test_an_end_of_the_runtime_in_the_middle_of_a_call_changes_nothing_for_it() -> None:
    runtime = Runtime()
    inside, closed = threading.Event(), threading.Event()
    results: list[int] = []

    @runtime.recorded("s1")
    def work() -> int:
        inside.set()
        assert closed.wait(PATIENCE_S)
        return 42

    def close() -> None:
        assert inside.wait(PATIENCE_S)
        runtime.close(PATIENCE_S)
        closed.set()

    in_threads(lambda: results.append(work()), here=close)
    assert results == [42]


def test_a_taken_id_changes_nothing_for_the_block() -> None:
    with simulated() as runtime:
        for number in (1, 2):
            with runtime.recorded("s1", id="c1") as call:
                call.result = number
        assert call.record.get().reason == "duplicate_call"
        assert runtime.content("s1", "c1").get() == 1


def test_what_was_asked_before_the_end_is_answered() -> None:
    runtime = Runtime(Settings(maintainers=MAINTAINERS, store_ttl=3600))
    register(runtime, "r1", "s0")
    ack = runtime.acknowledge("r1", "p1", "Quelle")
    asked = [future for number in range(8) for future in everything(runtime, f"s{number % 4}")]
    report = runtime.close(PATIENCE_S)
    assert report.clean
    assert report.counts.failed == 0
    assert ack.get(0).committed == ("p1",)
    for future in asked:
        assert future.done
        with contextlib.suppress(ContentRefNotFound):
            future.get(0)
    assert runtime.dispatcher.live_timers() == 0
    assert dragoman_threads() == []


def test_content_that_was_answered_can_still_be_read_after_the_end() -> None:
    with simulated() as runtime:
        record(runtime, "c1", PLAN)
        found, follow_up = runtime.content("s1", "c1"), runtime.follow_up("s1", "again")
        found.get()
        follow_up.get()
    assert found.get() == follow_up.get().value == PLAN


@pytest.mark.parametrize("interval_s", [5e-3, 1e-5])
def test_an_end_that_races_with_callers_leaves_nobody_waiting(interval_s: float) -> None:
    before = sys.getswitchinterval()
    sys.setswitchinterval(interval_s)
    try:
        for seed in range(4):
            _race(seed)
    finally:
        sys.setswitchinterval(before)


def _race(seed: int) -> None:
    runtime = Runtime(Settings(maintainers=MAINTAINERS, store_max_entries=10, max_sessions=3, store_ttl=0.001))
    under_way, ends, seeds = Countdown(3), list[str](), [3 * seed + place for place in range(3)]
    every: list[Any] = []

    def call(seed: int) -> None:
        choices = random.Random(seed)
        for number in range(100_000):
            try:
                asked = everything(runtime, f"s{choices.randrange(5)}-{seed}-{number % 7}")
            except RuntimeClosed:
                ends.append("refused")
                return
            every.extend(asked)
            if number == 3:
                under_way.count()
            for future in choices.sample(asked, 4):
                with contextlib.suppress(ContentRefNotFound, RuntimeClosed, ActorStopped):
                    future.get(PATIENCE_S)
        raise AssertionError("the runtime was never closed")

    def close() -> None:
        assert under_way.wait() == 0
        report = runtime.close(PATIENCE_S)
        assert (report.at_rest, report.threads_left, report.counts.failed) == (True, (), 0)

    in_threads(*(functools.partial(call, seed) for seed in seeds), here=close)
    assert ends == ["refused"] * 3
    assert all(future.done for future in every)
    assert dragoman_threads() == []


def test_an_end_under_asyncio_answers_what_was_asked() -> None:
    async def ask_and_close() -> list[Any]:
        async with Runtime() as runtime:
            asked = [asyncio.ensure_future(_answer(future)) for future in everything(runtime, "s1")]
        return await asyncio.wait_for(asyncio.gather(*asked), PATIENCE_S)

    assert not [answer for answer in asyncio.run(ask_and_close()) if isinstance(answer, Exception)]


async def _answer(future: Any) -> Any:
    try:
        return await future
    except ContentRefNotFound as miss:
        return miss.reason
    except DragomanError as error:
        return error


def test_a_store_that_is_stuck_is_left_behind_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    block = Block()
    monkeypatch.setitem(ContentStore.handlers, Resolve, lambda *_arguments: block())
    runtime = Runtime()
    finding = threading.Thread(target=runtime.content, args=("s1", "c1"), daemon=True)
    finding.start()
    try:
        assert block.entered.wait(PATIENCE_S)
        behind: list[Any] = [
            runtime.follow_up("s1", "show c1"),
            runtime.calls("s1"),
            runtime.content_prompt("s2"),
        ]
        report = runtime.close(0.2)
        assert not report.at_rest
        for future in behind:
            with pytest.raises((RuntimeClosed, ActorStopped)):
                future.get(PATIENCE_S)
    finally:
        block.release.set()
    for thread in (finding, *dragoman_threads()):
        thread.join(PATIENCE_S)
    assert dragoman_threads() == []
