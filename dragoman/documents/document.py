"""Documents as features (C3.3): the texts in them are logical parents, and all else stays as it is, byte for byte.

A document is read once, into blocks whose segments are stretches of the source. Nothing is parsed into a tree and
written back: what a translation replaces is exactly these stretches, so that a document of which nothing was translated
is the source itself. A parent is taken all or nothing, and only if what comes out still has the same structure.
"""

from __future__ import annotations

import abc
import re
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

import attrs

from ..protocol.errors import InvalidArgument
from ..protocol.features import ParentRefused
from ..protocol.redaction import redacted
from .encodings import Decoded, decode
from .plausible import implausible

__all__ = ["Block", "Document", "Edit", "Segment", "adds"]


@attrs.frozen
class Segment:
    """A stretch of the source, `source[start:end]`, and the clean text that stands there."""

    start: int
    end: int
    text: str = attrs.field(repr=redacted)


@attrs.frozen
class Block:
    """One logical parent: its id, and its segments in source order; at least one of them is not blank."""

    id: str
    segments: tuple[Segment, ...]

    @property
    def texts(self) -> tuple[str, ...]:
        return tuple(segment.text for segment in self.segments)


@attrs.frozen
class Edit:
    """A replacement of `source[start:end]` in what is written."""

    start: int
    end: int
    raw: str = attrs.field(repr=redacted)


class _Translated:
    """The translation of one block, to be applied or undone (C3.3)."""

    __slots__ = ("_before", "_block_id", "_edits", "_into")

    def __init__(self, into: dict[str, tuple[Edit, ...]], block_id: str, edits: tuple[Edit, ...]) -> None:
        self._into = into
        self._block_id = block_id
        self._edits = edits
        self._before: tuple[Edit, ...] | None = None

    def apply(self) -> None:
        self._before = self._into.get(self._block_id)
        self._into[self._block_id] = self._edits

    def undo(self) -> None:
        if self._before is None:
            self._into.pop(self._block_id, None)
        else:
            self._into[self._block_id] = self._before


class Document(abc.ABC):
    """A document that is translated parent by parent; a `Feature` for `Runtime.translate`.

    `source` is the document as bytes or as text. `document` names it: under this name the durable feature history keeps
    its parents. With `target_language` (and `source_language`) an answer that can be no translation is refused: one
    that is the source itself, or not in the script of the language; and a document in a language that is written from
    right to left says so, where its format can. `encoding` goes before what the document says of itself, and behind a
    byte order mark; UTF-8 otherwise. A document that came as text is written in UTF-8.

    Raises `InvalidDocument` for what cannot be read.
    """

    def __init__(
        self,
        source: bytes | str,
        *,
        document: str,
        target_language: str | None = None,
        source_language: str | None = None,
        encoding: str | None = None,
    ) -> None:
        if not isinstance(source, bytes | str):
            raise InvalidArgument("source", "must be the bytes or the text of a document")
        if not isinstance(document, str) or not document:
            raise InvalidArgument("document", "must be text that is not empty")
        for field, name in (
            ("target_language", target_language),
            ("source_language", source_language),
            ("encoding", encoding),
        ):
            if name is not None and (not isinstance(name, str) or not name):
                raise InvalidArgument(field, "must be text that is not empty, or None")
        self.document = document
        self.target_language = target_language
        self.source_language = source_language
        self._decoded: Decoded = decode(source, encoding or self._declared(source), document=document)
        self._source = self._decoded.text
        self._blocks = {block.id: block for block in self._read(self._source)}
        self._edits: dict[str, tuple[Edit, ...]] = {}

    @property
    def parents(self) -> Mapping[str, tuple[str, ...]]:
        """Each parent by its id, as its segments, in source order: what a `TranslationRequest` takes."""
        return MappingProxyType({block.id: block.texts for block in self._blocks.values()})

    @property
    def encoding(self) -> str:
        """The encoding in which the document is written, as Python names it."""
        return self._decoded.encoding

    @property
    def translated(self) -> frozenset[str]:
        """The parents that were translated by now."""
        return frozenset(self._edits)

    def dispatch(self, parent_id: str, segments: tuple[str, ...]) -> list[_Translated]:
        """Take the translation of a parent, if it fits; see `Feature.dispatch`.

        Raises `ParentRefused` with a word that says why: `UNKNOWN_PARENT`, `SEGMENTS`, `UNTRANSLATED`, `WRONG_SCRIPT`,
        `STRUCTURE`, `ENCODING` (the document cannot hold its characters).
        """
        block = self._blocks.get(parent_id)
        if block is None:
            raise ParentRefused("UNKNOWN_PARENT")
        if len(segments) != len(block.segments):
            raise ParentRefused("SEGMENTS")
        wrong = implausible(block.texts, segments, self.source_language, self.target_language)
        if wrong is not None:
            raise ParentRefused(wrong)
        edits = tuple(self._written(block, segments))
        if not all(self._can_hold(edit.raw) for edit in edits):
            raise ParentRefused("ENCODING")
        return [_Translated(self._edits, parent_id, edits)]

    def render(self) -> bytes:
        """The document as it stands now, in its own encoding: what was not translated is its source."""
        edits = [edit for edits in tuple(self._edits.values()) for edit in edits]
        return self._encode("".join(_pieces(self._source, [*edits, *self._further_edits()] if edits else [])))

    def _can_hold(self, raw: str) -> bool:
        try:
            self._encode(raw)
        except UnicodeEncodeError:  # its message would show the text
            return False
        return True

    def _encode(self, text: str) -> bytes:
        return self._decoded.encode(text)

    @abc.abstractmethod
    def _read(self, source: str) -> Iterable[Block]:
        """The blocks of the document, in source order; stretches do not overlap."""

    @abc.abstractmethod
    def _written(self, block: Block, segments: Sequence[str]) -> Iterable[Edit]:
        """The edits that put a translation in, one a segment that changes; raises `ParentRefused("STRUCTURE")`."""

    def _declared(self, source: bytes | str) -> str | None:
        """The encoding that the document says it is in."""
        return None

    def _further_edits(self) -> Iterable[Edit]:
        """What else changes in a document of which something was translated."""
        return ()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {len(self._blocks)} parents, {len(self._edits)} translated>"


def adds(unwanted: re.Pattern[str], translation: str, source: str) -> bool:
    """Whether a translation holds something unwanted that its source does not."""
    return any(found not in source for found in unwanted.findall(translation))


def _pieces(source: str, edits: Iterable[Edit]) -> Iterable[str]:
    reached = 0
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
        yield source[reached : edit.start]
        yield edit.raw
        reached = edit.end
    yield source[reached:]
