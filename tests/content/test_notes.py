"""Turns that are only noted, beside the same turns as entries: nobody can tell the two apart."""

from __future__ import annotations

from typing import Any

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.actors.entries import Entries
from dragoman.actors.entry import Entry, SessionEntries
from dragoman.protocol.history import TurnRun
from dragoman.protocol.payloads import text_payload
from dragoman.protocol.retention import EvictionClass, Retention
from dragoman.protocol.statuses import MissReason

SIZES = st.integers(2, 9)
PLACES = st.integers(0, 2)
SESSIONS = 3

Operation = tuple[Any, ...]
OPERATIONS: st.SearchStrategy[list[Operation]] = st.lists(
    st.one_of(
        st.tuples(st.just("turns"), PLACES, st.lists(SIZES, min_size=1, max_size=12)),
        st.tuples(st.just("call"), PLACES, SIZES, st.sampled_from(EvictionClass)),
        st.tuples(st.just("read"), PLACES, st.integers(0, 50)),
        st.tuples(st.just("look"), PLACES),
        st.tuples(st.just("drop"), PLACES),
        st.tuples(
            st.just("govern"),
            st.fixed_dictionaries(
                {},
                optional={
                    "max_entries": st.integers(1, 9),
                    "max_bytes": st.integers(9, 40),
                    "total_bytes": st.integers(9, 60),
                    "ttl_us": st.none() | st.integers(0, 4),
                },
            ),
        ),
        st.tuples(st.just("wait"), st.integers(1, 3)),
    ),
    min_size=4,
    max_size=40,
)


class Store:
    """Entries of three sessions; `notes` says how turns are written."""

    def __init__(self, *, notes: bool) -> None:
        self._notes = notes
        self._policy = Retention(
            max_entries=6, max_bytes=25, ttl_us=None, total_bytes=45, capture_nested=True, capture_errors=True
        )
        self._entries = Entries(self._policy, self._gone, self._notes_gone, self._opened, self._forgotten)
        self._sessions = [SessionEntries(f"s{number}") for number in range(SESSIONS)]
        self._names: dict[tuple[str, str], Entry] = {}
        self._evicted = self._expired = self._now_us = self._written = 0

    def _gone(self, _entry: Entry, reason: MissReason) -> None:
        self._evicted += reason is MissReason.EVICTED
        self._expired += reason is MissReason.EXPIRED

    def _notes_gone(self, count: int) -> None:
        self._evicted += count

    def _opened(self, entry: Entry) -> None:
        self._names[entry.session.session_id, entry.name] = entry

    def _forgotten(self, entry: Entry) -> None:
        del self._names[entry.session.session_id, entry.name]

    def do(self, what: str, *arguments: Any) -> None:
        getattr(self, what)(*arguments)

    def turns(self, place: int, sizes: list[int]) -> None:
        session, policy = self._sessions[place], self._policy
        sizes = [min(size, policy.max_entry_bytes) for size in sizes]
        first, self._written = self._written + 1, self._written + len(sizes)
        names = tuple(f"p{first + number}" for number in range(len(sizes)))
        turns = TurnRun("r1", names, ("",) * len(sizes), tuple("x" * (size - 2) for size in sizes))
        if self._notes and policy.ttl_us is None:
            self._entries.note(session, turns, sizes, first, self._now_us, first)
            return
        self._entries.open_notes(session)
        for number, (turn, size) in enumerate(zip(turns, sizes, strict=True), first):
            self._put(Entry(session, f"r1/{turn.parent_id}", turn.assistant, size, EvictionClass.TOP, number), first)

    def _put(self, entry: Entry, stamp: int) -> None:
        self._entries.put(entry, self._now_us, stamp)
        self._opened(entry)

    def call(self, place: int, size: int, eviction_class: EvictionClass) -> None:
        self._written += 1
        content = text_payload("x" * (size - 2))
        if size <= self._policy.max_entry_bytes:
            entry = Entry(self._sessions[place], f"c{self._written}", content, size, eviction_class)
            self._put(entry, self._written)

    def read(self, place: int, number: int) -> None:
        self.look(place)
        there = [entry for entry in self._names.values() if entry.session is self._sessions[place] and not entry.gone]
        if there:
            self._entries.use(sorted(there, key=lambda entry: entry.name)[number % len(there)])

    def look(self, place: int) -> None:
        self._entries.expire(self._now_us)
        self._entries.open_notes(self._sessions[place])

    def drop(self, place: int) -> None:
        self._entries.drop(self._sessions[place])
        self._sessions[place] = SessionEntries(f"s{place}")
        self._names = {key: entry for key, entry in self._names.items() if key[0] != f"s{place}"}

    def govern(self, change: dict[str, int | None]) -> None:
        self._policy = attrs.evolve(self._policy, **change)
        self._entries.change(self._policy, self._sessions, self._now_us)

    def wait(self, us: int) -> None:
        self._now_us += us
        self._entries.expire(self._now_us)

    def counters(self) -> tuple[Any, ...]:
        sessions = [(session.count, session.bytes) for session in self._sessions]
        return self._evicted, self._expired, self._entries.evictions_over_all, self._entries.bytes, sessions

    def contents(self, place: int) -> dict[tuple[str, str], tuple[Any, ...]]:
        self.look(place)
        return {
            key: (entry.gone, entry.size, entry.number)
            if entry.gone
            else (entry.size, entry.number, entry.written_us, entry.stamp, entry.payload().body)
            for key, entry in self._names.items()
            if entry.session is self._sessions[place]
        }


@given(OPERATIONS)
@settings(max_examples=400)
def test_a_turn_that_is_only_noted_counts_goes_and_is_found_like_an_entry(operations: list[Operation]) -> None:
    noting, putting = Store(notes=True), Store(notes=False)
    for operation in operations:
        noting.do(*operation)
        putting.do(*operation)
        assert noting.counters() == putting.counters()
        if operation[0] in ("look", "read"):
            assert noting.contents(operation[1]) == putting.contents(operation[1])
    for place in range(SESSIONS):
        assert noting.contents(place) == putting.contents(place)


def test_notes_hold_no_text_that_was_evicted() -> None:
    store = Store(notes=True)
    store.turns(0, [3] * 12)
    (notes,) = store._sessions[0].notes
    gone = store._sessions[0].gone_notes
    assert (len(notes.texts), len(gone)) == (6, 6)
    assert "x" not in str([*gone, notes.parent_ids, notes.request_id])


def test_dropped_sessions_do_not_pile_up_in_the_order_over_all() -> None:
    store = Store(notes=True)
    for _ in range(1000):
        store.turns(0, [5])
        store.drop(0)
    assert sum(map(len, store._entries._by_use)) < 200


@pytest.mark.parametrize("notes", [True, False])
def test_over_all_sessions_the_least_recently_used_goes_first_though_one_has_lost_others_before(notes: bool) -> None:
    store = Store(notes=notes)
    store.govern({"max_bytes": 45})
    for place in (0, 1, 0, 1, 2):
        store.turns(place, [9])
    counts = []
    for _ in range(4):
        store.turns(2, [9])
        counts.append([session.count for session in store._sessions])
    assert counts == [[1, 2, 2], [1, 1, 3], [0, 1, 4], [0, 0, 5]]


def test_a_read_moves_an_entry_behind_those_of_other_sessions() -> None:
    store = Store(notes=True)
    for place in (0, 1, 2):
        store.turns(place, [9])
    store.read(0, 0)
    store.govern({"total_bytes": 18})
    assert [session.count for session in store._sessions] == [1, 0, 1]


def test_a_life_time_that_comes_later_counts_from_each_write_though_one_was_read_since() -> None:
    store = Store(notes=True)
    store.turns(0, [5])
    store.wait(2)
    store.turns(0, [5])
    store.read(0, 0)
    store.govern({"ttl_us": 2})
    store.wait(1)
    assert [gone[0] for gone in store.contents(0).values()] == [MissReason.EXPIRED, 5]
