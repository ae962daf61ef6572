"""Calls share the way to their shard, keep their order, and none holds up another."""

from __future__ import annotations

import pickle
import threading
from collections.abc import Callable
from typing import Any

import pytest

from dragoman import (
    AckReply,
    AckStatus,
    BlockingInHandler,
    DragomanError,
    InvalidArgument,
    RegisterStatus,
    ScriptedProvider,
    Settings,
    WaitTimeout,
)
from dragoman.protocol.messages import ReadStatus, Register
from dragoman.sharding import RayRuntime, ShardLost
from dragoman.sharding.shard import Shard
from dragoman.sharding.wire import SHARD, Late, pack, unpack, unpacked_reply

from .in_threads import ThreadLauncher
from .pages import page, request_of

Open = Callable[..., RayRuntime]


def test_a_lone_call_goes_at_once_and_what_comes_meanwhile_goes_together(
    open_runtime: Open, launcher: ThreadLauncher
) -> None:
    runtime = open_runtime(shards=1)
    runtime.history("s1").get(10)
    launcher.let_go.clear()
    answers = [runtime.history("s1") for _ in range(1_000)]
    launcher.let_go.set()
    for answer in answers:
        assert answer.get(10) == ()
    batches = launcher.living(0).batches
    assert sum(batches) == 1_001
    assert len(batches) <= 6
    assert max(batches) <= 512


def test_calls_of_a_session_take_effect_in_their_order(open_runtime: Open) -> None:
    runtime = open_runtime()
    claims = [runtime.claim_turn("s1") for _ in range(3_000)]
    assert [claim.get(10) for claim in claims] == list(range(1, 3_001))


def test_calls_of_several_threads_keep_the_order_of_each(open_runtime: Open) -> None:
    runtime = open_runtime(Settings(max_turns=10_000, max_sessions=1_000))
    told: dict[str, list[Any]] = {}

    def call(session: str) -> None:
        answers = []
        for number in range(200):
            request = f"{session}/{number}"
            answers.append(runtime.register(page(request, session)))
            answers.append(runtime.acknowledge(request, "p1", request))
        told[session] = [answer.get(30) for answer in answers]

    threads = [threading.Thread(target=call, args=(f"s{number}",)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    for session, replies in told.items():
        assert {reply.committed for reply in replies[1::2]} == {("p1",)}
        turns = runtime.history(session, max_turns=10_000).get(10)
        assert [turn.assistant for turn in turns] == [f"{session}/{number}" for number in range(200)]
    assert len(told) == 6


def test_an_execution_that_takes_long_holds_up_nobody(open_runtime: Open) -> None:
    runtime = open_runtime(shards=1)
    events: list[Any] = []
    translation = runtime.translate(
        request_of("t1", "s1", "a", "b"), provider=ScriptedProvider(), progress=events.append
    )
    assert translation.started.get(10).status == "STARTED"
    assert runtime.register(page("r2", "s2")).get(10).status is RegisterStatus.REGISTERED
    with pytest.raises(WaitTimeout):
        translation.get(0)
    runtime.respond("t1/1", translations={"a": "A", "b": "B"}).get(10)
    assert translation.get(10).text("b") == "B"
    assert [(event.parent_id, event.kind) for event in events] == [("a", "DISPATCHED"), ("b", "DISPATCHED")]
    assert runtime.acknowledge("t1", "b", "B").get(10).committed == ()
    assert runtime.acknowledge("t1", "a", "A").get(10).committed == ("a", "b")


def test_a_refused_start_ends_its_translation(open_runtime: Open) -> None:
    runtime = open_runtime(shards=1)
    first = runtime.translate(request_of("t1", "s1"))
    second = runtime.translate(request_of("t1", "s1"))
    assert second.started.get(10).status == "DUPLICATE_REQUEST"
    with pytest.raises(DragomanError, match="DUPLICATE_REQUEST"):
        second.get(10)
    runtime.cancel("t1").get(10)
    assert first.get(10).error == "USER_CANCELLED"
    assert not runtime._router.links[0]._late
    assert not runtime._router.links[0]._flying


def test_a_callback_must_not_wait_for_another_answer(open_runtime: Open) -> None:
    runtime = open_runtime()
    seen: list[object] = []
    called = threading.Event()

    def call_back(_answer: object) -> None:
        try:
            runtime.history("s2").get(10)
        except BlockingInHandler as error:
            seen.append(error)
        called.set()

    answer = runtime.history("s1")
    answer.add_done_callback(call_back)
    answer.get(10)
    assert called.wait(10)
    # Where the answer was there before the callback, it is this thread that called it, and may wait.
    assert len(seen) <= 1


def test_a_call_that_cannot_be_sent_fails_alone(open_runtime: Open, launcher: ThreadLauncher) -> None:
    class Odd(int):
        """An order that no other process knows."""

    runtime = open_runtime(shards=1)
    launcher.let_go.clear()
    good = runtime.register(page("r1", "s1"))
    handoff = page("r2", "s1")
    object.__setattr__(handoff.parents[0], "order", Odd(0))
    odd = runtime.register(handoff)
    after = runtime.register(page("r3", "s1"))
    launcher.let_go.set()
    assert good.get(10).status == after.get(10).status == RegisterStatus.REGISTERED
    with pytest.raises(InvalidArgument, match="cannot be sent"):
        odd.get(10)


def opened() -> Shard:
    shard = Shard(0)
    assert shard.open(1, Settings(), {}) == 1
    return shard


def batch(*calls: object) -> bytes:
    return pickle.dumps(list(calls))


def replies(answers: tuple[bytes, int, bytes]) -> list[Any]:
    return [None if reply is None else unpacked_reply(reply) for reply in unpack(answers[0])]


def test_a_shard_refuses_another_life_and_a_batch_that_was_there() -> None:
    shard = opened()
    shard.run(1, 0, batch())
    for incarnation, number in ((1, 0), (2, 1), (0, 1)):
        with pytest.raises(ShardLost):
            shard.run(incarnation, number, batch(["coordinator", Register(page("r1", "s1"))]))
    [(status, error)] = replies(shard.run(1, 1, batch(["coordinator", ReadStatus("r1")])))
    assert error is None
    assert not status.open
    with pytest.raises(ShardLost):
        shard.open(2, Settings(), {})
    with pytest.raises(ShardLost):
        shard.collect(2, 0.0)


def test_a_batch_that_comes_early_waits_for_the_one_before_it() -> None:
    shard = opened()
    early = shard.run(1, 1, batch(("r1", "p1", "x"), ["coordinator", ReadStatus("r1")]))
    assert replies(early) == []
    with pytest.raises(ShardLost):
        shard.run(1, 1, batch())
    register = ["coordinator", Register(page("r1", "s1"))]
    [(registered, _error)], _number, late = (replies(answers := shard.run(1, 0, batch(register))), *answers[1:])
    assert registered.status is RegisterStatus.REGISTERED
    [(first, kind, reply), (second, _kind, status)] = unpack(late)
    assert (first, kind, reply) == (1, Late.ANSWER, AckReply(AckStatus.ACCEPTED, ("p1",)))
    assert (second, status.open) == (2, False)


def test_a_shard_tells_of_a_fault_by_type_and_place_alone() -> None:
    [(_value, error)] = replies(opened().run(1, 0, batch(["no such door", "a secret"])))
    assert str(error).startswith("the shard failed with AttributeError in shard.py")
    assert "secret" not in str(error)
    [(_value, error)] = replies(opened().run(1, 0, batch([SHARD, "a secret"])))
    assert str(error) == "message: a shard does not know str"


def test_what_cannot_be_written_is_told_instead() -> None:
    def instead(place: int, error: Exception) -> tuple[int, str]:
        return place, type(error).__name__

    packed = pack([1, lambda: None, "x"], instead)
    [one, (place, _error), text] = unpack(packed)
    assert (one, place, text) == (1, 1, "x")
