"""Spans of translations, direct calls and their provider calls."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from dragoman import (
    Completion,
    DirectRequest,
    InvalidArgument,
    ProviderCall,
    ProviderError,
    Runtime,
    ScriptedProvider,
    TextDocument,
    TranslationRefused,
)
from dragoman.metrics import Tracing

from .calls import SECRETS, FailingProvider, UpperCase, handoff, request


class Traced:
    """A tracing runtime, and the spans that have ended, by name."""

    def __init__(self, runtime: Runtime) -> None:
        self.exporter = InMemorySpanExporter()
        self.provider = TracerProvider()
        self.provider.add_span_processor(SimpleSpanProcessor(self.exporter))
        self.runtime = runtime
        self.tracing = Tracing(runtime, self.provider)
        self.tracer = self.provider.get_tracer("the program")

    def spans(self, name: str) -> list[ReadableSpan]:
        return [span for span in self.exporter.get_finished_spans() if span.name == name]

    def span(self, name: str) -> ReadableSpan:
        (span,) = self.spans(name)
        return span


@pytest.fixture
def traced(threaded: Runtime) -> Iterator[Traced]:
    return iter([Traced(threaded)]).__next__()


def attributes(span: ReadableSpan) -> dict[str, Any]:
    return {name.removeprefix("dragoman."): value for name, value in (span.attributes or {}).items()}


def test_a_translation_is_a_span_with_its_calls_inside(traced: Traced) -> None:
    feature = TextDocument(dict(request().parents))
    with traced.tracer.start_as_current_span("program") as program:
        outcome = traced.tracing.translate(request(), provider=UpperCase(), feature=feature).get(30)
    assert outcome.quality == "COMPLETE"
    span, call = traced.span("dragoman.translate"), traced.span("dragoman.provider_call")
    assert span.parent is not None
    assert span.parent.span_id == program.get_span_context().span_id
    assert call.parent is not None
    assert call.parent.span_id == span.context.span_id
    told = attributes(span)
    assert (told["request_id"], told["session_id"], told["provider"], told["mode"]) == (
        *("r1", "s1", "openai"),
        request().mode,
    )
    assert (told["parents"], told["execution"], told["quality"]) == (2, "COMPLETED", "COMPLETE")
    assert (told["retries"], told["calls"], told["parents.translated"]) == (0, 1, 2)
    assert span.status.is_unset
    made = attributes(call)
    assert (made["call_id"], made["purpose"], made["key"]) == ("r1/1", "PRIMARY_TRANSLATION", 1)
    assert (made["model"], made["input_tokens"], made["output_tokens"]) == ("m1", 3, 4)
    assert call.kind is trace.SpanKind.CLIENT
    kinds = [dict(event.attributes or {})["dragoman.kind"] for event in span.events]
    assert sorted(kinds) == ["ACCEPTED", "ACCEPTED", "DISPATCHED", "DISPATCHED"]


def test_the_coroutine_of_a_provider_runs_inside_of_the_span_of_its_call(traced: Traced) -> None:
    class Instrumented:
        async def complete(self, call: ProviderCall) -> Completion:
            with traced.tracer.start_as_current_span("http"):
                return Completion(SECRETS[1])

    traced.tracing.direct(DirectRequest("r1", "s1", SECRETS[0], "de"), provider=Instrumented()).get(30)
    http, call = traced.span("http"), traced.span("dragoman.provider_call")
    assert http.parent is not None
    assert http.parent.span_id == call.context.span_id
    assert call.parent is not None
    assert call.parent.span_id == traced.span("dragoman.direct").context.span_id


def test_failed_calls_and_outcomes_are_errors_by_name(traced: Traced) -> None:
    provider = FailingProvider(ProviderError("API_KEY_INVALID"))
    outcome = traced.tracing.translate(request(), provider=provider).get(30)
    assert outcome.error == "API_KEY_INVALID"
    for name in ("dragoman.translate", "dragoman.provider_call"):
        span = traced.spans(name)[0]
        assert (span.attributes or {})["error.type"] == "API_KEY_INVALID"
        assert span.status.status_code is trace.StatusCode.ERROR


def test_a_fault_of_a_provider_is_told_by_its_type_alone(traced: Traced) -> None:
    provider = FailingProvider(ValueError(SECRETS[2]), ValueError(SECRETS[2]))
    traced.tracing.direct(DirectRequest("r1", "s1", SECRETS[0], "de"), provider=provider)
    traced.runtime.cancel("r1").get()
    traced.runtime.close()
    calls = traced.spans("dragoman.provider_call")
    assert {(span.attributes or {}).get("error.type") for span in calls} <= {"ValueError", "CancelledError"}
    assert not [span for span in traced.exporter.get_finished_spans() if span.events]


def test_a_call_that_is_answered_by_message_is_an_event(runtime: Runtime) -> None:
    traced = Traced(runtime)
    running = traced.tracing.translate(request(), provider=ScriptedProvider())
    running.started.get()
    assert traced.exporter.get_finished_spans() == ()
    runtime.respond("r1/1", translations={"p1": SECRETS[1], "p2": SECRETS[1]}).get()
    running.get()
    events = traced.span("dragoman.translate").events
    assert [dict(event.attributes or {})["dragoman.call_id"] for event in events if "call" in event.name] == ["r1/1"]


def test_a_refused_start_is_an_error(runtime: Runtime) -> None:
    traced = Traced(runtime)
    with pytest.raises(TranslationRefused):
        traced.tracing.translate(request("")).get()
    assert attributes(traced.span("dragoman.translate"))["refused"] == "INVALID_HANDOFF"


@pytest.mark.parametrize("wrong", [{"request": None}, {"provider": 3}, {"progress": 3}, {"feature": 3}], ids=str)
def test_what_the_runtime_refuses_is_refused_and_the_span_ends(runtime: Runtime, wrong: dict[str, Any]) -> None:
    traced = Traced(runtime)
    with pytest.raises(InvalidArgument) as refused:
        traced.tracing.translate(**{"request": request(), **wrong})
    assert refused.value.field in wrong
    assert attributes(traced.span("dragoman.translate"))["error.type"] == "InvalidArgument"


def test_progress_is_told_as_without_spans(traced: Traced) -> None:
    events: list[Any] = []
    feature = TextDocument(dict(request().parents))
    traced.tracing.translate(request(), provider=UpperCase(), feature=feature, progress=events.append).get(30)
    assert [event.kind.value for event in events].count("ACCEPTED") == 2


def test_the_events_of_one_span_are_bounded(traced: Traced) -> None:
    parents = {f"p{number}": f"{SECRETS[0]} {number}" for number in range(120)}
    wanted = request(parents=parents)
    traced.tracing.translate(wanted, provider=UpperCase(), feature=TextDocument(parents)).get(30)
    span = traced.span("dragoman.translate")
    assert len(span.events) == 100
    assert attributes(span)["events_left_out"] == 140


def test_acks_by_hand_are_events_of_the_current_span(runtime: Runtime) -> None:
    traced = Traced(runtime)
    runtime.register(handoff("r1")).get()
    with traced.tracer.start_as_current_span("program"):
        traced.tracing.acknowledge("r1", "p1", SECRETS[1]).get()
        traced.tracing.reject("r1", "p1").get()
    told = [dict(event.attributes or {}) for event in traced.span("program").events]
    assert [(one["dragoman.status"], one["dragoman.committed"]) for one in told] == [("ACCEPTED", 1), ("CONFLICT", 0)]
    assert traced.tracing.acknowledge("r1", "p2", SECRETS[1]).get().status == "ACCEPTED"


def test_a_wrapped_provider_makes_spans_in_the_context_that_it_was_wrapped_in(traced: Traced) -> None:
    with traced.tracer.start_as_current_span("document") as document:
        provider = traced.tracing.provider(UpperCase())
    traced.runtime.direct(DirectRequest("r1", "s1", SECRETS[0], "de"), provider=provider).get(30)
    call = traced.span("dragoman.provider_call")
    assert call.parent is not None
    assert call.parent.span_id == document.get_span_context().span_id
    with pytest.raises(InvalidArgument):
        traced.tracing.provider(ScriptedProvider())  # type: ignore[arg-type]


def test_no_text_is_in_any_span(traced: Traced) -> None:
    feature = TextDocument(dict(request().parents), refuse=["p1"])
    traced.tracing.translate(request(), provider=UpperCase(), feature=feature).get(30)
    faulty = FailingProvider(ProviderError("API_KEY_INVALID"))
    traced.tracing.direct(DirectRequest("r2", "s1", SECRETS[0], "de"), provider=faulty).get(30)
    spans = traced.exporter.get_finished_spans()
    assert len(spans) == 4
    assert not [secret for span in spans for secret in SECRETS if secret in span.to_json()]
