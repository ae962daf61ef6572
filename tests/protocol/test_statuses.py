"""The words of the vocabulary have the spellings of the language page."""

from __future__ import annotations

from enum import StrEnum

import pytest

from dragoman.protocol import statuses
from dragoman.protocol.statuses import (
    AckStatus,
    ActivateStatus,
    Authority,
    CallFormat,
    CallStatus,
    ClaimStatus,
    ClearStatus,
    CloseCause,
    CloseStatus,
    ConfigureStatus,
    ContentKind,
    ExecutionStatus,
    FollowUpDecision,
    FollowUpMiss,
    LowUtility,
    MissReason,
    ParentState,
    ProposalState,
    ProposalStatus,
    Purpose,
    Quality,
    RegisterStatus,
    SerializationMode,
    SkipReason,
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
    CallStatus: "ok error",
    ContentKind: "object array string number boolean null fallback",
    SerializationMode: "json fallback",
    SkipReason: (
        "content_disabled error_capture_disabled nested_capture_disabled entry_exceeds_max_bytes serialization_failed "
        "duplicate_call content_released OVERLOADED"
    ),
    MissReason: "evicted expired unknown not_stored",
    FollowUpMiss: "content_ref_not_found low_utility",
    LowUtility: "no_follow_up_intent no_prior_content",
    FollowUpDecision: "FULL_FETCH SUMMARY_ONLY",
    ProposalState: "proposed approved refused applied",
    ProposalStatus: (
        "PROPOSED APPROVED ACKNOWLEDGED REFUSED APPLIED INVALID_PROPOSAL AUTHORITY_DENIED NOT_APPROVED ALREADY_DECIDED "
        "UNKNOWN_PROPOSAL"
    ),
    Authority: "observe propose enact",
}


@pytest.mark.parametrize("words", WORDS, ids=lambda words: words.__name__)
def test_the_words_are_those_of_the_page(words: type[StrEnum]) -> None:
    assert {word.value for word in words} == set(WORDS[words].split())


@pytest.mark.parametrize("words", WORDS, ids=lambda words: words.__name__)
def test_a_word_is_its_own_text(words: type[StrEnum]) -> None:
    for word in words:
        assert isinstance(word, str)
        assert f"{word}" == word.value
        assert word.value.upper() == word.name


def test_no_enum_is_left_out_here() -> None:
    assert {words.__name__ for words in WORDS} == set(statuses.__all__)
