"""Interrupts at chosen places of the kernel: held there, and raised when the kernel is left.

Argument: the name of the case, a function below.
"""

from __future__ import annotations

import signal
import sys
import threading
import time
from types import FrameType
from typing import Any

from dragoman.actors import futures, parking, threads
from dragoman.actors.actor import Actor, handles
from dragoman.actors.futures import Future, WaitTimeout
from dragoman.actors.mailbox import Envelope
from dragoman.actors.threads import ThreadDispatcher
from dragoman.protocol.errors import ActorFailed
from dragoman.runtime import Runtime

PATIENCE_S = 3.0


class Doer(Actor):
    """Does what it is told."""

    @handles(tuple)
    def _do(self, message: tuple[Any], _envelope: Envelope[Any]) -> object:
        return message[0](self)


class Prompt(Doer):
    """Does it in the thread that tells it to, and answers a question with it."""

    prompt = True

    def answer_at_once(self, question: Any) -> Any:
        return question


def interrupt() -> None:
    signal.raise_signal(signal.SIGINT)


def interrupt_on_entry(function: Any) -> None:
    """Let an interrupt strike this thread once, as it enters `function`: with that frame, as the interpreter would."""

    def trace(frame: FrameType, event: str, _arg: object) -> None:
        if event == "call" and frame.f_code is function.__code__:
            sys.settrace(None)
            handler = signal.getsignal(signal.SIGINT)
            assert callable(handler)
            handler(signal.SIGINT, frame)

    sys.settrace(trace)


def expect_interrupt(call: Any) -> float:
    """How long it took until the call raised KeyboardInterrupt."""
    began_s = time.monotonic()
    try:
        result = call()
    except KeyboardInterrupt:
        return time.monotonic() - began_s
    except WaitTimeout:
        raise AssertionError("the interrupt was held for the whole wait") from None
    raise AssertionError(f"the interrupt was held for longer than the call, which gave {result!r}")


def helping_without_workers() -> tuple[ThreadDispatcher, Any]:
    dispatcher = ThreadDispatcher(workers=0)
    return dispatcher, Doer.start(dispatcher)


def in_a_handler() -> None:
    """Held to the end of the handler, raised at the end of the wait; the answer is there afterwards."""
    dispatcher, ref = helping_without_workers()
    steps: list[str] = []

    def handler(_actor: object) -> str:
        interrupt()
        steps.append("end of the handler")
        return "answer"

    future = ref.ask((handler,), block=False)
    expect_interrupt(lambda: future.get(timeout=PATIENCE_S))
    assert steps == ["end of the handler"]
    assert future.get(timeout=PATIENCE_S) == "answer"
    dispatcher.stop(PATIENCE_S)


def in_a_handler_that_sends() -> None:
    """Sending through a ref inside of a handler does not leave the kernel."""
    dispatcher, ref = helping_without_workers()
    other = Doer.start(dispatcher)
    steps: list[str] = []

    def handler(_actor: object) -> str:
        interrupt()
        other.tell((steps.append,))
        steps.append("end of the handler")
        return "answer"

    future = ref.ask((handler,), block=False)
    expect_interrupt(lambda: future.get(timeout=PATIENCE_S))
    assert steps[:1] == ["end of the handler"], "the handler was torn"
    assert future.get(timeout=PATIENCE_S) == "answer"
    dispatcher.stop(PATIENCE_S)


def in_a_callback_that_sends() -> None:
    """The other callbacks of a future are called all the same."""
    dispatcher, ref = helping_without_workers()
    called: list[str] = []
    answer: Future[None] = Future(dispatcher)

    def send(_future: object) -> None:
        interrupt()
        ref.tell((lambda _actor: None,))
        called.append("first")

    answer.add_done_callback(send)
    answer.add_done_callback(lambda _future: called.append("second"))
    expect_interrupt(lambda: ref.ask((lambda _actor: answer.set(),), timeout=PATIENCE_S))
    assert called == ["first", "second"]
    dispatcher.stop(PATIENCE_S)


def as_a_worker_is_woken() -> None:
    """The worker wakes all the same, and so do the others after it."""
    dispatcher = ThreadDispatcher(workers=1)
    ref = Doer.start(dispatcher)
    show_life(ref)
    while not dispatcher._parked:
        pass
    interrupt_on_entry(parking.Gate.open)
    expect_interrupt(lambda: ref.tell((lambda _actor: None,)))
    for _ in range(3):
        show_life(ref)
    assert dispatcher.stop(PATIENCE_S) == ()


def in_a_handler_of_its_sender_that_sends() -> None:
    """Nor does it where the thread that sent a message handles it at once."""
    dispatcher = ThreadDispatcher(workers=0)
    ref, other = Prompt.start(dispatcher), Prompt.start(dispatcher)
    steps: list[str] = []

    def handler(_actor: object) -> None:
        interrupt()
        assert other.ask((lambda _actor: "answer",), block=False).get(timeout=0) == "answer"
        steps.append("end of the handler")

    expect_interrupt(lambda: ref.tell((handler,)))
    assert steps == ["end of the handler"], "the handler was torn"
    dispatcher.stop(PATIENCE_S)


def as_a_question_is_answered_at_once() -> None:
    """An interrupt while a question is answered without a message is raised by that call."""
    dispatcher = ThreadDispatcher(workers=0)
    mailbox = Prompt(dispatcher).spawn()
    interrupt_on_entry(Prompt.answer_at_once)
    expect_interrupt(lambda: dispatcher.ask_at_once(mailbox, "question"))
    answer = dispatcher.ask_at_once(mailbox, "question")
    assert answer is not None
    assert answer.get() == "question"
    dispatcher.stop(PATIENCE_S)


def show_life(ref: Any) -> None:
    alive = threading.Event()
    ref.tell((lambda _actor: alive.set(),))
    assert alive.wait(PATIENCE_S), "no worker wakes any more"


def as_a_waiter_is_told() -> None:
    """The other waiters of the same answer are told as well."""
    dispatcher, ref = helping_without_workers()
    answer: Future[str] = Future(dispatcher)
    got: list[str] = []
    waiters = [threading.Thread(target=lambda: got.append(answer.get()), daemon=True) for _ in range(3)]
    for waiter in waiters:
        waiter.start()
    while len(answer._callbacks or ()) < 3:
        pass
    call = ref.ask((lambda _actor: answer.set("answer"),), block=False)
    interrupt_on_entry(parking.Gate.open)
    expect_interrupt(lambda: call.get(timeout=PATIENCE_S))
    for waiter in waiters:
        waiter.join(PATIENCE_S)
    assert got == ["answer"] * 3, "a waiter was not told"
    dispatcher.stop(PATIENCE_S)


def just_before_a_wait() -> None:
    """An interrupt that comes as the caller is about to park does not wait with it."""
    dispatcher = ThreadDispatcher()
    future: Future[None] = Future(dispatcher)
    interrupt_on_entry(futures.Future.add_done_callback)
    assert expect_interrupt(lambda: future.get(timeout=PATIENCE_S)) < PATIENCE_S / 2
    dispatcher.stop(PATIENCE_S)


def in_a_wait() -> None:
    """An interrupt while the caller is parked is raised at once."""
    dispatcher = ThreadDispatcher()
    future: Future[None] = Future(dispatcher)

    def strike() -> None:
        while not future._callbacks:
            pass
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    threading.Thread(target=strike, daemon=True).start()
    assert expect_interrupt(lambda: future.get(timeout=PATIENCE_S)) < PATIENCE_S / 2
    assert not future._callbacks
    dispatcher.stop(PATIENCE_S)


def as_an_answer_is_read() -> None:
    """An interrupt while an answer is read that was there already is raised by that call."""
    dispatcher, ref = helping_without_workers()
    future = ref.ask((lambda _actor: "answer",), block=False)
    assert future.get(timeout=PATIENCE_S) == "answer"
    interrupt_on_entry(futures.Future._answer)
    expect_interrupt(lambda: future.get(timeout=PATIENCE_S))
    dispatcher.stop(PATIENCE_S)


def as_an_error_is_read() -> None:
    """And so it is if that answer is an error."""
    dispatcher, ref = helping_without_workers()
    future = ref.ask((lambda _actor: 1 // 0,), block=False)
    try:
        future.get(timeout=PATIENCE_S)
    except ActorFailed:
        interrupt_on_entry(futures.Future._answer)
    try:
        expect_interrupt(lambda: future.get(timeout=PATIENCE_S))
    except ActorFailed:
        raise AssertionError("the interrupt was held for longer than the call") from None
    dispatcher.stop(PATIENCE_S)


def while_the_threads_are_joined() -> None:
    """An interrupt while a dispatcher stops is raised by the stop, and not by whatever comes next."""
    runtime = Runtime()
    interrupt_on_entry(threads.ThreadDispatcher.abandon)
    try:
        runtime.close(PATIENCE_S)
    except KeyboardInterrupt:
        pass
    else:
        with Runtime() as later:
            later.request_status("r1").get(PATIENCE_S)
        raise AssertionError("the interrupt was lost")
    assert runtime.close(PATIENCE_S).clean
    with Runtime() as later:
        later.request_status("r1").get(PATIENCE_S)


def closed_by_another_thread() -> None:
    """Python's own handler is back once the runtime is closed, whichever thread closed it."""
    runtime = Runtime()
    closer = threading.Thread(target=runtime.close)
    closer.start()
    closer.join(PATIENCE_S)
    Runtime().close()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def with_a_handler_of_its_own() -> None:
    """A program's own handler stays, before, during and after."""
    struck: list[int] = []

    def mine(signum: int, _frame: object) -> None:
        struck.append(signum)

    signal.signal(signal.SIGINT, mine)
    with Runtime() as runtime:
        assert signal.getsignal(signal.SIGINT) is mine
        interrupt()
        runtime.request_status("r1").get(PATIENCE_S)
    assert struck == [signal.SIGINT]
    assert signal.getsignal(signal.SIGINT) is mine


def set_by_the_program_meanwhile() -> None:
    """A handler that the program sets while a runtime lives is not replaced when it closes."""
    runtime = Runtime()

    def mine(_signum: int, _frame: object) -> None:
        pass

    signal.signal(signal.SIGINT, mine)
    runtime.close()
    assert signal.getsignal(signal.SIGINT) is mine


def with_several_runtimes() -> None:
    """The last one restores the handler."""
    first, second = Runtime(), Runtime()
    held = signal.getsignal(signal.SIGINT)
    assert held is not signal.default_int_handler
    first.close()
    assert signal.getsignal(signal.SIGINT) is held
    second.close()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def outside_of_the_kernel() -> None:
    """Raised at once."""
    with Runtime() as runtime:
        runtime.request_status("r1").get(PATIENCE_S)
        expect_interrupt(interrupt)


# Where a shell started the tests in the background, it has SIGINT ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
globals()[sys.argv[1]]()
