"""The words of the vocabulary have the spellings of the language page."""

from __future__ import annotations

from enum import StrEnum

import pytest

from dragoman.protocol import statuses
from dragoman.protocol.statuses import (
    AckStatus,
    ActivateStatus,
    CallFormat,
    ClaimStatus,
    ClearStatus,
    CloseCause,
    CloseStatus,
    ConfigureStatus,
    ExecutionStatus,
    ParentState,
    Purpose,
    Quality,
    RegisterStatus,
    StartStatus,
    Termination,
)

WORDS: dict[type[StrEnum], str] = {
    RegisterStatus: "REGISTERED DUPLICATE_REQUEST NOT_PARTICIPATING INVALID_HANDOFF OVERLOADED",
    ActivateStatus: "ACTIVATED ALREADY_ACTIVE UNKNOWN_REQUEST",
    AckStatus: "ACCEPTED REJECTED DUPLICATE CONFLICT UNKNOWN_PARENT INVALID_RESULT STALE",
    CloseStatus: "DISPOSED UNKNOWN_REQUEST",
    ClaimStatus: "OVERLOADED",
    ClearStatus: "CLEARED UNKNOWN_SESSION",
    ConfigureStatus: "CONFIGURED",
    ParentState: "PENDING ACCEPTED REJECTED DISCARDED COMMITTED COMMIT_FAILED",
    CloseCause: (
        "COMPLETED EXPIRED CANCELLED TIMED_OUT DISPATCH_FAILED EXECUTION_FAILED CLEARED SESSION_EXPIRED "
        "PASSED_OVER FAILED SHUT_DOWN"
    ),
    Purpose: "PRIMARY_TRANSLATION STRUCTURED_RECOVERY",
    StartStatus: "STARTED INVALID_HANDOFF DUPLICATE_REQUEST OVERLOADED",
    ExecutionStatus: "COMPLETED FAILED CANCELLED",
    Quality: "COMPLETE PARTIAL NONE",
    Termination: "NORMAL TRUNCATED POLICY PROVIDER_ERROR UNKNOWN",
    CallFormat: "STRUCTURED SCALAR TEXTS",
}


@pytest.mark.parametrize("words", WORDS, ids=lambda words: words.__name__)
def test_the_words_are_those_of_the_page(words: type[StrEnum]) -> None:
    assert {word.value for word in words} == set(WORDS[words].split())


@pytest.mark.parametrize("words", WORDS, ids=lambda words: words.__name__)
def test_a_word_is_its_own_text(words: type[StrEnum]) -> None:
    for word in words:
        assert isinstance(word, str)
        assert f"{word}" == word.value == word.name


def test_no_enum_is_left_out_here() -> None:
    assert {words.__name__ for words in WORDS} == set(statuses.__all__)
