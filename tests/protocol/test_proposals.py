"""Retention proposals: stage by act by person, what a valid one is, and the audit (P phase 3.4, ADR-025)."""

from __future__ import annotations

import math
from itertools import product
from typing import Any, NoReturn
from unittest.mock import Mock

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.protocol.errors import IllegalTransition
from dragoman.protocol.proposals import (
    AUTHORITY_FOR,
    PROPOSAL_TABLE,
    Act,
    AuditEntry,
    Proposal,
    Stage,
    after,
    authority_of,
    examine_proposal,
    judge,
    state_of,
)
from dragoman.protocol.retention import GOVERNED
from dragoman.protocol.settings import Settings
from dragoman.protocol.statuses import Authority, ProposalStatus

MAINTAINERS = ("mira", "tomas", "ines")
AGENT = "scout"
SETTINGS = Settings()
CHANGE = {"store_max_entries": 64}
GOOD: dict[str, Any] = {"id": "q1", "by": AGENT, "change": CHANGE, "evidence": "memory", "rollback": "back to 128"}

WAY = {
    Stage.PROPOSED: [],
    Stage.APPROVED: [(Act.APPROVE, "mira")],
    Stage.ACKNOWLEDGED: [(Act.APPROVE, "mira"), (Act.ACKNOWLEDGE, "tomas")],
    Stage.REFUSED: [(Act.REFUSE, "mira")],
    Stage.APPLIED: [(Act.APPROVE, "mira"), (Act.ACKNOWLEDGE, "tomas"), (Act.APPLY, "tomas")],
}
"""How a proposal comes to each stage; mira is its approver, if it has one."""


def proposed(**fields: Any) -> Proposal:
    return Proposal(**(GOOD | fields))


def at(stage: Stage) -> Proposal:
    """A proposal that has come to `stage` by the acts of its maintainers."""
    proposal = proposed()
    for act, by in WAY[stage]:
        proposal = after(proposal, act, by)
    return proposal


def told(proposal: Proposal | None, act: str, by: str) -> str:
    return judge(proposal, Act(act), by, MAINTAINERS).value


DONE = {"approve": "APPROVED", "acknowledge": "ACKNOWLEDGED", "refuse": "REFUSED", "apply": "APPLIED"}
"""What an act that is done is answered, which is also the stage it leads to."""

ANSWERS = {
    "PROPOSED": "APPROVED NOT_APPROVED REFUSED NOT_APPROVED",
    "APPROVED": "ALREADY_DECIDED ACKNOWLEDGED ALREADY_DECIDED NOT_APPROVED",
    "ACKNOWLEDGED": "ALREADY_DECIDED ALREADY_DECIDED ALREADY_DECIDED APPLIED",
    "REFUSED": "ALREADY_DECIDED ALREADY_DECIDED ALREADY_DECIDED ALREADY_DECIDED",
    "APPLIED": "ALREADY_DECIDED ALREADY_DECIDED ALREADY_DECIDED ALREADY_DECIDED",
}
"""What a maintainer who has not approved it is answered at each stage, for the acts in the order of `DONE`."""

EVERY_PAIR = list(product(Stage, Act))
every_pair = pytest.mark.parametrize(("stage", "act"), EVERY_PAIR)


def answer(stage: Stage, act: Act) -> str:
    return ANSWERS[stage.value].split()[list(DONE).index(act)]


@every_pair
def test_each_act_leads_where_the_page_says(stage: Stage, act: Act) -> None:
    following = PROPOSAL_TABLE[stage].get(act)
    assert (following and following.value) == (DONE[act] if answer(stage, act) == DONE[act] else None)


@every_pair
@pytest.mark.parametrize("by", ["tomas", "ines"])
def test_the_act_of_another_maintainer_is_answered_as_the_page_says(stage: Stage, act: Act, by: str) -> None:
    assert told(at(stage), act, by) == answer(stage, act)


@every_pair
def test_the_approver_may_do_the_same_but_acknowledge_at_no_time(stage: Stage, act: Act) -> None:
    denied = act.value == "acknowledge" and stage.value in {"APPROVED", "ACKNOWLEDGED", "APPLIED"}
    assert told(at(stage), act, "mira") == ("AUTHORITY_DENIED" if denied else answer(stage, act))


@every_pair
@pytest.mark.parametrize("by", [AGENT, "", "Mira", "mira "])
def test_who_is_no_maintainer_is_denied_every_act_at_any_time(stage: Stage, act: Act, by: str) -> None:
    assert told(at(stage), act, by) == "AUTHORITY_DENIED"


@pytest.mark.parametrize("act", Act)
def test_authority_is_looked_at_before_existence(act: Act) -> None:
    assert told(None, act, AGENT) == "AUTHORITY_DENIED"
    assert told(None, act, "mira") == "UNKNOWN_PROPOSAL"


@every_pair
def test_without_maintainers_nobody_may_decide(stage: Stage, act: Act) -> None:
    for proposal in (at(stage), None):
        assert judge(proposal, act, "mira", ()) is ProposalStatus.AUTHORITY_DENIED


@pytest.mark.parametrize(("stage", "act"), [pair for pair in EVERY_PAIR if answer(*pair) != DONE[pair[1]]])
def test_an_act_that_the_table_does_not_know_is_an_error_and_changes_nothing(stage: Stage, act: Act) -> None:
    proposal = at(stage)
    with pytest.raises(IllegalTransition) as caught:
        after(proposal, act, "ines")
    assert (caught.value.state, caught.value.event) == (stage, act)
    assert proposal == at(stage)


def test_the_table_cannot_be_changed() -> None:
    with pytest.raises(TypeError):
        PROPOSAL_TABLE[Stage.REFUSED][Act.APPROVE] = Stage.APPROVED  # type: ignore[index]


def test_an_acknowledged_proposal_is_still_told_as_approved() -> None:
    assert [state_of(stage).value for stage in Stage] == ["proposed", "approved", "approved", "refused", "applied"]


def test_a_proposal_remembers_who_approved_and_who_acknowledged() -> None:
    people = {(stage, at(stage).approver, at(stage).acknowledger) for stage in Stage}
    both = {(Stage.ACKNOWLEDGED, "mira", "tomas"), (Stage.APPLIED, "mira", "tomas")}
    assert people == both | {(Stage.PROPOSED, None, None), (Stage.APPROVED, "mira", None), (Stage.REFUSED, None, None)}


def test_an_act_leaves_what_was_proposed_as_it_is() -> None:
    nothing_done: dict[str, Any] = {"stage": Stage.PROPOSED, "approver": None, "acknowledger": None}
    assert all(attrs.evolve(at(stage), **nothing_done) == proposed() for stage in Stage)


def test_a_maintainer_may_approve_what_they_proposed() -> None:
    assert told(proposed(by="mira"), "approve", "mira") == "APPROVED"


def test_the_proposer_may_acknowledge_what_another_maintainer_approved() -> None:
    assert told(after(proposed(by="mira"), Act.APPROVE, "tomas"), "acknowledge", "mira") == "ACKNOWLEDGED"


def test_anybody_may_observe_and_propose_and_only_a_maintainer_may_enact() -> None:
    assert authority_of(AGENT, MAINTAINERS) is authority_of("mira", ()) is Authority.PROPOSE
    assert authority_of("mira", MAINTAINERS) is Authority.ENACT


def test_every_way_to_touch_the_policy_needs_an_authority() -> None:
    needed = {"report": "observe", "propose": "propose"}
    needed |= dict.fromkeys(["approve", "acknowledge", "refuse", "apply"], "enact")
    assert needed == AUTHORITY_FOR


acts = st.lists(st.tuples(st.sampled_from(Act), st.sampled_from((*MAINTAINERS, AGENT))), max_size=12)


def by_the_page(done: dict[str, str], act: str, who: str) -> str:
    """The paragraph "Governance" in its own words; `done` tells who did each act so far."""
    if who not in MAINTAINERS or (act == "acknowledge" and done.get("approve") == who):
        return "AUTHORITY_DENIED"
    if "refuse" in done or act in done or (act == "refuse" and done):
        return "ALREADY_DECIDED"
    needed = {"acknowledge": {"approve"}, "apply": {"approve", "acknowledge"}}.get(act, set())
    return DONE[act] if needed <= done.keys() else "NOT_APPROVED"


@given(acts, st.integers(0, 4))
def test_nothing_is_applied_without_an_approval_and_an_acknowledgement_of_two_maintainers(
    steps: list[tuple[Act, str]], start: int
) -> None:
    way = [(Act.APPROVE, "mira"), (Act.ACKNOWLEDGE, "tomas"), (Act.APPLY, "ines"), (Act.APPLY, "mira")]
    proposal, done = proposed(), dict[str, str]()
    for act, who in [*way[:start], *steps, *way[start:]]:
        answered = told(proposal, act, who)
        assert answered == by_the_page(done, act, who)
        if answered == DONE[act]:
            proposal = after(proposal, act, who)
            done[act.value] = who
    assert list(done) in (["refuse"], ["approve"], ["approve", "acknowledge"], ["approve", "acknowledge", "apply"])
    assert (proposal.stage is Stage.APPLIED) == ("apply" in done)
    assert set(done.values()) <= set(MAINTAINERS)
    assert "acknowledge" not in done or done["approve"] != done["acknowledge"]


@given(acts)
def test_a_proposal_that_was_refused_or_never_approved_is_never_applied(steps: list[tuple[Act, str]]) -> None:
    for proposal in (at(Stage.REFUSED), at(Stage.PROPOSED)):
        for act, who in steps:
            if act is not Act.APPROVE or proposal.stage is Stage.REFUSED:
                assert told(proposal, act, who) not in {"APPROVED", "ACKNOWLEDGED", "APPLIED"}


def refusal(**fields: Any) -> str | None:
    return examine_proposal(**(GOOD | fields), settings=SETTINGS)


def why_not(**fields: Any) -> str:
    """Why a proposal is refused; it must be."""
    reason = refusal(**fields)
    assert reason
    return reason


VALUES: dict[str, tuple[list[object], list[object]]] = {
    "store_max_entries": ([0, 10**6], [-1, 1.5, True, None, "64", [64], {"a": 1}, 10**13]),
    "store_max_bytes": ([0, 1], [-1, 1.0, math.nan, None]),
    "store_total_bytes": ([0, 1], [-1, 1.0, False, "64"]),
    "store_ttl": ([None, 0, 0.5, 600], [-1, -0.5, True, math.nan, math.inf, "10min", [], 10**400]),
    "capture_nested": ([True, False], [0, 1, None, "true", []]),
    "capture_errors": ([True, False], [0, 1.0, None, "yes", {}]),
}
"""Values of each governed setting: good ones and bad ones."""
GOOD_VALUES, BAD_VALUES = ([(name, value) for name in GOVERNED for value in VALUES[name][place]] for place in (0, 1))


@pytest.mark.parametrize(("name", "value"), GOOD_VALUES)
def test_a_governed_setting_may_get_any_value_that_settings_accept(name: str, value: object) -> None:
    assert refusal(change={name: value}) is None


def test_a_change_to_what_is_already_in_force_is_valid() -> None:
    assert refusal(change={name: getattr(SETTINGS, name) for name in GOVERNED}) is None


@pytest.mark.parametrize("name", [field.name for field in attrs.fields(Settings) if field.name not in GOVERNED])
def test_no_other_setting_may_be_changed(name: str) -> None:
    assert name in why_not(change={name: getattr(SETTINGS, name)})


@pytest.mark.parametrize("name", ["max_entries", "STORE_TTL", "store_ttl ", "", "of"])
def test_an_unknown_setting_is_refused_by_its_name(name: str) -> None:
    assert repr(name) in why_not(change={name: 1})


@pytest.mark.parametrize("name", [None, 1, True, b"store_ttl", ("store_ttl",), 1.5])
def test_a_setting_is_named_by_text(name: object) -> None:
    assert "text" in why_not(change={name: 1})


@pytest.mark.parametrize(("name", "value"), BAD_VALUES)
def test_a_bad_value_is_refused_by_the_name_of_its_setting(name: str, value: object) -> None:
    assert why_not(change={name: value}).startswith(f"{name}: ")


def test_one_bad_setting_among_good_ones_is_the_one_that_is_named() -> None:
    reason = why_not(change={"store_max_entries": 1, "store_ttl": -1, "capture_errors": True})
    assert reason.startswith("store_ttl: ")


@pytest.mark.parametrize("change", [None, 5, True, "store_ttl", ["store_ttl"], [("store_ttl", 5)]])
def test_a_change_is_a_mapping(change: object) -> None:
    assert "mapping" in why_not(change=change)


def test_a_change_of_nothing_is_refused() -> None:
    assert "at least one" in why_not(change={})


EMPTY_OR_NO_TEXT: list[object] = ["", None, 5, True, ["memory"], {}, b"memory"]


@pytest.mark.parametrize("name", ["id", "by", "evidence", "rollback"])
@pytest.mark.parametrize("value", EMPTY_OR_NO_TEXT)
def test_id_proposer_evidence_and_rollback_are_text_that_is_not_empty(name: str, value: object) -> None:
    assert why_not(**{name: value}).startswith(f"{name} must ")


@pytest.mark.parametrize(("name", "limit"), [("id", 1000), ("by", 1000), ("evidence", 10_000), ("rollback", 10_000)])
def test_the_texts_of_a_proposal_are_bounded(name: str, limit: int) -> None:
    assert why_not(**{name: "x" * (limit + 1)}).startswith(f"{name} must be at most {limit} ")
    assert refusal(**{name: "x" * limit}) is None


class Hostile(dict[str, Any]):
    """A mapping that cannot be read."""

    def keys(self) -> NoReturn:
        raise RuntimeError("canary")

    __iter__ = keys


class Unshowable(int):
    def __repr__(self) -> str:
        raise RuntimeError("canary")


def deep() -> list[Any]:
    """A list whose `repr` raises."""
    value: list[Any] = []
    for _level in range(100_000):
        value = [value]
    return value


HARMFUL: dict[str, object] = {
    "unreadable": Hostile(store_ttl=5),
    "deep": {"store_ttl": deep()},
    "no int": {"store_ttl": Mock(spec=int)},
    "no str": {Mock(spec=str): 5},
    "no dict": Mock(spec=dict),
    "unshowable": {"store_max_entries": Unshowable(-5)},
    "surrogate": {"\ud800": 5},
}


@pytest.mark.parametrize("change", HARMFUL.values(), ids=HARMFUL)
def test_a_change_that_does_harm_is_refused_like_any_other(change: object) -> None:
    reason = why_not(change=change)
    assert "canary" not in reason
    assert reason.encode()


anything: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.binary(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(GOVERNED) | st.text(max_size=5), inner),
    max_leaves=5,
)


@given(anything, anything, anything, st.dictionaries(st.sampled_from(GOVERNED), anything))
def test_whatever_is_proposed_is_judged_and_only_what_settings_accept_is_valid(
    text: object, other: object, change: object, governed: dict[str, Any]
) -> None:
    for reason in (refusal(id=text, by=other, change=change), refusal(change=change, evidence=text, rollback=other)):
        assert reason is None or (reason and "\n" not in reason)
    if refusal(change=governed) is None:
        assert governed
        attrs.evolve(SETTINGS, **governed)


def test_no_reason_shows_the_text_of_a_proposal() -> None:
    for fields in ({"evidence": ["canary"]}, {"change": {"store_ttl": "canary"}}, {"by": "", "evidence": "canary"}):
        assert "canary" not in why_not(**fields)


def test_a_long_name_is_cut_in_the_reason() -> None:
    assert len(why_not(change={"x" * 10_000: 1})) < 250


def test_a_proposal_keeps_plain_values_of_its_own() -> None:
    half = type("Half", (float,), {})(0.5)
    given = {"store_ttl": half, "store_max_bytes": Unshowable(7), "capture_nested": True}
    change = proposed(change=given).change
    given.clear()
    assert dict(change) == {"store_ttl": 0.5, "store_max_bytes": 7, "capture_nested": True}
    assert [type(value) for _name, value in change] == [float, int, bool]


def entry_of(change: dict[str, Any], settings: Settings) -> AuditEntry:
    proposal = attrs.evolve(at(Stage.ACKNOWLEDGED), change=change)
    return AuditEntry.of(proposal, "ines", settings, 12.5)


def test_the_audit_tells_who_did_what_and_when() -> None:
    entry = entry_of(CHANGE, SETTINGS)
    assert (entry.proposal_id, entry.proposed_by, entry.approved_by) == ("q1", AGENT, "mira")
    assert (entry.acknowledged_by, entry.by, entry.time_s) == ("tomas", "ines", 12.5)
    assert (entry.evidence, entry.rollback) == ("memory", "back to 128")


def test_the_audit_holds_only_the_settings_of_the_change_before_and_after() -> None:
    entry = entry_of({"store_ttl": 60, "capture_errors": True}, Settings(store_max_entries=3))
    assert entry.before == (("store_ttl", None), ("capture_errors", False))
    assert entry.after == (("store_ttl", 60), ("capture_errors", True))


def test_a_proposal_and_its_audit_show_the_change_but_neither_evidence_nor_rollback() -> None:
    for value in (at(Stage.APPLIED), entry_of(CHANGE, SETTINGS)):
        shown = repr(attrs.evolve(value, evidence="canary", rollback="canary bird"))
        assert "canary" not in shown
        assert all(part in shown for part in ("q1", AGENT, "mira", "tomas", "store_max_entries", "64", "6", "11"))


@pytest.mark.parametrize("stage", [Stage.PROPOSED, Stage.APPROVED, Stage.REFUSED])
def test_there_is_no_audit_of_what_was_not_both_approved_and_acknowledged(stage: Stage) -> None:
    with pytest.raises(IllegalTransition):
        AuditEntry.of(at(stage), "ines", SETTINGS, 0.0)


def test_an_applied_change_is_undone_by_a_new_proposal() -> None:
    settings = Settings(store_max_entries=9, store_ttl=30.0, capture_nested=True)
    change: dict[str, Any] = {"store_max_entries": 2, "store_ttl": None, "capture_nested": False}
    entry = entry_of(change, settings)
    undo: dict[str, Any] = entry.undoing()
    assert undo == {"store_max_entries": 9, "store_ttl": 30.0, "capture_nested": True}
    assert refusal(change=undo) is None
    assert attrs.evolve(attrs.evolve(settings, **change), **undo) == settings
