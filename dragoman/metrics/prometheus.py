"""Statistics for Prometheus: read when they are scraped."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ..missing import MissingExtra
from ..protocol.histogram import Histogram
from ..protocol.runtime_statistics import RuntimeStatistics
from ..runtime import Runtime
from .table import METRICS, Kind, Metric, samples_of
from .watched import Watched

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry
    from prometheus_client.metrics_core import Metric as Family

__all__ = ["PrometheusCollector"]

_UP = "dragoman_up"
_UP_HELP = "1 if the runtime has answered in time; 0 if it is closed or stuck."


class PrometheusCollector:
    """A collector of `prometheus_client` for one runtime, or for several: each has its `name` as the label `runtime`.

    `timeout`: after so many seconds a scrape gives up on what has not answered, and tells `dragoman_up 0` for it. The
    runtimes are held weakly. With `measure`, handling and waiting are timed from now on (`Runtime.measure`).

    Raises `MissingExtra` without `prometheus_client`, `InvalidArgument` for arguments that are wrong.
    """

    def __init__(self, runtime: Runtime, *, name: str = "default", timeout: float = 1.0, measure: bool = True) -> None:
        try:
            from prometheus_client import metrics_core
        except ImportError:
            raise MissingExtra("prometheus", "PrometheusCollector") from None
        self._core: Any = metrics_core
        self._watched = Watched(timeout)
        self.add(runtime, name=name, measure=measure)

    def add(self, runtime: Runtime, *, name: str, measure: bool = True) -> None:
        """Collect from another runtime too. One registry takes one collector for all of them."""
        self._watched.add(runtime, name, measure=measure)

    def register(self, registry: CollectorRegistry | None = None) -> PrometheusCollector:
        """Let `registry` collect from here; without one, the registry of the process.

        Raises `ValueError`, as the library does, if another collector there has these metrics already.
        """
        if registry is None:
            from prometheus_client import REGISTRY

            registry = REGISTRY
        registry.register(self)
        return self

    def describe(self) -> Iterator[Family]:
        """What will be collected, without asking any runtime."""
        yield self._core.GaugeMetricFamily(_UP, _UP_HELP, labels=("runtime",))
        for metric in METRICS:
            yield self._family(metric)

    def collect(self) -> Iterator[Family]:
        """The samples of now: one snapshot of each runtime for all metrics."""
        snapshots = self._watched.read()
        up = self._core.GaugeMetricFamily(_UP, _UP_HELP, labels=("runtime",))
        for name, statistics in snapshots.items():
            up.add_metric((name,), int(statistics is not None))
        yield up
        for metric in METRICS:
            family = self._family(metric)
            for name, statistics in snapshots.items():
                if statistics is not None:
                    _add(family, metric, name, statistics)
            yield family

    def _family(self, metric: Metric) -> Any:
        families = {
            Kind.COUNTER: self._core.CounterMetricFamily,
            Kind.GAUGE: self._core.GaugeMetricFamily,
            Kind.HISTOGRAM: self._core.HistogramMetricFamily,
        }
        return families[metric.kind](metric.prometheus_name, metric.help, labels=("runtime", *metric.labels))


def _add(family: Any, metric: Metric, name: str, statistics: RuntimeStatistics) -> None:
    for labels, value in samples_of(metric, statistics):
        if isinstance(value, Histogram):
            bounds = (*map(str, value.bounds_s), "+Inf")
            family.add_metric((name, *labels), list(zip(bounds, value.cumulative, strict=True)), value.sum_s)
        else:
            family.add_metric((name, *labels), value)
