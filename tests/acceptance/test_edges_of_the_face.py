"""What the face takes and refuses at its edges: long times, borrowed dispatchers, texts that only look like some."""

from __future__ import annotations

import enum
import pickle
import time

import pytest

from dragoman import (
    ActorFailed,
    DragomanError,
    Handoff,
    InvalidArgument,
    InvalidSetting,
    Parent,
    Runtime,
    RuntimeClosed,
    Settings,
    SimulatedDispatcher,
    WaitTimeout,
)

PATIENCE_S = 20.0


def handoff(source: str = "source") -> Handoff:
    return Handoff("r1", "s1", "openai", "select-element", (Parent("p1", 0, source),))


def test_a_timer_that_is_due_in_ages_does_not_keep_others_from_firing() -> None:
    with Runtime(Settings(session_ttl=10**12)) as first:
        first.register(handoff()).get(PATIENCE_S)
        assert first.snapshot(PATIENCE_S).live_timers == 1
    with Runtime(Settings(session_ttl=10**12, ack_window=0.01)) as runtime:
        runtime.register(handoff()).get(PATIENCE_S)
        runtime.activate("r1").get(PATIENCE_S)
        until = time.monotonic() + PATIENCE_S
        while runtime.request_status("r1").get(PATIENCE_S).open and time.monotonic() < until:
            pass
        assert runtime.request_status("r1").get(PATIENCE_S).cause == "EXPIRED"
        # The one that is left is due in ages; a timer that is started now must still fire.
        again = Handoff("r2", "s1", "openai", "select-element", (Parent("p1", 0, "source"),))
        runtime.register(again).get(PATIENCE_S)
        runtime.activate("r2").get(PATIENCE_S)
        while runtime.request_status("r2").get(PATIENCE_S).open and time.monotonic() < until:
            pass
        assert runtime.request_status("r2").get(PATIENCE_S).cause == "EXPIRED"


def test_a_dispatcher_serves_one_runtime() -> None:
    dispatcher = SimulatedDispatcher()
    with Runtime(dispatcher=dispatcher), pytest.raises(InvalidArgument, match="another runtime"):
        Runtime(dispatcher=dispatcher)
    with pytest.raises(InvalidArgument, match="another runtime"):
        Runtime(dispatcher=dispatcher)


class Word(str, enum.Enum):  # noqa: UP042  # the kind of text whose str() is another one
    HELLO = "Hallo"


def test_a_text_of_a_subclass_is_taken_for_what_it_is() -> None:
    with Runtime(dispatcher=SimulatedDispatcher()) as runtime:
        runtime.register(handoff(Word.HELLO)).get()
        runtime.acknowledge("r1", "p1", Word.HELLO).get()
        (turn,) = runtime.history("s1").get()
        assert (type(turn.user), turn.user, type(turn.assistant), turn.assistant) == (str, "Hallo", str, "Hallo")


@pytest.mark.parametrize(
    "error",
    [
        ActorFailed("Actor", "ValueError", "module.py", 3),
        InvalidArgument("field", "problem"),
        InvalidSetting("field", "problem"),
        RuntimeClosed(),
        WaitTimeout(1.5),
    ],
    ids=lambda error: type(error).__name__,
)
def test_an_error_survives_pickling(error: DragomanError) -> None:
    copy = pickle.loads(pickle.dumps(error))
    assert (type(copy), str(copy), vars(copy)) == (type(error), str(error), vars(error))


def test_a_handoff_shows_no_text_whatever_stands_in_the_place_of_its_parents() -> None:
    for parents in ([{"id": "p1", "source": "SECRET"}], "SECRET", ["SECRET"], (Parent("p1", 0, "SECRET"),)):
        assert "SECRET" not in repr(Handoff("r1", "s1", "openai", "select-element", parents))  # type: ignore[arg-type]


def test_a_wrong_deadline_leaves_the_runtime_open() -> None:
    with Runtime(dispatcher=SimulatedDispatcher()) as runtime:
        for timeout in (None, "x", -1.0, float("nan")):
            with pytest.raises(InvalidArgument, match="timeout"):
                runtime.close(timeout)  # type: ignore[arg-type]
        assert not runtime.closed
