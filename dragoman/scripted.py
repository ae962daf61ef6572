"""A provider that makes no calls itself: it keeps them for whoever answers by message."""

from __future__ import annotations

from .protocol.calls import ProviderCall

__all__ = ["ScriptedProvider"]


class ScriptedProvider:
    """Takes every call, and leaves the answers to `Runtime.respond` and `Runtime.fail`: for tests and scenarios.

    `calls` holds all of them, in the order in which they were made.
    """

    def __init__(self) -> None:
        self.calls: list[ProviderCall] = []

    def take(self, call: ProviderCall) -> None:
        self.calls.append(call)

    def of(self, request_id: str) -> list[ProviderCall]:
        """The calls of one request."""
        return [call for call in self.calls if call.request_id == request_id]
