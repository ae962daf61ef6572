"""The error for a provider that cannot be used as things are."""

from __future__ import annotations

from ..protocol.errors import DragomanError

__all__ = ["ProviderUnavailable"]


class ProviderUnavailable(DragomanError, RuntimeError):
    """`provider` cannot translate: `problem` says why and what helps. Neither holds a key or a text.

    Raised as a provider is made, or begins to work. What to do: what `problem` says.
    """

    fields = ("provider", "problem")

    def __init__(self, provider: str, problem: str) -> None:
        super().__init__(f"{provider}: {problem}")
        self.provider = provider
        self.problem = problem
