"""Which shard a call goes to, and how the answers of several become one."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import pytest

import dragoman.sharding.ray_runtime
from dragoman import (
    AckStatus,
    ActivateStatus,
    Call,
    CloseStatus,
    Outcome,
    RegisterStatus,
    RequestStatus,
    Runtime,
    ScriptedProvider,
    Settings,
    UnknownCall,
)
from dragoman.sharding import RayRuntime

from .in_threads import ThreadLauncher
from .pages import page, request_of, sessions_on

Open = Callable[..., RayRuntime]


def test_the_calls_of_a_session_go_to_its_shard_alone(open_runtime: Open, launcher: ThreadLauncher) -> None:
    runtime = open_runtime()
    (session,) = sessions_on(runtime, 2)
    runtime.register(page("r1", session)).get(10)
    runtime.acknowledge("r1", "p1", "x").get(10)
    assert len(runtime.history(session).get(10)) == 1
    assert [sum(launcher.living(shard).batches) for shard in range(3)] == [0, 0, 3]


def test_an_id_is_that_of_one_request_over_all_shards(open_runtime: Open) -> None:
    runtime = open_runtime()
    homes = [sessions_on(runtime, shard)[0] for shard in range(3)]
    assert runtime.register(page("r1", homes[0])).get(10).status is RegisterStatus.REGISTERED
    for session in homes:
        assert runtime.register(page("r1", session)).get(10).status is RegisterStatus.DUPLICATE_REQUEST
        assert runtime.translate(request_of("r1", session)).started.get(10).status == "DUPLICATE_REQUEST"
    # A request that takes no part is told so before its id is looked at, as in a runtime.
    apart = runtime.register(page("r1", homes[1], mode="page")).get(10)
    assert apart.status is RegisterStatus.NOT_PARTICIPATING
    assert runtime.acknowledge("r1", "p1", "x").get(10).committed == ("p1",)
    assert runtime.register(page("r1", homes[1])).get(10).status is RegisterStatus.DUPLICATE_REQUEST


def test_an_execution_takes_its_id_on_all_shards(open_runtime: Open) -> None:
    runtime = open_runtime()
    homes = [sessions_on(runtime, shard)[0] for shard in range(3)]
    assert runtime.translate(request_of("t1", homes[1])).started.get(10).status == "STARTED"
    assert runtime.register(page("t1", homes[2])).get(10).status is RegisterStatus.DUPLICATE_REQUEST
    assert runtime.translate(request_of("t1", homes[0])).started.get(10).status == "DUPLICATE_REQUEST"


def test_the_id_of_a_refused_or_forgotten_request_is_free_in_every_session(open_runtime: Open) -> None:
    runtime = open_runtime(Settings(ledger_entries=0))
    one, other = (sessions_on(runtime, shard)[0] for shard in range(2))
    assert runtime.register(page("r1", one, mode="page")).get(10).status is RegisterStatus.NOT_PARTICIPATING
    assert runtime.register(page("r1", other)).get(10).status is RegisterStatus.REGISTERED
    assert runtime.acknowledge("r1", "p1", "x").get(10).committed == ("p1",)
    assert runtime.register(page("r1", one)).get(10).status is RegisterStatus.REGISTERED
    assert runtime.acknowledge("r1", "p1", "y").get(10).committed == ("p1",)
    assert [turn.assistant for turn in runtime.history(one).get(10)] == ["y"]


def test_what_comes_behind_a_registration_that_has_to_ask_stays_behind_it(
    open_runtime: Open, launcher: ThreadLauncher
) -> None:
    runtime = open_runtime(Settings(ledger_entries=0))
    homes = [sessions_on(runtime, shard)[0] for shard in range(3)]
    runtime.register(page("r1", homes[0])).get(10)
    runtime.cancel("r1").get(10)
    launcher.let_go.clear()
    answers = []
    for session in (homes[1], homes[2], homes[0]):
        answers.append(runtime.register(page("r1", session)))
        answers.append(runtime.acknowledge("r1", "p1", session))
        answers.append(runtime.history(session))
    launcher.let_go.set()
    for place, session in enumerate((homes[1], homes[2], homes[0])):
        registered, acknowledged, history = (answer.get(10) for answer in answers[3 * place : 3 * place + 3])
        assert registered.status is RegisterStatus.REGISTERED
        assert acknowledged.committed == ("p1",)
        assert [turn.assistant for turn in history] == [session]


@pytest.fixture
def few_routes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dragoman.sharding.ray_runtime, "_MAX_ROUTES", 2)


@pytest.mark.usefixtures("few_routes")
def test_a_request_whose_shard_is_forgotten_is_found_by_asking_all(open_runtime: Open) -> None:
    runtime = open_runtime(commit := Settings(commit_order="request", max_sessions=100))
    for number in range(12):
        runtime.register(page(f"r{number}", f"s{number}", "a", "b")).get(10)
    assert len(runtime._router._shards) == 2
    assert runtime.translate(request_of("t", "s"), provider=ScriptedProvider()).started.get(10).status == "STARTED"
    for number in range(20, 24):
        runtime.register(page(f"r{number}", f"s{number}")).get(10)
    with Runtime(commit) as plain:
        for number in range(12):
            plain.register(page(f"r{number}", f"s{number}", "a", "b")).get()
        for number, ask in product(
            range(14),
            (
                lambda runtime, request: runtime.activate(request),
                lambda runtime, request: runtime.acknowledge(request, "a", "x"),
                lambda runtime, request: runtime.reject(request, "b"),
                lambda runtime, request: runtime.request_status(request),
                lambda runtime, request: runtime.cancel(request),
                lambda runtime, request: runtime.time_out(request),
                lambda runtime, request: runtime.request_outcome(request),
            ),
        ):
            assert ask(runtime, f"r{number}").get(10) == ask(plain, f"r{number}").get(10)
    with pytest.raises(UnknownCall):
        runtime.respond("t/9", translations={"p1": "x"}).get(10)
    assert runtime.respond("t/1", translations={"p1": "x"}).get(10) is None


def test_what_nobody_knows_is_answered_as_in_a_runtime(open_runtime: Open) -> None:
    runtime = open_runtime()
    assert runtime.acknowledge("?", "p1", "x").get(10).status is AckStatus.STALE
    assert runtime.activate("?").get(10).status is ActivateStatus.UNKNOWN_REQUEST
    assert runtime.cancel("?").get(10).status is CloseStatus.UNKNOWN_REQUEST
    assert runtime.request_status("?").get(10) == RequestStatus(open=False, cause=None)
    assert runtime.request_outcome("?").get(10) is None


def test_more_than_may_wait_for_a_shard_is_no_request_more(
    open_runtime: Open, launcher: ThreadLauncher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dragoman.sharding.ray_runtime, "_MAX_WAITING", 5)
    runtime = open_runtime(shards=1)
    runtime.register(page("r0", "s")).get(10)
    launcher.let_go.clear()
    acks = [runtime.acknowledge("r0", "p1", "x") for _ in range(600)]
    # Batches of these are on their way; what waits behind them is more than may.
    while len(runtime._router.links[0]) > 600 - 2 * 512 and len(launcher.living(0).batches) < 3:
        acks.append(runtime.acknowledge("r0", "p1", "x"))
    acks += [runtime.acknowledge("r0", "p1", "x") for _ in range(600)]
    refused = runtime.register(page("r1", "s")).get(10)
    started = runtime.translate(request_of("t1", "s")).started.get(10)
    assert refused.status is RegisterStatus.OVERLOADED
    assert started.status == "OVERLOADED"
    launcher.let_go.set()
    assert [ack.get(10).status for ack in acks][:2] == [AckStatus.ACCEPTED, AckStatus.STALE]


def test_the_reports_are_sums_over_all_shards(open_runtime: Open) -> None:
    settings = Settings(max_sessions=40)
    runtime = open_runtime(settings)
    with Runtime(settings) as plain:
        for each in (runtime, plain):
            for number in range(12):
                each.register(page(f"r{number}", f"s{number}", "a", "b")).get(10)
                each.acknowledge(f"r{number}", "a", f"A{number}").get(10)
                each.record_call(f"s{number}", Call("c1", "tutor", "ask"), Outcome.ok([number] * 9)).get(10)
                each.follow_up(f"s{number}", "that answer").get(10)
                each.translate(request_of(f"t{number}", f"s{number}"), provider=ScriptedProvider()).started.get(10)
                each.fail(f"t{number}/1", "MODEL_MISSING").get(10)
            each.content_prompt("s3", conversation_chars=10_000).get(10)
        assert runtime.continuity_report().get(10).counters == plain.continuity_report().get(10).counters
        ours, theirs = (each.continuity_report(budget_bytes=10).get(10) for each in (runtime, plain))
        assert ours == theirs
        assert dict(runtime.statistics().get(10)) == dict(plain.statistics().get(10))
        ours_held, theirs_held = runtime.snapshot(10), plain.snapshot(10)
        for name in ("open_requests", "running", "open_calls"):
            assert sorted(getattr(ours_held, name)) == sorted(getattr(theirs_held, name))
        assert {(session.session_id, session.turns) for session in ours_held.sessions} == {
            (session.session_id, session.turns) for session in theirs_held.sessions
        }
        assert ours_held.store == theirs_held.store
        assert ours_held.counts.sent == ours_held.counts.handled + ours_held.counts.queued


def test_a_change_of_the_policy_holds_on_every_shard(open_runtime: Open) -> None:
    runtime = open_runtime(Settings(maintainers=("ann", "bob")))
    homes = [sessions_on(runtime, shard)[0] for shard in range(3)]
    runtime.propose("x1", "eve", {"store_max_entries": 1}, "seen", "back").get(10)
    assert runtime.apply("x1", "bob").get(10).status == "NOT_APPROVED"
    runtime.approve("x1", "ann").get(10)
    runtime.acknowledge_proposal("x1", "bob").get(10)
    assert runtime.apply("x1", "bob").get(10).status == "APPLIED"
    for session in homes:
        for call in ("c1", "c2"):
            runtime.record_call(session, Call(call, "tutor", "ask"), Outcome.ok(call)).get(10)
    assert {content.entries for content in runtime.snapshot(10).store.sessions.values()} == {1}
    assert len(runtime.retention_audit().get(10)) == 1


def test_the_limits_over_all_sessions_are_those_of_a_shard(open_runtime: Open) -> None:
    runtime = open_runtime(Settings(max_open_handles=1))
    for shard in range(3):
        first, second = sessions_on(runtime, shard, 2)
        assert runtime.register(page(f"a{shard}", first)).get(10).status is RegisterStatus.REGISTERED
        assert runtime.register(page(f"b{shard}", second)).get(10).status is RegisterStatus.OVERLOADED
