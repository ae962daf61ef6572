"""What the content store keeps of a session: entries, live and gone, and turns that are only noted."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Iterator, Sequence

from ..protocol.history import turn_name
from ..protocol.payloads import Payload, text_payload
from ..protocol.retention import EvictionClass
from ..protocol.statuses import ContentKind, MissReason, SerializationMode

__all__ = ["Entry", "Notes", "SessionEntries"]


class Notes:
    """Turns of one request that were written together and are only noted. In each column the last is the oldest.

    `first` is the number of that one, `used` their place in the order of uses.
    """

    __slots__ = ("first", "parent_ids", "request_id", "sizes", "stamp", "texts", "used", "written_us")

    def __init__(
        self,
        request_id: str,
        parent_ids: Sequence[str],
        texts: Sequence[str],
        sizes: Sequence[int],
        first: int,
        used: int,
        written_us: int,
        stamp: int,
    ) -> None:
        self.request_id = request_id
        self.parent_ids = [*reversed(parent_ids)]
        self.texts = [*reversed(texts)]
        self.sizes = [*reversed(sizes)]
        self.first = first
        self.used = used
        self.written_us = written_us
        self.stamp = stamp

    def oldest_first(self) -> Iterator[tuple[int, str, str, int]]:
        """Number, name, text and size of each."""
        columns = zip(reversed(self.parent_ids), reversed(self.texts), reversed(self.sizes), strict=True)
        for number, (parent_id, text, size) in enumerate(columns, self.first):
            yield number, turn_name(self.request_id, parent_id), text, size


class Entry:
    """One piece of content, also after it has gone. A turn's text is written as JSON when that is first asked for."""

    __slots__ = (
        "_content",
        "eviction_class",
        "gone",
        "name",
        "number",
        "ref",
        "session",
        "size",
        "stamp",
        "used",
        "written",
        "written_us",
    )

    def __init__(
        self,
        session: SessionEntries,
        name: str,
        content: Payload | str,
        size: int,
        eviction_class: EvictionClass,
        number: int = 0,
    ) -> None:
        self.session = session
        self.name = name
        self.size = size
        self.eviction_class = eviction_class
        self.number = number
        self.ref: str | None = None
        self.gone: MissReason | None = None
        self.used = 0
        self.written = 0
        self.written_us = 0
        self.stamp = 0
        self._content: Payload | str | tuple[ContentKind, SerializationMode, str] | None = content

    def payload(self) -> Payload:
        """The content of an entry that is still there."""
        content = self._content
        if isinstance(content, str):
            content = self._content = text_payload(content)
        assert isinstance(content, Payload)
        return content

    def facts(self) -> tuple[ContentKind, SerializationMode, str]:
        """Kind, mode and digest, also of what has gone."""
        if isinstance(self._content, tuple):
            return self._content
        payload = self.payload()
        return payload.kind, payload.mode, payload.digest

    def known_facts(self) -> tuple[ContentKind, SerializationMode, str] | None:
        """The same without any work: None of a text that nobody has looked at."""
        return None if self._content is None or isinstance(self._content, str) else self.facts()

    def release(self, gone: MissReason) -> None:
        """Give the content up, and keep what a record tells of it; no record tells of a turn's text."""
        self.gone = gone
        self._content = None if isinstance(self._content, str) else self.facts()


class SessionEntries:
    """The entries of one session, live and gone, and what is only noted of them."""

    __slots__ = (
        "by_class",
        "by_ref",
        "bytes",
        "count",
        "gone_notes",
        "listed",
        "notes",
        "session_id",
        "tombstones",
    )

    def __init__(self, session_id: str) -> None:
        self.session_id = session_id
        self.by_class: tuple[OrderedDict[Entry, None], ...] = tuple(OrderedDict() for _ in EvictionClass)
        self.count = 0
        self.bytes = 0
        self.by_ref: dict[str, Entry] = {}
        self.tombstones: OrderedDict[Entry, None] = OrderedDict()
        self.notes: deque[Notes] = deque()
        self.gone_notes: deque[tuple[int, str, str, int]] = deque()
        self.listed = [False for _ in EvictionClass]

    def __iter__(self) -> Iterator[Entry]:
        for order in self.by_class:
            yield from order

    def least_recent_use(self, eviction_class: EvictionClass) -> int | None:
        """When that entry of a class was used that goes first; None if there is none."""
        order = self.by_class[eviction_class]
        if order:
            return next(iter(order)).used
        return self.notes[0].used if self.notes and eviction_class is EvictionClass.TOP else None
