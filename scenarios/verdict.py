"""The verdict: an independent judge of a run, who sees only what crossed the public face.

Rules. The log is taken piece by piece, in the order in which it was written; the number of an event in it is the
moment that evidence names. Each session is judged by itself (`verdict_search`), the looks at the whole by
`verdict_bounds`. What is finally judged is forgotten: the callers say when nobody will name a request or a session
again, and whatever names one later must find it unknown or closed. So the memory of the judge is bounded by what is
open, not by the length of the run.

Not judged: which of several idle sessions was evicted; which content was evicted first; when, in real time, something
happened that was due.
"""

from __future__ import annotations

from collections import deque

import attrs

from .verdict_bounds import breaches_of_look
from .verdict_breaches import ANSWERED, BOUNDS, Breach, Event, breach_of, second_look
from .verdict_contents import ContentJudge
from .verdict_executions import ExecutionJudge
from .verdict_facts import Look, Operation, Rules, shown, shown_reply
from .verdict_search import Possibility, Search, TooAmbiguous
from .verdict_spec import Specification

__all__ = ["Answered", "Called", "Entry", "Judge", "Looked", "OverRequest", "OverSession", "Verdict"]

_KEPT = 256
"""Operations after which a new stretch begins: evidence reaches back over the last one and the present one."""
_MOST = 16 * _KEPT
"""How far back a second look may have to begin."""
_OF_CONTENTS = frozenset(("record", "refer", "fetch", "calls"))
_OF_EXECUTIONS = frozenset(("translate", "respond", "outcome"))
_LATE = {
    "ack": (("STALE", ()),),
    "reject": (("STALE", ()),),
    "activate": ("UNKNOWN_REQUEST",),
    "cancel": ("UNKNOWN_REQUEST",),
    "dispatch_failed": ("UNKNOWN_REQUEST",),
}
"""What a request answers that has closed and was given up."""


@attrs.frozen
class Called:
    """An operation was called; it is written down before it is."""

    operation: Operation


@attrs.frozen
class Answered:
    """Its answer has come; it is written down afterwards."""

    operation: Operation


@attrs.frozen
class OverRequest:
    """The request has closed, and nobody will name it again, but to find it closed."""

    session: str
    request: str


@attrs.frozen
class OverSession:
    """Nobody will name the session again."""

    session: str


@attrs.frozen
class Looked:
    """Somebody looked at the whole."""

    look: Look


Entry = Called | Answered | OverRequest | OverSession | Looked


@attrs.frozen(kw_only=True)
class Verdict:
    """What the judge found. `ambiguous` sessions could not be followed to their end, which is no breach."""

    breaches: tuple[Breach, ...]
    operations: int
    accepted: int
    """Parents whose ACK was answered `ACCEPTED`."""
    committed: int
    """Of these, those that were named in a `committed`, once each."""
    looks: int
    ambiguous: int

    @property
    def clean(self) -> bool:
        return not self.breaches


class _SessionJudge:
    """Follows one session; see `verdict_search`."""

    def __init__(self, specification: Specification) -> None:
        self._specification = specification
        self.search = Search(specification)
        self._entries: deque[Called | Answered | OverRequest] = deque()
        self._stretch: list[Event | str] = []
        self._last_stretch: list[Event | str] = []
        self._last_begin: frozenset[Possibility] = self.search.possibilities
        self._begin: frozenset[Possibility] | None = None
        self.broken = False

    def take(self, entry: Called | Answered | OverRequest) -> Breach | None:
        """Take the next entry, and follow as far as replies are known."""
        self._entries.append(entry)
        while self._entries:
            entry = self._entries[0]
            if isinstance(entry, Answered):
                if any(operation.answered < 0 for operation in self.search.open):
                    return None
                self._entries.popleft()
                breach = self._answered(entry.operation)
                if breach is not None:
                    return breach
            elif isinstance(entry, Called):
                self._entries.popleft()
                self.search.call(entry.operation)
                self._stretch.append((entry.operation, False))
            else:
                self._entries.popleft()
                self.search.forget(entry.request)
                self._stretch.append(entry.request)
        return None

    def _answered(self, operation: Operation) -> Breach | None:
        self._stretch.append((operation, True))
        if self.search.answer(operation):
            if len(self._stretch) > 2 * _KEPT and not self.search.open:
                self._begin_stretch()
            return None
        stretch = self._last_stretch + self._stretch
        found, failed = second_look(self._specification, self._last_begin, stretch)
        if failed is None:
            # What was known at the present stretch's beginning was too little: it is no beginning any more.
            self.search.refound(found)
            self._last_stretch, self._stretch, self._begin = stretch, [], None
            return None
        if failed is not operation:
            # It had been too little before that already.
            raise TooAmbiguous
        self.broken = True
        return breach_of(self._specification, self._last_begin, stretch, operation)

    def _begin_stretch(self) -> None:
        if self._begin is None and len(self._last_stretch) < _MOST:
            self._last_stretch += self._stretch
        elif self._begin is None:
            self._last_begin, self._last_stretch = self.search.possibilities, []
        else:
            self._last_begin, self._last_stretch = self._begin, self._stretch
        self._begin, self._stretch = self.search.possibilities, []


class Judge:
    """Takes the log of a run, entry by entry; `finish` gives the verdict."""

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self._specification = Specification(rules)
        self._sessions: dict[str, _SessionJudge] = {}
        self._moment = 0
        self._unanswered: dict[Operation, int] = {}
        self._maybe_open: dict[str, str] = {}
        """Request → session of what may be open: registered, and not known to be over."""
        self._beside: dict[str, ContentJudge | ExecutionJudge] = {}
        """Sessions of recorded calls, and of translations, which are judged by other rules."""
        self._left: dict[str, bool] = {}
        """Sessions that nobody will name again, and whether the last look found them gone."""
        self._registrations = 0
        self._accepted = self._committed = self._operations = self._looks = self._ambiguous = 0
        self._past_steps = 0
        self.breaches: list[Breach] = []

    @property
    def known(self) -> int:
        """Sessions that are followed now, and requests that may be open: what the memory of the judge is bounded by."""
        return len(self._sessions) + len(self._beside) + len(self._maybe_open)

    def take(self, entry: Entry) -> None:
        """Take the next entry of the log."""
        self._moment += 1
        if isinstance(entry, Called):
            self._called(entry)
        elif isinstance(entry, Answered):
            self._answered(entry)
        elif isinstance(entry, OverRequest):
            self._maybe_open.pop(entry.request, None)
            self._follow(entry.session, entry)
        elif isinstance(entry, OverSession):
            self._left[entry.session] = False
        else:
            self._looked(entry.look)

    def _looked(self, look: Look) -> None:
        self._looks += 1
        self.breaches += breaches_of_look(look, self._rules)
        if look.at_rest:
            self._compare(look)
        live = {session for session, _turns, _counter in look.sessions}
        # A look may have begun before the session was left: the second one that finds it gone counts.
        for session, was_gone in [*self._left.items()]:
            self._left[session] = session not in live
            if was_gone and session not in live:
                del self._left[session]
                self._sessions.pop(session, None)
                if self._beside.pop(session, None) is not None:
                    for request in [name for name, home in self._maybe_open.items() if home == session]:
                        del self._maybe_open[request]

    def _called(self, entry: Called) -> None:
        operation = entry.operation
        operation.called = self._moment
        self._operations += 1
        if operation.kind in ("register", "translate"):
            self._registrations += 1
            self._maybe_open.setdefault(operation.request, operation.session)
        # Not more can have been open at any time until the answer than now and what is registered until then.
        self._unanswered[operation] = len(self._maybe_open) - self._registrations
        beside = self._judge_beside(operation)
        if beside is not None:
            beside.call(operation)
        elif not self._is_apart(operation):
            self._follow(operation.session, entry)

    def _judge_beside(self, operation: Operation) -> ContentJudge | ExecutionJudge | None:
        """Who judges the session of an operation, if it is one of recorded calls or of translations."""
        session = operation.session
        judge = self._beside.get(session)
        if judge is None and session not in self._sessions:
            if operation.kind in _OF_CONTENTS:
                judge = self._beside[session] = ContentJudge(self._rules)
            elif operation.kind in _OF_EXECUTIONS:
                judge = self._beside[session] = ExecutionJudge(self._rules)
        return judge

    def _answered(self, entry: Answered) -> None:
        operation = entry.operation
        operation.answered = self._moment
        open_before = self._unanswered.pop(operation)
        reply = operation.reply
        if isinstance(reply, tuple) and reply and reply[0] == "error":
            self._found(ANSWERED, f"{operation.kind} {operation.request or operation.session} raised", operation)
            if operation.session in self._sessions:
                self._sessions[operation.session].broken = True
            return
        if operation.kind in ("ack", "reject"):
            self._accepted += reply[0] == "ACCEPTED"
            self._committed += len(reply[1])
        elif reply == "OVERLOADED":
            self._overloaded(operation, open_before + self._registrations)
        beside = self._beside.get(operation.session)
        if beside is not None:
            self.breaches += beside.answer(operation)
            if operation.kind == "status" and not reply[0]:
                self._maybe_open.pop(operation.request, None)
        elif not self._is_apart(operation):
            self._follow(operation.session, entry)
        elif operation.kind == "refused":
            if reply != operation.argument:
                due = shown_reply("", operation.argument)
                self._found("what is not valid or takes no part is refused", f"must be {due}", operation)
        elif (operation.kind == "status" and reply[0]) or reply not in _LATE.get(operation.kind, (reply,)):
            self._found("late ACKs are stale", f"{operation.request} had closed before this was called", operation)

    def _found(self, promise: str, what: str, operation: Operation) -> None:
        self.breaches.append(Breach(promise, what, (shown(operation),)))

    @staticmethod
    def _is_apart(operation: Operation) -> bool:
        """Whether an operation has its reply whatever the session does."""
        return operation.is_over or operation.kind == "refused"

    def _overloaded(self, operation: Operation, open_at_most: int) -> None:
        """Refused for load: only if there may have been that load, of handles or of sessions that handles pin."""
        limit = min(self._rules.max_open_handles, self._rules.max_sessions)
        if open_at_most < limit:
            self._found(BOUNDS, f"OVERLOADED with at most {open_at_most} open handles", operation)

    def _follow(self, session: str, entry: Called | Answered | OverRequest) -> None:
        judge = self._sessions.get(session)
        if judge is None:
            if isinstance(entry, OverRequest):
                return
            judge = self._sessions[session] = _SessionJudge(self._specification)
        if judge.broken:
            return
        try:
            breach = judge.take(entry)
        except TooAmbiguous:
            judge.broken = True
            self._ambiguous += 1
            return
        if breach is not None:
            self.breaches.append(breach)

    def _compare(self, look: Look) -> None:
        """Nobody calls: each session must show what its operations have made of it."""
        shown_sessions = {session: (turns, counter) for session, turns, counter in look.sessions}
        opened: dict[str, tuple[str, ...]] = {}
        for request in look.open_requests:
            session = self._maybe_open.get(request)
            if any(judge.knows(request) for judge in self._beside.values()):
                continue
            if session is None:
                self.breaches.append(Breach(BOUNDS, f"{request} is open, and nobody registered it or it had closed"))
            else:
                opened[session] = (*opened.get(session, ()), request)
        for session in dict.fromkeys((*self._sessions, *shown_sessions)):
            if session in self._beside:
                continue
            operation = Operation("look", session)
            operation.reply = shown_sessions.get(session), opened.get(session, ())
            operation.called_at = operation.answered_at = look.at_us
            self.take(Called(operation))
            self.take(Answered(operation))

    def finish(self) -> Verdict:
        """The verdict on all that was taken."""
        for operation in self._unanswered:
            self._found(ANSWERED, "no answer came", operation)
        return Verdict(
            breaches=tuple(self.breaches),
            operations=self._operations,
            accepted=self._accepted,
            committed=self._committed,
            looks=self._looks,
            ambiguous=self._ambiguous,
        )
