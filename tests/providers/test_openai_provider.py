"""The provider by itself: what it sends, with which key, how it is cancelled, and what it never shows."""

from __future__ import annotations

import asyncio
import base64
import gc
import logging
import pickle
import socket
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest

from dragoman import CallFormat, Completion, DragomanError, InvalidArgument, Provider, ProviderError, Turn
from dragoman.providers import InvalidCredentials, MissingExtra, OpenAIProvider, ProviderUnavailable
from dragoman.providers.prompts import answer_schema, system_prompt

from .openai_calls import SECRET, ask, call_of, failure, provider_of
from .server import Fault, FaultServer, translation_of

LOCAL = "http://127.0.0.1:9/v1"


@pytest.fixture(autouse=True)
def _bare_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"):
        monkeypatch.delenv(name, raising=False)


def test_a_structured_call_over_the_wire() -> None:
    call = call_of({"p1": "one", "p2": "zwei €"}, history=(Turn("r0", "p0", "Good", "Gut"),))
    with FaultServer() as server:
        (end,) = ask(provider_of(server.base_url, instructions="Say Sie."), call)
        (request,) = server.requests
    assert request.path == "/v1/chat/completions"
    assert request.key == SECRET
    assert request.body == {
        "model": "a-model",
        "temperature": 0.0,
        "messages": [
            {"role": "system", "content": system_prompt(call, "Say Sie.")},
            {"role": "user", "content": "Good"},
            {"role": "assistant", "content": "Gut"},
            {"role": "user", "content": call.body},
        ],
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "translations", "strict": True, "schema": answer_schema(call)},
        },
    }
    assert isinstance(end, Completion)
    assert end.text == '{"translations": [{"id": "p1", "text": "⟦one⟧"}, {"id": "p2", "text": "⟦zwei €⟧"}]}'
    assert (end.model, end.input_tokens, end.output_tokens) == ("a-model", len(call.body), len(end.text))


def test_a_scalar_call_over_the_wire() -> None:
    with FaultServer() as server:
        (end,) = ask(provider_of(server.base_url), call_of(format=CallFormat.SCALAR))
        assert server.requests[0].body["messages"][-1] == {"role": "user", "content": "Hello"}
    assert isinstance(end, Completion)
    assert end.text == translation_of("Hello")


def test_half_a_surrogate_pair_is_sent_as_what_stands_for_any_character() -> None:
    turn = Turn("r0", "p0", "b\ud83d", "c")
    with FaultServer() as server:
        provider = provider_of(server.base_url)
        (end,) = ask(provider, call_of({"p1": "a\udc00 😀"}, history=(turn,)))
        assert isinstance(end, Completion)
        assert server.requests[0].units == [("p1", "a\ufffd 😀")]
        assert server.requests[0].body["messages"][1]["content"] == "b\ufffd"
        assert failure(provider, call_of({"p\ud83d": "a"})).name == "VALIDATION"


def test_a_chat_model_is_no_machine_provider() -> None:
    with FaultServer() as server:
        assert failure(provider_of(server.base_url), call_of(format=CallFormat.TEXTS)).name == "VALIDATION"
        assert server.requests == []


def test_it_is_a_provider() -> None:
    assert isinstance(provider_of(LOCAL), Provider)


def test_a_failed_call_is_made_once() -> None:
    with FaultServer([Fault.SERVER_ERROR, Fault.RATE_LIMIT, Fault.OVERLOADED], retry_after="9") as server:
        provider = provider_of(server.base_url)
        ends = [failure(provider) for _ in range(3)]
        assert [(end.name, end.retry_after) for end in ends] == [
            ("SERVER_ERROR", None),
            ("RATE_LIMIT_REACHED", 9.0),
            ("MODEL_OVERLOADED", 9.0),
        ]
        assert len(server.requests) == 3


def test_a_call_goes_out_with_the_key_that_it_names() -> None:
    with FaultServer() as server:
        provider = provider_of(server.base_url, keys=["one", "two", "three"])
        assert provider.keys == 3
        ask(provider, *(call_of(key=key) for key in (2, 1, 3, 2)))
        assert sorted(request.key for request in server.requests) == ["one", "three", "two", "two"]
        assert failure(provider, call_of(key=4)).name == "API_KEY_INVALID"
        assert len(server.requests) == 4


def test_keys_come_from_the_environment_or_a_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "keys"
    file.write_text("three\nfour\n")
    with FaultServer() as server:
        monkeypatch.setenv("OPENAI_API_KEY", "one, two")
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        for provider in (OpenAIProvider("m"), OpenAIProvider("m", key_file=file)):
            assert provider.keys == 2
            ask(provider, call_of(key=2))
        assert [request.key for request in server.requests] == ["two", "four"]


def test_a_server_of_ones_own_may_need_no_key() -> None:
    with FaultServer() as server:
        provider = OpenAIProvider("m", base_url=server.base_url)
        assert provider.keys == 1
        (end,) = ask(provider, call_of())
    assert isinstance(end, Completion)


@pytest.mark.parametrize("url", [None, "https://api.openai.com/v1"])
def test_without_a_key_openai_cannot_be_asked(url: str | None) -> None:
    with pytest.raises(ProviderUnavailable, match="OPENAI_API_KEY") as refused:
        OpenAIProvider("m", base_url=url)
    assert isinstance(refused.value, DragomanError)
    assert isinstance(refused.value, RuntimeError)
    assert pickle.loads(pickle.dumps(refused.value)).problem == refused.value.problem


def test_without_the_sdk_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openai", None)
    with pytest.raises(
        MissingExtra, match=r"OpenAIProvider needs its extra: pip install 'dragoman\[openai\]'"
    ) as refused:
        OpenAIProvider("m", keys=SECRET)
    assert isinstance(refused.value, ImportError)
    assert (refused.value.extra, refused.value.user) == ("openai", "OpenAIProvider")
    assert pickle.loads(pickle.dumps(refused.value)).extra == "openai"


@pytest.mark.parametrize(
    ("field", "facts"),
    [
        ("model", {"model": " "}),
        ("temperature", {"temperature": 3}),
        ("temperature", {"temperature": True}),
        ("max_output_tokens", {"max_output_tokens": 0}),
        ("timeout", {"timeout": 0}),
        ("timeout", {"timeout": float("nan")}),
        ("base_url", {"base_url": "localhost:8080/v1"}),
        ("base_url", {"base_url": f"http://{SECRET}@host:port/v1"}),
        ("base_url", {"base_url": f"http://host/v1?key={SECRET}"}),
        ("base_url", {"base_url": f"http://{SECRET}@/v1"}),
        ("base_url", {"base_url": f"http://user:{SECRET}@host/v1\n"}),
        ("base_url", {"base_url": f"http://user:{SECRET}@host/v1"}),
    ],
)
def test_what_cannot_be_used_is_refused_by_name_and_not_shown(field: str, facts: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgument) as refused:
        OpenAIProvider(**{"model": "m", "base_url": LOCAL, "keys": SECRET, **facts})
    assert refused.value.field == field
    assert SECRET not in str(refused.value)
    with pytest.raises(InvalidCredentials):
        OpenAIProvider("m", keys=f"{SECRET}\n")


def test_the_user_of_a_url_is_sent_in_the_place_of_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "one two")
    with FaultServer() as server:
        url = server.base_url.replace("://", "://me:p%40ss@")
        provider = OpenAIProvider("m", base_url=url)
        asyncio.run(provider.check())
        ask(provider, call_of())
        expected = "Basic " + base64.b64encode(b"me:p@ss").decode()
        assert [request.headers["authorization"] for request in server.requests] == [expected] * 2
        assert provider.keys == 1
    assert "p%40ss" not in repr(provider)


def test_a_cancelled_call_ends_its_request() -> None:
    async def cancel(server: FaultServer) -> None:
        provider = provider_of(server.base_url)
        task = asyncio.create_task(provider.complete(call_of()))
        await asyncio.to_thread(server.wait_for, lambda: len(server.requests) == 1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.to_thread(server.wait_for, lambda: server.requests[0].aborted)
        assert isinstance(await provider.complete(call_of()), Completion)

    with FaultServer([Fault.HANG]) as server:
        asyncio.run(cancel(server))


def test_two_hundred_calls_at_once_are_two_hundred_requests_at_once() -> None:
    async def run(server: FaultServer) -> list[Completion]:
        provider = provider_of(server.base_url)
        calls = [asyncio.create_task(provider.complete(call_of({"p1": f"text {number}"}))) for number in range(200)]
        await asyncio.to_thread(server.wait_for, lambda: len(server.requests) == 200)
        server.release()
        return await asyncio.gather(*calls)

    with FaultServer(holds=lambda _request: True) as server:
        answers = asyncio.run(run(server))
    assert len({answer.text for answer in answers}) == 200


def test_one_provider_serves_one_loop_after_another_and_leaves_nothing_open() -> None:
    with warnings.catch_warnings(record=True) as caught, FaultServer() as server:
        warnings.simplefilter("always")
        provider = provider_of(server.base_url, keys=["one", "two"])
        for _ in range(3):
            ask(provider, call_of(key=1), call_of(key=2))
        assert all(request.answered for request in server.requests)
        gc.collect()
        server.wait_for(lambda: True)
        assert len(provider._clients._open) == 1, "the loops that are over are not kept"
    assert caught == []


def test_connections_can_be_closed_before_the_loop_ends() -> None:
    async def run(server: FaultServer) -> None:
        provider = provider_of(server.base_url)
        await provider.aclose()
        await provider.complete(call_of())
        assert server.open_connections == 1
        await provider.aclose()
        await asyncio.to_thread(server.wait_for, lambda: not server.open_connections)
        assert isinstance(await provider.complete(call_of()), Completion)

    with FaultServer() as server:
        asyncio.run(run(server))


def test_a_forgotten_provider_closes_its_connections() -> None:
    async def run(server: FaultServer) -> None:
        await provider_of(server.base_url).complete(call_of())
        gc.collect()
        await asyncio.to_thread(server.wait_for, lambda: not server.open_connections)

    with FaultServer() as server:
        asyncio.run(run(server))


def test_nothing_shows_a_key_or_a_text(caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]) -> None:
    caplog.set_level(logging.DEBUG)
    private = "a private text"
    faults = [None, Fault.WRONG_KEY, Fault.CUT_BODY, Fault.HTML, Fault.CUT_HEADERS, Fault.FILTERED]
    with FaultServer(faults, refuses=("json_schema",)) as server:
        provider = provider_of(server.base_url)
        ends = ask(provider, *[call_of({"p1": private})] * len(faults))
        asyncio.run(provider.check())
    shown = [caplog.text, repr(provider), str(provider), *map(repr, ends), *map(str, ends), *capfd.readouterr()]
    for end in ends:
        if isinstance(end, ProviderError):
            assert end.__cause__ is end.__context__ is None
    assert not any(SECRET in text or private in text or "translations" in text for text in shown)
    assert "openai._base_client" not in {record.name for record in caplog.records}, "some versions log whole prompts"


@pytest.mark.parametrize("status", [200, 401, 404, 500])
def test_whatever_answers_is_a_server(status: int) -> None:
    with FaultServer(reply=lambda _request: (status, {}, "<html>")) as server:
        asyncio.run(provider_of(server.base_url).check())
        assert [request.path for request in server.requests] == ["/v1/models"]


def test_what_only_listens_is_a_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dragoman.providers.openai_compatible._CHECK_S", 0.1)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        asyncio.run(provider_of(f"http://127.0.0.1:{listening.getsockname()[1]}/v1").check())


def test_what_cuts_the_connection_is_a_server() -> None:
    async def cut(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.transport.abort()

    async def run() -> None:
        async with await asyncio.start_server(cut, "127.0.0.1") as server:
            await provider_of(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1").check()

    asyncio.run(run())


def test_a_port_where_nobody_listens_is_no_server() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
    with pytest.raises(ProviderUnavailable, match=f"no server answers at 127.0.0.1:{port}$") as refused:
        asyncio.run(OpenAIProvider("m", base_url=f"http://me:{SECRET}@127.0.0.1:{port}/v1").check())
    assert SECRET not in repr(refused.value)
    assert refused.value.__cause__ is refused.value.__context__ is None


def test_a_name_that_nobody_has_is_no_server() -> None:
    with pytest.raises(ProviderUnavailable, match=r"no server is known by the name nobody\.invalid$"):
        asyncio.run(provider_of("http://nobody.invalid/v1").check())


def test_a_server_without_tls_is_none_under_https() -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        writer.close()

    async def run() -> None:
        async with await asyncio.start_server(answer, "127.0.0.1") as server:
            await provider_of(f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1").check()

    with pytest.raises(ProviderUnavailable, match="no TLS connection to 127"):
        asyncio.run(run())
