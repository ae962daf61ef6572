"""What it costs to be watched: exported to Prometheus and scraped once a second, over not exported, in one run.

Each side repeats its workload for some seconds, so that a scrape falls where it happens to. The scraper is a thread of
the same process, as `prometheus_client` has it, and takes the interpreter lock for as long as a real one does; handling
times are measured meanwhile. What counting costs by itself has no other side here: it cannot be switched off.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from importlib.util import find_spec

from dragoman import Runtime, Settings
from dragoman.metrics import PrometheusCollector

from .clock import clock
from .contestants import blocking, seconds
from .execution import run_executions
from .figures import Comparison, Figure, compare
from .sizes import Size
from .workload import Workload, make_workload

__all__ = ["metrics"]

_SCRAPE_EVERY_S = 1.0
_AT_MOST = 1.03

Started = Callable[[Runtime], object]
Once = Callable[[Started], float]
"""Does a workload with a runtime that is shown as soon as it has started; the seconds of one unit."""


def metrics(size: Size, runs: int) -> list[Figure]:
    """Seconds for an accepted and for a translated parent: exported and scraped, over neither."""
    workload = make_workload(size.requests, size.sessions, size.parents)
    titles: dict[str, Once] = {
        f"an ACK, scraped / not exported, {size.requests} requests": partial(_acknowledged, workload),
        f"a translated parent, scraped / not exported, {size.executions} requests": partial(_executed, size),
    }
    if find_spec("prometheus_client") is None:
        return [Figure(title=title, skipped="prometheus-client is not installed") for title in titles]
    return compare(
        [
            Comparison(
                title=title,
                over=partial(_for_a_while, once, size.scraped_s, exported=True),
                under=partial(_for_a_while, once, size.scraped_s, exported=False),
                names=("scraped", "not exported"),
                at_most=_AT_MOST,
                note=f"scraped every {_SCRAPE_EVERY_S:g} s in the same process, handling times measured",
            )
            for title, once in titles.items()
        ],
        runs,
    )


def _acknowledged(workload: Workload, started: Started) -> float:
    def contestant(workload: Workload, settings: Settings) -> object:
        return blocking(workload, settings, when_active=lambda runtime, _workload: started(runtime))

    return seconds(contestant, workload, Settings())  # type: ignore[arg-type]


def _executed(size: Size, started: Started) -> float:
    sessions = min(50, size.executions)
    return run_executions(size.executions, sessions, size.latency_s / 10, runtime=True, started=started)


def _for_a_while(once: Once, lasting_s: float, *, exported: bool) -> float:
    """The mean seconds of a unit, over repeats that last as long as they are to."""
    taken: list[float] = []
    with _scraped() if exported else _unwatched() as started:
        ends = clock.now() + lasting_s
        while not taken or clock.now() < ends:
            taken.append(once(started))
    return sum(taken) / len(taken)


@contextmanager
def _unwatched() -> Iterator[Started]:
    yield lambda _runtime: None


@contextmanager
def _scraped() -> Iterator[Started]:
    """Scrape the runtime that was shown last, once a second."""
    from prometheus_client import CollectorRegistry, generate_latest

    registry = CollectorRegistry()
    collectors: list[PrometheusCollector] = []
    over = threading.Event()

    def show(runtime: Runtime) -> None:
        if collectors:
            collectors[0].add(runtime, name="default")
        else:
            collectors.append(PrometheusCollector(runtime).register(registry))

    def scrape() -> None:
        while not over.wait(_SCRAPE_EVERY_S):
            generate_latest(registry)

    scraper = threading.Thread(target=scrape, name="scraper")
    scraper.start()
    try:
        yield show
    finally:
        over.set()
        scraper.join()
