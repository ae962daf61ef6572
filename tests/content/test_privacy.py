"""No payload, no word of what was said and no evidence in a log line, an error, a `repr` or a message (C14, P phase 3).

And what the log does tell: of each write, skip, hit, miss and end of content what is known of it beside its value.
"""

from __future__ import annotations

import contextlib
import functools
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from loguru import logger

from dragoman import ActorFailed, Call, Handoff, Outcome, Parent, Runtime, Settings, SimulatedDispatcher
from dragoman.actors.content_store import ContentStore
from dragoman.actors.sessions import SessionManager
from dragoman.protocol.content_messages import FollowUp, RecordCall, Resolve, StoreCall, StoreTurns
from dragoman.scenarios.logs import LogWatch

SECRETS = {
    "value": "Bernina Zephyr",
    "key": "Quagga Fjordland",
    "error": "Yttrium Basalt",
    "say": "Okapi Xanadu",
    "evidence": "Wombat Juniper",
    "rollback": "Kestrel Umbra",
    "turn": "Plover Vortex",
    "source": "Gnu Isthmus",
}
WORDS = {word for secret in SECRETS.values() for word in secret.split()}


class Seen:
    """All that a runtime shows while it is open: log lines from TRACE on, and each message and state change."""

    def __init__(self, **settings: Any) -> None:
        self.records: list[dict[str, Any]] = []
        self.shown: list[str] = []
        self.runtime = Runtime(
            Settings(maintainers=["mira", "tomas"], **settings), dispatcher=SimulatedDispatcher(seed=5)
        )
        self.runtime.dispatcher.observer = lambda *what: self.shown.append(repr(what))

    def __enter__(self) -> Seen:
        logger.enable("dragoman")
        self._sink = logger.add(self._take, level="TRACE", filter="dragoman", format="{message}", catch=False)
        return self

    def __exit__(self, *_error: object) -> None:
        self.runtime.close()
        logger.remove(self._sink)
        logger.disable("dragoman")

    def _take(self, message: Any) -> None:
        self.records.append({"message": message.record["message"], **message.record["extra"]})
        self.shown.append(str(message) + repr(message.record["extra"]) + repr(message.record["exception"]))

    def lines(self, words: str) -> list[dict[str, Any]]:
        return [record for record in self.records if words in record["message"]]

    def leaks(self) -> list[str]:
        return [line for line in self.shown if any(word in line for word in WORDS)]


@pytest.fixture
def seen() -> Iterator[Seen]:
    with Seen(store_max_entries=3, capture_errors=True) as made:
        yield made


def record(seen: Seen, name: str, value: Any = "a result", **changes: Any) -> Any:
    return seen.runtime.record_call("s1", Call(name, **changes), Outcome.ok(value)).get()


def raised(use: Callable[[], Any]) -> BaseException:
    with pytest.raises(Exception) as error:  # noqa: PT011  # whichever it is
        use()
    return error.value


def whole(error: BaseException | None) -> list[str]:
    """An error, and what led to it."""
    return [] if error is None else [repr(error), str(error), *whole(error.__cause__ or error.__context__)]


class Telling(Exception):
    """An exception whose text is what nobody may see."""

    def __init__(self) -> None:
        super().__init__(*SECRETS.values())


def test_a_session_full_of_secrets_shows_none(seen: Seen) -> None:
    runtime, value = seen.runtime, {SECRETS["key"]: [SECRETS["value"]]}
    seen.shown += map(repr, (Outcome.ok(value), Outcome.ok(SECRETS["value"]), Outcome.error("E", SECRETS["error"])))
    told: list[Any] = [record(seen, "c1", value), record(seen, "c1", value), record(seen, "c2", value, depth=1)]
    told += [runtime.refer("s1", "c1", "c2").get(), record(seen, "c3", SECRETS["value"] * 200_000)]
    with contextlib.suppress(Telling), runtime.recorded("s1", id="c4") as block:
        seen.shown.append(repr(block))
        block.result = value
        raise Telling
    decorated = runtime.recorded("s1")(lambda: value)
    assert decorated() is value
    runtime.register(Handoff("r1", "s1", "openai", "select-element", (Parent("p1", 0, SECRETS["source"]),))).get()
    told.append(runtime.acknowledge("r1", "p1", SECRETS["turn"]).get())
    told += [*runtime.history("s1").get(), *runtime.calls("s1").get()]
    for say in (f"{SECRETS['say']} again", f"the tenth {SECRETS['say']}", SECRETS["say"], f"show c3 {SECRETS['say']}"):
        told.append(runtime.follow_up("s1", say).get())
    told += [runtime.content_prompt("s1").get(), runtime.continuity_report().get(), runtime.snapshot()]
    change = {"store_max_entries": 1}
    told.append(runtime.propose("q1", "scout", change, SECRETS["evidence"], SECRETS["rollback"]).get())
    told.append(runtime.propose("q2", "scout", {"store_ttl": SECRETS["value"]}, SECRETS["evidence"], "back").get())
    told += [runtime.approve("q1", "mira").get(), runtime.acknowledge_proposal("q1", "tomas").get()]
    told += [runtime.apply("q1", "mira").get(), *runtime.retention_audit().get(), runtime.proposals().get()]
    found = runtime.content("s1", decorated.__name__)
    told += [found, runtime.content_tool("s1"), runtime, *map(runtime.content, ["s1"] * 2, ["c1", "r1/p1"])]
    seen.shown += [*map(repr, told), *map(str, told)]
    for name in ("c1", "c3", "nobody"):
        seen.shown += whole(raised(runtime.content("s1", name).get))
    assert seen.leaks() == []
    assert len(seen.records) > 10
    assert any("RecordCall" in line for line in seen.shown)


@pytest.mark.parametrize(
    "use",
    [
        lambda runtime, secret: runtime.record_call("s1", secret, Outcome.ok(1)),
        lambda runtime, secret: runtime.record_call("s1", Call("c1"), secret),
        lambda runtime, secret: runtime.record_call("s1", Call("c1", depth=secret), Outcome.ok(1)),
        lambda runtime, secret: runtime.follow_up("s1", [secret]),
        lambda runtime, secret: runtime.follow_up("s1", "again", secret),
        lambda runtime, secret: runtime.content("s1", [secret]),
        lambda runtime, secret: runtime.content_prompt("s1", max_chars=secret),
        lambda runtime, secret: runtime.content_prompt("s1", conversation_chars=secret),
        lambda _runtime, secret: Outcome.error(secret, [secret]),  # type: ignore[arg-type]
        lambda runtime, secret: runtime.recorded("s1")(secret),
    ],
)
def test_a_refusal_does_not_show_what_it_refuses(seen: Seen, use: Callable[[Runtime, str], Any]) -> None:
    seen.shown += whole(raised(lambda: use(seen.runtime, SECRETS["value"])))
    assert seen.leaks() == []


@pytest.mark.parametrize("message", [RecordCall, StoreCall, StoreTurns, Resolve, FollowUp])
def test_a_fault_inside_shows_only_its_type_and_its_place(
    seen: Seen, message: type, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_arguments: object) -> None:
        raise Telling

    runtime = seen.runtime
    actor = next(kind for kind in (ContentStore, SessionManager) if message in kind.handlers)
    record(seen, "c0", SECRETS["value"])
    monkeypatch.setitem(actor.handlers, message, fail)
    runtime.register(Handoff("r1", "s1", "openai", "select-element", (Parent("p1", 0, SECRETS["source"]),))).get()
    runtime.acknowledge("r1", "p1", SECRETS["turn"]).get()
    asked: tuple[Callable[[], object], ...] = (
        lambda: record(seen, "c1", SECRETS["value"]),
        lambda: runtime.content("s1", "c0").get(),
        lambda: runtime.follow_up("s1", f"again {SECRETS['say']}").get(),
    )
    failed = 0
    for ask in asked:
        try:
            ask()
        except ActorFailed as error:
            failed += 1
            seen.shown += whole(error)
    runtime.snapshot()
    assert failed == {RecordCall: 1, StoreCall: 1, StoreTurns: 0, Resolve: 2, FollowUp: 1}[message]
    assert seen.lines("Telling")
    assert seen.leaks() == []


def test_a_call_that_is_not_recorded_shows_nothing_of_it() -> None:
    runtime = Runtime(dispatcher=SimulatedDispatcher())
    runtime.close()
    with LogWatch() as watch, pytest.raises(Telling), runtime.recorded("s1", id="c1"):
        raise Telling
    assert len(watch.messages) == 1
    assert not watch.leaks(WORDS, ids=())


DIGEST = re.compile(r"[0-9a-f]{64}")


def test_a_write_is_logged_with_its_facts(seen: Seen) -> None:
    told = record(seen, "c1", {"a": 1})
    (line,) = seen.lines("content stored")
    assert (line["session"], line["name"], line["kind"], line["bytes"]) == ("s1", "c1", "object", 7)
    assert line["digest"] == told.content_digest
    assert DIGEST.fullmatch(line["digest"])
    assert line["ref"] == told.content_ref


def test_a_hit_is_logged_with_its_facts(seen: Seen) -> None:
    told = record(seen, "c1", {"a": 1})
    for read in (seen.runtime.content("s1", "c1"), seen.runtime.follow_up("s1", "again")):
        read.get()
    assert len(seen.lines("content hit")) == 2
    for line in seen.lines("content hit"):
        assert (line["session"], line["kind"], line["bytes"]) == ("s1", "object", 7)
        assert (line["ref"], line["digest"]) == (told.content_ref, told.content_digest)


def test_a_hit_of_a_turn_is_logged_with_its_facts(seen: Seen) -> None:
    runtime = seen.runtime
    runtime.register(Handoff("r1", "s1", "openai", "select-element", (Parent("p1", 0, "source"),))).get()
    runtime.acknowledge("r1", "p1", "Quelle").get()
    runtime.content("s1", "r1/p1").get()
    (line,) = seen.lines("content hit")
    assert (line["kind"], line["bytes"], line["ref"]) == ("string", 8, runtime.history("s1").get()[0].content_ref)
    assert DIGEST.fullmatch(line["digest"])


def test_a_skip_is_logged_with_its_reason_and_its_size(seen: Seen) -> None:
    record(seen, "c1", "four", depth=1)
    (line,) = seen.lines("content not_stored")
    assert (line["session"], line["name"], line["reason"], line["bytes"]) == (
        *("s1", "c1", "nested_capture_disabled", 6),
    )


def test_an_eviction_is_logged_with_its_ref_and_its_size(seen: Seen) -> None:
    first = record(seen, "c0", "four")
    for number in range(1, 4):
        record(seen, f"c{number}")
    (line,) = seen.lines("content gone")
    assert (line["session"], line["name"], line["reason"], line["bytes"]) == ("s1", "c0", "evicted", 6)
    assert line["ref"] == first.content_ref


def test_an_expiry_is_logged_apart_from_an_eviction() -> None:
    with Seen(store_ttl=10) as seen:
        record(seen, "c1")
        seen.runtime.dispatcher.advance(10_000_001)  # type: ignore[attr-defined]
        (line,) = seen.lines("content gone")
        assert line["reason"] == "expired"


def test_a_miss_is_logged_with_its_reason(seen: Seen) -> None:
    raised(seen.runtime.content("s1", "c1").get)
    (line,) = seen.lines("content miss")
    assert (line["session"], line["reason"]) == ("s1", "unknown")


def test_a_step_of_a_proposal_is_logged_with_who_did_it(seen: Seen) -> None:
    runtime = seen.runtime
    runtime.propose("q1", "scout", {"store_max_entries": 1}, "evidence", "rollback").get()
    for act in (functools.partial(runtime.approve, "q1", "mira"), functools.partial(runtime.apply, "q1", "mira")):
        act().get()
    assert [(line["proposal"], line["state"], line["by"]) for line in seen.lines("the proposal")] == [
        *(("q1", "proposed", "scout"), ("q1", "approved", "mira")),
    ]


def test_what_is_counted_is_logged(seen: Seen) -> None:
    runtime = seen.runtime
    for number in range(5):
        record(seen, f"c{number}")
    record(seen, "c4")
    record(seen, "nested", depth=1)
    for name in ("c0", "c4", "nobody"):
        runtime.content_tool("s1").run({"ref": name})
    for say in ("again", "show nested", "show c0", "good morning"):
        runtime.follow_up("s1", say).get()
    runtime.record_call("s1", Call("failed"), Outcome.error("E", "no")).get()
    runtime.follow_up("s1", "show failed").get()
    counters = runtime.snapshot().store.counters
    assert counters.skips == len(seen.lines("content not_stored")) == 2
    assert counters.writes == len(seen.lines("content stored"))
    assert counters.hits == len(seen.lines("content hit"))
    assert counters.misses == len(seen.lines("content miss")) == 5
    assert counters.evictions == len(seen.lines("content gone"))
