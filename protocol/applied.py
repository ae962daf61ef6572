"""The durable feature history: what a feature applied, and the messages about it (C13).

It is an append-only log, apart from the history of any session: a key may stand in it more than once, and a look-up
answers with the newest entry of its key.
"""

from __future__ import annotations

import hashlib

import attrs

from .redaction import redacted

__all__ = ["AppliedKey", "AppliedParent", "FindApplied", "ReadApplied", "RecordApplied", "Recorded"]


@attrs.frozen(kw_only=True)
class AppliedKey:
    """What an entry is found by; `digest` is the SHA-256 of the source in hexadecimal digits."""

    document: str
    parent_id: str
    digest: str
    source_language: str
    target_language: str
    provider: str


@attrs.frozen(kw_only=True)
class AppliedParent:
    """One logical parent that a feature applied: its clean source and its accepted translation.

    `lengths` tells, of a parent of several segments, how many characters each has: of the source, and translated.
    """

    document: str
    parent_id: str
    source: str = attrs.field(repr=redacted)
    translated: str = attrs.field(repr=redacted)
    source_language: str
    target_language: str
    provider: str
    lengths: tuple[tuple[int, int], ...] = ()

    @property
    def segments(self) -> tuple[tuple[str, str], ...]:
        """Each segment: its source and its translation; of a parent that is one text, that."""
        pairs = []
        at = behind = 0
        for length, translated_length in self.lengths or ((len(self.source), len(self.translated)),):
            pairs.append((self.source[at : at + length], self.translated[behind : behind + translated_length]))
            at, behind = at + length, behind + translated_length
        return tuple(pairs)

    @property
    def digest(self) -> str:
        """The SHA-256 of the source in UTF-8, in hexadecimal digits; a lone surrogate counts as its three bytes."""
        return hashlib.sha256(self.source.encode("utf-8", "surrogatepass")).hexdigest()

    @property
    def key(self) -> AppliedKey:
        return AppliedKey(
            document=self.document,
            parent_id=self.parent_id,
            digest=self.digest,
            source_language=self.source_language,
            target_language=self.target_language,
            provider=self.provider,
        )


@attrs.frozen
class RecordApplied:
    """Append `entries`, all or none; answered with `Recorded` once they are durable, or cannot be."""

    entries: tuple[AppliedParent, ...]


@attrs.frozen
class Recorded:
    """The answer to `RecordApplied`; `failed` if nothing of it was written."""

    failed: bool


@attrs.frozen
class ReadApplied:
    """Ask for every entry, or for those of a document, in the order of application."""

    document: str | None = None


@attrs.frozen
class FindApplied:
    """Ask for the newest entry of `key`, or None."""

    key: AppliedKey
