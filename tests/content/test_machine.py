"""A Hypothesis state machine over the runtime and the model: what fails here, shrinks."""

from __future__ import annotations

from typing import Any

import hypothesis.strategies as st
from hypothesis import HealthCheck, settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from dragoman import Runtime, SimulatedDispatcher

from .model import MAINTAINERS
from .operations import CALLS, CHANGES, GARBAGE, PEOPLE, REQUESTS, SAYINGS, SESSIONS, VALUES, Operation
from .walk import SESSION_TTL, Limits, Walk, agreement, check_bounds

sessions = st.sampled_from(SESSIONS[:2])
"""Few, so that they meet; there is room for one of them, for both, or for none."""
calls = st.sampled_from((*CALLS[:5], CALLS[-1]))
requests = st.sampled_from(REQUESTS[:2])
parents = st.sampled_from(("p1", "p2"))
names = calls | st.sampled_from(GARBAGE) | st.builds("{}/{}".format, requests, parents)
places = st.integers(0, 60)
"""Of a ref among all that were seen."""
limits = st.builds(
    Limits,
    max_entries=st.integers(0, 4),
    max_bytes=st.sampled_from((0, 4, 24, 64)),
    total_bytes=st.sampled_from((0, 24, 64, 10**6)),
    ttl=st.sampled_from((None, 0, 0.7, SESSION_TTL / 1e6)),
    capture_nested=st.booleans(),
    capture_errors=st.booleans(),
    enabled=st.sampled_from((True, True, True, True, False)),
    max_sessions=st.integers(0, 2),
    max_turns=st.integers(0, 2),
    max_call_records=st.sampled_from((0, 1, 3, 50)),
)
changes = st.sampled_from(tuple(CHANGES)).flatmap(
    lambda name: st.sampled_from(CHANGES[name]).map(lambda value: {name: value})
)
records = st.tuples(
    st.just("record"), sessions, calls, st.integers(0, 2), st.booleans(), st.booleans(), st.sampled_from(tuple(VALUES))
)
refers = st.tuples(st.just("refer"), sessions, calls, calls)
fetches = st.tuples(st.just("fetch"), sessions, names)
sayings = st.builds(
    lambda session, say, max_bytes: ("follow", session, say, None, max_bytes),
    sessions,
    st.sampled_from(SAYINGS),
    st.sampled_from((None, 0, 4)),
)
acks = st.tuples(st.just("ack"), requests, parents, st.sampled_from(("ab", "äö", "long " * 4)))
operations: st.SearchStrategy[Operation] = st.one_of(
    records,
    refers,
    fetches,
    sayings,
    acks,
    st.tuples(st.just("register"), requests, sessions, st.sampled_from((("p1",), ("p1", "p2")))),
    st.tuples(st.just("cancel"), requests),
    st.tuples(st.sampled_from(("read", "clear")), sessions),
)


class Content(RuleBasedStateMachine):
    """The runtime and the models that explain what it has done so far."""

    walking: Walk

    @initialize(limits=limits)
    def begin(self, limits: Limits) -> None:
        runtime = Runtime(limits.settings(), dispatcher=SimulatedDispatcher())
        self.walking = Walk(runtime, [limits.model()])

    @rule(operation=records | records | refers)
    def a_call(self, operation: Operation) -> None:
        self.walking.step([operation])

    @rule(session=sessions, name=names)
    def a_look_up(self, session: str, name: str) -> None:
        self.walking.step([("fetch", session, name)])

    @precondition(lambda self: self.walking.refs)
    @rule(session=sessions, place=places)
    def a_look_up_by_ref(self, session: str, place: int) -> None:
        self.walking.step([("fetch", session, self._ref(place))])

    @precondition(lambda self: self.walking.refs)
    @rule(session=sessions, place=places, max_bytes=st.sampled_from((None, 0, 4)))
    def a_follow_up_by_ref(self, session: str, place: int, max_bytes: int | None) -> None:
        ref = self._ref(place)
        self.walking.step([("follow", session, f"show {ref}", ref, max_bytes)])

    @rule(session=sessions, call=calls, max_bytes=st.sampled_from((None, 0, 4)))
    def a_follow_up_by_id(self, session: str, call: str, max_bytes: int | None) -> None:
        self.walking.step([("follow", session, f"show {call}", call, max_bytes)])

    @rule(operation=operations)
    def anything(self, operation: Operation) -> None:
        self.walking.step([operation])

    @rule(group=st.lists(operations, min_size=2, max_size=4))
    def several_at_once(self, group: list[Operation]) -> None:
        self.walking.step(group)

    @precondition(lambda self: self.walking.model.ends())
    @rule(place=st.integers(0, 5), tick=st.integers(-1, 1))
    def time_passes_until_something_ends(self, place: int, tick: int) -> None:
        """To the last instant but one before it is gone, to the last one, and to the first one after."""
        ends = self.walking.model.ends()
        at = ends[min(place, len(ends) - 1)][0]
        self._pause(max(0, at - 1 + tick - self.walking.model.now))

    @rule(pause=st.sampled_from((1, 1000, SESSION_TTL // 3)))
    def time_passes(self, pause: int) -> None:
        self._pause(pause)

    @rule(change=changes, beside=st.lists(operations, max_size=2))
    def the_policy_changes(self, change: dict[str, Any], beside: list[Operation]) -> None:
        proposal = f"q{len(self.walking.model.proposals)}"
        self.walking.one_by_one(agreement(proposal, change))
        self.walking.step([("apply", proposal, MAINTAINERS[0]), *beside])

    @rule(
        act=st.sampled_from(("approve", "acknowledge", "apply", "refuse")),
        proposal=st.integers(0, 2),
        by=st.sampled_from(PEOPLE),
    )
    def somebody_decides(self, act: str, proposal: int, by: str) -> None:
        self.walking.step([(act, f"q{proposal}", by)])

    @rule(proposal=st.integers(0, 2), change=changes | st.sampled_from(({}, {"max_turns": 1}, {"store_ttl": -1})))
    def somebody_proposes(self, proposal: int, change: dict[str, Any]) -> None:
        self.walking.step([("propose", f"q{proposal}", tuple(change.items()), "seen in the field")])

    @rule()
    def everybody_is_asked_for(self) -> None:
        self.walking.look([*self.walking.refs[-8:], *CALLS[:5]])

    @invariant()
    def the_bounds_hold(self) -> None:
        if hasattr(self, "walking"):
            check_bounds(self.walking.runtime.snapshot(10))

    def _ref(self, place: int) -> str:
        return self.walking.refs[place % len(self.walking.refs)]

    def _pause(self, delta: int) -> None:
        self.walking.pause(delta)
        self.walking.step([])

    def teardown(self) -> None:
        if not hasattr(self, "walking"):
            return
        if self.walking.models:
            self.walking.look_everything_up()
        report = self.walking.runtime.close()
        assert report.clean
        assert report.counts.failed == 0
        assert report.counts.sent == report.counts.handled + report.counts.dead


TestContent = Content.TestCase
TestContent.settings = settings(
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
    derandomize=True,
    max_examples=50,
    stateful_step_count=40,
)
