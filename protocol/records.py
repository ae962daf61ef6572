"""Calls and their records: the compact history of what a program did, with refs in the place of payloads (P)."""

from __future__ import annotations

import attrs

from .statuses import CallStatus, ContentKind, SerializationMode, SkipReason

__all__ = ["DEFAULT_METHOD", "DEFAULT_ROLE", "Call", "CallRecord"]

DEFAULT_ROLE = "assistant"
DEFAULT_METHOD = "ask"


@attrs.frozen
class Call:
    """A call of the program that is to be recorded: an answer of a role, whatever made it (P phase 1).

    `id` is unique in its session. `depth` is 0 for a call that nobody of the program's own calls led to; `parent` names
    the call that did. `keep` opts a nested call in to the content store (P constraint 6).
    """

    id: str
    role: str = DEFAULT_ROLE
    method: str = DEFAULT_METHOD
    depth: int = 0
    parent: str | None = None
    keep: bool = False


@attrs.frozen
class CallRecord:
    """What a session keeps of a call: never its payload (P "conversation_history").

    `time_s` is when it was recorded, in seconds of the runtime's own clock. `status` is how the call ended. What was
    stored of it is told by `content_ref`, `content_kind`, `content_bytes` (of the UTF-8 JSON), `content_digest`
    (SHA-256, in hexadecimal digits) and `content_mode`, and stays told after the content has gone; of what was not
    stored all are None, and `reason` says why.
    """

    id: str
    role: str
    method: str
    depth: int
    parent: str | None
    status: CallStatus
    content_ref: str | None = None
    content_kind: ContentKind | None = None
    content_bytes: int | None = None
    content_digest: str | None = None
    reason: SkipReason | None = None
    content_mode: SerializationMode | None = None
    time_s: float = 0.0

    @property
    def stored(self) -> bool:
        """Whether its content was stored; it may have gone since."""
        return self.content_ref is not None
