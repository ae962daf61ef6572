"""The load run: many callers against one runtime through its public face, and the verdict on what came of it."""

from __future__ import annotations

import gc
import hashlib
import random
import sys
import time
from collections.abc import Callable

import attrs

from ..actors.dispatcher import Dispatcher, Note
from ..actors.simulation import SimulatedDispatcher
from ..actors.threads import ThreadDispatcher
from ..actors.tracing import Tracer
from ..runtime import Runtime
from .load_callers import run_simulated, run_tasks, run_threads
from .load_crew import Crew
from .load_latencies import Latencies, Latency
from .load_memory import resident_bytes
from .load_options import LoadOptions
from .load_recorder import Recorder
from .verdict import Answered, Called, Judge, Verdict

__all__ = ["LoadReport", "Memory", "Reached", "run_load"]

_LOOK_EVERY_S = 0.25
_LOOK_EVERY_ENTRIES = 5_000
_MAX_BREACHES = 5
"""A run ends early when it has found so many."""


@attrs.frozen(kw_only=True)
class Memory:
    """Resident memory of the process in bytes."""

    start: int
    peak: int
    end: int


@attrs.frozen(kw_only=True)
class LoadReport:
    """What a load run came to."""

    options: LoadOptions
    verdict: Verdict
    requests: int
    """Requests that are over."""
    parents: int
    """Parents of those; of requests that were cut short, since the time was over, none."""
    seconds: float
    """How long the run took, the judge at work beside it included."""
    check_seconds: float
    """Time of the processor that the judge took of it."""
    cpu_seconds: float
    """Time of the processor that all of it took, the judge included."""
    latencies: tuple[Latency, ...]
    memory: Memory
    digest: str | None
    """Of all operations and replies, in virtual time; None where real time decides."""
    events: int
    """Entries of the log."""

    @property
    def parents_per_second(self) -> float:
        return self.parents / self.seconds if self.seconds else 0.0

    @property
    def operations_per_second(self) -> float:
        return self.verdict.operations / self.seconds if self.seconds else 0.0


@attrs.frozen
class Reached:
    """How far a run is: requests that are over, of how many (None if time decides), seconds, operations, breaches."""

    ended: int
    of: int | None
    seconds: float
    breaches: int


class _Run:
    """One run: the judge takes the log from the recorder while the callers write it."""

    def __init__(self, options: LoadOptions, progress: Callable[[Reached], object] | None) -> None:
        self.options = options
        self._progress = progress
        self.judge = Judge(options.rules)
        self.latencies = Latencies()
        self.digest = hashlib.sha256() if options.mode == "simulated" else None
        self.events = 0
        self.check_ns = 0
        self.peak = self.start = resident_bytes()
        self._began = time.monotonic()
        self._looked = self._began
        self._looked_after = 0
        self.recorder: Recorder
        self.crew: Crew

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._began

    def attend(self) -> bool:
        """Take what is in the log, look now and then; whether the run shall end."""
        now = time.monotonic()
        if self.options.mode == "simulated":
            # Here nothing may depend on real time; and nobody calls while the log is attended to.
            if self.events - self._looked_after >= _LOOK_EVERY_ENTRIES:
                self._looked_after = self.events
                self.recorder.look(at_rest=True)
        elif now - self._looked >= _LOOK_EVERY_S:
            self.recorder.look(at_rest=False)
        if now - self._looked >= _LOOK_EVERY_S:
            self._looked = now
            self.peak = max(self.peak, resident_bytes())
            if self._progress is not None:
                known = self.options.requests_in_all
                self._progress(Reached(self.crew.ended, known, self.seconds, len(self.judge.breaches)))
        self.take()
        if self.options.duration_s is not None and self.seconds >= self.options.duration_s:
            self.crew.stop()
        return len(self.judge.breaches) >= _MAX_BREACHES

    def take(self) -> None:
        """Judge what is in the log now; callers may write on meanwhile."""
        began_ns = time.thread_time_ns()
        log, took = self.recorder.log, self.recorder.took_ns
        for _entry in range(len(log)):
            entry = log.popleft()
            self.events += 1
            self.judge.take(entry)
            if self.digest is not None and isinstance(entry, Called | Answered):
                operation = entry.operation
                told = operation.kind, operation.request or operation.session, operation.parent, operation.caller
                reply = operation.reply if isinstance(entry, Answered) else None
                self.digest.update(repr((told, operation.called_at, reply)).encode())
        self.check_ns += time.thread_time_ns() - began_ns
        for _call in range(len(took)):
            self.latencies.add(*took.popleft())


def run_load(
    options: LoadOptions,
    progress: Callable[[Reached], object] | None = None,
    *,
    journal: Callable[[Note], object] | None = None,
    tracer: Tracer | None = None,
) -> LoadReport:
    """Run it, here and now: the report, with the verdict. `progress` is told now and then how far it is.

    `journal` takes the notes of the runtime, from several threads; `tracer` traces its actors. Both take their time.
    """
    gc.collect()
    run = _Run(options, progress)
    cpu_ns = time.process_time_ns()
    interval = sys.getswitchinterval()
    if options.switch_interval_s is not None:
        sys.setswitchinterval(options.switch_interval_s)
    try:
        _run(run, options, journal, tracer)
    finally:
        sys.setswitchinterval(interval)
    seconds = run.seconds
    verdict = run.judge.finish()
    end = resident_bytes()
    return LoadReport(
        options=options,
        verdict=verdict,
        requests=run.crew.ended,
        parents=run.crew.parents,
        seconds=seconds,
        check_seconds=run.check_ns / 1e9,
        cpu_seconds=(time.process_time_ns() - cpu_ns) / 1e9,
        latencies=run.latencies.all(),
        memory=Memory(start=run.start, peak=max(run.peak, end), end=end),
        digest=None if run.digest is None else run.digest.hexdigest(),
        events=run.events,
    )


def _run(
    run: _Run,
    options: LoadOptions,
    journal: Callable[[Note], object] | None = None,
    tracer: Tracer | None = None,
) -> None:
    rng = random.Random(f"{options.seed} schedule")
    virtual = options.mode == "simulated"
    dispatcher: Dispatcher = SimulatedDispatcher(options.seed, rng.randrange) if virtual else ThreadDispatcher()
    if journal is not None:
        dispatcher.journal = journal
    if tracer is not None:
        tracer.watch(dispatcher)
    with Runtime(options.settings, dispatcher=dispatcher) as runtime:
        recorder = run.recorder = Recorder(runtime, dispatcher.now_us)
        crew = run.crew = Crew(options, recorder.log.append, dispatcher.now_us)
        if isinstance(dispatcher, SimulatedDispatcher):
            run_simulated(crew, recorder, options.callers, run.attend, dispatcher, rng)
        elif options.mode == "async":
            run_tasks(crew, recorder, options.callers, run.attend)
        else:
            run_threads(crew, recorder, options.callers, run.attend)
        run.take()
        recorder.look(at_rest=True)
        run.take()
