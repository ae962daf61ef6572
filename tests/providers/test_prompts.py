"""What a chat model is told."""

from __future__ import annotations

import json

import pytest

from dragoman import CallFormat, Turn
from dragoman.protocol.verdicts import Violation
from dragoman.providers.prompts import answer_schema, system_prompt

from .openai_calls import call_of

MARKED = "one <dm-abcdefgh-1/>two<dm-abcdefgh-2/> three"


def test_the_prompt_depends_on_the_call_alone() -> None:
    assert system_prompt(call_of()) == system_prompt(call_of())


def test_languages_are_called_by_their_english_names() -> None:
    pytest.importorskip("langcodes")
    assert "from English into German" in system_prompt(call_of())
    assert "into Portuguese" in system_prompt(call_of(target_language="pt-BR"))


def test_a_language_that_nobody_knows_stands_as_its_tag() -> None:
    assert "into tlh-q.17" in system_prompt(call_of(target_language="tlh-q.17"))


@pytest.mark.parametrize("untold", ["auto", "und", ""])
def test_a_source_language_that_says_nothing_is_left_out(untold: str) -> None:
    prompt = system_prompt(call_of(source_language=untold))
    assert "from" not in prompt.partition(".")[0]


def test_no_text_of_a_call_gets_into_its_system_prompt() -> None:
    turn = Turn("r0", "p0", "earlier source", "earlier translation")
    for form in (CallFormat.STRUCTURED, CallFormat.SCALAR):
        prompt = system_prompt(call_of({"p1": "a private text"}, history=(turn,), format=form))
        assert not any(text in prompt for text in ("private", "earlier source", "earlier translation"))


def test_a_structured_call_asks_for_the_envelope_and_a_scalar_one_for_the_text_alone() -> None:
    assert '{"translations": [' in system_prompt(call_of())
    scalar = system_prompt(call_of(format=CallFormat.SCALAR))
    assert "translations" not in scalar
    assert "no JSON" in scalar


@pytest.mark.parametrize("form", [CallFormat.STRUCTURED, CallFormat.SCALAR])
def test_markers_are_spoken_of_where_there_are_any_and_by_one_of_them(form: CallFormat) -> None:
    assert "<dm-" not in system_prompt(call_of(format=form))
    assert "<dm-abcdefgh-1/>" in system_prompt(call_of({"p1": MARKED}, format=form))


def test_an_escape_is_spoken_of_where_there_is_one() -> None:
    assert "<dm\\-" in system_prompt(call_of({"p1": "a <dm\\-abc"}))
    assert "<dm\\-" not in system_prompt(call_of())


def test_earlier_turns_are_told_to_be_context_where_there_are_any() -> None:
    turn = Turn("r0", "p0", "Good", "Gut")
    assert "context" in system_prompt(call_of(history=(turn,)))
    assert "context" not in system_prompt(call_of())


@pytest.mark.parametrize("violation", Violation)
@pytest.mark.parametrize("form", [CallFormat.STRUCTURED, CallFormat.SCALAR])
def test_every_violation_is_told_to_the_recovery_in_a_sentence(form: CallFormat, violation: Violation) -> None:
    prompt = system_prompt(call_of(format=form, repair=(("p1", violation),)))
    line = prompt.splitlines()[-1]
    assert line.startswith("- ")
    assert line.endswith(".")
    assert ("p1" in line) == (form is CallFormat.STRUCTURED)
    assert str(violation) not in line


def test_repairs_name_their_units_whatever_the_ids_hold() -> None:
    wrong = (('a "quoted"\nid', Violation.MISSING), ("ü", Violation.MARKERS))
    prompt = system_prompt(call_of(repair=wrong))
    assert 'id "a \\"quoted\\"\\nid": ' in prompt
    assert 'id "ü": ' in prompt


def test_instructions_stand_at_the_end_and_blank_ones_nowhere() -> None:
    assert system_prompt(call_of(), "  Say Sie.\n").endswith("Say Sie.")
    assert system_prompt(call_of(), " \n") == system_prompt(call_of())


def test_the_schema_is_the_envelope_with_the_ids_of_the_call() -> None:
    schema = answer_schema(call_of({"p1": "a", "p2": "b"}))
    item = schema["properties"]["translations"]["items"]
    assert item["properties"]["id"] == {"type": "string", "enum": ["p1", "p2"]}
    assert item["required"] == ["id", "text"]
    assert schema["additionalProperties"] is item["additionalProperties"] is False
    assert json.loads(json.dumps(schema)) == schema


def test_more_ids_than_endpoints_take_are_not_listed() -> None:
    schema = answer_schema(call_of({f"p{number}": "a" for number in range(251)}))
    assert schema["properties"]["translations"]["items"]["properties"]["id"] == {"type": "string"}
