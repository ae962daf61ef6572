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

__all__ = ["KERNEL", "impatient", "kernel_checks"]

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
_OF_PART = {"mailbox": (test_mailbox, test_at_once), "timers": (test_timers,), "futures": (test_futures,)}
_OF_PART["dispatcher"] = (test_helping, test_simulation, test_stop_races)
KERNEL = tuple(_OF_PART)
"""The parts of the kernel that have tests of their own."""
_ARGUMENTS = {"threaded", "simulated", "dispatcher", "runtime", "block"}


def kernel_checks(part: str = "") -> Iterator[tuple[str, Callable[[], object]]]:
    """Those tests that ask for nothing but dispatchers, a runtime or a block; each once for each kind of dispatcher.

    The tests of `part` come first.
    """
    first = _OF_PART.get(part, ())
    for module in (*first, *(other for other in _MODULES if other not in first)):
        for name, test in vars(module).items():
            if not name.startswith("test_") or inspect.iscoroutinefunction(test):
                continue
            for values in _values(test):
                asked = set(inspect.signature(test).parameters) - set(values)
                if not asked <= _ARGUMENTS:
                    break
                for kind in ("threaded", "simulated") if "dispatcher" in asked else ("",):
                    told = " ".join(
                        [name, *(getattr(value, "__name__", str(value)) for value in values.values()), kind]
                    ).strip()
                    yield told, partial(_call, test, asked, kind, values)


def _values(test: Any) -> list[dict[str, Any]]:
    """What a test that is called with several values in turn gets each time, in all combinations."""
    found: list[dict[str, Any]] = [{}]
    for mark in getattr(test, "pytestmark", ()):
        if mark.name == "parametrize":
            names, values = mark.args
            names = [name.strip() for name in names.split(",")] if isinstance(names, str) else names
            rows = [value if len(names) > 1 else (value,) for value in values]
            found = [{**one, **dict(zip(names, row, strict=True))} for one in found for row in rows]
    return found


def _call(test: Callable[..., object], asked: set[str], kind: str, values: dict[str, Any]) -> None:
    with ExitStack() as stack:
        given: dict[str, Any] = dict(values)
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
        runtime.close(probes.PATIENCE_S)
    else:
        dispatcher = SimulatedDispatcher() if name == "simulated" else ThreadDispatcher()
        yield dispatcher
        probes.end(dispatcher)


def impatient(patch: pytest.MonkeyPatch, patience_s: float) -> None:
    """Let the tests of the kernel give up sooner."""
    for module in (probes, *_MODULES):
        if hasattr(module, "PATIENCE_S"):
            patch.setattr(module, "PATIENCE_S", patience_s)
    patch.setattr(probes.Countdown.wait, "__defaults__", (patience_s,))
