"""The messages about the retention policy: what enters at the face, and what the governor says to the store."""

from __future__ import annotations

import attrs

from .proposals import Act, Proposal
from .retention import Retention

__all__ = [
    "ActOnProposal",
    "ApplyRetention",
    "Propose",
    "ReadAudit",
    "ReadProposal",
    "ReadProposals",
    "RetentionApplied",
]


@attrs.frozen
class Propose:
    """A proposal that was examined."""

    proposal: Proposal


@attrs.frozen
class ActOnProposal:
    id: str
    act: Act
    by: str


@attrs.frozen
class ReadProposal:
    id: str


@attrs.frozen
class ReadProposals:
    """Ask for the state of each proposal by its id."""


@attrs.frozen
class ReadAudit:
    """Ask for every change of the policy, oldest first."""


@attrs.frozen
class ApplyRetention:
    """Governor → store: put this policy in force."""

    retention: Retention


@attrs.frozen
class RetentionApplied:
    """Store → governor: it is."""
