"""Statistics for OpenTelemetry: observable instruments, which are read when a reader collects."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from ..missing import MissingExtra
from ..protocol.histogram import Histogram
from ..protocol.runtime_statistics import RuntimeStatistics
from ..runtime import Runtime
from .table import METRICS, Kind, Metric, samples_of
from .watched import Watched

if TYPE_CHECKING:
    from opentelemetry.metrics import CallbackOptions, MeterProvider, Observation

__all__ = ["OpenTelemetryMetrics"]

_FRESH_S = 1.0
_UP = "up"

Read = Callable[[], Iterable[tuple[dict[str, Any], float]]]


class OpenTelemetryMetrics:
    """The metrics of one runtime, or of several, as instruments of a meter: each has its `name` as `runtime`.

    `meter_provider`: None is the one of the process. A collection reads each runtime once for all instruments, within
    `timeout` seconds; one that is closed or does not answer in time tells `dragoman.up` 0. The runtimes are held
    weakly. With `measure`, handling and waiting are timed from now on (`Runtime.measure`).

    The API has no histogram that is observed. One is told as three counters: `NAME.count`, `NAME.sum` in seconds, and
    `NAME.bucket` with the attribute `le`, cumulative as in Prometheus.

    Raises `MissingExtra` without `opentelemetry-api`, `InvalidArgument` for arguments that are wrong. Make one for a
    meter provider, and `add` further runtimes to it.
    """

    def __init__(
        self,
        runtime: Runtime,
        meter_provider: MeterProvider | None = None,
        *,
        name: str = "default",
        timeout: float = 1.0,
        measure: bool = True,
    ) -> None:
        try:
            from opentelemetry import metrics
        except ImportError:
            raise MissingExtra("opentelemetry", "OpenTelemetryMetrics") from None
        self._observation: type[Observation] = metrics.Observation
        self._watched = Watched(timeout)
        self._reading = threading.Lock()
        self._snapshots: dict[str, RuntimeStatistics | None] = {}
        self._served: set[str] = set()
        self._taken_s = float("-inf")
        self.add(runtime, name=name, measure=measure)
        self._create(metrics.get_meter("dragoman", meter_provider=meter_provider))

    def add(self, runtime: Runtime, *, name: str, measure: bool = True) -> None:
        """Tell of another runtime too."""
        self._watched.add(runtime, name, measure=measure)

    def _create(self, meter: Any) -> None:
        meter.create_observable_gauge(
            f"dragoman.{_UP}",
            [self._callback(_UP, self._read_up)],
            unit="1",
            description="1 if the runtime has answered in time; 0 if it is closed or stuck.",
        )
        for metric in METRICS:
            create = meter.create_observable_gauge if metric.kind is Kind.GAUGE else meter.create_observable_counter
            parts = _PARTS if metric.kind is Kind.HISTOGRAM else {"": _plain}
            for suffix, part in parts.items():
                name = f"{metric.opentelemetry_name}{suffix}"
                unit = "1" if suffix in (".count", ".bucket") else metric.unit
                read = self._reader(name, metric, part)
                create(name, [self._callback(name, read)], unit=unit, description=metric.help)

    def _callback(self, name: str, read: Read) -> Callable[[CallbackOptions], Iterable[Observation]]:
        def observe(_options: CallbackOptions) -> Iterable[Observation]:
            return [self._observation(value, attributes) for attributes, value in read()]

        observe.__name__ = name
        return observe

    def _read_up(self) -> Iterable[tuple[dict[str, Any], float]]:
        snapshots = self._collection(_UP)
        return [({"runtime": name}, int(statistics is not None)) for name, statistics in snapshots.items()]

    def _reader(self, instrument: str, metric: Metric, part: _Part) -> Read:
        def read() -> Iterator[tuple[dict[str, Any], float]]:
            for name, statistics in self._collection(instrument).items():
                if statistics is None:
                    continue
                for labels, value in samples_of(metric, statistics):
                    attributes = {"runtime": name, **dict(zip(metric.labels, labels, strict=True))}
                    for more, number in part(value):
                        yield {**attributes, **more}, number

        return read

    def _collection(self, instrument: str) -> dict[str, RuntimeStatistics | None]:
        """The snapshots of the collection that this instrument is asked in.

        The API does not tell where one begins. A new one has begun when an instrument is asked that was asked since the
        last reading, or when that is a second ago.
        """
        with self._reading:
            if instrument in self._served or time.monotonic() - self._taken_s > _FRESH_S:
                self._snapshots = self._watched.read()
                self._taken_s = time.monotonic()
                self._served = set()
            self._served.add(instrument)
            return self._snapshots


_Part = Callable[["int | Histogram"], Iterable[tuple[dict[str, Any], float]]]


def _plain(value: int | Histogram) -> Iterable[tuple[dict[str, Any], float]]:
    assert isinstance(value, int)
    return (({}, value),)


def _count(value: int | Histogram) -> Iterable[tuple[dict[str, Any], float]]:
    assert isinstance(value, Histogram)
    return (({}, value.count),)


def _sum(value: int | Histogram) -> Iterable[tuple[dict[str, Any], float]]:
    assert isinstance(value, Histogram)
    return (({}, value.sum_s),)


def _buckets(value: int | Histogram) -> Iterable[tuple[dict[str, Any], float]]:
    assert isinstance(value, Histogram)
    bounds = (*map(str, value.bounds_s), "+Inf")
    return [({"le": bound}, count) for bound, count in zip(bounds, value.cumulative, strict=True)]


_PARTS: dict[str, _Part] = {".count": _count, ".sum": _sum, ".bucket": _buckets}
