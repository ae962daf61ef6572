"""A callback that the close itself calls, as it settles what a stuck actor left, cannot close again: it is told so."""

from __future__ import annotations

import faulthandler
import threading
from typing import Any

from dragoman.actors.actor import Actor, handles
from dragoman.actors.mailbox import Envelope
from dragoman.protocol.errors import BlockingInHandler
from dragoman.runtime import Runtime


class Stuck(Actor):
    """Waits for an event in its handler."""

    @handles(threading.Event)
    def _wait(self, message: threading.Event, _envelope: Envelope[Any]) -> None:
        self.entered.set()
        message.wait()

    entered = threading.Event()


faulthandler.dump_traceback_later(8.0, exit=True)
runtime = Runtime()
ref = Stuck.start(runtime.dispatcher)
release = threading.Event()
ref.tell(release)
assert Stuck.entered.wait(5.0)
left: Any = ref.ask(threading.Event(), block=False)
errors: list[BaseException] = []


def close_again(_future: object) -> None:
    try:
        runtime.close()
    except BlockingInHandler as error:
        errors.append(error)


left.add_done_callback(close_again)
runtime.close(0.2)
release.set()
assert len(errors) == 1
