"""What a feature operation tells: on the way, and at its end (C21)."""

from __future__ import annotations

import attrs

__all__ = ["DocumentReport", "KeptSource", "OperationProgress", "OperationReport"]


@attrs.frozen(kw_only=True)
class OperationProgress:
    """How far an operation is: every parent is accepted, failed (it keeps its source), or waits."""

    parents: int
    accepted: int
    resumed: int
    """Those of the accepted that an earlier run had paid for."""
    failed: int
    retried: int
    """Attempts after a first one."""

    @property
    def waiting(self) -> int:
        return self.parents - self.accepted - self.failed


@attrs.frozen
class KeptSource:
    """A parent that kept its source, and why: an error of the contract, or the word of its document."""

    parent_id: str
    reason: str


@attrs.frozen(kw_only=True)
class DocumentReport:
    """What became of one document: `accepted` of its `parents`, `resumed` of these from an earlier run."""

    document: str
    parents: int
    accepted: int
    resumed: int
    kept: tuple[KeptSource, ...]

    @property
    def complete(self) -> bool:
        """Whether no parent kept its source."""
        return not self.kept


@attrs.frozen(kw_only=True)
class OperationReport:
    """What became of an operation."""

    documents: tuple[DocumentReport, ...]
    calls: int
    """Physical calls made."""
    retries: int
    input_tokens: int | None
    """Tokens that the provider counted; None if it told nothing."""
    output_tokens: int | None
    seconds: float
    interrupted: bool
    """Whether it was stopped before its end."""
    gave_up: str | None
    """The error because of which nothing more was asked, such as `API_KEY_INVALID`."""
    unrecorded: int
    """Requests of which something could not be written into the durable feature history."""

    @property
    def parents(self) -> int:
        return sum(document.parents for document in self.documents)

    @property
    def accepted(self) -> int:
        return sum(document.accepted for document in self.documents)

    @property
    def resumed(self) -> int:
        return sum(document.resumed for document in self.documents)

    @property
    def complete(self) -> bool:
        """Whether every parent of every document was accepted."""
        return all(document.complete for document in self.documents)
