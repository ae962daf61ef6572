"""The provider for every server that speaks OpenAI's chat completions: OpenAI, OpenRouter, DeepSeek, Ollama, vLLM, …

It makes exactly the calls that the runtime asks for: the SDK's own retries are off, because the runtime counts, delays
and fails over by the contract's rows. Which error gets which name stands in `openai_failures`; what an endpoint may
refuse to be asked for is negotiated in `openai_terms`.
"""

from __future__ import annotations

import asyncio
import os
import re
import socket
import ssl
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import attrs

from ..missing import MissingExtra
from ..protocol.calls import Completion, ProviderCall
from ..protocol.errors import InvalidArgument
from ..protocol.failures import API_RESPONSE_INVALID, ProviderError
from ..protocol.redaction import redacted
from ..protocol.statuses import CallFormat
from .credentials import Credentials, credentials_from
from .endpoints import endpoint_from
from .openai_answers import completion_in, decoded
from .openai_clients import Clients, unlogged
from .openai_failures import Complaint, failure_of
from .openai_terms import Negotiation
from .prompts import system_prompt
from .unavailable import ProviderUnavailable

if TYPE_CHECKING:
    import openai

__all__ = ["OpenAIProvider"]

_KEYS_VARIABLE = "OPENAI_API_KEY"
_URL_VARIABLE = "OPENAI_BASE_URL"
_HALF_PAIR = re.compile("[\ud800-\udfff]")
_CHECK_S = 5.0
_CONNECT_S = 4.0


@attrs.frozen
class _Response:
    status: int
    headers: Mapping[str, str] = attrs.field(repr=False)
    content: bytes = attrs.field(repr=redacted)


class OpenAIProvider:
    """Translates with a chat model behind an OpenAI-compatible API.

    `model`: its name there. `base_url`: the server, else `OPENAI_BASE_URL`, else OpenAI; with a user and a password in
    it, these are sent in the place of a key. `keys`, or one a line in `key_file`, or those in `OPENAI_API_KEY`
    (separated by commas or white space); a server other than OpenAI's may need none. Tell the runtime how many there
    are: `ProviderPolicy(keys=provider.keys)`. A call names its key by number.

    `structured`: ask for the form of the answer as far as the endpoint offers it, else by the prompt alone.
    `temperature`: None leaves it to the endpoint. `max_output_tokens`: the most that an answer may take. `timeout`:
    seconds that the server may stay silent. `instructions`: what the prompt says besides, such as a glossary.

    One object serves any number of runtimes and event loops. Raises `MissingExtra` without the SDK, `InvalidArgument`
    and `InvalidCredentials` for what cannot be used, and `ProviderUnavailable` for OpenAI without a key.
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        keys: str | Iterable[str] | None = None,
        key_file: str | os.PathLike[str] | None = None,
        structured: bool = True,
        temperature: float | None = 0.0,
        max_output_tokens: int | None = None,
        timeout: float = 120.0,
        instructions: str | None = None,
    ) -> None:
        _require_sdk()
        if not isinstance(model, str) or not model.strip():
            raise InvalidArgument("model", "must be the name of a model")
        if temperature is not None and not _is_number(temperature, 0.0, 2.0):
            raise InvalidArgument("temperature", "must be a number from 0 to 2, or None")
        if max_output_tokens is not None and (type(max_output_tokens) is not int or max_output_tokens < 1):
            raise InvalidArgument("max_output_tokens", "must be a whole number of at least 1, or None")
        if not _is_number(timeout, 0.001, 1e6):
            raise InvalidArgument("timeout", "must be a number of seconds from 0.001 to 1000000")
        endpoint = endpoint_from(base_url, _URL_VARIABLE)
        if endpoint.authorization is not None and (keys is not None or key_file is not None):
            raise InvalidArgument("base_url", "holds a user or a password beside the keys; give one of the two")
        own = endpoint.authorization is not None
        credentials = Credentials() if own else credentials_from(keys, key_file, _KEYS_VARIABLE)
        if endpoint.is_openai and not own and not credentials:
            problem = f"no key; set {_KEYS_VARIABLE}, give keys or key_file, or the base_url of another server"
            raise ProviderUnavailable(type(self).__name__, problem)
        self._model = model
        self._endpoint = endpoint
        self._keys = max(1, len(credentials))
        self._temperature = temperature
        self._max_output_tokens = max_output_tokens
        self._instructions = instructions
        self._negotiation = Negotiation(structured=structured)
        self._clients = Clients(endpoint, credentials, float(timeout))

    @property
    def keys(self) -> int:
        """How many keys there are to go through; 1 for a server that needs none."""
        return self._keys

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._model!r}, host={self._endpoint.host!r}, keys={self.keys})"

    async def complete(self, call: ProviderCall) -> Completion:
        """Ask for `call`; see `openai_failures` for the names of what can go wrong.

        A call in the format `TEXTS` is a `VALIDATION` error: a chat model is a provider of kind `ai`.
        """
        if call.format is CallFormat.TEXTS:
            raise ProviderError("VALIDATION")
        if not 1 <= call.key <= self.keys:
            raise ProviderError("API_KEY_INVALID")
        client = await self._clients.of(call.key)
        if not all(_is_sendable(unit.id) for unit in call.units):
            raise ProviderError("VALIDATION")
        messages = [
            {"role": message["role"], "content": _sendable(message["content"])}
            for message in call.messages(system_prompt(call, self._instructions))
        ]
        terms = self._negotiation.terms
        while True:
            sent = terms.parameters(call, self._temperature, self._max_output_tokens)
            response = await self._post(client, messages, sent)
            if response is None:
                raise ProviderError("NETWORK_ERROR")
            if response.status == 200:
                answer = completion_in(response.content)
            else:
                answer = Complaint.of(response.status, decoded(response.content))
            if answer is None:
                raise ProviderError(API_RESPONSE_INVALID)
            if isinstance(answer, Completion):
                self._negotiation.took(terms, with_shape=call.format is CallFormat.STRUCTURED)
                return answer
            fewer = terms.after(answer, sent)
            if fewer is None:
                raise failure_of(answer, response.headers)
            # Another call may have come further meanwhile.
            terms = fewer.or_less(self._negotiation.terms)

    async def check(self) -> None:
        """Whether there is a server at all: raises `ProviderUnavailable` if no connection to it can be made.

        Takes five seconds at most. Whatever answers, or only listens, is one; a key or a model may still be refused.
        """
        import openai

        client = (await self._clients.of(1)).with_options(timeout=openai.Timeout(_CHECK_S, connect=_CONNECT_S))
        problem: str | None = None
        try:
            with unlogged():
                async with asyncio.timeout(_CHECK_S):
                    await client.get("/models", cast_to=object)
        except openai.APIConnectionError as failure:
            problem = _unreachable(failure, self._endpoint.host)
        except (TimeoutError, openai.OpenAIError, ValueError):
            return
        if problem is not None:
            raise ProviderUnavailable(type(self).__name__, problem)

    async def aclose(self) -> None:
        """Close the connections of the running event loop now. They also are when the loop or the runtime ends."""
        await self._clients.aclose()

    async def _post(
        self, client: openai.AsyncOpenAI, messages: list[dict[str, str]], sent: dict[str, Any]
    ) -> _Response | None:
        """The response, whatever its status; None if there was none. Keeps no error of the SDK: they quote bodies."""
        import openai

        conversation: Any = messages
        try:
            with unlogged():
                raw = await client.chat.completions.with_raw_response.create(
                    model=self._model, messages=conversation, extra_body=sent
                )
        except openai.APIStatusError as refused:
            return _Response(refused.status_code, refused.response.headers, refused.response.content)
        except openai.APIConnectionError:
            return None
        return _Response(raw.http_response.status_code, raw.http_response.headers, raw.http_response.content)


def _require_sdk() -> None:
    try:
        import openai  # noqa: F401
    except ImportError:
        missing = True
    else:
        missing = False
    if missing:
        raise MissingExtra("openai", "OpenAIProvider")


def _is_sendable(text: str) -> bool:
    """Whether it can be sent as UTF-8: half of a surrogate pair, as texts cut by others hold, cannot."""
    return text.isascii() or not _HALF_PAIR.search(text)


def _sendable(text: str) -> str:
    return text if _is_sendable(text) else _HALF_PAIR.sub("\ufffd", text)


def _is_number(value: object, least: float, most: float) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and least <= value <= most


def _unreachable(failure: BaseException, host: str) -> str | None:
    """Why there is no connection; None if there was one, or the failure does not tell.

    By the names of the errors: older versions of the SDK stand on another HTTP library than newer ones.
    """
    causes = tuple(_causes(failure))
    connecting = any(type(cause).__name__ in ("ConnectError", "ConnectTimeout") for cause in causes)
    # Newer ones let a handshake that fails pass as it is; these others also end connections that were made.
    handshake = isinstance(failure.__cause__, ssl.SSLError) and not isinstance(failure.__cause__, _LATER_TLS_ERRORS)
    if not connecting and not handshake:
        return None
    if any(isinstance(cause, ssl.SSLError) for cause in causes):
        return f"no TLS connection to {host} can be made"
    if any(isinstance(cause, socket.gaierror) for cause in causes):
        return f"no server is known by the name {host}"
    return f"no server answers at {host}"


_LATER_TLS_ERRORS = (ssl.SSLWantReadError, ssl.SSLWantWriteError, ssl.SSLEOFError, ssl.SSLZeroReturnError)


def _causes(failure: BaseException) -> Iterator[BaseException]:
    cause: BaseException | None = failure
    seen = set[int]()
    while cause is not None and id(cause) not in seen:
        seen.add(id(cause))
        yield cause
        cause = cause.__cause__ or cause.__context__
