"""What acceptance costs as it grows: ratios measured in one run, never absolute limits.

    python benchmarks/acceptance.py [--handles 100000] [--parents 10000]

Prints the memory of an open handle with a running window, without its texts; the median cost of an ACK with many open
handles over that with few; the cost per ACK in a large request over that in a small one, in the worst order; and what
a blocking caller pays over a pipelined one.
"""

from __future__ import annotations

import argparse
import gc
import statistics
import time
import tracemalloc

from dragoman import Handoff, Parent, Runtime, Settings

FEW = 1_000
ROUNDS = 5


def open_handles(runtime: Runtime, first: int, count: int) -> None:
    """Open requests of two parents each, every window running."""
    answers = []
    for number in range(first, first + count):
        parents = (Parent("p1", 0, "Hello"), Parent("p2", 1, "World"))
        runtime.register(Handoff(f"r{number}", f"s{number % 50}", "openai", "select-element", parents))
        answers.append(runtime.activate(f"r{number}"))
        if len(answers) == 1000:
            for answer in answers:
                answer.get()
            answers = []
    for answer in answers:
        answer.get()


def ack_cost(runtime: Runtime, count: int = 2000) -> float:
    """The median cost in seconds of one blocking ACK that changes nothing."""
    costs = []
    for number in range(count):
        begin = time.perf_counter()
        runtime.acknowledge(f"r{number % FEW}", "unknown", "Hallo").get()
        costs.append(time.perf_counter() - begin)
    return statistics.median(costs)


def handles_report(many: int) -> None:
    settings = Settings(max_open_handles=many + FEW, commit_order="request", ack_window=86_400.0)
    with Runtime(settings) as runtime:
        open_handles(runtime, 0, FEW)
        few_costs = [ack_cost(runtime) for _ in range(ROUNDS)]
        gc.collect()
        tracemalloc.start()
        before = tracemalloc.get_traced_memory()[0]
        open_handles(runtime, FEW, many - FEW)
        gc.collect()
        per_handle = (tracemalloc.get_traced_memory()[0] - before) / (many - FEW)
        tracemalloc.stop()
        many_costs = [ack_cost(runtime) for _ in range(ROUNDS)]
    ratios = [right / left for left, right in zip(few_costs, many_costs, strict=True)]
    print(f"an open handle, two parents: {per_handle:.0f} bytes")
    print(f"ACK with {many} open handles / with {FEW}: {_spread(ratios)}")


def parents_report(many: int) -> None:
    ratios = []
    for _ in range(ROUNDS):
        few_cost, many_cost = (_worst_order(count) for count in (FEW, many))
        ratios.append(many_cost / few_cost)
    print(f"cost per ACK, {many} parents in the worst order / {FEW}: {_spread(ratios)}")


def _worst_order(count: int) -> float:
    gc.collect()
    with Runtime() as runtime:
        parents = tuple(Parent(f"p{place}", place, "Hello") for place in range(count))
        runtime.register(Handoff("r1", "s1", "openai", "select-element", parents)).get()
        begin = time.perf_counter()
        answers = [runtime.acknowledge("r1", f"p{place}", "Hallo") for place in reversed(range(count))]
        for answer in answers:
            answer.get()
        return (time.perf_counter() - begin) / count


def waiting_report(count: int = 20_000) -> None:
    ratios = []
    for _ in range(ROUNDS):
        with Runtime() as runtime:
            begin = time.perf_counter()
            for _ in range(count):
                runtime.activate("nobody").get()
            blocking = time.perf_counter() - begin
            begin = time.perf_counter()
            answers = [runtime.activate("nobody") for _ in range(count)]
            for answer in answers:
                answer.get()
            ratios.append(blocking / (time.perf_counter() - begin))
    print(f"a call of a blocking caller / of a pipelined one: {_spread(ratios)}")


def _spread(ratios: list[float]) -> str:
    return f"{statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--handles", type=int, default=100_000)
    arguments.add_argument("--parents", type=int, default=10_000)
    chosen = arguments.parse_args()
    handles_report(chosen.handles)
    parents_report(chosen.parents)
    waiting_report()
