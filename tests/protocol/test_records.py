"""Call records and what is answered about content: compact values that hold no payload of their own (P phase 1.3)."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Callable
from typing import Any

import attrs
import pytest

from dragoman.protocol.content_replies import FollowUpReply, ReferReply, SessionContent, StoreCounters, StoreSnapshot
from dragoman.protocol.follow_ups import Intent, Trace
from dragoman.protocol.mappings import FrozenMapping
from dragoman.protocol.payloads import Payload, serialize
from dragoman.protocol.prompt_refs import LOW_UTILITY_GUIDANCE, MISS_GUIDANCE
from dragoman.protocol.records import DEFAULT_METHOD, DEFAULT_ROLE, Call, CallRecord
from dragoman.protocol.retention import Retention
from dragoman.protocol.settings import Settings
from dragoman.protocol.statuses import (
    CallStatus,
    ContentKind,
    FollowUpDecision,
    FollowUpMiss,
    LowUtility,
    MissReason,
    SerializationMode,
    SkipReason,
)

SECRET = "Bernina Zephyr"
PLAIN = CallRecord("c1", "assistant", "ask", 0, None, CallStatus.OK)
STORED = attrs.evolve(
    PLAIN,
    content_ref="content:abc",
    content_kind=ContentKind.STRING,
    content_bytes=16,
    content_digest="0" * 64,
    content_mode=SerializationMode.JSON,
    time_s=1.5,
)
TRACE = Trace(Intent.RELATIVE, considered=1, candidate="c1")


def payload(value: object) -> Payload:
    made = serialize(value, 1000)
    assert isinstance(made, Payload)
    return made


def test_a_call_is_of_depth_0_by_the_assistant_unless_it_says_otherwise() -> None:
    assert Call("c1") == Call("c1", "assistant", "ask", 0, None, False)
    assert (DEFAULT_ROLE, DEFAULT_METHOD) == ("assistant", "ask")


def test_a_record_has_no_place_for_a_payload() -> None:
    assert {field.name for field in attrs.fields(CallRecord)} == {
        *("id", "role", "method", "depth", "parent", "status", "reason", "time_s"),
        *("content_ref", "content_kind", "content_bytes", "content_digest", "content_mode"),
    }


def test_a_record_of_what_was_not_stored_tells_nothing_of_content() -> None:
    told = [getattr(PLAIN, f"content_{fact}") for fact in ("ref", "kind", "bytes", "digest", "mode")]
    assert (told, PLAIN.stored) == ([None] * 5, False)
    assert STORED.stored


def test_a_follow_up_gives_a_fresh_copy_each_time() -> None:
    reply = FollowUpReply(
        call="c1", decision=FollowUpDecision.FULL_FETCH, content=payload({"steps": [1, 2]}), trace=TRACE
    )
    reply.value["steps"].append(3)
    assert reply.value == {"steps": [1, 2]}
    assert reply.guidance is None


def test_a_follow_up_whose_value_is_null_is_told_from_one_without_a_value() -> None:
    fetched = FollowUpReply(call="c1", decision=FollowUpDecision.FULL_FETCH, content=payload(None), trace=TRACE)
    summary = FollowUpReply(call="c1", decision=FollowUpDecision.SUMMARY_ONLY, trace=TRACE)
    assert (fetched.value, fetched.decision) == (None, "FULL_FETCH")
    assert (summary.value, summary.decision) == (None, "SUMMARY_ONLY")


@pytest.mark.parametrize("reason", MissReason)
def test_a_miss_comes_with_the_guidance_of_its_reason(reason: MissReason) -> None:
    reply = FollowUpReply(miss=FollowUpMiss.CONTENT_REF_NOT_FOUND, reason=reason, trace=TRACE)
    assert (reply.guidance, reply.value) == (MISS_GUIDANCE[reason], None)


@pytest.mark.parametrize("reason", LowUtility)
def test_low_utility_comes_with_the_guidance_of_its_reason(reason: LowUtility) -> None:
    reply = FollowUpReply(miss=FollowUpMiss.LOW_UTILITY, reason=reason, trace=TRACE)
    assert (reply.guidance, reply.value) == (LOW_UTILITY_GUIDANCE[reason], None)


def test_a_reference_is_stored_if_it_has_a_ref() -> None:
    assert ReferReply("content:abc", ContentKind.NULL, 4, SerializationMode.JSON).stored
    assert not ReferReply(reason=SkipReason.CONTENT_RELEASED).stored


def test_counters_begin_at_nothing() -> None:
    counters = attrs.asdict(StoreCounters(), recurse=False)
    assert (counters.pop("skips_by_reason"), counters.pop("misses_by_reason")) == ({}, {})
    names = ("writes", "skips", "hits", "misses", "evictions", "evictions_over_all", "expired")
    assert counters == dict.fromkeys(names, 0)


def test_what_counters_were_made_of_may_change_later() -> None:
    reasons = {"evicted": 1}
    counters = StoreCounters(misses=1, misses_by_reason=reasons)
    reasons["evicted"] = 2
    assert counters.misses_by_reason == {"evicted": 1}


SNAPSHOT = StoreSnapshot(
    sessions={"s1": SessionContent(1, 16)},
    bytes=16,
    counters=StoreCounters(writes=1),
    retention=Retention.of(Settings()),
)
ANSWERS = [
    Call("c1", keep=True),
    PLAIN,
    STORED,
    ReferReply("content:abc", ContentKind.STRING, 16, SerializationMode.JSON),
    FollowUpReply(call="c1", decision=FollowUpDecision.FULL_FETCH, content=payload(SECRET), trace=TRACE),
    FollowUpReply(miss=FollowUpMiss.LOW_UTILITY, reason=LowUtility.NO_PRIOR_CONTENT, trace=Trace(Intent.NONE)),
    StoreCounters(hits=2, misses_by_reason=FrozenMapping({"unknown": 1})),
    SNAPSHOT,
]


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value))])
@pytest.mark.parametrize("answer", ANSWERS, ids=lambda answer: type(answer).__name__)
def test_an_answer_about_content_can_be_copied_and_sent_elsewhere(answer: Any, copied: Callable[[Any], Any]) -> None:
    twin = copied(answer)
    assert (type(twin), twin, hash(twin)) == (type(answer), answer, hash(answer))


@pytest.mark.parametrize("answer", ANSWERS, ids=lambda answer: type(answer).__name__)
def test_an_answer_about_content_is_read_only(answer: Any) -> None:
    name = attrs.fields(type(answer))[0].name
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        setattr(answer, name, "other")


@pytest.mark.parametrize(
    "value", [SECRET, {"name": SECRET}, {SECRET: 1}, [[SECRET]]], ids=["text", "item", "key", "in"]
)
def test_no_answer_shows_a_payload(value: object) -> None:
    reply = FollowUpReply(call="c1", decision=FollowUpDecision.FULL_FETCH, content=payload(value), trace=TRACE)
    assert SECRET in json.dumps(reply.value)
    assert "Bernina" not in repr(reply) + str(reply) + repr(reply.content)
