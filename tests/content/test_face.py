"""The content part of the face: what it refuses at once and by name, what it answers, and that it gives copies (P)."""

from __future__ import annotations

import asyncio
import copy
import functools
import hashlib
import pickle
from collections.abc import Callable, Iterator
from typing import Any

import attrs
import pytest

from dragoman import (
    Call,
    CallRecord,
    ContentRefNotFound,
    DragomanError,
    Handoff,
    InvalidArgument,
    Outcome,
    Parent,
    ReferReply,
    Runtime,
    SimulatedDispatcher,
)
from dragoman.protocol.follow_ups import Intent, Trace

from .stage import simulated

PLAN: dict[str, Any] = {"steps": ["mix", "knead"], "minutes": 40, "glutenfrei": True, "note": None}
PLAN_JSON = b'{"steps":["mix","knead"],"minutes":40,"glutenfrei":true,"note":null}'

Use = Callable[[Runtime], Any]


@pytest.fixture
def runtime() -> Iterator[Runtime]:
    with simulated(maintainers=["mira", "tomas"]) as made:
        yield made
    assert made.close().clean
    assert made.close().counts.failed == 0


def record(runtime: Runtime, name: str = "c1", value: Any = "a result", **changes: Any) -> CallRecord:
    return runtime.record_call("s1", Call(name, **changes), Outcome.ok(value)).get()


def commit(runtime: Runtime, request: str, text: str) -> None:
    runtime.register(Handoff(request, "s1", "openai", "select-element", (Parent("p1", 0, "source"),))).get()
    assert runtime.acknowledge(request, "p1", text).get().status == "ACCEPTED"


def advance(runtime: Runtime, seconds: float) -> None:
    assert isinstance(runtime.dispatcher, SimulatedDispatcher)
    runtime.dispatcher.advance(round(seconds * 1e6))


CALL = Call("c1")
OK = Outcome.ok(1)
LONG = "x" * 1001

Refusal = tuple[str, Use]


def refusals(field: str, use: Callable[[Runtime, Any], Any], *values: Any) -> list[Refusal]:
    """`field` with each of the values in it."""
    return [(field, functools.partial(_with, use, value)) for value in values]


def _with(use: Callable[[Runtime, Any], Any], value: Any, runtime: Runtime) -> Any:
    return use(runtime, value)


def recording(runtime: Runtime, **changes: Any) -> Any:
    return runtime.record_call("s1", Call(**{"id": "c1"} | changes), OK)


ACTS = ("approve", "acknowledge_proposal", "refuse", "apply")

REFUSED: list[Refusal] = [
    *refusals("session_id", lambda runtime, session: runtime.record_call(session, CALL, OK), None, 5, LONG),
    *refusals("call", lambda runtime, call: runtime.record_call("s1", call, OK), "c1", {"id": "c1"}, None),
    *refusals("outcome", lambda runtime, outcome: runtime.record_call("s1", CALL, outcome), 42, None, "ok"),
    *refusals("call.id", lambda runtime, name: recording(runtime, id=name), None, 5, b"c1", LONG),
    *refusals("call.role", lambda runtime, role: recording(runtime, role=role), None, LONG),
    *refusals("call.method", lambda runtime, method: recording(runtime, method=method), 5, LONG),
    *refusals("call.depth", lambda runtime, depth: recording(runtime, depth=depth), -1, True, 1.0, "1", None),
    *refusals("call.parent", lambda runtime, parent: recording(runtime, parent=parent), 5, CALL, LONG),
    *refusals("call.keep", lambda runtime, keep: recording(runtime, keep=keep), 1, None, "yes"),
    *refusals("type", lambda _runtime, name: Outcome.error(name, "it failed"), None, ValueError),
    *refusals("message", lambda _runtime, message: Outcome.error("ValueError", message), None, b"it failed"),
    *refusals("session_id", lambda runtime, session: runtime.recorded(session), None, b"s1", LONG),
    *refusals("role", lambda runtime, role: runtime.recorded("s1", role=role), None, 5, LONG),
    *refusals("method", lambda runtime, method: runtime.recorded("s1", method=method), 5, LONG),
    *refusals("id", lambda runtime, name: runtime.recorded("s1", id=name), 5, LONG),
    *refusals("keep", lambda runtime, keep: runtime.recorded("s1", keep=keep), "yes", None, 1),
    *refusals("session_id", lambda runtime, session: runtime.refer(session, "c1", "c2"), None, 1),
    *refusals("parent_id", lambda runtime, parent: runtime.refer("s1", parent, "c2"), None, CALL),
    *refusals("child_id", lambda runtime, child: runtime.refer("s1", "c1", child), None, ["c2"]),
    *refusals("session_id", lambda runtime, session: runtime.calls(session), None, 5),
    *refusals("session_id", lambda runtime, session: runtime.content(session, "c1"), None, 5),
    *refusals("ref", lambda runtime, ref: runtime.content("s1", ref), 5, b"c1", CALL),
    *refusals("session_id", lambda runtime, session: runtime.follow_up(session, "again"), None, 5),
    *refusals("say", lambda runtime, say: runtime.follow_up("s1", say), None, 5, "x" * 1_000_001),
    *refusals("max_bytes", lambda runtime, most: runtime.follow_up("s1", "again", most), -1, 1.5, "1", True),
    *refusals("session_id", lambda runtime, session: runtime.content_prompt(session), None, 5),
    *refusals("max_chars", lambda runtime, most: runtime.content_prompt("s1", max_chars=most), -1, None, "9", True),
    *refusals(
        "conversation_chars",
        lambda runtime, chars: runtime.content_prompt("s1", conversation_chars=chars),
        *(-1, 0.5, "9", False),
    ),
    *refusals("instructions", lambda runtime, said: runtime.content_prompt("s1", instructions=said), None, "yes"),
    *refusals("session_id", lambda runtime, session: runtime.content_tool(session), None, 5),
    *refusals("max_bytes", lambda runtime, most: runtime.content_tool("s1", max_bytes=most), -1, "9", True),
    *refusals("session_id", lambda runtime, session: runtime.current_call(session), 5),
    *refusals("id", lambda runtime, name: runtime.proposal(name), None, 5),
    *refusals("budget_bytes", lambda runtime, budget: runtime.continuity_report(budget_bytes=budget), -1, 1.5, "1"),
    *refusals("id", lambda runtime, act: getattr(runtime, act)(5, "mira"), *ACTS),
    *refusals("by", lambda runtime, act: getattr(runtime, act)("q1", None), *ACTS),
    *refusals("by", lambda runtime, by: runtime.authority(by), None, 5),
]


@pytest.mark.parametrize(("field", "use"), REFUSED)
def test_a_wrong_argument_is_refused_at_once_and_by_its_name(runtime: Runtime, field: str, use: Use) -> None:
    with pytest.raises(InvalidArgument) as refused:
        use(runtime)
    assert refused.value.field == field
    left = runtime.snapshot()
    assert (left.sessions, dict(left.store.sessions), left.store.counters.skips) == ((), {}, 0)


CLOSED: list[Use] = [
    lambda runtime: runtime.record_call("s1", CALL, OK),
    lambda runtime: runtime.refer("s1", "c1", "c2"),
    lambda runtime: runtime.calls("s1"),
    lambda runtime: runtime.content("s1", "c1"),
    lambda runtime: runtime.content_tool("s1").run({"ref": "c1"}),
    lambda runtime: runtime.follow_up("s1", "again"),
    lambda runtime: runtime.content_prompt("s1"),
    lambda runtime: runtime.continuity_report(),
    lambda runtime: runtime.propose("q1", "mira", {"store_max_entries": 1}, "evidence", "rollback"),
    lambda runtime: runtime.propose("q1", "mira", {}, "", ""),
    lambda runtime: runtime.approve("q1", "mira"),
    lambda runtime: runtime.acknowledge_proposal("q1", "mira"),
    lambda runtime: runtime.refuse("q1", "mira"),
    lambda runtime: runtime.apply("q1", "mira"),
    lambda runtime: runtime.authority("mira"),
    lambda runtime: runtime.proposals(),
    lambda runtime: runtime.proposal("q1"),
    lambda runtime: runtime.retention_audit(),
]


@pytest.mark.parametrize("use", CLOSED)
def test_a_closed_runtime_answers_nothing_about_content(runtime: Runtime, use: Use) -> None:
    runtime.close()
    with pytest.raises(DragomanError, match="this runtime is closed"):
        use(runtime)


def test_a_record_tells_everything_but_the_value(runtime: Runtime) -> None:
    advance(runtime, 2.5)
    told = record(runtime, "c1", PLAN, role="cook", method="plan", parent="p")
    assert told.content_ref is not None
    assert told.content_ref.startswith("content:")
    assert len(told.content_ref) >= len("content:") + 26
    assert attrs.asdict(told) == {
        "id": "c1",
        "role": "cook",
        "method": "plan",
        "depth": 0,
        "parent": "p",
        "status": "ok",
        "reason": None,
        "content_ref": told.content_ref,
        "content_kind": "object",
        "content_bytes": len(PLAN_JSON),
        "content_digest": hashlib.sha256(PLAN_JSON).hexdigest(),
        "content_mode": "json",
        "time_s": 2.5,
    }
    assert runtime.calls("s1").get() == (told,)


def test_a_record_of_what_was_not_stored_says_why(runtime: Runtime) -> None:
    told = record(runtime, "c1", PLAN, depth=2, parent="c0")
    assert told == CallRecord("c1", "assistant", "ask", 2, "c0", told.status, reason=told.reason)
    assert (told.status, told.reason, told.stored) == ("ok", "nested_capture_disabled", False)


def test_a_taken_id_or_no_room_for_a_session_changes_nothing_and_says_so(runtime: Runtime) -> None:
    first = record(runtime, "c1", "first")
    again = runtime.record_call("s1", Call("c1", role="other"), Outcome.ok("second")).get()
    assert (again.reason, again.stored) == ("duplicate_call", False)
    assert runtime.calls("s1").get() == (first,)
    assert runtime.content("s1", "c1").get() == "first"
    with simulated(max_sessions=0) as full:
        assert (record(full).reason, full.calls("s1").get()) == ("OVERLOADED", ())


def test_content_is_found_by_its_ref_by_the_id_of_its_call_and_by_its_turn(runtime: Runtime) -> None:
    told = record(runtime, "c1", PLAN)
    commit(runtime, "r1", "Übersetzung")
    (turn,) = runtime.history("s1").get()
    assert runtime.content("s1", told.content_ref or "").get() == PLAN
    assert runtime.content("s1", "c1").get() == PLAN
    assert runtime.content("s1", "r1/p1").get() == "Übersetzung"
    assert runtime.content("s1", turn.content_ref or "").get() == "Übersetzung"


def test_each_get_gives_a_fresh_copy(runtime: Runtime) -> None:
    record(runtime, "c1", PLAN)
    found = runtime.content("s1", "c1")
    first = found.get()
    first["steps"].append("bake")
    first["minutes"] = 0
    assert found.get() == PLAN
    assert runtime.content("s1", "c1").get() == PLAN
    assert runtime.snapshot().store.counters.hits == 2


def test_what_the_caller_changes_later_changes_nothing_that_was_recorded(runtime: Runtime) -> None:
    mine = copy.deepcopy(PLAN)
    recording = runtime.record_call("s1", Call("c1"), Outcome.ok(mine))
    mine["steps"].clear()
    mine["extra"] = 1
    assert recording.get().content_bytes == len(PLAN_JSON)
    assert runtime.content("s1", "c1").get() == PLAN


def test_content_can_be_awaited_and_each_await_gives_a_fresh_copy(runtime: Runtime) -> None:
    async def read() -> None:
        await runtime.record_call("s1", Call("c1"), Outcome.ok(PLAN))
        found = runtime.content("s1", "c1")
        (await found)["steps"].clear()
        assert await found == PLAN
        with pytest.raises(ContentRefNotFound):
            await runtime.content("s1", "c2")

    asyncio.run(read())


@pytest.mark.parametrize("value", [None, "", 0, False, [], {}], ids=repr)
def test_null_and_empty_are_values_and_no_miss(runtime: Runtime, value: Any) -> None:
    record(runtime, "c1", value)
    found = runtime.content("s1", "c1").get()
    assert (type(found), found) == (type(value), value)


def missing(runtime: Runtime, name: str, session: str = "s1") -> str:
    with pytest.raises(ContentRefNotFound) as miss:
        runtime.content(session, name).get()
    return miss.value.reason


def test_a_miss_says_why() -> None:
    with simulated(store_max_entries=2, store_ttl=10, max_call_records=10) as runtime:
        first = record(runtime, "c1").content_ref or ""
        record(runtime, "c2")
        record(runtime, "c3")
        assert (missing(runtime, "c1"), missing(runtime, first)) == ("evicted", "evicted")
        advance(runtime, 11)
        assert missing(runtime, "c3") == "expired"
        record(runtime, "c4", depth=1)
        assert missing(runtime, "c4") == "not_stored"
        assert {missing(runtime, name) for name in ("c9", "", "content:", "r1/p1", "content:" + "a" * 32)} == {
            "unknown"
        }
        assert dict(runtime.snapshot().store.counters.misses_by_reason) == {
            "evicted": 2,
            "expired": 1,
            "not_stored": 1,
            "unknown": 5,
        }


def test_content_of_another_session_looks_like_what_never_was(runtime: Runtime) -> None:
    ref = record(runtime, "c1").content_ref or ""
    commit(runtime, "r1", "Übersetzung")
    turn_ref = runtime.history("s1").get()[0].content_ref or ""
    runtime.record_call("s2", Call("c2"), Outcome.ok(1)).get()
    names = (ref, "c1", turn_ref, "r1/p1")
    assert {missing(runtime, name, session) for name in names for session in ("s2", "s3")} == {"unknown"}
    runtime.clear_session("s1").get()
    assert {missing(runtime, name) for name in names} == {"unknown"}


def test_a_miss_can_be_caught_as_a_lookup_error_and_sent_elsewhere(runtime: Runtime) -> None:
    with pytest.raises(LookupError, match=r"content_ref_not_found: unknown;"):
        runtime.content("s1", "c1").get()
    for reason in ("evicted", "expired", "unknown", "not_stored"):
        error = ContentRefNotFound(reason)
        for twin in (pickle.loads(pickle.dumps(error)), copy.copy(error), copy.deepcopy(error)):
            assert (type(twin), twin.reason, str(twin)) == (ContentRefNotFound, reason, str(error))


def test_the_ref_of_what_was_not_stored_is_a_miss_that_says_so(runtime: Runtime) -> None:
    ref = runtime.record_call("s1", Call("c1", depth=1), Outcome.ok(1)).get().content_ref
    with pytest.raises(ContentRefNotFound) as miss:
        runtime.content("s1", ref=ref).get()
    assert (ref, miss.value.reason) == (None, "not_stored")
    assert runtime.snapshot().store.counters.misses_by_reason == {"not_stored": 1}


def test_a_reference_tells_what_was_stored(runtime: Runtime) -> None:
    record(runtime, "child", PLAN, depth=1, parent="top")
    record(runtime, "top")
    reply = runtime.refer("s1", "top", "child").get()
    told = {call.id: call for call in runtime.calls("s1").get()}["child"]
    assert reply == ReferReply(told.content_ref, told.content_kind, told.content_bytes, told.content_mode)
    assert (reply.stored, reply.content_kind, reply.content_bytes) == (True, "object", len(PLAN_JSON))
    assert runtime.content("s1", "child").get() == PLAN
    assert runtime.refer("s1", "top", "child").get() == reply
    assert runtime.refer("s1", "top", "nobody").get() == ReferReply(reason="content_released")  # type: ignore[arg-type]


def test_a_follow_up_tells_which_call_it_chose_and_why(runtime: Runtime) -> None:
    record(runtime, "c1", "first")
    record(runtime, "c2", PLAN, role="cook", method="plan")
    record(runtime, "c3", "third")
    reply = runtime.follow_up("s1", "Shorten the previous cook answer").get()
    assert (reply.call, reply.decision, reply.miss, reply.reason) == ("c2", "FULL_FETCH", None, None)
    assert (reply.kind, reply.bytes) == ("object", len(PLAN_JSON))
    assert reply.trace == Trace(Intent.RELATIVE, ("cook",), (), None, 1, "c2")
    reply.value["steps"].clear()
    assert (reply.value, reply.guidance) == (PLAN, None)


@pytest.mark.parametrize(("most", "decision"), [(len(PLAN_JSON), "FULL_FETCH"), (len(PLAN_JSON) - 1, "SUMMARY_ONLY")])
def test_a_follow_up_fetches_what_is_small_enough(runtime: Runtime, most: int, decision: str) -> None:
    record(runtime, "c1", PLAN)
    reply = runtime.follow_up("s1", "again", most).get()
    assert (reply.call, reply.decision, reply.value) == ("c1", decision, PLAN if decision == "FULL_FETCH" else None)
    assert (reply.kind, reply.bytes) == ("object", len(PLAN_JSON))


def test_a_follow_up_that_misses_says_what_to_say(runtime: Runtime) -> None:
    assert runtime.follow_up("s1", "again").get().reason == "no_prior_content"
    record(runtime, "c1", depth=1)
    for say, miss, reason in (
        ("Good morning", "low_utility", "no_follow_up_intent"),
        ("Show c1", "content_ref_not_found", "not_stored"),
        ("Show content:abc", "content_ref_not_found", "unknown"),
    ):
        reply = runtime.follow_up("s1", say).get()
        assert (reply.call, reply.decision, reply.value, reply.miss, reply.reason) == (None, None, None, miss, reason)
        assert reply.guidance


class Sly(str):
    """A text that shows, compares and hashes as another one."""

    __slots__ = ()

    def __str__(self) -> str:
        return "something else"

    def __eq__(self, _other: object) -> bool:
        return False

    def __hash__(self) -> int:
        return 1


def test_a_text_of_a_subclass_is_taken_for_what_it_is(runtime: Runtime) -> None:
    call = Call(Sly("c1"), Sly("cook"), Sly("plan"), 0, Sly("p"))
    told = runtime.record_call(Sly("s1"), call, Outcome.ok(Sly("a result"))).get()
    assert (told.id, told.role, told.method, told.parent) == ("c1", "cook", "plan", "p")
    assert {type(text) for text in (told.id, told.role, told.method, told.parent)} == {str}
    found = runtime.content(Sly("s1"), Sly("c1")).get()
    assert (type(found), found) == (str, "a result")
    assert runtime.follow_up(Sly("s1"), Sly("again")).get().call == "c1"
    assert runtime.calls(Sly("s1")).get() == (told,)


def test_looking_for_content_of_a_session_that_never_was_makes_none(runtime: Runtime) -> None:
    assert (runtime.calls("s9").get(), runtime.content_prompt("s9").get().text) == ((), "")
    missing(runtime, "c1", "s9")
    runtime.follow_up("s9", "the last answer").get()
    runtime.refer("s9", "c1", "c2").get()
    left = runtime.snapshot()
    assert (left.sessions, dict(left.store.sessions)) == ((), {})


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value))])
def test_what_is_answered_about_content_can_be_sent_elsewhere(runtime: Runtime, copied: Callable[[Any], Any]) -> None:
    told = record(runtime, "c1", PLAN)
    runtime.propose("q1", "scout", {"store_max_entries": 1}, "evidence", "rollback").get()
    answers = [
        *(told, runtime.follow_up("s1", "again").get(), runtime.follow_up("s1", "hello").get()),
        *(runtime.content_prompt("s1").get(), runtime.continuity_report().get(), runtime.refer("s1", "a", "b").get()),
        *(runtime.proposals().get(), runtime.snapshot().store, Outcome.ok("a"), runtime.approve("q1", "mira").get()),
    ]
    for value in answers:
        twin = copied(value)
        assert (type(twin), twin) == (type(value), value)
