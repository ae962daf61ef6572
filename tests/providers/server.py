"""An OpenAI-compatible server on the loopback interface that translates without a model, and goes wrong as it is told.

    with FaultServer(0.3, seed=7) as server:
        OpenAIProvider("any", base_url=server.base_url)

A translation depends on its text alone (`translation_of`) and can be taken back (`source_of`). The server has an event
loop in a thread of its own; what it was asked is in `requests`, in the order of arrival.
"""

from __future__ import annotations

import asyncio
import json
import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, Self

import attrs

from .faults import ALL, MENDING, Fault, Plan, picker

__all__ = ["ALL", "MENDING", "Fault", "FaultServer", "Recorded", "Reply", "source_of", "translation_of"]

_MARKER = re.compile(r"(<dm-[a-z2-7]{8}-\d{1,6}/>)")
_PATIENCE_S = 20.0
_REASONS = {200: "OK", 429: "Too Many Requests"}

Reply = tuple[int, Mapping[str, str], bytes | str | dict[str, Any]]
"""A response of one's own: status, headers, and the body (a dict is sent as JSON)."""


def translation_of(text: str) -> str:
    """What the server makes of a text: each part of it in brackets, the markers and blank parts as they stand."""
    parts = _MARKER.split(text)
    return "".join(part if place % 2 or not part.strip() else f"⟦{part}⟧" for place, part in enumerate(parts))


def source_of(translation: str) -> str:
    """The text of which that is the translation; of texts that hold no such brackets themselves."""
    return translation.replace("⟦", "").replace("⟧", "")


@attrs.define
class Recorded:
    """One request. `aborted`: the client went before it had its answer."""

    number: int
    method: str
    path: str
    headers: Mapping[str, str] = attrs.field(repr=False)
    body: dict[str, Any] = attrs.field(repr=False)
    fault: Fault | None = None
    aborted: bool = False
    answered: bool = False

    @property
    def key(self) -> str:
        """The key that came with it."""
        return self.headers.get("authorization", "").removeprefix("Bearer ")

    @property
    def prompt(self) -> str:
        """What is to be translated, as it came."""
        messages = self.body.get("messages") or [{"content": ""}]
        return str(messages[-1]["content"])

    @property
    def units(self) -> list[tuple[str, str]] | None:
        """The ids and texts of a structured call; None for a scalar one."""
        try:
            items = json.loads(self.prompt)["translations"]
            return [(item["id"], item["text"]) for item in items]
        except (ValueError, TypeError, KeyError):
            return None

    @property
    def shape(self) -> str | None:
        """The form of the answer that it asked for, as `FaultServer(refuses=…)` names it."""
        wanted = self.body.get("response_format")
        if wanted is None:
            return None
        return "schema" if wanted["type"] == "json_object" and "schema" in wanted else str(wanted["type"])


class FaultServer:
    """See the module.

    `faults`: see `faults.Plan`; of a rate, of those in `kinds`. `latency`: seconds before each answer. `refuses`: what
    is answered by status 400: `json_schema`, `schema` (in a `json_object`), `json_object`, `temperature`, `max_tokens`,
    `max_completion_tokens`. `reply`: a response of its own for a request, or None for the usual. `retry_after`: the
    header of the faults RATE_LIMIT and OVERLOADED, None for none. `holds`: which requests wait for `release()`.
    """

    def __init__(
        self,
        faults: Plan = 0.0,
        *,
        kinds: Sequence[Fault] = MENDING,
        seed: int = 0,
        latency: float = 0.0,
        refuses: Collection[str] = (),
        reply: Callable[[Recorded], Reply | None] | None = None,
        retry_after: str | None = "0",
        holds: Callable[[Recorded], bool] | None = None,
    ) -> None:
        self.requests: list[Recorded] = []
        self.base_url = ""
        self.connections = 0
        self._pick = picker(faults, kinds, seed)
        self._latency = latency
        self._refuses = refuses
        self._reply = reply
        self._retry_after = retry_after
        self._holds = holds
        self._released = asyncio.Event()
        self._asked: Counter[str] = Counter()
        self._changed = threading.Condition()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="fault-server", daemon=True)
        self._ready = threading.Event()
        self._stop = asyncio.Event()
        self._open: set[_Connection] = set()

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._ready.wait(_PATIENCE_S)
        return self

    def __exit__(self, *_exception: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(_PATIENCE_S)
        assert not self._thread.is_alive()

    @property
    def open_connections(self) -> int:
        return len(self._open)

    @property
    def completions(self) -> list[Recorded]:
        """The requests for a chat completion."""
        return [request for request in self.requests if request.path.endswith("/chat/completions")]

    def wait_for(self, what: Callable[[], bool]) -> None:
        """Until `what` holds; it is looked at whenever a request came or ended, or a connection ended."""
        until = time.monotonic() + _PATIENCE_S
        with self._changed:
            while not what():
                left = until - time.monotonic()
                assert left > 0, "the server never saw it"
                self._changed.wait(left)

    def look_again(self) -> None:
        """Something else has happened that `wait_for` waits for; from any thread."""
        with self._changed:
            self._changed.notify_all()

    def release(self) -> None:
        """Let the requests that are held be answered, and hold no more."""
        self._loop.call_soon_threadsafe(self._released.set)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_until_complete(self._serve())
        finally:
            self._loop.close()

    async def _serve(self) -> None:
        server = await self._loop.create_server(lambda: _Connection(self), "127.0.0.1", 0, backlog=1024)
        self.base_url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        self._ready.set()
        await self._stop.wait()
        server.close()
        tasks = [connection.task for connection in self._open if connection.task is not None]
        for connection in tuple(self._open):
            connection.abort()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.sleep(0)

    def _record(self, method: str, path: str, headers: Mapping[str, str], content: bytes) -> Recorded:
        try:
            body = json.loads(content) if content else {}
        except ValueError:
            body = {}
        request = Recorded(len(self.requests) + 1, method, path, headers, body)
        if path.endswith("/chat/completions"):
            number = len(self.completions) + 1
            request.fault = self._pick(number, request.prompt, self._asked[request.prompt])
            self._asked[request.prompt] += 1
        with self._changed:
            self.requests.append(request)
            self._changed.notify_all()
        return request

    def _ended(self, request: Recorded, *, aborted: bool) -> None:
        with self._changed:
            request.aborted = aborted
            request.answered = not aborted
            self._changed.notify_all()

    async def _respond(self, connection: _Connection, request: Recorded) -> None:
        if self._latency:
            await asyncio.sleep(self._latency)
        if self._holds is not None and self._holds(request):
            await self._released.wait()
        own = self._reply(request) if self._reply is not None else None
        if own is not None:
            connection.send(*own)
        elif request.path.endswith("/models"):
            connection.send(200, {}, {"object": "list", "data": [{"id": "any", "object": "model"}]})
        elif not request.path.endswith("/chat/completions"):
            connection.send(404, {}, _error("Not Found", "not_found"))
        elif (refused := self._refused(request)) is not None:
            connection.send(400, {}, _error(f"Unsupported parameter: {refused}", "unsupported_value", refused))
        else:
            await self._answer(connection, request)

    def _refused(self, request: Recorded) -> str | None:
        if request.shape in self._refuses:
            return "response_format"
        return next((name for name in self._refuses if name in request.body), None)

    async def _answer(self, connection: _Connection, request: Recorded) -> None:
        fault = request.fault
        waits = {} if self._retry_after is None else {"Retry-After": self._retry_after}
        if fault is Fault.HANG:
            await asyncio.Event().wait()
        elif fault is Fault.RATE_LIMIT:
            connection.send(429, waits, _error("Rate limit reached", "rate_limit_exceeded"))
        elif fault is Fault.WRONG_KEY:
            connection.send(401, {}, _error(f"Incorrect API key provided: {request.key}", "invalid_api_key"))
        elif fault is Fault.NO_BALANCE:
            connection.send(402, {}, _error("Insufficient Balance", "invalid_request_error"))
        elif fault is Fault.SERVER_ERROR:
            connection.send(500, {}, _error("The server had an error", "server_error"))
        elif fault is Fault.OVERLOADED:
            connection.send(503, waits, _error("The engine is overloaded", "server_error"))
        elif fault is Fault.HTML:
            connection.send(200, {"Content-Type": "text/html"}, "<html><body>Welcome</body></html>")
        elif fault in (Fault.CUT_HEADERS, Fault.CUT_BODY):
            connection.send(200, {}, _completion(request), cut=fault)
        elif fault is Fault.SLOW:
            await connection.send_slowly(_completion(request))
        else:
            connection.send(200, {}, _completion(request))


class _Connection(asyncio.Protocol):
    """One connection: requests one after another, each answered before the next is read."""

    def __init__(self, server: FaultServer) -> None:
        self._server = server
        self._received = b""
        self._transport: asyncio.Transport | None = None
        self._request: Recorded | None = None
        self.task: asyncio.Task[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._server._open.add(self)
        self._server.connections += 1

    def connection_lost(self, exc: Exception | None) -> None:
        with self._server._changed:
            self._server._open.discard(self)
            self._server._changed.notify_all()
        if self.task is not None:
            self.task.cancel()

    def data_received(self, data: bytes) -> None:
        self._received += data
        self._read()

    def abort(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    def _read(self) -> None:
        head, end, rest = self._received.partition(b"\r\n\r\n")
        if self.task is not None or not end:
            return
        first, *lines = head.decode("latin-1").split("\r\n")
        method, path, _version = first.split(" ")
        headers = {name.lower(): value.strip() for name, _colon, value in (line.partition(":") for line in lines)}
        length = int(headers.get("content-length", "0"))
        if len(rest) < length:
            return
        self._received = rest[length:]
        request = self._server._record(method, path, headers, rest[:length])
        self.task = asyncio.get_running_loop().create_task(self._handle(request))

    async def _handle(self, request: Recorded) -> None:
        aborted = True
        try:
            await self._server._respond(self, request)
            aborted = False
        finally:
            self.task = None
            self._server._ended(request, aborted=aborted)
        self._read()

    def send(
        self, status: int, headers: Mapping[str, str], body: bytes | str | dict[str, Any], cut: Fault | None = None
    ) -> None:
        assert self._transport is not None
        content = json.dumps(body) if isinstance(body, dict) else body
        payload = content.encode() if isinstance(content, str) else content
        sent = {"Content-Type": "application/json", "Content-Length": str(len(payload)), **headers}
        message = _head(status, sent) + payload
        if cut is None:
            self._transport.write(message)
            return
        whole = len(message)
        self._transport.write(message[: 24 if cut is Fault.CUT_HEADERS else whole - len(payload) // 2])
        self._transport.close()

    async def send_slowly(self, body: dict[str, Any]) -> None:
        assert self._transport is not None
        self._transport.write(_head(200, {"Content-Type": "application/json", "Transfer-Encoding": "chunked"}))
        payload = json.dumps(body).encode()
        step = len(payload) // 4 + 1
        for start in range(0, len(payload), step):
            piece = payload[start : start + step]
            self._transport.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
            await asyncio.sleep(0.005)
        self._transport.write(b"0\r\n\r\n")


def _head(status: int, headers: Mapping[str, str]) -> bytes:
    lines = [f"HTTP/1.1 {status} {_REASONS.get(status, 'Status')}", *(f"{name}: {headers[name]}" for name in headers)]
    return "\r\n".join((*lines, "", "")).encode()


def _error(message: str, code: str, param: str | None = None) -> dict[str, Any]:
    return {"error": {"message": message, "type": "invalid_request_error", "param": param, "code": code}}


def _completion(request: Recorded) -> dict[str, Any]:
    fault = request.fault
    text: str | None = _text(request)
    finish = {Fault.LENGTH: "length", Fault.FILTERED: "content_filter"}.get(fault, "stop") if fault else "stop"
    if fault in (Fault.NO_CONTENT, Fault.FILTERED):
        text = None
    message = {"role": "assistant", "content": text}
    choices = [] if fault is Fault.NO_CHOICES else [{"index": 0, "message": message, "finish_reason": finish}]
    usage = {"prompt_tokens": len(request.prompt), "completion_tokens": len(text or ""), "total_tokens": 0}
    model = request.body.get("model")
    return {"id": f"c{request.number}", "object": "chat.completion", "model": model, "choices": choices, "usage": usage}


def _text(request: Recorded) -> str:
    fault, units = request.fault, request.units
    if units is None:
        if fault in (Fault.LENGTH, Fault.CUT_JSON):
            # Half a text without a form around it could not be told from a whole one.
            return ""
        text = _translated(request.prompt, fault)
        return f"```\n{text}\n```" if fault is Fault.FENCED else text
    items = list(_items(units, fault))
    answer = json.dumps({"translations": items}, ensure_ascii=False)
    if fault in (Fault.LENGTH, Fault.CUT_JSON):
        return answer[: len(answer) * 2 // 3]
    if fault is Fault.FENCED:
        return f"```json\n{answer}\n```"
    if fault is Fault.PROSE:
        return f"Here is the translation:\n\n{answer}\n\nIs there anything else?"
    return answer


def _items(units: Sequence[tuple[str, str]], fault: Fault | None) -> Iterator[dict[str, str]]:
    for place, (name, text) in enumerate(units):
        item = {"id": f"{name}-not" if fault is Fault.WRONG_IDS else name, "text": _translated(text, fault)}
        if fault is Fault.MISSING_ID and place == len(units) - 1:
            continue
        yield item
        if fault is Fault.DOUBLED_ID and place == 0:
            yield item


def _translated(text: str, fault: Fault | None) -> str:
    if fault is Fault.ECHO:
        return text
    if fault is Fault.OTHER_SCRIPT:
        return "".join(
            part if place % 2 else re.sub(r"\w", "ж", part) for place, part in enumerate(_MARKER.split(text))
        )
    translation = translation_of(text)
    return _MARKER.sub("", translation) if fault is Fault.LOST_MARKERS else translation
