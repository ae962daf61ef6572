"""Shards in threads for most tests; a cluster of two nodes, started once, for those that need Ray."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Any

import pytest

from dragoman import Settings
from dragoman.sharding import RayRuntime

from .in_threads import ThreadLauncher

NO_RAY = "Ray is not installed: pip install 'dragoman[ray]'"
CPUS = 8
"""Of each node, as far as Ray counts: more than there are, so that every shard of a test has a place."""


@pytest.fixture
def launcher() -> Iterator[ThreadLauncher]:
    launcher = ThreadLauncher()
    yield launcher
    launcher.let_go.set()
    for shard in launcher.shards:
        shard.kill()


@pytest.fixture
def open_runtime(launcher: ThreadLauncher) -> Iterator[Callable[..., RayRuntime]]:
    """Makes runtimes whose shards are in threads, and closes them."""
    opened: list[RayRuntime] = []

    def make(settings: Settings | None = None, shards: int = 3, **more: Any) -> RayRuntime:
        opened.append(RayRuntime(settings, shards=shards, launcher=launcher, **more))
        return opened[-1]

    yield make
    launcher.let_go.set()
    for runtime in opened:
        runtime.close()


@pytest.fixture(scope="session")
def cluster() -> Iterator[Any]:
    """A Ray cluster of two nodes on this machine, which this process is connected to."""
    if find_spec("ray") is None:
        pytest.skip(NO_RAY)
    environment = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_AUTH_MODE": "disabled", "RAY_DEDUP_LOGS": "0"}
    before = {name: os.environ.get(name) for name in environment}
    os.environ.update(environment)
    import ray
    from ray.cluster_utils import Cluster

    ray.shutdown()  # what the benchmarks may have connected to
    with tempfile.TemporaryDirectory(prefix="ray-", ignore_cleanup_errors=True) as folder:
        shared = {"num_cpus": CPUS, "object_store_memory": 100 * 1024 * 1024}
        quick = {"health_check_period_ms": 500, "health_check_failure_threshold": 3, "health_check_initial_delay_ms": 0}
        head = {**shared, "include_dashboard": False, "temp_dir": folder, "_system_config": quick}
        cluster = Cluster(initialize_head=True, head_node_args=head)
        try:
            cluster.add_node(**shared)
            ray.init(address=cluster.address, log_to_driver=False, logging_level="ERROR")
            yield cluster
        finally:
            ray.shutdown()
            cluster.shutdown()
            for name, value in before.items():
                if value is None:
                    os.environ.pop(name, None)
                else:
                    os.environ[name] = value
