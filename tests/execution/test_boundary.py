"""The feature boundary (C3.3): all or nothing, one ACK a parent, and nothing that a feature does harms another."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest

from dragoman import (
    BlockingInHandler,
    DispatchFailed,
    Feature,
    ParentRefused,
    Replacement,
    Runtime,
    ScriptedProvider,
    Settings,
    SimulatedDispatcher,
    TextDocument,
    Translation,
    TranslationRequest,
)

SOURCES = {"p1": "one", "p2": "two", "p3": "three"}

Dispatch = Callable[[str, tuple[str, ...]], Iterable[Replacement] | None]


@attrs.define
class Application:
    """A feature of one behaviour."""

    behaviour: Dispatch
    by_hand: bool = False
    document: str = "page"
    dispatched: list[str] = attrs.field(factory=list)

    def dispatch(self, parent_id: str, segments: tuple[str, ...]) -> Iterable[Replacement] | None:
        self.dispatched.append(parent_id)
        return self.behaviour(parent_id, segments)


@attrs.frozen
class Change:
    """A replacement that keeps a log; `fault` is raised where it is applied, `second` where it is undone."""

    name: str
    log: list[str]
    fault: BaseException | None = None
    second: BaseException | None = None

    def apply(self) -> None:
        if self.fault is not None:
            raise self.fault
        self.log.append(f"+{self.name}")

    def undo(self) -> None:
        self.log.append(f"-{self.name}")
        if self.second is not None:
            raise self.second


@pytest.fixture
def runtime() -> Iterator[Runtime]:
    with Runtime(Settings(batch_units=1), dispatcher=SimulatedDispatcher()) as made:
        yield made
        left = made.snapshot()
        assert (left.running, left.open_calls, left.counts.failed) == ((), (), 0)
    assert made.close().clean


def begin(runtime: Runtime, feature: Feature, name: str = "r1", **sources: Any) -> Translation:
    request = TranslationRequest(name, "s1", sources or SOURCES, "de")
    running = runtime.translate(request, provider=ScriptedProvider(), feature=feature)
    running.started.get()
    return running


def answer(runtime: Runtime, *numbers: int, name: str = "r1", **texts: Any) -> None:
    """Answer these calls, one parent each, with the parent's own id in capitals, or with what `texts` says."""
    for number in numbers:
        parent = f"p{number}"
        runtime.respond(f"{name}/{number}", translations={parent: texts.get(parent, parent.upper())}).get()


def states(runtime: Runtime, name: str = "r1") -> list[str]:
    return [str(state) for state in runtime.request_status(name).get().parents.values()]


def turns(runtime: Runtime) -> list[str]:
    return [turn.assistant for turn in runtime.history("s1").get()]


def notes(running: Translation) -> list[tuple[str, str | None, str | None]]:
    return [(str(note.code), note.subject, note.detail) for note in running.get().diagnostics]


FAULTS = [LookupError(), SystemExit(1), GeneratorExit(), asyncio.CancelledError(), BlockingInHandler(), ParentRefused()]
FAULT = pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: type(fault).__name__)


@FAULT
def test_a_replacement_that_fails_takes_back_those_before_it_in_reverse(runtime: Runtime, fault: BaseException) -> None:
    log: list[str] = []

    def dispatch(parent: str, _segments: object) -> list[Change]:
        wrong = fault if parent == "p2" else None
        return [Change(f"{parent}a", log), Change(f"{parent}b", log), Change(f"{parent}c", log, wrong)]

    running = begin(runtime, Application(dispatch))
    answer(runtime, 1, 2, 3)
    assert log == ["+p1a", "+p1b", "+p1c", "+p2a", "+p2b", "-p2b", "-p2a", "+p3a", "+p3b", "+p3c"]
    assert (states(runtime), turns(runtime)) == (["COMMITTED", "REJECTED", "COMMITTED"], ["P1", "P3"])
    assert running.get().quality == "COMPLETE"
    assert notes(running) == [("ROLLED_BACK", "p2", "ROLLED_BACK")]


@FAULT
def test_a_fault_before_anything_was_applied_rejects_the_parent_alone(runtime: Runtime, fault: BaseException) -> None:
    def dispatch(parent: str, _segments: object) -> list[Change]:
        if parent == "p2":
            raise fault
        return []

    running = begin(runtime, Application(dispatch))
    answer(runtime, 1, 2, 3)
    assert (states(runtime), turns(runtime)) == (["COMMITTED", "REJECTED", "COMMITTED"], ["P1", "P3"])
    detail = "REFUSED" if isinstance(fault, ParentRefused) else "FAULTY"
    assert notes(running) == [("PARENT_REFUSED", "p2", detail)]


def test_an_undo_that_fails_does_not_keep_the_others_from_being_undone(runtime: Runtime) -> None:
    log: list[str] = []
    last = Change("c", log, LookupError())
    changes = [Change("a", log), Change("b", log, second=SystemExit(1)), last]
    begin(runtime, Application(lambda _parent, _segments: changes), p1="one")
    answer(runtime, 1)
    assert (log, states(runtime)) == (["+a", "+b", "-b", "-a"], ["REJECTED"])


def test_a_keyboard_interrupt_in_a_feature_rejects_the_parent_and_reaches_the_program(runtime: Runtime) -> None:
    log: list[str] = []
    changes = [Change("a", log), Change("b", log, KeyboardInterrupt())]
    running = begin(runtime, Application(lambda _parent, _segments: changes), p1="one")
    answered = runtime.respond("r1/1", translations={"p1": "P1"})
    with pytest.raises(KeyboardInterrupt):
        answered.get()
    assert (log, states(runtime), running.get().quality) == (["+a", "-a"], ["REJECTED"], "COMPLETE")


@pytest.mark.parametrize("applied", [0, 2])
def test_a_generator_may_refuse_its_parent_at_any_place(runtime: Runtime, applied: int) -> None:
    log: list[str] = []

    def dispatch(_parent: str, _segments: object) -> Iterator[Change]:
        yield from (Change(str(number), log) for number in range(applied))
        raise ParentRefused

    running = begin(runtime, Application(dispatch), p1="one")
    answer(runtime, 1)
    assert (log, states(runtime)) == ((["+0", "+1", "-1", "-0"] if applied else []), ["REJECTED"])
    assert [code for code, *_rest in notes(running)] == ["ROLLED_BACK" if applied else "PARENT_REFUSED"]


@pytest.mark.parametrize("applied", [0, 2])
def test_a_generator_may_find_at_any_place_that_it_can_take_nothing_more(runtime: Runtime, applied: int) -> None:
    log: list[str] = []

    def dispatch(_parent: str, _segments: object) -> Iterator[Change]:
        yield from (Change(str(number), log) for number in range(applied))
        raise DispatchFailed

    running = begin(runtime, Application(dispatch), p1="one")
    answer(runtime, 1)
    assert log == (["+0", "+1", "-1", "-0"] if applied else [])
    assert (states(runtime), runtime.request_status("r1").get().cause) == (["DISCARDED"], "DISPATCH_FAILED")
    assert notes(running) == [("DISPATCH_FAILED", "p1", None)]


@pytest.mark.parametrize("answered", ["text", 5, [None], {"p1": 1}, False], ids=repr)
def test_what_is_no_replacement_rejects_the_parent(runtime: Runtime, answered: Any) -> None:
    begin(runtime, Application(lambda _parent, _segments: answered), p1="one")
    answer(runtime, 1)
    assert states(runtime) == ["REJECTED"]


def test_a_feature_that_has_nothing_to_replace_accepts(runtime: Runtime) -> None:
    begin(runtime, Application(lambda _parent, _segments: ()), p1="one")
    answer(runtime, 1)
    assert turns(runtime) == ["P1"]


@pytest.mark.parametrize("by_hand", [False, True])
def test_parents_that_the_application_applies_are_recorded_with_their_ack(tmp_path: Path, by_hand: bool) -> None:
    settings = Settings(batch_units=1, feature_history=str(tmp_path / "history"))
    with Runtime(settings, dispatcher=SimulatedDispatcher()) as runtime:
        feature = Application(lambda _parent, _segments: None, by_hand=by_hand)
        running = begin(runtime, feature, p1="one", p2="two")
        answer(runtime, 1, 2)
        assert running.get().quality == "COMPLETE"
        assert (feature.dispatched, states(runtime)) == (["p1", "p2"], ["PENDING", "PENDING"])
        assert runtime.feature_history().get() == ()
        assert runtime.acknowledge("r1", "p1", "another text").get().status == "ACCEPTED"
        assert runtime.reject("r1", "p2").get().status == "REJECTED"
        (entry,) = runtime.feature_history().get()
        assert (entry.document, entry.parent_id) == ("page", "p1")
        assert (entry.source, entry.translated) == ("one", "another text")
        assert turns(runtime) == ["another text"]


def test_a_feature_by_hand_may_be_acknowledged_before_it_is_dispatched(tmp_path: Path) -> None:
    settings = Settings(batch_units=1, feature_history=str(tmp_path / "history"))
    with Runtime(settings, dispatcher=SimulatedDispatcher()) as runtime:
        begin(runtime, Application(lambda _parent, _segments: None, by_hand=True), p1="one")
        assert runtime.acknowledge("r1", "p1", "early").get().committed == ("p1",)
        answer(runtime, 1)
        assert [entry.translated for entry in runtime.feature_history().get()] == ["early"]


def test_a_feature_may_call_the_runtime_but_not_wait_for_it(runtime: Runtime) -> None:
    seen: list[Any] = []

    @attrs.frozen
    class Calling:
        waits: bool

        def apply(self) -> None:
            asked = runtime.history("s1")
            seen.append(asked)
            if self.waits:
                asked.get()

        def undo(self) -> None:
            raise AssertionError

    begin(runtime, Application(lambda parent, _segments: [Calling(parent == "p2")]))
    answer(runtime, 1, 2, 3)
    assert states(runtime) == ["COMMITTED", "REJECTED", "COMMITTED"]
    assert [len(asked.get()) for asked in seen] == [1, 1, 2]


def test_a_feature_may_cancel_its_own_request_and_start_another(runtime: Runtime) -> None:
    following: list[Translation] = []

    def dispatch(parent: str, _segments: object) -> list[Any]:
        if parent == "p1":
            runtime.cancel("r1")
            request = TranslationRequest("r2", "s1", {"p1": "next"}, "de")
            following.append(runtime.translate(request, provider=ScriptedProvider(), feature=TextDocument({"p1": ""})))
        return []

    running = begin(runtime, Application(dispatch))
    answer(runtime, 1)
    assert (running.get().error, states(runtime)) == ("USER_CANCELLED", ["COMMITTED", "DISCARDED", "DISCARDED"])
    answer(runtime, 1, name="r2")
    assert following[0].get().quality == "COMPLETE"
    assert turns(runtime) == ["P1", "P1"]


def test_two_requests_may_share_a_feature(runtime: Runtime) -> None:
    document = TextDocument(SOURCES)
    first, second = begin(runtime, document, "r1", p1="one"), begin(runtime, document, "r2", p1="one", p2="two")
    answer(runtime, 1, 2, name="r2")
    answer(runtime, 1, p1="first")
    assert (first.get().quality, second.get().quality) == ("COMPLETE", "COMPLETE")
    assert document.texts() == {"p1": "first", "p2": "P2", "p3": "three"}
    assert turns(runtime) == ["first", "P1", "P2"]


def test_a_parent_that_the_feature_does_not_know_is_rejected(runtime: Runtime) -> None:
    document = TextDocument({"p2": "two"})
    begin(runtime, document, p1="one", p2="two")
    answer(runtime, 1, 2)
    assert (states(runtime), document.texts()) == (["REJECTED", "COMMITTED"], {"p2": "P2"})


@pytest.mark.parametrize("segments", [["one"], ["one", " ", "two"], []])
def test_a_parent_of_other_segments_than_the_feature_has_is_rejected(runtime: Runtime, segments: list[str]) -> None:
    document = TextDocument({"p1": segments})
    begin(runtime, document, p1=["one ", "two"])
    answer(runtime, 1, p1=["eins ", "zwei"])
    assert (states(runtime), document["p1"]) == (["REJECTED"], segments)


def _can_take_one(parent: str, _segments: object) -> list[Any]:
    if parent == "p2":
        raise DispatchFailed
    return []


def test_a_request_whose_dispatch_failed_closes_when_nothing_more_can_come(runtime: Runtime) -> None:
    application = Application(_can_take_one)
    begin(runtime, application)
    answer(runtime, 1, 2)
    assert states(runtime) == ["COMMITTED", "PENDING", "PENDING"]
    answer(runtime, 3)
    assert application.dispatched == ["p1", "p2"]
    assert states(runtime) == ["COMMITTED", "DISCARDED", "DISCARDED"]
    assert runtime.request_status("r1").get().cause == "DISPATCH_FAILED"


def test_what_comes_unresolved_after_a_failed_dispatch_is_rejected_all_the_same(runtime: Runtime) -> None:
    application = Application(_can_take_one)
    running = begin(runtime, application)
    answer(runtime, 1, 2)
    runtime.fail("r1/3", "VALIDATION").get()
    assert states(runtime) == ["COMMITTED", "DISCARDED", "REJECTED"]
    assert runtime.request_status("r1").get().cause == "DISPATCH_FAILED"
    assert (running.get().error, running.get().quality, running.get().unresolved) == (None, "PARTIAL", ("p3",))


@pytest.mark.parametrize("wrong", ['[{"id": "p1", "text": "eins"}]', '{"translations": [{"id": "p", "text": "t"}]}'])
@pytest.mark.parametrize("split", [1, 5])
def test_a_result_that_is_no_clean_text_never_reaches_the_feature(runtime: Runtime, wrong: str, split: int) -> None:
    application = Application(lambda _parent, _segments: [])
    running = begin(runtime, application, p1=["one", "two"], p2="two")
    answer(runtime, 1, 2, p1=[wrong[:split], wrong[split:]])
    assert (application.dispatched, states(runtime)) == (["p2"], ["REJECTED", "COMMITTED"])
    assert ("PARENT_REFUSED", "p1", "NOT_CLEAN") in notes(running)


def test_a_document_shows_its_texts_as_they_were_given() -> None:
    document = TextDocument({"p1": "one", "p2": ["two", "three"], "p3": iter(["four"])})
    assert (document["p1"], document["p2"], document["p3"]) == ("one", ["two", "three"], ["four"])
    assert list(document.texts()) == ["p1", "p2", "p3"]
    with pytest.raises(KeyError):
        document["p4"]
    assert "one" not in repr(document)


def test_what_a_document_shows_cannot_be_changed_from_outside() -> None:
    given = ["two", "three"]
    document = TextDocument({"p2": given})
    given.append("four")
    shown = document["p2"]
    assert isinstance(shown, list)
    shown.clear()
    assert document.texts() == {"p2": ["two", "three"]}


def test_a_document_applies_and_undoes_each_segment() -> None:
    document = TextDocument({"p1": ["one", "two"]})
    replacements = document.dispatch("p1", ("eins", "zwei"))
    assert replacements is not None
    assert document["p1"] == ["one", "two"]
    for replacement in replacements:
        replacement.apply()
    assert document["p1"] == ["eins", "zwei"]
    for replacement in reversed(replacements):
        replacement.undo()
    assert document["p1"] == ["one", "two"]


def test_an_edited_parent_keeps_what_the_application_made_of_it(runtime: Runtime) -> None:
    document = TextDocument({"p1": "one", "p2": ["two", "three"]})
    begin(runtime, document, p1="one", p2=["two", "three"])
    document.edit("p1", ["new", "er"])
    document.edit("p2", "new")
    answer(runtime, 1, 2, p2=["zwei", "drei"])
    assert (states(runtime), document.texts()) == (["REJECTED", "REJECTED"], {"p1": ["new", "er"], "p2": "new"})
    with pytest.raises(KeyError):
        document.edit("p3", "new")


def test_a_document_by_hand_shows_what_was_accepted(runtime: Runtime) -> None:
    document = TextDocument({"p1": "one"}, by_hand=True)
    running = begin(runtime, document, p1="one")
    answer(runtime, 1)
    assert (document["p1"], running.get().text("p1")) == ("one", "P1")
    assert runtime.acknowledge("r1", "p1", "eins").get().committed == ("p1",)
    document.accept("p1", "eins")
    assert document["p1"] == "eins"


def test_a_closed_document_takes_nothing_more(runtime: Runtime) -> None:
    document = TextDocument(SOURCES)
    begin(runtime, document)
    answer(runtime, 1)
    document.close()
    answer(runtime, 2, 3)
    assert document.texts() == {"p1": "P1", "p2": "two", "p3": "three"}
    assert runtime.request_status("r1").get().cause == "DISPATCH_FAILED"
