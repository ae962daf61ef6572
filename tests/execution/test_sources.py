"""Source text never passes for a translation, and nothing blank for a text, at any layer (C3.2, C5)."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from dragoman import (
    AckStatus,
    Completion,
    DirectRequest,
    ProviderPolicy,
    Runtime,
    ScriptedProvider,
    Settings,
    SimulatedDispatcher,
    TextDocument,
    Translation,
    TranslationRequest,
)

BLANKS = ["", " ", "\n\t", "\u00a0", "\u2003\u3000", "\u2028\x1f"]
POLICIES = {"deepl": ProviderPolicy(kind="machine")}


@pytest.fixture
def runtime() -> Iterator[Runtime]:
    dispatcher = SimulatedDispatcher()
    with Runtime(Settings(batch_units=2), providers=POLICIES, dispatcher=dispatcher) as made:
        yield made


def _translate(
    runtime: Runtime, parents: dict[str, str | list[str]], *, provider: str = "openai", by_hand: bool = False
) -> tuple[Translation, TextDocument]:
    document = TextDocument(parents, by_hand=by_hand)
    request = TranslationRequest("r1", "s1", parents, "de", provider=provider)
    running = runtime.translate(request, provider=ScriptedProvider(), feature=document)
    running.started.get()
    return running, document


def _answer(runtime: Runtime, call: int, **texts: str | list[str]) -> None:
    runtime.respond(f"r1/{call}", translations=texts).get()


def _history(runtime: Runtime) -> list[tuple[str, str]]:
    return [(turn.user, turn.assistant) for turn in runtime.history("s1").get()]


def _back_off(runtime: Runtime) -> None:
    dispatcher = runtime.dispatcher
    assert isinstance(dispatcher, SimulatedDispatcher)
    dispatcher.advance(31_000_000)


@pytest.mark.parametrize("blank", BLANKS)
def test_a_blank_answer_and_a_blank_recovery_leave_a_parent_unresolved(runtime: Runtime, blank: str) -> None:
    running, document = _translate(runtime, {"p1": "one", "p2": "two"})
    for first in (1, 3):
        _answer(runtime, first, p1="eins", p2=blank)
        _answer(runtime, first + 1, p2=blank)
        _back_off(runtime)
    outcome = running.get()
    assert (outcome.quality, outcome.error, outcome.unresolved) == ("NONE", "API_RESPONSE_INVALID", ("p1", "p2"))
    assert document.texts() == {"p1": "one", "p2": "two"}
    assert _history(runtime) == []


@pytest.mark.parametrize("blank", BLANKS)
def test_a_blank_scalar_recovery_is_refused(runtime: Runtime, blank: str) -> None:
    running, document = _translate(runtime, {"p1": "one"})
    for first in (1, 3):
        _answer(runtime, first, p1=blank)
        runtime.respond(f"r1/{first + 1}", Completion(blank)).get()
        _back_off(runtime)
    assert running.get().unresolved == ("p1",)
    assert (document["p1"], _history(runtime)) == ("one", [])


@pytest.mark.parametrize("blank", BLANKS)
def test_a_blank_segment_is_refused_where_its_source_is_not_blank(runtime: Runtime, blank: str) -> None:
    running, document = _translate(runtime, {"p1": ["one", " ", "two"]})
    _answer(runtime, 1, p1=["eins", " ", blank])
    assert not running.done
    _answer(runtime, 2, p1=["eins", blank, "zwei"])
    assert running.get().quality == "COMPLETE"
    assert document["p1"] == ["eins", blank, "zwei"]


@pytest.mark.parametrize("blank", BLANKS)
def test_a_machine_provider_may_not_answer_with_nothing(runtime: Runtime, blank: str) -> None:
    running, document = _translate(runtime, {"p1": ["one", "two"]}, provider="deepl")
    for call in (1, 2):
        runtime.respond(f"r1/{call}", Completion(texts=("eins", blank))).get()
        _back_off(runtime)
    assert running.get().error == "API_RESPONSE_INVALID"
    assert document["p1"] == ["one", "two"]


@pytest.mark.parametrize("blank", BLANKS)
def test_a_blank_direct_answer_is_a_violation_and_its_recovery_makes_no_turn(runtime: Runtime, blank: str) -> None:
    running = runtime.direct(DirectRequest("r1", "s1", "one", "de"), provider=ScriptedProvider())
    running.started.get()
    runtime.respond("r1/1", Completion(blank)).get()
    assert not running.done
    runtime.respond("r1/2", Completion("eins")).get()
    assert running.get().text() == "eins"
    assert _history(runtime) == []


@pytest.mark.parametrize("blank", BLANKS)
def test_a_blank_ack_by_hand_is_refused_and_may_be_corrected(runtime: Runtime, blank: str) -> None:
    _translate(runtime, {"p1": "one"}, by_hand=True)
    _answer(runtime, 1, p1="eins")
    assert runtime.acknowledge("r1", "p1", blank).get().status is AckStatus.INVALID_RESULT
    assert runtime.acknowledge("r1", "p1", "eins").get().status is AckStatus.ACCEPTED
    assert _history(runtime) == [("one", "eins")]


def test_a_missing_unit_is_never_filled_from_the_source(runtime: Runtime) -> None:
    running, document = _translate(runtime, {"p1": "one", "p2": "two", "p3": "three"})
    _answer(runtime, 2, p3="drei")
    _answer(runtime, 1, p1="eins")
    runtime.fail("r1/3", "VALIDATION").get()
    outcome = running.get()
    assert (outcome.quality, outcome.unresolved) == ("PARTIAL", ("p1", "p2"))
    assert dict(outcome.translations) == {"p3": ("drei",)}
    assert document.texts() == {"p1": "one", "p2": "two", "p3": "drei"}
    assert _history(runtime) == [("three", "drei")]


def test_a_fragment_that_is_missing_leaves_the_whole_parent_as_its_source() -> None:
    with Runtime(Settings(batch_chars=4, batch_units=1), dispatcher=SimulatedDispatcher()) as runtime:
        running, document = _translate(runtime, {"p1": "one two"})
        runtime.respond("r1/1", translations={"p1.1": "eins"}).get()
        runtime.fail("r1/2", "VALIDATION").get()
        assert running.get().quality == "NONE"
        assert document["p1"] == "one two"
        assert _history(runtime) == []


def test_a_translation_equal_to_its_source_is_accepted_at_every_layer(runtime: Runtime) -> None:
    running, _document = _translate(runtime, {"p1": "OK", "p2": "Rom"})
    _answer(runtime, 1, p1="OK")
    _answer(runtime, 2, p2="Rom")
    assert running.get().quality == "COMPLETE"
    direct = runtime.direct(DirectRequest("r2", "s1", "Taxi", "de"), provider=ScriptedProvider())
    direct.started.get()
    runtime.respond("r2/1", Completion("Taxi")).get()
    request = TranslationRequest("r3", "s1", {"p1": "Bus"}, "de")
    runtime.translate(request, provider=ScriptedProvider()).started.get()
    runtime.respond("r3/1", Completion("nonsense")).get()
    runtime.respond("r3/2", Completion("Bus")).get()
    runtime.acknowledge("r3", "p1", "Bus").get()
    assert _history(runtime) == [("OK", "OK"), ("Rom", "Rom"), ("Taxi", "Taxi"), ("Bus", "Bus")]


def test_what_is_blank_may_stay_blank(runtime: Runtime) -> None:
    running, document = _translate(runtime, {"p1": " \n", "p2": ["one", "  "]})
    _answer(runtime, 1, p1="", p2=["eins", ""])
    assert running.get().quality == "COMPLETE"
    assert document.texts() == {"p1": "", "p2": ["eins", ""]}
