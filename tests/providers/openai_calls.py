"""Calls as the runtime makes them, for the tests that drive a provider by hand."""

from __future__ import annotations

import asyncio
from typing import Any

import attrs

from dragoman import CallFormat, CallUnit, Completion, ProviderCall, ProviderError
from dragoman.providers import OpenAIProvider

__all__ = ["SECRET", "ask", "call_of", "failure", "provider_of"]

SECRET = "sk-not-to-be-shown-4711"

_CALL = ProviderCall(
    id="r1/1",
    request_id="r1",
    number=1,
    purpose="PRIMARY_TRANSLATION",
    provider="openai",
    key=1,
    format=CallFormat.STRUCTURED,
    units=(),
    history=(),
    source_language="en",
    target_language="de",
    attempt=1,
)


def call_of(texts: dict[str, str] | None = None, **facts: Any) -> ProviderCall:
    """A call for these texts by their ids; structured, if not told otherwise."""
    units = tuple(CallUnit(name, text, (text,)) for name, text in (texts or {"p1": "Hello"}).items())
    return attrs.evolve(_CALL, units=units, **facts)


def provider_of(base_url: str, **facts: Any) -> OpenAIProvider:
    return OpenAIProvider("a-model", base_url=base_url, **{"keys": SECRET, **facts})


def ask(provider: OpenAIProvider, *calls: ProviderCall) -> list[Completion | BaseException]:
    """What each of the calls, all made at once on a loop of their own, comes to."""

    async def all_at_once() -> list[Completion | BaseException]:
        return await asyncio.gather(*map(provider.complete, calls), return_exceptions=True)

    return asyncio.run(all_at_once())


def failure(provider: OpenAIProvider, call: ProviderCall | None = None) -> ProviderError:
    """The error that the call ends with."""
    (end,) = ask(provider, call or call_of())
    assert isinstance(end, ProviderError), end
    return end
