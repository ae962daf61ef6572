"""The face of a sharded runtime is that of a runtime: the same methods, refusals and answers."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pykka
import pytest

import dragoman.sharding.launching
from dragoman import (
    AppliedKey,
    Call,
    CallStatus,
    ContentRefNotFound,
    DragomanError,
    Handoff,
    InvalidArgument,
    MissingExtra,
    Outcome,
    Parent,
    ProviderPolicy,
    RegisterReply,
    Runtime,
    RuntimeClosed,
    ScriptedProvider,
    Settings,
    TextDocument,
    UnknownCall,
)
from dragoman.sharding import RayRuntime
from dragoman.sharding.routing import Router

from .in_threads import ThreadLauncher
from .pages import page, request_of

Open = Callable[..., RayRuntime]

BAD: list[tuple[str, Callable[[Any], object]]] = [
    ("register", lambda runtime: runtime.register("r1")),
    ("activate", lambda runtime: runtime.activate(7)),
    ("acknowledge", lambda runtime: runtime.acknowledge("r1", None, "x")),
    ("reject", lambda runtime: runtime.reject("r1", 3)),
    ("cancel", lambda runtime: runtime.cancel(None)),
    ("history", lambda runtime: runtime.history("s1", max_turns=-1)),
    ("messages", lambda runtime: runtime.messages("s1", user=3)),
    ("claim_turn", lambda runtime: runtime.claim_turn("s1", mode=None)),
    ("clear_session", lambda runtime: runtime.clear_session(b"s1")),
    ("configure", lambda runtime: runtime.configure(history_enabled=1)),
    ("fail_commits", lambda runtime: runtime.fail_commits("s1", -1)),
    ("record_call", lambda runtime: runtime.record_call("s1", "c1", Outcome.ok(1))),
    ("record_call", lambda runtime: runtime.record_call("s1", Call("c1", "ask"), "ok")),
    ("content", lambda runtime: runtime.content("s1", 3)),
    ("follow_up", lambda runtime: runtime.follow_up("s1", None)),
    ("content_prompt", lambda runtime: runtime.content_prompt("s1", max_growth="5")),
    ("continuity_report", lambda runtime: runtime.continuity_report(budget_bytes=-1)),
    ("translate", lambda runtime: runtime.translate("r1")),
    ("translate", lambda runtime: runtime.translate(request_of("r1", "s1"), provider=3)),
    ("translate", lambda runtime: runtime.translate(request_of("r1", "s1"), feature=3)),
    ("translate", lambda runtime: runtime.translate(request_of("r1", "s1"), progress=3)),
    ("direct", lambda runtime: runtime.direct("r1")),
    ("respond", lambda runtime: runtime.respond("r1/1")),
    ("fail", lambda runtime: runtime.fail("r1/1", "not a name")),
    ("fail", lambda runtime: runtime.fail("r1", "NETWORK_ERROR")),
    ("find_applied", lambda runtime: runtime.find_applied("key")),
    ("close", lambda runtime: runtime.close(timeout=-1)),
]


def refusal(call: Callable[[Any], object], runtime: Runtime) -> tuple[type, str]:
    with pytest.raises(InvalidArgument) as refused:
        call(runtime)
    return type(refused.value), str(refused.value)


@pytest.mark.parametrize("call", [call for _name, call in BAD], ids=[name for name, _call in BAD])
def test_a_bad_argument_is_refused_by_the_caller_as_in_a_runtime(
    call: Callable[[Any], object], open_runtime: Open, launcher: ThreadLauncher
) -> None:
    runtime = open_runtime(shards=1)
    runtime.history("s1").get(10)
    with Runtime() as plain:
        assert refusal(call, runtime) == refusal(call, plain)
    assert launcher.living(0).batches == [1]


def test_every_method_of_a_runtime_is_one_of_a_sharded_runtime() -> None:
    methods = {name for name in dir(Runtime) if not name.startswith("_")}
    for name in methods:
        ours, theirs = getattr(RayRuntime, name), getattr(Runtime, name)
        if callable(theirs):
            assert list(inspect.signature(ours).parameters) == list(inspect.signature(theirs).parameters)


KEY = AppliedKey(document="d", parent_id="p", digest="0", source_language="en", target_language="de", provider="openai")

ANSWERED: dict[str, Callable[[Any], object]] = {
    "activate": lambda runtime: runtime.activate("r1"),
    "acknowledge": lambda runtime: runtime.acknowledge("r1", "p1", "x"),
    "reject": lambda runtime: runtime.reject("r1", "p1"),
    "cancel": lambda runtime: runtime.cancel("r1"),
    "dispatch_failed": lambda runtime: runtime.dispatch_failed("r1"),
    "request_status": lambda runtime: runtime.request_status("r1"),
    "register": lambda runtime: runtime.register(Handoff("r2", "s1", "openai", "select-element", ())),
    "history": lambda runtime: runtime.history("s1"),
    "messages": lambda runtime: runtime.messages("s1", user="x"),
    "claim_turn": lambda runtime: runtime.claim_turn("s1"),
    "clear_session": lambda runtime: runtime.clear_session("s1"),
    "configure": lambda runtime: runtime.configure(history_enabled=True),
    "fail_commits": lambda runtime: runtime.fail_commits("s1"),
    "record_call": lambda runtime: runtime.record_call("s1", Call("c1", "tutor", "ask"), Outcome.ok({"a": [1]})),
    "refer": lambda runtime: runtime.refer("s1", "c1", "c2"),
    "calls": lambda runtime: runtime.calls("s2"),
    "content": lambda runtime: runtime.content("s1", "c9"),
    "content (not stored)": lambda runtime: runtime.content("s1", None),
    "follow_up": lambda runtime: runtime.follow_up("s2", "that one"),
    "content_prompt": lambda runtime: runtime.content_prompt("s2"),
    "continuity_report": lambda runtime: runtime.continuity_report(budget_bytes=5),
    "propose": lambda runtime: runtime.propose("x1", "ann", {"capture_nested": True}, "seen", "back"),
    "approve": lambda runtime: runtime.approve("x1", "ann"),
    "acknowledge_proposal": lambda runtime: runtime.acknowledge_proposal("x1", "bob"),
    "refuse": lambda runtime: runtime.refuse("x1", "eve"),
    "apply": lambda runtime: runtime.apply("x1", "bob"),
    "authority": lambda runtime: runtime.authority("ann"),
    "proposal": lambda runtime: runtime.proposal("x1"),
    "proposals": lambda runtime: runtime.proposals(),
    "respond": lambda runtime: runtime.respond("r1/1", translations={"p1": "x"}),
    "fail": lambda runtime: runtime.fail("r1/1", "NETWORK_ERROR"),
    "time_out": lambda runtime: runtime.time_out("r1"),
    "request_outcome": lambda runtime: runtime.request_outcome("r1"),
    "feature_history": lambda runtime: runtime.feature_history(),
    "find_applied": lambda runtime: runtime.find_applied(KEY),
}
"""A call to each method, in an order in which they say something; none has a random part in its answer."""

NOT_COMPARED = {
    *("current_call", "recorded", "content_tool", "retention_audit", "translate", "direct"),
    *("statistics", "read_statistics", "measure"),
}
"""Methods that answer no message, have times in their answers, or have tests of their own."""
OF_ITSELF = {"snapshot", "close", "aclose", "closed", "dispatcher", "shard_of"}


def test_every_method_is_compared() -> None:
    methods = {name for name in dir(RayRuntime) if not name.startswith("_")}
    assert methods == {name.partition(" ")[0] for name in ANSWERED} | NOT_COMPARED | OF_ITSELF


def said(call: Callable[[Any], Any], runtime: Runtime) -> object:
    try:
        answer = call(runtime).get(10)
    except DragomanError as error:
        return type(error), str(error)
    if getattr(answer, "content_ref", None) is not None:
        return type(answer), answer.status
    return answer


def test_every_method_answers_as_in_a_runtime(open_runtime: Open) -> None:
    settings = Settings(maintainers=("ann", "bob"))
    runtime = open_runtime(settings)
    with Runtime(settings) as plain:
        for name, call in ANSWERED.items():
            assert said(call, runtime) == said(call, plain), name


def test_a_closed_runtime_answers_nothing(open_runtime: Open) -> None:
    runtime = open_runtime()
    report = runtime.close()
    assert report.clean
    assert runtime.close() is report
    assert runtime.closed
    for name, call in ANSWERED.items():
        if name not in ("register", "authority"):
            with pytest.raises(RuntimeClosed):
                call(runtime)
    with pytest.raises(RuntimeClosed):
        runtime.snapshot()


def test_what_was_sent_before_the_end_is_handled(open_runtime: Open) -> None:
    runtime = open_runtime()
    answers = [runtime.register(page(f"r{number}", f"s{number}")) for number in range(30)]
    report = runtime.close()
    assert {answer.get(0).status for answer in answers} == {"REGISTERED"}
    assert (report.at_rest, report.handles_closed) == (True, 30)


def test_a_runtime_that_is_closed_before_its_shards_have_started_says_so(
    open_runtime: Open, launcher: ThreadLauncher
) -> None:
    launcher.let_go.clear()
    runtime = open_runtime()
    answer = runtime.register(page("r1", "s1"))
    assert not runtime.close(0.1).at_rest
    with pytest.raises(RuntimeClosed):
        answer.get(10)


def test_a_feature_is_refused_with_what_to_do(open_runtime: Open) -> None:
    runtime = open_runtime()
    with pytest.raises(InvalidArgument, match="acknowledge by hand") as refused:
        runtime.translate(request_of("r1", "s1"), feature=TextDocument({"p1": "p1"}))
    assert refused.value.field == "feature"


def test_a_provider_that_cannot_be_pickled_is_refused(open_runtime: Open) -> None:
    class Here(ScriptedProvider):
        """Of this function, which the pickle of the tests cannot name."""

    runtime = open_runtime()
    with pytest.raises(InvalidArgument, match="cannot be pickled") as refused:
        runtime.translate(request_of("r1", "s1"), provider=Here())
    assert refused.value.field == "provider"


class _Unmakeable(ScriptedProvider):
    def __setstate__(self, _state: object) -> None:
        raise OSError("a secret")


def test_a_provider_that_the_shard_cannot_make_is_refused_without_its_text(open_runtime: Open) -> None:
    runtime = open_runtime()
    with pytest.raises(InvalidArgument, match=r"provider: cannot be made .* OSError$"):
        runtime.translate(request_of("r1", "s1"), provider=_Unmakeable()).get(10)


@pytest.mark.parametrize(
    ("field", "arguments"),
    [
        ("shards", {"shards": 0}),
        ("shards", {"shards": True}),
        ("actor_options", {"actor_options": 3}),
        ("start_timeout", {"start_timeout": "soon"}),
        ("settings", {"settings": 3}),
        ("settings", {"settings": Settings(feature_history="applied.sqlite")}),
        ("providers", {"providers": {"deepl": "machine"}}),
    ],
)
def test_bad_arguments_of_the_runtime_itself_are_refused(
    field: str, arguments: dict[str, Any], launcher: ThreadLauncher
) -> None:
    with pytest.raises(InvalidArgument) as refused:
        RayRuntime(**arguments, launcher=launcher)
    assert refused.value.field == field
    assert not launcher.shards
    assert not Path("applied.sqlite").exists()


def test_without_ray_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dragoman.sharding.launching, "find_spec", lambda _name: None)
    with pytest.raises(MissingExtra) as missing:
        RayRuntime()
    assert missing.value.extra == "ray"


@pytest.mark.skipif(find_spec("ray") is None, reason="Ray is not installed: pip install 'dragoman[ray]'")
def test_without_a_cluster_the_caller_is_told_to_connect() -> None:
    import ray

    if ray.is_initialized():
        pytest.skip("the cluster of other tests is connected already")
    with pytest.raises(InvalidArgument, match=r"ray\.init"):
        RayRuntime()


def test_the_shards_know_the_policies_of_the_providers(open_runtime: Open) -> None:
    runtime = open_runtime(providers={"deepl": ProviderPolicy(kind="machine")})
    handoff = page("r1", "s1")
    machine = Handoff("r1", "s1", "deepl", "select-element", handoff.parents)
    assert runtime.register(machine).get(10) == RegisterReply("NOT_PARTICIPATING")  # type: ignore[arg-type]


def test_recorded_calls_keep_their_values(open_runtime: Open) -> None:
    runtime = open_runtime()
    with runtime.recorded("s1", role="tutor", method="ask") as call:
        call.result = {"answer": [1, None]}
    record = call.record.get(10)
    assert record.status is CallStatus.OK
    assert runtime.content("s1", record.content_ref).get(10) == {"answer": [1, None]}
    with pytest.raises(ContentRefNotFound):
        runtime.content("s2", record.content_ref).get(10)


def test_a_call_that_nobody_made_is_unknown(open_runtime: Open) -> None:
    with pytest.raises(UnknownCall):
        open_runtime().respond("r1/1", translations={"p1": "x"}).get(10)


def test_the_router_has_a_way_for_every_message_of_the_face(open_runtime: Open) -> None:
    class Stranger:
        """A message that no face sends."""

    router: Router = open_runtime()._router
    with pytest.raises(InvalidArgument, match="no way"):
        router.post("coordinator", Stranger(), None)


def test_statistics_are_the_sums_over_the_shards(open_runtime: Open) -> None:
    runtime = open_runtime(shards=3)
    runtime.measure()
    for number in range(12):
        parents = (Parent("p1", 0, "x"), Parent("p2", 1, "y"))
        runtime.register(Handoff(f"r{number}", f"s{number}", "openai", "select-element", parents)).get(10)
        runtime.acknowledge(f"r{number}", "p1", "x").get(10)
        if number % 2:
            runtime.reject(f"r{number}", "p2").get(10)
    runtime.register(Handoff("bad", "s1", "openai", "select-element", ())).get(10)
    runtime.acknowledge("r1", "p1", "late").get(10)
    told = runtime.read_statistics(10)
    assert (told.acceptance.registered, told.acceptance.open_handles) == (12, 6)
    assert dict(told.acceptance.closed) == {"COMPLETED": 6}
    assert dict(told.acceptance.stale_acks) == {"COMPLETED": 1}
    assert told.acceptance.refused["INVALID_HANDOFF"] == 1
    assert (told.sessions.live, told.sessions.turns_committed) == (12, 12)
    assert told.sessions.limit == 3 * Settings().max_sessions
    assert told.messages.sent == told.messages.handled + told.messages.dead + told.messages.queued
    assert told.store.counters.writes == 12


def test_a_closed_runtime_leaves_nothing_in_the_registry_of_pykka(open_runtime: Open) -> None:
    runtime = open_runtime(shards=1)
    runtime.history("s1").get(10)
    runtime.close()
    assert [actor for actor in pykka.ActorRegistry.get_all() if not actor.is_alive()] == []
