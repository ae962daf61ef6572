"""What one step of a simulation read and wrote: whether two steps could as well have come the other way round.

Rules. A step is the delivery of a message, the firing of a timer, or the arrival of a message from outside. Each place
that steps share has a name; two steps are independent if neither writes what the other reads or writes. Then either
order leads to the same state, and every actor receives the same messages in the same order.

Places: what an actor keeps, which its own deliveries write; the end of the queue of a mailbox, which a message that is
put there writes and so does its closing; a timer, which is fired, cancelled or superseded; an answer, which one step
gives and another may look at; and whatever the surroundings of a runtime declare.

Not promised: that dependent steps really lead to different states.
"""

from __future__ import annotations

import attrs

__all__ = ["Footprint", "Tracks", "independent"]


@attrs.frozen
class Footprint:
    """The places that a step read and wrote."""

    reads: frozenset[str]
    writes: frozenset[str]


def independent(one: Footprint, other: Footprint) -> bool:
    """Whether the order of two steps makes no difference to anybody."""
    return (
        one.writes.isdisjoint(other.writes)
        and one.writes.isdisjoint(other.reads)
        and one.reads.isdisjoint(other.writes)
    )


class Tracks:
    """The footprint of the step that runs now, as it comes to be; actors are named by their keys."""

    __slots__ = ("_reads", "_writes")

    def __init__(self) -> None:
        self._reads: set[str] = set()
        self._writes: set[str] = set()

    def footprint(self) -> Footprint:
        return Footprint(frozenset(self._reads), frozenset(self._writes))

    def delivers(self, actor: str) -> None:
        """The actor handles a message, and may change all that it keeps."""
        self._writes.add(f"state {actor}")

    def puts(self, actor: str) -> None:
        """A message is put into its mailbox."""
        self._writes.add(f"queue {actor}")

    def closes(self, actor: str) -> None:
        """Its mailbox is closed: what is put there before is in its queue, and what comes later is not."""
        self._writes.add(f"queue {actor}")
        self._reads.add("closed mailboxes")

    def comes_too_late(self) -> None:
        """A message is for a mailbox that is closed: in a race with that closing, as two closings are not."""
        self._writes.add("closed mailboxes")

    def looks(self, answer: str) -> None:
        """It is looked whether an answer has been given."""
        self._reads.add(answer)

    def gives(self, answer: str) -> None:
        """An answer is given."""
        self._writes.add(answer)

    def moves(self, timer: str) -> None:
        """A timer is fired, cancelled or superseded."""
        self._writes.add(timer)

    def starts_at_once(self) -> None:
        """A timer is started that falls due at this very instant: it takes part only if it comes before any caller."""
        self._writes.add("callers")

    def lets_in(self) -> None:
        """A message from outside is put into its mailbox."""
        self._reads.add("callers")

    def touches(self, place: str) -> None:
        """A place outside of the runtime is looked at or changed."""
        self._writes.add(f"outside {place}")
