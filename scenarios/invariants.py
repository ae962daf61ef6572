"""What holds at every step, whether the scenario says so or not (design 4, "standing invariants").

The checker sees only what crossed the public face: the steps with their replies, and a snapshot. It keeps books of its
own and shares no rule with the actors. A breach is told as text that names ids only.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import attrs

from ..protocol.history import Turn
from ..protocol.settings import Settings
from ..runtime import Snapshot
from .verbs import Ack, Register, Verb

__all__ = ["InvariantChecker"]


@attrs.define(eq=False)
class _Request:
    """One registration of a request id."""

    number: int
    session: str
    places: dict[str, int]
    sources: dict[str, object]
    accepted: dict[str, object] = attrs.field(factory=dict)
    was_closed: bool = False


_Identity = tuple[_Request, str]


class InvariantChecker:
    """Follows a run step by step."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._requests: dict[str, list[_Request]] = {}
        self._registered = 0
        self._written: set[tuple[int, str]] = set()
        self._turns: dict[str, list[tuple[Turn, _Identity | None]]] = {}
        self._failed = 0

    @property
    def open_requests(self) -> tuple[str, ...]:
        """The ids of the registered requests that were open when last seen."""
        return tuple(request for request, known in self._requests.items() if not known[-1].was_closed)

    def saw(self, verb: Verb, reply: Any) -> None:
        """Take note of a step and its reply."""
        status = reply.get("status") if isinstance(reply, dict) else None
        if isinstance(verb, Register) and status == "REGISTERED":
            parents: Any = verb.parents.parents
            in_order = sorted(parents, key=lambda parent: parent.order)
            self._registered += 1
            request = _Request(
                self._registered,
                verb.session,
                {parent.id: place for place, parent in enumerate(in_order)},
                {parent.id: parent.source for parent in in_order},
            )
            self._requests.setdefault(verb.request, []).append(request)
        elif isinstance(verb, Ack) and status == "ACCEPTED" and verb.request in self._requests:
            self._requests[verb.request][-1].accepted.setdefault(verb.parent, verb.result.value)

    def check(self, snapshot: Snapshot, closed: frozenset[str]) -> Iterator[str]:
        """The breaches since the last check; `closed` names the requests that are closed now."""
        live = {session.session_id: list(session.turns) for session in snapshot.sessions}
        for session, turns in live.items():
            yield from self._check_session(session, turns)
        for session in self._turns.keys() - live.keys():
            del self._turns[session]
        yield from self._check_bounds(snapshot)
        for request in closed:
            for known in self._requests.get(request, ()):
                known.was_closed = True

    def _check_session(self, session: str, turns: list[Turn]) -> Iterator[str]:
        before = self._turns.get(session, [])
        kept = _overlap([turn for turn, _identity in before], turns)
        identified = before[len(before) - kept :]
        for turn in turns[kept:]:
            identity = self._identify(session, turn)
            if isinstance(identity, str):
                yield identity
                identified.append((turn, None))
                continue
            yield from self._check_new(turn, identity)
            identified.append((turn, identity))
        self._turns[session] = identified
        yield from self._check_order(session, [identity for _turn, identity in identified if identity is not None])

    def _identify(self, session: str, turn: Turn) -> _Identity | str:
        where = f"the turn of {turn.request_id}/{turn.parent_id} in {session}"
        known = self._requests.get(turn.request_id)
        if not known or turn.parent_id not in known[-1].places or known[-1].session != session:
            return f"{where} belongs to no registered parent"
        return known[-1], turn.parent_id

    def _check_new(self, turn: Turn, identity: _Identity) -> Iterator[str]:
        request, parent = identity
        where = f"{turn.request_id}/{parent}"
        if (request.number, parent) in self._written:
            yield f"{where} was committed twice"
        self._written.add((request.number, parent))
        if request.was_closed:
            yield f"{where} was committed after its handle had closed"
        if parent not in request.accepted:
            yield f"{where} was committed without an ACK that was answered ACCEPTED"
        elif request.accepted[parent] != turn.assistant:
            yield f"{where} was committed with another text than the one that was accepted"
        if request.sources[parent] != turn.user:
            yield f"{where} was committed with another source than the registered one"

    def _check_order(self, session: str, identities: list[_Identity]) -> Iterator[str]:
        within: dict[int, int] = {}
        last = 0
        for request, parent in identities:
            place = request.places[parent]
            if place <= within.get(request.number, -1):
                yield f"the turns of one request stand out of source order in {session}"
            within[request.number] = place
            if self._settings.commit_order == "session" and request.number < last:
                yield f"the requests of {session} stand out of the order of their registration"
            last = max(last, request.number)

    def _check_bounds(self, snapshot: Snapshot) -> Iterator[str]:
        if len(snapshot.sessions) > self._settings.max_sessions:
            yield f"{len(snapshot.sessions)} live sessions are more than max_sessions"
        if any(len(session.turns) > self._settings.max_turns for session in snapshot.sessions):
            yield "a session keeps more than max_turns turns"
        if snapshot.open_handles > self._settings.max_open_handles:
            yield f"{snapshot.open_handles} open handles are more than max_open_handles"
        counts = snapshot.counts
        if counts.sent != counts.handled + counts.dead + counts.queued or counts.queued:
            yield (
                f"messages were lost: {counts.sent} sent, {counts.handled} handled, "
                f"{counts.dead} dead, {counts.queued} queued"
            )
        if counts.failed > self._failed:
            self._failed = counts.failed
            yield "an actor failed; see the log"


def _overlap(before: list[Turn], now: list[Turn]) -> int:
    """How many of the first turns of `now` are the last of `before`: the rest is new."""
    for kept in range(min(len(before), len(now)), 0, -1):
        if all(left is right for left, right in zip(before[len(before) - kept :], now[:kept], strict=True)):
            return kept
    return 0
