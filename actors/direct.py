"""The direct path's one turn (C4, C11, C22): staged and committed at most once, by the candidate of its attempt.

A violating answer or a failed call discards the candidate; what a recovery brings afterwards is returned to the caller
and makes no turn. A retry is a fresh attempt with a fresh candidate.
"""

from __future__ import annotations

from collections.abc import Callable

from ..protocol.batches import Ask, Resolved, Step
from ..protocol.candidates import Candidate
from ..protocol.content import is_clean_result
from ..protocol.execution_messages import CommitDirect, DirectCommitted
from ..protocol.history import Turn
from ..protocol.outcomes import Diagnostic, DiagnosticCode
from .mailbox import Mailbox
from .outside import Execute

__all__ = ["DirectCommit"]


class DirectCommit:
    """What a direct call may add to the history of its session."""

    __slots__ = ("_candidate", "_execute", "_note", "_sessions", "_turn")

    def __init__(self, execute: Execute, sessions: Mailbox, note: Callable[[Diagnostic], object]) -> None:
        self._execute = execute
        self._sessions = sessions
        self._note = note
        self._candidate = Candidate()
        self._turn: Turn | None = None

    def begin_attempt(self) -> None:
        self._candidate = Candidate()

    def follow(self, step: Step) -> None:
        """What an answer led to: anything but another key for the same call, or a valid answer, discards."""
        goes_on = not step.recovers if isinstance(step, Ask) else isinstance(step, Resolved) and not step.recovered
        if not goes_on:
            self._candidate.discard()

    def complete(self, result: str) -> None:
        """The response was accepted: commit what it staged, if that is clean and the call takes part."""
        plan = self._execute.plan
        source = plan.parents[0].source
        if not is_clean_result(result, source) or not self._candidate.stage(result):
            return
        staged = self._candidate.commit()
        if staged is not None and self._execute.takes_part:
            request_id = plan.handoff.request_id
            self._turn = Turn(request_id, request_id, source, staged)

    def abort(self) -> None:
        """The request is over: nothing of it may commit any more."""
        self._candidate.discard()

    def next_question(self) -> tuple[Mailbox, object] | None:
        """The commit that is due."""
        turn, self._turn = self._turn, None
        if turn is None:
            return None
        return self._sessions, CommitDirect(self._execute.plan.handoff.session_id, self._execute.incarnation, turn)

    def committed(self, reply: DirectCommitted | None) -> None:
        """The session manager has answered; None if it could not."""
        if reply is None or not reply.written:
            self._note(Diagnostic(DiagnosticCode.COMMIT_FAILED))
