"""A main thread that calls actors and is interrupted again and again: nothing is torn, lost or left hanging.

Arguments: how many interrupts, and the seed of their moments. They come from another process, as a Ctrl-C does, so that
they strike between any two bytecodes of the main thread; the next one is sent when the last one was caught.
"""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from typing import Any

from dragoman.actors.actor import Actor, handles
from dragoman.actors.dispatcher import Dispatcher
from dragoman.actors.futures import WaitTimeout
from dragoman.actors.mailbox import Envelope, Mailbox
from dragoman.actors.threads import ThreadDispatcher

INTERRUPTS = int(sys.argv[1])
SEED = int(sys.argv[2])
PATIENCE_S = 5.0


KILLER = """
import os, random, sys
random.seed(int(sys.argv[2]))
while os.read(0, 1):
    for _ in range(random.randrange(3_000)):
        pass
    os.kill(int(sys.argv[1]), 2)
"""


class Pair(Actor):
    """Owns two flags that are never seen apart; between them it sends work to the actors behind it."""

    def __init__(self, dispatcher: Dispatcher, behind: tuple[Mailbox, ...]) -> None:
        super().__init__(dispatcher)
        self.flag_a = 0
        self.flag_b = 0
        self.behind = behind

    @handles(int)
    def _set(self, message: int, _envelope: Envelope[Any]) -> tuple[int, int]:
        seen = (self.flag_a, self.flag_b)
        self.flag_a += 1
        for mailbox in self.behind:
            mailbox.tell(message)
        self.flag_b += 1
        return seen

    @handles(str)
    def _see(self, _message: str, _envelope: Envelope[Any]) -> tuple[int, int]:
        return self.flag_a, self.flag_b

    @handles(threading.Event)
    def _show_life(self, message: threading.Event, _envelope: Envelope[Any]) -> None:
        message.set()


def wait_beside(refs: list[Any], over: threading.Event, errors: list[str]) -> None:
    """Another thread whose answers the interrupted one may be giving."""
    number = 0
    while not over.is_set():
        number += 1
        future = refs[number % len(refs)].ask(number, block=False)
        try:
            future.get(timeout=PATIENCE_S)
        except WaitTimeout:
            errors.append("a waiter was not told of its answer" if future.done else "an ask was not answered")
            return


def be_interrupted(refs: list[Any], killer: subprocess.Popen[bytes]) -> int:
    """Call until the interrupt comes, as often as one is sent; how many came."""
    assert killer.stdin is not None
    numbers = itertools.count(1)
    caught = 0
    while caught < INTERRUPTS:
        try:
            killer.stdin.write(b"!")
            # A function of its own: what strikes at the end of a loop is not always caught around that loop (3.13).
            call_for_ever(refs, numbers)
        except KeyboardInterrupt:
            caught += 1
    killer.stdin.close()
    return caught


def call_for_ever(refs: list[Any], numbers: Iterator[int]) -> None:
    for number in numbers:
        futures = [ref.ask(number, block=False) for ref in refs]
        for future in futures:
            seen_a, seen_b = future.get(timeout=PATIENCE_S)
            assert seen_a == seen_b, "a handler was torn"


def main() -> None:
    dispatcher = ThreadDispatcher()
    refs: list[Any] = [Pair.start(dispatcher, ()) for _ in range(3)]
    behind = tuple(ref.actor_inbox.mailbox for ref in refs)
    refs += [Pair.start(dispatcher, behind) for _ in range(2)]
    over = threading.Event()
    errors: list[str] = []
    beside = threading.Thread(target=wait_beside, args=(refs, over, errors), daemon=True)
    beside.start()
    arguments = [sys.executable, "-c", KILLER, str(os.getpid()), str(SEED)]
    with subprocess.Popen(arguments, stdin=subprocess.PIPE, bufsize=0) as killer:
        assert be_interrupted(refs, killer) == INTERRUPTS
    over.set()
    beside.join(PATIENCE_S * 2)
    assert not beside.is_alive()
    assert errors == []

    for _ in range(100):
        for ref in refs:
            life = threading.Event()
            ref.tell(life)
            assert life.wait(PATIENCE_S), "a mailbox is scheduled and not run, or no worker wakes"
    for ref in refs:
        flag_a, flag_b = ref.ask("see", timeout=PATIENCE_S)
        assert flag_a == flag_b, "a handler was torn"
    assert dispatcher.stop(PATIENCE_S) == (), "a worker does not end"
    counts = dispatcher.counts()
    assert counts.sent == counts.handled + counts.dead + counts.queued, counts
    assert (counts.queued, counts.failed) == (0, 0), counts
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler, "the handler of SIGINT is not restored"
    sys.stdout.write(f"{INTERRUPTS} interrupts\n")


# Where a shell started the tests in the background, it has SIGINT ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
main()
