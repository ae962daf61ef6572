"""What others take for the acceptance workload, over `plain`: stock pykka, one asyncio task a handle, Ray.

Where they are slow the workload is smaller, and all of them do the same one: the times are by the accepted parent.
"""

from __future__ import annotations

from functools import partial

from dragoman import Settings

from .committed import Order
from .contestants import Contestant, plain, seconds
from .figures import Comparison, Figure, compare
from .on_ray import ray_blocking, ray_in_flight, why_no_ray
from .plain import LEFT_OUT
from .sizes import Size
from .stock_pykka import stock_blocking, stock_pipelined
from .task_per_handle import tasks_awaiting, tasks_from_a_thread, tasks_in_flight
from .workload import make_workload

__all__ = ["others"]

_CONTESTANTS: dict[str, Contestant] = {
    "stock pykka, one blocking caller": stock_blocking,
    "stock pykka, pipelined caller": stock_pipelined,
    "a task a handle, one awaiting caller": tasks_awaiting,
    "a task a handle, 500 awaiting tasks": tasks_in_flight,
    "a task a handle, from another thread": tasks_from_a_thread,
}
_ON_RAY: dict[str, Contestant] = {
    "Ray, one blocking caller": ray_blocking,
    "Ray, 500 calls in flight": ray_in_flight,
}
_NOTE = f"all of them leave out: {LEFT_OUT}"


def others(size: Size, runs: int) -> list[Figure]:
    """Seconds for an accepted parent, over those of `plain`, for each contestant that is no Runtime."""
    workload = make_workload(size.heavy_requests, size.sessions, size.parents)
    missing = why_no_ray()
    contestants = _CONTESTANTS if missing is not None else _CONTESTANTS | _ON_RAY

    def cost(contestant: Contestant) -> partial[float]:
        return partial(seconds, contestant, workload, Settings(), order=Order.APART)

    figures = compare(
        [
            Comparison(
                title=f"{name} / plain, {len(workload.handoffs)} requests",
                over=cost(contestant),
                under=cost(plain),
                names=(name, "plain"),
                note=_NOTE,
            )
            for name, contestant in contestants.items()
        ],
        runs,
    )
    if missing is not None:
        figures += [Figure(title=f"{name} / plain", skipped=missing) for name in _ON_RAY]
    return figures
