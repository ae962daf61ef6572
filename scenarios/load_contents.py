"""Recorded calls under load: moves and scripts of callers that record, refer, look up and follow up in one session."""

from __future__ import annotations

import json
import random
from typing import Any

from ..protocol.content_replies import FollowUpReply, ReferReply
from ..protocol.errors import ContentRefNotFound
from ..protocol.records import Call, CallRecord
from ..protocol.statuses import LowUtility
from ..recorded import Outcome
from . import load_moves as moves
from .load_faults import Faults
from .load_moves import Move
from .load_requests import Script
from .verdict_facts import Operation

__all__ = ["ContentScript"]

_CALLS = 6
"""Calls that one script records."""


def _stored(record: CallRecord) -> tuple[bool, str | None]:
    return record.stored, None if record.reason is None else record.reason.value


def _referred(reply: ReferReply) -> tuple[bool, str | None]:
    return reply.stored, None if reply.reason is None else reply.reason.value


def _followed(reply: FollowUpReply) -> tuple[str, Any]:
    if reply.miss is None:
        return "value", reply.value
    # An id that the session does not have is no id: then the words refer to nothing.
    return "miss", "unknown" if reply.reason is LowUtility.NO_FOLLOW_UP_INTENT else str(reply.reason)


def _found(reply: Any) -> tuple[str, Any]:
    return ("miss", reply.reason) if isinstance(reply, ContentRefNotFound) else ("value", reply)


def _ids(records: tuple[CallRecord, ...]) -> tuple[str, ...]:
    return tuple(record.id for record in records)


def _record(session: str, call: Call, value: str) -> Move:
    size = len(json.dumps(value, ensure_ascii=False).encode())
    operation = Operation("record", session, "", call.id, (value, size, call.depth > 0, call.keep))
    return Move(operation, lambda run: run.record_call(session, call, Outcome.ok(value)), _stored)


def _refer(session: str, parent: str, child: str) -> Move:
    operation = Operation("refer", session, "", child, parent)
    return Move(operation, lambda run: run.refer(session, parent, child), _referred)


def _fetch(session: str, call: str) -> Move:
    return Move(Operation("fetch", session, "", call), lambda run: run.content(session, call), _found)


def _follow(session: str, call: str) -> Move:
    # The id of a call, as it is written, means that call; its content is given, or the reason why it is not there.
    operation = Operation("fetch", session, "", call, "follow-up")
    return Move(operation, lambda run: run.follow_up(session, f"put {call} in a table"), _followed)


def _calls(session: str) -> Move:
    return Move(Operation("calls", session), lambda run: run.calls(session), _ids)


class ContentScript:
    """What one caller records and looks up in `session`; others do so at the same time, with some of the same ids."""

    def __init__(self, session: str, elsewhere: str, faults: Faults, rng: random.Random) -> None:
        self._session = session
        self._elsewhere = elsewhere
        self._faults = faults
        self._rng = rng

    def go(self, number: int) -> Script:
        """The script; `number` tells its ids from those of others."""
        rng, session = self._rng, self._session
        known: list[str] = []
        for place in range(_CALLS):
            # One id in ten is one that others record as well.
            call_id = f"c{number}-{place}" if rng.random() < 0.9 else f"c{place}"
            depth = rng.choice((0, 0, 1))
            call = Call(call_id, depth=depth, parent=known[0] if depth and known else None, keep=rng.random() < 0.2)
            value = f"value {number}-{place} {'·' * rng.choice((0, 10, 300, 3000))}"
            yield _record(session, call, value)
            known.append(call_id)
            looked_up = rng.choice((*known, f"c{number - rng.randint(0, 3)}-{rng.randrange(_CALLS)}"))
            yield rng.choice((_fetch, _fetch, _follow))(session, looked_up)
            if depth and rng.random() < 0.5:
                yield _refer(session, known[0], call_id)
            if rng.random() < 0.1:
                yield _fetch(self._elsewhere, call_id)
        yield _calls(session)
        if rng.random() < self._faults.cleared:
            yield moves.clear(session)
