"""The life of a retention proposal as a table, and who may do what to it (P phase 3.4, ADR-025).

Anybody may propose; only a maintainer decides. A proposal is approved, acknowledged by another maintainer than the
approver, and then applied; or it is refused before it was approved. An act that is not in the row of a stage leaves the
proposal as it is.

What is not promised: that a proposal still fits when it is applied. It is examined when it is made, and each setting by
itself; of two applied ones that change the same setting the later counts.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Any, TypeAlias, TypeGuard

import attrs

from .errors import IllegalTransition, InvalidSetting
from .handoff import exact
from .redaction import redacted
from .retention import GOVERNED, Retention
from .settings import Settings
from .statuses import Authority, ProposalState, ProposalStatus

__all__ = [
    "AUTHORITY_FOR",
    "PROPOSAL_TABLE",
    "Act",
    "AuditEntry",
    "Change",
    "Proposal",
    "ProposalReply",
    "SettingValue",
    "Stage",
    "after",
    "authority_of",
    "examine_proposal",
    "judge",
    "state_of",
]

_MAX_NAME_CHARS = 1_000
_MAX_TEXT_CHARS = 10_000

SettingValue: TypeAlias = int | float | bool | None
Change: TypeAlias = tuple[tuple[str, SettingValue], ...]
"""Settings and their values."""


class Stage(StrEnum):
    """Where a proposal stands. Only here an acknowledged one is told from an approved one."""

    PROPOSED = "PROPOSED"
    """It waits for an approval."""
    APPROVED = "APPROVED"
    """One maintainer approved it."""
    ACKNOWLEDGED = "ACKNOWLEDGED"
    """A second one agreed; it can be applied."""
    REFUSED = "REFUSED"
    """A maintainer refused it."""
    APPLIED = "APPLIED"
    """It is in force."""


class Act(StrEnum):
    """What a maintainer does to a proposal, in the words of the scenario language."""

    APPROVE = "approve"
    ACKNOWLEDGE = "acknowledge"
    REFUSE = "refuse"
    APPLY = "apply"


_S, _A = Stage, Act

PROPOSAL_TABLE = MappingProxyType(
    {
        _S.PROPOSED: MappingProxyType({_A.APPROVE: _S.APPROVED, _A.REFUSE: _S.REFUSED}),
        _S.APPROVED: MappingProxyType({_A.ACKNOWLEDGE: _S.ACKNOWLEDGED}),
        _S.ACKNOWLEDGED: MappingProxyType({_A.APPLY: _S.APPLIED}),
        _S.REFUSED: MappingProxyType({}),
        _S.APPLIED: MappingProxyType({}),
    }
)

_TOO_EARLY = frozenset({(_S.PROPOSED, _A.ACKNOWLEDGE), (_S.PROPOSED, _A.APPLY), (_S.APPROVED, _A.APPLY)})
"""Acts that come before their time; every other act that is not in the table comes after the decision."""

_DONE = MappingProxyType(
    {
        _A.APPROVE: ProposalStatus.APPROVED,
        _A.ACKNOWLEDGE: ProposalStatus.ACKNOWLEDGED,
        _A.REFUSE: ProposalStatus.REFUSED,
        _A.APPLY: ProposalStatus.APPLIED,
    }
)

_TOLD = MappingProxyType(
    {
        _S.PROPOSED: ProposalState.PROPOSED,
        _S.APPROVED: ProposalState.APPROVED,
        _S.ACKNOWLEDGED: ProposalState.APPROVED,
        _S.REFUSED: ProposalState.REFUSED,
        _S.APPLIED: ProposalState.APPLIED,
    }
)

AUTHORITY_FOR = MappingProxyType(
    {"report": Authority.OBSERVE, "propose": Authority.PROPOSE, **{act.value: Authority.ENACT for act in Act}}
)
"""What it takes to read a report, to propose, and to do each act."""

_LEVELS = tuple(Authority)


def authority_of(by: str, maintainers: Collection[str]) -> Authority:
    """What `by` may do: a maintainer everything, anybody else observe and propose."""
    return Authority.ENACT if by in maintainers else Authority.PROPOSE


def _may(by: str, act: Act, maintainers: Collection[str]) -> bool:
    return _LEVELS.index(authority_of(by, maintainers)) >= _LEVELS.index(AUTHORITY_FOR[act])


def state_of(stage: Stage) -> ProposalState:
    """How a stage is told: an acknowledged proposal is still `approved`."""
    return _TOLD[stage]


def _is_text(value: object) -> TypeGuard[str]:
    # By the real type, here and below: an object may claim the class of another, and then raise where that is used.
    return issubclass(type(value), str)


def _is_plain(value: object) -> TypeGuard[SettingValue]:
    return value is None or issubclass(type(value), int | float)


def _exact_value(value: SettingValue) -> SettingValue:
    """`value` without the ways of a subclass, which may show and compare as something else."""
    if value is None or isinstance(value, bool):
        return value
    return int.__int__(value) if isinstance(value, int) else float.__float__(value)


def _as_pairs(change: Mapping[str, SettingValue] | Change) -> Change:
    if not isinstance(change, Mapping):
        return change
    return tuple({exact(name): _exact_value(value) for name, value in change.items()}.items())


@attrs.frozen
class Proposal:
    """A change of the retention policy that somebody asks for, with its evidence and its rollback (P phase 3.4).

    `change` may be given as the mapping that `examine_proposal` found valid. `approver` and `acknowledger` are the
    maintainers who did so.
    """

    id: str
    by: str
    change: Change = attrs.field(converter=_as_pairs)
    evidence: str = attrs.field(repr=redacted)
    rollback: str = attrs.field(repr=redacted)
    stage: Stage = Stage.PROPOSED
    approver: str | None = None
    acknowledger: str | None = None


def judge(proposal: Proposal | None, act: Act, by: str, maintainers: Collection[str]) -> ProposalStatus:
    """What `act` by `by` comes to; `proposal` is None where there is none of that id.

    Authority is looked at before existence, so that who has none learns of no id. The approver has no authority to
    acknowledge, whatever has become of the proposal.
    """
    if not _may(by, act, maintainers):
        return ProposalStatus.AUTHORITY_DENIED
    if proposal is None:
        return ProposalStatus.UNKNOWN_PROPOSAL
    if act is Act.ACKNOWLEDGE and by == proposal.approver:
        return ProposalStatus.AUTHORITY_DENIED
    if act in PROPOSAL_TABLE[proposal.stage]:
        return _DONE[act]
    too_early = (proposal.stage, act) in _TOO_EARLY
    return ProposalStatus.NOT_APPROVED if too_early else ProposalStatus.ALREADY_DECIDED


def after(proposal: Proposal, act: Act, by: str) -> Proposal:
    """The proposal after an act that `judge` has let pass; raises `IllegalTransition` where the table has none."""
    stage = PROPOSAL_TABLE[proposal.stage].get(act)
    if stage is None:
        raise IllegalTransition(proposal.stage, act)
    if act is Act.APPROVE:
        return attrs.evolve(proposal, stage=stage, approver=by)
    if act is Act.ACKNOWLEDGE:
        return attrs.evolve(proposal, stage=stage, acknowledger=by)
    return attrs.evolve(proposal, stage=stage)


def examine_proposal(
    id: object,  # noqa: A002 (the word of the language)
    by: object,
    change: object,
    evidence: object,
    rollback: object,
    settings: Settings,
) -> str | None:
    """Why a proposal is not valid (the first reason, naming the field or the setting), or None if it is (P phase 3.4).

    `change` maps governed settings to values that `settings` would accept, `store_ttl` in seconds or None; the others
    are text that is not empty. Anything may stand in each place: raises nothing. Whether the id is taken is not known
    here.
    """
    return (
        _missing_text("id", id, _MAX_NAME_CHARS)
        or _missing_text("by", by, _MAX_NAME_CHARS)
        or _examine_change(change, settings)
        or _missing_text("evidence", evidence, _MAX_TEXT_CHARS)
        or _missing_text("rollback", rollback, _MAX_TEXT_CHARS)
    )


def _missing_text(name: str, value: object, max_chars: int) -> str | None:
    if not _is_text(value):
        return f"{name} must be text"
    text = exact(value)
    if len(text) > max_chars:
        return f"{name} must be at most {max_chars} characters, not {len(text)}"
    return None if text else f"{name} must not be empty"


def _examine_change(change: object, settings: Settings) -> str | None:
    if not isinstance(change, Mapping):
        return "change must be a mapping of settings to their new values"
    try:
        asked: dict[object, object] = dict(change)
    except Exception:  # a mapping of the caller's own may raise anything
        return "change cannot be read"
    if not asked:
        return "change must name at least one setting"
    for name, value in asked.items():
        reason = _examine_setting(name, value, settings)
        if reason:
            return reason
    return None


def _examine_setting(name: object, value: object, settings: Settings) -> str | None:
    if not _is_text(name):
        return "change must name settings by text"
    name = exact(name)
    if name not in GOVERNED:
        return f"{name[:60]!r} is no setting that a proposal may change; these are: {', '.join(GOVERNED)}"
    if not _is_plain(value):
        # Not shown: what is no number may be a text, or an endless or failing `repr`.
        return f"{name}: is no value for a setting: {redacted(value)}"
    wanted: dict[str, Any] = {name: _exact_value(value)}
    try:
        attrs.evolve(settings, **wanted)
    except InvalidSetting as problem:
        return str(problem)
    return None


@attrs.frozen
class AuditEntry:
    """What an applied proposal did: the settings that it names, with their values before and after (P phase 3.4).

    `by` is who applied it. `time_s` is when, in seconds of the runtime's own clock.
    """

    proposal_id: str
    by: str
    proposed_by: str
    approved_by: str
    acknowledged_by: str
    before: Change
    after: Change
    evidence: str = attrs.field(repr=redacted)
    rollback: str = attrs.field(repr=redacted)
    time_s: float

    @classmethod
    def of(cls, proposal: Proposal, by: str, settings: Settings, time_s: float) -> AuditEntry:
        """The entry for `proposal` when `by` applies it; `settings` are those in force until then.

        Raises `IllegalTransition` for a proposal that was not both approved and acknowledged.
        """
        if proposal.approver is None or proposal.acknowledger is None:
            raise IllegalTransition(proposal.stage, Act.APPLY)
        return cls(
            proposal_id=proposal.id,
            by=by,
            proposed_by=proposal.by,
            approved_by=proposal.approver,
            acknowledged_by=proposal.acknowledger,
            before=tuple((name, getattr(settings, name)) for name, _value in proposal.change),
            after=proposal.change,
            evidence=proposal.evidence,
            rollback=proposal.rollback,
            time_s=time_s,
        )

    def undoing(self) -> dict[str, SettingValue]:
        """The change of a new proposal that undoes this one; it goes the way of any other."""
        return dict(self.before)


@attrs.frozen
class ProposalReply:
    """The answer to a proposal and to each act on one.

    `reason` says what is wrong with an invalid proposal, `retention` what is in force after an application.
    """

    status: ProposalStatus
    reason: str | None = None
    retention: Retention | None = None
