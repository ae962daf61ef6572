"""The crew: what its callers do next, in whichever mode they run.

Rules. A caller that is free asks the crew for a script, and runs it move by move. The crew keeps the names: which
sessions are in use, which requests linger (their callers are done, and they have not closed yet), which are over. A
request is over when it was found closed and nobody is left who would name it; then the judge is told, and some late
ACKs still follow. What lingers is bounded: the oldest are cancelled, as are those that linger for long. Once the crew
is told to stop, everything that is open is cancelled at the next look.

The crew may be asked by several threads at once.
"""

from __future__ import annotations

import random
import threading
from collections import deque
from collections.abc import Callable

from ..protocol.calls import ProviderCall
from . import load_moves as moves
from .load_contents import ContentScript
from .load_executions import ExecutionScript, answer_to
from .load_options import LoadOptions
from .load_requests import RequestScript, Script
from .verdict import OverRequest, OverSession

__all__ = ["Crew"]

_MAX_LINGERING = 36
_MAX_OVER = 256
_BESIDE, _BESIDE_AGE = 3, 100
"""Sessions for recorded calls, and for translations, at a time; others are used after so many requests."""
_MAX_REGISTERING = 3
"""Registrations at a time in one session, as far as others can be found: in which of their orders they came shows only
much later, and all of them must be followed until then."""
_PATIENCE = 4
"""Windows after which a request that lingers is cancelled."""
_PAUSE_US = 5_000
"""How long a request lingers, at least, before somebody looks again whether it has closed."""


class Crew:
    """Gives scripts to callers; `tell` writes into the log, `now_us` is the clock of the runtime."""

    def __init__(
        self, options: LoadOptions, tell: Callable[[OverRequest | OverSession], object], now_us: Callable[[], int]
    ) -> None:
        self._options = options
        self._faults = options.profile
        self._max_turns = options.settings.max_turns
        self._patience_us = int(_PATIENCE * self._faults.window_s * 1e6)
        self._tell = tell
        self._now_us = now_us
        self._rng = random.Random(f"{options.seed} crew")
        self._lock = threading.Lock()
        self._ready: deque[Script] = deque()
        self._lingering: deque[tuple[RequestScript, int, int]] = deque()
        """With the instants since when, and until when nobody needs to look."""
        self._over: deque[tuple[str, str]] = deque(maxlen=_MAX_OVER)
        self._names = [f"s{place}" for place in range(options.sessions)]
        self._generation = 0
        self._registering: dict[str, int] = {}
        self._users: dict[str, int] = {}
        self._left: set[str] = set()
        self._limit = options.requests_in_all
        self._stopped = False
        self._calls: list[tuple[ProviderCall, str]] = []
        """Calls of translations that nobody has answered, and the session of each."""
        self.beside = 0
        """Uses of sessions by scripts that run beside the requests."""
        self._beside: dict[str, int] = {}
        """Those sessions, and their age."""
        self.begun = 0
        """Requests that were begun."""
        self.ended = 0
        """Requests that are over."""
        self.parents = 0
        """Parents of those that were not cut short."""

    @property
    def deadlines_us(self) -> tuple[int, ...]:
        """How long after their beginning windows and sessions end."""
        rules = self._options.rules
        return rules.window_us, rules.ttl_us

    def stop(self) -> None:
        """Begin no more requests, and cut short those that have begun."""
        with self._lock:
            self._stopped = True
            self._limit = self.begun

    def _is_stopped(self) -> bool:
        return self._stopped

    @property
    def is_done(self) -> bool:
        """Whether every request that was to be is over."""
        with self._lock:
            return (
                self._limit is not None
                and self.begun >= self._limit
                and self.ended == self.begun
                and not self.beside
                and not self._ready
            )

    def next(self) -> Script | None:
        """A script for a free caller; None if there is nothing to do at present, or nothing any more."""
        with self._lock:
            if self._ready:
                return self._ready.popleft()
            may_begin = self._limit is None or self.begun < self._limit
            if self._calls and not self._stopped:
                place = self._rng.randrange(len(self._calls))
                call, session = self._calls.pop(place)
                return answer_to(call, session, random.Random(f"{self._options.seed} {call.id}"))
            if self._lingering and (len(self._lingering) > _MAX_LINGERING or self._lingering[0][2] <= self._now_us()):
                request, since_us, _until_us = self._lingering.popleft()
                return self._closing(request, since_us)
            if not may_begin:
                return None
            return self._begin()

    def _begin(self) -> Script:
        number = self.begun
        self.begun += 1
        place = self._rng.randrange(len(self._names))
        for _again in range(_MAX_REGISTERING):
            if self._registering.get(self._names[place], 0) < _MAX_REGISTERING:
                break
            place = self._rng.randrange(len(self._names))
        session = self._names[place]
        self._registering[session] = self._registering.get(session, 0) + 1
        self._begin_beside(number)
        if self._rng.random() < self._faults.left_behind:
            self._generation += 1
            self._left.add(session)
            self._names[place] = f"s{place}.{self._generation}"
        self._users[session] = self._users.get(session, 0) + 1
        rng = random.Random(f"{self._options.seed} request {number}")

        def registered() -> None:
            with self._lock:
                self._registering[session] -= 1
                if not self._registering[session]:
                    del self._registering[session]

        parents = self._options.parents_of(number)
        script = RequestScript(number, session, parents, self._max_turns, self._faults, rng, self._is_stopped)
        return self._followed(script, script.first(lambda other: self._let_in(script, other), registered))

    def _begin_beside(self, number: int) -> None:
        """Recorded calls and translations, in sessions of their own."""
        rng = random.Random(f"{self._options.seed} beside {number}")
        age = number // _BESIDE_AGE
        for session in [name for name, born in self._beside.items() if born < age and name not in self._users]:
            del self._beside[session]
            self._tell(OverSession(session))
        if rng.random() < self._faults.recorded:
            here, elsewhere = (f"c{rng.randrange(_BESIDE)}.{age}" for _name in range(2))
            for caller in range(self._faults.callers_each):
                script = ContentScript(here, elsewhere, self._faults, random.Random(f"{number} content {caller}"))
                self._use_beside(here, age)
                self._use_beside(elsewhere, age)
                self._ready.append(self._unused_beside(script.go(number * 10 + caller), (here, elsewhere)))
        if rng.random() < self._faults.translated:
            session = f"x{rng.randrange(_BESIDE)}.{age}"
            execution = ExecutionScript(number, session, self._options.parents, rng)
            self._use_beside(session, age)
            self._ready.append(self._unused_beside(self._execution(execution, rng), (session,)))

    def _use_beside(self, session: str, age: int) -> None:
        self._beside[session] = age
        self.beside += 1
        self._users[session] = self._users.get(session, 0) + 1

    def _unused_beside(self, script: Script, sessions: tuple[str, ...]) -> Script:
        """The script, which uses these sessions to its end."""
        yield from script
        with self._lock:
            for session in sessions:
                self.beside -= 1
                self._users[session] -= 1
                if not self._users[session]:
                    del self._users[session]

    def _execution(self, execution: ExecutionScript, rng: random.Random) -> Script:
        session, request = execution.session, execution.request

        def take(call: ProviderCall) -> None:
            with self._lock:
                self._calls.append((call, session))

        yield from execution.go(take, rng.random() < self._faults.cancelled)
        until_us = self._now_us() + self._patience_us
        cancelled = False
        while (yield execution.outcome()) is None and not cancelled:
            with self._lock:
                may_answer = self._calls and not self._stopped
                call = self._calls.pop(rng.randrange(len(self._calls))) if may_answer else None
            if call is not None:
                yield from answer_to(*call, rng)
            elif self._stopped or self._now_us() > until_us:
                cancelled = (yield moves.cancel(session, request)) == "UNKNOWN_REQUEST"
            else:
                yield None
        yield moves.claim(session)
        yield moves.status(session, request)
        yield moves.read(session, self._max_turns)
        if rng.random() < self._faults.cleared:
            yield moves.clear(session)
        yield execution.outcome()

    def _let_in(self, request: RequestScript, script: Script) -> None:
        with self._lock:
            self._ready.append(self._followed(request, script))

    def _followed(self, request: RequestScript, script: Script) -> Script:
        """The script, and at its end, if it was the last of its request, the look whether that has closed."""
        yield from script
        with self._lock:
            request.unfinished -= 1
            was_last = not request.unfinished
        if was_last:
            yield from self._closing(request, self._now_us())

    def _closing(self, request: RequestScript, since_us: int) -> Script:
        """See whether a request has closed; cancel it if it has lingered for long."""
        is_open = (yield moves.status(request.session, request.request))[0]
        too_many = len(self._lingering) > _MAX_LINGERING
        if is_open and (self._stopped or too_many or self._now_us() - since_us > self._patience_us):
            yield moves.cancel(request.session, request.request)
            is_open = (yield moves.status(request.session, request.request))[0]
        if is_open:
            with self._lock:
                self._lingering.append((request, since_us, self._now_us() + _PAUSE_US))
            return
        if request.rng.random() < 0.5:
            yield moves.read(request.session, self._max_turns)
        with self._lock:
            self._end(request)
        yield from self._late(request.rng)

    def _end(self, request: RequestScript) -> None:
        session = request.session
        self._tell(OverRequest(session, request.request))
        self._over.append((session, request.request))
        self.ended += 1
        if not request.was_cut:
            self.parents += request.parents
        self._users[session] -= 1
        if not self._users[session]:
            del self._users[session]
            if session in self._left:
                self._left.remove(session)
                self._tell(OverSession(session))

    def _late(self, rng: random.Random) -> Script:
        """Late ACKs, and others that come too late, to requests that are over."""
        with self._lock:
            over = tuple(self._over)
        for _late in range(self._options.parents):
            if self._stopped:
                return
            if rng.random() >= self._faults.late:
                continue
            session, request = rng.choice(over)
            parent = f"p{rng.randrange(self._options.parents)}"
            yield rng.choice(
                (
                    moves.acknowledge(session, request, parent, "too late", is_over=True),
                    moves.acknowledge(session, request, parent, "too late", is_over=True),
                    moves.reject(session, request, parent, is_over=True),
                    moves.activate(session, request, is_over=True),
                    moves.cancel(session, request, is_over=True),
                    moves.status(session, request, is_over=True),
                )
            )
