"""Replays a scenario against the real actors in virtual time."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

import attrs

from ..actors.dispatcher import Note
from ..actors.futures import Future
from ..actors.simulation import SimulatedDispatcher
from ..actors.tracing import Tracer
from ..protocol.errors import ActorFailed, ActorStopped, DragomanError
from ..protocol.mappings import FrozenMapping
from ..protocol.replies import ParentStates
from ..reports import Snapshot
from ..runtime import Runtime
from .expectations import Mismatch, compare_reply, compare_then
from .invariants import InvariantChecker
from .logs import LogWatch
from .scenario import Moment, Scenario, Step, read_scenario
from .source import InvalidScenario
from .stage import Stage
from .state import actual_of, names_of

T = TypeVar("T")

_NO_REPLY = object()
_PLAIN = (int, float, type(None), FrozenMapping, ParentStates)

__all__ = ["Failure", "Replay", "Result", "replay_file", "replay_scenario"]


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
    source: Scenario | None = attrs.field(default=None, repr=False, eq=False)

    @property
    def passed(self) -> bool:
        return self.invalid is None and not self.failures


def replay_file(
    path: Path,
    *,
    seed: int = 0,
    watch: LogWatch | None = None,
    with_timeline: bool = False,
    journal: Callable[[Note], object] | None = None,
    tracer: Tracer | None = None,
) -> Result:
    """Replay the scenario in `path`; a bad file is a result too. The rest is as in `replay_scenario`."""
    try:
        scenario = read_scenario(path)
    except InvalidScenario as error:
        return Result(str(path), None, f"{path}:{error}", ())
    failures, timeline = replay_scenario(
        scenario, seed=seed, watch=watch, with_timeline=with_timeline, journal=journal, tracer=tracer
    )
    return Result(str(path), scenario.name, None, failures, timeline, scenario)


def replay_scenario(
    scenario: Scenario,
    *,
    seed: int = 0,
    watch: LogWatch | None = None,
    with_timeline: bool = False,
    journal: Callable[[Note], object] | None = None,
    tracer: Tracer | None = None,
) -> tuple[tuple[Failure, ...], tuple[str, ...]]:
    """Replay a scenario: its failures, in order, and the lines of its timeline if they are asked for.

    `journal` takes the notes of the runtime and, before what it does, a note of each step; `tracer` traces what the
    actors tell each other.
    """
    with TemporaryDirectory(prefix="dragoman-", ignore_cleanup_errors=True) as scratch:
        file = Path(scratch) / "feature-history"
        dispatcher = SimulatedDispatcher(seed)
        if tracer is not None:
            tracer.watch(dispatcher)
        run = Replay(scenario, dispatcher, file, watch=watch, with_timeline=with_timeline, journal=journal)
        with run.runtime:
            run.play()
    return tuple(run.failures), tuple(run.timeline)


class Replay:
    """One run of a scenario against a runtime of its own; whoever plays it ends the runtime.

    `feature_history` is where the durable history is kept: a file that is nobody else's. `failures` are all, in order;
    `broken` those of them that are failures whatever the file expects.
    """

    def __init__(
        self,
        scenario: Scenario,
        dispatcher: SimulatedDispatcher,
        feature_history: Path,
        *,
        watch: LogWatch | None = None,
        with_timeline: bool = False,
        touch: Callable[[str], object] | None = None,
        journal: Callable[[Note], object] | None = None,
    ) -> None:
        self.scenario = scenario
        self._dispatcher = dispatcher
        self._journaled = journal is not None
        if journal is not None:
            dispatcher.journal = journal
        dispatcher.back_offs = {request: deque(waits) for request, waits in scenario.back_offs.items()}
        self.runtime = self._start(dispatcher, feature_history)
        self._stage = Stage(self.runtime, touch)
        self._checker = InvariantChecker(scenario.settings)
        self._watch = watch
        self._texts: set[str] = set()
        self._ids: set[str] = set()
        self.failures: list[Failure] = []
        self.broken: list[Failure] = []
        self.timeline: list[str] = []
        self._posted: list[tuple[Step, Future[Any] | None]] = []
        if with_timeline:
            self._dispatcher.observer = self._observe

    def _start(self, dispatcher: SimulatedDispatcher, feature_history: Path) -> Runtime:
        settings = attrs.evolve(self.scenario.settings, feature_history=feature_history)
        return Runtime(settings, providers=self.scenario.providers, dispatcher=dispatcher)

    def play(self) -> None:
        """Go through the timeline, and look whether what must be true at the end is so."""
        for index, moment in enumerate(self.scenario.timeline):
            self._moment(index, moment)
        self._then()
        self._dispatcher.observer = None
        if self._journaled:
            self._dispatcher.journal = None  # that the runtime is closed now is no part of the scenario

    def _approach(self, instant_us: int) -> None:
        """Let everything happen that comes before the steps of that instant."""
        self._dispatcher.advance_to(instant_us)

    def _come_to_rest(self) -> None:
        """Let the steps that were posted happen."""
        self._dispatcher.run()

    def _replied(self, index: int, place: int, reply: object) -> None:
        """Take note of the reply to the `place`-th step of a moment."""

    def _moment(self, index: int, moment: Moment) -> None:
        self._approach(moment.at_us)
        self._posted = [(step, self._post(index, step)) for step in moment.steps]
        self._come_to_rest()
        replies = [self._answered(index, place, *posted) for place, posted in enumerate(self._posted)]
        for place in self._order_of_answers():
            if replies[place] is not _NO_REPLY:
                self._checker.saw(self._posted[place][0].verb, replies[place])
        self._check_invariants(index, moment)

    def _order_of_answers(self) -> Sequence[int]:
        """In which order the steps of this moment took effect, as far as anybody can tell: here as they are listed."""
        return range(len(self._posted))

    def _post(self, index: int, step: Step) -> Future[Any] | None:
        verb = step.verb
        if self._journaled:
            self._dispatcher.note("step", index, step.line, verb.what)
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

    def _answered(self, index: int, place: int, step: Step, future: Future[Any] | None) -> Any:
        """The reply to a step, compared with what was expected; `_NO_REPLY` if there is none."""
        reply = None
        if future is not None:
            if not future.done:
                self._break(step.line, index, step.expected, None, f"{step.verb.what} was not answered")
                return _NO_REPLY
            try:
                reply = step.verb.read(future.get())
            except DragomanError as error:
                reply = step.verb.read_error(error)
                if reply is None:
                    name = type(error).__name__
                    note = self._break if isinstance(error, ActorFailed | ActorStopped) else self._fail
                    note(step.line, index, step.expected, name, f"{step.verb.what} failed: {error}")
                    # Whether a step is refused may depend on what came before it, as any reply.
                    self._replied(index, place, ("error", name))
                    return _NO_REPLY
        self._replied(index, place, reply)
        if step.expects:
            mismatch = compare_reply(step.expected, reply)
            if mismatch is not None:
                self._mismatch(step.line, index, step.verb.what, mismatch)
        return reply

    def _looked(self, index: int, snapshot: Snapshot) -> None:
        """Take note of what the runtime holds after a moment."""

    def _check_invariants(self, index: int, moment: Moment) -> None:
        for verb, parent, text in self._stage.accepted:
            self._checker.accepted(verb, parent, text)
        self._stage.accepted.clear()
        snapshot = self._look(self.runtime.snapshot)
        self._looked(index, snapshot)
        for breach in self._checker.check(snapshot):
            self._break(moment.line, index, None, None, f"an invariant is broken: {breach}")
        if self._watch is not None and self._watch.leaks(self._texts, self._ids):
            self._break(moment.line, index, None, None, "an invariant is broken: content appears in a log line")

    def _look(self, look: Callable[[], T]) -> T:
        """Look at the runtime without a trace of that in the timeline."""
        observer, self._dispatcher.observer = self._dispatcher.observer, None
        try:
            return look()
        finally:
            self._dispatcher.observer = observer

    def _then(self) -> None:
        then = self.scenario.then
        if not then:
            return
        snapshot = self._look(self.runtime.snapshot)
        for key, entry in then.items():
            actual, default = self._look(partial(actual_of, key, names_of(entry), snapshot, self._stage))
            for mismatch in compare_then(entry, actual, key, default):
                self._mismatch(mismatch.line or entry.line, None, mismatch.path, mismatch)

    def _mismatch(self, line: int, step: int | None, what: str, mismatch: Mismatch) -> None:
        path = f"{what}.{mismatch.path}" if step is not None and mismatch.path else what
        self._fail(line, step, mismatch.expected, mismatch.actual, f"{path} is not as expected")

    def _fail(self, line: int, step: int | None, expected: Any, actual: Any, message: str) -> None:
        self.failures.append(Failure(line, step, expected, actual, message))

    def _break(self, line: int, step: int | None, expected: Any, actual: Any, message: str) -> None:
        """A failure whatever the file expects."""
        self.broken.append(Failure(line, step, expected, actual, message))
        self.failures.append(self.broken[-1])

    def _observe(self, kind: str, actor: str, what: object) -> None:
        seconds = self._dispatcher.now_us() / 1_000_000
        self.timeline.append(f"{seconds:>14.6f}s  {kind:<8} {actor:<28} {_described(what)}")


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
