"""Each number of the snapshot is what the calls before it must give, in virtual time."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

from dragoman import (
    Call,
    ClaimStatus,
    Completion,
    DirectRequest,
    Handoff,
    Outcome,
    ProviderPolicy,
    Runtime,
    RuntimeClosed,
    ScriptedProvider,
    Settings,
    SimulatedDispatcher,
    TextDocument,
)

from .calls import SECRETS, acknowledge, handoff, open_request, request

SECOND_US = 1_000_000


def fill_up(runtime: Runtime, count: int) -> None:
    """Open and close so many requests: of all of them the first, the ninth and so on are timed."""
    for number in range(count):
        open_request(runtime, f"filling {number}", "elsewhere", parents=1)
        acknowledge(runtime, f"filling {number}", "p1").get()


def test_a_new_runtime_has_counted_nothing(runtime: Runtime) -> None:
    statistics = runtime.statistics().get()
    assert len(statistics) == 0
    assert statistics == {}
    assert statistics.acceptance.registered == statistics.acceptance.open_handles == 0
    assert not statistics.acceptance.acks
    assert statistics.sessions.live == statistics.sessions.turns_committed == 0
    assert statistics.store.counters.writes == 0
    assert statistics.executions.outcomes == ()
    assert statistics.messages.dead == statistics.messages.failed == 0


def test_acks_are_counted_by_status_while_their_request_is_open(runtime: Runtime) -> None:
    open_request(runtime, "r1", parents=4)
    acknowledge(runtime, "r1", "p1").get()
    acknowledge(runtime, "r1", "p3").get()
    runtime.reject("r1", "p2").get()
    acknowledge(runtime, "r1", "p1").get()
    runtime.reject("r1", "p1").get()
    acknowledge(runtime, "r1", "p9").get()
    runtime.acknowledge("r1", "p4", " ").get()
    acceptance = runtime.statistics().get().acceptance
    expected = {"ACCEPTED": 2, "REJECTED": 1, "DUPLICATE": 1, "CONFLICT": 1, "UNKNOWN_PARENT": 1, "INVALID_RESULT": 1}
    assert acceptance.acks == expected
    assert acceptance.open_handles == 1
    acknowledge(runtime, "r1", "p4").get()
    acceptance = runtime.statistics().get().acceptance
    assert acceptance.acks == {**expected, "ACCEPTED": 3}
    assert acceptance.open_handles == 0
    assert acceptance.closed == {"COMPLETED": 1}


def test_what_is_discarded_was_never_acknowledged(runtime: Runtime) -> None:
    open_request(runtime, "r1", parents=3)
    acknowledge(runtime, "r1", "p2").get()
    runtime.cancel("r1").get()
    acceptance = runtime.statistics().get().acceptance
    assert acceptance.acks == {"ACCEPTED": 1}
    assert acceptance.closed == {"CANCELLED": 1}


def test_stale_acks_are_counted_by_the_cause_with_which_their_handle_had_closed(
    runtime: Runtime, clock: SimulatedDispatcher
) -> None:
    open_request(runtime, "expires")
    open_request(runtime, "cancelled", "s2")
    runtime.cancel("cancelled").get()
    clock.advance(301 * SECOND_US)
    for request_id, times in (("expires", 3), ("cancelled", 1), ("never seen", 2)):
        for _ in range(times):
            assert acknowledge(runtime, request_id, "p1").get().status == "STALE"
    assert runtime.reject("expires", "p2").get().status == "STALE"
    acceptance = runtime.statistics().get().acceptance
    assert acceptance.stale_acks == {"EXPIRED": 4, "CANCELLED": 1, "UNKNOWN": 2}
    assert acceptance.acks == {"STALE": 7}
    assert acceptance.closed == {"EXPIRED": 1, "CANCELLED": 1}


def test_an_ack_that_was_on_its_way_as_its_handle_closed_is_stale_by_that_cause(runtime: Runtime) -> None:
    open_request(runtime, "r1", parents=1)
    sent = [acknowledge(runtime, "r1", "p1") for _ in range(4)]
    assert [one.get().status for one in sent] == ["ACCEPTED", "STALE", "STALE", "STALE"]
    assert runtime.statistics().get().acceptance.stale_acks == {"COMPLETED": 3}


def test_refusals_are_counted_by_status(clock: SimulatedDispatcher) -> None:
    settings = Settings(max_open_handles=1)
    with Runtime(settings, providers={"machine": ProviderPolicy(kind="machine")}, dispatcher=clock) as runtime:
        open_request(runtime, "r1")
        assert runtime.register(handoff("r1")).get().status == "DUPLICATE_REQUEST"
        assert runtime.register(handoff("r2", "s2")).get().status == "OVERLOADED"
        apart = Handoff("r3", "s1", "machine", "select-element", handoff("r3").parents)
        assert runtime.register(apart).get().status == "NOT_PARTICIPATING"
        assert runtime.register(handoff("", "s1")).get().status == "INVALID_HANDOFF"
        assert runtime.translate(request("")).started.get().status == "INVALID_HANDOFF"
        assert runtime.direct(DirectRequest("r1", "s1", "a", "de")).started.get().status == "DUPLICATE_REQUEST"
        acceptance = runtime.statistics().get().acceptance
        assert acceptance.registered == 1
        assert acceptance.refused == {
            "DUPLICATE_REQUEST": 2,
            "OVERLOADED": 1,
            "NOT_PARTICIPATING": 1,
            "INVALID_HANDOFF": 2,
        }


def test_a_request_is_active_from_its_activation_to_its_closing(runtime: Runtime, clock: SimulatedDispatcher) -> None:
    runtime.measure()
    assert runtime.register(handoff("r1", parents=1)).get().status == "REGISTERED"
    clock.advance(50 * SECOND_US)
    runtime.activate("r1").get()
    clock.advance(7 * SECOND_US)
    acknowledge(runtime, "r1", "p1").get()
    runtime.register(handoff("never active", parents=1)).get()
    runtime.cancel("never active").get()
    times = runtime.statistics().get().acceptance.active_times
    assert times is not None
    assert (times.count, times.sum_s) == (1, 7.0)
    (bound,) = (place for place, count in enumerate(times.counts) if count)
    assert times.bounds_s[bound - 1] < 7.0 <= times.bounds_s[bound]


def test_the_wait_for_earlier_requests_is_told_once_a_request(runtime: Runtime, clock: SimulatedDispatcher) -> None:
    runtime.measure()
    fill_up(runtime, 7)
    open_request(runtime, "r1", parents=1)
    open_request(runtime, "r2")
    open_request(runtime, "r3", parents=1)
    acknowledge(runtime, "r2", "p1").get()
    clock.advance(4 * SECOND_US)
    acknowledge(runtime, "r2", "p2").get()
    clock.advance(5 * SECOND_US)
    acknowledge(runtime, "r1", "p1").get()
    acceptance = runtime.statistics().get().acceptance
    assert acceptance.turn_waits is not None
    assert (acceptance.turn_waits.count, acceptance.turn_waits.sum_s) == (1, 9.0)
    assert acceptance.closed == {"COMPLETED": 7 + 2}


def test_a_wait_that_ends_with_its_request_counts_as_well(runtime: Runtime, clock: SimulatedDispatcher) -> None:
    runtime.measure()
    fill_up(runtime, 7)
    open_request(runtime, "r1")
    open_request(runtime, "r2")
    acknowledge(runtime, "r2", "p1").get()
    clock.advance(3 * SECOND_US)
    runtime.cancel("r2").get()
    waits = runtime.statistics().get().acceptance.turn_waits
    assert waits is not None
    assert (waits.count, waits.sum_s) == (1, 3.0)


def test_nothing_is_timed_unless_it_is_asked_for(runtime: Runtime, clock: SimulatedDispatcher) -> None:
    open_request(runtime, "r1", parents=1)
    clock.advance(SECOND_US)
    runtime.measure()
    acknowledge(runtime, "r1", "p1").get()
    acceptance = runtime.statistics().get().acceptance
    assert (acceptance.turn_waits, acceptance.active_times) == (None, None)


def test_what_waits_in_a_lane_is_told(runtime: Runtime) -> None:
    runtime.translate(request("r1"), provider=ScriptedProvider()).started.get()
    sent = [runtime.cancel("r1"), *(acknowledge(runtime, "r1", "p1") for _ in range(3))]
    [one.get() for one in sent]
    acceptance = runtime.statistics().get().acceptance
    assert acceptance.waiting == acceptance.lanes == 0


def test_sessions_are_counted_by_their_ends(clock: SimulatedDispatcher) -> None:
    with Runtime(Settings(max_sessions=2), dispatcher=clock) as runtime:
        for session in ("s1", "s2", "s3"):
            runtime.claim_turn(session).get()
        runtime.clear_session("s2").get()
        open_request(runtime, "r1", "s3")
        open_request(runtime, "r2", "s4")
        assert runtime.claim_turn("s5").get() is ClaimStatus.OVERLOADED
        sessions = runtime.statistics().get().sessions
        assert (sessions.live, sessions.limit, sessions.pinned, sessions.opened) == (2, 2, 2, 4)
        assert sessions.refused == 1
        assert sessions.ended == {"EVICTED": 1, "CLEARED": 1}
        clock.advance(2 * 3600 * SECOND_US)
        sessions = runtime.statistics().get().sessions
        assert (sessions.live, sessions.pinned) == (0, 0)
        assert sessions.ended == {"EVICTED": 1, "CLEARED": 1, "EXPIRED": 2}


def test_turns_are_counted_beyond_the_life_of_their_session(runtime: Runtime) -> None:
    open_request(runtime, "r1", parents=3)
    runtime.fail_commits("s1", 1).get()
    for parent in ("p1", "p2", "p3"):
        acknowledge(runtime, "r1", parent).get()
    sessions = runtime.statistics().get().sessions
    assert (sessions.turns_committed, sessions.commits_failed) == (2, 1)
    runtime.clear_session("s1").get()
    assert runtime.statistics().get().sessions.turns_committed == 2
    assert runtime.statistics().get().acceptance.acks == {"ACCEPTED": 3}


def test_the_store_tells_its_counters_and_its_size(runtime: Runtime) -> None:
    record = runtime.record_call("s1", Call("c1"), Outcome.ok({"answer": SECRETS[1]})).get()
    assert record.content_ref is not None
    runtime.content("s1", record.content_ref).get()
    with pytest.raises(LookupError):
        runtime.content("s1", "content:nowhere").get()
    store = runtime.statistics().get().store
    assert (store.entries, store.bytes) == (1, record.content_bytes)
    assert store.bytes_limit == runtime.settings.store_total_bytes
    assert (store.counters.writes, store.counters.hits, store.counters.misses) == (1, 1, 1)


def test_executions_are_counted_by_outcome_and_error(runtime: Runtime, clock: SimulatedDispatcher) -> None:
    provider = ScriptedProvider()
    complete = runtime.translate(request("r1"), provider=provider, feature=TextDocument(dict(request().parents)))
    complete.started.get()
    clock.advance(2 * SECOND_US)
    runtime.fail("r1/1", "NETWORK_ERROR").get()
    clock.advance(10 * SECOND_US)
    runtime.respond("r1/2", translations={"p1": SECRETS[1], "p2": SECRETS[1]}).get()
    cancelled = runtime.translate(request("r2"), provider=provider)
    cancelled.started.get()
    runtime.cancel("r2").get()
    running = runtime.translate(request("r3"), provider=provider)
    running.started.get()
    assert (complete.get().quality, cancelled.get().error) == ("COMPLETE", "USER_CANCELLED")
    statistics = runtime.statistics().get()
    executions = statistics.executions
    assert {(one.execution.value, one.quality.value): one.count for one in executions.outcomes} == {
        ("COMPLETED", "COMPLETE"): 1,
        ("CANCELLED", "NONE"): 1,
    }
    assert executions.errors == {"USER_CANCELLED": 1}
    assert (executions.retries, executions.running, executions.broken) == (1, 1, 0)
    assert statistics["openai"].calls == 4
    assert statistics["openai"].errors_by_name == {"NETWORK_ERROR": 1}
    connection = statistics.connections["openai"]
    assert (connection.open_calls, connection.cancelled, connection.refused) == (1, 1, 0)
    assert (connection.call_times.count, connection.call_times.sum_s >= 2.0) == (2, True)
    assert connection.circuit == "CLOSED"
    assert statistics.acceptance.acks == {"ACCEPTED": 2}


def test_an_open_circuit_and_what_it_refuses_is_told(clock: SimulatedDispatcher) -> None:
    with Runtime(Settings(circuit_failures=1), dispatcher=clock) as runtime:
        failing = runtime.direct(DirectRequest("r1", "s1", "a", "de"), provider=ScriptedProvider())
        failing.started.get()
        runtime.fail("r1/1", "SERVER_ERROR").get()
        clock.advance(5 * SECOND_US)
        refused = runtime.direct(DirectRequest("r2", "s1", "a", "de"), provider=ScriptedProvider())
        assert refused.get().error == "CIRCUIT_BREAKER_OPEN"
        connection = runtime.statistics().get().connections["openai"]
        assert connection.circuit == "OPEN"
        assert connection.refused >= 1


def test_a_provider_cannot_invent_error_names_without_end(runtime: Runtime) -> None:
    for number in range(50):
        runtime.direct(DirectRequest(f"r{number}", "s1", "a", "de"), provider=ScriptedProvider()).started.get()
        runtime.fail(f"r{number}/1", f"ERROR_{number}").get()
    errors = runtime.statistics().get()["openai"].errors_by_name
    assert len(errors) <= 33
    assert errors["OTHER"] >= 50 - 32 - 2
    assert sum(errors.values()) == runtime.statistics().get()["openai"].errors


def test_the_snapshot_is_the_mapping_that_it_was(runtime: Runtime) -> None:
    running = runtime.direct(DirectRequest("r1", "s1", "a", "de"), provider=ScriptedProvider())
    running.started.get()
    runtime.respond("r1/1", Completion(SECRETS[1])).get()
    statistics = runtime.statistics().get()
    assert "openai" in statistics
    assert list(statistics) == ["openai"]
    assert statistics.get("deepl") is None
    assert dict(statistics) == statistics == statistics.providers
    assert statistics != {}
    assert [counts.calls for counts in statistics.values()] == [1]
    assert hash(statistics) == hash(statistics.providers)


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value))])
def test_a_snapshot_can_be_copied_and_sent_elsewhere(runtime: Runtime, copied: Any) -> None:
    open_request(runtime, "r1")
    statistics = runtime.statistics().get()
    assert copied(statistics) == statistics
    acknowledge(runtime, "r1", "p1").get()
    assert runtime.statistics().get() != statistics


def test_reading_uses_nothing(clock: SimulatedDispatcher) -> None:
    with Runtime(Settings(session_ttl=10.0), dispatcher=clock) as runtime:
        runtime.claim_turn("s1").get()
        for _ in range(11):
            runtime.statistics().get()
            clock.advance(SECOND_US)
        assert runtime.statistics().get().sessions.ended == {"EXPIRED": 1}


def test_a_closed_runtime_gives_no_statistics(runtime: Runtime) -> None:
    runtime.close()
    for read in (runtime.statistics, runtime.read_statistics, runtime.measure):
        with pytest.raises(RuntimeClosed):
            read()


def test_a_snapshot_shows_no_text(runtime: Runtime) -> None:
    open_request(runtime, "r1")
    acknowledge(runtime, "r1", "p1").get()
    runtime.direct(DirectRequest("r2", "s1", SECRETS[0], "de"), provider=ScriptedProvider()).started.get()
    shown = repr(runtime.statistics().get())
    assert not [secret for secret in SECRETS if secret in shown]
    assert "r1" not in shown
    assert "s1" not in shown
