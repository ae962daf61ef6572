"""Where shards run: as actors of a Ray cluster. The only module that knows Ray.

Ray restarts none of them and repeats none of their calls by itself (`max_restarts`, `max_task_retries`): a shard that
ends is gone, and its successor is another actor with another life.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Mapping
from concurrent.futures import Future as Concurrent
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Protocol

from ..actors.reporting import report
from ..missing import MissingExtra
from ..protocol.errors import InvalidArgument
from ..protocol.participation import ProviderPolicy
from ..protocol.settings import Settings
from .errors import LossReason
from .shard import Shard

__all__ = ["Launcher", "RayLauncher", "Remote"]

_TOLD_APART = "answers"
"""The concurrency group of `collect`: it waits in a thread of its own, beside the one that runs the batches."""

Done = Callable[[Any, "LossReason | None"], object]
"""Told of the answer of a shard, or of how the shard was lost; in a thread that must not be held up."""


class Remote(Protocol):
    """A shard in another process."""

    def call(self, method: str, *arguments: Any, done: Done) -> None:
        """Call a method of the `Shard` there, and let `done` be told what became of it."""

    def kill(self) -> None:
        """End it, whatever it does: nothing that is sent there later has any effect."""


class Launcher(Protocol):
    """Starts shards."""

    def pickled(self, provider: object) -> bytes:
        """A provider as it travels: with its class, where that is of the main program."""

    def launch(self, shard: int) -> Remote:
        """Start a new one, as soon as there is room for it; at once as far as the caller is concerned."""


class RayLauncher:
    """Starts shards as Ray actors, spread over the nodes; `options` are those of a Ray actor, and go before ours."""

    def __init__(self, options: Mapping[str, Any]) -> None:
        if find_spec("ray") is None:
            raise MissingExtra("ray", "RayRuntime")
        ray = _ray()
        if not ray.is_initialized():
            raise InvalidArgument("ray", "is not connected to a cluster in this process: call ray.init() first")
        for name in ("max_restarts", "max_task_retries", "concurrency_groups", "max_concurrency", "lifetime"):
            if name in options:
                raise InvalidArgument("actor_options", f"{name} is not for the caller to set")
        settled = {"num_cpus": 1, "scheduling_strategy": "SPREAD", **options}
        try:
            self._actor = ray.remote(
                max_restarts=0, max_task_retries=0, concurrency_groups={_TOLD_APART: 1}, **settled
            )(_Process)
        except (TypeError, ValueError):
            raise InvalidArgument("actor_options", "must be options of a Ray actor") from None

    def pickled(self, provider: object) -> bytes:
        packed: bytes = _ray().cloudpickle.dumps(provider)
        return packed

    def launch(self, shard: int) -> Remote:
        return _RayShard(self._actor.remote(shard))


class _Process(Shard):
    """A shard that has its process to itself."""

    def open(self, incarnation: int, settings: Settings, providers: Mapping[str, ProviderPolicy]) -> int:
        # What Ray has brought along stays to the end: the collector need not look at all that again and again.
        gc.collect()
        gc.freeze()
        return super().open(incarnation, settings, providers)


class _RayShard:
    def __init__(self, actor: Any) -> None:
        self._actor = actor

    def call(self, method: str, *arguments: Any, done: Done) -> None:
        bound = getattr(self._actor, method)
        if method == "collect":
            bound = bound.options(concurrency_group=_TOLD_APART)

        def settled(answered: Concurrent[Any]) -> None:
            error = answered.exception()
            if error is None:
                done(answered.result(), None)
            else:
                done(None, _reason(error))

        bound.remote(*arguments).future().add_done_callback(settled)

    def kill(self) -> None:
        _ray().kill(self._actor, no_restart=True)


def _reason(error: BaseException) -> LossReason:
    """How a shard was lost, by what Ray says of a call to it; its own words may hold anything."""
    report("INFO", "a call to a shard ended in {error_type}", error_type=type(error).__name__)
    exceptions = _ray().exceptions
    if isinstance(error, exceptions.ActorUnavailableError):
        return LossReason.UNREACHABLE
    if isinstance(error, exceptions.RayTaskError):
        return LossReason.FAILED
    return LossReason.DIED


def _ray() -> Any:
    """Ray, which is not there for the type checker, and imported when it is first needed."""
    return import_module("ray")
