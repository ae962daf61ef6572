"""What content costs: the store over a bare cache that does the same work, and the workload with and without it.

A bare cache is a `cachetools.LRUCache` of as many entries, of which each put writes JSON, takes its digest and draws a
random ref, and each get reads the JSON: no bounds in bytes, no sessions, no reasons, no order over all of them.
"""

from __future__ import annotations

import base64
import hashlib
import itertools
import json
import secrets
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from cachetools import LRUCache

from dragoman import Call, CallRecord, CallStatus, Future, Outcome, Payload, Runtime, Settings, ThreadDispatcher
from dragoman.actors.content_store import ContentStore
from dragoman.actors.entries import Entries
from dragoman.actors.entry import Entry, SessionEntries
from dragoman.protocol.content_messages import Resolve, Resolved, StoreCall
from dragoman.protocol.payloads import serialize, text_payload, value_in
from dragoman.protocol.retention import EvictionClass, Retention

from .clock import clock
from .committed import Answers, WrongAnswers
from .contestants import blocking, seconds
from .figures import Comparison, Figure, compare
from .sizes import Size
from .workload import Workload, make_workload

__all__ = ["content_store", "content_workload", "store_entries"]

_ENTRIES = 128
_MAX_BYTES = 10**9
_TEXT = "A text of two thousand characters, or nearly so. " * 41
_ROWS = 24


def content_store(size: Size, runs: int) -> list[Figure]:
    """Put and get of 2 KB values, over the same in a bare cache: a text, and an object of many small ones."""
    figures = []
    for what, values in (("a text", _texts), ("an object", _objects)):
        count = min(size.calls, 4000)
        for where, over in (("in the store", _store), ("through the face", _face)):
            figures.append(
                Comparison(
                    title=f"put + get of {what} of 2 KB, {where} / in a bare cache",
                    over=partial(over, values(count)),
                    under=partial(_bare, values(count)),
                    names=(where, "in a bare cache"),
                    at_most=1.5,
                    aim=1.2,
                    note="on both sides: JSON, SHA-256, a random ref and an eviction a put, JSON read a get",
                )
            )
    return compare(figures, runs)


def _texts(count: int) -> list[Any]:
    return [f"{number}: {_TEXT}" for number in range(count)]


def _objects(count: int) -> list[Any]:
    row = {"month": "March", "amount": 1250.5, "count": 17, "note": "as it was planned, with no change"}
    return [{"id": number, "title": "Forecast", "rows": [row] * _ROWS} for number in range(count)]


def _bare(values: Sequence[Any]) -> float:
    cache: LRUCache[str, tuple[bytes, str]] = LRUCache(_ENTRIES)
    got = []
    began = clock.now()
    for value in values:
        body = json.dumps(value, ensure_ascii=False).encode()
        digest = hashlib.sha256(body).hexdigest()
        ref = "content:" + base64.b32encode(secrets.token_bytes(17)).decode("ascii").lower()
        cache[ref] = body, digest
        got.append(json.loads(cache[ref][0]))
    return _took(began, values, got)


def _store(values: Sequence[Any]) -> float:
    """The store by the messages that it is sent, with the writing and reading that its callers do."""
    dispatcher = ThreadDispatcher()
    dispatcher.own()
    store = ContentStore(dispatcher, _settings(_ENTRIES)).spawn()

    def ask(message: object) -> Any:
        future: Future[Any] = Future(dispatcher)
        store.ask(message, future)
        return future.get()

    got = []
    try:
        began = clock.now()
        for number, value in enumerate(values):
            content = serialize(value, _MAX_BYTES)
            record = CallRecord(f"c{number}", "assistant", "ask", 0, None, CallStatus.OK)
            stored: CallRecord = ask(StoreCall("s1", record, False, content))
            found: Resolved = ask(Resolve("s1", str(stored.content_ref)))
            got.append(value_in(found.content.body) if found.content is not None else None)
        return _took(began, values, got)
    finally:
        dispatcher.stop(5.0)


def _face(values: Sequence[Any]) -> float:
    """A recorded call and its content read back, each waited for."""
    got = []
    with Runtime(_settings(_ENTRIES)) as runtime:
        began = clock.now()
        for number, value in enumerate(values):
            record = runtime.record_call("s1", Call(f"c{number}"), Outcome.ok(value)).get()
            got.append(runtime.content("s1", str(record.content_ref)).get())
        return _took(began, values, got)


def _took(began: float, values: Sequence[Any], got: list[Any]) -> float:
    took_s = clock.now() - began
    if got != list(values):
        raise WrongAnswers("what came back is not what was put")
    return took_s / len(values)


def _settings(entries: int) -> Settings:
    return Settings(store_max_entries=entries, store_max_bytes=_MAX_BYTES, store_total_bytes=_MAX_BYTES)


def content_workload(size: Size, runs: int) -> list[Figure]:
    """The acceptance workload with content and call records, over the same without."""
    workload = make_workload(size.requests, size.sessions, size.parents)
    texts = {handoff.request_id: f"{handoff.request_id}: {_TEXT}" for handoff in workload.handoffs}

    def cost(*, content: bool, calls: bool) -> partial[float]:
        contestant = partial(_recording, texts) if calls else blocking
        return partial(seconds, contestant, workload, Settings(content_enabled=content))

    return compare(
        [
            Comparison(
                title="the workload with content / without, a recorded call a request in both",
                over=cost(content=True, calls=True),
                under=cost(content=False, calls=True),
                names=("with", "without"),
                at_most=1.5,
                aim=1.25,
                note="one blocking caller; content_enabled",
            ),
            Comparison(
                title="the workload with content and recorded calls / with neither",
                over=cost(content=True, calls=True),
                under=cost(content=False, calls=False),
                names=("with", "without"),
                at_most=1.5,
                aim=1.25,
                note="one blocking caller; content_enabled",
            ),
        ],
        runs,
    )


def _recording(texts: dict[str, str], workload: Workload, settings: Settings) -> tuple[float, Answers]:
    """`blocking`, with a call that is recorded for each request once it is active."""
    return blocking(workload, settings, when_active=partial(_record, texts))


def _record(texts: dict[str, str], runtime: Runtime, workload: Workload) -> None:
    for handoff in workload.handoffs:
        call = Call(handoff.request_id, method="translate")
        runtime.record_call(handoff.session_id, call, Outcome.ok(texts[handoff.request_id])).get()


def store_entries(size: Size, runs: int) -> list[Figure]:
    """The entries of the store alone, over a cache that is given the same payloads."""
    payload = text_payload(_TEXT)
    count, many, few = size.calls, size.entries, min(1000, size.entries)
    small, large = _Filled(few, payload), _Filled(many, payload)

    def filling(put: Callable[[_Filled], object]) -> float:
        return _mean(partial(put, _Filled(2 * count, payload, filled=False)), count)

    def reading(filled: _Filled, *, bare: bool = False) -> float:
        filled.choose()
        return _mean(filled.get_bare if bare else filled.get, count)

    sides, sizes = ("entries", "bare cache"), (f"{many} entries", f"{few} entries")
    return compare(
        [
            Comparison(
                title="put of an entry / in a bare cache, none full",
                over=partial(filling, _Filled.put),
                under=partial(filling, _Filled.put_bare),
                names=sides,
            ),
            Comparison(
                title="put of an entry with an eviction / in a bare cache",
                over=partial(_mean, small.put, count),
                under=partial(_mean, small.put_bare, count),
                names=sides,
            ),
            Comparison(
                title="get of an entry / in a bare cache",
                over=partial(reading, small),
                under=partial(reading, small, bare=True),
                names=sides,
            ),
            Comparison(
                title=f"put of an entry with an eviction, {many} entries / {few}",
                over=partial(_mean, large.put, count),
                under=partial(_mean, small.put, count),
                names=sizes,
            ),
            Comparison(
                title=f"get of an entry, {many} entries / {few}",
                over=partial(reading, large),
                under=partial(reading, small),
                names=sizes,
            ),
        ],
        runs,
    )


def _mean(operation: Callable[[], object], count: int) -> float:
    began = clock.now()
    for _ in range(count):
        operation()
    return (clock.now() - began) / count


def _nothing(*_told: object) -> None:
    """What the entries tell has no cost here."""


class _Filled:
    """The entries of one session, `count` of them, and a bare cache as large."""

    def __init__(self, count: int, payload: Payload, *, filled: bool = True) -> None:
        retention = Retention.of(_settings(count))
        self._entries = Entries(retention, _nothing, _nothing, _nothing, _nothing)
        self._session = SessionEntries("s1")
        self._payload = payload
        self._bare: LRUCache[int, Payload] = LRUCache(count)
        self._numbers = itertools.count()
        for _ in range(count if filled else 0):
            self.put()
            self.put_bare()

    def put(self) -> None:
        """With an eviction, where the limit is reached."""
        entry = Entry(self._session, "c1", self._payload, self._payload.bytes, EvictionClass.TOP)
        self._entries.put(entry, 0, 0)

    def put_bare(self) -> None:
        self._bare[next(self._numbers)] = self._payload

    def choose(self) -> None:
        """Choose what `get` and `get_bare` read: a put may have ended what was chosen before."""
        self._one = next(iter(self._session))
        self._key = next(iter(self._bare))

    def get(self) -> None:
        self._entries.use(self._one)

    def get_bare(self) -> None:
        self._bare[self._key]
