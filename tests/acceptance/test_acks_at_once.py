"""ACKs that are answered without a message: only where nothing else is on its way (C2, C15, C18)."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import pytest

from dragoman import Handoff, Parent, Runtime
from dragoman.actors.coordinator import AcceptanceCoordinator
from dragoman.actors.mailbox import LATER
from dragoman.actors.sessions import SessionManager
from dragoman.protocol.messages import Inspect

from ..kernel.probes import PATIENCE_S, Block


@pytest.fixture
def runtime() -> Iterator[Runtime]:
    with Runtime() as opened:
        yield opened
    assert opened.close().clean


@pytest.fixture
def sessions_are_busy(runtime: Runtime, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], Block]]:
    """Make the session manager busy, in a thread of its own, until the block is released."""
    block = Block()
    looking = threading.Thread(target=runtime.snapshot, args=(PATIENCE_S,))

    def begin() -> Block:
        monkeypatch.setitem(SessionManager.handlers, Inspect, lambda *_message: block())
        looking.start()
        assert block.entered.wait(PATIENCE_S)
        return block

    yield begin
    block.release.set()
    looking.join(PATIENCE_S)


def handoff(request: str, session: str = "s1") -> Handoff:
    parents = tuple(Parent(f"p{place}", place, f"source {place}") for place in range(1, 5))
    return Handoff(request, session, "openai", "select-element", parents)


def register(runtime: Runtime, *requests: str) -> None:
    for request in requests:
        assert runtime.register(handoff(request)).get(PATIENCE_S).status == "REGISTERED"


def coordinator(runtime: Runtime) -> AcceptanceCoordinator:
    actor = runtime._coordinator.actor
    assert isinstance(actor, AcceptanceCoordinator)
    return actor


def test_an_ack_waits_behind_the_registration_of_its_request(
    runtime: Runtime, sessions_are_busy: Callable[[], Block]
) -> None:
    busy = sessions_are_busy()
    registered = runtime.register(handoff("r1"))
    acknowledged = runtime.acknowledge("r1", "p2", "zwei")
    assert not acknowledged.done
    busy.release.set()
    assert registered.get(PATIENCE_S).status == "REGISTERED"
    assert acknowledged.get(PATIENCE_S).status == "ACCEPTED"


def test_an_ack_waits_behind_a_registration_that_waits_itself(
    runtime: Runtime, sessions_are_busy: Callable[[], Block]
) -> None:
    register(runtime, "r1")
    busy = sessions_are_busy()
    committing = runtime.acknowledge("r1", "p1", "eins")
    registered = runtime.register(handoff("r2"))
    acknowledged = runtime.acknowledge("r2", "p2", "zwei")
    assert (committing.done, registered.done, acknowledged.done) == (False, False, False)
    busy.release.set()
    assert registered.get(PATIENCE_S).status == "REGISTERED"
    assert acknowledged.get(PATIENCE_S).status == "ACCEPTED"


def test_an_ack_does_not_overtake_what_waits_in_its_lane(
    runtime: Runtime, sessions_are_busy: Callable[[], Block]
) -> None:
    register(runtime, "r1", "r2")
    assert runtime.acknowledge("r2", "p3", "drei").get(PATIENCE_S).status == "ACCEPTED"
    busy = sessions_are_busy()
    committing = runtime.acknowledge("r1", "p1", "eins")
    cancelled = runtime.cancel("r2")
    acknowledged = runtime.acknowledge("r2", "p2", "zwei")
    assert (committing.done, cancelled.done, acknowledged.done) == (False, False, False)
    busy.release.set()
    assert committing.get(PATIENCE_S).committed == ("p1",)
    assert cancelled.get(PATIENCE_S).status == "DISPOSED"
    assert acknowledged.get(PATIENCE_S).status == "STALE"


def test_a_handle_answers_nothing_at_once_while_a_commit_is_on_its_way(
    runtime: Runtime, sessions_are_busy: Callable[[], Block]
) -> None:
    register(runtime, "r1")
    handle = coordinator(runtime)._routes["r1"].mailbox
    busy = sessions_are_busy()
    committing = runtime.acknowledge("r1", "p1", "eins")
    assert handle.ask_at_once(("r1", "p3", "drei")) is LATER
    busy.release.set()
    assert committing.get(PATIENCE_S).committed == ("p1",)
    assert runtime.acknowledge("r1", "p3", "drei").get(PATIENCE_S).status == "ACCEPTED"


def test_the_first_accepted_parent_of_a_request_that_waits_begins_its_wait(runtime: Runtime) -> None:
    register(runtime, "r1", "r2")
    timers = runtime.dispatcher.live_timers()
    for parent in ("p3", "p2"):
        assert runtime.acknowledge("r2", parent, "text").get(PATIENCE_S).status == "ACCEPTED"
        assert runtime.dispatcher.live_timers() == timers + 1


@pytest.mark.parametrize("accepts", [True, False])
def test_the_last_ack_of_a_request_that_waits_ends_its_window(runtime: Runtime, accepts: bool) -> None:
    register(runtime, "r1", "r2")
    timers = runtime.dispatcher.live_timers()
    runtime.activate("r2").get(PATIENCE_S)
    for parent in ("p1", "p4", "p2"):
        assert runtime.acknowledge("r2", parent, "text").get(PATIENCE_S).status == "ACCEPTED"
    assert runtime.dispatcher.live_timers() == timers + 2
    (runtime.acknowledge("r2", "p3", "text") if accepts else runtime.reject("r2", "p3")).get(PATIENCE_S)
    assert runtime.dispatcher.live_timers() == timers + 1


@pytest.mark.parametrize("fails", [True, False])
def test_an_answer_at_once_counts_as_the_two_messages_that_it_spares(
    runtime: Runtime, fails: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    register(runtime, "r1")
    before = runtime.dispatcher.counts()
    if fails:
        monkeypatch.setattr("dragoman.protocol.parents.is_clean_anyhow", None)
    answer = runtime.acknowledge("r1", "p2", "zwei")
    assert answer.done
    after = runtime.dispatcher.counts()
    closing = 3 * fails  # the handle tells the coordinator, which stops it and lets its session go
    assert (after.sent - before.sent, after.failed - before.failed) == (2 + closing, fails)
