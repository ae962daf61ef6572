"""Acceptance in a Ray actor, where Ray is installed; it is no dependency of anything here.

A Ray actor is a process, so that one a handle is out of question: all of `plain` lives in one, and what is measured is
the way there and back.
"""

from __future__ import annotations

import importlib
import os
import sys
from importlib.util import find_spec
from typing import Any

from dragoman import Settings

from .clock import clock
from .committed import Answers
from .contestants import check_opened
from .plain import Plain
from .workload import Workload

__all__ = ["connected", "ray_blocking", "ray_in_flight", "why_no_ray"]

_IN_FLIGHT = 500


def why_no_ray() -> str | None:
    """Why this contestant cannot take part; None if it can."""
    return None if find_spec("ray") is not None else "Ray is not installed"


def connected() -> Any:
    """Ray, connected to a cluster of this process alone if it is to none."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    ray = importlib.import_module("ray")
    if not ray.is_initialized():
        ray.init(address="local", num_cpus=1, include_dashboard=False, log_to_driver=False)
    # What the contestants are made of is in no path of the processes that Ray starts.
    ray.cloudpickle.register_pickle_by_value(sys.modules[__package__])
    return ray


class _Memory(Plain):
    """`plain`, with ACKs and rejections through one method."""

    def settle(self, request_id: str, parent_id: str, result: str | None) -> Any:
        if result is None:
            return self.reject(request_id, parent_id)
        return self.acknowledge(request_id, parent_id, result)


def ray_blocking(workload: Workload, settings: Settings) -> tuple[float, Answers]:
    """One caller that waits for each answer."""
    return _run(workload, settings, 1)


def ray_in_flight(workload: Workload, settings: Settings) -> tuple[float, Answers]:
    """One caller that sends 500 calls, then takes their answers."""
    return _run(workload, settings, _IN_FLIGHT)


def _run(workload: Workload, settings: Settings, count: int) -> tuple[float, Answers]:
    ray = connected()
    memory = ray.remote(_Memory).remote(settings)

    def call(method: Any, arguments: list[tuple[Any, ...]]) -> list[Any]:
        answers: list[Any] = []
        for first in range(0, len(arguments), count):
            answers += ray.get([method.remote(*given) for given in arguments[first : first + count]])
        return answers

    try:
        ray.get(memory.history.remote("nobody"))
        began = clock.now()
        registered = call(memory.register, [(handoff,) for handoff in workload.handoffs])
        activated = call(memory.activate, [(handoff.request_id,) for handoff in workload.handoffs])
        replies = call(memory.settle, list(workload.operations))
        took_s = clock.now() - began
        check_opened(registered, activated)
        reads = [memory.history.remote(name, max_turns=settings.max_turns) for name in workload.sessions]
        return took_s, Answers(replies, dict(zip(workload.sessions, ray.get(reads), strict=True)))
    finally:
        ray.kill(memory)
