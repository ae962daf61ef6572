"""The error for an optional dependency that is not installed."""

from __future__ import annotations

from .protocol.errors import DragomanError

__all__ = ["MissingExtra"]


class MissingExtra(DragomanError, ImportError):
    """`user` needs packages that are not installed: `extra` is the extra of Dragoman that brings them.

    Raised as what needs them is imported or made. What to do: install the extra; the message holds the command.
    """

    fields = ("extra", "user")

    def __init__(self, extra: str, user: str) -> None:
        super().__init__(f"{user} needs its extra: pip install 'dragoman[{extra}]'")
        self.extra = extra
        self.user = user
