"""What a picture shows, as plain values: sessions, the lanes of their requests, events, spans, turns and sentences.

Places are numbers: a session, a lane, a parent of its lane and an event are each named by their index, and what spans
a stretch of time by the two events that bound it. Events stand in the order in which they took effect; several of them
may share an instant, so the index of an event, and not its time, is what a history "as of then" goes by.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

__all__ = ["Event", "Failed", "Lane", "Outcome", "Parent", "Picture", "Sentence", "Session", "Span", "Text", "Turn"]

Text = str | int | None
"""What is shown of a text: itself, or only its length in characters; None where nothing is known of it."""


@attrs.frozen(kw_only=True)
class Event:
    """Something that happened at an instant. `word` is the state or the reply that it came to."""

    at_us: int
    kind: str
    says: str
    word: str = ""
    session: int | None = None
    lane: int | None = None
    parent: int | None = None
    step: int | None = None
    """The index of the step of a scenario that this was, if it was one."""
    late_us: int | None = None
    """Of an ACK that came too late: by how much."""


@attrs.define(kw_only=True)
class Span:
    """A stretch of time in a lane; `end` is None where it had not ended when the journal did."""

    kind: str
    """`open`, `window`, `waiting`, `held`, `call` or `pause`."""
    begin: int
    end: int | None = None
    until_us: int | None = None
    """When it would have ended by itself: of a window, and of a pause before a retry."""
    parent: int | None = None
    word: str = ""
    """What ended it."""
    lanes: tuple[int, ...] = ()
    """Of a wait: the requests that it was for."""
    says: str = ""


@attrs.define
class Parent:
    """A parent of a request: its last known state, and the event that brought it."""

    id: str
    source: Text = None
    state: str = "PENDING"
    result: Text = None


@attrs.define
class Lane:
    """A request, from its registration (or the start of its execution) to its end."""

    id: str
    session: int
    parents: list[Parent]
    kind: str
    spans: list[Span] = attrs.Factory(list)
    cause: str = ""
    """Why it closed; empty while it is open, or where it has no handle."""
    outcome: Mapping[str, Any] | None = None


@attrs.frozen
class Turn:
    """A turn of a history. `until` is the event that took it away again: a clear, an expiry, newer turns."""

    event: int
    lane: int
    parent: int
    user: Text
    assistant: Text
    until: int | None = None


@attrs.define
class Session:
    id: str
    turns: list[Turn] = attrs.Factory(list)


@attrs.frozen
class Failed:
    """An expectation that did not hold: of a step, or (step None) of what must be true at the end."""

    line: int
    step: int | None
    expected: str
    actual: str
    message: str
    event: int | None = None


@attrs.frozen
class Sentence:
    """An answer in words. `topic` is the heading that it stands under, `event` the place that it speaks of."""

    topic: str
    says: str
    event: int | None


@attrs.frozen(kw_only=True)
class Outcome:
    """What is known of a run beside its journal. `passed` is None where nobody judged it."""

    title: str
    passed: bool | None = None
    about: str = ""
    file: str = ""
    remarks: tuple[str, ...] = ()
    failures: tuple[Failed, ...] = ()


@attrs.frozen(kw_only=True)
class Picture:
    """All that a page shows of one run."""

    outcome: Outcome
    sessions: tuple[Session, ...]
    lanes: tuple[Lane, ...]
    events: tuple[Event, ...]
    sentences: tuple[Sentence, ...]
    left_out: int = 0
    """Notes of the journal that are not in here."""
    begin_us: int = 0
    texts: bool = False
    """Whether texts are shown, or only their lengths."""
