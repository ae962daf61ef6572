"""Dispatchers that every test leaves as it found them: no thread, no message unaccounted for, SIGINT restored.

`pytest tests/kernel --switch-interval 1e-6` makes the interpreter change threads as often as it can; the option is
known only where this folder (or a file of it) is named on the command line.
"""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator

import pykka
import pytest

from dragoman.actors.dispatcher import Dispatcher
from dragoman.actors.simulation import SimulatedDispatcher
from dragoman.actors.threads import ThreadDispatcher
from dragoman.runtime import Runtime

from .probes import PATIENCE_S, Block, dragoman_threads, end


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--switch-interval", type=float, default=None, help="sys.setswitchinterval for the kernel's tests, in seconds"
    )


@pytest.fixture(autouse=True)
def _switch_interval(request: pytest.FixtureRequest) -> Iterator[None]:
    interval_s = request.config.getoption("switch_interval", default=None)
    before_s = sys.getswitchinterval()
    if interval_s is not None:
        sys.setswitchinterval(interval_s)
    yield
    sys.setswitchinterval(before_s)


@pytest.fixture(autouse=True)
def _nothing_is_left() -> Iterator[None]:
    threads = set(threading.enumerate())
    owners = set(pykka.ActorRegistry.get_all())
    handler = signal.getsignal(signal.SIGINT)
    yield
    left = [thread for thread in dragoman_threads() if thread not in threads]
    for thread in left:
        thread.join(PATIENCE_S)
    assert [thread.name for thread in left if thread.is_alive()] == []
    for ref in set(pykka.ActorRegistry.get_all()) - owners:
        pykka.ActorRegistry.unregister(ref)
    if signal.getsignal(signal.SIGINT) is not handler:
        # Closed by another thread, which cannot set it: the next dispatcher that ends on the main thread does.
        ThreadDispatcher(workers=0).stop(0.0)
    left_handler = signal.getsignal(signal.SIGINT)
    signal.signal(signal.SIGINT, handler)
    assert left_handler is handler


@pytest.fixture
def threaded() -> Iterator[ThreadDispatcher]:
    dispatcher = ThreadDispatcher()
    yield dispatcher
    end(dispatcher)


@pytest.fixture
def simulated() -> Iterator[SimulatedDispatcher]:
    dispatcher = SimulatedDispatcher()
    yield dispatcher
    end(dispatcher)


@pytest.fixture(params=["threaded", "simulated"])
def dispatcher(request: pytest.FixtureRequest) -> Dispatcher:
    """Each kind of dispatcher in turn."""
    made: Dispatcher = request.getfixturevalue(request.param)
    return made


@pytest.fixture
def runtime() -> Iterator[Runtime]:
    made = Runtime()
    yield made
    made.close(PATIENCE_S)


@pytest.fixture
def block() -> Iterator[Block]:
    """A handler that is let go when the test is over, so that a failing test leaves no thread."""
    made = Block()
    yield made
    made.release.set()
