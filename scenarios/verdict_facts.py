"""What crossed the public face, as plain values: all that the verdict is founded on.

An operation has two moments: it was called, and it was answered. Their order in the log is the real-time order: what
was answered before something else was called came before it. Its instants, in whole microseconds of one clock that
never goes back, enclose all that it did: `called_at` is not later, `answered_at` not earlier. A text stands here as it
is, in memory only; what is shown of an operation are ids and statuses.

Nothing here, nor in any other module of the verdict, is shared with the product.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import attrs

__all__ = ["Look", "Operation", "Registration", "Rules", "TurnFact", "shown"]

TurnFact = tuple[str, str, str, str]
"""A turn: request, parent, source, accepted text."""


class Operation:
    """One call of the public face, and its reply once there is one.

    `kind` names the method, `session` the session whose order it belongs to. `argument` is what else was given:

    | kind | argument | reply |
    |---|---|---|
    | `register` | a `Registration` | status |
    | `activate`, `cancel`, `dispatch_failed` | | status |
    | `ack` | the text | (status, committed) |
    | `reject` | | (status, committed) |
    | `status` | | (open, cause, ((parent, state), …)) |
    | `read` | the greatest number of turns | the turns |
    | `claim` | | the number, or `OVERLOADED` |
    | `clear` | | status |
    | `fail_commits` | how many | None |
    | `record` (`parent` is the id of the call) | (value, its bytes, is it nested, keep) | (stored, reason) |
    | `refer` (`parent`: the child) | the id of the parent | (stored, reason) |
    | `fetch` (`parent`: the id) | | (`value`, the value) or (`miss`, reason) |
    | `calls` | | the ids |
    | `translate` | (a `Registration`, the parents that the feature refuses) | status |
    | `respond` | the texts for each unit | |
    | `outcome` | | None, or (execution, translated, unresolved, cancelled) |
    | `refused` | the reply that it must have | the reply |

    A reply `("error", TYPE)` stands for an exception.
    """

    __slots__ = (
        "answered",
        "answered_at",
        "argument",
        "called",
        "called_at",
        "caller",
        "is_over",
        "kind",
        "parent",
        "reply",
        "request",
        "session",
        "since_us",
    )

    def __init__(
        self,
        kind: str,
        session: str,
        request: str = "",
        parent: str = "",
        argument: Any = None,
        *,
        is_over: bool = False,
    ) -> None:
        self.kind = kind
        self.session = session
        self.request = request
        self.parent = parent
        self.argument = argument
        self.is_over = is_over
        """Whether the request had certainly closed, and was given up by its callers, before this was called."""
        self.caller = 0
        self.called = self.answered = -1
        self.called_at = self.answered_at = 0
        self.since_us = 0
        """When the first ACK of its request was called, as far as the judge has seen."""
        self.reply: Any = None


@attrs.frozen(eq=False)
class Registration:
    """The parents of a request in source order, as one registration gave them."""

    request: str
    parents: tuple[str, ...]
    sources: tuple[str, ...]
    places: dict[str, int] = attrs.field(init=False)
    texts: tuple[list[str], ...] = attrs.field(init=False)
    """Of each parent the texts that ACKs carried, by first appearance: a state names a text by its place here."""
    _turns: dict[tuple[int, int], TurnFact] = attrs.field(init=False, factory=dict)

    def __attrs_post_init__(self) -> None:
        object.__setattr__(self, "places", {parent: place for place, parent in enumerate(self.parents)})
        object.__setattr__(self, "texts", tuple([] for _ in self.parents))

    def is_like(self, other: Registration) -> bool:
        return self.parents == other.parents and self.sources == other.sources

    def variant(self, place: int, text: str) -> int:
        """The number of `text` among those that ACKs of this parent carried."""
        known = self.texts[place]
        if text not in known:
            known.append(text)
        return known.index(text)

    def turn(self, place: int, variant: int) -> TurnFact:
        """The turn that this parent becomes with that text; one object each, so that comparing them is cheap."""
        turn = self._turns.get((place, variant))
        if turn is None:
            turn = self.request, self.parents[place], self.sources[place], self.texts[place][variant]
            self._turns[place, variant] = turn
        return turn


@attrs.frozen(kw_only=True)
class Rules:
    """What the guarantee depends on, as it was set; times in microseconds."""

    window_us: int
    ttl_us: int
    max_sessions: int
    max_turns: int
    max_open_handles: int
    store_max_entries: int
    store_max_bytes: int
    store_total_bytes: int
    in_session_order: bool
    crowded: bool
    """Whether there may be more sessions than may live, so that idle ones are evicted."""
    forgetful: bool
    """Whether the ledger may forget a closed request before its time, to make room."""
    punctual: bool
    """Whether what falls due happens at its very instant (virtual time), and not merely some time later."""


class Look(NamedTuple):
    """What the runtime said of itself at one moment. `at_rest`: nobody was calling."""

    at_rest: bool
    sessions: tuple[tuple[str, tuple[TurnFact, ...], int], ...]
    """Id, turns and turn counter of each live session."""
    open_requests: tuple[str, ...]
    store: tuple[tuple[str, int, int], ...]
    """Session, entries and bytes."""
    store_bytes: int
    sent: int
    handled: int
    dead: int
    queued: int
    failed: int
    at_us: int


def shown(operation: Operation) -> str:
    """An operation as evidence: moments, ids and statuses, and never a text."""
    subject = operation.request or operation.session
    if operation.parent:
        subject += f"/{operation.parent}"
    elif operation.request:
        subject += f" in {operation.session}"
    answered = "…" if operation.answered < 0 else str(operation.answered)
    reply = shown_reply(operation.kind, operation.reply)
    return f"[{operation.called}, {answered}] caller {operation.caller}: {operation.kind} {subject} → {reply}"


def shown_reply(kind: str, reply: Any) -> str:
    """A reply as evidence."""
    if reply == ():
        return "nothing"
    if reply is None or isinstance(reply, str | int):
        return str(reply)
    if reply and reply[0] == "error":
        return f"raised {reply[1]}"
    if kind in ("ack", "reject"):
        status, committed = reply
        return f"{status}, committed {_listed(committed)}"
    if kind == "read":
        return _shown_turns(reply)
    if kind == "look":
        held, opened = reply
        shown_session = "no session" if held is None else f"{_shown_turns(held[0])}, counter {held[1]}"
        return f"{shown_session}, open {_listed(opened)}"
    if kind == "status":
        is_open, cause, parents = reply
        states = ", ".join(f"{parent} {state}" for parent, state in parents[:20])
        return f"{'open' if is_open else cause or 'unknown'}: {states}{', …' if len(parents) > 20 else ''}"
    if kind == "fetch":
        return "a value" if reply[0] == "value" else f"a miss: {reply[1]}"
    return ", ".join(str(part) for part in reply)


def _shown_turns(turns: tuple[TurnFact, ...]) -> str:
    return f"{len(turns)} turns: {_listed([f'{turn[0]}/{turn[1]}' for turn in turns])}"


def _listed(ids: Any) -> str:
    few = [*ids[:12], "…", *ids[-3:]] if len(ids) > 16 else ids
    return f"[{', '.join(few)}]"
