"""A Hypothesis state machine over both dispatchers against the model: what fails here, shrinks."""

from __future__ import annotations

from typing import Any

import hypothesis.strategies as st
from hypothesis import HealthCheck, settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from dragoman import Runtime, SimulatedDispatcher, ThreadDispatcher

from .model import Model
from .walk import (
    PARENTS,
    REQUESTS,
    SESSIONS,
    TTL,
    WINDOW,
    Limits,
    Operation,
    at_once,
    matching_models,
    post,
    reply_of,
    settled,
    state_of,
    statuses_of,
    timeless,
)

requests = st.sampled_from(REQUESTS)
sessions = st.sampled_from(SESSIONS)
parents = st.sampled_from(PARENTS)

registrations = st.tuples(
    st.just("register"),
    requests,
    sessions,
    st.integers(1, 3).map(lambda count: tuple((name, f"source of {name}") for name in PARENTS[:count])),
)
acks = st.tuples(st.just("ack"), requests, parents | st.just("p9"), st.sampled_from(("one", "two", " ")))
operations: st.SearchStrategy[Operation] = st.one_of(
    registrations,
    acks,
    st.tuples(st.just("reject"), requests, parents),
    st.tuples(st.sampled_from(("activate", "cancel", "dispatch_failed")), requests),
    st.tuples(st.sampled_from(("clear", "claim")), sessions),
    st.tuples(st.just("read"), sessions, st.sampled_from((0, 1, 10))),
    st.tuples(st.just("fail"), sessions, st.integers(0, 2)),
    st.tuples(st.just("switch"), st.booleans()),
)
limits = st.builds(
    Limits,
    commit_order=st.sampled_from(("session", "request")),
    max_sessions=st.integers(0, 3),
    max_turns=st.integers(0, 4),
    max_open_handles=st.integers(0, 5),
    ledger_entries=st.sampled_from((0, 1, 2, 100)),
)
pauses = st.sampled_from((1, 1000, WINDOW // 2, WINDOW - 1, WINDOW, WINDOW + 1, TTL - 1, TTL, TTL + 1))


class Beside(RuleBasedStateMachine):
    """The runtime and the models that explain what it has done so far."""

    runtime: Runtime
    models: list[Model]

    def compare(self, group: list[Operation], replies: list[Any], *, any_order: bool) -> None:
        state, statuses = settled(self.runtime) if any_order else (state_of(self.runtime), statuses_of(self.runtime))
        self.models = matching_models(self.models, group, replies, state, statuses, any_order=any_order)

    def teardown(self) -> None:
        if hasattr(self, "runtime"):
            report = self.runtime.close()
            assert report.clean
            assert report.counts.failed == 0
            assert report.counts.sent == report.counts.handled + report.counts.dead


class VirtualTime(Beside):
    @initialize(limits=limits)
    def begin(self, limits: Limits) -> None:
        self.dispatcher = SimulatedDispatcher()
        self.runtime = Runtime(limits.settings(), dispatcher=self.dispatcher)
        self.models = [limits.model()]

    @rule(pause=pauses)
    def time_passes(self, pause: int) -> None:
        self.dispatcher.advance(pause)
        for model in self.models:
            model.advance(pause)
        self.compare([], [], any_order=False)

    @rule(group=st.lists(operations, min_size=1, max_size=3))
    def together(self, group: list[Operation]) -> None:
        futures = [post(self.runtime, operation) for operation in group]
        self.dispatcher.run()
        replies = [reply_of(operation, future) for operation, future in zip(group, futures, strict=True)]
        self.compare(group, replies, any_order=False)


class Threads(Beside):
    @initialize(limits=limits)
    def begin(self, limits: Limits) -> None:
        settings, model = timeless(limits)
        self.runtime = Runtime(settings, dispatcher=ThreadDispatcher())
        self.models = [model]

    @rule(group=st.lists(operations, min_size=1, max_size=3))
    def at_once(self, group: list[Operation]) -> None:
        self.compare(group, at_once(self.runtime, group), any_order=True)


common = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True)
TestVirtualTime = VirtualTime.TestCase
TestVirtualTime.settings = settings(common, max_examples=80, stateful_step_count=30)
TestThreads = Threads.TestCase
TestThreads.settings = settings(common, max_examples=25, stateful_step_count=20)
