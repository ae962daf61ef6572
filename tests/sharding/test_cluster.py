"""A real cluster of two nodes: shards on both, a shard killed under load, a node that dies."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from itertools import count
from typing import Any

import pytest

from dragoman import AckStatus, InvalidArgument, ProviderCall, RegisterStatus, Settings
from dragoman.protocol.calls import Completion
from dragoman.sharding import RayRuntime, ShardLost

from .pages import page, request_of, sessions_on

PATIENCE_S = 60.0


@pytest.fixture(scope="module")
def runtime(cluster: Any) -> Iterator[RayRuntime]:
    """One for all tests here, since a process takes a second to start: each has ids of its own."""
    assert len(cluster.list_all_nodes()) == 2
    with RayRuntime(Settings(max_sessions=1_000, max_turns=100_000), shards=4) as runtime:
        yield runtime


def nodes_of(runtime: RayRuntime) -> list[str]:
    """The node that each shard lives on."""
    import ray

    for shard in range(4):
        runtime.history(sessions_on(runtime, shard)[0]).get(PATIENCE_S)
    actors = [link._remote._actor for link in runtime._router.links]
    return ray.get([actor.__ray_call__.remote(_node) for actor in actors])


def _node(_shard: object) -> str:
    import ray

    return str(ray.get_runtime_context().get_node_id())


def test_the_shards_live_on_both_nodes(runtime: RayRuntime) -> None:
    assert len(set(nodes_of(runtime))) == 2


def test_a_turn_is_one_of_its_session_alone(runtime: RayRuntime) -> None:
    for number in range(20):
        runtime.register(page(f"own {number}", f"own {number}", "a", "b"))
        runtime.acknowledge(f"own {number}", "b", f"B{number}")
    committed = [runtime.acknowledge(f"own {number}", "a", f"A{number}") for number in range(20)]
    assert {reply.get(PATIENCE_S).committed for reply in committed} == {("a", "b")}
    for number in range(20):
        turns = runtime.history(f"own {number}").get(PATIENCE_S)
        assert [(turn.user, turn.assistant) for turn in turns] == [("a", f"A{number}"), ("b", f"B{number}")]


def test_an_answer_may_be_awaited(runtime: RayRuntime) -> None:
    async def run() -> list[Any]:
        await runtime.register(page("awaited", "s"))
        return list(await asyncio.gather(*(runtime.request_status("awaited") for _ in range(50))))

    assert all(status.open for status in asyncio.run(run()))


class Upper:
    """A provider of the caller's own, which the shard makes from its pickle."""

    async def complete(self, call: ProviderCall) -> Completion:
        translations = [{"id": unit.id, "text": unit.text.upper()} for unit in call.units]
        return Completion(json.dumps({"translations": translations}))


def test_a_translation_runs_in_the_shard_and_is_acknowledged_by_hand(runtime: RayRuntime) -> None:
    events = []
    translation = runtime.translate(
        request_of("translated", "translated", "good"), provider=Upper(), progress=events.append
    )
    assert translation.get(PATIENCE_S).text("good") == "GOOD"
    assert runtime.acknowledge("translated", "good", "GOOD").get(PATIENCE_S).committed == ("good",)
    assert runtime.statistics().get(PATIENCE_S)["openai"].calls == 1
    assert [event.kind for event in events] == ["DISPATCHED"]


def test_a_shard_killed_under_load_takes_only_its_own(runtime: RayRuntime) -> None:
    """No turn twice, none out of order; the callers of the other shards see nothing of it."""
    import ray

    callers = [_Caller(runtime, shard, sessions_on(runtime, shard, 3)) for shard in range(4)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.reached(30)
    ray.kill(runtime._router.links[2]._remote._actor)
    for caller in callers:
        caller.reached(caller.done + 60)
        caller.finish()
    assert callers[2].lost
    assert callers[2].lost_of <= {2}
    for caller in callers:
        assert not caller.faults
        if caller.shard != 2:
            assert not caller.lost
        for session in caller.sessions:
            assert_in_order(runtime, session, caller)
    assert [link.incarnation for link in runtime._router.links] == [1, 1, 2, 1]


def assert_in_order(runtime: RayRuntime, session: str, caller: _Caller) -> None:
    turns = [turn.assistant for turn in runtime.history(session, max_turns=1_000_000).get(PATIENCE_S)]
    told = caller.accepted[session]
    assert turns == told
    assert len(set(turns)) == len(turns)


class _Caller(threading.Thread):
    """Registers pages and acknowledges them, some at a time, until it is told to finish; what it was told it keeps.

    `accepted`: the results that were told as committed, by session and in the order of registration, of the life of the
    shard that answered last.
    """

    def __init__(self, runtime: RayRuntime, shard: int, sessions: list[str]) -> None:
        super().__init__(daemon=True)
        self.runtime, self.shard, self.sessions = runtime, shard, sessions
        self.accepted: dict[str, list[str]] = {session: [] for session in sessions}
        self.lost = 0
        self.lost_of: set[int] = set()
        self.faults: list[BaseException] = []
        self.done = 0
        self._finishing = False
        self._progress = threading.Condition()

    def reached(self, pages: int) -> None:
        with self._progress:
            assert self._progress.wait_for(lambda: self.done >= pages or self.faults, PATIENCE_S)

    def finish(self) -> None:
        self._finishing = True
        self.join(PATIENCE_S)
        assert not self.is_alive()

    def run(self) -> None:
        try:
            for number in count():
                if self._finishing:
                    return
                self._page(f"{self.shard}-{number}", self.sessions[number % len(self.sessions)])
                with self._progress:
                    self.done += 1
                    self._progress.notify_all()
        except BaseException as fault:
            self.faults.append(fault)
            with self._progress:
                self._progress.notify_all()

    def _page(self, request: str, session: str) -> None:
        registered = self.runtime.register(page(request, session, "a", "b", "c"))
        replies = [self.runtime.acknowledge(request, parent, f"{request}/{parent}") for parent in "cab"]
        try:
            assert registered.get(PATIENCE_S).status is RegisterStatus.REGISTERED
            statuses = [reply.get(PATIENCE_S).status for reply in replies]
        except ShardLost as lost:
            self.lost_of.add(lost.shard)
            self._forget()
            return
        if AckStatus.STALE in statuses:
            self._forget()  # they were not sent yet when the shard was lost, and came to its next life
            return
        assert set(statuses) == {AckStatus.ACCEPTED}
        self.accepted[session] += [f"{request}/{parent}" for parent in "abc"]

    def _forget(self) -> None:
        """The shard comes back empty, but for what was not sent yet when it was lost."""
        self.lost += 1
        for session in self.accepted:
            turns = self.runtime.history(session, max_turns=1_000_000).get(PATIENCE_S)
            self.accepted[session] = [turn.assistant for turn in turns]


def ask_for_ever(runtime: RayRuntime) -> None:
    """The processes of a node live on for some moments when it dies, and answer."""
    while True:
        runtime.request_status("r").get(PATIENCE_S)


def test_a_node_that_dies_takes_its_shards_alone(cluster: Any, runtime: RayRuntime) -> None:
    nodes = nodes_of(runtime)
    third = cluster.add_node(num_cpus=8, resources={"third": 8})
    with RayRuntime(shards=1, actor_options={"resources": {"third": 1}}, start_timeout=3.0) as other:
        assert other.register(page("r", "s")).get(PATIENCE_S).status is RegisterStatus.REGISTERED
        assert runtime.register(page("stays", "stays")).get(PATIENCE_S).status is RegisterStatus.REGISTERED
        cluster.remove_node(third, allow_graceful=False)
        with pytest.raises(ShardLost) as lost:
            ask_for_ever(other)
        assert (lost.value.shard, lost.value.incarnation) == (0, 1)
        # There is no other node of its kind: whoever calls is told so, and not left waiting.
        with pytest.raises(ShardLost, match="not_started"):
            other.request_status("r").get(PATIENCE_S)
    assert runtime.acknowledge("stays", "p1", "x").get(PATIENCE_S).committed == ("p1",)
    assert nodes_of(runtime) == nodes


@pytest.mark.usefixtures("cluster")
def test_options_that_would_repeat_calls_are_refused() -> None:
    with pytest.raises(InvalidArgument, match="max_restarts"):
        RayRuntime(actor_options={"max_restarts": 3})
    with pytest.raises(InvalidArgument, match="actor_options"):
        RayRuntime(actor_options={"no_such_option": 3})
