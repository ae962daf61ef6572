"""Small actors and tools for the kernel's tests."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import pykka

from dragoman.actors.actor import Actor, handles
from dragoman.actors.dispatcher import Dispatcher, MessageCounts
from dragoman.actors.mailbox import Envelope, Mailbox
from dragoman.protocol.handoff import Handoff, Parent

PATIENCE_S = 20.0
"""How long a test waits for what must come at once; only a failing test ever waits that long."""


@attrs.frozen
class Do:
    """Let the actor do something; what that returns is the answer."""

    action: Callable[[Any], object]


class Doer(Actor):
    """Does what it is told, remembers every text that it is sent, and answers with it."""

    def __init__(self, dispatcher: Dispatcher) -> None:
        super().__init__(dispatcher)
        self.seen: list[str] = []
        self.fired: list[str] = []
        self.failures: list[object] = []

    @handles(Do)
    def _do(self, message: Do, _envelope: Envelope[Any]) -> object:
        return message.action(self)

    @handles(str)
    def _note(self, message: str, _envelope: Envelope[Any]) -> str:
        self.seen.append(message)
        return message

    def on_timer(self, key: str) -> None:
        self.fired.append(key)

    def on_failure(self, *failure: object) -> None:
        self.failures.append(failure)


class Stopper(Actor):
    """Adds one to each number, in order, and stops at a number below zero."""

    in_registry = False

    def __init__(self, dispatcher: Dispatcher) -> None:
        super().__init__(dispatcher)
        self.running = threading.Lock()

    @handles(int)
    def _add(self, message: int, _envelope: Envelope[Any]) -> int:
        assert self.running.acquire(blocking=False), "two threads run one mailbox"
        try:
            if message < 0:
                self._stop()
            return message + 1
        finally:
            self.running.release()


class Block:
    """A handler that waits, as none should, until it is let go."""

    def __init__(self) -> None:
        self.entered = threading.Event()
        self.release = threading.Event()
        self.thread: threading.Thread | None = None

    def __call__(self, _actor: object = None) -> str:
        self.thread = threading.current_thread()
        self.entered.set()
        assert self.release.wait(PATIENCE_S), "nobody let the handler go"
        return "released"


def mailbox_of(ref: pykka.ActorRef[Any]) -> Mailbox:
    mailbox: Mailbox = ref.actor_inbox.mailbox  # type: ignore[attr-defined]
    return mailbox


def start(actor: type[Actor], dispatcher: Dispatcher, *arguments: object) -> pykka.ActorRef[Any]:
    return actor.start(dispatcher, *arguments)


def in_threads(*works: Callable[[], object], here: Callable[[], object] | None = None) -> None:
    """Do all `works` at the same time, a thread each, and `here` in this one; raise what the first of them raised."""
    barrier = threading.Barrier(len(works) + (here is not None))
    errors: list[BaseException] = []

    def run(work: Callable[[], object]) -> None:
        try:
            barrier.wait(PATIENCE_S)
            work()
        except BaseException as error:
            errors.append(error)

    threads = [
        threading.Thread(target=run, args=(work,), name=f"test-{n}", daemon=True) for n, work in enumerate(works)
    ]
    for thread in threads:
        thread.start()
    if here is not None:
        run(here)
    for thread in threads:
        thread.join(PATIENCE_S * 2)
    if errors:
        raise errors[0]
    assert [thread.name for thread in threads if thread.is_alive()] == [], "a thread hangs"


class Countdown:
    """An event that comes when it was counted `times` times; it is waited for without helping."""

    def __init__(self, times: int) -> None:
        self._left = times
        self._lock = threading.Lock()
        self._over = threading.Event()

    def count(self, *_cause: object) -> None:
        with self._lock:
            self._left -= 1
            if self._left == 0:
                self._over.set()

    def wait(self, timeout_s: float = PATIENCE_S) -> int:
        """How many are missing after at most `timeout_s`."""
        self._over.wait(timeout_s)
        return self._left


def dragoman_threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name.startswith("dragoman-")]


def end(dispatcher: Dispatcher) -> None:
    """Stop `dispatcher`, and check that its threads end and that its messages are conserved."""
    left = dispatcher.stop(PATIENCE_S)
    dispatcher.retire_all()
    assert left == ()
    counts = dispatcher.counts()
    assert counts.queued == 0
    assert conserved(counts), counts


def handoff(request_id: str, session_id: str = "s1") -> Handoff:
    return Handoff(request_id, session_id, "openai", "select-element", (Parent("p1", 0, "Hello"),))


def conserved(counts: MessageCounts) -> bool:
    return counts.sent == counts.handled + counts.dead + counts.queued


def run_program(name: str, *arguments: object, timeout_s: float = 30.0) -> str:
    """Run a script of `programs` in an interpreter of its own, which must end in time and without an error."""
    program = Path(__file__).parent / "programs" / f"{name}.py"
    try:
        done = subprocess.run(
            [sys.executable, "-X", "faulthandler", str(program), *map(str, arguments)],
            capture_output=True,
            text=True,
            timeout=timeout_s,
            check=False,
        )
    except subprocess.TimeoutExpired as expired:
        raise AssertionError(f"{name} hangs; it wrote {expired.stdout!r} and {expired.stderr!r}") from None
    assert done.returncode == 0, f"{name} ended with {done.returncode}:\n{done.stdout}{done.stderr}"
    return done.stdout
