"""The public face of a sharded runtime: `Runtime`, whose sessions live in the processes of a Ray cluster."""

from __future__ import annotations

import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, cast

import attrs

from ..actors.dispatcher import Dispatcher
from ..actors.futures import Future, check_timeout
from ..actors.mailbox import STOP
from ..actors.reporting import report
from ..arguments import text_of
from ..crew import Crew
from ..gathering import Reading, with_invalid
from ..protocol.calls import CallTaker, Provider
from ..protocol.errors import ActorStopped, DragomanError, InvalidArgument, RuntimeClosed
from ..protocol.features import Feature
from ..protocol.outcomes import ParentEvent
from ..protocol.participation import ProviderPolicy
from ..protocol.runtime_statistics import RuntimeStatistics
from ..protocol.settings import Settings, is_seconds
from ..protocol.translations import TranslationRequest
from ..reports import ShutdownReport, Snapshot
from ..runtime import Runtime
from ..translation import Translation
from .courier import Courier
from .launching import Launcher, RayLauncher
from .link import Link
from .merging import Gathering, merged_shutdown, merged_snapshot, merged_statistics
from .routing import Router
from .standing_in import Doors, ShardDispatcher
from .wire import Measures, ShutsDown, TakesSnapshot, TakesStatistics

__all__ = ["RayRuntime"]

_MAX_SHARDS = 10_000
_MAX_ROUTES = 1_000_000
"""Requests whose shard is remembered; about 200 bytes each."""
_MAX_WAITING = 100_000
"""Calls that may wait for one shard before new requests are `OVERLOADED`."""
_SHARE_OF_SHARDS = 0.8
"""The part of the time for closing that the shards have."""


class RayRuntime(Runtime):
    """A `Runtime` whose sessions are spread over `shards` processes of a Ray cluster, by rendezvous hashing.

    It has the methods of `Runtime`, with the same arguments, replies and errors, and one error more: a call to a shard
    that is lost ends in `ShardLost`. The process must be connected to a cluster (`ray.init`). Calls that are made while
    others are on their way to a shard go there together, at the cost of one; those of a session, and all that are sent
    to one shard, take effect in the order in which they are made. docs/ray.md says what each method does.

    `settings` and `providers` as for `Runtime`: the limits over all sessions (`max_sessions`, `max_open_handles`,
    `max_open_executions`, `ledger_entries`, `store_total_bytes`) are those of each shard; `feature_history` must be
    None; `journal` names the journals of the shards, `JOURNAL.shard-N` on the node of each. `actor_options` are options
    of the Ray actors that the shards are: by default each has one CPU, and they are spread over the nodes.
    `start_timeout`: seconds that a shard may take to start, before the calls that wait for it end in `ShardLost`.
    """

    def __init__(
        self,
        settings: Settings | None = None,
        *,
        providers: Mapping[str, ProviderPolicy] | None = None,
        shards: int = 2,
        actor_options: Mapping[str, Any] | None = None,
        start_timeout: float = 60.0,
        launcher: Launcher | None = None,
    ) -> None:
        if not isinstance(shards, int) or isinstance(shards, bool) or not 1 <= shards <= _MAX_SHARDS:
            raise InvalidArgument("shards", f"must be a whole number from 1 to {_MAX_SHARDS}")
        if not isinstance(actor_options, Mapping | None):
            raise InvalidArgument("actor_options", "must map names of options of a Ray actor to their values")
        if not is_seconds(start_timeout):
            raise InvalidArgument("start_timeout", "must be a number of seconds of at least 0")
        if isinstance(settings, Settings) and settings.feature_history is not None:
            raise InvalidArgument("settings", "feature_history must be None: no feature is applied in a shard")
        self._courier = Courier()
        self._shards = shards
        self._launcher = launcher
        self._actor_options = dict(actor_options or {})
        self._start_timeout_s = float(start_timeout)
        self._journal_of_shards = settings.journal if isinstance(settings, Settings) else None
        if isinstance(settings, Settings):
            settings = attrs.evolve(settings, journal=None)
        super().__init__(settings, providers=providers, dispatcher=ShardDispatcher())

    def _crew_for(self, dispatcher: Dispatcher, settings: Settings, policies: Mapping[str, ProviderPolicy]) -> Crew:
        assert isinstance(dispatcher, ShardDispatcher)
        launcher = self._launcher or RayLauncher(self._actor_options)
        links = [
            Link(
                shard,
                launcher,
                self._courier,
                self._settings_of(shard, settings),
                policies,
                start_timeout_s=self._start_timeout_s,
            )
            for shard in range(self._shards)
        ]
        self._router = Router(
            links, self._courier.do, launcher.pickled, max_routes=_MAX_ROUTES, max_waiting=_MAX_WAITING
        )
        dispatcher.router = self._router
        doors = Doors(dispatcher, settings)
        self._courier.start(dispatcher)
        for link in links:
            self._courier.do(link.launch)
        weakref.finalize(self, _forget, self._courier, tuple(links)).atexit = False
        # It has the addresses that the face sends to; the face of this runtime asks for nothing else.
        return cast(Crew, doors)

    def _settings_of(self, shard: int, settings: Settings) -> Settings:
        """Those of all shards; the journal of each is a file of its own, on the node where it runs."""
        journal = self._journal_of_shards
        return settings if journal is None else attrs.evolve(settings, journal=f"{journal}.shard-{shard}")

    def translate(
        self,
        request: TranslationRequest,
        *,
        provider: Provider | CallTaker | None = None,
        feature: Feature | None = None,
        progress: Callable[[ParentEvent], object] | None = None,
        history_until: str | None = None,
    ) -> Translation:
        """As `Runtime.translate`, in the process of the shard: `provider` is pickled and makes its calls there.

        A `feature` is refused with `InvalidArgument`: it lives here, and a shard cannot reach it. Without one, apply
        what the events or the outcome bring, and acknowledge each parent by hand.
        """
        if isinstance(request, TranslationRequest) and isinstance(feature, Feature) and not isinstance(feature, type):
            problem = "lives in this process, out of the reach of a shard: leave it out, and acknowledge by hand"
            raise InvalidArgument("feature", problem)
        return super().translate(
            request, provider=provider, feature=feature, progress=progress, history_until=history_until
        )

    def snapshot(self, timeout: float | None = None) -> Snapshot:
        """What all shards hold, one after the other, each at a moment of its own; see `Runtime.snapshot`."""
        if timeout is not None:
            check_timeout(timeout)
        self._check_open()
        found: Future[Snapshot] = Future(self._dispatcher)
        gathering = Gathering(self._shards, found, merged_snapshot)
        self._router.to_each(TakesSnapshot(timeout), gathering.places)
        return found.get(timeout)

    def statistics(self) -> Future[RuntimeStatistics]:
        """The sums over all shards, each part as of an instant of its own; see `Runtime.statistics`."""
        self._check_open()
        found: Future[RuntimeStatistics] = Future(self._dispatcher)
        gathering = Gathering(self._shards, found, self._merged_statistics)
        self._router.to_each(TakesStatistics(), gathering.places)
        return found

    def _merged_statistics(self, answers: Sequence[RuntimeStatistics]) -> RuntimeStatistics:
        merged = merged_statistics(answers)
        return attrs.evolve(merged, acceptance=with_invalid(merged.acceptance, self._invalid))

    def _begin_reading(self) -> Reading:
        return Reading(self._dispatcher, self.statistics())

    def measure(self) -> None:
        """Every shard times a sample of what it does from now on, as `Runtime.measure` does; a new one begins anew."""
        self._check_open()
        done: Future[None] = Future(self._dispatcher)
        gathering = Gathering(self._shards, done, lambda _answers: None)
        self._router.to_each(Measures(), gathering.places)

    def shard_of(self, session_id: str) -> int:
        """The number of the shard that a session belongs to, from 0: the same in every process."""
        return self._router.shard_of(text_of("session_id", session_id))

    def _shut_down(self, timeout: float) -> ShutdownReport:
        """Each shard handles what was sent to it before, then closes its runtime; what is late or lost is ended."""
        now = time.monotonic()
        rest_deadline, deadline = now + timeout * _SHARE_OF_SHARDS, now + timeout
        waiting: list[Future[Any]] = [Future(self._dispatcher) for _ in range(self._shards)]
        self._router.to_each(ShutsDown(timeout * _SHARE_OF_SHARDS), waiting)
        reports: list[ShutdownReport | None] = []
        for shard, future in enumerate(waiting):
            try:
                reports.append(future.get(max(0.0, rest_deadline - time.monotonic())))
            except DragomanError as error:
                reports.append(None)
                told = type(error).__name__
                report("ERROR", "shard {shard} did not come to rest: {error_type}", shard=shard, error_type=told)
        for link in self._router.links:
            self._courier.do(partial(link.end, RuntimeClosed()))
        threads = self._courier.stop(max(0.0, deadline - time.monotonic()))
        for mailbox in self._crew.in_order_of_stopping:
            self._answer_by(deadline, mailbox, STOP)
        threads += self._dispatcher.stop(max(0.0, deadline - time.monotonic()))
        self._dispatcher.retire_all()
        return merged_shutdown(reports, threads)

    def __repr__(self) -> str:
        return f"<RayRuntime of {self._shards} shards, {'closed' if self._closed else 'open'}>"


def _forget(courier: Courier, links: tuple[Link, ...]) -> None:
    """End what belongs to a runtime that was collected without having been closed; takes no lock itself."""
    for link in links:
        courier.do(partial(link.end, ActorStopped("the shard")))
    courier.abandon()
