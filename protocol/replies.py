"""What the runtime answers: frozen values, compared by value."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from .mappings import FrozenMapping, WordMapping
from .statuses import (
    AckStatus,
    ActivateStatus,
    ClearStatus,
    CloseCause,
    CloseStatus,
    ConfigureStatus,
    ParentState,
    RegisterStatus,
)

__all__ = [
    "NO_REQUEST",
    "AckReply",
    "AcksSettled",
    "ActivateReply",
    "ClearReply",
    "CloseReply",
    "ConfigureReply",
    "ParentStates",
    "ProviderStatistics",
    "RegisterReply",
    "RequestStatus",
]


@attrs.frozen
class RegisterReply:
    """The answer to a registration; `reason` says what is wrong with an invalid handoff."""

    status: RegisterStatus
    reason: str | None = None


@attrs.frozen
class ActivateReply:
    """The answer to an activation (C8)."""

    status: ActivateStatus


@attrs.frozen
class AckReply:
    """The answer to an ACK or a rejection.

    `committed` holds the ids of the parents of this request that became turns by it, in source order.
    """

    status: AckStatus
    committed: tuple[str, ...] = ()


@attrs.frozen
class AcksSettled:
    """Handle → operation: what each ACK did, in order, and which parents became turns."""

    statuses: tuple[AckStatus, ...]
    committed: tuple[str, ...] = ()


@attrs.frozen
class CloseReply:
    """The answer to `cancel` and `dispatch_failed`."""

    status: CloseStatus


@attrs.frozen
class ClearReply:
    """The answer to `clear_session`."""

    status: ClearStatus


@attrs.frozen
class ConfigureReply:
    """The answer to `configure`."""

    status: ConfigureStatus


class ParentStates(FrozenMapping[ParentState]):
    """The state of each parent of a request by its id, in source order; read-only."""

    __slots__ = ()

    def __init__(self, ids: Sequence[str] = (), states: Sequence[ParentState] = ()) -> None:
        super().__init__(dict(zip(ids, states, strict=True)))

    def __repr__(self) -> str:
        states = ", ".join(f"{parent_id!r}: {state.value}" for parent_id, state in self.items())
        return f"ParentStates({states})"


_NO_PARENTS = ParentStates()


@attrs.frozen
class RequestStatus:
    """What became of a request.

    `open`: whether its handle is. `cause`: why it closed; None while it is open, and for a request that was never
    seen or has been forgotten. `parents`: the state of each parent.
    """

    open: bool
    cause: CloseCause | None
    parents: ParentStates = _NO_PARENTS


NO_REQUEST = RequestStatus(open=False, cause=None)
"""The status of a request that was never seen, or that the ledger has forgotten."""


@attrs.frozen(kw_only=True)
class ProviderStatistics:
    """The physical calls of one provider (C13)."""

    calls: int
    """Made, answered or not."""
    errors: int
    """Failed. A body that violates the contract is no failed call, neither is a cancelled one."""
    by_purpose: WordMapping[int] = attrs.field(converter=WordMapping[int])
    """Calls made, by their purpose."""
    errors_by_name: WordMapping[int] = attrs.field(factory=WordMapping[int], converter=WordMapping[int])
    """Failed calls by the name of the error; after the first names of a provider, the others as `OTHER`."""
