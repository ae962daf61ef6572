"""A lane that says it is quiet is so: an ACK is then answered at once, past whatever would be in it (C15)."""

from __future__ import annotations

from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from dragoman.actors.futures import Future
from dragoman.actors.lanes import Lane
from dragoman.actors.mailbox import Envelope

STEPS = st.sampled_from(["hold", "release", "enter", "answer", "enter nothing", "wait", "resume", "rest", "look"])


@given(st.lists(STEPS, max_size=20))
@example(["wait", "wait", "resume", "look"])
def test_a_lane_is_quiet_only_while_nothing_holds_it_waits_or_is_on_its_way(steps: list[str]) -> None:
    lane = Lane("s1")
    route: Any = object()
    held, unanswered = False, list[Future[None]]()
    for step in steps:
        if step == "hold":
            lane.hold("opening")
            held = True
        elif step == "release":
            lane.release("opening")
            held = False
        elif step == "enter":
            unanswered.append(Future())
            lane.enter(route, unanswered[-1])
        elif step == "enter nothing":
            lane.enter(route, None)
        elif step == "answer" and unanswered:
            unanswered.pop().set()
        elif step == "wait":
            lane.wait(Envelope("an operation"))
        elif step == "resume" and lane.waiting:
            lane.resuming = True
            lane.waiting.popleft()
        elif step == "rest":
            lane.resuming = False
        elif step == "look":
            assert lane.open == (not held and not unanswered and (lane.resuming or not lane.waiting))
            assert lane.quiet or held or unanswered or lane.waiting
        assert not lane.quiet or not (held or unanswered or lane.waiting)
