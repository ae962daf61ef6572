"""Small systems of actors with random programs, played under a schedule, and every schedule of one by brute force."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import attrs
from hypothesis import strategies as st

from dragoman.actors.actor import Actor, handles
from dragoman.actors.futures import Future
from dragoman.actors.mailbox import Envelope
from dragoman.actors.scheduled import Event, Schedule, ScheduledDispatcher, Step
from dragoman.scenarios.exhaustive import Cut, Search

KINDS = 3
"""Kinds of messages; a message of one kind sends only those of higher ones, so that every run ends."""
ACTORS = 3

Action = tuple[str, int, int]
Program = dict[int, tuple[Action, ...]]


@attrs.frozen
class Note:
    """A message: its kind says what the actor does."""

    kind: int


class Player(Actor):
    """Does what its program says for each kind of message, and keeps what it has seen."""

    in_registry = False

    def __init__(self, dispatcher: ScheduledDispatcher, place: int, program: Program, stage: PlayStage) -> None:
        super().__init__(dispatcher)
        self._place = place
        self._program = program
        self._stage = stage
        self.seen: list[object] = []
        self._has_started = False

    @property
    def name(self) -> str:
        return f"Player({self._place})"

    @handles(Note)
    def _note(self, message: Note, _envelope: Envelope[Any]) -> None:
        self.seen.append(message.kind)
        for action in self._program.get(message.kind, ()):
            self._do(message.kind, *action)

    def _do(self, kind: int, what: str, where: int, which: int) -> None:
        if what == "send" and which > kind:
            self._stage.players[where].mailbox.tell(Note(which))
        elif what == "settle":
            self._stage.futures[where].settle(None, None)
        elif what == "look":
            self.seen.append(self._stage.futures[where].done)
        elif what == "start" and not self._has_started:
            # Once: a timer that starts itself anew at its instant would never end.
            self._has_started = True
            self.start_timer(f"timer {where}", 0)
        elif what == "cancel":
            self.cancel_timer(f"timer {where}")
        elif what == "stop":
            self._stop()

    def on_timer(self, key: str) -> None:
        self.seen.append(key)
        for action in self._program.get(-1, ()):
            self._do(-1, *action)


class PlayStage:
    """The players, and the answers that they give and look at."""

    def __init__(self) -> None:
        self.players: list[Player] = []
        self.futures: list[Future[None]] = []


@attrs.frozen
class System:
    """Programs, the messages from outside as (actor, kind), and the timers that are due with them as (actor, key)."""

    programs: tuple[Program, ...]
    callers: tuple[tuple[int, int], ...]
    timers: tuple[tuple[int, int], ...]

    def play(self, schedule: Schedule) -> tuple[str, tuple[object, ...]]:
        """The order of the run, and what each actor has seen."""
        dispatcher = ScheduledDispatcher(0, schedule)
        stage = PlayStage()
        for place, program in enumerate(self.programs):
            stage.players.append(Player(dispatcher, place, program, stage))
            stage.players[-1].spawn()
        for actor, key in self.timers:
            stage.players[actor].start_timer(f"timer {key}", 5)
        dispatcher.approach(5)
        for actor, kind in self.callers:
            future: Future[None] = Future(dispatcher)
            stage.futures.append(future)
            dispatcher.post(stage.players[actor].mailbox, Envelope(Note(kind), future))
        try:
            dispatcher.race()
        finally:
            dispatcher.abandon()
        return dispatcher.order, tuple(tuple(player.seen) for player in stage.players)


class EverySchedule(Schedule):
    """Brute force: every choice at every step."""

    def __init__(self) -> None:
        self._path: list[list[int]] = []
        self._depth = 0

    def rested(self) -> None:
        """Brute force needs to know nothing."""

    def choose(self, steps: Sequence[Step]) -> int:
        if self._depth == len(self._path):
            self._path.append([0, len(steps)])
        self._depth += 1
        return self._path[self._depth - 1][0]

    def took(self, event: Event) -> None:
        """The same."""

    def go_on(self) -> bool:
        self._depth = 0
        while self._path:
            self._path[-1][0] += 1
            if self._path[-1][0] < self._path[-1][1]:
                return True
            self._path.pop()
        return False


def all_of(
    play: Callable[[Schedule], Any], schedule: EverySchedule | Search, limit: int
) -> tuple[list[Any], int] | None:
    """What every run comes to, in turn, and how many were cut off; None if there are more than `limit`."""
    found: list[Any] = []
    cut = 0
    while len(found) + cut < limit:
        try:
            found.append(play(schedule))
        except Cut:
            cut += 1
        if not schedule.go_on():
            return found, cut
    return None


def actions() -> st.SearchStrategy[Action]:
    where = st.integers(0, ACTORS - 1)
    return st.one_of(
        st.tuples(st.just("send"), where, st.integers(1, KINDS - 1)),
        st.tuples(st.sampled_from(["settle", "look"]), st.integers(0, 1), st.just(0)),
        st.tuples(st.sampled_from(["start", "cancel"]), st.integers(0, 1), st.just(0)),
        st.tuples(st.just("stop"), st.just(0), st.just(0)),
    )


@st.composite
def systems(draw: st.DrawFn) -> System:
    """Two callers or three, up to two timers, and programs of up to two actions a message."""
    program = st.dictionaries(st.integers(-1, KINDS - 1), st.lists(actions(), min_size=1, max_size=2).map(tuple))
    programs = draw(st.tuples(*[program] * ACTORS))
    callers = draw(st.lists(st.tuples(st.integers(0, ACTORS - 1), st.integers(0, 1)), min_size=2, max_size=3))
    timers = draw(st.lists(st.tuples(st.integers(0, ACTORS - 1), st.integers(0, 1)), max_size=2, unique=True))
    return System(programs, tuple(callers), tuple(timers))
