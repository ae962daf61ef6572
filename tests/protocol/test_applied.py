"""Entries of the feature history: what they are found by, and what they show."""

from __future__ import annotations

import hashlib

import attrs
import pytest
from hypothesis import given

from dragoman.protocol.applied import AppliedKey, AppliedParent, FindApplied, ReadApplied, RecordApplied, Recorded

from ..strategies import texts

ENTRY = AppliedParent(
    document="page",
    parent_id="p1",
    source="a source text",
    translated="a translated text",
    source_language="en",
    target_language="de",
    provider="openai",
)


@given(texts)
def test_the_digest_is_of_the_source_alone(source: str) -> None:
    entry = attrs.evolve(ENTRY, source=source, translated=source)
    assert entry.digest == hashlib.sha256(source.encode()).hexdigest()


def test_a_source_with_a_lone_surrogate_has_a_digest() -> None:
    assert attrs.evolve(ENTRY, source="\ud800").digest != attrs.evolve(ENTRY, source="\ud801").digest


def test_the_key_is_everything_but_the_texts() -> None:
    assert ENTRY.key == AppliedKey(
        document="page",
        parent_id="p1",
        digest=ENTRY.digest,
        source_language="en",
        target_language="de",
        provider="openai",
    )
    assert attrs.evolve(ENTRY, translated="another").key == ENTRY.key
    assert attrs.evolve(ENTRY, source="another").key != ENTRY.key


@pytest.mark.parametrize("value", [ENTRY, ENTRY.key, RecordApplied((ENTRY,)), FindApplied(ENTRY.key)])
def test_no_text_shows(value: object) -> None:
    assert "page" in repr(value)
    assert ENTRY.source not in repr(value)
    assert ENTRY.translated not in repr(value)


@pytest.mark.parametrize("value", [ENTRY, ENTRY.key, RecordApplied((ENTRY,)), Recorded(failed=True), ReadApplied()])
def test_entries_and_messages_are_values(value: object) -> None:
    assert isinstance(hash(value), int)
    with pytest.raises(AttributeError):
        value.provider = "deepl"  # type: ignore[attr-defined]
