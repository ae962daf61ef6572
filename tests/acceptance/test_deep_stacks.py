"""A caller whose stack is nearly used up: the call raises or is answered, and harms nobody (design 3.5)."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest

from dragoman import Handoff, Parent, Runtime

from ..stacks import at_depth, stack_depth

PATIENCE_S = 20.0

Call = Callable[[Runtime, str], Any]

CALLS: dict[str, Call] = {
    "register": lambda runtime, request: runtime.register(handoff(f"{request} again")),
    "activate": lambda runtime, request: runtime.activate(request),
    "commit": lambda runtime, request: runtime.acknowledge(request, "p0", "eins"),
    "move": lambda runtime, request: runtime.acknowledge(request, "p1", "zwei"),
    "reject": lambda runtime, request: runtime.reject(request, "p1"),
    "cancel": lambda runtime, request: runtime.cancel(request),
    "read": lambda runtime, _request: runtime.history("s1"),
    "clear": lambda runtime, _request: runtime.clear_session("s1"),
}


def handoff(request: str) -> Handoff:
    parents = tuple(Parent(f"p{place}", place, f"source {place}") for place in range(3))
    return Handoff(request, "s1", "openai", "select-element", parents)


@pytest.mark.parametrize("name", CALLS)
def test_a_call_from_the_end_of_a_stack_is_answered_or_raises_and_harms_nobody(name: str) -> None:
    used = stack_depth()
    with Runtime() as runtime:
        raised = 0
        for left in range(2, 240, 3):
            request = f"r{left}"
            assert runtime.register(handoff(request)).get(PATIENCE_S).status == "REGISTERED"
            try:
                answer = at_depth(sys.getrecursionlimit() - used - left, lambda: CALLS[name](runtime, request))  # noqa: B023
            except RecursionError:
                raised += 1
            else:
                answer.get(PATIENCE_S)
            runtime.cancel(request).get(PATIENCE_S)
            assert not runtime.request_status(request).get(PATIENCE_S).open
        assert 0 < raised < 40
        runtime.clear_session("s1").get(PATIENCE_S)
        counts = runtime.snapshot(PATIENCE_S).counts
    assert (counts.failed, counts.queued, counts.sent) == (0, 0, counts.handled + counts.dead)
    assert runtime.close().clean
