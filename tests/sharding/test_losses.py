"""A shard that is lost takes what it held, and nothing else."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from dragoman import AckStatus, CloseCause, RegisterStatus, RequestStatus, Settings
from dragoman.sharding import RayRuntime, ShardLost
from dragoman.sharding.errors import LossReason
from dragoman.sharding.launching import Done

from .in_threads import ThreadLauncher, ThreadShard
from .pages import page, request_of, sessions_on

Open = Callable[..., RayRuntime]


def test_what_was_sent_and_not_answered_is_lost_and_the_shard_comes_back_empty(
    open_runtime: Open, launcher: ThreadLauncher
) -> None:
    runtime = open_runtime()
    (mine,), (other,) = sessions_on(runtime, 1), sessions_on(runtime, 2)
    for request, session in (("r1", mine), ("r2", other)):
        assert runtime.register(page(request, session)).get(10).status is RegisterStatus.REGISTERED
    launcher.let_go.clear()
    ack = runtime.acknowledge("r1", "p1", "x")
    runtime._courier.do(launcher.living(1).kill)
    with pytest.raises(ShardLost) as lost:
        ack.get(10)
    assert (lost.value.shard, lost.value.incarnation, lost.value.reason) == (1, 1, "died")
    launcher.let_go.set()
    # It comes back empty: what names a request that it held is answered as for one that was never seen.
    assert runtime.acknowledge("r1", "p1", "x").get(10).status is AckStatus.STALE
    assert runtime.activate("r1").get(10).status == "UNKNOWN_REQUEST"
    assert runtime.request_status("r1").get(10) == RequestStatus(open=False, cause=None)
    assert runtime.register(page("r1", mine)).get(10).status is RegisterStatus.REGISTERED
    assert runtime.acknowledge("r1", "p1", "x").get(10).committed == ("p1",)
    assert runtime.request_status("r1").get(10).cause is CloseCause.COMPLETED
    # The others have seen nothing of it.
    assert runtime.acknowledge("r2", "p1", "x").get(10).committed == ("p1",)
    assert [link.incarnation for link in runtime._router.links] == [1, 2, 1]


def test_nothing_is_sent_twice(open_runtime: Open, launcher: ThreadLauncher) -> None:
    runtime = open_runtime(shards=1)
    runtime.history("s1").get(10)
    launcher.let_go.clear()
    answers = [runtime.claim_turn("s1") for _ in range(2_000)]
    first = launcher.living(0)
    while len(first.batches) < 3:  # one for the history, two on their way
        asyncio.run(asyncio.sleep(0))
    first.kill()
    launcher.let_go.set()
    lost, claimed = 0, []
    for answer in answers:
        try:
            claimed.append(answer.get(10))
        except ShardLost:
            lost += 1
    # What was on its way is lost; what was not sent yet went to the next life, in its order and once.
    assert lost == sum(first.batches) - 1
    assert claimed == list(range(1, 2_001 - lost))
    assert sum(launcher.living(0).batches) == len(claimed)


def test_an_execution_is_lost_with_its_shard(open_runtime: Open, launcher: ThreadLauncher) -> None:
    runtime = open_runtime(shards=1)
    translation = runtime.translate(request_of("t1", "s1"))
    assert translation.started.get(10).status == "STARTED"
    launcher.living(0).kill()
    with pytest.raises(ShardLost):
        translation.get(10)
    assert runtime.request_outcome("t1").get(10) is None


def test_a_lost_shard_comes_back_with_the_switch_and_the_policy_in_force(
    open_runtime: Open, launcher: ThreadLauncher
) -> None:
    runtime = open_runtime(Settings(maintainers=("ann", "bob")), shards=2)
    runtime.configure(history_enabled=False).get(10)
    runtime.propose("x1", "ann", {"store_max_entries": 7, "store_ttl": 90.0}, "seen", "back").get(10)
    runtime.approve("x1", "ann").get(10)
    runtime.acknowledge_proposal("x1", "bob").get(10)
    assert runtime.apply("x1", "bob").get(10).status == "APPLIED"
    launcher.living(0).kill()
    (session,) = sessions_on(runtime, 0)
    while True:
        try:
            registered = runtime.register(page("r1", session)).get(10)
            break
        except ShardLost:
            continue
    assert registered.status is RegisterStatus.NOT_PARTICIPATING
    retention = runtime.continuity_report().get(10).retention
    assert (retention.max_entries, retention.ttl_us) == (7, 90_000_000)
    assert dict(runtime.proposals().get(10)) == {"x1": "applied"}
    assert runtime._router.links[0].incarnation == 2


def test_a_change_that_a_shard_was_lost_with_holds_on_it_too(open_runtime: Open, launcher: ThreadLauncher) -> None:
    runtime = open_runtime(shards=2)
    for shard in range(2):
        runtime.history(sessions_on(runtime, shard)[0]).get(10)
    launcher.let_go.clear()
    configured = runtime.configure(history_enabled=False)
    first = launcher.living(0)
    while len(first.batches) < 2:
        asyncio.run(asyncio.sleep(0))
    first.kill()
    launcher.let_go.set()
    assert configured.get(10).status == "CONFIGURED"
    (session,) = sessions_on(runtime, 0)
    assert runtime.register(page("r1", session)).get(10).status is RegisterStatus.NOT_PARTICIPATING


def test_a_report_over_all_shards_is_lost_with_one_of_them(open_runtime: Open, launcher: ThreadLauncher) -> None:
    runtime = open_runtime(shards=2)
    for shard in range(2):
        runtime.history(sessions_on(runtime, shard)[0]).get(10)
    launcher.let_go.clear()
    statistics = runtime.statistics()
    first = launcher.living(0)
    while len(first.batches) < 2:
        asyncio.run(asyncio.sleep(0))
    first.kill()
    launcher.let_go.set()
    with pytest.raises(ShardLost):  # half a sum would be no answer
        statistics.get(10)


class _Broken:
    """Starts shards that answer nothing, or with nonsense."""

    def __init__(self, answer: object, reason: LossReason | None) -> None:
        self.answer, self.reason = answer, reason
        self.started = 0

    def pickled(self, provider: object) -> bytes:
        raise NotImplementedError

    def launch(self, _shard: int) -> _Broken:
        self.started += 1
        return self

    def call(self, method: str, *_arguments: object, done: Done) -> None:
        if method == "open" and self.answer is not None:
            done(1, None)
        elif self.answer is not None or self.reason is not None:
            done(self.answer, self.reason)

    def kill(self) -> None:
        """There is nothing to end."""


def test_a_shard_that_cannot_start_is_tried_again_by_each_call() -> None:
    launcher = _Broken(None, LossReason.DIED)
    with RayRuntime(shards=1, launcher=launcher) as runtime:
        for _ in range(3):
            with pytest.raises(ShardLost) as lost:
                runtime.history("s1").get(10)
            assert lost.value.reason == "not_started"
        assert 3 <= launcher.started <= 4


def test_a_shard_that_takes_too_long_to_start_is_given_up() -> None:
    launcher = _Broken(None, None)
    runtime = RayRuntime(shards=1, launcher=launcher, start_timeout=0.05)
    with pytest.raises(ShardLost, match="not_started"):
        runtime.history("s1").get(10)
    runtime.close(0.2)


def test_a_shard_that_answers_nonsense_is_ended() -> None:
    launcher = _Broken(b"nonsense", None)
    runtime = RayRuntime(shards=1, launcher=launcher)
    with pytest.raises(ShardLost) as lost:
        runtime.history("s1").get(10)
    assert lost.value.reason == "failed"
    runtime.close(0.2)


def test_the_callers_of_a_forgotten_runtime_are_answered(launcher: ThreadLauncher) -> None:
    import gc

    from dragoman import ActorStopped

    launcher.let_go.clear()
    answer = RayRuntime(shards=1, launcher=launcher).history("s1")
    gc.collect()
    with pytest.raises(ActorStopped):
        answer.get(10)


def test_the_loss_of_a_shard_is_an_error_that_can_be_sent_and_shows_no_text() -> None:
    import pickle

    lost = ShardLost(3, 2, LossReason.DIED)
    copy = pickle.loads(pickle.dumps(lost))
    assert (copy.shard, copy.incarnation, copy.reason) == (3, 2, "died")
    assert isinstance(copy, ConnectionError)
    assert str(copy) == "shard 3 was lost in its life 2 (died), with all that it held"


def test_an_answer_of_an_earlier_life_changes_nothing(open_runtime: Open, launcher: ThreadLauncher) -> None:
    runtime = open_runtime(shards=1)
    runtime.history("s1").get(10)
    link = runtime._router.links[0]
    old: ThreadShard = launcher.living(0)
    old.kill()
    while True:
        try:
            assert runtime.claim_turn("s1").get(10) == 1
            break
        except ShardLost:
            continue
    link._later(link._opened, old, None, LossReason.DIED)
    assert runtime.claim_turn("s1").get(10) == 2
    assert link.incarnation == 2
