"""Replays a scenario against the real actors in virtual time."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

import attrs

from ..actors.futures import Future
from ..actors.simulation import SimulatedDispatcher
from ..protocol.errors import DragomanError
from ..protocol.mappings import FrozenMapping
from ..protocol.replies import ParentStates
from ..runtime import Runtime
from .expectations import Mismatch, compare_reply, compare_then
from .invariants import InvariantChecker
from .logs import LogWatch
from .scenario import Moment, Scenario, Step, read_scenario
from .source import InvalidScenario
from .stage import Stage
from .state import actual_of, names_of

T = TypeVar("T")

_PLAIN = (int, float, type(None), FrozenMapping, ParentStates)

__all__ = ["Failure", "Result", "replay_file", "replay_scenario"]


@attrs.frozen
class Failure:
    """A step (its index in the timeline, from 0) or an entry of `then` (step None) that did not hold."""

    line: int
    step: int | None
    expected: Any
    actual: Any
    message: str


@attrs.frozen
class Result:
    """What became of one file. `invalid` is `FILE:LINE:COLUMN: what is wrong`, and then nothing was run."""

    file: str
    scenario: str | None
    invalid: str | None
    failures: tuple[Failure, ...]
    timeline: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        return self.invalid is None and not self.failures


def replay_file(path: Path, *, seed: int = 0, watch: LogWatch | None = None, with_timeline: bool = False) -> Result:
    """Replay the scenario in `path`; a bad file is a result too."""
    try:
        scenario = read_scenario(path)
    except InvalidScenario as error:
        return Result(str(path), None, f"{path}:{error}", ())
    failures, timeline = replay_scenario(scenario, seed=seed, watch=watch, with_timeline=with_timeline)
    return Result(str(path), scenario.name, None, failures, timeline)


def replay_scenario(
    scenario: Scenario, *, seed: int = 0, watch: LogWatch | None = None, with_timeline: bool = False
) -> tuple[tuple[Failure, ...], tuple[str, ...]]:
    """Replay a scenario: its failures, in order, and the lines of its timeline if they are asked for."""
    return _Replay(scenario, seed, watch, with_timeline).run()


class _Replay:
    def __init__(self, scenario: Scenario, seed: int, watch: LogWatch | None, with_timeline: bool) -> None:
        self._scenario = scenario
        self._dispatcher = SimulatedDispatcher(seed)
        self._scratch = TemporaryDirectory(prefix="dragoman-", ignore_cleanup_errors=True)
        settings = attrs.evolve(scenario.settings, feature_history=Path(self._scratch.name) / "feature-history")
        self._runtime = Runtime(settings, providers=scenario.providers, dispatcher=self._dispatcher)
        self._stage = Stage(self._runtime)
        self._checker = InvariantChecker(scenario.settings)
        self._watch = watch
        self._texts: set[str] = set()
        self._ids: set[str] = set()
        self._failures: list[Failure] = []
        self._timeline: list[str] = []
        if with_timeline:
            self._dispatcher.observer = self._observe

    def run(self) -> tuple[tuple[Failure, ...], tuple[str, ...]]:
        with self._scratch, self._runtime:
            for index, moment in enumerate(self._scenario.timeline):
                self._moment(index, moment)
            self._then()
            self._dispatcher.observer = None
        return tuple(self._failures), tuple(self._timeline)

    def _moment(self, index: int, moment: Moment) -> None:
        self._dispatcher.advance_to(moment.at_us)
        posted = [(step, self._post(step)) for step in moment.steps]
        self._dispatcher.run()
        for step, future in posted:
            self._answered(index, step, future)
        self._check_invariants(index, moment)

    def _post(self, step: Step) -> Future[Any] | None:
        verb = step.verb
        if self._watch is not None:
            self._ids.update(str(name) for name in verb.ids())
            self._texts.update(text for text in verb.texts() if isinstance(text, str))
        if self._dispatcher.observer is not None:
            self._dispatcher.observer("step", "", f"{verb.what}, line {step.line}")
        try:
            return verb.post(self._stage)
        except DragomanError as error:
            refused: Future[Any] = Future(self._dispatcher)
            refused.settle(None, error)
            return refused

    def _answered(self, index: int, step: Step, future: Future[Any] | None) -> None:
        reply = None
        if future is not None:
            if not future.done:
                self._fail(step.line, index, step.expected, None, f"{step.verb.what} was not answered")
                return
            try:
                reply = step.verb.read(future.get())
            except DragomanError as error:
                reply = step.verb.read_error(error)
                if reply is None:
                    name = type(error).__name__
                    self._fail(step.line, index, step.expected, name, f"{step.verb.what} failed: {error}")
                    return
        self._checker.saw(step.verb, reply)
        if step.expects:
            mismatch = compare_reply(step.expected, reply)
            if mismatch is not None:
                self._mismatch(step.line, index, step.verb.what, mismatch)

    def _check_invariants(self, index: int, moment: Moment) -> None:
        for verb, parent, text in self._stage.accepted:
            self._checker.accepted(verb, parent, text)
        self._stage.accepted.clear()
        for breach in self._checker.check(self._unseen(self._runtime.snapshot)):
            self._fail(moment.line, index, None, None, f"an invariant is broken: {breach}")
        if self._watch is not None and self._watch.leaks(self._texts, self._ids):
            self._fail(moment.line, index, None, None, "an invariant is broken: content appears in a log line")

    def _unseen(self, look: Callable[[], T]) -> T:
        """Look at the runtime without a trace of that in the timeline."""
        observer, self._dispatcher.observer = self._dispatcher.observer, None
        try:
            return look()
        finally:
            self._dispatcher.observer = observer

    def _then(self) -> None:
        then = self._scenario.then
        if not then:
            return
        snapshot = self._unseen(self._runtime.snapshot)
        for key, entry in then.items():
            actual, default = self._unseen(partial(actual_of, key, names_of(entry), snapshot, self._stage))
            for mismatch in compare_then(entry, actual, key, default):
                self._mismatch(mismatch.line or entry.line, None, mismatch.path, mismatch)

    def _mismatch(self, line: int, step: int | None, what: str, mismatch: Mismatch) -> None:
        path = f"{what}.{mismatch.path}" if step is not None and mismatch.path else what
        self._fail(line, step, mismatch.expected, mismatch.actual, f"{path} is not as expected")

    def _fail(self, line: int, step: int | None, expected: Any, actual: Any, message: str) -> None:
        self._failures.append(Failure(line, step, expected, actual, message))

    def _observe(self, kind: str, actor: str, what: object) -> None:
        seconds = self._dispatcher.now_us() / 1_000_000
        self._timeline.append(f"{seconds:>14.6f}s  {kind:<8} {actor:<28} {_described(what)}")


def _described(what: Any) -> str:
    if type(what) is tuple:
        return " ".join(_described(part) for part in what)
    if attrs.has(type(what)):
        fields = ((field, getattr(what, field.name)) for field in attrs.fields(type(what)))
        shown = (f"{field.name}={_shown(field, value)}" for field, value in fields if field.repr)
        return f"{type(what).__name__}({', '.join(shown)})"
    if isinstance(what, str):
        return str(what)
    if isinstance(what, frozenset):
        return f"{{{', '.join(sorted(map(_described, what)))}}}"
    if isinstance(what, _PLAIN):
        return repr(what)
    # An address of the outside, or what may hold text: neither belongs into a line.
    return f"<{type(what).__name__}>"


def _shown(field: attrs.Attribute[Any], value: Any) -> str:
    return str(field.repr(value)) if callable(field.repr) else _described(value)
