"""The acceptance workload, by `plain` and by the Runtime as its callers use it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from dragoman import Settings

from .committed import Order
from .contestants import (
    Contestant,
    asyncio_tasks,
    blocking,
    callers,
    callers_of_all_sessions,
    pipelined,
    plain,
    seconds,
)
from .figures import Comparison, Figure, compare
from .plain import LEFT_OUT
from .sizes import Size
from .workload import Workload, make_workload

__all__ = ["acceptance", "acceptance_of_many"]

_NOTE = f"plain leaves out: {LEFT_OUT}"


def acceptance(size: Size, runs: int) -> list[Figure]:
    """Seconds for an accepted parent, over those of `plain`; and those of eight callers over those of one."""
    return _figures(make_workload(size.requests, size.sessions, size.parents), runs)


def acceptance_of_many(size: Size, runs: int) -> list[Figure]:
    """The same with ten times the requests."""
    return _figures(make_workload(size.many_requests, size.sessions, size.parents), runs)


def _figures(workload: Workload, runs: int) -> list[Figure]:
    orders: dict[Contestant, Order] = {plain: Order.APART, callers_of_all_sessions: Order.ANY}
    what = f"{len(workload.handoffs)} requests"

    def cost(contestant: Contestant) -> Callable[[], float]:
        return partial(seconds, contestant, workload, Settings(), order=orders.get(contestant, Order.REGISTERED))

    def over_one(name: str, contestant: Contestant) -> Comparison:
        return Comparison(
            title=f"{name} / one, {what}",
            over=cost(contestant),
            under=cost(blocking),
            names=(name, "one blocking caller"),
            at_most=1.5,
            aim=1.2,
            note="8 callers: each has its own requests, in its own sessions if nothing else is said; by the parent",
        )

    def over_plain(name: str, contestant: Contestant, at_most: float, aim: float) -> Comparison:
        return Comparison(
            title=f"{name} / plain, {what}",
            over=cost(contestant),
            under=cost(plain),
            names=(name, "plain"),
            at_most=at_most,
            aim=aim,
            note=_NOTE,
        )

    return compare(
        [
            over_plain("one blocking caller", blocking, 2, 1.25),
            over_plain("pipelined caller", pipelined, 2.5, 1.75),
            over_plain("asyncio, 64 tasks", asyncio_tasks, 6, 4),
            over_one("8 blocking callers", callers),
            over_one("8 blocking callers that share the sessions", callers_of_all_sessions),
        ],
        runs,
    )
