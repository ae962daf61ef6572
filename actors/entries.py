"""The entries of the content store: bounds, order of eviction, life times (P constraints 2 and 6, phase 1).

Rules. Two bounds a session and one over all sessions; before a write, entries go until it fits, and what is written is
never among them. Expired ones go first, then nested ones by least recent use, then the others by least recent use. A
read is a use, and does not extend a life time: that counts from the write. What has gone leaves a tombstone that says
why; a session keeps the newest ones.

Turns come at the pace of ACKs, and hardly one is ever looked up. So a turn that is written is only *noted* at first: it
counts, keeps its place in the order of eviction and may be evicted, and becomes an entry with names of its own once
anybody looks into its session (`open_notes`). Notes are always the newest of their session, since every use and every
other write opens them before. With a life time nothing is noted.

Each session knows the order of use within it. What the bound over all sessions ends first is found through a heap of
the sessions by their least recent use; what has become of a session since is looked at when it comes to the top. No
operation is linear in the entries, except those that end many or change a life time: dropping a session, another
policy.
"""

from __future__ import annotations

import itertools
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from heapq import heapify, heappop, heappush, heapreplace

from ..protocol.history import TurnRun, turn_name
from ..protocol.retention import EvictionClass, Retention, is_over
from ..protocol.statuses import MissReason
from .entry import Entry, Notes, SessionEntries

__all__ = ["Entries"]

_NESTED, _TOP = EvictionClass
_EVICTED = MissReason.EVICTED
_MIN_DROPPED = 64
"""Dropped sessions that may stay in a heap before it is built anew."""


class Entries:
    """All of them.

    `gone(entry, reason)` is called for each that is evicted or expires, `notes_gone(count)` for what was only noted;
    `opened(entry)` for each that was noted and is one now, `forgotten(entry)` for each tombstone that is given up.
    """

    def __init__(
        self,
        retention: Retention,
        gone: Callable[[Entry, MissReason], object],
        notes_gone: Callable[[int], object],
        opened: Callable[[Entry], object],
        forgotten: Callable[[Entry], object],
    ) -> None:
        self.retention = retention
        self.bytes = 0
        self.evictions_over_all = 0
        self._max_tombstones = retention.max_tombstones
        self._gone = gone
        self._notes_gone = notes_gone
        self._opened = opened
        self._forgotten = forgotten
        self._uses = itertools.count(1)
        self._by_use: tuple[list[tuple[int, SessionEntries]], ...] = tuple([] for _ in EvictionClass)
        self._dropped = 0
        self._by_write: OrderedDict[Entry, None] | None = None if retention.ttl_us is None else OrderedDict()

    def put(self, entry: Entry, now_us: int, stamp: int) -> None:
        """Write an entry that is not larger than the limits, making room for it first."""
        session, size = entry.session, entry.size
        self.open_notes(session)
        self.expire(now_us)
        self._fit_session(session, 1, size)
        self._fit_all(size)
        entry.written_us = now_us
        entry.stamp = stamp
        entry.used = entry.written = next(self._uses)
        self._add(entry)
        session.count += 1
        session.bytes += size
        self.bytes += size

    def note(
        self, session: SessionEntries, turns: TurnRun, sizes: Sequence[int], first: int, now_us: int, stamp: int
    ) -> None:
        """Note turns of these sizes, numbered from `first`, none larger than the limits, as if each were put."""
        request_id, parent_ids, texts = turns.request_id, turns.parent_ids, turns.assistants
        total = sum(sizes)
        if self.bytes + total <= self.retention.total_bytes:
            notes = Notes(request_id, parent_ids, texts, sizes, first, next(self._uses), now_us, stamp)
            self._add_notes(session, notes, total)
            return
        for place, size in enumerate(sizes):
            # Each may end something in another session, before the next one ends something in this.
            if self.bytes + size > self.retention.total_bytes:
                self._fit_session(session, 1, size)
                self._fit_all(size)
            one = slice(place, place + 1)
            used = next(self._uses)
            notes = Notes(request_id, parent_ids[one], texts[one], sizes[one], first + place, used, now_us, stamp)
            self._add_notes(session, notes, size)

    def _add_notes(self, session: SessionEntries, notes: Notes, size: int) -> None:
        session.notes.append(notes)
        session.count += len(notes.sizes)
        session.bytes += size
        self.bytes += size
        if not session.listed[_TOP]:
            self._list(session, _TOP, notes.used)
        # Not before each of them: what goes is the same, since they come last.
        self._fit_session(session, 0, 0)

    def open_notes(self, session: SessionEntries) -> None:
        """Make entries of what was only noted, as if it always had been some."""
        for number, request_id, parent_id, size in session.gone_notes:
            entry = Entry(session, turn_name(request_id, parent_id), "", size, _TOP, number)
            entry.release(_EVICTED)
            session.tombstones[entry] = None
            self._opened(entry)
        session.gone_notes.clear()
        for notes in session.notes:
            for number, name, text, size in notes.oldest_first():
                entry = Entry(session, name, text, size, _TOP, number)
                entry.used = entry.written = notes.used
                entry.written_us = notes.written_us
                entry.stamp = notes.stamp
                self._add(entry)
                self._opened(entry)
        session.notes.clear()

    def use(self, entry: Entry) -> None:
        """Note that an entry was read, after the notes of its session were opened."""
        entry.used = next(self._uses)
        entry.session.by_class[entry.eviction_class].move_to_end(entry)

    def oldest(self) -> Entry | None:
        """The entry that was written first of those that are there; None while nothing expires."""
        return next(iter(self._by_write), None) if self._by_write else None

    def expire(self, now_us: int) -> None:
        """Let go of every entry whose life time is over."""
        ttl_us = self.retention.ttl_us
        if ttl_us is None:
            return
        while (entry := self.oldest()) is not None and is_over(entry.written_us, now_us, ttl_us):
            self._end(entry, MissReason.EXPIRED)

    def expire_one(self, entry: Entry, now_us: int) -> None:
        """Let go of this entry, if it is there and its life time is over."""
        is_there = self._by_write is not None and entry in self._by_write
        if is_there and is_over(entry.written_us, now_us, self.retention.ttl_us):
            self._end(entry, MissReason.EXPIRED)

    def change(self, retention: Retention, sessions: Iterable[SessionEntries], now_us: int) -> None:
        """Put another policy in force, at once: what is too old goes, then what is too much in each session, in all.

        What goes here leaves its tombstone by the policy that it was stored under: a smaller limit takes the content,
        and not the reason. The next one that goes counts by the new.
        """
        sessions = tuple(sessions)
        self._max_tombstones = max(self.retention.max_tombstones, retention.max_tombstones)
        self.retention = retention
        if retention.ttl_us is None:
            self._by_write = None
        elif self._by_write is None:
            self._by_write = self._in_order_of_writing(sessions)
        self.expire(now_us)
        for session in sessions:
            self._fit_session(session, 0, 0)
        self._fit_all(0)
        self._max_tombstones = retention.max_tombstones

    def _in_order_of_writing(self, sessions: Iterable[SessionEntries]) -> OrderedDict[Entry, None]:
        entries: list[Entry] = []
        for session in sessions:
            self.open_notes(session)
            entries += session
        # Those of one message were written at one time, and are numbered.
        entries.sort(key=lambda entry: (entry.written, entry.number))
        return OrderedDict.fromkeys(entries)

    def drop(self, session: SessionEntries) -> None:
        """Forget a session with all that it holds; that is neither an eviction nor an expiry."""
        if self._by_write is not None:
            for entry in session:
                del self._by_write[entry]
        self.bytes -= session.bytes
        for order in session.by_class:
            order.clear()
        session.notes.clear()
        self._dropped += sum(session.listed)
        if self._dropped > _MIN_DROPPED and 2 * self._dropped > sum(map(len, self._by_use)):
            for eviction_class, heap in zip(EvictionClass, self._by_use, strict=True):
                for _used, listed in heap:
                    listed.listed[eviction_class] = listed.least_recent_use(eviction_class) is not None
                heap[:] = [one for one in heap if one[1].listed[eviction_class]]
                heapify(heap)
            self._dropped = 0

    def _add(self, entry: Entry) -> None:
        session, eviction_class = entry.session, entry.eviction_class
        session.by_class[eviction_class][entry] = None
        if self._by_write is not None:
            self._by_write[entry] = None
        if not session.listed[eviction_class]:
            self._list(session, eviction_class, entry.used)

    def _list(self, session: SessionEntries, eviction_class: EvictionClass, used: int) -> None:
        session.listed[eviction_class] = True
        heappush(self._by_use[eviction_class], (used, session))

    def _fit_session(self, session: SessionEntries, entries: int, size: int) -> None:
        """End entries of a session, in order, until so many more with so many bytes fit."""
        max_entries, max_bytes = self.retention.max_entries - entries, self.retention.max_bytes - size
        nested, top = session.by_class
        while session.count > max_entries or session.bytes > max_bytes:
            self._evict(session, nested or top, session.count - max_entries, session.bytes - max_bytes)

    def _fit_all(self, size: int) -> None:
        """End entries of all sessions, in order, until so many bytes more fit."""
        while self.bytes + size > self.retention.total_bytes:
            eviction_class = _NESTED
            session = self._least_recent(_NESTED)
            if session is None:
                eviction_class = _TOP
                session = self._least_recent(_TOP)
                assert session is not None  # or there would be no bytes
            self._evict(session, session.by_class[eviction_class], 1, 0)
            self.evictions_over_all += 1

    def _least_recent(self, eviction_class: EvictionClass) -> SessionEntries | None:
        """The session that has the least recently used entry of a class."""
        heap = self._by_use[eviction_class]
        while heap:
            known, session = heap[0]
            used = session.least_recent_use(eviction_class)
            if used == known:
                return session
            if used is None:
                heappop(heap)
                session.listed[eviction_class] = False
            else:
                heapreplace(heap, (used, session))
        return None

    def _evict(self, session: SessionEntries, order: OrderedDict[Entry, None], count: int, size: int) -> None:
        """Evict the first of an order; where that is empty, notes, as far as so many or so many bytes have to go."""
        if order:
            self._end(next(iter(order)), _EVICTED)
        else:
            self._evict_notes(session, count, size)

    def _evict_notes(self, session: SessionEntries, count: int, size: int) -> None:
        """Evict the oldest of the notes written together, as far as so many, or with so many bytes, have to go."""
        notes = session.notes[0]
        request_id, parent_ids, texts, sizes = notes.request_id, notes.parent_ids, notes.texts, notes.sizes
        gone, number, freed = session.gone_notes, notes.first, 0
        while sizes and (count > 0 or size > freed):
            one = sizes.pop()
            texts.pop()
            gone.append((number, request_id, parent_ids.pop(), one))
            freed += one
            count -= 1
            number += 1
        ended = number - notes.first
        notes.first = number
        if not sizes:
            session.notes.popleft()
        session.count -= ended
        session.bytes -= freed
        self.bytes -= freed
        self._notes_gone(ended)
        self._trim(session)

    def _end(self, entry: Entry, reason: MissReason) -> None:
        session = entry.session
        del session.by_class[entry.eviction_class][entry]
        if self._by_write is not None:
            del self._by_write[entry]
        session.count -= 1
        session.bytes -= entry.size
        self.bytes -= entry.size
        entry.release(reason)
        session.tombstones[entry] = None
        self._gone(entry, reason)
        self._trim(session)

    def _trim(self, session: SessionEntries) -> None:
        """Give the oldest tombstones up: noted ones are newer than the others."""
        tombstones, gone_notes = session.tombstones, session.gone_notes
        while len(tombstones) + len(gone_notes) > self._max_tombstones:
            if not tombstones:
                gone_notes.popleft()
                continue
            entry, _nothing = tombstones.popitem(last=False)
            entry.gone = MissReason.UNKNOWN
            if entry.ref is not None:
                del session.by_ref[entry.ref]
            self._forgotten(entry)
