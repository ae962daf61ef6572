"""A fault in a handler is told by type and place, never by its text, and spares its actor (design 3.5)."""

from __future__ import annotations

import gc
import threading
import traceback
from collections.abc import Iterator
from typing import Any

import pykka
import pytest
from loguru import logger

from dragoman.actors.dispatcher import Dispatcher
from dragoman.actors.futures import Future
from dragoman.actors.mailbox import Envelope
from dragoman.protocol.errors import ActorFailed, ActorStopped, InvalidArgument

from .probes import PATIENCE_S, Do, Doer, mailbox_of, start

SECRET = "The quick brown fox, translated"


class SecretError(Exception):
    """An exception whose text is content, as those of parsers are."""


class Fatal(Doer):
    """Raises even when it is told of its failure, and owes an answer."""

    def __init__(self, dispatcher: Dispatcher) -> None:
        super().__init__(dispatcher)
        self.kept: list[Envelope[Any]] = []
        self.stopped = threading.Event()

    def on_failure(self, *_failure: object) -> None:
        raise RuntimeError(SECRET)

    def on_stop(self) -> None:
        self.stopped.set()

    def owed(self) -> Iterator[Envelope[Any]]:
        yield from self.kept


def fail(_actor: object) -> None:
    text = SECRET
    try:
        raise KeyError(text)
    except KeyError as cause:
        raise SecretError(text) from cause


def fail_with_a_typed_error(_actor: object) -> None:
    try:
        fail(_actor)
    except SecretError as cause:
        raise InvalidArgument("field", "has a bad value") from cause


@pytest.fixture
def log() -> Iterator[list[str]]:
    """The lines of the log as its most talkative sink would write them."""
    lines: list[str] = []
    logger.enable("dragoman")
    sink = logger.add(lambda line: lines.append(str(line)), level=0, backtrace=True, diagnose=True, serialize=False)
    whole = logger.add(lambda line: lines.append(str(line)), level=0, serialize=True)
    yield lines
    logger.remove(sink)
    logger.remove(whole)
    logger.disable("dragoman")


def shown(error: BaseException) -> str:
    """Everything that a traceback, a debugger or a log could show of an error."""
    parts = [str(error), repr(error), repr(error.args), repr(vars(error))]
    parts += traceback.format_exception(error)
    linked = error.__cause__ or error.__context__
    if linked is not None:
        parts.append(shown(linked))
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename != __file__:
            parts.append(repr(trace.tb_frame.f_locals))
        trace = trace.tb_next
    return "\n".join(parts)


def failure_of(future: Any, kind: type[BaseException] = ActorFailed) -> Any:
    with pytest.raises(kind) as failed:
        future.get(timeout=PATIENCE_S)
    return failed.value


def test_a_fault_reaches_the_asker_by_type_and_place(dispatcher: Dispatcher) -> None:
    failure = failure_of(start(Doer, dispatcher).ask(Do(fail), block=False))
    assert isinstance(failure, RuntimeError)
    assert (failure.actor, failure.error_type, failure.module) == ("Doer", "SecretError", "test_failures.py")
    first = fail.__code__.co_firstlineno
    assert failure.line == first + 5


def test_neither_the_asker_nor_the_log_sees_the_text_of_a_fault(dispatcher: Dispatcher, log: list[str]) -> None:
    ref = start(Doer, dispatcher)
    failure = failure_of(ref.ask(Do(fail), block=False))
    assert SECRET not in shown(failure)
    assert any("SecretError" in line for line in log)
    assert SECRET not in "".join(log)


def test_a_fault_under_tell_is_counted_and_logged_without_its_text(dispatcher: Dispatcher, log: list[str]) -> None:
    ref = start(Doer, dispatcher)
    ref.tell(Do(fail))
    ((_kind, told, trace),) = ref.ask(Do(lambda actor: actor.failures), timeout=PATIENCE_S)
    assert dispatcher.counts().failed == 1
    assert any("SecretError in test_failures.py" in line for line in log)
    assert SECRET not in "".join(log)
    assert SECRET not in shown(told)
    assert trace is None


def test_a_typed_error_reaches_the_asker_without_what_led_to_it(dispatcher: Dispatcher, log: list[str]) -> None:
    ref = start(Doer, dispatcher)
    error = failure_of(ref.ask(Do(fail_with_a_typed_error), block=False), InvalidArgument)
    assert error.field == "field"
    assert SECRET not in shown(error)
    assert SECRET not in "".join(log)


def test_a_callback_that_reads_a_failure_does_not_tie_it_to_the_fault(dispatcher: Dispatcher) -> None:
    ref = start(Doer, dispatcher)
    passed_on: Future[None] = Future(dispatcher)

    def read(future: Future[Any]) -> None:
        try:
            future.get()
        except ActorFailed as error:
            passed_on.settle(None, error)

    future: Future[Any] = Future(dispatcher)
    future.add_done_callback(read)
    mailbox_of(ref).ask(Do(fail), future)
    assert SECRET not in shown(failure_of(passed_on))


def test_what_failed_keeps_no_exception_alive(dispatcher: Dispatcher) -> None:
    ref = start(Doer, dispatcher)
    failure_of(ref.ask(Do(fail), block=False))
    ref.tell(Do(fail))
    ref.ask("done", timeout=PATIENCE_S)
    gc.collect()
    assert [thing for thing in gc.get_objects() if isinstance(thing, SecretError)] == []


def test_an_actor_lives_on_after_faults_of_either_verb(dispatcher: Dispatcher) -> None:
    ref = start(Doer, dispatcher)
    for _ in range(20):
        ref.tell(Do(fail))
        failure_of(ref.ask(Do(fail), block=False))
    assert ref.ask("still here", timeout=PATIENCE_S) == "still here"
    assert dispatcher.counts().failed == 40
    assert len(ref.ask(Do(lambda actor: actor.failures), timeout=PATIENCE_S)) == 40


def leave(_actor: object) -> None:
    raise SystemExit(SECRET)


def test_a_handler_that_would_leave_the_program_fails_like_any_other(dispatcher: Dispatcher, log: list[str]) -> None:
    ref = start(Doer, dispatcher)
    failure = failure_of(ref.ask(Do(leave), block=False))
    assert failure.error_type == "SystemExit"
    ref.tell(Do(leave))
    assert ref.ask("still here", timeout=PATIENCE_S) == "still here", (
        "no fault of another's message reaches this caller"
    )
    assert SECRET not in "".join(log)


def test_raising_on_failure_stops_the_actor_and_answers_everything_owed(dispatcher: Dispatcher, log: list[str]) -> None:
    actor = Fatal(dispatcher)
    mailbox = actor.mailbox
    ref = actor.actor_ref
    pykka.ActorRegistry.register(ref)
    actor._start_actor_loop()
    futures: list[Future[Any]] = [Future(dispatcher) for _ in range(4)]

    def keep_and_fail(actor: Fatal) -> None:
        actor.kept.append(Envelope("kept", futures[0]))  # type: ignore[arg-type]
        mailbox.ask("queued", futures[1])
        mailbox.ask("queued", futures[2])
        mailbox.tell("queued, and nobody asks")
        fail(actor)

    failing: Future[Any] = Future(dispatcher)
    mailbox.ask(Do(keep_and_fail), failing)
    assert failure_of(failing).error_type == "SecretError"
    for future in futures[:3]:
        assert isinstance(failure_of(future, ActorStopped), pykka.ActorDeadError)
    assert actor.stopped.wait(PATIENCE_S)
    assert not ref.is_alive()
    assert ref not in pykka.ActorRegistry.get_all()
    assert dispatcher.dead_letters() == {"stopped": 3}
    assert SECRET not in "".join(log)


def test_raising_on_stop_stops_the_actor_all_the_same(dispatcher: Dispatcher, log: list[str]) -> None:
    class Clumsy(Doer):
        def on_stop(self) -> None:
            fail(self)

    ref = start(Clumsy, dispatcher)
    assert ref.stop(timeout=PATIENCE_S) is True
    assert not ref.is_alive()
    assert dispatcher.counts().failed == 1
    assert SECRET not in "".join(log)


def test_raising_on_start_is_counted_and_shows_no_text(dispatcher: Dispatcher, log: list[str]) -> None:
    class Stillborn(Doer):
        def on_start(self) -> None:
            fail(self)

    ref = start(Stillborn, dispatcher)
    mailbox_of(ref).tell("next")
    ref.stop(timeout=PATIENCE_S)
    assert dispatcher.counts().failed == 1
    assert SECRET not in "".join(log)


def test_dead_letters_are_counted_by_their_reason(dispatcher: Dispatcher) -> None:
    ref = start(Doer, dispatcher)
    mailbox = mailbox_of(ref)

    def stop_with_two_in_the_queue(actor: Doer) -> None:
        mailbox.tell("queued")
        mailbox.tell("queued")
        actor._stop()

    ref.ask(Do(stop_with_two_in_the_queue), timeout=PATIENCE_S)
    for _ in range(3):
        mailbox.tell("late")
    assert dispatcher.dead_letters() == {"stopped": 2, "closed": 3}
    counts = dispatcher.counts()
    assert (counts.sent, counts.handled, counts.dead) == (6, 1, 5)
