"""Calls that are recorded as they happen: their depth and parent, and that recording changes nothing (P phase 1.4)."""

from __future__ import annotations

import asyncio
import functools
import inspect
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NoReturn

import pytest

from dragoman import (
    Call,
    CallRecord,
    InvalidArgument,
    Outcome,
    RecordedCall,
    Runtime,
    Settings,
)

from ..kernel.probes import PATIENCE_S, in_threads

Test = Callable[[Runtime], Coroutine[Any, Any, None]]


@pytest.fixture
def runtime() -> Iterator[Runtime]:
    settings = Settings(max_call_records=1000, store_max_entries=1000, capture_nested=True, capture_errors=True)
    with Runtime(settings) as made:
        yield made
    assert made.close().clean
    assert made.close().counts.failed == 0


def under_asyncio(test: Test) -> Callable[[Runtime], None]:
    @functools.wraps(test)
    def run(runtime: Runtime) -> None:
        asyncio.run(asyncio.wait_for(test(runtime), PATIENCE_S))

    return run


def records(runtime: Runtime, session: str = "s1") -> dict[str, CallRecord]:
    return {told.id: told for told in runtime.calls(session).get(PATIENCE_S)}


def shape(runtime: Runtime, session: str = "s1") -> dict[str, tuple[int, str | None]]:
    """Depth and parent of each call by its id."""
    return {told.id: (told.depth, told.parent) for told in records(runtime, session).values()}


def value(runtime: Runtime, name: str, session: str = "s1") -> Any:
    return runtime.content(session, name).get(PATIENCE_S)


class Failing(Exception):
    pass


def test_a_block_is_recorded_with_what_its_result_was_set_to(runtime: Runtime) -> None:
    with runtime.recorded("s1", role="cook", method="plan", id="c1") as call:
        assert (call.id, call.depth, call.parent) == ("c1", 0, None)
        call.result = {"minutes": 40}
    told = call.record.get(PATIENCE_S)
    assert (told.id, told.role, told.method, told.status, told.reason) == ("c1", "cook", "plan", "ok", None)
    assert value(runtime, "c1") == {"minutes": 40}


def test_blocks_in_blocks_know_their_depth_and_parent(runtime: Runtime) -> None:
    with runtime.recorded("s1", id="top"):
        with runtime.recorded("s1", id="left"), runtime.recorded("s1", id="leaf"):
            pass
        with runtime.recorded("s1", id="right"):
            pass
    with runtime.recorded("s1", id="next"):
        pass
    assert shape(runtime) == {
        "top": (0, None),
        "left": (1, "top"),
        "leaf": (2, "left"),
        "right": (1, "top"),
        "next": (0, None),
    }


def test_a_decorated_function_is_recorded_each_time_and_stays_what_it_is(runtime: Runtime) -> None:
    def double(number: int, *, plus: int = 0) -> int:
        """Twice."""
        return 2 * number + plus

    recorded = runtime.recorded("s1", role="calculator")(double)
    assert [recorded(1), recorded(2, plus=1)] == [2, 5]
    assert (recorded.__name__, recorded.__doc__) == ("double", "Twice.")
    assert inspect.signature(recorded) == inspect.signature(double)
    told = [(one.role, one.method, value(runtime, name)) for name, one in records(runtime).items()]
    assert told == [("calculator", "double", 2), ("calculator", "double", 5)]


def test_a_recursive_function_is_its_own_parent(runtime: Runtime) -> None:
    @runtime.recorded("s1")
    def factorial(number: int) -> int:
        return number * factorial(number - 1) if number else 1

    assert factorial(3) == 6
    told = sorted(records(runtime).values(), key=lambda one: one.depth)
    assert [one.depth for one in told] == [0, 1, 2, 3]
    assert [one.parent for one in told[1:]] == [one.id for one in told[:3]]


def test_a_method_and_a_partial_can_be_recorded(runtime: Runtime) -> None:
    class Cook:
        @runtime.recorded("s1")
        def plan(self, minutes: int) -> int:
            return minutes

    assert Cook().plan(40) == 40
    assert runtime.recorded("s1")(functools.partial(max, 1))(2) == 2
    assert [told.method for told in records(runtime).values()] == ["plan", "ask"]


@under_asyncio
async def test_a_coroutine_function_is_recorded_when_it_ends(runtime: Runtime) -> None:
    @runtime.recorded("s1")
    async def answer(text: str) -> str:
        await asyncio.sleep(0)
        assert await runtime.calls("s1") == ()
        return text.upper()

    assert inspect.iscoroutinefunction(answer)
    assert await answer("hi") == "HI"
    (told,) = await runtime.calls("s1")
    assert (told.method, await runtime.content("s1", told.id)) == ("answer", "HI")


@under_asyncio
async def test_tasks_inherit_the_call_that_made_them_and_are_no_parents_of_each_other(runtime: Runtime) -> None:
    async def speak(name: str) -> None:
        async with runtime.recorded("s1", id=name):
            await asyncio.sleep(0)
            async with runtime.recorded("s1", id=f"{name}/in"):
                await asyncio.sleep(0)

    async with runtime.recorded("s1", id="debate"):
        async with asyncio.TaskGroup() as group:
            group.create_task(speak("for"))
            group.create_task(speak("against"))
        await asyncio.gather(speak("third"), speak("fourth"))
        await asyncio.to_thread(lambda: runtime.recorded("s1", id="thread").__enter__().__exit__(None, None, None))
    await speak("after")
    sides = ("for", "against", "third", "fourth")
    assert await asyncio.to_thread(shape, runtime) == {
        "debate": (0, None),
        **dict.fromkeys(sides, (1, "debate")),
        **{f"{side}/in": (2, side) for side in sides},
        "thread": (1, "debate"),
        "after": (0, None),
        "after/in": (1, "after"),
    }


def test_a_thread_starts_anew_unless_it_is_bound(runtime: Runtime) -> None:
    def work(name: str) -> None:
        with runtime.recorded("s1", id=name):
            pass

    with runtime.recorded("s1", id="top") as call:
        in_threads(lambda: work("plain"), functools.partial(RecordedCall.bind(work), "bound"))
        with ThreadPoolExecutor(2) as pool:
            pool.submit(work, "pooled").result(PATIENCE_S)
            list(pool.map(call.bind(work), ["one", "two", "three"]))
        bound = call.bind(work)
    bound("later")
    assert shape(runtime) == {
        **dict.fromkeys(("bound", "one", "two", "three"), (1, "top")),
        **dict.fromkeys(("plain", "pooled", "top", "later"), (0, None)),
    }
    assert bound.__name__ == "work"


def test_sessions_are_apart_though_their_blocks_are_nested(runtime: Runtime) -> None:
    outer = runtime.recorded("s1", id="a"), runtime.recorded("s2", id="b")
    inner = runtime.recorded("s1", id="c"), runtime.recorded("s2", id="d")
    with outer[0], outer[1], inner[0], inner[1]:
        pass
    assert shape(runtime, "s1") == {"c": (1, "a"), "a": (0, None)}
    assert shape(runtime, "s2") == {"d": (1, "b"), "b": (0, None)}


def test_runtimes_are_apart_though_their_blocks_are_nested(runtime: Runtime) -> None:
    with Runtime(Settings(capture_nested=True)) as other:
        outer = runtime.recorded("s1", id="a"), other.recorded("s1", id="b")
        inner = runtime.recorded("s1", id="c"), other.recorded("s1", id="d")
        with outer[0], outer[1], inner[0], inner[1]:
            pass
        assert shape(runtime) == {"c": (1, "a"), "a": (0, None)}
        assert shape(other) == {"d": (1, "b"), "b": (0, None)}


def test_an_exception_is_raised_as_it_is_and_recorded_as_an_error(runtime: Runtime) -> None:
    error, cause = Failing("it failed"), ValueError()

    @runtime.recorded("s1")
    def fail() -> NoReturn:
        raise error from cause

    with pytest.raises(Failing) as raised:
        fail()
    with pytest.raises(Failing) as raised_in_block, runtime.recorded("s1", id="block"):
        raise error from cause
    assert raised.value is raised_in_block.value is error
    assert (error.__cause__, error.args) == (cause, ("it failed",))
    for told in records(runtime).values():
        assert (told.status, value(runtime, told.id)) == ("error", {"type": "Failing", "message": "it failed"})


def test_an_exception_that_is_handled_inside_is_no_error(runtime: Runtime) -> None:
    with runtime.recorded("s1", id="top") as call:
        with pytest.raises(Failing), runtime.recorded("s1", id="inner"):
            raise Failing
        call.result = "mended"
    told = records(runtime)
    assert (told["inner"].status, told["top"].status, value(runtime, "top")) == ("error", "ok", "mended")


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, GeneratorExit])
def test_what_ends_a_program_passes_through(runtime: Runtime, error: type[BaseException]) -> None:
    with pytest.raises(error), runtime.recorded("s1", id="c1"):
        raise error
    assert records(runtime)["c1"].status == "error"


@under_asyncio
async def test_a_cancelled_call_is_cancelled_and_recorded_as_an_error(runtime: Runtime) -> None:
    begun = asyncio.Event()

    @runtime.recorded("s1")
    async def hang() -> None:
        begun.set()
        await asyncio.Event().wait()

    task = asyncio.create_task(hang())
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert task.cancelled()
    (told,) = await runtime.calls("s1")
    assert (told.status, (await runtime.content("s1", told.id))["type"]) == ("error", "CancelledError")


def _yields() -> Iterator[int]:
    yield 1


async def _yields_later() -> AsyncIterator[int]:
    yield 1


@pytest.mark.parametrize("function", [_yields, _yields_later, functools.partial(_yields), None, 5, "work"])
def test_what_yields_or_cannot_be_called_is_refused(runtime: Runtime, function: Any) -> None:
    with pytest.raises(InvalidArgument, match=r"^function"):
        runtime.recorded("s1")(function)


def test_one_id_cannot_name_every_call_of_a_function(runtime: Runtime) -> None:
    with pytest.raises(InvalidArgument, match=r"^id"):
        runtime.recorded("s1", id="c1")(len)


def test_an_object_whose_call_is_a_coroutine_is_recorded_with_its_answer(runtime: Runtime) -> None:
    class Model:
        async def __call__(self) -> str:
            return "an answer"

    answer = runtime.recorded("s1", method="answer")(Model())
    assert asyncio.run(answer()) == "an answer"
    (told,) = records(runtime).values()
    assert value(runtime, told.id) == "an answer"


def test_a_block_is_one_call(runtime: Runtime) -> None:
    block = runtime.recorded("s1", id="c1")
    with block, pytest.raises(InvalidArgument, match=r"^recorded"):
        block.__enter__()
    with pytest.raises(InvalidArgument, match=r"^recorded"):
        block.__enter__()
    assert list(records(runtime)) == ["c1"]


def test_a_block_that_has_not_begun_has_no_id_and_one_that_has_not_ended_no_record(runtime: Runtime) -> None:
    block = runtime.recorded("s1")
    for use in (lambda: block.refer("c1"), lambda: block.id):
        with pytest.raises(InvalidArgument, match=r"^id"):
            use()
    with block, pytest.raises(InvalidArgument, match=r"^record"):
        block.record  # noqa: B018


def test_a_call_keeps_a_child_by_opting_in_or_by_referring_to_it() -> None:
    with Runtime() as runtime:
        with runtime.recorded("s1", id="top") as top:
            top.result = 0
            with runtime.recorded("s1", id="kept", keep=True) as call:
                call.result = 1
            for name in ("referred", "dropped"):
                with runtime.recorded("s1", id=name) as call:
                    call.result = 2
            assert top.refer("referred").get(PATIENCE_S).stored
        assert {name: told.reason for name, told in records(runtime).items()} == {
            **dict.fromkeys(("top", "kept", "referred"), None),
            "dropped": "nested_capture_disabled",
        }


def test_a_result_that_changes_after_the_block_stays_as_it_was(runtime: Runtime) -> None:
    with runtime.recorded("s1", id="c1") as call:
        call.result = steps = ["mix"]
        steps.append("knead")
    steps.append("bake")
    assert value(runtime, "c1") == ["mix", "knead"]


def test_many_threads_record_at_once_and_every_id_is_its_own(runtime: Runtime) -> None:
    @runtime.recorded("s1", method="work")
    def work(number: int) -> int:
        with runtime.recorded("s1", id=f"inner-{number}") as call:
            call.result = -number
        return number

    def many(first: int) -> None:
        assert [work(number) for number in range(first, first + 50)] == list(range(first, first + 50))

    in_threads(*(functools.partial(many, 50 * place) for place in range(6)))
    told = records(runtime)
    outer = {name: one for name, one in told.items() if one.depth == 0}
    assert (len(outer), len(told)) == (300, 600)
    results = {value(runtime, name): name for name in outer}
    assert set(results) == set(range(300))
    assert all(told[f"inner-{number}"].parent == name for number, name in results.items())


def test_awaiting_what_a_plain_function_gave_leaves_the_calls_around_as_they_were(runtime: Runtime) -> None:
    async def answer() -> str:
        return "an answer"

    async def prepare_and_await() -> None:
        prepared = runtime.recorded("s1", method="answer")(lambda: answer())()
        async with runtime.recorded("s1", id="top"):
            assert await prepared == "an answer"
            async with runtime.recorded("s1", id="inner"):
                pass

    asyncio.run(prepare_and_await())
    assert shape(runtime)["inner"] == (1, "top")


def test_a_failed_call_is_recorded_by_hand_as_an_error_with_its_type_and_message(runtime: Runtime) -> None:
    told = runtime.record_call("s1", Call("c1"), Outcome.error("TimeoutError", "too slow")).get(PATIENCE_S)
    assert (told.status, told.content_kind) == ("error", "object")
    assert value(runtime, "c1") == {"type": "TimeoutError", "message": "too slow"}


def test_a_value_that_cannot_be_looked_at_is_a_reason_and_no_error(runtime: Runtime) -> None:
    class Sly:
        @property  # type: ignore[misc]
        def __class__(self) -> Any:
            raise RuntimeError("not even its class")

        def __str__(self) -> str:
            raise RuntimeError("nor its text")

    for place, result in enumerate((Sly(), [Sly()])):
        told = runtime.record_call("s1", Call(f"c{place}"), Outcome.ok(result)).get(PATIENCE_S)
        assert told.reason == "serialization_failed"


def test_a_name_that_was_taken_is_never_too_long_to_be_recorded(runtime: Runtime) -> None:
    with runtime.recorded("s1", method="m" * 1000) as call:
        call.result = 1
    assert call.record.get(PATIENCE_S).stored
