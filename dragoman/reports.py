"""What a runtime tells of itself: what it holds now, and what it left at its end."""

from __future__ import annotations

import attrs

from .actors.dispatcher import MessageCounts
from .actors.sessions import SessionSnapshot
from .protocol.content_replies import StoreSnapshot

__all__ = ["ShutdownReport", "Snapshot"]


@attrs.frozen(kw_only=True)
class ShutdownReport:
    """What `Runtime.close` found and left."""

    at_rest: bool
    """Whether every actor came to rest in time; if not, handles may have been left open."""
    handles_closed: int
    """Handles that were open and closed as `SHUT_DOWN`; 0 if that did not end in time."""
    messages_left: int
    """Messages that were never handled; whoever asked got an error."""
    threads_left: tuple[str, ...]
    """Threads that did not end within the deadline: an actor of theirs is stuck."""
    counts: MessageCounts
    """The message counters at the end."""

    @property
    def clean(self) -> bool:
        """Whether nothing was left."""
        return self.at_rest and not self.messages_left and not self.threads_left


@attrs.frozen(kw_only=True)
class Snapshot:
    """What a runtime holds at one moment; reading it uses nothing."""

    sessions: tuple[SessionSnapshot, ...]
    """The live sessions, least recently used first."""
    open_requests: tuple[str, ...]
    """The requests with an open handle, in the order of registration."""
    running: tuple[str, ...]
    """The requests whose execution is not over, in the order of their start."""
    open_calls: tuple[str, ...]
    """The physical calls that are neither answered nor cancelled."""
    provider_tasks: int
    """Tasks of asynchronous providers that have not ended."""
    store: StoreSnapshot
    """The content store."""
    counts: MessageCounts
    dead_letters: tuple[tuple[str, int], ...]
    """Dead letters by reason."""
    live_timers: int

    @property
    def open_handles(self) -> int:
        return len(self.open_requests)
