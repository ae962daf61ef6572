"""Spans of what a runtime executes, made at its face: the actors know nothing of them.

Rules. One span a translation or direct call, from its start to its outcome; its parent is the context of the caller. A
child span for each physical call of a provider object, current while the provider's coroutine runs, so that what an
instrumented HTTP client does nests in it. What happens to a parent is an event of the request's span.

Attributes are ids, sizes, states and names of errors. No text is among them, and no exception is recorded as such,
since its message may be anything.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..actors.futures import Future
from ..missing import MissingExtra
from ..protocol.calls import CallTaker, Completion, Provider, ProviderCall
from ..protocol.errors import InvalidArgument, TranslationRefused
from ..protocol.failures import PROVIDER_FAULT, ProviderError
from ..protocol.features import Feature
from ..protocol.outcomes import ParentEvent, TranslationOutcome
from ..protocol.replies import AckReply
from ..protocol.statuses import ExecutionStatus
from ..protocol.translations import DirectRequest, TranslationRequest
from ..runtime import Runtime
from ..translation import Translation

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.trace import Span, TracerProvider

__all__ = ["Tracing"]

_MOST_EVENTS = 100
"""Events of parents in one span; the rest are counted."""


class Tracing:
    """`translate` and `direct` of a runtime, with spans; arguments, answers and errors are those of the runtime.

    `tracer_provider`: None is the one of the process. `acknowledge` and `reject` add an event to the span that is
    current. `provider` wraps a provider for calls that are made elsewhere, such as those of a `FeatureOperation`.

    Raises `MissingExtra` without `opentelemetry-api`.
    """

    def __init__(self, runtime: Runtime, tracer_provider: TracerProvider | None = None) -> None:
        try:
            from opentelemetry import context, trace
        except ImportError:
            raise MissingExtra("opentelemetry", "Tracing") from None
        if not isinstance(runtime, Runtime):
            raise InvalidArgument("runtime", "must be a Runtime")
        self.runtime = runtime
        self._trace = trace
        self._context: Any = context
        self._tracer = trace.get_tracer("dragoman", tracer_provider=tracer_provider)

    def translate(
        self,
        request: TranslationRequest,
        *,
        provider: Provider | CallTaker | None = None,
        feature: Feature | None = None,
        progress: Callable[[ParentEvent], object] | None = None,
        history_until: str | None = None,
    ) -> Translation:
        """`Runtime.translate` in a span `dragoman.translate`."""
        span = self._start("dragoman.translate", request)
        events = _Events(span, progress)
        return self._ending(
            span,
            lambda: self.runtime.translate(
                request,
                provider=self._in(span, provider),
                feature=feature,
                progress=events.tell if progress is None or callable(progress) else progress,
                history_until=history_until,
            ),
            events,
        )

    def direct(self, request: DirectRequest, *, provider: Provider | CallTaker | None = None) -> Translation:
        """`Runtime.direct` in a span `dragoman.direct`."""
        span = self._start("dragoman.direct", request)
        return self._ending(span, lambda: self.runtime.direct(request, provider=self._in(span, provider)), None)

    def acknowledge(self, request_id: str, parent_id: str, result: str) -> Future[AckReply]:
        """`Runtime.acknowledge`, as an event `dragoman.ack` of the current span."""
        return self._told(request_id, parent_id, self.runtime.acknowledge(request_id, parent_id, result))

    def reject(self, request_id: str, parent_id: str) -> Future[AckReply]:
        """`Runtime.reject`, as an event `dragoman.ack` of the current span."""
        return self._told(request_id, parent_id, self.runtime.reject(request_id, parent_id))

    def provider(self, provider: Provider) -> Provider:
        """`provider` with a span for each call, in the context that is current now."""
        if not isinstance(provider, Provider) or isinstance(provider, type):
            raise InvalidArgument("provider", "must be an object that has complete(call)")
        return _TracedProvider(self, provider, self._context.get_current())

    def _start(self, name: str, request: object) -> Span:
        attributes: dict[str, str | int] = {}
        if isinstance(request, TranslationRequest | DirectRequest):
            for field in ("request_id", "session_id", "provider", "mode", "target_language"):
                value = getattr(request, field, None)
                if isinstance(value, str):
                    attributes[f"dragoman.{field}"] = value
            parents = getattr(request, "parents", None)
            if hasattr(parents, "__len__"):
                attributes["dragoman.parents"] = len(parents)  # type: ignore[arg-type]
        return self._tracer.start_span(name, attributes=attributes)

    def _in(self, span: Span, provider: Any) -> Any:
        """A provider whose calls are children of `span`; what is none goes on to be refused by the runtime."""
        if isinstance(provider, type):
            return provider
        if isinstance(provider, Provider):
            return _TracedProvider(self, provider, self._trace.set_span_in_context(span))
        if isinstance(provider, CallTaker):
            return _TracedTaker(span, provider)
        return provider

    def _ending(self, span: Span, begin: Callable[[], Translation], events: _Events | None) -> Translation:
        try:
            translation = begin()
        except BaseException as error:
            self._fail(span, type(error).__name__)
            span.end()
            raise

        def end(ended: Future[TranslationOutcome]) -> None:
            if events is not None:
                events.end()
            try:
                self._tell_outcome(span, ended.get())
            except TranslationRefused as refused:
                span.set_attribute("dragoman.refused", refused.status)
                self._fail(span, type(refused).__name__)
            except Exception as error:
                self._fail(span, type(error).__name__)
            finally:
                span.end()

        translation.add_done_callback(end)
        return translation

    def _tell_outcome(self, span: Span, outcome: TranslationOutcome) -> None:
        span.set_attributes(
            {
                "dragoman.execution": outcome.execution.value,
                "dragoman.quality": outcome.quality.value,
                "dragoman.retries": outcome.retries,
                "dragoman.failover": outcome.failover,
                "dragoman.calls": outcome.calls,
                "dragoman.parents.translated": len(outcome.translated),
                "dragoman.parents.unresolved": len(outcome.unresolved),
                "dragoman.parents.cancelled": len(outcome.cancelled),
            }
        )
        if outcome.execution is not ExecutionStatus.COMPLETED:
            self._fail(span, outcome.error or outcome.execution.value)

    def _fail(self, span: Span, error: str) -> None:
        span.set_attribute("error.type", error)
        span.set_status(self._trace.Status(self._trace.StatusCode.ERROR, error))

    def _told(self, request_id: str, parent_id: str, answered: Future[AckReply]) -> Future[AckReply]:
        span = self._trace.get_current_span()
        if span.is_recording():

            def tell(future: Future[AckReply]) -> None:
                try:
                    reply = future.get()
                except Exception as error:
                    span.add_event("dragoman.ack", {"error.type": type(error).__name__})
                    return
                span.add_event(
                    "dragoman.ack",
                    {
                        "dragoman.request_id": request_id,
                        "dragoman.parent_id": parent_id,
                        "dragoman.status": reply.status.value,
                        "dragoman.committed": len(reply.committed),
                    },
                )

            answered.add_done_callback(tell)
        return answered

    async def _complete(self, provider: Provider, call: ProviderCall, parent: Context) -> Completion:
        attributes: dict[str, str | int] = {
            "dragoman.call_id": call.id,
            "dragoman.request_id": call.request_id,
            "dragoman.provider": call.provider,
            "dragoman.purpose": str(call.purpose),
            "dragoman.key": call.key,
            "dragoman.attempt": call.attempt,
            "dragoman.units": len(call.units),
        }
        kind = self._trace.SpanKind.CLIENT
        span = self._tracer.start_span("dragoman.provider_call", context=parent, kind=kind, attributes=attributes)
        token = self._context.attach(self._trace.set_span_in_context(span, parent))
        try:
            completion = await provider.complete(call)
            self._tell_answer(span, completion)
            return completion
        except ProviderError as error:
            self._fail(span, error.name)
            raise
        except BaseException as error:
            self._fail(span, type(error).__name__)
            raise
        finally:
            self._context.detach(token)
            span.end()

    def _tell_answer(self, span: Span, answer: object) -> None:
        """What is told of an answer, by a provider that may break its promise to give a `Completion`."""
        if not isinstance(answer, Completion):
            self._fail(span, PROVIDER_FAULT)
            return
        if isinstance(answer.termination, str):
            span.set_attribute("dragoman.termination", str(answer.termination))
        for name in ("model", "input_tokens", "output_tokens"):
            value = getattr(answer, name)
            if isinstance(value, str | int):
                span.set_attribute(f"dragoman.{name}", value)


class _TracedProvider:
    __slots__ = ("_parent", "_provider", "_tracing")

    def __init__(self, tracing: Tracing, provider: Provider, parent: Context) -> None:
        self._tracing = tracing
        self._provider = provider
        self._parent = parent

    async def complete(self, call: ProviderCall) -> Completion:
        return await self._tracing._complete(self._provider, call, self._parent)


class _TracedTaker:
    """Of a call whose answer comes by message nobody here sees the end: it is an event."""

    __slots__ = ("_span", "_taker")

    def __init__(self, span: Span, taker: CallTaker) -> None:
        self._span = span
        self._taker = taker

    def take(self, call: ProviderCall) -> None:
        attributes: dict[str, str | int] = {
            "dragoman.call_id": call.id,
            "dragoman.purpose": str(call.purpose),
            "dragoman.key": call.key,
            "dragoman.attempt": call.attempt,
        }
        self._span.add_event("dragoman.provider_call", attributes)
        self._taker.take(call)


class _Events:
    """The events of the parents of one request, in its span and to whoever follows its progress."""

    def __init__(self, span: Span, progress: Callable[[ParentEvent], object] | None) -> None:
        self._span = span
        self._progress = progress
        self._count = 0

    def tell(self, event: ParentEvent) -> None:
        self._count += 1
        if self._count <= _MOST_EVENTS:
            attributes = {"dragoman.parent_id": event.parent_id, "dragoman.kind": event.kind.value}
            if event.reason is not None:
                attributes["dragoman.reason"] = event.reason
            self._span.add_event("dragoman.parent", attributes)
        if self._progress is not None:
            self._progress(event)

    def end(self) -> None:
        if self._count > _MOST_EVENTS:
            self._span.set_attribute("dragoman.events_left_out", self._count - _MOST_EVENTS)
