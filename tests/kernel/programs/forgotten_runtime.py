"""Runtimes that nobody closes. Argument: the name of the case, a function below."""

from __future__ import annotations

import contextlib
import gc
import sys
import threading
import time
import weakref
from typing import Any

import pykka

from dragoman.actors.actor import Actor, handles
from dragoman.actors.mailbox import Envelope
from dragoman.protocol.errors import ActorStopped
from dragoman.protocol.handoff import Handoff, Parent
from dragoman.runtime import Runtime

PATIENCE_S = 5.0


class Doer(Actor):
    """Does what it is told."""

    @handles(tuple)
    def _do(self, message: tuple[Any], _envelope: Envelope[Any]) -> object:
        return message[0](self)


def use(runtime: Runtime) -> None:
    handoff = Handoff("r1", "s1", "openai", "select-element", (Parent("p1", 0, "Hello"),))
    assert runtime.register(handoff).get(PATIENCE_S).status == "REGISTERED"
    assert runtime.activate("r1").get(PATIENCE_S).status == "ACTIVATED"


def kernel_threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name.startswith("dragoman-")]


def exits_while_it_is_open() -> None:
    """The interpreter ends, with a timer running and a handler waiting for ever."""
    runtime = Runtime()
    use(runtime)
    entered = threading.Event()

    def wait_for_ever(_actor: object) -> None:
        entered.set()
        threading.Event().wait()

    Doer.start(runtime.dispatcher).tell((wait_for_ever,))
    assert entered.wait(PATIENCE_S)
    globals()["kept"] = runtime


def its_threads_end() -> None:
    """Its threads end when it is collected."""
    runtime = Runtime()
    use(runtime)
    threads = kernel_threads()
    assert threads
    del runtime
    gc.collect()
    for thread in threads:
        thread.join(PATIENCE_S)
        assert not thread.is_alive()


def it_is_collected() -> None:
    """Nothing of the kernel keeps it alive, not even an answer that somebody keeps."""
    runtime = Runtime()
    use(runtime)
    kept = runtime.history("s1")
    prompt = runtime.messages("s1")
    gone = weakref.ref(runtime)
    del runtime
    gc.collect()
    assert gone() is None
    for future in (kept, prompt):
        with contextlib.suppress(ActorStopped):
            assert future.get(PATIENCE_S) == ()


def its_callers_are_answered() -> None:
    """A caller that waits for an answer of a runtime that is gone gets one."""
    runtime = Runtime()
    entered, release = threading.Event(), threading.Event()

    def wait(_actor: object) -> None:
        entered.set()
        release.wait(PATIENCE_S)

    ref = Doer.start(runtime.dispatcher)
    ref.tell((wait,))
    assert entered.wait(PATIENCE_S)
    future = ref.ask((wait,), block=False)
    del runtime
    gc.collect()
    try:
        future.get(timeout=PATIENCE_S)
    except ActorStopped:
        release.set()
    else:
        raise AssertionError("answered by an actor that is gone")


def it_leaves_the_registry() -> None:
    """Pykka's registry forgets its owners."""
    for _ in range(10):
        use(Runtime())
        gc.collect()
    deadline_s = time.monotonic() + PATIENCE_S
    while pykka.ActorRegistry.get_all():
        assert time.monotonic() < deadline_s, "its owners stay in the registry"


def it_is_collected_by_its_own_worker() -> None:
    """The last reference goes in a handler of its own."""
    box = [Runtime()]
    done = threading.Event()
    threads = []

    def drop(_actor: object) -> None:
        threads.extend(kernel_threads())
        box.clear()
        gc.collect()
        done.set()

    Doer.start(box[0].dispatcher).tell((drop,))
    assert done.wait(PATIENCE_S)
    for thread in threads:
        thread.join(PATIENCE_S)
        assert not thread.is_alive()


globals()[sys.argv[1]]()
