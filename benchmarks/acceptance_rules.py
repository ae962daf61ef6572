"""What the other contestants are made of: the rules of one request, and the turns of the sessions, without concurrency.

They do the same as `plain` (the handoff checks, the ACK table, contiguous commit within a request), with the tables of
`protocol`; what differs between them is how a call gets here. They leave out what `plain` leaves out, and the TTL of
sessions.
"""

from __future__ import annotations

from collections import OrderedDict, deque

from dragoman import (
    AckReply,
    AckStatus,
    ActivateReply,
    ActivateStatus,
    Handoff,
    RegisterReply,
    RegisterStatus,
    Settings,
    Turn,
)
from dragoman.protocol.handoff import examine, in_source_order
from dragoman.protocol.parents import RequestParents
from dragoman.protocol.participation import participates

__all__ = ["RequestRules", "SessionTurns", "refusal"]


def refusal(handoff: Handoff, settings: Settings, *, taken: bool) -> RegisterReply | None:
    """Why a handoff is not registered, or None; `taken` if its id is."""
    reason = examine(handoff)
    if reason is not None:
        return RegisterReply(RegisterStatus.INVALID_HANDOFF, reason)
    if not participates(
        provider=handoff.provider,
        providers={},
        history_enabled=settings.history_enabled,
        mode=handoff.mode,
        eligible_modes=settings.eligible_modes,
        purpose=handoff.purpose,
        session_id=handoff.session_id,
    ):
        return RegisterReply(RegisterStatus.NOT_PARTICIPATING)
    return RegisterReply(RegisterStatus.DUPLICATE_REQUEST) if taken else None


class RequestRules:
    """The parents of one request: what each call does to them, and the turns that are due by it."""

    def __init__(self, handoff: Handoff) -> None:
        self.request_id = handoff.request_id
        self.session_id = handoff.session_id
        self._parents = RequestParents(in_source_order(handoff).parents)
        self._active = False
        self._run: tuple[int, ...] = ()

    @property
    def settled(self) -> bool:
        return self._parents.settled

    def activate(self) -> ActivateReply:
        status = ActivateStatus.ALREADY_ACTIVE if self._active else ActivateStatus.ACTIVATED
        self._active = True
        return ActivateReply(status)

    def acknowledge(self, parent_id: str, result: str | None) -> tuple[AckStatus, tuple[Turn, ...]]:
        """What an ACK, or a rejection (no result), comes to, and the turns to be written."""
        parents = self._parents
        status = parents.reject(parent_id) if result is None else parents.accept(parent_id, result)
        if status not in (AckStatus.ACCEPTED, AckStatus.REJECTED):
            return status, ()
        self._run = parents.due()
        return status, tuple(Turn(self.request_id, *parents.texts(place)) for place in self._run)

    def committed(self, status: AckStatus) -> AckReply:
        """The turns were written: the answer to the ACK."""
        run, self._run = self._run, ()
        return AckReply(status, self._parents.settle(run, frozenset()))


class SessionTurns:
    """The newest turns of each session, the least recently used session without an open request out first."""

    def __init__(self, settings: Settings) -> None:
        self._max_sessions = settings.max_sessions
        self._max_turns = settings.max_turns
        self._turns: OrderedDict[str, deque[Turn]] = OrderedDict()
        self._open: dict[str, int] = {}

    def open(self, session_id: str) -> bool:
        """Begin a request in a session; whether there was room."""
        if session_id not in self._turns:
            if len(self._turns) >= self._max_sessions:
                idle = next((name for name in self._turns if not self._open[name]), None)
                if idle is None:
                    return False
                del self._turns[idle], self._open[idle]
            self._turns[session_id] = deque(maxlen=self._max_turns)
            self._open[session_id] = 0
        self._turns.move_to_end(session_id)
        self._open[session_id] += 1
        return True

    def close(self, session_id: str) -> None:
        """End a request of a session."""
        self._open[session_id] -= 1

    def write(self, session_id: str, turns: tuple[Turn, ...]) -> None:
        self._turns[session_id].extend(turns)
        self._turns.move_to_end(session_id)

    def read(self, session_id: str) -> tuple[Turn, ...]:
        return tuple(self._turns.get(session_id, ()))
