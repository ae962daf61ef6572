"""Which error of an endpoint gets which of the contract's names, and how long it wants to be left alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from dragoman import Completion
from dragoman.protocol.settings import MAX_SECONDS
from dragoman.providers.openai_answers import decoded
from dragoman.providers.openai_failures import Complaint, error_name, failure_of, retry_after

from .openai_calls import SECRET, ask, call_of, failure, provider_of
from .server import Fault, FaultServer, Recorded, Reply


def said(message: str = "", **facts: Any) -> dict[str, Any]:
    return {"error": {"message": message, **facts}}


NAMES: list[tuple[int, object, str]] = [
    (400, said("Invalid value for 'n'"), "VALIDATION"),
    (400, {}, "VALIDATION"),
    (400, "Bad Request", "VALIDATION"),
    (400, said("", code="context_length_exceeded"), "TEXT_TOO_LONG"),
    (400, {"object": "error", "message": "This model's maximum context length is 4096 tokens."}, "TEXT_TOO_LONG"),
    (400, said("the request exceeds it", type="exceed_context_size_error"), "TEXT_TOO_LONG"),
    (500, said("Context size has been exceeded."), "TEXT_TOO_LONG"),
    (413, "Payload", "TEXT_TOO_LONG"),
    (422, {"detail": [{"loc": ["body", "n"], "msg": "too many tokens", "input": "content_filter"}]}, "TEXT_TOO_LONG"),
    (400, said("", code="content_filter", innererror={"code": "ResponsibleAIPolicyViolation"}), "POLICY"),
    (400, said("Content Exists Risk"), "POLICY"),
    (403, said("flagged", code=403, metadata={"reasons": ["violence"], "flagged_input": "…"}), "POLICY"),
    (403, said("", code="unsupported_country_region_territory"), "API_KEY_INVALID"),
    (403, "<html>", "API_KEY_INVALID"),
    (401, said("", code="invalid_api_key"), "API_KEY_INVALID"),
    (400, [said("API key not valid. Please pass one.", code=400, status="INVALID_ARGUMENT")], "API_KEY_INVALID"),
    (402, said("Insufficient Balance"), "INSUFFICIENT_BALANCE"),
    (404, said("The model does not exist", code="model_not_found"), "VALIDATION"),
    (404, {"detail": "Not Found"}, "VALIDATION"),
    (405, {}, "HTTP_ERROR"),
    (408, {}, "HTTP_ERROR"),
    (409, {}, "HTTP_ERROR"),
    (418, {}, "HTTP_ERROR"),
    (422, {"detail": [{"loc": ["body", "messages"], "msg": "field required"}]}, "VALIDATION"),
    (425, {}, "HTTP_ERROR"),
    (429, said("", code="rate_limit_exceeded"), "RATE_LIMIT_REACHED"),
    (429, "slow down", "RATE_LIMIT_REACHED"),
    (429, said("You exceeded your current quota", status="RESOURCE_EXHAUSTED"), "RATE_LIMIT_REACHED"),
    (429, said("", type="insufficient_quota", code="insufficient_quota"), "QUOTA_EXCEEDED"),
    (429, said("", type="engine_overloaded_error"), "MODEL_OVERLOADED"),
    (500, said("The server had an error"), "SERVER_ERROR"),
    (501, {}, "SERVER_ERROR"),
    (502, "<html>", "SERVER_ERROR"),
    (503, {}, "MODEL_OVERLOADED"),
    (504, {}, "SERVER_ERROR"),
    (524, {}, "SERVER_ERROR"),
    (529, {}, "MODEL_OVERLOADED"),
]


@pytest.mark.parametrize(("status", "body", "name"), NAMES)
def test_an_error_gets_its_name(status: int, body: object, name: str) -> None:
    assert error_name(Complaint.of(status, body)) == name


def test_an_error_over_the_wire_gets_the_same_name() -> None:
    turn = iter(NAMES)

    def reply(_request: Recorded) -> Reply:
        status, body, _name = next(turn)
        return status, {}, body if isinstance(body, str | dict) else '[{"error": {"message": "API key not valid"}}]'

    with FaultServer(reply=reply) as server:
        ends = ask(provider_of(server.base_url, structured=False), *[call_of()] * len(NAMES))
        assert len(server.requests) == len(NAMES)
    assert sorted(str(end) for end in ends) == sorted(name for _status, _body, name in NAMES)


IN_BODIES: list[tuple[dict[str, Any], str]] = [
    ({"code": 429, "message": "slow down"}, "RATE_LIMIT_REACHED"),
    ({"code": "429", "message": "slow down"}, "RATE_LIMIT_REACHED"),
    ({"code": 402, "message": "no credits"}, "INSUFFICIENT_BALANCE"),
    ({"code": 502, "message": "bad gateway"}, "SERVER_ERROR"),
    ({"code": "rate_limit_exceeded"}, "RATE_LIMIT_REACHED"),
    ({"code": "insufficient_quota"}, "QUOTA_EXCEEDED"),
    ({"type": "overloaded_error"}, "MODEL_OVERLOADED"),
    ({"type": "authentication_error"}, "API_KEY_INVALID"),
    ({"code": "context_length_exceeded"}, "TEXT_TOO_LONG"),
    ({"message": "something went wrong"}, "SERVER_ERROR"),
]


@pytest.mark.parametrize(("error", "name"), IN_BODIES)
@pytest.mark.parametrize("wrap", [lambda error: {"error": error}, lambda error: {"choices": [{"error": error}]}])
def test_an_error_in_a_good_response_gets_its_name(error: dict[str, Any], name: str, wrap: Any) -> None:
    with FaultServer(reply=lambda _request: (200, {"Retry-After": "7"}, wrap(error))) as server:
        end = failure(provider_of(server.base_url, structured=False))
    assert end.name == name
    waits = name in ("RATE_LIMIT_REACHED", "QUOTA_EXCEEDED", "MODEL_OVERLOADED", "SERVER_ERROR")
    assert end.retry_after == (7.0 if waits else None)


WAITS: list[tuple[dict[str, str], float | None]] = [
    ({"retry-after": "3"}, 3.0),
    ({"retry-after": " 1.5 "}, 1.5),
    ({"retry-after": "0"}, 0.0),
    ({"retry-after-ms": "250", "retry-after": "3"}, 0.25),
    ({"retry-after-ms": "soon", "retry-after": "3"}, 3.0),
    ({"retry-after": "Thu, 01 Jan 1970 00:01:40 GMT"}, 60.0),
    ({"retry-after": "Thu, 01 Jan 1970 00:01:40 GMT", "date": "Thu, 01 Jan 1970 00:01:30 GMT"}, 10.0),
    ({"retry-after": "Thu, 01 Jan 1970 00:00:10 GMT"}, 0.0),
    ({"retry-after": "9" * 400}, float(MAX_SECONDS)),
    ({"retry-after": "-5"}, None),
    ({"retry-after": "nan"}, None),
    ({"retry-after": "tomorrow"}, None),
    ({"retry-after": "99 Foo 2020 99:99:99 GMT"}, None),
    ({}, None),
]


@pytest.mark.parametrize(("headers", "wait"), WAITS)
def test_the_wait_that_is_asked_for_is_read(headers: Mapping[str, str], wait: float | None) -> None:
    assert retry_after(headers, now_s=40.0) == wait
    assert failure_of(Complaint(429), {"retry-after": "5"}).retry_after == 5.0
    assert failure_of(Complaint(400), {"retry-after": "5"}).retry_after is None


@pytest.mark.parametrize(
    ("fault", "name"),
    [
        (Fault.CUT_HEADERS, "NETWORK_ERROR"),
        (Fault.CUT_BODY, "NETWORK_ERROR"),
        (Fault.HTML, "API_RESPONSE_INVALID"),
        (Fault.NO_CHOICES, "API_RESPONSE_INVALID"),
        (Fault.NO_CONTENT, "API_RESPONSE_INVALID"),
    ],
)
def test_a_response_that_is_none_gets_its_name(fault: Fault, name: str) -> None:
    with FaultServer([fault]) as server:
        assert failure(provider_of(server.base_url)).name == name
        assert len(server.requests) == 1


@pytest.mark.parametrize(
    "body", ["", '{"choices": [', "[]", "null", '"text"', "[" * 100_000, b"\xff\xfe", '{"choices": [5]}']
)
def test_a_body_that_is_no_chat_completion_is_an_invalid_response(body: str | bytes) -> None:
    with FaultServer(reply=lambda _request: (200, {}, body)) as server:
        assert failure(provider_of(server.base_url)).name == "API_RESPONSE_INVALID"


def test_silence_ends_as_a_network_error() -> None:
    with FaultServer([Fault.HANG]) as server:
        assert failure(provider_of(server.base_url, timeout=0.1)).name == "NETWORK_ERROR"
        server.wait_for(lambda: server.requests[0].aborted)


def test_a_server_that_is_gone_is_a_network_error() -> None:
    with FaultServer() as server:
        url = server.base_url
    assert failure(provider_of(url)).name == "NETWORK_ERROR"


def test_what_an_endpoint_says_stays_with_it() -> None:
    message = f"Incorrect API key provided: {SECRET}. Your text was: a private text"
    complaint = Complaint.of(401, said(message, param=SECRET))
    assert SECRET not in repr(complaint)
    with FaultServer(reply=lambda _request: (401, {}, said(message))) as server:
        end = failure(provider_of(server.base_url), call_of({"p1": "a private text"}))
    assert str(end) == "API_KEY_INVALID"
    assert end.__cause__ is end.__context__ is None


def test_a_body_that_is_no_json_stands_as_its_text() -> None:
    assert decoded(b"Bad \xff Gateway") == "Bad \ufffd Gateway"


def test_a_good_answer_is_no_error() -> None:
    with FaultServer() as server:
        (end,) = ask(provider_of(server.base_url), call_of())
    assert isinstance(end, Completion)
