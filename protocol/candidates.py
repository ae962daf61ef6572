"""The candidate of a direct call (C4, C11): what may become a turn, staged and committed at most once.

Once it is committed or discarded, nothing moves it any more: a late commit does nothing.
"""

from __future__ import annotations

from enum import StrEnum
from types import MappingProxyType

__all__ = ["CANDIDATE_TABLE", "Candidate", "CandidateEvent", "CandidateState"]


class CandidateState(StrEnum):
    EMPTY = "EMPTY"
    """No valid answer yet."""
    STAGED = "STAGED"
    """A valid answer is there, and not yet accepted."""
    COMMITTED = "COMMITTED"
    """It went to the history."""
    DISCARDED = "DISCARDED"
    """It never will."""


class CandidateEvent(StrEnum):
    STAGE = "STAGE"
    COMMIT = "COMMIT"
    DISCARD = "DISCARD"


_S, _E = CandidateState, CandidateEvent

CANDIDATE_TABLE = MappingProxyType(
    {
        _S.EMPTY: MappingProxyType({_E.STAGE: _S.STAGED, _E.DISCARD: _S.DISCARDED}),
        _S.STAGED: MappingProxyType({_E.COMMIT: _S.COMMITTED, _E.DISCARD: _S.DISCARDED}),
        _S.COMMITTED: MappingProxyType({}),
        _S.DISCARDED: MappingProxyType({}),
    }
)
"""An event that has no entry does nothing."""


class Candidate:
    """One attempt's provisional contribution."""

    __slots__ = ("_result", "state")

    def __init__(self) -> None:
        self.state = CandidateState.EMPTY
        self._result = ""

    def stage(self, result: str) -> bool:
        """Take the text of a valid answer; whether it was taken."""
        staged = self._move(CandidateEvent.STAGE)
        if staged:
            self._result = result
        return staged

    def commit(self) -> str | None:
        """The text that is to be written now, once; None if there is nothing to write (any more)."""
        return self._release() if self._move(CandidateEvent.COMMIT) else None

    def discard(self) -> None:
        """Drop it; a second time does nothing."""
        if self._move(CandidateEvent.DISCARD):
            self._release()

    def _move(self, event: CandidateEvent) -> bool:
        following = CANDIDATE_TABLE[self.state].get(event)
        if following is not None:
            self.state = following
        return following is not None

    def _release(self) -> str:
        result, self._result = self._result, ""
        return result
