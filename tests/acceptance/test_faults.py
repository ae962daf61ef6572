"""A fault inside ends what it hit and nothing else: typed errors, free sessions, owners that live on (design 3.5)."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from loguru import logger

from dragoman import AckReply, ActorFailed, Handoff, Parent, Runtime, SimulatedDispatcher, ThreadDispatcher
from dragoman.actors.coordinator import AcceptanceCoordinator
from dragoman.actors.futures import Future
from dragoman.actors.handle import AcceptanceHandle
from dragoman.actors.sessions import SessionManager
from dragoman.protocol.messages import CommitTurns, OpenSession
from dragoman.protocol.parents import RequestParents

SECRET = "a text that nobody may see"


@pytest.fixture(params=["threads", "simulated"])
def runtime(request: pytest.FixtureRequest) -> Iterator[Runtime]:
    dispatcher = ThreadDispatcher() if request.param == "threads" else SimulatedDispatcher()
    with Runtime(dispatcher=dispatcher) as opened:
        yield opened
    assert opened.close().clean


def register(runtime: Runtime, request: str, session: str = "s1", parents: int = 2) -> str:
    handoff = tuple(Parent(f"p{place}", place, f"source {place}") for place in range(1, parents + 1))
    return str(runtime.register(Handoff(request, session, "openai", "select-element", handoff)).get(10).status)


def fault(*_values: object, **_named: object) -> Any:
    raise ValueError(SECRET)


def reject_second(runtime: Runtime) -> Future[AckReply]:
    return runtime.reject("r1", "p2")


@pytest.mark.parametrize("rule", ["accept", "due", "turns", "settle"])
def test_a_fault_in_a_handle_fails_its_request_and_frees_the_session(
    runtime: Runtime, monkeypatch: pytest.MonkeyPatch, rule: str
) -> None:
    register(runtime, "r1")
    register(runtime, "r2")
    assert runtime.acknowledge("r2", "p1", "waits").get(10).committed == ()
    with monkeypatch.context() as broken:
        broken.setattr(RequestParents, rule, fault)
        with pytest.raises(ActorFailed) as failed:
            runtime.acknowledge("r1", "p1", SECRET).get(10)
        assert failed.value.error_type == "ValueError"
        assert SECRET not in str(failed.value)
        status = runtime.request_status("r1").get(10)
    assert status.cause == "FAILED"
    assert runtime.acknowledge("r1", "p2", "late").get(10).status == "STALE"
    assert register(runtime, "r3") == "REGISTERED"
    for parent in ("p1", "p2"):
        runtime.acknowledge("r2", parent, "go on").get(10)
        runtime.acknowledge("r3", parent, "go on").get(10)
    assert runtime.request_status("r3").get(10).cause == "COMPLETED"
    assert runtime.snapshot(10).open_handles == 0


@pytest.mark.parametrize("acknowledge", [lambda runtime: runtime.acknowledge("r1", "p2", SECRET), reject_second])
def test_a_fault_in_an_ack_that_moves_its_parent_alone_fails_its_request_too(
    runtime: Runtime, monkeypatch: pytest.MonkeyPatch, acknowledge: Callable[[Runtime], Future[AckReply]]
) -> None:
    register(runtime, "r1", parents=3)
    register(runtime, "r2")
    with monkeypatch.context() as broken:
        for rule in ("accept", "reject"):
            broken.setattr(RequestParents, rule, fault)
        with pytest.raises(ActorFailed) as failed:
            acknowledge(runtime).get(10)
    assert SECRET not in str(failed.value)
    assert runtime.request_status("r1").get(10).cause == "FAILED"
    assert runtime.acknowledge("r2", "p1", "commits").get(10).committed == ("p1",)
    counts = runtime.close().counts
    assert (counts.failed, counts.queued, counts.sent) == (1, 0, counts.handled + counts.dead)


def test_a_commit_that_is_on_its_way_when_its_handle_fails_still_counts(
    runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    register(runtime, "r1")
    with monkeypatch.context() as broken:
        commit_due = AcceptanceHandle._commit_due

        def send_and_fail(self: AcceptanceHandle) -> bool:
            commit_due(self)
            fault()
            return True

        broken.setattr(AcceptanceHandle, "_commit_due", send_and_fail)
        with pytest.raises(ActorFailed):
            runtime.acknowledge("r1", "p1", "counts").get(10)
    status = runtime.request_status("r1").get(10)
    assert status.cause == "FAILED"
    assert dict(status.parents) == {"p1": "COMMITTED", "p2": "DISCARDED"}
    assert [turn.assistant for turn in runtime.history("s1").get(10)] == ["counts"]


def test_a_session_manager_that_cannot_open_refuses_with_a_typed_error(
    runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as broken:
        broken.setitem(SessionManager.handlers, OpenSession, fault)
        with pytest.raises(ActorFailed):
            register(runtime, "r1")
    assert register(runtime, "r1") == "REGISTERED"
    assert runtime.acknowledge("r1", "p1", "first").get(10).committed == ("p1",)


def test_a_handle_that_cannot_be_made_leaves_nothing(runtime: Runtime, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as broken:
        broken.setattr(AcceptanceCoordinator, "_open", fault)
        with pytest.raises(ActorFailed):
            register(runtime, "r1")
    assert runtime.snapshot(10).open_handles == 0
    assert register(runtime, "r1") == "REGISTERED"
    for parent in ("p1", "p2"):
        runtime.acknowledge("r1", parent, "done").get(10)
    assert runtime.clear_session("s1").get(10).status == "CLEARED"


def test_a_session_manager_that_cannot_commit_fails_the_turns_and_goes_on(
    runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    register(runtime, "r1")
    with monkeypatch.context() as broken:
        broken.setitem(SessionManager.handlers, CommitTurns, fault)
        reply = runtime.acknowledge("r1", "p1", "lost").get(10)
    assert (reply.status, reply.committed) == ("ACCEPTED", ())
    assert runtime.acknowledge("r1", "p2", "kept").get(10).committed == ("p2",)
    assert dict(runtime.request_status("r1").get(10).parents) == {"p1": "COMMIT_FAILED", "p2": "COMMITTED"}


def test_no_fault_shows_a_text_in_the_log(
    runtime: Runtime, monkeypatch: pytest.MonkeyPatch, everything_logged: list[str]
) -> None:
    register(runtime, "r1")
    with monkeypatch.context() as broken:
        broken.setattr(RequestParents, "accept", fault)
        with pytest.raises(ActorFailed):
            runtime.acknowledge("r1", "p1", SECRET).get(10)
    assert any("ValueError" in line for line in everything_logged)
    assert not any(SECRET in line for line in everything_logged)


@pytest.fixture
def everything_logged() -> Iterator[list[str]]:
    lines: list[str] = []
    logger.enable("dragoman")
    sink = logger.add(lambda line: lines.append(str(line)), level=0, backtrace=True, diagnose=True)
    yield lines
    logger.remove(sink)
    logger.disable("dragoman")


def test_a_close_leaves_nothing_of_the_handles_that_it_closed() -> None:
    """What the closing itself sends, to many handles, is handled before the threads end."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for _ in range(60):
            runtime = Runtime()
            for number in range(30):
                register(runtime, f"r{number}", f"s{number % 7}")
            report = runtime.close()
            assert report.clean, report
            assert report.handles_closed == 30
    finally:
        sys.setswitchinterval(interval)
