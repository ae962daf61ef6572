"""How the cost of one call grows: with the parents of its request, with the open handles, and when nobody waits."""

from __future__ import annotations

import gc
import random
import statistics
import time
import tracemalloc
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

from dragoman import AckStatus, Future, Handoff, Parent, RegisterStatus, Runtime, Settings

from .clock import clock
from .committed import WrongAnswers
from .contestants import in_flight
from .figures import Comparison, Figure, compare, undisturbed
from .sizes import Size

__all__ = ["growing_requests", "open_handles", "waiting"]

_FEW_PARENTS = 10
_SOURCE, _RESULT = "Hello", "Hallo"
_LONG_S = 86_400.0

Order = Callable[[list[str]], list[str]]
"""The parents of a request in the order of their ACKs; one that has none stays out."""


def _in_order(ids: list[str]) -> list[str]:
    return ids[:-1]


def _shuffled(ids: list[str]) -> list[str]:
    return random.Random(len(ids)).sample(ids[:-1], len(ids) - 1)


def _last_first(ids: list[str]) -> list[str]:
    return ids[:0:-1]


def growing_requests(size: Size, runs: int) -> list[Figure]:
    """The cost of an ACK in a large request, over that in a small one."""
    many, few = size.most_parents, min(_FEW_PARENTS, size.most_parents)
    some = min(1000, size.most_parents)

    def growth(how: str, order: Order) -> Comparison:
        return Comparison(
            title=f"an ACK at {many} parents / at {few}, {how}",
            over=partial(_one_by_one, 1, many, order),
            under=partial(_one_by_one, many // few, few, order),
            names=(f"{many} parents", f"{few} parents"),
            at_most=1.25,
            aim=1.1,
            note="one parent of each request has no ACK, so that none closes within the time",
        )

    return compare(
        [
            growth("in order, each commits one", _in_order),
            growth("shuffled", _shuffled),
            growth("last first, none commits", _last_first),
            Comparison(
                title=f"an ACK at {many} parents / at {some}, last first to the end",
                over=partial(_all_sent_first, many),
                under=partial(_all_sent_first, some),
                names=(f"{many} parents", f"{some} parents"),
                note="to the end: the very last ACK commits all, and the caller waits only then",
            ),
        ],
        runs,
    )


def _request(number: int, parents: int) -> Handoff:
    sources = tuple(Parent(f"p{place}", place, _SOURCE) for place in range(parents))
    return Handoff(f"r{number}", f"s{number % 40}", "openai", "select-element", sources)


def _one_by_one(requests: int, parents: int, order: Order) -> float:
    """Seconds for one blocking ACK, the requests one after another."""
    handoffs = [_request(number, parents) for number in range(requests)]
    acks = [
        (handoff.request_id, parent_id)
        for handoff in handoffs
        for parent_id in order([parent.id for parent in handoff.parents])
    ]
    with Runtime(Settings(commit_order="request")) as runtime:
        _must(all(runtime.register(handoff).get().status is RegisterStatus.REGISTERED for handoff in handoffs))
        acknowledge = runtime.acknowledge
        began = clock.now()
        replies = [acknowledge(request_id, parent_id, _RESULT).get() for request_id, parent_id in acks]
        took_s = clock.now() - began
    committed = [parent_id for reply in replies for parent_id in reply.committed]
    commits = order is not _last_first
    _must(committed == [parent.id for handoff in handoffs for parent in handoff.parents[:-1] if commits])
    return took_s / len(acks)


def _all_sent_first(parents: int) -> float:
    """Seconds for one ACK of a caller that does not wait until all are sent, in the worst order."""
    handoff = _request(1, parents)
    with Runtime() as runtime:
        _must(runtime.register(handoff).get().status is RegisterStatus.REGISTERED)
        began = clock.now()
        answers = [runtime.acknowledge("r1", parent.id, _RESULT) for parent in reversed(handoff.parents)]
        replies = [answer.get() for answer in answers]
        took_s = clock.now() - began
    _must(replies[-1].committed == tuple(parent.id for parent in handoff.parents))
    return took_s / parents


def waiting(size: Size, runs: int) -> list[Figure]:
    """What a caller pays for waiting for each answer."""
    return compare(
        [
            Comparison(
                title="a call of a blocking caller / of one that sends all first",
                over=partial(_calls, size.calls, _each),
                under=partial(_calls, size.calls, _all),
                names=("blocking", "sending all first"),
                note="a call that finds nothing: an activation of an unknown request",
            )
        ],
        runs,
    )


def _each(answers: Iterable[Future[Any]]) -> None:
    for answer in answers:
        answer.get()


def _all(answers: Iterable[Future[Any]]) -> None:
    _each(list(answers))


def _calls(count: int, wait: Callable[[Iterable[Future[Any]]], None]) -> float:
    with Runtime() as runtime:
        began = clock.now()
        wait(runtime.activate("nobody") for _ in range(count))
        return (clock.now() - began) / count


def open_handles(size: Size, runs: int) -> list[Figure]:
    """What an open handle costs, with few and with many: to open it, to keep it, to send it an ACK."""
    few, many = size.few_handles, size.many_handles
    opened: list[tuple[float, float]] = []
    further: list[tuple[float, float]] = []
    acks: list[tuple[float, float]] = []
    for run in range(runs):
        sides = [(few, _with_few), (many, _with_many)]
        taken = {count: measure(count, few) for count, measure in (sides if run % 2 else reversed(sides))}
        opened.append((taken[many][0], taken[few][0]))
        further.append((taken[many][1], taken[few][1]))
        acks.append((taken[many][2], taken[few][2]))
    names = f"{many} open", f"{few} open"
    return [
        _ratio(f"an ACK (median) with {many} open handles / with {few}", acks, names, 1.3, 1.15),
        Figure(
            title="an open handle with a running window, two parents",
            values=tuple(_bytes_of_one(max(few, many // 10)) for _ in range(min(runs, 3))),
            unit="B",
            at_most=2048,
            aim=1536,
            note="bytes without the texts: the sources are one constant, the ids are counted",
        ),
        _ratio(f"opening {many} handles, each / opening {few}, each", opened, names, 4, 3),
        _ratio(f"opening {few} more at {many} open / at {few}", further, names, 4, 3),
    ]


def _ratio(
    title: str, pairs: Sequence[tuple[float, float]], names: tuple[str, str], at_most: float, aim: float
) -> Figure:
    return Figure(
        title=title,
        values=tuple(over_s / under_s for over_s, under_s in pairs),
        at_most=at_most,
        aim=aim,
        note="to open is to register and activate; full collections of garbage are in the first, rarely in the second",
        sides={
            names[0]: tuple(over_s * 1e6 for over_s, _under_s in pairs),
            names[1]: tuple(under_s * 1e6 for _over_s, under_s in pairs),
        },
    )


def _with_few(count: int, step: int) -> tuple[float, float, float]:
    """The median of several times: with few handles one is over at once."""
    taken = [_with_handles(count, step) for _ in range(5)]
    opened_s, further_s, ack_s = (statistics.median(values) for values in zip(*taken, strict=True))
    return opened_s, further_s, ack_s


def _with_many(count: int, step: int) -> tuple[float, float, float]:
    return _with_handles(count, step)


def _with_handles(count: int, step: int) -> tuple[float, float, float]:
    """Seconds for opening one of `count` handles, for one of `step` more, and the median of an ACK among all."""
    handoffs = [_two_parents(number) for number in range(count + step)]
    chosen = random.Random(count).sample(range(count), step)
    costs = []

    def open_some(some: list[Handoff]) -> float:
        began = clock.now()
        in_flight(answer for handoff in some for answer in _opened(runtime, handoff))
        return (clock.now() - began) / len(some)

    gc.collect()
    gc.freeze()  # once, for what is opened has to stay in sight of the collector
    settings = Settings(max_open_handles=count + step, commit_order="request", ack_window=_LONG_S)
    try:
        with Runtime(settings) as runtime:
            opened_s = open_some(handoffs[:count])
            further_s = open_some(handoffs[count:])
            # By the wall clock in any case: reading the other one costs as much as an ACK.
            for number in chosen:
                request_id = f"r{number}"
                began = time.perf_counter()
                reply = runtime.acknowledge(request_id, "p2", _RESULT).get()
                costs.append(time.perf_counter() - began)
                _must(reply.status is AckStatus.ACCEPTED)
    finally:
        gc.unfreeze()
    return opened_s, further_s, statistics.median(costs)


def _opened(runtime: Runtime, handoff: Handoff) -> tuple[Future[Any], Future[Any]]:
    return runtime.register(handoff), runtime.activate(handoff.request_id)


def _two_parents(number: int) -> Handoff:
    parents = (Parent("p1", 0, _SOURCE), Parent("p2", 1, _SOURCE))
    return Handoff(f"r{number}", f"s{number % 40}", "openai", "select-element", parents)


def _bytes_of_one(count: int) -> float:
    """Bytes of one open handle, with its handoff, and its window running."""
    settings = Settings(max_open_handles=2 * count, commit_order="request", ack_window=_LONG_S)

    def grown() -> float:
        with Runtime(settings) as runtime:
            in_flight(answer for number in range(count) for answer in _opened(runtime, _two_parents(number)))
            tracemalloc.start()
            try:
                gc.collect()
                before = tracemalloc.get_traced_memory()[0]
                further = range(count, 2 * count)
                in_flight(answer for number in further for answer in _opened(runtime, _two_parents(number)))
                gc.collect()
                return (tracemalloc.get_traced_memory()[0] - before) / count
            finally:
                tracemalloc.stop()

    return undisturbed(grown)


def _must(right: bool) -> None:
    if not right:
        raise WrongAnswers("a call was not answered as it has to be")
