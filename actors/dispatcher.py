"""The dispatcher: who runs the mailboxes, what time it is, and when timers fire.

One interface, two kinds: `ThreadDispatcher` (real time, a few threads and whoever waits) and `SimulatedDispatcher`
(virtual time, the caller's thread, a recorded schedule). Whatever asks for the time, waits, or needs randomness asks
the dispatcher. Time is in whole microseconds of a clock that never goes back.
"""

from __future__ import annotations

import abc
import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import attrs

from ..protocol.errors import ActorFailed, InvalidArgument
from ..protocol.histogram import Histogram
from ..protocol.mappings import FrozenMapping, WordMapping
from ..protocol.runtime_statistics import MailboxStatistics, MessageStatistics
from .futures import Future
from .mailbox import Envelope
from .measuring import Measuring
from .reporting import report
from .timers import TimerEntry

if TYPE_CHECKING:
    from .actor import Actor
    from .mailbox import DeadReason, Mailbox

__all__ = ["Dispatcher", "MessageCounts", "Note"]

Note: TypeAlias = tuple[Any, ...]
"""An entry of the journal: its kind, the instant in microseconds, and what belongs to that kind."""


@attrs.frozen(kw_only=True)
class MessageCounts:
    """Conservation of messages: `sent == handled + dead + queued` whenever nothing is running."""

    sent: int
    """Every message put into a mailbox, taken or not."""
    handled: int
    """Delivered to an actor."""
    dead: int
    """Never delivered: their actor had stopped, or stopped before their turn."""
    queued: int
    """Waiting in a mailbox."""
    failed: int
    """Handled by raising an exception (part of `handled`)."""


class _Kind:
    """What is known of the actors of one kind: those that have stopped, or all of them."""

    __slots__ = ("accepted", "actors", "counts", "handled", "longest", "queued")

    def __init__(self) -> None:
        self.accepted = self.handled = self.actors = self.queued = self.longest = 0
        self.counts: Counter[Hashable] = Counter()

    def copy(self) -> _Kind:
        copied = _Kind()
        copied.accepted, copied.handled, copied.counts = self.accepted, self.handled, Counter(self.counts)
        return copied

    def include(self, mailbox: Mailbox, actor: Actor | None) -> None:
        """Count a live one in."""
        self.actors += 1
        self.accepted += mailbox.accepted
        self.handled += mailbox.handled
        queued = len(mailbox)
        self.queued += queued
        self.longest = max(self.longest, queued)
        if actor is not None:
            actor.add_counts(self.counts)


class Dispatcher(abc.ABC):
    """Runs actors; see the module."""

    delivers_at_once: ClassVar[bool] = False
    """Whether the messages of prompt actors are handled by their senders, rather than in an order that it decides."""

    def __init__(self) -> None:
        self._live: dict[Mailbox, Actor | None] = {}
        self._counting = threading.Lock()
        self._dead: Counter[str] = Counter()
        self._retired: defaultdict[type, _Kind] = defaultdict(_Kind)
        self.measuring: Measuring | None = None
        """Who times the handling of messages, if anybody does."""
        self._failed = 0
        self._owned = False
        self._observer: Callable[[str, str, object], None] | None = None
        self._journal: Callable[[Note], object] | None = None
        self.tracer: Callable[[Mailbox], object] | None = None
        """Told of each mailbox whose actor starts, before anything is delivered; see `tracing`."""
        self.watched = False
        """Whether there is an observer or a journal: the one thing that actors look at where there is neither."""

    @property
    def observer(self) -> Callable[[str, str, object], None] | None:
        """Told of each delivery, timer and state change as (kind, actor, what), where somebody watches."""
        return self._observer

    @observer.setter
    def observer(self, observer: Callable[[str, str, object], None] | None) -> None:
        self._observer = observer
        self.watched = observer is not None or self._journal is not None

    @property
    def journal(self) -> Callable[[Note], object] | None:
        """Takes a note of what crosses the public face, and of what comes of it; see `journal_notes`."""
        return self._journal

    @journal.setter
    def journal(self, journal: Callable[[Note], object] | None) -> None:
        self._journal = journal
        self.watched = journal is not None or self._observer is not None

    def note(self, kind: str, *what: Any) -> None:
        """Enter a note into the journal, if there is one. What it holds must not change afterwards."""
        journal = self._journal
        if journal is not None:
            journal((kind, self.now_us(), *what))

    @abc.abstractmethod
    def now_us(self) -> int:
        """The current instant, in microseconds."""

    def now_ns(self) -> int:
        """The same in nanoseconds, as exactly as the clock has it: for durations."""
        return self.now_us() * 1000

    @abc.abstractmethod
    def random_bits(self, count: int) -> int:
        """`count` bits that nobody can guess, or that the seed of a simulation gives."""

    def back_off_us(self, request_id: str, longest_us: int) -> int:
        """How long a request waits before a retry: drawn, from half of the longest time to all of it (C12)."""
        del request_id
        return round(longest_us * (1 + self.random_bits(32) / 2**32) / 2)

    @abc.abstractmethod
    def ready(self, mailbox: Mailbox) -> None:
        """Take notice that `mailbox` has messages and is not running."""

    @abc.abstractmethod
    def post(self, mailbox: Mailbox, envelope: Envelope[Any]) -> None:
        """Put an envelope that comes from outside of the actors."""

    def leave(self, mailbox: Mailbox, envelope: Envelope[Any]) -> None:
        """`post`, for a caller that must not get stuck in a handler."""
        self.post(mailbox, envelope)

    def ask(self, mailbox: Mailbox, message: object) -> Future[Any]:
        """Ask an actor from outside: the future of its answer."""
        future: Future[Any] = Future(self)
        self.post(mailbox, Envelope(message, future))
        return future

    def ask_at_once(self, mailbox: Mailbox, question: object) -> Future[Any] | None:
        """The answer of an actor to what it can often answer without sending anything; None if it has to be asked."""
        del mailbox, question
        return None

    @abc.abstractmethod
    def wait(self, future: Future[Any], timeout_s: float | None, *, helping: bool = True) -> None:
        """Return when `future` is done, running mailboxes meanwhile if `helping`; raises `WaitTimeout`."""

    @abc.abstractmethod
    def before_await(self, future: Future[Any]) -> None:
        """Called before an event loop waits for `future`."""

    @abc.abstractmethod
    def start_timer(self, delay_us: int, mailbox: Mailbox, key: str, stamp: int | None = None) -> TimerEntry:
        """Post `TimerFired(key, …)` to `mailbox` in `delay_us` microseconds.

        Timers due at one instant fire in the order of their starting; one that counts as started earlier brings the
        `stamp` of that moment.
        """

    @abc.abstractmethod
    def stamp(self) -> int:
        """The stamp of a timer that would be started now."""

    @abc.abstractmethod
    def cancel_timer(self, entry: TimerEntry) -> None:
        """Take a timer out, if it has not fired."""

    @abc.abstractmethod
    def live_timers(self) -> int:
        """Timers that have neither fired nor been cancelled."""

    @abc.abstractmethod
    def stop(self, timeout_s: float) -> tuple[str, ...]:
        """Run nothing more, within `timeout_s` seconds; the names of the threads that did not end by then."""

    def own(self) -> None:
        """Serve one runtime; raises `InvalidArgument` if this dispatcher does or did so already."""
        if self._owned:
            raise InvalidArgument("dispatcher", "serves another runtime already, or has been stopped: make a new one")
        self._owned = True

    def adopt(self, mailbox: Mailbox) -> None:
        """Count a live actor's mailbox."""
        self._live[mailbox] = mailbox.actor
        if self.tracer is not None:
            self.tracer(mailbox)

    def retire(self, mailbox: Mailbox, *, abandon: bool = False) -> None:
        """Close the mailbox of an actor that stops; with `abandon`, of one that may never do."""
        refused = mailbox.close(abandon=abandon)
        if refused is None:
            return
        with self._counting:
            # What was not refused is handled, or in the hands of the thread that runs the mailbox.
            actor = self._live.pop(mailbox, None)
            retired, accepted = self._retired[type(actor)], mailbox.accepted
            retired.accepted += accepted
            retired.handled += accepted - refused
            if actor is not None:
                actor.add_counts(retired.counts)

    def retire_all(self) -> int:
        """Close every mailbox that is left; how many messages were in them."""
        left = self.counts().queued
        for mailbox in tuple(self._live):
            self.retire(mailbox, abandon=True)
        return left

    def dead_letter(self, message: object, reason: DeadReason) -> None:
        """The one sink for messages that nobody will handle."""
        with self._counting:
            self._dead[reason] += 1
        report("DEBUG", "dead letter {message}: actor {reason}", message=type(message).__name__, reason=reason)
        if self.observer is not None:
            self.observer("dead", "", message)

    def handler_failed(self, failure: ActorFailed) -> None:
        """Count and log a fault in a handler: by type and place, never by its text."""
        with self._counting:
            self._failed += 1
        report(
            "ERROR",
            "{actor} failed with {error_type} in {module}, line {line}",
            actor=failure.actor,
            error_type=failure.error_type,
            module=failure.module,
            line=failure.line,
        )

    def counts(self) -> MessageCounts:
        """A snapshot of the message counters; exact when nothing is running."""
        with self._counting:
            live = tuple(self._live)
            retired = tuple(self._retired.values())
            accepted = sum(kind.accepted for kind in retired) + sum(mailbox.accepted for mailbox in live)
            return MessageCounts(
                sent=accepted + self._dead["closed"],
                handled=sum(kind.handled for kind in retired) + sum(mailbox.handled for mailbox in live),
                dead=self._dead.total(),
                queued=sum(len(mailbox) for mailbox in live),
                failed=self._failed,
            )

    def dead_letters(self) -> dict[str, int]:
        """Dead letters by reason."""
        with self._counting:
            return dict(self._dead)

    def statistics(self) -> tuple[MessageStatistics, Mapping[type, Mapping[Hashable, int]], Mapping[str, Histogram]]:
        """The mailboxes by kind of actor, what the actors of each kind have counted themselves, and what was timed.

        It looks at every live actor, without keeping any from stopping; one is counted as live or as stopped, once.
        """
        with self._counting:
            live = self._live.copy()  # in one step, while actors come and go
            kinds = defaultdict(_Kind, {actor: kind.copy() for actor, kind in self._retired.items()})
            dead, failed = Counter(self._dead), self._failed
        for mailbox, actor in live.items():
            kinds[type(actor)].include(mailbox, actor)
        times = {} if self.measuring is None else self.measuring.read()
        messages = MessageStatistics(
            sent=sum(kind.accepted for kind in kinds.values()) + dead["closed"],
            handled=sum(kind.handled for kind in kinds.values()),
            dead=dead.total(),
            queued=sum(kind.queued for kind in kinds.values()),
            failed=failed,
            dead_letters=WordMapping(dead),
            live_timers=self.live_timers(),
            mailboxes=FrozenMapping(
                {
                    actor.__name__: MailboxStatistics(
                        actors=kind.actors,
                        queued=kind.queued,
                        longest=kind.longest,
                        handled=kind.handled,
                        handling_times=times.get(actor.__name__),
                    )
                    for actor, kind in kinds.items()
                }
            ),
        )
        return messages, {actor: kind.counts for actor, kind in kinds.items()}, times

    def measure(self) -> None:
        """Time the handling of messages from now on, for a sample of them; a second time changes nothing."""
        with self._counting:
            if self.measuring is not None:
                return
            self.measuring = Measuring(self)
        self.measuring.begin(self._live.copy().values())
