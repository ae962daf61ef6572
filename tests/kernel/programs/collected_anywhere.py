"""A runtime that is collected in the middle of a call into its own kernel: no lock is taken twice.

The garbage collector runs wherever an object is allocated, so the moments of collection are swept over every allocation
of the call. Argument: the name of the call.
"""

from __future__ import annotations

import contextlib
import faulthandler
import gc
import sys
from typing import Any

from dragoman.actors.actor import Actor, handles
from dragoman.actors.futures import Future, WaitTimeout
from dragoman.actors.mailbox import Envelope
from dragoman.protocol.errors import DragomanError
from dragoman.runtime import Runtime

SWEEP = 40


class Doer(Actor):
    """Does what it is told."""

    @handles(tuple)
    def _do(self, message: tuple[Any], _envelope: Envelope[Any]) -> object:
        return message[0](self)


def count_messages(dispatcher: Any, _ref: Any, _future: Any) -> None:
    dispatcher.counts()


def wait_for_an_answer(_dispatcher: Any, _ref: Any, future: Any) -> None:
    with contextlib.suppress(WaitTimeout):
        future.get(0.001)


def start_a_worker(_dispatcher: Any, ref: Any, _future: Any) -> None:
    ref.actor_inbox.mailbox.tell((len,))


def start_a_timer(dispatcher: Any, ref: Any, _future: Any) -> None:
    dispatcher.start_timer(10**9, ref.actor_inbox.mailbox, "key")


def sweep(call: Any) -> None:
    for allocations in range(1, SWEEP):
        faulthandler.dump_traceback_later(4.0, exit=True)
        gc.disable()
        runtime = Runtime()
        dispatcher = runtime.dispatcher
        ref = Doer.start(dispatcher)
        future: Future[None] = Future(dispatcher)
        ref.actor_inbox.mailbox.actor.owed = lambda future=future: iter([Envelope("owed", future)])  # type: ignore[attr-defined]
        cycle: list[Any] = [runtime]
        cycle.append(cycle)
        kept = [[] for _ in range(200)]
        del runtime, cycle
        gc.set_threshold(gc.get_count()[0] + allocations)
        gc.enable()
        with contextlib.suppress(DragomanError):
            call(dispatcher, ref, future)
        gc.disable()
        gc.collect()
        del kept
        faulthandler.cancel_dump_traceback_later()
        assert dispatcher.stop(5.0) == ()


sweep(globals()[sys.argv[1]])
