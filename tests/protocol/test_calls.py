"""A physical call as a provider sees it (language page "Units and batches", C3.1)."""

from __future__ import annotations

import json

import attrs
import pytest
from hypothesis import given

from dragoman.protocol.batches import Ask
from dragoman.protocol.calls import CallTaker, CallUnit, Completion, Provider, ProviderCall
from dragoman.protocol.drafts import draft, record_of
from dragoman.protocol.history import Turn
from dragoman.protocol.settings import Settings
from dragoman.protocol.statuses import CallFormat, Termination
from dragoman.protocol.translations import Plan, TranslationRequest, plan_translation
from dragoman.protocol.units import Unit
from dragoman.protocol.verdicts import Violation, judge

from ..strategies import segment_lists, tokens
from .scripted import batch

TOKEN = "abcdefgh"
HISTORY = (Turn("r0", "p1", "before", "vorher"),)
MARKED = CallUnit("p2", f"zwölf <dm-{TOKEN}-1/>Uhr", ("zwölf ", "Uhr"))
PLAIN = CallUnit("p1", "one", ("one",))


def call(wanted: CallFormat, *units: CallUnit) -> ProviderCall:
    return ProviderCall(
        id="r1/1",
        request_id="r1",
        number=1,
        purpose="PRIMARY_TRANSLATION",
        provider="openai",
        key=1,
        format=wanted,
        units=units,
        history=HISTORY,
        source_language="en",
        target_language="de",
        attempt=1,
    )


def planned() -> Plan:
    request = TranslationRequest("r1", "s1", {"p1": "one", "p2": ["two ", "halves"]}, "de", purpose="SUMMARY")
    plan = plan_translation(request, Settings())
    assert isinstance(plan, Plan)
    return plan


def test_the_body_of_a_structured_call_is_the_envelope_of_its_units() -> None:
    body = call(CallFormat.STRUCTURED, PLAIN, MARKED).body
    assert json.loads(body) == {
        "translations": [{"id": "p1", "text": "one"}, {"id": "p2", "text": f"zwölf <dm-{TOKEN}-1/>Uhr"}]
    }
    assert "ö" in body


def test_the_body_of_a_scalar_call_is_the_bare_text_of_its_unit() -> None:
    assert call(CallFormat.SCALAR, MARKED).body == MARKED.text


def test_the_body_of_a_call_to_a_machine_is_the_list_of_its_plain_texts() -> None:
    asked = call(CallFormat.TEXTS, PLAIN, MARKED)
    assert asked.texts == ("one", "zwölf ", "Uhr")
    assert json.loads(asked.body) == ["one", "zwölf ", "Uhr"]
    assert "ö" in asked.body


@given(segment_lists.filter(lambda segments: all(segment.strip() for segment in segments)), tokens)
def test_a_provider_that_sends_the_body_back_has_answered_well(segments: list[str], token: str) -> None:
    unit = Unit("p1", "p1", tuple(segments), 3)
    sent = CallUnit(unit.id, unit.wire(token), unit.pieces)
    verdict = judge(CallFormat.STRUCTURED, (unit,), token, call(CallFormat.STRUCTURED, sent).body, None)
    assert verdict.valid == {"p1": tuple(segments)}


def test_a_call_as_a_chat_prompt_is_the_history_and_then_the_body() -> None:
    asked = call(CallFormat.SCALAR, PLAIN)
    turns = [("user", "before"), ("assistant", "vorher"), ("user", "one")]
    assert [(message.role, message.content) for message in asked.messages()] == turns
    assert [(message.role, message.content) for message in asked.messages("be brief")] == [
        ("system", "be brief"),
        *turns,
    ]


def test_a_primary_call_is_drafted_with_the_purpose_and_the_history_of_its_request() -> None:
    plan, run = planned(), batch("p1")
    ask = run.start()
    assert isinstance(ask, Ask)
    units = plan.batches[0]
    found = draft(plan, TOKEN, HISTORY, run, attrs.evolve(ask, units=units))
    assert found == ProviderCall(
        id="",
        request_id="r1",
        number=0,
        purpose="SUMMARY",
        provider="openai",
        key=0,
        format=CallFormat.STRUCTURED,
        units=(CallUnit("p1", "one", ("one",)), CallUnit("p2", f"two <dm-{TOKEN}-1/>halves", ("two ", "halves"))),
        history=HISTORY,
        source_language="en",
        target_language="de",
        attempt=1,
    )


def test_a_recovery_is_drafted_with_its_own_purpose_no_history_and_what_was_wrong() -> None:
    plan, run = planned(), batch("p1")
    run.start()
    repair = (("p1", Violation.BLANK),)
    ask = Ask(plan.batches[0][:1], CallFormat.SCALAR, recovers=True, key=2, repair=repair)
    found = draft(plan, TOKEN, HISTORY, run, ask)
    assert (found.purpose, found.history, found.repair, found.key) == ("STRUCTURED_RECOVERY", (), repair, 2)


def test_the_record_of_a_completion_holds_its_facts_without_its_text() -> None:
    completion = Completion("canary", texts=("canary",), termination=Termination.TRUNCATED, model="m1", output_tokens=3)
    record = record_of("r1/1", 2, completion)
    assert attrs.astuple(record) == ("r1/1", 2, Termination.TRUNCATED, "m1", None, 3)


def test_a_provider_is_whatever_can_complete_a_call() -> None:
    class Echo:
        async def complete(self, call: ProviderCall) -> Completion:
            return Completion(call.body)

    class Queue:
        def take(self, call: ProviderCall) -> None: ...

    assert isinstance(Echo(), Provider)
    assert isinstance(Queue(), CallTaker)
    assert not isinstance(Echo(), CallTaker)
    assert not isinstance(object(), Provider)


@pytest.mark.parametrize("value", [call(CallFormat.STRUCTURED, MARKED), MARKED, Completion("zwölf", texts=("Uhr",))])
def test_no_repr_shows_text(value: object) -> None:
    shown = repr(value)
    assert not any(text in shown for text in ("zwölf", "Uhr", "before", "vorher"))
