"""Callers on real threads that record, look up and change the policy all at once, and what must hold whatever they do.

There is no model here: each value says whose it is, and everybody counts what they were answered.
"""

from __future__ import annotations

import random
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from dragoman import Call, ContentRefNotFound, Outcome, Runtime, Settings

from .model import MAINTAINERS
from .operations import SESSIONS, spoil

__all__ = ["Callers", "check_store"]

PATIENCE_S = 60.0
"""How long a caller waits for what must come; only a failing test ever waits that long."""

RECENT = 40
"""Of what was stored, so many are looked up; some of them have gone."""

SETTINGS: dict[str, Any] = {
    "maintainers": MAINTAINERS,
    "store_max_entries": 8,
    "store_max_bytes": 400,
    "store_total_bytes": 800,
    "max_call_records": 1000,
}


CHANGES: dict[str, tuple[Any, ...]] = {
    "store_max_entries": (4, 8, 20),
    "store_max_bytes": (100, 400, 1000),
    "store_total_bytes": (200, 800, 1500),
    "store_ttl": (None, 0.01, 0.05),
    "capture_nested": (False, True),
}


@dataclass(frozen=True)
class Stored:
    session: str
    call: str
    ref: str
    of: str


@dataclass
class Callers:
    """Some threads over one runtime; `lasting` if no session ends while they are at it, and all can be counted."""

    runtime: Runtime
    lasting: bool
    stored: list[Stored] = field(default_factory=list)
    seen: Counter[str] = field(default_factory=Counter)
    proposals: int = 0
    _counting: threading.Lock = field(default_factory=threading.Lock)

    @classmethod
    def over(cls, *, lasting: bool) -> Callers:
        return cls(Runtime(Settings(**SETTINGS, max_sessions=len(SESSIONS) - (not lasting))), lasting)

    def run(self, threads: int, operations: int) -> None:
        """Let them begin at one moment; raises what the first of them met."""
        start = threading.Barrier(threads)

        def call(number: int) -> None:
            rng = random.Random(number)
            start.wait(PATIENCE_S)
            for count in range(operations):
                self._operate(rng, number, count)

        with ThreadPoolExecutor(threads) as pool:
            for done in [pool.submit(call, number) for number in range(threads)]:
                done.result()

    def _operate(self, rng: random.Random, number: int, count: int) -> None:
        session = rng.choices(SESSIONS, (9, 9, 1))[0]
        kind = rng.random()
        if kind < 0.4 or not self.stored:
            self._record(rng, session, f"c{number}x{count}")
        elif kind < 0.8:
            self.look_up(rng.choice(self.stored[-RECENT:]), by_ref=rng.random() < 0.5)
        elif kind < 0.9:
            self._look_up_elsewhere(rng.choice(self.stored[-RECENT:]))
        elif kind < 0.95:
            self._follow_up(session)
        elif kind < 0.97:
            check_store(self.runtime)
        elif number == 0:
            name = rng.choice(tuple(CHANGES))
            self.change({name: rng.choice(CHANGES[name])})
        elif not self.lasting and rng.random() < 0.3:
            self.runtime.clear_session(session).get(PATIENCE_S)

    def _record(self, rng: random.Random, session: str, call_id: str) -> None:
        depth = rng.choice((0, 0, 1))
        value = {"of": f"{session}/{call_id}", "pad": "ä" * rng.randrange(40)}
        future = self.runtime.record_call(session, Call(call_id, depth=depth), Outcome.ok(value))
        spoil(value)
        record: Any = future.get(PATIENCE_S)
        if not record.stored and depth and rng.random() < 0.5:
            record = self.runtime.refer(session, "c0", call_id).get(PATIENCE_S)
        if record.stored:
            with self._counting:
                self.seen["writes"] += 1
                self.stored.append(Stored(session, call_id, record.content_ref, f"{session}/{call_id}"))

    def look_up(self, stored: Stored, *, by_ref: bool) -> str:
        """Its own value, or a reason why it is gone; never anything else."""
        value, missing = self._fetched(stored.session, stored.ref if by_ref else stored.call)
        if missing is not None:
            assert missing in ("evicted", "expired", "unknown"), f"{stored} was stored, and is {missing}"
            return missing
        assert value["of"] == stored.of, f"the value of {value['of']} for {stored}"
        spoil(value)
        return "value"

    def _look_up_elsewhere(self, stored: Stored) -> None:
        for session in SESSIONS:
            if session != stored.session:
                _value, missing = self._fetched(session, stored.ref)
                assert missing == "unknown", f"{stored} was opened in {session}"

    def _fetched(self, session: str, name: str) -> tuple[Any, str | None]:
        try:
            value = self.runtime.content(session, name).get(PATIENCE_S)
        except ContentRefNotFound as missing:
            self._count("misses")
            return None, str(missing.reason)
        self._count("hits")
        return value, None

    def _follow_up(self, session: str) -> None:
        reply = self.runtime.follow_up(session, "the last answer").get(PATIENCE_S)
        if reply.miss is None:
            self._count("hits")
            assert reply.value["of"] == f"{session}/{reply.call}"
        elif reply.miss == "content_ref_not_found":
            self._count("misses")

    def change(self, change: dict[str, Any]) -> None:
        """By one caller, who speaks for all maintainers."""
        self.proposals += 1
        name, runtime = f"q{self.proposals}", self.runtime
        replies = [
            runtime.propose(name, "scout", change, "seen in the field", "as before"),
            runtime.approve(name, MAINTAINERS[0]),
            runtime.acknowledge_proposal(name, MAINTAINERS[1]),
            runtime.apply(name, MAINTAINERS[2]),
        ]
        assert [str(reply.get(PATIENCE_S).status) for reply in replies][-1] == "APPLIED"

    def _count(self, what: str) -> None:
        with self._counting:
            self.seen[what] += 1

    def settle(self) -> None:
        """What must hold when all have gone home: every answer was counted, and what is there is found."""
        self.change({"store_ttl": None})
        check_store(self.runtime)
        snapshot = self.runtime.snapshot(PATIENCE_S)
        counters, live = snapshot.store.counters, sum(held.entries for held in snapshot.store.sessions.values())
        assert (counters.hits, counters.misses) == (self.seen["hits"], self.seen["misses"])
        assert counters.writes == self.seen["writes"]
        if self.lasting:
            assert counters.writes - counters.evictions - counters.expired == live
        found = Counter(self.look_up(stored, by_ref=True) for stored in self.stored)
        assert found["value"] == live, "not everything that is there is found"
        for session in SESSIONS:
            self.runtime.clear_session(session).get(PATIENCE_S)
        left = self.runtime.snapshot(PATIENCE_S)
        assert (left.sessions, left.store.bytes, len(left.store.sessions)) == ((), 0, 0)
        report = self.runtime.close()
        assert report.clean
        assert report.counts.failed == 0


def check_store(runtime: Runtime) -> None:
    """At every moment: within the bounds, each and all, and the sum is the sum."""
    store = runtime.snapshot(PATIENCE_S).store
    sizes = store.sessions.values()
    assert store.bytes == sum(held.bytes for held in sizes)
    assert store.bytes <= store.retention.total_bytes
    assert all(held.entries <= store.retention.max_entries for held in sizes)
    assert all(held.bytes <= store.retention.max_bytes for held in sizes)
