"""What endpoints do not offer is found out, once, and without taking anything else for it."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from typing import Any

import pytest

from dragoman import CallFormat, Completion
from dragoman.providers.openai_failures import Complaint
from dragoman.providers.openai_terms import SHAPES, Terms

from .openai_calls import ask, call_of, failure, provider_of
from .server import FaultServer, Recorded, Reply

SENT = {"response_format": {}, "temperature": 0.0, "max_tokens": 5}


def shapes(server: FaultServer) -> list[str | None]:
    return [request.shape for request in server.completions]


@pytest.mark.parametrize(
    ("refuses", "tried"),
    [
        ((), ["json_schema"]),
        (("json_schema",), ["json_schema", "schema"]),
        (("json_schema", "schema"), ["json_schema", "schema", "json_object"]),
        (("json_schema", "schema", "json_object"), ["json_schema", "schema", "json_object", None]),
    ],
)
def test_the_strictest_form_that_is_offered_is_found_and_kept(
    refuses: Collection[str], tried: list[str | None]
) -> None:
    with FaultServer(refuses=refuses) as server:
        provider = provider_of(server.base_url)
        for _ in range(2):
            (end,) = ask(provider, call_of())
            assert isinstance(end, Completion)
        assert shapes(server) == [*tried, tried[-1]]


def test_calls_that_begin_at_once_come_to_the_same_form() -> None:
    with FaultServer(refuses=("json_schema",), latency=0.02) as server:
        provider = provider_of(server.base_url)
        ends = ask(provider, *(call_of({"p1": f"text {number}"}) for number in range(20)))
        assert all(isinstance(end, Completion) for end in ends)
        assert set(shapes(server)) == {"json_schema", "schema"}
        before = len(server.requests)
        ask(provider, *[call_of()] * 3)
        assert shapes(server)[before:] == ["schema"] * 3


def test_a_call_that_was_refused_goes_on_from_what_another_found() -> None:
    async def run(server: FaultServer) -> None:
        provider = provider_of(server.base_url)
        held = asyncio.create_task(provider.complete(call_of({"p1": "held"})))
        await asyncio.to_thread(server.wait_for, lambda: len(server.requests) == 1)
        await provider.complete(call_of({"p1": "free"}))
        server.release()
        await held

    with FaultServer(refuses=("json_schema", "schema"), holds=lambda request: "held" in request.prompt) as server:
        asyncio.run(run(server))
        shapes_of_held = [request.shape for request in server.completions if "held" in request.prompt]
        assert shapes_of_held == ["json_schema", "json_object"]


def test_a_form_that_worked_is_not_given_up_for_one_call() -> None:
    def reply(request: Recorded) -> Reply | None:
        odd = "odd" in request.prompt and request.shape == "json_schema"
        return (400, {}, {"error": {"message": "Invalid schema for response_format"}}) if odd else None

    with FaultServer(reply=reply) as server:
        provider = provider_of(server.base_url)
        for text in ("a", "odd", "b"):
            ask(provider, call_of({"p1": text}))
        assert shapes(server) == ["json_schema", "json_schema", "schema", "json_schema"]


def test_scalar_calls_ask_for_no_form_and_prove_none() -> None:
    with FaultServer(refuses=("json_schema",)) as server:
        provider = provider_of(server.base_url)
        for call in (call_of(format=CallFormat.SCALAR), call_of(), call_of()):
            (end,) = ask(provider, call)
            assert isinstance(end, Completion)
        assert shapes(server) == [None, "json_schema", "schema", "schema"]


def test_without_structured_no_form_is_asked_for() -> None:
    with FaultServer(refuses=("json_schema", "schema", "json_object")) as server:
        ask(provider_of(server.base_url, structured=False), call_of())
        assert shapes(server) == [None]


def test_temperature_and_the_name_of_the_limit_are_negotiated_too() -> None:
    with FaultServer(refuses=("temperature", "max_tokens", "json_schema")) as server:
        provider = provider_of(server.base_url, temperature=0.3, max_output_tokens=99)
        for _ in range(2):
            (end,) = ask(provider, call_of())
            assert isinstance(end, Completion)
        asked = [sorted(set(request.body) - {"model", "messages"}) for request in server.completions]
        assert asked[0] == ["max_tokens", "response_format", "temperature"]
        assert asked[3] == asked[4] == ["max_completion_tokens", "response_format"]
        assert server.completions[4].body["max_completion_tokens"] == 99


def test_what_is_not_asked_for_is_not_sent() -> None:
    with FaultServer() as server:
        ask(provider_of(server.base_url, temperature=None, structured=False), call_of())
        assert set(server.completions[0].body) == {"model", "messages"}


@pytest.mark.parametrize(
    ("status", "body", "name"),
    [
        (400, {"error": {"message": "Invalid 'messages[1]'", "param": "messages"}}, "VALIDATION"),
        (404, {"error": {"message": "The model `a-model` does not exist", "param": "model"}}, "VALIDATION"),
        (401, {"error": {"message": "response_format needs a better key"}}, "API_KEY_INVALID"),
        (400, {"error": {"message": "max_tokens is beyond the maximum context length"}}, "TEXT_TOO_LONG"),
        (400, {"error": {"code": "content_filter", "message": "the schema was filtered"}}, "POLICY"),
        (429, {"error": {"message": "json_schema is busy"}}, "RATE_LIMIT_REACHED"),
        (422, {"detail": [{"loc": ["body", "messages"], "msg": "wrong", "input": "response_format"}]}, "VALIDATION"),
        (500, {"error": {"message": "out of memory"}}, "SERVER_ERROR"),
    ],
)
def test_a_refusal_for_another_reason_is_itself(status: int, body: dict[str, Any], name: str) -> None:
    with FaultServer(reply=lambda _request: (status, {}, body)) as server:
        assert failure(provider_of(server.base_url, max_output_tokens=5)).name == name
        assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (400, {"error": {"message": "This response_format type is unavailable now", "type": "invalid_request_error"}}),
        (400, {"error": {"message": "'response_format' of type 'json_schema' is not supported", "param": None}}),
        (400, {"error": {"message": "does not support response format `json_schema`", "param": "response_format"}}),
        (404, {"error": {"message": "No endpoints found that can handle the requested parameters.", "code": 404}}),
        (422, {"detail": [{"loc": ["body", "response_format", "type"], "msg": "Input should be 'json_object'"}]}),
        (400, {"error": "'response_format.type' must be 'text'"}),
        (500, {"error": {"message": "Failed to parse grammar"}}),
        (501, {"error": {"message": "Not implemented"}}),
        (200, {"error": {"message": "structured outputs are not supported", "code": 400}}),
    ],
)
def test_the_ways_of_refusing_a_form_are_known(status: int, body: dict[str, Any]) -> None:
    def reply(request: Recorded) -> Reply | None:
        return (status, {}, body) if request.shape == "json_schema" else None

    with FaultServer(reply=reply) as server:
        (end,) = ask(provider_of(server.base_url), call_of())
        assert isinstance(end, Completion)
        assert shapes(server) == ["json_schema", "schema"]


def test_an_endpoint_that_refuses_everything_is_asked_a_bounded_number_of_times() -> None:
    words = {"error": {"message": "no response_format, no temperature and no max_tokens"}}
    with FaultServer(reply=lambda _request: (400, {}, words)) as server:
        provider = provider_of(server.base_url, max_output_tokens=5)
        assert failure(provider).name == "VALIDATION"
        assert len(server.requests) == 1 + 1 + 1 + len(SHAPES) - 1
        assert failure(provider).name == "VALIDATION"
        assert server.completions[6].shape == "json_schema", "what failed on whatever terms proves none of them"


def test_a_complaint_about_what_was_not_sent_changes_no_terms() -> None:
    assert Terms().after(Complaint(400, message="no temperature, no max_tokens, no response_format"), {}) is None
    assert Terms().after(Complaint(400, message="temperature"), SENT) == Terms(temperature=False)
