"""Faults of order, planted: each is right in plain FIFO and wrong in some other order."""

from __future__ import annotations

from typing import Any

import pytest

from dragoman.actors.actor import Actor
from dragoman.actors.coordinator import AcceptanceCoordinator
from dragoman.actors.handle import AcceptanceHandle
from dragoman.actors.lanes import Lane
from dragoman.protocol.messages import Acknowledge

from ..planting import Mutants, replace_handler

FAULTS = Mutants()
fault = FAULTS.add


@fault
def does_not_await_a_commit_in_flight(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(AcceptanceHandle, "receive", Actor.receive)


@fault
def does_not_wait_for_answers_on_their_way(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Lane, "next_answer", property(lambda _self: None))


@fault
def fails_when_an_ack_finds_another_operation_before_it(patch: pytest.MonkeyPatch) -> None:
    def wrap(original: Any, self: Any, message: Any, envelope: Any) -> Any:
        if isinstance(message, Acknowledge):
            lane = self._routes[message.request_id].lane if message.request_id in self._routes else None
            if lane is not None and not lane.open:
                raise RuntimeError("planted")
        return original(self, message, envelope)

    replace_handler(patch, AcceptanceCoordinator, "Acknowledge", wrap)
