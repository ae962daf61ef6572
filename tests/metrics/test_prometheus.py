"""What Prometheus gets, read back by the parser of its own client."""

from __future__ import annotations

import gc
import math
import threading
from typing import Any

import pytest
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.parser import text_string_to_metric_families

from dragoman import DirectRequest, InvalidArgument, Runtime, ScriptedProvider, SimulatedDispatcher
from dragoman.metrics import METRICS, Kind, PrometheusCollector

from .calls import SECRETS, Stuck, acknowledge, open_request

Samples = dict[tuple[str, frozenset[tuple[str, str]]], float]


def scraped(registry: CollectorRegistry) -> Samples:
    samples: Samples = {}
    for family in text_string_to_metric_families(generate_latest(registry).decode()):
        for sample in family.samples:
            key = sample.name, frozenset(sample.labels.items())
            assert key not in samples
            samples[key] = sample.value
    return samples


def value(samples: Samples, name: str, runtime: str = "default", **labels: str) -> float | None:
    return samples.get((f"dragoman_{name}", frozenset({"runtime": runtime, **labels}.items())))


@pytest.fixture
def registry() -> CollectorRegistry:
    return CollectorRegistry()


def test_a_scrape_tells_what_has_happened(
    runtime: Runtime, clock: SimulatedDispatcher, registry: CollectorRegistry
) -> None:
    PrometheusCollector(runtime).register(registry)
    open_request(runtime, "r1")
    acknowledge(runtime, "r1", "p1").get()
    clock.advance(301_000_000)
    acknowledge(runtime, "r1", "p2").get()
    runtime.direct(DirectRequest("r2", "s1", "a", "de"), provider=ScriptedProvider()).started.get()
    runtime.fail("r2/1", "API_KEY_INVALID").get()
    samples = scraped(registry)
    for name, labels, expected in [
        ("up", {}, 1),
        ("requests_registered_total", {}, 1),
        ("requests_closed_total", {"cause": "EXPIRED"}, 1),
        ("requests_closed_total", {"cause": "COMPLETED"}, 0),
        ("acks_total", {"status": "ACCEPTED"}, 1),
        ("acks_total", {"status": "STALE"}, 1),
        ("stale_acks_total", {"cause": "EXPIRED"}, 1),
        ("stale_acks_total", {"cause": "UNKNOWN"}, 0),
        ("open_handles", {}, 0),
        ("turns_committed_total", {}, 1),
        ("sessions", {}, 1),
        ("store_writes_total", {}, 1),
        ("provider_calls_total", {"provider": "openai", "purpose": "PRIMARY_TRANSLATION"}, 1),
        ("provider_errors_total", {"provider": "openai", "error": "API_KEY_INVALID"}, 1),
        ("provider_circuit_open", {"provider": "openai"}, 0),
        ("provider_call_seconds_count", {"provider": "openai"}, 1),
        ("executions_total", {"execution": "FAILED", "quality": "NONE"}, 1),
        ("mailbox_depth", {"actor": "AcceptanceCoordinator"}, 0),
        ("dead_letters_total", {"reason": "closed"}, 0),
        ("request_active_seconds_bucket", {"le": "300.0"}, 1),
        ("request_active_seconds_bucket", {"le": "120.0"}, 0),
        ("request_active_seconds_bucket", {"le": "+Inf"}, 1),
        ("request_active_seconds_sum", {}, 300),
    ]:
        assert value(samples, name, **labels) == expected, (name, labels)


def test_every_metric_is_scraped_with_its_labels(threaded: Runtime, registry: CollectorRegistry) -> None:
    PrometheusCollector(threaded).register(registry)
    direct = threaded.direct(DirectRequest("r1", "s1", "a", "de"), provider=ScriptedProvider())
    direct.started.get()
    threaded.fail("r1/1", "API_KEY_INVALID").get()
    for number in range(103):
        open_request(threaded, f"o{number}", f"s{number % 9}", parents=1)
        acknowledge(threaded, f"o{number}", "p1").get()
    open_request(threaded, "first", "s10", parents=1)
    open_request(threaded, "second", "s10", parents=1)
    acknowledge(threaded, "second", "p1").get()
    acknowledge(threaded, "first", "p1").get()
    families = {family.name: family for family in text_string_to_metric_families(generate_latest(registry).decode())}
    assert set(families) == {"dragoman_up", *(metric.prometheus_name for metric in METRICS)}
    for metric in METRICS:
        family = families[metric.prometheus_name]
        assert (family.type, family.documentation) == (metric.kind.value, metric.help)
        assert family.samples, metric.name
        for sample in family.samples:
            assert set(sample.labels) - {"le"} == {"runtime", *metric.labels}
            assert not math.isnan(sample.value)


def test_histograms_are_cumulative_and_end_with_their_count(threaded: Runtime, registry: CollectorRegistry) -> None:
    PrometheusCollector(threaded).register(registry)
    for number in range(5):
        open_request(threaded, f"r{number}", parents=1)
        acknowledge(threaded, f"r{number}", "p1").get()
    families = {family.name: family for family in text_string_to_metric_families(generate_latest(registry).decode())}
    samples = families["dragoman_request_active_seconds"].samples
    buckets = [sample.value for sample in samples if sample.name.endswith("_bucket")]
    (count,) = [sample.value for sample in samples if sample.name.endswith("_count")]
    assert buckets == sorted(buckets)
    assert buckets[-1] == count == 1


def test_several_runtimes_share_one_collector(registry: CollectorRegistry) -> None:
    with Runtime() as first, Runtime() as second:
        collector = PrometheusCollector(first, name="first").register(registry)
        collector.add(second, name="second")
        open_request(second, "r1")
        samples = scraped(registry)
        assert value(samples, "open_handles", "first") == 0
        assert value(samples, "open_handles", "second") == 1
        with pytest.raises(InvalidArgument, match="name"):
            collector.add(first, name="second")


def test_a_second_collector_in_a_registry_is_refused(threaded: Runtime, registry: CollectorRegistry) -> None:
    PrometheusCollector(threaded).register(registry)
    with pytest.raises(ValueError, match="Duplicated"):
        PrometheusCollector(threaded).register(registry)


def test_a_closed_runtime_is_down(threaded: Runtime, registry: CollectorRegistry) -> None:
    PrometheusCollector(threaded).register(registry)
    threaded.close()
    samples = scraped(registry)
    assert value(samples, "up") == 0
    assert len(samples) == 1


def test_a_runtime_that_is_stuck_is_down_and_does_not_hold_up_the_others(registry: CollectorRegistry) -> None:
    with Runtime() as first, Runtime() as second:
        collector = PrometheusCollector(first, name="first", timeout=0.05).register(registry)
        collector.add(second, name="second")
        stuck = Stuck(first._crew.coordinator)
        samples = scraped(registry)
        assert (value(samples, "up", "first"), value(samples, "open_handles", "first")) == (0, None)
        assert (value(samples, "up", "second"), value(samples, "open_handles", "second")) == (1, 0)
        stuck.goes_on.set()


def test_a_forgotten_runtime_is_not_kept(registry: CollectorRegistry) -> None:
    runtime = Runtime()
    PrometheusCollector(runtime).register(registry)
    threads = [thread for thread in threading.enumerate() if thread.name.startswith("dragoman")]
    assert value(scraped(registry), "up") == 1
    del runtime
    gc.collect()
    assert scraped(registry) == {}
    assert threads is not None


def test_no_text_is_scraped(threaded: Runtime, registry: CollectorRegistry) -> None:
    PrometheusCollector(threaded).register(registry)
    open_request(threaded, "secret-request", "secret-session")
    acknowledge(threaded, "secret-request", "p1").get()
    text = generate_latest(registry).decode()
    assert not [secret for secret in (*SECRETS, "secret-request", "secret-session") if secret in text]


def test_providers_are_bounded(runtime: Runtime, registry: CollectorRegistry) -> None:
    PrometheusCollector(runtime).register(registry)
    for number in range(30):
        direct = DirectRequest(f"r{number}", "s1", "a", "de", provider=f"provider{number}")
        runtime.direct(direct, provider=ScriptedProvider()).started.get()
    samples = scraped(registry)
    counted = {
        dict(labels)["provider"]: count for (name, labels), count in samples.items() if name.endswith("r_calls_total")
    }
    assert len(counted) == 21
    assert (counted["other"], sum(counted.values())) == (10, 30)
    assert value(samples, "provider_call_seconds_count", provider="other") == 0


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"runtime": None}, "runtime"),
        ({"name": ""}, "name"),
        ({"name": 3}, "name"),
        ({"timeout": 0}, "timeout"),
        ({"timeout": "1"}, "timeout"),
    ],
)
def test_wrong_arguments_are_named(threaded: Runtime, wrong: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidArgument) as refused:
        PrometheusCollector(**{"runtime": threaded, **wrong})
    assert refused.value.field == field


def test_the_names_follow_the_conventions() -> None:
    assert len({metric.name for metric in METRICS}) == len(METRICS)
    for metric in METRICS:
        assert metric.name.isidentifier()
        assert metric.name.islower()
        assert not metric.name.endswith(("_total", "_count", "_sum", "_bucket", "_info"))
        assert (metric.kind is Kind.HISTOGRAM) == metric.name.endswith("_seconds")
        assert metric.help.endswith(".")
