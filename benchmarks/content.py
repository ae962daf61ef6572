"""What the content store costs: ratios measured in one run, never absolute limits.

    python benchmarks/content.py [--entries 100000]

Prints put and get of the store's entries over those of a bare cache of cachetools, each with an eviction and without;
what the same costs with many entries over with few; recording a call and reading its content back over writing and
reading the JSON alone; and an ACK with content over one without.
"""

from __future__ import annotations

import argparse
import gc
import hashlib
import itertools
import json
import statistics
import time
from collections.abc import Callable

from cachetools import LRUCache

from dragoman import Call, Handoff, Outcome, Parent, Runtime, Settings
from dragoman.actors.entries import Entries, Entry, SessionEntries
from dragoman.protocol.payloads import Payload, text_payload
from dragoman.protocol.retention import EvictionClass, Retention

ROUNDS = 7
FEW = 1_000
OPERATIONS = 20_000
TEXT = "A text of two thousand characters, or nearly so. " * 41


def cost(operation: Callable[[], object], count: int = OPERATIONS) -> float:
    """Seconds for one of `count` operations."""
    gc.collect()
    gc.disable()
    try:
        begin = time.perf_counter()
        for _ in range(count):
            operation()
        return (time.perf_counter() - begin) / count
    finally:
        gc.enable()


class Store:
    """Entries of one session, `count` of them, and a bare cache as large."""

    def __init__(self, count: int, payload: Payload, *, filled: bool = True) -> None:
        limits = Settings(store_max_entries=count, store_max_bytes=10**11, store_total_bytes=10**11)
        self.entries = Entries(Retention.of(limits), lambda _entry, _reason: None, lambda _entry: None)
        self.session = SessionEntries("s1")
        self.payload = payload
        self.bare: LRUCache[int, Payload] = LRUCache(count)
        self.numbers = itertools.count()
        for _ in range(count if filled else 1):
            self.put()
            self.put_bare()
        self.one = next(iter(self.session))
        self.key = next(iter(self.bare))

    def put(self) -> None:
        """With an eviction, where the limit is reached."""
        entry = Entry(self.session, "c1", self.payload, self.payload.bytes, EvictionClass.TOP)
        self.entries.put(entry, 0, 0)

    def put_bare(self) -> None:
        self.bare[next(self.numbers)] = self.payload

    def get(self) -> None:
        self.entries.use(self.one)

    def get_bare(self) -> None:
        self.bare[self.key]


def store_report(many: int) -> None:
    payload = text_payload(TEXT)
    puts, gets, grown_puts, grown_gets = [], [], [], []
    small, large = Store(FEW, payload), Store(many, payload)
    for _ in range(ROUNDS):
        gets.append(cost(small.get) / cost(small.get_bare))
        grown_gets.append(cost(large.get) / cost(small.get))
        puts.append(cost(small.put) / cost(small.put_bare))
        grown_puts.append(cost(large.put) / cost(small.put))
        small.one, large.one = next(iter(small.session)), next(iter(large.session))
        small.key = next(iter(small.bare))
    print(f"put / the same in a bare cache: {_spread([_fill(payload) for _ in range(ROUNDS)])}")
    print(f"put with an eviction / the same in a bare cache: {_spread(puts)}")
    print(f"get / the same in a bare cache: {_spread(gets)}")
    print(f"put with an eviction, {many} entries / {FEW}: {_spread(grown_puts)}")
    print(f"get, {many} entries / {FEW}: {_spread(grown_gets)}")


def _fill(payload: Payload) -> float:
    """Filling an empty store over filling a bare cache."""
    store = Store(2 * OPERATIONS, payload, filled=False)
    return cost(store.put) / cost(store.put_bare)


def calls_report() -> None:
    def write() -> None:
        hashlib.sha256(json.dumps(TEXT, ensure_ascii=False).encode()).hexdigest()

    body = json.dumps(TEXT)
    with Runtime(Settings(max_call_records=128)) as runtime:
        numbers = itertools.count()

        def record() -> None:
            runtime.record_call("s1", Call(f"c{next(numbers)}"), Outcome.ok(TEXT)).get()

        record()
        recorded, read = [], []
        for _ in range(ROUNDS):
            recorded.append(cost(record, 2000) / cost(write, 2000))
            name = runtime.calls("s1").get()[-1].id
            read.append(
                cost(lambda name=name: runtime.content("s1", name).get(), 2000) / cost(lambda: json.loads(body), 2000)
            )
    print(f"recording a call of {len(TEXT)} characters / writing its JSON and digest: {_spread(recorded)}")
    print(f"reading it back / reading its JSON: {_spread(read)}")


def acks_report(parents: int = 5000) -> None:
    ratios = [_ack_cost(parents, content=True) / _ack_cost(parents, content=False) for _ in range(ROUNDS)]
    print(f"an ACK with content / without: {_spread(ratios)}")


def _ack_cost(count: int, *, content: bool) -> float:
    gc.collect()
    with Runtime(Settings(content_enabled=content)) as runtime:
        handoff = tuple(Parent(f"p{place}", place, "Hello") for place in range(count))
        runtime.register(Handoff("r1", "s1", "openai", "select-element", handoff)).get()
        begin = time.perf_counter()
        for place in range(count):
            runtime.acknowledge("r1", f"p{place}", "Hallo").get()
        return (time.perf_counter() - begin) / count


def _spread(ratios: list[float]) -> str:
    return f"{statistics.median(ratios):.2f} (from {min(ratios):.2f} to {max(ratios):.2f})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--entries", type=int, default=100_000)
    store_report(parser.parse_args().entries)
    calls_report()
    acks_report()


if __name__ == "__main__":
    main()
