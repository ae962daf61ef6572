"""What the operations on entries cost, by counting what they touch: never by time (P constraint 2).

Each entry counts how often it is hashed, which every dict and cache does with it, and each order how far it is walked
through. Beside that, every call of a function while an operation lasts is counted, whatever it is of.
"""

from __future__ import annotations

import gc
import sys
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator
from functools import partial
from types import FrameType
from typing import Any

import pytest

from dragoman.actors.entries import Entries
from dragoman.actors.entry import Entry, SessionEntries
from dragoman.protocol.payloads import Payload, text_payload
from dragoman.protocol.retention import EvictionClass, Retention
from dragoman.protocol.statuses import MissReason

FEW, MANY = 1_000, 100_000
SESSIONS = 100
PAYLOAD = text_payload("ab")
TTL_US = 1_000_000
touched: Counter[str] = Counter()


class CountedEntry(Entry):
    __slots__ = ()

    def __hash__(self) -> int:
        touched["hashed"] += 1
        return object.__hash__(self)

    def __eq__(self, other: object) -> bool:
        touched["compared"] += 1
        return self is other


class CountedOrder(OrderedDict[Any, None]):
    def __iter__(self) -> Iterator[Any]:
        for entry in super().__iter__():
            touched["walked"] += 1
            yield entry


class Stock:
    """So many entries in all, in a hundred sessions alike; one in two is nested."""

    def __init__(self, count: int, **limits: Any) -> None:
        self.gone: list[tuple[str, MissReason]] = []
        self.forgotten = 0
        self.entries = Entries(
            retention(**limits),
            lambda entry, why: self.gone.append((entry.name, why)),
            self._notes_gone,
            lambda _entry: None,
            self._forget,
        )
        _watch(self.entries)
        self.sessions = [self.session(f"s{number}") for number in range(SESSIONS)]
        for number in range(count):
            self.put(self.sessions[number % SESSIONS], f"c{number}", nested=number // SESSIONS % 2 == 1)

    def _notes_gone(self, count: int) -> None:
        self.gone += [("a note", MissReason.EVICTED)] * count

    def _forget(self, _entry: Entry) -> None:
        self.forgotten += 1

    def govern(self, **limits: Any) -> None:
        self.entries.change(retention(**limits), self.sessions, 0)
        _watch(self.entries)

    def session(self, name: str) -> SessionEntries:
        session = SessionEntries(name)
        session.by_class = tuple(CountedOrder() for _ in EvictionClass)
        session.tombstones = CountedOrder()
        return session

    def put(self, session: SessionEntries, name: str, *, nested: bool = False, content: Payload = PAYLOAD) -> Entry:
        kind = EvictionClass.NESTED if nested else EvictionClass.TOP
        entry = CountedEntry(session, name, content, content.bytes, kind)
        self.entries.put(entry, 0, 0)
        return entry


def _watch(entries: Entries) -> None:
    """Put counting orders in the place of all that `entries` keeps over the sessions; heaps are of sessions."""
    for name, value in vars(entries).items():
        if isinstance(value, OrderedDict):
            setattr(entries, name, CountedOrder(value))
        elif name == "_by_use":
            assert all(len(heap) <= 3 * SESSIONS for heap in value)
        else:
            assert not isinstance(value, dict | list | set | tuple)


def retention(**limits: Any) -> Retention:
    unlimited: dict[str, Any] = {
        "max_entries": 10**9,
        "max_bytes": 10**9,
        "total_bytes": 10**9,
        "ttl_us": None,
        "capture_nested": True,
        "capture_errors": False,
    }
    return Retention(**{**unlimited, **limits})


def cost(operation: Callable[[], object]) -> Counter[str]:
    """What is touched while the operation lasts, and how many calls are made."""
    calls = 0

    def count(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    touched.clear()
    before = sys.getprofile()
    gc.disable()  # whoever watches the collector would be counted
    sys.setprofile(count)
    try:
        operation()
    finally:
        sys.setprofile(before)
        gc.enable()
    return Counter({**touched, "calls": calls})


@pytest.fixture(scope="module")
def stocked() -> tuple[Stock, Stock]:
    return Stock(FEW), Stock(MANY)


@pytest.fixture
def stocks(stocked: tuple[Stock, Stock]) -> tuple[Stock, Stock]:
    """A few and many; each test goes on where the one before has left them, a few entries more or less."""
    for stock in stocked:
        stock.govern()
        stock.gone.clear()
    return stocked


def test_the_counting_counts() -> None:
    stock = Stock(FEW)
    assert cost(lambda: list(stock.sessions[0]))["walked"] == FEW // SESSIONS
    assert cost(lambda: [hash(entry) for entry in stock.sessions[0]])["hashed"] >= FEW // SESSIONS
    assert cost(lambda: [len("") for _ in range(FEW)])["calls"] >= FEW


def test_a_write_costs_the_same_among_a_hundred_thousand(stocks: tuple[Stock, Stock]) -> None:
    few, many = (cost(partial(stock.put, stock.sessions[5], "new")) for stock in stocks)
    assert few == many
    assert many["walked"] <= 2
    assert many["calls"] < 100


def test_a_read_costs_the_same_among_a_hundred_thousand(stocks: tuple[Stock, Stock]) -> None:
    read = [next(iter(stock.sessions[7])) for stock in stocks]
    few, many = (cost(partial(stock.entries.use, entry)) for stock, entry in zip(stocks, read, strict=True))
    assert few == many
    assert many["walked"] == 0
    assert many["calls"] < 20


def test_a_write_that_evicts_in_its_session_costs_the_same_among_a_hundred_thousand(
    stocks: tuple[Stock, Stock],
) -> None:
    costs = []
    for stock in stocks:
        session = stock.sessions[3]
        stock.entries.retention = retention(max_entries=session.count)
        costs.append(cost(partial(stock.put, session, "new")))
        assert stock.gone == [("c103", MissReason.EVICTED)]
    assert costs[0] == costs[1]
    assert costs[1]["walked"] <= 4
    assert costs[1]["calls"] < 200


def test_every_write_that_evicts_over_all_sessions_costs_the_same_among_a_hundred_thousand(
    stocks: tuple[Stock, Stock],
) -> None:
    costs = []
    for stock in stocks:
        stock.entries.retention = retention(total_bytes=stock.entries.bytes)
        costs += [cost(partial(stock.put, stock.sessions[number], "new")) for number in range(50)]
        assert [reason for _name, reason in stock.gone] == [MissReason.EVICTED] * 50
    assert costs[:50] == costs[50:]
    assert max(one["walked"] for one in costs) <= 4
    assert max(one["calls"] for one in costs) < 200


def test_a_large_write_costs_what_it_evicts(stocks: tuple[Stock, Stock]) -> None:
    spent = {}
    for stock in stocks:
        for factor in (10, 20, 40):
            stock.gone.clear()
            stock.entries.retention = retention(total_bytes=stock.entries.bytes)
            content = text_payload("x" * (factor * PAYLOAD.bytes - 2))
            spent[stock, factor] = cost(partial(stock.put, stock.sessions[0], "new", content=content))
            assert len(stock.gone) == factor
    few, many = stocks
    for factor in (10, 20, 40):
        assert spent[few, factor] == spent[many, factor]
    for what in ("hashed", "walked", "calls"):
        assert spent[many, 40][what] - spent[many, 20][what] == 2 * (spent[many, 20][what] - spent[many, 10][what])


def test_looking_for_what_has_expired_costs_the_same_while_nothing_has(stocks: tuple[Stock, Stock]) -> None:
    costs = []
    for stock in stocks:
        stock.govern(ttl_us=TTL_US)
        costs.append(cost(partial(stock.entries.expire, TTL_US)))
        assert stock.gone == []
    assert costs[0] == costs[1]
    assert costs[1]["walked"] <= 1


def test_one_that_expires_costs_the_same_among_a_hundred_thousand(stocks: tuple[Stock, Stock]) -> None:
    costs = []
    for stock in stocks:
        stock.govern(ttl_us=TTL_US)
        oldest = stock.entries.oldest()
        assert oldest is not None
        oldest.written_us = -1
        costs.append(cost(partial(stock.entries.expire, TTL_US)))
        assert stock.gone == [(oldest.name, MissReason.EXPIRED)]
    assert costs[0] == costs[1]
    assert costs[1]["walked"] <= 4


@pytest.mark.parametrize("ttl_us", [None, TTL_US])
def test_dropping_a_session_is_linear_in_that_session_alone(stocks: tuple[Stock, Stock], ttl_us: int | None) -> None:
    spent = {}
    for stock in stocks:
        stock.govern(ttl_us=ttl_us)
        before = stock.entries.bytes
        for size in (0, 10, 20, 40):
            session = stock.session("to be dropped")
            for number in range(size):
                stock.put(session, f"d{number}", nested=number % 2 == 1)
            spent[stock, size] = cost(partial(stock.entries.drop, session))
            assert (stock.entries.bytes, stock.gone) == (before, [])
    few, many = stocks
    for size in (0, 10, 20, 40):
        assert spent[few, size] == spent[many, size]
        assert spent[many, size]["walked"] == (0 if ttl_us is None else size)
    for what in ("hashed", "calls"):
        assert spent[many, 40][what] - spent[many, 20][what] == 2 * (spent[many, 20][what] - spent[many, 10][what])
    assert spent[many, 0]["hashed"] == 0


def test_what_is_remembered_of_what_has_gone_is_bounded_and_forgetting_costs_the_same() -> None:
    stock = Stock(FEW, max_entries=2)
    costs = [cost(lambda: stock.put(stock.sessions[0], "new")) for _ in range(50)]
    assert len(stock.sessions[0].tombstones) == retention(max_entries=2).max_tombstones == 8
    assert stock.forgotten == len(stock.gone) - SESSIONS * 8
    assert len({tuple(sorted(one.items())) for one in costs}) == 1


def test_a_policy_that_ends_nothing_costs_one_look_at_each_session(stocks: tuple[Stock, Stock]) -> None:
    few, many = (cost(partial(stock.entries.change, retention(), stock.sessions, 0)) for stock in stocks)
    assert few == many
    assert (many["hashed"], many["walked"]) == (0, 0)


def test_a_smaller_policy_costs_what_it_ends() -> None:
    spent = {}
    for ended in (1, 2, 4):
        stock = Stock(10 * FEW)
        smaller = retention(max_entries=10 * FEW // SESSIONS - ended)
        spent[ended] = cost(partial(stock.entries.change, smaller, stock.sessions, 0))
        assert len(stock.gone) == ended * SESSIONS
    for what in ("hashed", "walked", "calls"):
        assert spent[4][what] - spent[2][what] == 2 * (spent[2][what] - spent[1][what])
