"""The tests of the kernel as checks that can be called: each with the dispatchers that it asks for, and its own end.

A mutant may let one wait for ever for what must come at once; so here nobody is as patient as in the tests themselves.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from types import ModuleType
from typing import Any

import pytest

from dragoman.actors.simulation import SimulatedDispatcher
from dragoman.actors.threads import ThreadDispatcher
from dragoman.runtime import Runtime

from ..kernel import (
    probes,
    test_at_once,
    test_futures,
    test_helping,
    test_mailbox,
    test_shutdown,
    test_simulation,
    test_stop_races,
    test_timers,
)

__all__ = ["impatient", "kernel_checks"]

_PATIENCE_S = 4.0

_MODULES: tuple[ModuleType, ...] = (
    test_at_once,
    test_mailbox,
    test_timers,
    test_simulation,
    test_futures,
    test_helping,
    test_stop_races,
    test_shutdown,
)
_ARGUMENTS = {"threaded", "simulated", "dispatcher", "runtime", "block"}


def kernel_checks() -> Iterator[tuple[str, Callable[[], object]]]:
    """Those tests that ask for nothing but dispatchers, a runtime or a block; each once for each kind of dispatcher."""
    for module in _MODULES:
        for name, test in vars(module).items():
            asked = set(inspect.signature(test).parameters) if name.startswith("test_") else {"?"}
            if not asked <= _ARGUMENTS or inspect.iscoroutinefunction(test):
                continue
            for kind in ("threaded", "simulated") if "dispatcher" in asked else ("",):
                yield f"{name} {kind}".strip(), partial(_call, test, asked, kind)


def _call(test: Callable[..., object], asked: set[str], kind: str) -> None:
    with ExitStack() as stack:
        given: dict[str, Any] = {}
        for name in sorted(asked, reverse=True):
            what = kind if name == "dispatcher" else name
            given[name] = stack.enter_context(_argument(what))
        test(**given)


@contextmanager
def _argument(name: str) -> Iterator[Any]:
    if name == "block":
        block = probes.Block()
        try:
            yield block
        finally:
            block.release.set()
    elif name == "runtime":
        runtime = Runtime()
        yield runtime
        runtime.close(_PATIENCE_S)
    else:
        dispatcher = SimulatedDispatcher() if name == "simulated" else ThreadDispatcher()
        yield dispatcher
        probes.end(dispatcher)


def impatient(patch: pytest.MonkeyPatch) -> None:
    """Let the tests of the kernel give up sooner."""
    for module in (probes, *_MODULES):
        if hasattr(module, "PATIENCE_S"):
            patch.setattr(module, "PATIENCE_S", _PATIENCE_S)
    patch.setattr(probes.Countdown.wait, "__defaults__", (_PATIENCE_S,))
