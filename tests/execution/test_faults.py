"""A fault inside an execution, once and anywhere, ends that execution at most: everybody is answered, nothing is left.

Not promised: what becomes of the request that it strikes. The next one of the same session must not notice.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

from dragoman import (
    ActorFailed,
    Completion,
    DirectRequest,
    DragomanError,
    Future,
    ProviderCall,
    Runtime,
    ScriptedProvider,
    Settings,
    SimulatedDispatcher,
    SimulationStalled,
    TextDocument,
    ThreadDispatcher,
    Translation,
    TranslationOutcome,
    TranslationRequest,
    WaitTimeout,
)
from dragoman.actors.coordinator import AcceptanceCoordinator
from dragoman.actors.delivery import Delivery
from dragoman.actors.direct import DirectCommit
from dragoman.actors.gateway import ProviderGateway
from dragoman.actors.handle import AcceptanceHandle
from dragoman.actors.operation import TranslationOperation
from dragoman.actors.sessions import SessionManager
from dragoman.actors.translations import TranslationService
from dragoman.protocol.schedule import Schedule

from .fragments import good_answer, mapped

PATIENCE_S = 20.0
"""How long a test waits for what must come at once; only a failing test ever waits that long."""

SOURCES = {"p1": "the first source", "p2": "the second source"}
POSITIONS = 6
"""Calls of a method in whose place the fault comes, one run after another."""

Place = tuple[type[Any], str]


def _places(owner: type[Any], *names: str) -> list[Place]:
    return [(owner, name) for name in names]


EVERYWHERE = [
    *_places(Schedule, "next_call", "placed", "asked", "ended"),
    *_places(TranslationOperation, "__init__", "_start", "_granted", "_call_has_ended", "_resolved", "_calls_made"),
    *_places(TranslationOperation, "_finish", "_stop_everything", "_owed_answers", "_answered"),
    *_places(TranslationOperation, "_handle_event", "_answer_call", "_call_ended", "_conclude", "_make_calls"),
    *_places(ProviderGateway, "_make", "_place", "_settle"),
    *_places(TranslationService, "_execute", "_over", "_remember", "_end_with"),
    *_places(SessionManager, "_open", "_claim_for_calls"),
    *_places(AcceptanceCoordinator, "_register", "_opened", "_execute", "_enter", "_lane_left", "_leave"),
    *_places(AcceptanceCoordinator, "_execution_ended", "_take_lane"),
]
WITH_PARENTS = [
    *_places(Delivery, "complete", "next_question", "settled"),
    *_places(AcceptanceHandle, "_settle", "_after_acks", "_activate_now", "_end_commit"),
    *_places(SessionManager, "_commit"),
    *_places(AcceptanceCoordinator, "_open"),
]
WITHOUT_PARENTS = [
    *_places(DirectCommit, "begin_attempt", "complete", "next_question", "committed"),
    *_places(SessionManager, "_commit_direct"),
]
WHILE_CANCELLING = [
    *_places(ProviderGateway, "_cancel"),
    *_places(AcceptanceCoordinator, "_end", "_ended"),
    *_places(TranslationService, "_end"),
    *_places(TranslationOperation, "_from_outside", "_finish", "_stop_everything", "_owed_answers"),
    *_places(Delivery, "next_question"),
]
WHILE_FAILING = [
    *_places(TranslationOperation, "_batch_failed", "_conclude", "_finish"),
    *_places(Delivery, "unresolved", "given_up", "close", "next_question", "settled"),
    *_places(AcceptanceHandle, "_settle", "_close_asked"),
]


def named(places: list[Place]) -> pytest.MarkDecorator:
    ids = [f"{owner.__name__}.{name}" for owner, name in places]
    return pytest.mark.parametrize("place", places, ids=ids)


class Fault:
    """Raised once, in the place of a method's call number `at`."""

    def __init__(self, patch: pytest.MonkeyPatch, place: Place, at: int) -> None:
        owner, name = place
        self.raised = False
        self._calls = 0
        original = getattr(owner, name)

        def method(*values: Any, **named: Any) -> Any:
            self._calls += 1
            if self._calls == at:
                self.raised = True
                raise ZeroDivisionError
            return original(*values, **named)

        patch.setattr(owner, name, method)
        for message, handler in getattr(owner, "handlers", {}).items():
            if handler is original:
                patch.setitem(owner.handlers, message, method)


class Answering:
    """An asynchronous provider that answers at once."""

    async def complete(self, call: ProviderCall) -> Completion:
        return good_answer(call)


class Scene:
    """A runtime with a provider, and the requests of one session that come one after another."""

    def __init__(self, *, threads: bool) -> None:
        self.threads = threads
        self.runtime = Runtime(
            Settings(batch_units=1, max_concurrent_calls=1),
            dispatcher=ThreadDispatcher() if threads else SimulatedDispatcher(),
        )
        self._scripted = ScriptedProvider()
        self._answered = 0

    def begin(self, request: str, *, direct: bool) -> Translation:
        provider: Any = Answering() if self.threads else self._scripted
        if direct:
            return self.runtime.direct(DirectRequest(request, "s1", SOURCES["p1"], "de"), provider=provider)
        document = TextDocument(SOURCES)
        wanted = TranslationRequest(request, "s1", SOURCES, "de")
        return self.runtime.translate(wanted, provider=provider, feature=document)

    def answer(self, times: int, error: str | None = None) -> None:
        """Answer what is open; between the answers every back-off ends, and no time-out comes near."""
        dispatcher = self.runtime.dispatcher
        for _ in range(0 if self.threads else times):
            assert isinstance(dispatcher, SimulatedDispatcher)
            dispatcher.run()
            calls, self._answered = self._scripted.calls[self._answered :], len(self._scripted.calls)
            for call in calls:
                if error is None:
                    end_of(self.runtime.respond(call.id, good_answer(call)))
                else:
                    end_of(self.runtime.fail(call.id, error))
            dispatcher.advance(3_000_000)

    def rest(self) -> None:
        """Until nothing is left that a request has begun."""
        until = time.monotonic() + (PATIENCE_S if self.threads else 0)
        while True:
            left = self.runtime.snapshot(PATIENCE_S)
            if not (left.running or left.open_calls or left.open_requests or left.provider_tasks):
                break
            assert time.monotonic() < until, left
        assert left.live_timers <= 1, "more than the timer of the session"

    def turns(self, request: str) -> list[tuple[str, str]]:
        turns = self.runtime.history("s1").get(PATIENCE_S)
        assert [turn.request_id for turn in turns] == sorted(turn.request_id for turn in turns)
        return [(turn.user, turn.assistant) for turn in turns if turn.request_id == request]


def end_of(future: Future[Any]) -> object:
    """The answer, or the typed error in its place; an answer that never comes fails the test."""
    try:
        return future.get(PATIENCE_S)
    except (SimulationStalled, WaitTimeout):
        raise
    except DragomanError as error:
        return error


def sweep(place: Place, strike: Callable[[Scene], None], *, direct: bool = False, threads: bool = False) -> None:
    """Let the fault come in the place of each call that the first request makes; the second must not notice."""
    for at in range(1, POSITIONS + 1):
        scene = Scene(threads=threads)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("dragoman.actors.operation.longest_delay_us", lambda _attempt: 1000)
            fault = Fault(patch, place, at)
            strike(scene)
            scene.rest()
        if not fault.raised:
            assert at > 1, "the fault was never reached"
            assert scene.runtime.close().clean
            return
        status = scene.runtime.request_status("r1").get(PATIENCE_S)
        assert not status.open
        assert set(scene.turns("r1")) <= {(source, mapped(source)) for source in SOURCES.values()}
        following = scene.begin("r2", direct=direct)
        scene.answer(3)
        assert following.get(PATIENCE_S).quality == "COMPLETE"
        wanted = [SOURCES["p1"]] if direct else list(SOURCES.values())
        scene.rest()
        assert scene.turns("r2") == [(source, mapped(source)) for source in wanted]
        assert end_of(scene.runtime.cancel("r1")) is not None
        assert scene.runtime.close().clean


def ends(running: Translation) -> None:
    end = end_of(running)
    assert isinstance(end, TranslationOutcome | ActorFailed)


@named(EVERYWHERE + WITH_PARENTS)
def test_a_fault_in_a_translation_leaves_the_session_to_the_next_one(place: Place) -> None:
    def strike(scene: Scene) -> None:
        running = scene.begin("r1", direct=False)
        scene.answer(4)
        ends(running)

    sweep(place, strike)


@named(EVERYWHERE + WITHOUT_PARENTS)
def test_a_fault_in_a_direct_call_leaves_the_session_to_the_next_one(place: Place) -> None:
    def strike(scene: Scene) -> None:
        running = scene.begin("r1", direct=True)
        scene.answer(4)
        ends(running)

    sweep(place, strike, direct=True)


@named(WHILE_CANCELLING)
def test_a_fault_while_a_translation_is_cancelled_leaves_the_session_to_the_next_one(place: Place) -> None:
    def strike(scene: Scene) -> None:
        running = scene.begin("r1", direct=False)
        scene.answer(1)
        end_of(scene.runtime.cancel("r1"))
        # A cancel that failed may be repeated.
        end_of(scene.runtime.cancel("r1"))
        ends(running)

    sweep(place, strike)


@named(WHILE_FAILING)
def test_a_fault_while_a_translation_fails_leaves_the_session_to_the_next_one(place: Place) -> None:
    def strike(scene: Scene) -> None:
        running = scene.begin("r1", direct=False)
        scene.answer(3, error="VALIDATION")
        ends(running)

    sweep(place, strike)


@named([*_places(ProviderGateway, "_place", "_arrived", "_settle"), *_places(TranslationOperation, "_call_has_ended")])
@pytest.mark.parametrize("direct", [False, True], ids=["translation", "direct"])
def test_a_fault_while_the_answer_of_a_provider_is_taken_leaves_the_session_to_the_next_one(
    place: Place, direct: bool
) -> None:
    def strike(scene: Scene) -> None:
        ends(scene.begin("r1", direct=direct))

    sweep(place, strike, direct=direct, threads=True)
