"""Every metric: its name, kind, labels, and where in the statistics it stands. Exporters and documentation use this.

Labels have few values: words of the vocabulary, kinds of actors, error names (bounded where they are counted) and names
of providers (bounded by `Providers`). No session and no request is one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import StrEnum
from itertools import chain

import attrs

from ..protocol.circuits import CircuitState
from ..protocol.histogram import Histogram
from ..protocol.runtime_statistics import UNKNOWN_CAUSE, RuntimeStatistics, SessionEnd
from ..protocol.statuses import AckStatus, CloseCause, MissReason, RegisterStatus, SkipReason

__all__ = ["METRICS", "Kind", "Metric", "Sample", "samples_of"]

_MOST_PROVIDERS = 20
_OTHER = "other"


class Kind(StrEnum):
    """What may become of a metric: a counter only grows, a gauge goes up and down, a histogram is of seconds."""

    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"


Sample = tuple[tuple[str, ...], "int | Histogram"]
"""The values of the labels, and the value."""


@attrs.frozen(kw_only=True)
class Metric:
    """One metric. `name` is without prefix and suffix: `acks` is `dragoman_acks_total` and `dragoman.acks`.

    `unit`: of what it counts, in OpenTelemetry's spelling. `read` gives its samples.
    """

    name: str
    kind: Kind
    help: str
    unit: str
    labels: tuple[str, ...] = ()
    read: Callable[[RuntimeStatistics], Iterable[Sample]] = attrs.field(repr=False)

    @property
    def prometheus_name(self) -> str:
        """The name of the family of samples; those of a counter end with `_total` besides."""
        return f"dragoman_{self.name}"

    @property
    def exported_as(self) -> str:
        """The name as Prometheus has it in the end."""
        return f"{self.prometheus_name}_total" if self.kind is Kind.COUNTER else self.prometheus_name

    @property
    def opentelemetry_name(self) -> str:
        return f"dragoman.{self.name}"


def samples_of(metric: Metric, statistics: RuntimeStatistics) -> Iterator[Sample]:
    """The samples of a metric; of more providers than there may be, the later ones together as `other`."""
    if "provider" not in metric.labels:
        yield from metric.read(statistics)
        return
    place = metric.labels.index("provider")
    known = frozenset(list(dict.fromkeys(chain(statistics.providers, statistics.connections)))[:_MOST_PROVIDERS])
    others: dict[tuple[str, ...], int | Histogram] = {}
    for labels, value in metric.read(statistics):
        if labels[place] in known:
            yield labels, value
        else:
            other = (*labels[:place], _OTHER, *labels[place + 1 :])
            others[other] = value if other not in others else _plus(others[other], value)
    yield from others.items()


def _plus(one: int | Histogram, other: int | Histogram) -> int | Histogram:
    if isinstance(one, Histogram) and isinstance(other, Histogram):
        counts = tuple(a + b for a, b in zip(one.counts, other.counts, strict=True))
        return Histogram(one.bounds_s, counts, one.sum_s + other.sum_s)
    assert isinstance(one, int)
    assert isinstance(other, int)
    return one + other


def _one(value: int | Histogram) -> tuple[Sample, ...]:
    return (((), value),)


def _measured(times: Histogram | None) -> tuple[Sample, ...]:
    return () if times is None else _one(times)


def _each(values: Mapping[str, int], words: Iterable[str] = ()) -> Iterator[Sample]:
    """Each word by itself; also those of the vocabulary that never came, so that their first time is seen to be one."""
    counts = {**dict.fromkeys(map(str, words), 0), **values}
    return (((str(word),), count) for word, count in counts.items())


def _counter(
    name: str, unit: str, description: str, read: Callable[[RuntimeStatistics], Iterable[Sample]], *labels: str
) -> Metric:
    return Metric(name=name, kind=Kind.COUNTER, help=description, unit=unit, labels=labels, read=read)


def _gauge(
    name: str, unit: str, description: str, read: Callable[[RuntimeStatistics], Iterable[Sample]], *labels: str
) -> Metric:
    return Metric(name=name, kind=Kind.GAUGE, help=description, unit=unit, labels=labels, read=read)


def _histogram(
    name: str, description: str, read: Callable[[RuntimeStatistics], Iterable[Sample]], *labels: str
) -> Metric:
    return Metric(name=name, kind=Kind.HISTOGRAM, help=description, unit="s", labels=labels, read=read)


_REFUSALS = tuple(status for status in RegisterStatus if status is not RegisterStatus.REGISTERED)

_ACCEPTANCE = (
    _counter(
        "requests_registered",
        "{request}",
        "Requests that got a handle.",
        lambda now: _one(now.acceptance.registered),
    ),
    _counter(
        "requests_refused",
        "{request}",
        "Registrations, translations and direct calls that were refused.",
        lambda now: _each(now.acceptance.refused, _REFUSALS),
        "status",
    ),
    _counter(
        "requests_closed",
        "{request}",
        "Requests whose handle has closed; EXPIRED are those whose ACK window ended.",
        lambda now: _each(now.acceptance.closed, CloseCause),
        "cause",
    ),
    _gauge(
        "open_handles",
        "{request}",
        "Requests that may still get ACKs.",
        lambda now: _one(now.acceptance.open_handles),
    ),
    _counter("acks", "{ack}", "ACKs and rejections.", lambda now: _each(now.acceptance.acks, AckStatus), "status"),
    _counter(
        "stale_acks",
        "{ack}",
        "ACKs that found no open handle, by the cause with which it had closed.",
        lambda now: _each(now.acceptance.stale_acks, (*CloseCause, UNKNOWN_CAUSE)),
        "cause",
    ),
    _gauge(
        "waiting_operations",
        "{operation}",
        "Operations that wait for what is before them in their session.",
        lambda now: _one(now.acceptance.waiting),
    ),
    _histogram(
        "turn_wait_seconds",
        "How long accepted parents of a request waited for earlier requests of the session: each 8th request.",
        lambda now: _measured(now.acceptance.turn_waits),
    ),
    _histogram(
        "request_active_seconds",
        "From the activation of a request to its closing: each 8th request.",
        lambda now: _measured(now.acceptance.active_times),
    ),
)

_MEMORY = (
    _gauge("sessions", "{session}", "Live sessions.", lambda now: _one(now.sessions.live)),
    _gauge("sessions_limit", "{session}", "At most so many sessions live.", lambda now: _one(now.sessions.limit)),
    _gauge("sessions_pinned", "{session}", "Sessions with an open request.", lambda now: _one(now.sessions.pinned)),
    _counter("sessions_opened", "{session}", "Sessions begun.", lambda now: _one(now.sessions.opened)),
    _counter(
        "sessions_ended", "{session}", "Sessions that ended.", lambda now: _each(now.sessions.ended, SessionEnd), "end"
    ),
    _counter(
        "sessions_refused",
        "{session}",
        "New sessions for which there was no room, all others being pinned.",
        lambda now: _one(now.sessions.refused),
    ),
    _counter("turns_committed", "{turn}", "Turns written.", lambda now: _one(now.sessions.turns_committed)),
    _counter(
        "commits_failed", "{turn}", "Turns that could not be written.", lambda now: _one(now.sessions.commits_failed)
    ),
    _gauge("store_entries", "{entry}", "Entries of the content store.", lambda now: _one(now.store.entries)),
    _gauge("store_bytes", "By", "Bytes that the content store holds.", lambda now: _one(now.store.bytes)),
    _gauge("store_bytes_limit", "By", "Bytes that it may hold.", lambda now: _one(now.store.bytes_limit)),
    _counter("store_writes", "{entry}", "Entries written.", lambda now: _one(now.store.counters.writes)),
    _counter("store_hits", "{lookup}", "Look-ups that gave a value.", lambda now: _one(now.store.counters.hits)),
    _counter(
        "store_misses",
        "{lookup}",
        "Look-ups that did not.",
        lambda now: _each(now.store.counters.misses_by_reason, MissReason),
        "reason",
    ),
    _counter(
        "store_skips",
        "{entry}",
        "Content that was not stored.",
        lambda now: _each(now.store.counters.skips_by_reason, SkipReason),
        "reason",
    ),
    _counter("store_evictions", "{entry}", "Entries that made room.", lambda now: _one(now.store.counters.evictions)),
    _counter(
        "store_expired", "{entry}", "Entries that outlived their TTL.", lambda now: _one(now.store.counters.expired)
    ),
)

_EXECUTION = (
    _gauge("executions_running", "{execution}", "Executions not over.", lambda now: _one(now.executions.running)),
    _counter(
        "executions",
        "{execution}",
        "Executions that are over.",
        lambda now: (((ended.execution.value, ended.quality.value), ended.count) for ended in now.executions.outcomes),
        "execution",
        "quality",
    ),
    _counter(
        "execution_errors",
        "{execution}",
        "Executions that did not complete.",
        lambda now: _each(now.executions.errors),
        "error",
    ),
    _counter(
        "executions_broken",
        "{execution}",
        "Executions ended by a fault inside of the runtime.",
        lambda now: _one(now.executions.broken),
    ),
    _counter("retries", "{attempt}", "Attempts of batches after the first.", lambda now: _one(now.executions.retries)),
    _counter(
        "failovers",
        "{execution}",
        "Executions in which a call moved to another key.",
        lambda now: _one(now.executions.failovers),
    ),
    _counter(
        "provider_calls",
        "{call}",
        "Physical calls made.",
        lambda now: (
            ((provider, purpose), count)
            for provider, calls in now.providers.items()
            for purpose, count in calls.by_purpose.items()
        ),
        "provider",
        "purpose",
    ),
    _counter(
        "provider_errors",
        "{call}",
        "Physical calls that failed.",
        lambda now: (
            ((provider, error), count)
            for provider, calls in now.providers.items()
            for error, count in calls.errors_by_name.items()
        ),
        "provider",
        "error",
    ),
    _counter(
        "provider_calls_refused",
        "{call}",
        "Physical calls not made since the circuit was open.",
        lambda now: (((provider,), known.refused) for provider, known in now.connections.items()),
        "provider",
    ),
    _counter(
        "provider_calls_cancelled",
        "{call}",
        "Physical calls that ended with their request.",
        lambda now: (((provider,), known.cancelled) for provider, known in now.connections.items()),
        "provider",
    ),
    _gauge(
        "provider_open_calls",
        "{call}",
        "Physical calls that are on their way.",
        lambda now: (((provider,), known.open_calls) for provider, known in now.connections.items()),
        "provider",
    ),
    _gauge(
        "provider_circuit_open",
        "{circuit}",
        "1 while the circuit of a provider lets no call through, or only a probe.",
        lambda now: (
            ((provider,), int(known.circuit is not CircuitState.CLOSED)) for provider, known in now.connections.items()
        ),
        "provider",
    ),
    _histogram(
        "provider_call_seconds",
        "How long the calls took that were answered, by a completion or an error.",
        lambda now: (((provider,), known.call_times) for provider, known in now.connections.items()),
        "provider",
    ),
    _gauge("provider_tasks", "{task}", "Tasks of asynchronous providers.", lambda now: _one(now.provider_tasks)),
)

_KERNEL = (
    _counter("messages_sent", "{message}", "Messages put into a mailbox.", lambda now: _one(now.messages.sent)),
    _counter(
        "messages_handled",
        "{message}",
        "Messages delivered.",
        lambda now: (((kind,), mailbox.handled) for kind, mailbox in now.messages.mailboxes.items()),
        "actor",
    ),
    _counter("messages_failed", "{message}", "Messages whose handler raised.", lambda now: _one(now.messages.failed)),
    _counter(
        "dead_letters",
        "{message}",
        "Messages never delivered.",
        lambda now: _each(now.messages.dead_letters, ("stopped", "closed")),
        "reason",
    ),
    _gauge(
        "actors",
        "{actor}",
        "Live actors.",
        lambda now: (((kind,), mailbox.actors) for kind, mailbox in now.messages.mailboxes.items()),
        "actor",
    ),
    _gauge(
        "mailbox_depth",
        "{message}",
        "Messages that wait in the mailboxes of a kind of actor.",
        lambda now: (((kind,), mailbox.queued) for kind, mailbox in now.messages.mailboxes.items()),
        "actor",
    ),
    _gauge(
        "mailbox_depth_max",
        "{message}",
        "Messages that wait in the fullest of them.",
        lambda now: (((kind,), mailbox.longest) for kind, mailbox in now.messages.mailboxes.items()),
        "actor",
    ),
    _histogram(
        "handling_seconds",
        "How long the handling of a message took: a sample.",
        lambda now: (
            ((kind,), mailbox.handling_times)
            for kind, mailbox in now.messages.mailboxes.items()
            if mailbox.handling_times is not None
        ),
        "actor",
    ),
    _gauge("live_timers", "{timer}", "Timers that run.", lambda now: _one(now.messages.live_timers)),
)

METRICS: tuple[Metric, ...] = (*_ACCEPTANCE, *_MEMORY, *_EXECUTION, *_KERNEL)
"""All of them, in the order of the documentation."""
