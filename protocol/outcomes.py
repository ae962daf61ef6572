"""What became of an execution (C21, ADR-015), and what is told of it on the way.

Execution, quality and acceptance are three facts: a request may have been executed completely, be translated in part,
and be refused by its feature all the same.
"""

from __future__ import annotations

from collections.abc import Collection
from enum import StrEnum

import attrs

from .calls import CompletionRecord
from .mappings import FrozenMapping
from .statuses import ExecutionStatus, Quality, StartStatus

__all__ = [
    "MAX_DIAGNOSTICS",
    "Diagnostic",
    "DiagnosticCode",
    "Diagnostics",
    "ParentEvent",
    "ParentEventKind",
    "StartReply",
    "TranslationOutcome",
    "quality_of",
]

MAX_DIAGNOSTICS = 200
"""Diagnostics, and completion records, that an outcome keeps; the first ones stay."""


def _count(entries: Collection[object]) -> str:
    return f"<{len(entries)}>"


@attrs.frozen
class StartReply:
    """The answer to `translate` and `direct`; `reason` says what is wrong with an invalid handoff."""

    status: StartStatus
    reason: str | None = None


class DiagnosticCode(StrEnum):
    """Structural facts of an execution (C13): never a text."""

    HANDOFF_REFUSED = "HANDOFF_REFUSED"
    """The request runs without a handle; `detail` says why."""
    REPAIRED = "REPAIRED"
    """The JSON of an answer was broken, and could be read all the same."""
    VIOLATION = "VIOLATION"
    """A unit, or the whole answer, broke the wire format; `detail` is the `Violation`."""
    RECOVERY_STARTED = "RECOVERY_STARTED"
    """A recovery pass was asked for, `selective` or `full`."""
    RECOVERED = "RECOVERED"
    """The recovery pass gave what was missing."""
    RECOVERY_FAILED = "RECOVERY_FAILED"
    """It did not; `detail` is the error."""
    CALL_FAILED = "CALL_FAILED"
    """A physical call failed; `detail` is the error."""
    FAILOVER = "FAILOVER"
    """The next call uses another key."""
    RETRIED = "RETRIED"
    """A batch waits for another attempt."""
    BATCH_FAILED = "BATCH_FAILED"
    """A batch has no attempt left."""
    ANSWER_SUPPRESSED = "ANSWER_SUPPRESSED"
    """An answer came too late and changed nothing."""
    FRAGMENT_SUPPRESSED = "FRAGMENT_SUPPRESSED"
    """Fragments of a parent that had failed already were dropped; `detail` counts them."""
    PARENT_REFUSED = "PARENT_REFUSED"
    """The feature did not accept a parent."""
    ROLLED_BACK = "ROLLED_BACK"
    """A replacement failed, and those before it were undone."""
    DISPATCH_FAILED = "DISPATCH_FAILED"
    """The feature can take nothing more."""
    LEFT_TO_CALLER = "LEFT_TO_CALLER"
    """The application acknowledges this parent itself."""
    ACK_REFUSED = "ACK_REFUSED"
    """The ACK changed nothing; `detail` is its status."""
    FEATURE_HISTORY_FAILED = "FEATURE_HISTORY_FAILED"
    """What was applied could not be written to the durable history."""
    COMMIT_FAILED = "COMMIT_FAILED"
    """The result of a direct call could not become a turn."""


@attrs.frozen
class Diagnostic:
    """One fact: of which call, unit or parent (`subject`), and a word that says more (`detail`)."""

    code: DiagnosticCode
    subject: str | None = None
    detail: str | None = None


class Diagnostics:
    """The facts of one execution, as they are found; past `MAX_DIAGNOSTICS` no more are kept."""

    __slots__ = ("_found",)

    def __init__(self) -> None:
        self._found: list[Diagnostic] = []

    def add(self, diagnostic: Diagnostic) -> None:
        if len(self._found) < MAX_DIAGNOSTICS:
            self._found.append(diagnostic)

    def all(self) -> tuple[Diagnostic, ...]:
        return tuple(self._found)


class ParentEventKind(StrEnum):
    """What happened to a parent on the way to its acceptance."""

    DISPATCHED = "DISPATCHED"
    """Its translation was handed to the feature."""
    ACCEPTED = "ACCEPTED"
    """The feature took it."""
    REJECTED = "REJECTED"
    """The feature, or an ACK by hand, did not accept it."""
    UNRESOLVED = "UNRESOLVED"
    """It has no translation; the source stands."""


@attrs.frozen
class ParentEvent:
    """Progress of a translation: one event of one parent. `segments` holds the translation where it is dispatched.

    `reason` says, of one that is rejected or unresolved, why: the error of its batch, or the word of its feature.
    """

    request_id: str
    parent_id: str
    kind: ParentEventKind
    segments: tuple[str, ...] = attrs.field(default=(), repr=_count)
    reason: str | None = None


@attrs.frozen(kw_only=True)
class TranslationOutcome:
    """How an execution ended: every parent is translated, unresolved or cancelled.

    `translations` holds the segments of each translated parent; `request_outcome` answers without them.
    """

    request_id: str
    execution: ExecutionStatus
    quality: Quality
    error: str | None
    """Null for a completed execution; else the contract's name of what ended it."""
    retries: int
    """Attempts of batches after their first."""
    failover: bool
    """Whether a call moved to another key."""
    translated: tuple[str, ...]
    unresolved: tuple[str, ...]
    cancelled: tuple[str, ...]
    calls: int
    """Physical calls made."""
    translations: FrozenMapping[tuple[str, ...]] = attrs.field(
        factory=FrozenMapping, converter=FrozenMapping[tuple[str, ...]]
    )
    completions: tuple[CompletionRecord, ...] = attrs.field(default=(), repr=_count)
    diagnostics: tuple[Diagnostic, ...] = attrs.field(default=(), repr=_count)

    @property
    def requested(self) -> int:
        """How many parents were asked for: the translated, the unresolved and the cancelled ones."""
        return len(self.translated) + len(self.unresolved) + len(self.cancelled)

    def text(self, parent_id: str | None = None) -> str:
        """The clean translation of a parent; without an id, of the only one. `KeyError` if it was not translated."""
        if parent_id is None and len(self.translations) == 1:
            parent_id = next(iter(self.translations))
        segments = None if parent_id is None else self.translations.get(parent_id)
        if segments is None:
            raise KeyError(parent_id)
        return "".join(segments)


def quality_of(translated: int, requested: int) -> Quality:
    """The quality of so many translated parents out of all."""
    if translated == requested:
        return Quality.COMPLETE
    return Quality.PARTIAL if translated else Quality.NONE
