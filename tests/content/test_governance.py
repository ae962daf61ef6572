"""Governance at the face: a retention change from its proposal to the audit, and back (P phase 3.4, ADR-025)."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import attrs
import pytest

from dragoman import (
    ActorFailed,
    AuditEntry,
    Authority,
    Call,
    ContentRefNotFound,
    Outcome,
    ProposalReply,
    Runtime,
    Settings,
    SimulatedDispatcher,
)
from dragoman.actors.content_store import ContentStore
from dragoman.protocol.governance_messages import ApplyRetention

from ..kernel.probes import PATIENCE_S, in_threads
from . import stage

GOOD: dict[str, Any] = {
    "id": "q1",
    "by": "scout",
    "change": {"store_max_entries": 2},
    "evidence": "memory is short",
    "rollback": "back to 128",
}
MAINTAINERS = ["mira", "tomas", "ines"]


simulated = functools.partial(stage.simulated, maintainers=MAINTAINERS)


@pytest.fixture
def runtime() -> Iterator[Runtime]:
    with simulated() as made:
        yield made
    assert made.close().clean
    assert made.close().counts.failed == 0


def propose(runtime: Runtime, **changes: Any) -> ProposalReply:
    return runtime.propose(**GOOD | changes).get(PATIENCE_S)


def enact(runtime: Runtime, name: str, change: dict[str, Any]) -> None:
    """A change on its whole way."""
    steps = [
        runtime.propose(name, "scout", change, "evidence", "rollback"),
        runtime.approve(name, "mira"),
        runtime.acknowledge_proposal(name, "tomas"),
        runtime.apply(name, "ines"),
    ]
    assert [step.get(PATIENCE_S).status for step in steps] == ["PROPOSED", "APPROVED", "ACKNOWLEDGED", "APPLIED"]


def record(runtime: Runtime, *names: str, session: str = "s1", **changes: Any) -> None:
    for name in names:
        runtime.record_call(session, Call(name, **changes), Outcome.ok(name)).get(PATIENCE_S)


def found(runtime: Runtime, name: str) -> Any:
    try:
        return runtime.content("s1", name).get(PATIENCE_S)
    except ContentRefNotFound as miss:
        return f"({miss.reason})"


def test_a_change_goes_from_its_proposal_through_two_maintainers_into_force(runtime: Runtime) -> None:
    record(runtime, "c1", "c2", "c3")
    assert propose(runtime) == ProposalReply("PROPOSED")  # type: ignore[arg-type]
    assert dict(runtime.proposals().get()) == {"q1": "proposed"}
    assert runtime.approve("q1", "mira").get().status == "APPROVED"
    assert runtime.acknowledge_proposal("q1", "tomas").get().status == "ACKNOWLEDGED"
    assert dict(runtime.proposals().get()) == {"q1": "approved"}
    assert (runtime.snapshot().store.retention.max_entries, runtime.retention_audit().get()) == (128, ())
    assert isinstance(runtime.dispatcher, SimulatedDispatcher)
    runtime.dispatcher.advance(1_500_000)
    assert runtime.apply("q1", "ines").get().status == "APPLIED"
    assert dict(runtime.proposals().get()) == {"q1": "applied"}
    assert [found(runtime, name) for name in ("c1", "c2", "c3")] == ["(evicted)", "c2", "c3"]
    assert runtime.continuity_report().get().retention.max_entries == 2
    assert runtime.retention_audit().get() == (
        AuditEntry(
            proposal_id="q1",
            by="ines",
            proposed_by="scout",
            approved_by="mira",
            acknowledged_by="tomas",
            evidence="memory is short",
            rollback="back to 128",
            time_s=1.5,
            before=(("store_max_entries", 128),),
            after=(("store_max_entries", 2),),
        ),
    )


def test_a_change_is_undone_by_a_new_proposal(runtime: Runtime) -> None:
    asked = {"store_max_entries": 2, "store_ttl": 60.0, "capture_nested": True}
    before = runtime.snapshot().store.retention
    record(runtime, "c1", "c2", "c3")
    enact(runtime, "q1", asked)
    (entry,) = runtime.retention_audit().get()
    assert entry.undoing() == {"store_max_entries": 128, "store_ttl": None, "capture_nested": False}
    enact(runtime, "q2", entry.undoing())
    assert runtime.snapshot().store.retention == before
    assert runtime.retention_audit().get()[1].undoing() == asked
    assert (found(runtime, "c1"), found(runtime, "c2")) == ("(evicted)", "c2")


CHANGES: list[tuple[str, Any, str, Any]] = [
    ("store_max_entries", 7, "max_entries", 7),
    ("store_max_bytes", 500, "max_bytes", 500),
    ("store_ttl", 2.5, "ttl_us", 2_500_000),
    ("store_total_bytes", 9000, "total_bytes", 9000),
    ("capture_nested", True, "capture_nested", True),
    ("capture_errors", True, "capture_errors", True),
]


@pytest.mark.parametrize(("setting", "value", "fact", "told"), CHANGES)
def test_each_setting_of_the_retention_can_be_changed(
    runtime: Runtime, setting: str, value: Any, fact: str, told: Any
) -> None:
    before = runtime.snapshot().store.retention
    enact(runtime, "q1", {setting: value})
    assert runtime.snapshot().store.retention == attrs.evolve(before, **{fact: told})


INVALID: list[tuple[dict[str, Any], str]] = [
    ({"id": ""}, "id"),
    ({"id": None}, "id"),
    ({"by": ""}, "by"),
    ({"by": 5}, "by"),
    ({"change": {}}, "change"),
    ({"change": None}, "change"),
    ({"change": ["store_max_entries"]}, "change"),
    ({"change": {"maintainers": ["scout"]}}, "maintainers"),
    ({"change": {"content_enabled": False}}, "content_enabled"),
    ({"change": {"store_max_entries": -1}}, "store_max_entries"),
    ({"change": {"store_max_entries": 2, "store_ttl": "60s"}}, "store_ttl"),
    ({"change": {"capture_nested": 1}}, "capture_nested"),
    ({"evidence": ""}, "evidence"),
    ({"evidence": None}, "evidence"),
    ({"rollback": ""}, "rollback"),
]


@pytest.mark.parametrize(("changes", "named"), INVALID, ids=repr)
def test_a_proposal_that_is_not_valid_is_no_proposal_and_says_why(
    runtime: Runtime, changes: dict[str, Any], named: str
) -> None:
    reply = propose(runtime, **changes)
    assert reply.status == "INVALID_PROPOSAL"
    assert named in (reply.reason or "")
    assert (dict(runtime.proposals().get()), runtime.approve("q1", "mira").get().status) == ({}, "UNKNOWN_PROPOSAL")


def test_a_change_that_cannot_be_read_is_no_proposal(runtime: Runtime) -> None:
    class Failing(dict[str, Any]):
        def keys(self) -> Any:
            raise RuntimeError

        __iter__ = keys

    assert propose(runtime, change=Failing(store_ttl=1)).status == "INVALID_PROPOSAL"


def test_a_taken_id_is_no_proposal_and_leaves_the_first_as_it_was(runtime: Runtime) -> None:
    propose(runtime)
    reply = propose(runtime, change={"store_max_entries": 1}, by="mira")
    assert (reply.status, reply.reason) == ("INVALID_PROPOSAL", "id is taken")
    for step in (runtime.approve("q1", "mira"), runtime.acknowledge_proposal("q1", "tomas")):
        step.get()
    runtime.apply("q1", "mira").get()
    assert runtime.snapshot().store.retention.max_entries == 2


def test_what_the_caller_changes_later_changes_no_proposal(runtime: Runtime) -> None:
    change = {"store_max_entries": 2}
    proposing = runtime.propose("q1", "scout", change, "evidence", "rollback")
    change["store_max_entries"] = 0
    proposing.get()
    for step in (runtime.approve("q1", "mira"), runtime.acknowledge_proposal("q1", "tomas")):
        step.get()
    runtime.apply("q1", "mira").get()
    assert runtime.snapshot().store.retention.max_entries == 2


def test_only_a_maintainer_decides_and_others_learn_of_no_id(runtime: Runtime) -> None:
    propose(runtime)
    for act in (runtime.approve, runtime.acknowledge_proposal, runtime.refuse, runtime.apply):
        for name in ("q1", "q9"):
            assert act(name, "scout").get().status == "AUTHORITY_DENIED"
        assert act("q9", "mira").get().status == "UNKNOWN_PROPOSAL"
    assert dict(runtime.proposals().get()) == {"q1": "proposed"}


def test_one_maintainer_is_not_enough(runtime: Runtime) -> None:
    propose(runtime, by="mira")
    assert runtime.apply("q1", "mira").get().status == "NOT_APPROVED"
    assert runtime.acknowledge_proposal("q1", "tomas").get().status == "NOT_APPROVED"
    assert runtime.approve("q1", "mira").get().status == "APPROVED"
    assert runtime.acknowledge_proposal("q1", "mira").get().status == "AUTHORITY_DENIED"
    assert runtime.apply("q1", "mira").get().status == "NOT_APPROVED"
    assert runtime.snapshot().store.retention.max_entries == 128


def test_what_was_refused_stays_refused(runtime: Runtime) -> None:
    propose(runtime)
    assert runtime.refuse("q1", "mira").get().status == "REFUSED"
    for act in (runtime.approve, runtime.acknowledge_proposal, runtime.refuse, runtime.apply):
        assert act("q1", "tomas").get().status == "ALREADY_DECIDED"
    assert (dict(runtime.proposals().get()), runtime.retention_audit().get()) == ({"q1": "refused"}, ())


def test_a_maintainer_enacts_and_anybody_else_observes_and_proposes(runtime: Runtime) -> None:
    assert [runtime.authority(by).get() for by in ("mira", "scout", "")] == [
        *(Authority.ENACT, Authority.PROPOSE, Authority.PROPOSE),
    ]
    with Runtime(dispatcher=SimulatedDispatcher()) as nobody:
        assert nobody.authority("mira").get() == "propose"
        assert nobody.approve("q1", "mira").get().status == "AUTHORITY_DENIED"


def test_a_store_that_cannot_change_leaves_the_proposal_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_message: object) -> None:
        raise RuntimeError("a fault")

    with simulated() as runtime:
        propose(runtime)
        for step in (runtime.approve("q1", "mira"), runtime.acknowledge_proposal("q1", "tomas")):
            step.get()
        with monkeypatch.context() as patch:
            patch.setitem(ContentStore.handlers, ApplyRetention, fail)
            applying, behind = runtime.apply("q1", "mira"), runtime.propose("q2", "scout", {"store_ttl": 1}, "e", "r")
            with pytest.raises(ActorFailed):
                applying.get()
            assert behind.get().status == "PROPOSED"
        assert (dict(runtime.proposals().get()), runtime.retention_audit().get()) == (
            *({"q1": "approved", "q2": "proposed"}, ()),
        )
        assert runtime.snapshot().store.retention.max_entries == 128
        assert runtime.apply("q1", "mira").get().status == "APPLIED"


@pytest.fixture
def threaded() -> Iterator[Runtime]:
    with Runtime(Settings(maintainers=MAINTAINERS)) as made:
        yield made
    assert made.close().clean
    assert made.close().counts.failed == 0


def at_once(act: Callable[[str], Any], *, times: int = 8) -> list[str]:
    """The statuses that as many threads get, each as another maintainer."""
    statuses: list[str] = []

    def one(by: str) -> None:
        statuses.append(act(by).get(PATIENCE_S).status)

    in_threads(*(functools.partial(one, MAINTAINERS[place % 3]) for place in range(times)))
    return sorted(statuses)


def test_of_many_that_act_at_once_one_does(threaded: Runtime) -> None:
    for number in range(5):
        name, change = f"q{number}", {"store_max_entries": 100 - number}
        proposals = at_once(functools.partial(threaded.propose, name, change=change, evidence="e", rollback="r"))
        assert proposals == ["INVALID_PROPOSAL"] * 7 + ["PROPOSED"]
        approvals = at_once(functools.partial(threaded.approve, name))
        assert approvals == ["ALREADY_DECIDED"] * 7 + ["APPROVED"]
        acknowledged = at_once(functools.partial(threaded.acknowledge_proposal, name))
        assert acknowledged.count("ACKNOWLEDGED") == 1
        assert set(acknowledged) <= {"ACKNOWLEDGED", "ALREADY_DECIDED", "AUTHORITY_DENIED"}
        assert at_once(functools.partial(threaded.apply, name)) == ["ALREADY_DECIDED"] * 7 + ["APPLIED"]
    audit = threaded.retention_audit().get(PATIENCE_S)
    assert [(entry.before[0][1], entry.after[0][1]) for entry in audit] == [
        *((128, 100), (100, 99), (99, 98), (98, 97), (97, 96)),
    ]


def test_limits_that_change_while_many_write_hold_in_the_end(threaded: Runtime) -> None:
    def write(session: str) -> None:
        for number in range(60):
            record(threaded, f"c{number}", session=session)

    def govern() -> None:
        for number, most in enumerate((40, 5, 80, 3)):
            enact(threaded, f"q{number}", {"store_max_entries": most})

    in_threads(*(functools.partial(write, f"s{number}") for number in range(3)), here=govern)
    store = threaded.snapshot(PATIENCE_S).store
    assert {session: content.entries for session, content in store.sessions.items()} == {
        **dict.fromkeys(("s0", "s1", "s2"), 3)
    }
    assert store.counters.writes == 180
    assert store.counters.evictions == 180 - 9
