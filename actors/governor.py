"""The retention governor: proposals, approvals, authority, and the log of what was changed (P phase 3, ADR-025).

Rules. Anybody proposes; only a maintainer decides, and two different ones are needed before a change is applied. An
application holds everything else that comes for proposals until the store has put the policy in force: the change,
its place in the audit log and the answer look like one step. If the store cannot, the proposal is as it was.

Undecided proposals are bounded; those of maintainers have room of their own, so that nobody can keep them from it.

Not promised: that decided proposals are remembered for ever. Of these the oldest are forgotten when there are too many.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from typing import Any

import attrs

from ..protocol.governance_messages import (
    ActOnProposal,
    ApplyRetention,
    Propose,
    ReadAudit,
    ReadProposal,
    ReadProposals,
    RetentionApplied,
)
from ..protocol.mappings import WordMapping
from ..protocol.proposals import (
    Act,
    AuditEntry,
    Proposal,
    ProposalReply,
    Stage,
    after,
    authority_of,
    judge,
    state_of,
)
from ..protocol.retention import Retention
from ..protocol.settings import Settings
from ..protocol.statuses import Authority, ProposalState, ProposalStatus
from .actor import handles
from .dispatcher import Dispatcher
from .holding import Holding
from .mailbox import Envelope, Mailbox
from .reporting import report

__all__ = ["RetentionGovernor"]

_MAX_OPEN = 1_000
_MAX_DECIDED = 10_000
_MAX_AUDIT = 10_000
_PASSED = frozenset(
    {ProposalStatus.APPROVED, ProposalStatus.ACKNOWLEDGED, ProposalStatus.REFUSED, ProposalStatus.APPLIED}
)
_DECIDED = frozenset({Stage.REFUSED, Stage.APPLIED})


@attrs.frozen
class _Applying:
    """A proposal that is being put in force: as it will be, who applies it, and what will be in force."""

    proposal: Proposal
    by: str
    settings: Settings


class RetentionGovernor(Holding):
    """Owns the proposals about the retention policy, and who may decide them."""

    answers = RetentionApplied

    def __init__(self, dispatcher: Dispatcher, settings: Settings, store: Mailbox) -> None:
        super().__init__(dispatcher)
        self._settings = settings
        self._store = store
        self._open: dict[str, Proposal] = {}
        self._decided: OrderedDict[str, Proposal] = OrderedDict()
        self._audit: deque[AuditEntry] = deque(maxlen=_MAX_AUDIT)

    @handles(Propose)
    def _propose(self, message: Propose, _envelope: Envelope[Any]) -> ProposalReply:
        proposal = message.proposal
        if self._find(proposal.id) is not None:
            return ProposalReply(ProposalStatus.INVALID_PROPOSAL, "id is taken")
        maintains = authority_of(proposal.by, self._settings.maintainers) is Authority.ENACT
        if len(self._open) >= _MAX_OPEN * (2 if maintains else 1):
            return ProposalReply(ProposalStatus.INVALID_PROPOSAL, "too many proposals are undecided: decide some first")
        self._keep(proposal, proposal.by)
        return ProposalReply(ProposalStatus.PROPOSED)

    def _find(self, proposal_id: str) -> Proposal | None:
        return self._open.get(proposal_id) or self._decided.get(proposal_id)

    def _keep(self, proposal: Proposal, by: str) -> None:
        """Take note of a proposal as it is now, and tell the log."""
        self._open.pop(proposal.id, None)
        (self._decided if proposal.stage in _DECIDED else self._open)[proposal.id] = proposal
        if len(self._decided) > _MAX_DECIDED:
            self._decided.popitem(last=False)
        state = state_of(proposal.stage).value
        self.observe(("proposal", proposal.id, state))
        report("INFO", "the proposal {proposal} is {state}, by {by}", proposal=proposal.id, state=state, by=by)

    @handles(ActOnProposal)
    def _act(self, message: ActOnProposal, envelope: Envelope[Any]) -> Any:
        proposal = self._find(message.id)
        status = judge(proposal, message.act, message.by, self._settings.maintainers)
        if proposal is None or status not in _PASSED:
            return ProposalReply(status)
        decided = after(proposal, message.act, message.by)
        if message.act is Act.APPLY:
            change: dict[str, Any] = dict(proposal.change)
            changed = attrs.evolve(self._settings, **change)
            applying = _Applying(decided, message.by, changed)
            return self._hold(envelope, applying, self._store, ApplyRetention(Retention.of(changed)))
        self._keep(decided, message.by)
        return ProposalReply(status)

    @handles(RetentionApplied)
    def _applied(self, _message: RetentionApplied, _envelope: Envelope[Any]) -> None:
        _act, applying = self._operation
        proposal, by = applying.proposal, applying.by
        self._audit.append(AuditEntry.of(proposal, by, self._settings, self.dispatcher.now_us() / 1e6))
        self._settings = applying.settings
        self._keep(proposal, by)
        self._end_hold(ProposalReply(ProposalStatus.APPLIED, retention=Retention.of(self._settings)))

    @handles(ReadProposals)
    def _read_proposals(self, _message: ReadProposals, _envelope: Envelope[Any]) -> WordMapping[ProposalState]:
        known = {**self._decided, **self._open}
        return WordMapping({proposal_id: state_of(proposal.stage) for proposal_id, proposal in known.items()})

    @handles(ReadProposal)
    def _read_proposal(self, message: ReadProposal, _envelope: Envelope[Any]) -> Proposal | None:
        return self._find(message.id)

    @handles(ReadAudit)
    def _read_audit(self, _message: ReadAudit, _envelope: Envelope[Any]) -> tuple[AuditEntry, ...]:
        return tuple(self._audit)
