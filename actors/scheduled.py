"""The simulated dispatcher under a schedule, which sees what it chooses from, and is told what each step did.

Rules. A step is the delivery of one message, the firing of one timer, or the arrival of one message from outside. In
the plain schedule, whose choices are all 0, they come in the order of a replay: everything inside comes to rest, then
the timers that are due at this instant fire in their order, then those come in who wait outside. Any other schedule
may let them race, but not across instants: time moves only at rest. The answers of the schedule where there are several
steps to choose from make the tape.

Actors, messages and steps have names that do not depend on the schedule: an actor or a message is named for the message
whose handling made it. So the same step has the same name in every run in which it occurs, in whichever process. The
`order` of a run is a digest of the sequence of messages that each actor received.

Whoever looks whether an answer is there does so by `Future.done`, and is noticed there.

A timer that is started for the instant in which it is started takes part only until the first caller has come in;
otherwise it falls due when time goes on.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from hashlib import blake2b, sha256
from typing import TYPE_CHECKING, Any, Literal, Protocol

import attrs

from ..protocol.errors import InvalidArgument
from .footprints import Footprint, Tracks
from .futures import Future
from .simulation import SimulatedDispatcher
from .watching import Watcher, watch

if TYPE_CHECKING:
    from .mailbox import DeadReason, Envelope, Mailbox
    from .timers import TimerEntry

__all__ = ["Event", "Schedule", "ScheduledDispatcher", "Step"]

Kind = Literal["message", "timer", "outside"]

_BEGIN = "begin"


@attrs.frozen(eq=False)
class Step:
    """Something that may come next. Two of one `id` are the same step; `actor` is whose mailbox it concerns."""

    id: str
    kind: Kind
    actor: str
    what: str
    """The type of the message, or the key of the timer."""


@attrs.frozen(eq=False)
class Event:
    """A step that was taken. `cause` is the name of the event that led to it; "" if that is further back than a rest.

    `ends` are the steps that it has made impossible: timers that it cancelled.
    """

    name: str
    cause: str
    footprint: Footprint
    ends: tuple[str, ...]


class Schedule(Protocol):
    """Decides what comes next."""

    def rested(self) -> None:
        """All is at rest: what comes from now on comes after everything before, in whatever order."""

    def choose(self, steps: Sequence[Step]) -> int:
        """The index of the step to take; asked at each one, also where there is nothing to choose."""

    def took(self, event: Event) -> None:
        """What the step that was chosen did."""


class _Addressee:
    """What is known of one mailbox.

    Its key; the names of the messages in it, each with that of the event that put it there, and of those that it has
    delivered; how often its timers have fired, and which event started one for this very instant.
    """

    __slots__ = ("accepted", "fired", "key", "queued", "received", "started", "step")

    def __init__(self, key: str) -> None:
        self.key = key
        self.step: Step | None = None
        self.accepted = 0
        self.queued: deque[tuple[str, str]] = deque()
        self.received: list[str] = []
        self.fired: dict[str, int] = {}
        self.started: dict[str, str] = {}


class ScheduledDispatcher(SimulatedDispatcher, Watcher):
    """See the module. `seed` gives the random bits."""

    def __init__(self, seed: int, schedule: Schedule) -> None:
        super().__init__(seed)
        self._schedule = schedule
        self._addressees: dict[Mailbox, _Addressee] = {}
        self._arrivals: deque[Step] = deque()
        self._answers: dict[int, tuple[Future[Any], str]] = {}
        self._tracks: Tracks | None = None
        self._ends: list[str] = []
        self.options: list[int] = []
        """How many steps there were to choose from at each choice on the tape."""
        self.came: list[str] = []
        """The callers that have come in and the timers that have fired, in that order."""
        self._cause = _BEGIN
        self._begun: dict[str, int] = {}
        self._arrived = 0
        self._firing = False
        self._newest: int | None = None
        self._aside = False

    @property
    def order(self) -> str:
        """The digest of what each actor has received so far, in which order."""
        received = sorted((one.key, one.received) for one in self._addressees.values() if one.received)
        return sha256("\n".join(f"{key} {' '.join(names)}" for key, names in received).encode()).hexdigest()[:32]

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Ask and run without the schedule, in plain order and unrecorded; only at rest."""
        self._aside = True
        chosen, self.tape = self.tape, []
        try:
            yield
        finally:
            self._aside = False
            self.tape = chosen
            for mailbox, addressee in self._addressees.items():
                addressee.accepted = mailbox.accepted
                addressee.queued.clear()

    def touch(self, place: str) -> None:
        """Declare that the step that runs now looks at or changes something outside of the runtime."""
        if self._tracks is not None:
            self._tracks.touches(place)

    def approach(self, instant_us: int) -> None:
        """Move the clock to `instant_us`; what falls due at that very instant is left for `race`."""
        if instant_us < self._now_us:
            raise InvalidArgument("instant_us", "time does not go back")
        self.run()
        while (due_us := self._timers.next_due_us()) is not None and due_us < instant_us:
            self._now_us = max(self._now_us, due_us)
            self.race()
        self._now_us = instant_us

    def race(self) -> None:
        """Run until all is at rest, and let the timers that are due now fire among what waits outside."""
        self._schedule.rested()
        self._firing, self._newest = True, None
        try:
            self.run()
        finally:
            self._firing = False

    def advance_to(self, instant_us: int) -> None:
        self.approach(instant_us)
        self.race()

    def abandon(self) -> None:
        """End at once, wherever the run is: every mailbox is closed, and whoever waits gets an error."""
        self._stopped = self._aside = True
        outside, self._ingress = self._ingress, deque()
        for mailbox, envelope in outside:
            mailbox.put(envelope)
        self.retire_all()

    def adopt(self, mailbox: Mailbox) -> None:
        super().adopt(mailbox)
        number = self._begun[self._cause] = self._begun.get(self._cause, 0) + 1
        self._addressees[mailbox] = _Addressee(_name(self._cause, "actor", number))

    def post(self, mailbox: Mailbox, envelope: Envelope[Any]) -> None:
        before = len(self._ingress)
        super().post(mailbox, envelope)
        if self._aside or len(self._ingress) == before:
            return
        self._arrived += 1
        actor = "" if mailbox.actor is None else mailbox.actor.name
        self._arrivals.append(Step(f"caller {self._arrived}", "outside", actor, type(envelope.message).__name__))
        self._watch(envelope.reply_to, f"answer to caller {self._arrived}")

    def _watch(self, reply_to: Any, name: str) -> None:
        """Notice from now on who looks whether an answer is there: an actor may, at what another one gives."""
        if not isinstance(reply_to, Future) or id(reply_to) in self._answers:
            return
        # It is kept, so that no other can come by its id in this run.
        self._answers[id(reply_to)] = reply_to, name
        reply_to.add_done_callback(self._given)
        watch(reply_to)

    def _given(self, future: Future[Any]) -> None:
        if self._tracks is not None:
            self._tracks.gives(self._answers[id(future)][1])

    def looked_at(self, future: Future[Any]) -> None:
        """Somebody has looked whether an answer is there."""
        if self._tracks is not None:
            self._tracks.looks(self._answers[id(future)][1])

    def start_timer(self, delay_us: int, mailbox: Mailbox, key: str, stamp: int | None = None) -> TimerEntry:
        if self._tracks is not None and delay_us <= 0:
            self._tracks.starts_at_once()
            self._addressees[mailbox].started[key] = self._cause
        return super().start_timer(delay_us, mailbox, key, stamp)

    def cancel_timer(self, entry: TimerEntry) -> None:
        if self._tracks is not None and self._running is not None:
            # Timers are cancelled by their own actor alone; one that has fired tells no longer whose it is.
            name = f"timer {self._addressees[self._running].key} {entry[4]}"
            self._tracks.moves(name)
            if entry[3] is not None:
                self._ends.append(name)
        super().cancel_timer(entry)

    def retire(self, mailbox: Mailbox, *, abandon: bool = False) -> None:
        if self._tracks is not None:
            self._tracks.closes(self._addressees[mailbox].key)
        super().retire(mailbox, abandon=abandon)
        self._addressees[mailbox].queued.clear()

    def run(self) -> None:
        if not self._aside and self._tracks is None:
            # What somebody has told an actor between two runs; nobody else may do so than before the first.
            self._cause = _BEGIN
            self._note_messages(Tracks())
        super().run()

    def dead_letter(self, message: object, reason: DeadReason) -> None:
        if self._tracks is not None and reason == "closed":
            self._tracks.comes_too_late()
        super().dead_letter(message, reason)

    def _step(self, until: Future[Any] | None) -> bool:
        if self._aside:
            return super()._step(until)
        if self._stopped:
            return False
        due = self._due()
        steps = [self._delivery(mailbox) for mailbox in self._ready]
        steps += [self._firing_of(entry) for entry in due]
        steps += self._arrivals
        if not steps:
            return False
        choice = self._schedule.choose(steps)
        if len(steps) > 1:
            self.tape.append(choice)
            self.options.append(len(steps))
            if choice and self.observer is not None:
                self._tell_choice(steps, choice)
        self._take(steps[choice], choice, due, until)
        return True

    def _tell_choice(self, steps: Sequence[Step], choice: int) -> None:
        taken, plain = steps[choice], steps[0]
        self.observer(  # type: ignore[misc]  # whoever calls this has looked
            "choice",
            taken.actor,
            f"{len(self.tape)}: {taken.kind} {taken.what} ({choice} of 0 to {len(steps) - 1}), "
            f"before {plain.kind} {plain.what} of {plain.actor}",
        )

    def _due(self) -> list[TimerEntry]:
        if not self._firing:
            return []
        due = self._timers.due(self._now_us)
        return due if self._newest is None else [entry for entry in due if entry.generation <= self._newest]

    def _delivery(self, mailbox: Mailbox) -> Step:
        """The step that delivers the next message of a mailbox; the same one as long as that is not delivered."""
        addressee = self._addressees[mailbox]
        if addressee.step is None:
            head = next(mailbox.waiting(), None)
            what = "" if head is None else type(head.message).__name__
            actor = "" if mailbox.actor is None else mailbox.actor.name
            addressee.step = Step(f"actor {addressee.key}", "message", actor, what)
        return addressee.step

    def _firing_of(self, entry: TimerEntry) -> Step:
        mailbox: Any = entry[3]
        return Step(f"timer {self._addressees[mailbox].key} {entry[4]}", "timer", mailbox.actor.name, str(entry[4]))

    def _take(self, step: Step, choice: int, due: Sequence[TimerEntry], until: Future[Any] | None) -> None:
        tracks = self._tracks = Tracks()
        self._ends = []
        try:
            if step.kind == "message":
                cause = self._take_delivery(choice, tracks, until)
            elif step.kind == "timer":
                cause = self._take_timer(step, due[choice - len(self._ready)], tracks)
            else:
                cause = self._take_arrival(step, choice - len(self._ready) - len(due), tracks)
        finally:
            self._tracks = None
        self._note_messages(tracks)
        self._schedule.took(Event(self._cause, cause, tracks.footprint(), tuple(self._ends)))

    def _take_delivery(self, place: int, tracks: Tracks, until: Future[Any] | None) -> str:
        mailbox = self._ready[place]
        addressee = self._addressees[mailbox]
        self._cause, cause = addressee.queued.popleft()
        addressee.received.append(self._cause)
        addressee.step = None
        tracks.delivers(addressee.key)
        self._deliver(place, until)
        return cause

    def _take_timer(self, step: Step, entry: TimerEntry, tracks: Tracks) -> str:
        mailbox, fired = self._timers.take(entry)
        addressee = self._addressees[mailbox]
        count = addressee.fired[fired.key] = addressee.fired.get(fired.key, 0) + 1
        self._cause = f"{step.id} {count}"
        self.came.append(step.id)
        tracks.moves(step.id)
        self._fire(mailbox, fired)
        return addressee.started.pop(fired.key, "")

    def _take_arrival(self, step: Step, place: int, tracks: Tracks) -> str:
        del self._arrivals[place]
        self._cause = step.id
        self.came.append(step.id)
        if self._newest is None:
            self._newest = self._timers.newest
        tracks.lets_in()
        self._let_in(place)
        return ""

    def _note_messages(self, tracks: Tracks) -> None:
        """Name the messages that the step that ran just now has put into mailboxes."""
        for mailbox, addressee in self._addressees.items():
            came = mailbox.accepted - addressee.accepted
            if came:
                addressee.accepted = mailbox.accepted
                tracks.puts(addressee.key)
                self._name_messages(mailbox, addressee, came)

    def _name_messages(self, mailbox: Mailbox, addressee: _Addressee, came: int) -> None:
        """Name the newest messages of a mailbox: for what led to them, whom they are for, and their type."""
        if mailbox.is_set():
            return
        for number, envelope in enumerate(list(mailbox.waiting())[-came:]):
            name = _name(self._cause, f"{addressee.key} {type(envelope.message).__name__}", number)
            addressee.queued.append((name, self._cause))
            self._watch(envelope.reply_to, f"answer to {name}")


def _name(cause: str, what: str, number: int) -> str:
    """The name of the `number`-th thing that the message or step `cause` led to."""
    return blake2b(f"{cause} {what} {number}".encode(), digest_size=8).hexdigest()
