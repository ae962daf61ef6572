"""The sequential specification: what a session does when its operations come one after another.

This is the guarantee, written down once more from the contract and the design, without concurrency and without a line
of the product. The verdict asks of a run that every reply is one that this specification gives, for some order of the
operations of that session that respects real time. What holds here, therefore holds there:

- A parent commits when every parent before it in source order is settled, and, with `commit_order="session"`, when
  every request that was registered before its own is closed. So the turns stand in canonical order, one for each
  accepted parent.
- A handle closes once. What was pending is discarded, what was accepted can no longer commit, and every ACK is `STALE`.
- The first ACK of a parent decides; the first text stands. Only a move starts a commit.
- A window ends not before its time, once, and not at all when every parent has its ACK. A request that was never
  activated is passed over when another one has waited for it as long.
- Clearing, expiry and eviction take the turns, the counter and the open handles along; eviction finds no handle open.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from .verdict_facts import Operation, Rules, TurnFact
from .verdict_states import (
    ACCEPTED,
    COMMIT_FAILED,
    COMMITTED,
    DISCARDED,
    PENDING,
    REJECTED,
    Closed,
    Handle,
    Session,
    state_name,
)

__all__ = ["Happening", "Specification"]

_NO_EFFECT = frozenset(
    (
        *("DUPLICATE", "CONFLICT", "STALE", "UNKNOWN_PARENT", "INVALID_RESULT", "UNKNOWN_REQUEST", "ALREADY_ACTIVE"),
        *("DUPLICATE_REQUEST", "OVERLOADED", "UNKNOWN_SESSION"),
    )
)
_STALE: tuple[str, tuple[str, ...]] = ("STALE", ())
_ENVELOPE = '{"translations": ['

Answer = tuple[Session, Any]
"""The state after an operation, and its reply."""
Happening = tuple[tuple[str, str], int, Session]
"""What happens by itself and to which request, the instant at which it is due, and the state after it."""


class Specification:
    """What each operation does to a session, under the `rules` of one runtime."""

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self.punctual = rules.punctual
        self._answers: dict[str, Callable[[Session, Operation], Answer]] = {
            "register": self._register,
            "activate": self._activate,
            "ack": self._ack,
            "reject": self._reject,
            "cancel": self._cancel,
            "dispatch_failed": self._dispatch_failed,
            "status": self._status,
            "read": self._read,
            "claim": self._claim,
            "clear": self._clear,
            "fail_commits": self._fail_commits,
            "look": self._look,
        }

    def step(self, session: Session, operation: Operation) -> Session | None:
        """The state after `operation`, if the reply that it had is the one that it must have here; else None."""
        after, reply = self._answers[operation.kind](session, operation)
        return after if reply == operation.reply else None

    def reply_to(self, session: Session, operation: Operation) -> Any:
        """The reply that `operation` must have here."""
        return self._answers[operation.kind](session, operation)[1]

    def has_no_effect(self, operation: Operation) -> bool:
        """Whether an operation with that reply never changes anything, wherever it stands."""
        reply = operation.reply
        if operation.kind in ("ack", "reject"):
            return reply[0] in _NO_EFFECT
        return operation.kind in ("status", "look") or (isinstance(reply, str) and reply in _NO_EFFECT)

    def changes_nothing(self, operation: Operation) -> bool:
        """Whether it does not matter to anything else where an operation with that reply stands.

        A read that showed turns is a use of its session; but what it showed says that the session had not ended.
        """
        return self.has_no_effect(operation) or (operation.kind == "read" and operation.reply != ())

    def events(self, session: Session, now_us: int) -> Iterator[Happening]:
        """What may happen by itself up to the instant `now_us`."""
        for place, handle in enumerate(session.handles):
            if handle.window_us is not None and handle.window_us <= now_us:
                yield (
                    ("window", handle.registration.request),
                    handle.window_us,
                    self._close(session, place, "EXPIRED", handle.window_us),
                )
            if handle.wait_us is not None and handle.wait_us <= now_us:
                yield ("wait", handle.registration.request), handle.wait_us, self._pass_over(session, handle)
        if session.live:
            expiry_us = session.used_us + self._rules.ttl_us + 1
            if expiry_us <= now_us:
                yield ("expiry", ""), expiry_us, self._drop(session, "SESSION_EXPIRED", expiry_us)
            if self._rules.crowded and not session.handles:
                yield ("eviction", ""), now_us, self._drop(session, "", now_us)

    def is_overdue(self, session: Session, now_us: int) -> bool:
        """Whether something should have happened by itself by the instant `now_us`."""
        for handle in session.handles:
            if handle.window_us is not None and handle.window_us <= now_us:
                return True
            if handle.wait_us is not None and handle.wait_us <= now_us:
                return True
        return session.live and session.used_us + self._rules.ttl_us + 1 <= now_us

    def forget(self, session: Session, request: str) -> Session:
        """Nobody will ask for this request again."""
        left = tuple(closed for closed in session.closed if closed.registration.request != request)
        return session if len(left) == len(session.closed) else session._replace(closed=left)

    def _register(self, session: Session, operation: Operation) -> Answer:
        request = operation.request
        if _place(session, request) >= 0:
            return session, "DUPLICATE_REQUEST"
        for closed in session.closed:
            if closed.registration.request == request:
                if not self._is_forgotten(closed, operation, operation.reply != "DUPLICATE_REQUEST"):
                    return session, "DUPLICATE_REQUEST"
                session = self.forget(session, request)
        if operation.reply == "OVERLOADED":
            # Whether there was room is a question of all sessions; it is asked elsewhere.
            return session, "OVERLOADED"
        registration = operation.argument
        count = len(registration.parents)
        handle = Handle(registration, bytes((PENDING,)) * count, 0, count, 0, False, None, None, False)
        return (
            session._replace(
                live=True, used_us=max(session.used_us, operation.called_at), handles=(*session.handles, handle)
            ),
            "REGISTERED",
        )

    def _activate(self, session: Session, operation: Operation) -> Answer:
        place = _place(session, operation.request)
        if place < 0:
            return session, "UNKNOWN_REQUEST"
        handle = session.handles[place]
        if handle.active:
            return session, "ALREADY_ACTIVE"
        window_us = operation.called_at + self._rules.window_us if handle.pending else None
        return _with(session, place, handle._replace(active=True, window_us=window_us)), "ACTIVATED"

    def _ack(self, session: Session, operation: Operation) -> Answer:
        place = _place(session, operation.request)
        if place < 0:
            return session, _STALE
        handle = session.handles[place]
        parent = handle.registration.places.get(operation.parent)
        if parent is None:
            return session, ("UNKNOWN_PARENT", ())
        if not _is_clean(operation.argument, handle.registration.sources[parent]):
            return session, ("INVALID_RESULT", ())
        mark = handle.marks[parent]
        if mark != PENDING:
            return session, ("DUPLICATE" if mark >= ACCEPTED or mark == COMMITTED else "CONFLICT", ())
        accepted = ACCEPTED + handle.registration.variant(parent, operation.argument)
        moved, committed = self._moved(session, place, parent, accepted, operation)
        return moved, ("ACCEPTED", committed)

    def _reject(self, session: Session, operation: Operation) -> Answer:
        place = _place(session, operation.request)
        if place < 0:
            return session, _STALE
        handle = session.handles[place]
        parent = handle.registration.places.get(operation.parent)
        if parent is None:
            return session, ("UNKNOWN_PARENT", ())
        mark = handle.marks[parent]
        if mark != PENDING:
            return session, ("DUPLICATE" if mark == REJECTED else "CONFLICT", ())
        moved, committed = self._moved(session, place, parent, REJECTED, operation)
        return moved, ("REJECTED", committed)

    def _moved(
        self, session: Session, place: int, parent: int, mark: int, operation: Operation
    ) -> tuple[Session, tuple[str, ...]]:
        """A parent has its ACK: what commits now, or that the handle begins its wait for its turn."""
        old = session.handles[place]
        now_us = operation.called_at
        # In real time the wait may have begun with any of the ACKs that were called by now.
        since_us = now_us if self.punctual else operation.since_us
        accepted = mark >= ACCEPTED
        pending, held = old.pending - 1, old.held + accepted
        first = place == 0 or not self._rules.in_session_order
        waits = not first and accepted and not old.waited
        handle = Handle(
            old.registration,
            old.marks[:parent] + bytes((mark,)) + old.marks[parent + 1 :],
            old.cursor,
            pending,
            held,
            old.active,
            old.window_us if pending else None,
            since_us + self._rules.window_us if waits else old.wait_us,
            old.waited or waits,
        )
        if first:
            return self._commit(session, place, handle, now_us)
        session = _with(session, place, handle)
        if not pending and not held:
            session = self._close(session, place, "COMPLETED", now_us)
        return session, ()

    def _commit(self, session: Session, place: int, handle: Handle, now_us: int) -> tuple[Session, tuple[str, ...]]:
        """Commit what is due of a handle that has its turn; it closes when nothing of it is left."""
        end = handle.marks.find(PENDING, handle.cursor)
        end = len(handle.marks) if end < 0 else end
        turns: list[TurnFact] = []
        faults = session.faults
        held, marks = handle.held, handle.marks
        if end > handle.cursor:
            changed = bytearray(marks)
            for parent in range(handle.cursor, end):
                mark = changed[parent]
                if mark < ACCEPTED:
                    continue
                held -= 1
                if faults:
                    faults -= 1
                    changed[parent] = COMMIT_FAILED
                else:
                    changed[parent] = COMMITTED
                    turns.append(handle.registration.turn(parent, mark - ACCEPTED))
            marks = bytes(changed)
        handle = handle._replace(marks=marks, cursor=end, held=held)
        kept = session.turns
        if turns:
            kept = (*kept, *turns)
            kept = kept[max(0, len(kept) - self._rules.max_turns) :]
        session = session._replace(
            handles=(*session.handles[:place], handle, *session.handles[place + 1 :]),
            turns=kept,
            faults=faults,
            used_us=max(session.used_us, now_us) if turns else session.used_us,
        )
        if not handle.pending:
            session = self._close(session, place, "COMPLETED", now_us)
        return session, tuple([turn[1] for turn in turns])

    def _close(self, session: Session, place: int, cause: str, now_us: int) -> Session:
        """Close a handle; the first one of a session passes its turn on, and what waited for it commits."""
        session = _settled(session, place, cause, now_us)
        if place == 0 and self._rules.in_session_order and session.handles:
            following = session.handles[0]._replace(wait_us=None)
            session, _committed = self._commit(session, 0, following, now_us)
        return session

    def _pass_over(self, session: Session, waiting: Handle) -> Session:
        """`waiting` has waited too long: those before it that were never activated close, the earliest first."""
        at_us = waiting.wait_us or 0
        request = waiting.registration.request
        place = _place(session, request)
        session = _with(session, place, waiting._replace(wait_us=None))
        while True:
            before = session.handles[: max(0, _place(session, request))]
            lost = next((place for place, other in enumerate(before) if not other.active and other.pending), None)
            if lost is None:
                return session
            session = self._close(session, lost, "PASSED_OVER", at_us)

    def _cancel(self, session: Session, operation: Operation) -> Answer:
        return self._close_asked(session, operation, "CANCELLED")

    def _dispatch_failed(self, session: Session, operation: Operation) -> Answer:
        return self._close_asked(session, operation, "DISPATCH_FAILED")

    def _close_asked(self, session: Session, operation: Operation, cause: str) -> Answer:
        place = _place(session, operation.request)
        if place < 0:
            return session, "UNKNOWN_REQUEST"
        return self._close(session, place, cause, operation.called_at), "DISPOSED"

    def _status(self, session: Session, operation: Operation) -> Answer:
        request = operation.request
        place = _place(session, request)
        if place >= 0:
            handle = session.handles[place]
            return session, (True, None, _states(handle.registration.parents, handle.marks))
        for closed in session.closed:
            if closed.registration.request == request:
                if self._is_forgotten(closed, operation, operation.reply[1] is None):
                    break
                return session, (False, closed.cause, _states(closed.registration.parents, closed.marks))
        return session, (False, None, ())

    def _is_forgotten(self, closed: Closed, operation: Operation, seems_so: bool) -> bool:
        """Whether the ledger has forgotten a request by then; where it may have, what the reply says."""
        if self._rules.punctual:
            if closed.closed_us + self._rules.ttl_us < operation.called_at:
                return True
        elif closed.closed_us + self._rules.ttl_us < operation.answered_at:
            return seems_so
        return self._rules.forgetful and seems_so

    def _read(self, session: Session, operation: Operation) -> Answer:
        if not session.live:
            return session, ()
        turns = session.turns[max(0, len(session.turns) - operation.argument) :]
        return session._replace(used_us=max(session.used_us, operation.called_at)), turns

    def _claim(self, session: Session, operation: Operation) -> Answer:
        if not session.live and operation.reply == "OVERLOADED":
            return session, "OVERLOADED"
        counter = session.counter + 1
        used_us = max(session.used_us, operation.called_at)
        return session._replace(live=True, counter=counter, used_us=used_us), counter

    def _clear(self, session: Session, operation: Operation) -> Answer:
        if not session.live:
            return session, "UNKNOWN_SESSION"
        return self._drop(session, "CLEARED", operation.called_at), "CLEARED"

    def _fail_commits(self, session: Session, operation: Operation) -> Answer:
        return session._replace(faults=session.faults + operation.argument), None

    def _look(self, session: Session, _operation: Operation) -> Answer:
        """What a snapshot shows: turns and counter, None where the session does not live, and its open requests."""
        held = (session.turns, session.counter) if session.live else None
        return session, (held, tuple(handle.registration.request for handle in session.handles))

    def _drop(self, session: Session, cause: str, now_us: int) -> Session:
        """The session ends: its handles close, first to last, and pass nothing on; then it is forgotten."""
        while session.handles:
            session = _settled(session, 0, cause, now_us)
        return session._replace(live=False, turns=(), counter=0)


def _place(session: Session, request: str) -> int:
    """Which of the open handles is that of `request`; -1 if none is."""
    for place, handle in enumerate(session.handles):
        if handle.registration.request == request:
            return place
    return -1


def _with(session: Session, place: int, handle: Handle) -> Session:
    return session._replace(handles=(*session.handles[:place], handle, *session.handles[place + 1 :]))


def _settled(session: Session, place: int, cause: str, now_us: int) -> Session:
    """The session without that handle, which has closed."""
    handle = session.handles[place]
    marks = handle.marks.replace(bytes((PENDING,)), bytes((DISCARDED,)))
    closed = Closed(handle.registration, cause, marks, now_us)
    return session._replace(
        handles=(*session.handles[:place], *session.handles[place + 1 :]), closed=(*session.closed, closed)
    )


def _states(parents: tuple[str, ...], marks: bytes) -> tuple[tuple[str, str], ...]:
    return tuple(zip(parents, map(state_name, marks), strict=True))


def _is_clean(text: str, source: str) -> bool:
    """Whether an ACK may carry `text`; of envelopes, those that a program writes."""
    return bool(text.strip() or not source.strip()) and not text.lstrip().startswith(_ENVELOPE)
