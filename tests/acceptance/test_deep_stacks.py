"""A caller whose stack is nearly used up: the call raises or is answered, and harms nobody (design 3.5)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from dragoman import Handoff, Parent, Runtime
from dragoman.actors.mailbox import Envelope
from dragoman.protocol.messages import ReadStatus
from dragoman.protocol.parents import RequestParents

from ..stacks import at_depth

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


class _Shown:
    """Calls something as it is shown."""

    def __init__(self, call: Callable[[], Any]) -> None:
        self._call = call

    def __repr__(self) -> str:
        self._call()
        return ""


def by_frames(levels: int, call: Callable[[], Any]) -> None:
    at_depth(levels, call)


def by_max(levels: int, call: Callable[[], Any]) -> None:
    """Through code that is written in C and calls back: it uses the stack up, too, and is no frame of it."""
    if levels:
        max([1], key=lambda _one: by_max(levels - 1, call) or 1)
    else:
        call()


def by_repr(levels: int, call: Callable[[], Any]) -> None:
    """The same in another way."""
    repr(_Shown(lambda: by_repr(levels - 1, call) if levels else call()))


WAYS: dict[str, tuple[Callable[[int, Callable[[], Any]], None], int]] = {
    "frames": (by_frames, 3),
    "max": (by_max, 1),
    "repr": (by_repr, 1),
}
"""Each with the levels between two that are tried."""


def last_level(way: Callable[[int, Callable[[], Any]], None]) -> int:
    """How many levels there are in one way before the stack ends, seen from the caller."""
    levels = 1
    while True:
        try:
            way(levels, lambda: None)
        except RecursionError:
            return levels
        levels += 1


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", CALLS)
def test_a_call_from_the_end_of_a_stack_is_answered_or_raises_and_harms_nobody(name: str, way: str) -> None:
    go_down, step = WAYS[way]
    last = last_level(go_down)
    with Runtime() as runtime:
        raised = 0
        for level in range(last - 80 * step, last, step):
            request = f"r{level}"
            assert runtime.register(handoff(request)).get(PATIENCE_S).status == "REGISTERED"
            answers: list[Any] = []
            try:
                go_down(level, lambda: answers.append(CALLS[name](runtime, request)))  # noqa: B023
            except RecursionError:
                raised += 1
            for answer in answers:
                answer.get(PATIENCE_S)
            runtime.cancel(request).get(PATIENCE_S)
            assert not runtime.request_status(request).get(PATIENCE_S).open
        assert 0 < raised < 60
        runtime.clear_session("s1").get(PATIENCE_S)
        counts = runtime.snapshot(PATIENCE_S).counts
    assert (counts.failed, counts.queued, counts.sent) == (0, 0, counts.handled + counts.dead)
    assert runtime.close().clean


def test_an_envelope_is_no_clean_text_from_whatever_depth() -> None:
    envelope = '{"translations": [{"id": "p1", "text": "eins"}]}'
    last = last_level(by_frames)
    with Runtime() as runtime:
        statuses = set()
        for level in range(last - 240, last):
            request = f"r{level}"
            runtime.register(handoff(request)).get(PATIENCE_S)
            try:
                answer = at_depth(level, lambda: runtime.acknowledge(request, "p1", envelope))  # noqa: B023
            except RecursionError:
                pass
            else:
                statuses.add(answer.get(PATIENCE_S).status)
            runtime.cancel(request).get(PATIENCE_S)
    assert statuses == {"INVALID_RESULT"}


def test_an_ack_that_was_answered_at_the_end_of_a_stack_counts_though_another_message_came(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    accept = RequestParents.accept
    last = last_level(by_frames)
    with Runtime() as runtime:
        coordinator: Any = runtime._coordinator.actor
        ends: set[tuple[str, str]] = set()
        for level in range(last - 120, last):
            request = f"r{level}"
            runtime.register(handoff(request)).get(PATIENCE_S)
            mailbox = coordinator._routes[request].mailbox

            def accept_as_another_sends(parents: RequestParents, parent_id: str, result: object) -> Any:
                status = accept(parents, parent_id, result)
                mailbox._incoming = [Envelope(ReadStatus(request))]  # noqa: B023
                mailbox._queued += 1  # noqa: B023
                return status

            with monkeypatch.context() as patch:
                patch.setattr(RequestParents, "accept", accept_as_another_sends)
                try:
                    answer = at_depth(level, lambda: runtime.acknowledge(request, "p1", "eins"))  # noqa: B023
                except RecursionError:
                    told = "RecursionError"
                else:
                    patch.undo()
                    told = str(answer.get(PATIENCE_S).status)
            ends.add((told, str(runtime.request_status(request).get(PATIENCE_S).parents["p1"])))
            runtime.cancel(request).get(PATIENCE_S)
    assert ends == {("RecursionError", "PENDING"), ("ACCEPTED", "ACCEPTED")}
