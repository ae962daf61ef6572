"""Where a recorded call begins in one place and ends in another, or brings what is no result (P phase 1.4)."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Awaitable, Iterator
from typing import Any

import pytest

from dragoman import (
    Call,
    ContentRefNotFound,
    InvalidArgument,
    Outcome,
    RecordedCall,
    Runtime,
    Settings,
    SkipReason,
)
from dragoman.actors.entries import Entries
from dragoman.scenarios.logs import LogWatch


@pytest.fixture
def runtime() -> Iterator[Runtime]:
    with Runtime() as runtime:
        yield runtime


def depths(runtime: Runtime) -> dict[str, tuple[int, str | None]]:
    return {record.id: (record.depth, record.parent) for record in runtime.calls("s1").get()}


def chunks(runtime: Runtime, name: str) -> Iterator[int]:
    with runtime.recorded("s1", id=name) as call:
        call.result = name
        yield from range(2)


def test_a_stream_that_is_taken_from_in_several_threads_is_recorded(runtime: Runtime) -> None:
    stream = chunks(runtime, "c1")
    taken: list[int] = []
    for _ in range(3):
        thread = threading.Thread(target=lambda: taken.extend([next(stream, -1)]))
        thread.start()
        thread.join()
    assert taken == [0, 1, -1]
    assert runtime.content("s1", "c1").get() == "c1"


def test_streams_that_are_taken_from_in_turn_leave_nothing_around_later_calls(runtime: Runtime) -> None:
    assert list(zip(chunks(runtime, "c1"), chunks(runtime, "c2"), strict=True)) == [(0, 0), (1, 1)]
    with runtime.recorded("s1", id="later") as call:
        call.result = 1
    assert depths(runtime)["later"] == (0, None)


def test_an_async_stream_under_a_time_limit_is_recorded(runtime: Runtime) -> None:
    async def stream() -> AsyncIterator[int]:
        with runtime.recorded("s1", id="c1") as call:
            call.result = "whole"
            yield 1
            yield 2

    async def main() -> list[int]:
        source = stream()
        return [await asyncio.wait_for(anext(source, -1), 60) for _ in range(3)]

    assert asyncio.run(main()) == [1, 2, -1]
    assert runtime.content("s1", "c1").get() == "whole"


def test_a_task_that_outlives_the_call_that_made_it_is_no_part_of_it(runtime: Runtime) -> None:
    async def step(number: int) -> None:
        with runtime.recorded("s1", id=f"c{number}") as call:
            call.result = number
            if number < 300:
                tasks.append(asyncio.ensure_future(step(number + 1)))

    tasks: list[Awaitable[None]] = []

    async def main() -> None:
        await step(1)
        for task in tasks:
            await task

    asyncio.run(main())
    assert set(depths(runtime).values()) == {(0, None)}


def test_tasks_that_overlap_keep_no_call_that_has_ended(runtime: Runtime) -> None:
    calls: list[RecordedCall] = []

    async def step(number: int) -> None:
        entered = asyncio.Event()
        with runtime.recorded("s1", id=f"c{number}") as call:
            calls.append(call)
            call.result = number
            following = asyncio.ensure_future(follow(number + 1, entered)) if number < 100 else None
            if following is not None:
                await entered.wait()
        if following is not None:
            await following

    async def follow(number: int, entered: asyncio.Event) -> None:
        asyncio.get_running_loop().call_soon(entered.set)
        await step(number)

    asyncio.run(step(1))
    kept, frame = 0, calls[-1]._frame
    while frame is not None:
        kept, frame = kept + 1, frame.outer
    assert len(calls) == 100
    assert kept < 5


def test_an_id_that_is_made_up_is_never_one_of_the_programs_own(runtime: Runtime) -> None:
    for number in range(5):
        runtime.record_call("s1", Call(f"ask-{number}"), Outcome.ok("mine")).get()
    with runtime.recorded("s1") as call:
        call.result = "the new answer"
    assert call.record.get().stored
    assert runtime.follow_up("s1", "the last answer").get().value == "the new answer"


def test_a_plain_function_that_gives_a_coroutine_is_recorded_by_what_that_gives(runtime: Runtime) -> None:
    async def answer() -> str:
        with runtime.recorded("s1", id="inner") as call:
            call.result = 1
        return "an answer"

    asked = runtime.recorded("s1", method="ask")(lambda: answer())
    assert asyncio.run(asked()) == "an answer"  # type: ignore[arg-type]
    (outer,) = (record for record in runtime.calls("s1").get() if record.method == "ask" and record.id != "inner")
    assert runtime.content("s1", outer.id).get() == "an answer"
    assert depths(runtime)["inner"] == (1, outer.id)


@pytest.mark.parametrize("result", ["nothing", "a generator", "a coroutine"])
def test_what_is_no_result_is_not_stored_as_one(runtime: Runtime, result: str) -> None:
    async def coroutine() -> None: ...

    unfinished = coroutine()
    with runtime.recorded("s1", id="c1") as call:
        if result == "a generator":
            call.result = (number for number in range(3))
        elif result == "a coroutine":
            call.result = unfinished
    unfinished.close()
    assert call.record.get().reason is SkipReason.SERIALIZATION_FAILED
    with pytest.raises(ContentRefNotFound):
        runtime.content("s1", "c1").get()


def test_null_is_a_result(runtime: Runtime) -> None:
    with runtime.recorded("s1", id="c1") as call:
        call.result = None
    assert call.record.get().stored
    assert runtime.content("s1", "c1").get() is None


class _Nameless(type):
    @property
    def __name__(cls) -> Any:
        return 5


def test_an_exception_that_cannot_say_what_it_is_is_raised_as_it_is(runtime: Runtime) -> None:
    class Odd(Exception, metaclass=_Nameless):
        def __str__(self) -> str:
            raise ValueError

    raised = Odd()
    with pytest.raises(Odd) as caught, runtime.recorded("s1", id="c1"):
        raise raised
    assert caught.value is raised
    assert runtime.calls("s1").get()[0].status == "error"


def test_a_call_knows_its_children_and_may_refer_to_them(runtime: Runtime) -> None:
    @runtime.recorded("s1")
    def speech(side: str) -> str:
        return f"{side} wakes."

    with runtime.recorded("s1") as verdict:
        speech("Tea")
        speech("Coffee")
        verdict.result = "coffee"
    assert verdict.refer(verdict.children[1]).get().stored
    assert [runtime.content("s1", verdict.children[1]).get()] == ["Coffee wakes."]


def test_the_call_that_runs_here_can_be_asked_for(runtime: Runtime) -> None:
    found: list[RecordedCall | None] = []

    @runtime.recorded("s1")
    def inner() -> None:
        found.append(runtime.current_call())
        found.append(runtime.current_call("s2"))

    with runtime.recorded("s2") as outer:
        inner()
    first, second = found
    assert first is not None
    assert (first.method, first.depth) == ("inner", 0)
    assert second is outer
    assert runtime.current_call() is None


def test_a_function_may_tell_its_session_from_its_arguments(runtime: Runtime) -> None:
    @runtime.recorded(lambda user, _question: f"session of {user}", method="ask")
    def ask(user: str, question: str) -> str:
        return f"{user}: {question}"

    ask("ann", "why?")
    ask("bob", "how?")
    for user in ("ann", "bob"):
        assert [record.method for record in runtime.calls(f"session of {user}").get()] == ["ask"]
    with pytest.raises(InvalidArgument, match="session_id"), runtime.recorded(lambda: "s1"):
        pass


def test_an_async_function_is_not_bound_to_a_thread() -> None:
    async def ask() -> None: ...

    with pytest.raises(InvalidArgument, match="async"):
        RecordedCall.bind(ask)


def test_keep_is_true_or_false(runtime: Runtime) -> None:
    with pytest.raises(InvalidArgument, match="keep"):
        runtime.recorded("s1", keep="yes")  # type: ignore[arg-type]


def test_a_record_is_there_only_when_the_call_has_ended(runtime: Runtime) -> None:
    with runtime.recorded("s1") as call, pytest.raises(InvalidArgument, match="not ended"):
        _ = call.record
    assert call.record.get().id == call.id


def test_a_value_may_be_as_large_as_an_applied_proposal_says() -> None:
    with Runtime(Settings(maintainers=("mira", "tomas"))) as runtime:
        change = {"store_max_bytes": 30_000_000, "store_total_bytes": 60_000_000}
        runtime.propose("q1", "scout", change, "large results", "back").get()
        runtime.approve("q1", "mira").get()
        runtime.acknowledge_proposal("q1", "tomas").get()
        runtime.apply("q1", "mira").get()
        record = runtime.record_call("s1", Call("c1"), Outcome.ok("x" * 20_000_000)).get()
        assert record.content_bytes == 20_000_002


def test_a_proposal_can_be_read_before_it_is_decided() -> None:
    with Runtime() as runtime:
        runtime.propose("q1", "scout", {"store_max_entries": 64}, "memory", "back to 128").get()
        proposal = runtime.proposal("q1").get()
        assert proposal is not None
        assert (proposal.by, proposal.change) == ("scout", (("store_max_entries", 64),))
        assert (proposal.evidence, proposal.rollback) == ("memory", "back to 128")
        assert runtime.proposal("q2").get() is None


def test_a_crowd_of_proposals_keeps_no_maintainer_from_theirs() -> None:
    with Runtime(Settings(maintainers=("mira",))) as runtime:
        for number in range(1000):
            runtime.propose(f"q{number}", "crowd", {"store_max_entries": 1}, "e", "r").get()
        refused = runtime.propose("more", "crowd", {"store_max_entries": 1}, "e", "r").get()
        assert refused.status == "INVALID_PROPOSAL"
        assert runtime.propose("mine", "mira", {"store_max_entries": 1}, "e", "r").get().status == "PROPOSED"


def test_the_tool_reads_nothing_that_is_too_large(runtime: Runtime) -> None:
    runtime.record_call("s1", Call("c1"), Outcome.ok("x" * 98)).get()
    assert runtime.content_tool("s1", max_bytes=100).run({"ref": "c1"}) == {"value": "x" * 98}
    told = runtime.content_tool("s1", max_bytes=99).run({"ref": "c1"})
    assert (told["error"], told["kind"], told["bytes"]) == ("too_large", "string", 100)


def test_one_record_that_is_too_long_hides_none_behind_it(runtime: Runtime) -> None:
    runtime.record_call("s1", Call("c1"), Outcome.ok(1)).get()
    runtime.record_call("s1", Call("c2", method="x" * 700), Outcome.ok(2)).get()
    refs = runtime.content_prompt("s1", max_chars=600).get()
    assert (refs.shown, refs.omitted) == (1, 1)
    assert refs.lines.startswith(f"{runtime.calls('s1').get()[0].content_ref} ")


def test_instructions_may_stand_elsewhere(runtime: Runtime) -> None:
    runtime.record_call("s1", Call("c1"), Outcome.ok(1)).get()
    refs = runtime.content_prompt("s1", instructions=False).get()
    assert refs.text == refs.lines


def test_names_are_bounded(runtime: Runtime) -> None:
    for field in ("id", "role", "method", "parent"):
        with pytest.raises(InvalidArgument, match=field):
            runtime.record_call("s1", Call(**{"id": "c1", field: "x" * 1001}), Outcome.ok(1))  # type: ignore[arg-type]


@pytest.mark.parametrize("session", [None, 5], ids=["nothing", "a number"])
def test_a_function_whose_session_nobody_can_tell_is_called_all_the_same(runtime: Runtime, session: object) -> None:
    def session_of(_question: str) -> Any:
        return session

    @runtime.recorded(session_of)
    def ask(question: str) -> str:
        return f"{question}!"

    @runtime.recorded(session_of)
    async def ask_later(question: str) -> str:
        return f"{question}!"

    assert ask("why") == "why!"
    assert asyncio.run(ask_later("how")) == "how!"
    assert not runtime.snapshot().sessions


def test_a_decorator_without_its_session_says_what_it_lacks(runtime: Runtime) -> None:
    @runtime.recorded
    def ask(question: str) -> str:
        return question

    with pytest.raises(InvalidArgument, match="recorded\\(session"):
        ask("why")


def test_an_iterator_is_no_result(runtime: Runtime) -> None:
    record = runtime.record_call("s1", Call("c1"), Outcome.ok(iter([1, 2]))).get()
    assert record.reason is SkipReason.SERIALIZATION_FAILED


@pytest.mark.parametrize("max_sessions", [0, 50])
def test_a_call_that_leaves_no_record_is_told_in_the_log(max_sessions: int) -> None:
    with LogWatch() as watch, Runtime(Settings(max_sessions=max_sessions)) as runtime:
        for _ in range(2):
            with runtime.recorded("s1", id="c1") as call:
                call.result = 1
        reason = call.record.get().reason
        told = [line for line in watch.messages if "was not recorded" in line]
    assert reason == ("duplicate_call" if max_sessions else "OVERLOADED")
    assert told == [f"the call c1 in s1 was not recorded: {reason}"] * (1 if max_sessions else 2)


def test_a_call_whose_recording_fails_inside_is_told_in_the_log(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_arguments: object) -> None:
        raise LookupError

    monkeypatch.setattr(Entries, "put", broken)
    with LogWatch() as watch, Runtime() as runtime:
        with runtime.recorded("s1", id="c1") as call:
            call.result = 1
        with pytest.raises(RuntimeError, match="LookupError"):
            call.record.get()
        assert "the call c1 in s1 was not recorded: ActorFailed" in watch.messages


def test_a_call_remembers_its_newest_thousand_children(runtime: Runtime) -> None:
    with runtime.recorded("s1") as call:
        for number in range(1001):
            with runtime.recorded("s1", id=f"c{number}"):
                pass
    assert call.children == tuple(f"c{number}" for number in range(1, 1001))


def test_lines_stay_within_their_budget_in_a_long_conversation(runtime: Runtime) -> None:
    for number in range(5):
        runtime.record_call("s1", Call(f"c{number}"), Outcome.ok(number)).get()
    refs = runtime.content_prompt("s1", max_chars=120, conversation_chars=10**6).get()
    assert 0 < len(refs.lines) <= 120
