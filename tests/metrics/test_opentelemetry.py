"""What a reader of OpenTelemetry collects."""

from __future__ import annotations

import gc
from typing import Any

import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader

from dragoman import Runtime, SimulatedDispatcher
from dragoman.metrics import METRICS, Kind, OpenTelemetryMetrics

from .calls import SECRETS, Stuck, acknowledge, open_request


class Collected:
    """A reader, and what it has collected last."""

    def __init__(self) -> None:
        self.reader = InMemoryMetricReader()
        self.provider = MeterProvider([self.reader])

    def collect(self) -> dict[str, Any]:
        data = self.reader.get_metrics_data()
        if data is None:
            return {}
        return {
            metric.name: metric.data
            for resource in data.resource_metrics
            for scope in resource.scope_metrics
            for metric in scope.metrics
        }

    def values(self, name: str) -> dict[tuple[str, ...], Any]:
        data = self.collect().get(f"dragoman.{name}")
        points = [] if data is None else data.data_points
        return {
            tuple(v for k, v in sorted(point.attributes.items()) if k != "runtime"): point.value for point in points
        }


@pytest.fixture
def collected() -> Collected:
    return Collected()


def test_a_collection_tells_what_has_happened(
    runtime: Runtime, clock: SimulatedDispatcher, collected: Collected
) -> None:
    OpenTelemetryMetrics(runtime, collected.provider)
    open_request(runtime, "r1")
    acknowledge(runtime, "r1", "p1").get()
    clock.advance(301_000_000)
    assert collected.values("up") == {(): 1}
    assert collected.values("acks")[("ACCEPTED",)] == 1
    assert collected.values("requests_closed")[("EXPIRED",)] == 1
    assert collected.values("request_active_seconds.count") == {(): 1}
    assert collected.values("request_active_seconds.sum") == {(): 300.0}
    buckets = collected.values("request_active_seconds.bucket")
    assert (buckets[("120.0",)], buckets[("300.0",)], buckets[("+Inf",)]) == (0, 1, 1)


def test_counters_are_monotonic_sums_and_gauges_are_gauges(threaded: Runtime, collected: Collected) -> None:
    OpenTelemetryMetrics(threaded, collected.provider)
    open_request(threaded, "r1")
    data = collected.collect()
    for metric in METRICS:
        if metric.kind is Kind.HISTOGRAM:
            continue
        found = data.get(metric.opentelemetry_name)
        if found is not None:
            assert getattr(found, "is_monotonic", False) == (metric.kind is Kind.COUNTER), metric.name
    assert {"dragoman.open_handles", "dragoman.acks", "dragoman.mailbox_depth", "dragoman.up"} <= set(data)


def test_one_collection_reads_a_runtime_once(
    threaded: Runtime, collected: Collected, monkeypatch: pytest.MonkeyPatch
) -> None:
    readings = []
    begin = Runtime._begin_reading

    def counted(runtime: Runtime) -> Any:
        readings.append(runtime)
        return begin(runtime)

    monkeypatch.setattr(Runtime, "_begin_reading", counted)
    OpenTelemetryMetrics(threaded, collected.provider)
    for times in (1, 2, 3):
        open_request(threaded, f"r{times}")
        assert collected.values("open_handles") == {(): times}
        assert len(readings) == times


def test_a_closed_and_a_stuck_runtime_are_down(collected: Collected) -> None:
    with Runtime() as closed, Runtime() as stuck, Runtime() as well:
        metrics = OpenTelemetryMetrics(closed, collected.provider, name="closed", timeout=0.05)
        metrics.add(stuck, name="stuck")
        metrics.add(well, name="well")
        closed.close()
        held = Stuck(stuck._crew.sessions)
        data = collected.collect()
        up = {point.attributes["runtime"]: point.value for point in data["dragoman.up"].data_points}
        assert up == {"closed": 0, "stuck": 0, "well": 1}
        assert {point.attributes["runtime"] for point in data["dragoman.open_handles"].data_points} == {"well"}
        held.goes_on.set()


def test_a_forgotten_runtime_is_not_kept(collected: Collected) -> None:
    runtime = Runtime()
    OpenTelemetryMetrics(runtime, collected.provider)
    assert collected.values("up") == {(): 1}
    del runtime
    gc.collect()
    assert collected.collect() == {}


def test_no_text_is_collected(threaded: Runtime, collected: Collected) -> None:
    OpenTelemetryMetrics(threaded, collected.provider)
    open_request(threaded, "secret-request", "secret-session")
    acknowledge(threaded, "secret-request", "p1").get()
    acknowledge(threaded, "secret-request", "p2").get()
    told = collected.reader.get_metrics_data()
    assert told is not None
    text = told.to_json()
    assert "dragoman.acks" in text
    assert not [secret for secret in (*SECRETS, "secret-request", "secret-session") if secret in text]
