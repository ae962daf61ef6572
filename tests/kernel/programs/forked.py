"""What a child made by fork has of its parent's runtime. Run as a program, since a fork takes the whole process."""

from __future__ import annotations

import os
import sys
import time

from dragoman import Handoff, Parent, Runtime, Settings

_WINDOW_S = 0.2
_PATIENCE_S = 20.0


def _request(request_id: str) -> Handoff:
    return Handoff(request_id, request_id, "openai", "select-element", (Parent("p1", 0, "Hello"),))


def _cause_when_closed(runtime: Runtime, request_id: str, patience_s: float) -> str | None:
    """Why the request closed; None if it did not within the patience."""
    deadline = time.monotonic() + patience_s
    while time.monotonic() < deadline:
        status = runtime.request_status(request_id).get(_PATIENCE_S)
        if not status.open:
            return status.cause
    return None


def a_copy_has_no_timers() -> None:
    runtime = Runtime(Settings(ack_window=_WINDOW_S))
    for request_id in ("r0", "r1"):
        runtime.register(_request(request_id)).get(_PATIENCE_S)
    runtime.activate("r0").get(_PATIENCE_S)
    assert _cause_when_closed(runtime, "r0", _PATIENCE_S) == "EXPIRED"  # whoever keeps the timers has started
    child = os.fork()
    if child == 0:
        runtime.activate("r1").get(_PATIENCE_S)
        in_copy = _cause_when_closed(runtime, "r1", 3 * _WINDOW_S)
        os._exit(0 if in_copy is None else 1)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    assert runtime.request_status("r1").get(_PATIENCE_S).open  # what the copy did is nothing to the parent
    runtime.activate("r1").get(_PATIENCE_S)
    assert _cause_when_closed(runtime, "r1", _PATIENCE_S) == "EXPIRED"
    runtime.close()


if __name__ == "__main__":
    globals()[sys.argv[1]]()
