"""The entries of the content store: bounds, order of eviction, life times (P constraints 2 and 6, phase 1).

Rules. Two bounds a session and one over all sessions; before a write, entries go until it fits, and what is written is
never among them. Expired ones go first, then nested ones by least recent use, then the others by least recent use. A
read is a use, and does not extend a life time: that counts from the write. What has gone leaves a tombstone that says
why; a session keeps the newest ones.

The cache of each session knows the order of use within it; what the bound over all sessions ends first stands in an
index over all of them. No operation is linear in the entries, except those that end many: dropping a session,
shrinking a limit.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator

from cachetools import LRUCache

from ..protocol.payloads import Payload, text_payload
from ..protocol.retention import EvictionClass, Retention, is_over
from ..protocol.statuses import ContentKind, MissReason, SerializationMode

__all__ = ["Entries", "Entry", "SessionEntries"]


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
    """The entries of one session, live and gone."""

    __slots__ = ("by_class", "by_ref", "bytes", "count", "session_id", "tombstones")

    def __init__(self, session_id: str) -> None:
        self.session_id = session_id
        self.by_class: tuple[LRUCache[Entry, Entry], ...] = tuple(LRUCache(math.inf) for _ in EvictionClass)
        self.count = 0
        self.bytes = 0
        self.by_ref: dict[str, Entry] = {}
        self.tombstones: OrderedDict[Entry, None] = OrderedDict()

    def __iter__(self) -> Iterator[Entry]:
        for cache in self.by_class:
            yield from cache


class Entries:
    """All of them.

    `gone(entry, reason)` is called for each that is evicted or expires, `forgotten(entry)` for each tombstone that is
    given up.
    """

    def __init__(
        self, retention: Retention, gone: Callable[[Entry, MissReason], object], forgotten: Callable[[Entry], object]
    ) -> None:
        self.retention = retention
        self.bytes = 0
        self.evictions_over_all = 0
        self._max_tombstones = retention.max_tombstones
        self._gone = gone
        self._forgotten = forgotten
        self._by_use: tuple[OrderedDict[Entry, None], ...] = tuple(OrderedDict() for _ in EvictionClass)
        self._by_write: OrderedDict[Entry, None] = OrderedDict()

    def put(self, entry: Entry, now_us: int, stamp: int) -> None:
        """Write an entry that is not larger than the limits, making room for it first."""
        session, size = entry.session, entry.size
        self.expire(now_us)
        self._fit_session(session, 1, size)
        self._fit_all(size)
        session.by_class[entry.eviction_class][entry] = entry
        self._by_use[entry.eviction_class][entry] = None
        self._by_write[entry] = None
        session.count += 1
        session.bytes += size
        self.bytes += size
        entry.written_us = now_us
        entry.stamp = stamp

    def use(self, entry: Entry) -> None:
        """Note that an entry was read."""
        entry.session.by_class[entry.eviction_class][entry]
        self._by_use[entry.eviction_class].move_to_end(entry)

    def oldest(self) -> Entry | None:
        """The entry that was written first of those that are there."""
        return next(iter(self._by_write), None)

    def expire(self, now_us: int) -> None:
        """Let go of every entry whose life time is over."""
        ttl_us = self.retention.ttl_us
        if ttl_us is None:
            return
        while (entry := self.oldest()) is not None and is_over(entry.written_us, now_us, ttl_us):
            self._end(entry, MissReason.EXPIRED)

    def expire_one(self, entry: Entry, now_us: int) -> None:
        """Let go of this entry, if it is there and its life time is over."""
        if entry in self._by_write and is_over(entry.written_us, now_us, self.retention.ttl_us):
            self._end(entry, MissReason.EXPIRED)

    def change(self, retention: Retention, sessions: Iterable[SessionEntries], now_us: int) -> None:
        """Put another policy in force, at once: what is too old goes, then what is too much in each session, in all.

        What goes here leaves its tombstone by the policy that it was stored under: a smaller limit takes the content,
        and not the reason. The next one that goes counts by the new.
        """
        self._max_tombstones = max(self.retention.max_tombstones, retention.max_tombstones)
        self.retention = retention
        self.expire(now_us)
        for session in sessions:
            self._fit_session(session, 0, 0)
        self._fit_all(0)
        self._max_tombstones = retention.max_tombstones

    def drop(self, session: SessionEntries) -> None:
        """Forget a session with all that it holds; that is neither an eviction nor an expiry."""
        for entry in session:
            del self._by_use[entry.eviction_class][entry]
            del self._by_write[entry]
        self.bytes -= session.bytes

    def _fit_session(self, session: SessionEntries, entries: int, size: int) -> None:
        """End entries of a session, in order, until so many more with so many bytes fit."""
        retention = self.retention
        nested, top = session.by_class
        while session.count + entries > retention.max_entries or session.bytes + size > retention.max_bytes:
            entry, _same = (nested or top).popitem()
            self._end(entry, MissReason.EVICTED, in_cache=False)

    def _fit_all(self, size: int) -> None:
        """End entries of all sessions, in order, until so many bytes more fit."""
        nested, top = self._by_use
        while self.bytes + size > self.retention.total_bytes:
            self._end(next(iter(nested or top)), MissReason.EVICTED)
            self.evictions_over_all += 1

    def _end(self, entry: Entry, reason: MissReason, *, in_cache: bool = True) -> None:
        """End an entry; `in_cache` unless that of its session has given it up already."""
        session = entry.session
        if in_cache:
            del session.by_class[entry.eviction_class][entry]
        del self._by_use[entry.eviction_class][entry]
        del self._by_write[entry]
        session.count -= 1
        session.bytes -= entry.size
        self.bytes -= entry.size
        entry.release(reason)
        session.tombstones[entry] = None
        self._gone(entry, reason)
        self._trim(session)

    def _trim(self, session: SessionEntries) -> None:
        while len(session.tombstones) > self._max_tombstones:
            entry, _nothing = session.tombstones.popitem(last=False)
            entry.gone = MissReason.UNKNOWN
            if entry.ref is not None:
                del session.by_ref[entry.ref]
            self._forgotten(entry)
