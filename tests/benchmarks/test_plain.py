"""`plain` answers as the runtime does: both are given the same operations, at the same virtual times.

The runtime has `commit_order="request"` and no ledger, for these are what `plain` leaves out.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from benchmarks.plain import Plain
from dragoman import Handoff, Parent, ProviderPolicy, Runtime, Settings, SimulatedDispatcher

SETTINGS = Settings(
    ack_window=10.0,
    session_ttl=15.0,
    max_sessions=2,
    max_turns=2,
    max_open_handles=3,
    ledger_entries=0,
    commit_order="request",
)
PROVIDERS = {"deepl": ProviderPolicy(kind="machine")}
REQUESTS = ("r1", "r2", "r3", "r4")
SESSIONS = ("s1", "s1", "s2", "s3")
PARENTS = ("p0", "p1", "p2", "p3")
SOURCES = ("Hello", "Hello", " ", "a < b")
RESULTS = ("Hallo", "Welt", "Hallo", " ", "", '[{"id": "p1", "text": "x"}]', "<dm-abcdefgh-1/>", '{"a": 1}', "a < b")
ODD = ("", None, 7, b"x", "<dm-abcdefgh-1/>", "p0", -1, True, 2**70, 0.5)
WAITS_US = (1, 1_000_000, 4_999_999, 5_000_000, 10_000_000, 15_000_000)

Operation = tuple[Any, ...]


def handoff(chance: random.Random) -> Handoff:
    """A handoff; one in five is spoilt in one place."""
    count = chance.randint(1, 3)
    orders = chance.sample(range(5), count)
    parents: list[Any] = [Parent(f"p{place}", order, chance.choice(SOURCES)) for place, order in enumerate(orders)]
    fields: dict[str, Any] = {
        "request_id": chance.choice(REQUESTS),
        "session_id": chance.choice(SESSIONS),
        "provider": "openai",
        "mode": "select-element",
        "parents": parents,
        "purpose": "PRIMARY_TRANSLATION",
    }
    if chance.random() < 0.2:
        place = chance.randrange(count)
        kept = {"id": parents[place].id, "order": orders[place], "source": "Hello"}
        parents[place] = Parent(**{**kept, chance.choice(list(kept)): chance.choice(ODD)})
    elif chance.random() < 0.1:
        spoilt: dict[str, list[Any]] = {
            "provider": ["deepl"],
            "mode": ["page"],
            "purpose": ["STRUCTURED_RECOVERY"],
            "parents": [(), ("p0",)],
        }
        name = chance.choice(list(fields))
        fields[name] = chance.choice([*spoilt.get(name, []), *ODD])
    return Handoff(**fields)


def operations(chance: random.Random, count: int) -> Iterator[Operation]:
    """Operations on few names, so that they meet."""
    for _ in range(count):
        kind = chance.choices(
            ["register", "activate", "acknowledge", "reject", "cancel", "clear_session", "history", "wait"],
            [20, 8, 45, 8, 2, 1, 8, 8],
        )[0]
        if kind == "register":
            yield kind, handoff(chance)
        elif kind == "acknowledge":
            yield kind, chance.choice(REQUESTS), chance.choice(PARENTS), chance.choice(RESULTS)
        elif kind == "reject":
            yield kind, chance.choice(REQUESTS), chance.choice(PARENTS)
        elif kind in ("clear_session", "history"):
            yield kind, chance.choice(SESSIONS)
        elif kind == "wait":
            yield kind, chance.choice(WAITS_US)
        else:
            yield kind, chance.choice(REQUESTS)


def beside_the_runtime(make: Callable[..., Plain], seed: int, count: int = 150) -> None:
    """One walk: the answer of each to every operation, and at the end all that they remember."""
    dispatcher = SimulatedDispatcher()
    plain = make(SETTINGS, providers=PROVIDERS, clock_ns=lambda: dispatcher.now_us() * 1000)
    with Runtime(SETTINGS, providers=PROVIDERS, dispatcher=dispatcher) as runtime:
        for kind, *arguments in operations(random.Random(seed), count):
            if kind == "wait":
                dispatcher.advance(*arguments)
                continue
            expected = getattr(runtime, kind)(*arguments).get()
            dispatcher.run()
            assert getattr(plain, kind)(*arguments) == expected, (seed, kind)
        for session_id in SESSIONS:
            assert plain.history(session_id) == runtime.history(session_id).get()


def walks(make: Callable[..., Plain], seeds: range) -> None:
    for seed in seeds:
        beside_the_runtime(make, seed)


@pytest.fixture(autouse=True)
def a_heap_that_is_often_built_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.plain._MIN_CANCELLED", 1)


@pytest.mark.parametrize("block", range(4))
def test_plain_answers_as_the_runtime_does(block: int) -> None:
    walks(Plain, range(block * 50, block * 50 + 50))


class _CommitsInOrderOfArrival(Plain):
    def _commit(self, handle: Any, now_ns: int) -> tuple[str, ...]:
        handle.cursor = len(handle.results) - 1
        return super()._commit(handle, now_ns)


class _LosesWindows(Plain):
    def _close(self, handle: Any) -> None:
        super()._close(handle)
        if not self._cancelled:
            self._windows.clear()


class _KeepsWindowsThatAreDue(Plain):
    def _end_windows(self, now_ns: int) -> None:
        super()._end_windows(now_ns - 1)


class _OutlivesTheTtl(Plain):
    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._ttl_ns += 1000


class _TakesAReadForNoUse(Plain):
    def history(self, session_id: str, **options: Any) -> Any:
        known = self._sessions.get(session_id)
        used_ns = known.used_ns if known is not None else 0
        turns = super().history(session_id, **options)
        if known is not None:
            known.used_ns = used_ns
        return turns


class _EvictsTheNewest(Plain):
    def _use(self, session: Any, now_ns: int) -> None:
        session.used_ns = now_ns


class _KeepsEveryTurn(Plain):
    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._max_turns += 1


class _TakesAnybody(Plain):
    def _takes_part(self, provider: str, mode: str, purpose: str) -> bool:
        return True


@pytest.mark.parametrize(
    "mutant",
    [
        _CommitsInOrderOfArrival,
        _LosesWindows,
        _KeepsWindowsThatAreDue,
        _OutlivesTheTtl,
        _TakesAReadForNoUse,
        _EvictsTheNewest,
        _KeepsEveryTurn,
        _TakesAnybody,
    ],
)
def test_a_plain_that_is_wrong_is_told(mutant: Callable[..., Plain]) -> None:
    with pytest.raises(AssertionError):
        walks(mutant, range(200))
