"""The sessions, lanes, events and spans of a picture while they are being read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from .picture import Event, Lane, Parent, Session, Span, Text, Turn
from .words import duration

__all__ = ["Lanes", "end_of", "shown_text"]

Line = Mapping[str, Any]

MAX_TEXT = 400
"""Characters that are shown of a text."""
_UNKNOWN = "(not told)"
_MOVES = {"ack": ("ACCEPTED", "ACCEPTED"), "reject": ("REJECTED", "REJECTED")}


def shown_text(told: str | None, *, texts: bool) -> Text:
    """What is shown of a text that a line tells: itself where that is wanted and it is there, else its length."""
    if told is None:
        return None
    chars, _bytes, _digest, *text = told.split(":", 3)
    if texts and text:
        return text[0] if len(text[0]) <= MAX_TEXT else f"{text[0][: MAX_TEXT - 1]}…"
    return int(chars)


def _joined(pieces: Sequence[Text], between: str = "") -> Text:
    if all(isinstance(piece, str) for piece in pieces):
        return between.join(str(piece) for piece in pieces)
    return sum(piece for piece in pieces if isinstance(piece, int))


class Lanes:
    """What has been read so far; see `Picture` for what each number is the place of."""

    def __init__(self, settings: dict[str, Any], *, texts: bool) -> None:
        self.settings = settings
        self.sessions: list[Session] = []
        self.lanes: list[Lane] = []
        self.events: list[Event] = []
        self.steps: dict[tuple[int, int], int] = {}
        """The events of the steps of a scenario, by their index and line; and by their index alone, with line 0."""
        self.has_handle: set[int] = set()
        """The lanes that have a handle, by identity."""
        self._texts = texts
        self._session_places: dict[str, int] = {}
        self._lane_places: dict[str, int] = {}
        self._parent_places: list[dict[str, int]] = []
        self._calls: dict[str, tuple[Lane, Span]] = {}
        self._units: dict[tuple[int, str], dict[str, Text]] = {}
        self._closings: dict[int, int] = {}
        self._held: dict[tuple[int, int], Span] = {}
        self._live_turns: list[int] = []
        """For each session the first of its turns that it still keeps."""

    def event(
        self,
        line: Line,
        kind: str,
        says: str,
        *,
        word: str = "",
        request: str | None = None,
        session: str | None = None,
        step: Line | None = None,
        late_us: int | None = None,
    ) -> int:
        """Add an event; its place. It belongs to the request, parent and session that it or its line names."""
        request = request if request is not None else line.get("request")
        lane = None if request is None else self._lane_places.get(request)
        parent = None if lane is None else self._parent_places[lane].get(str(line.get("parent")))
        if session is None and lane is not None:
            session_place: int | None = self.lanes[lane].session
        else:
            session = session if session is not None else line.get("session")
            session_place = None if session is None else self.session(session)
        place = len(self.events)
        self.events.append(
            Event(
                at_us=line["t"],
                kind=kind,
                says=says,
                word=word,
                session=session_place,
                lane=lane,
                parent=parent,
                step=None if step is None else step["step"],
                late_us=late_us,
            )
        )
        if step is not None:
            self.steps[step["step"], step["line"]] = place
        return place

    def session(self, name: str) -> int:
        """The place of a session, which is added where it is new."""
        if name not in self._session_places:
            self._session_places[name] = len(self.sessions)
            self.sessions.append(Session(name))
            self._live_turns.append(0)
        return self._session_places[name]

    def begin(self, line: Line) -> Lane:
        """A new lane, for a request that a call begins."""
        told = line.get("parents", {})
        orders = line.get("orders") or range(len(told))
        parents = [
            Parent(parent, self._source(source))
            for _order, (parent, source) in sorted(zip(orders, told.items(), strict=True), key=lambda pair: pair[0])
        ]
        if line["op"] == "direct":
            parents = [Parent(line["request"], shown_text(line.get("source"), texts=self._texts))]
        return self._add(line["request"], line.get("session") or _UNKNOWN, parents, line["op"])

    def _source(self, told: str | Sequence[str]) -> Text:
        if isinstance(told, str):
            return shown_text(told, texts=self._texts)
        return _joined([shown_text(segment, texts=self._texts) for segment in told])

    def _add(self, request: str, session: str, parents: list[Parent], kind: str) -> Lane:
        lane = Lane(request, self.session(session), parents, kind)
        self._lane_places[request] = len(self.lanes)
        self.lanes.append(lane)
        self._parent_places.append({parent.id: place for place, parent in enumerate(parents)})
        return lane

    def lane(self, request: str, session: str = _UNKNOWN) -> Lane:
        """The lane of a request; of one whose beginning was not told, a new one."""
        place = self._lane_places.get(request)
        return self._add(request, session, [], "register") if place is None else self.lanes[place]

    def place(self, lane: Lane) -> int:
        return self._lane_places[lane.id]

    def _parent(self, lane: Lane, parent_id: str) -> int:
        places = self._parent_places[self.place(lane)]
        if parent_id not in places:
            places[parent_id] = len(lane.parents)
            lane.parents.append(Parent(parent_id))
        return places[parent_id]

    def earlier(self, lane: Lane) -> tuple[int, ...]:
        """The earlier requests of the session that are open: those that a request waits for."""
        here = self.place(lane)
        return tuple(
            place
            for place, other in enumerate(self.lanes[:here])
            if other.session == lane.session and not other.cause and id(other) in self.has_handle
        )

    def span(self, lane: Lane, kind: str) -> Span | None:
        """The span of that kind that has not ended."""
        return next((span for span in reversed(lane.spans) if span.kind == kind and span.end is None), None)

    def start(self, lane: Lane, kind: str, event: int, **what: Any) -> Span:
        span = Span(kind=kind, begin=event, **what)
        lane.spans.append(span)
        return span

    def end(self, lane: Lane, kind: str, event: int, word: str) -> None:
        for span in lane.spans:
            if span.kind == kind and span.end is None:
                span.end, span.word = event, word

    def opened(self, lane: Lane, event: int) -> None:
        self.start(lane, "open", event)

    def end_pause(self, lane: Lane, batch: str, event: int) -> None:
        for span in lane.spans:
            if span.kind == "pause" and span.end is None and span.word == batch:
                span.end = event

    def ack(self, line: Line, status: str, step: Line | None, *, by_feature: bool = False) -> None:
        """An ACK or a rejection, with what it was answered."""
        op, request, parent_id = line["op"], str(line["request"]), str(line["parent"])
        lane_place = self._lane_places.get(request)
        lane = None if lane_place is None else self.lanes[lane_place]
        who = "the feature's " if by_feature else ""
        what = "ACK" if op == "ack" else "rejection"
        says, late_us = f"{who}{what} of {request}/{parent_id}: {status}", None
        if status == "STALE" and lane is not None and self.place(lane) in self._closings:
            late_us = line["t"] - self.events[self._closings[self.place(lane)]].at_us
            says += f", {_after(late_us)} {end_of(lane)}"
        event = self.event(line, op, says, word=status, step=step, late_us=late_us)
        if lane is None or status != _MOVES[op][0]:
            return
        place = self._parent(lane, parent_id)
        parent = lane.parents[place]
        parent.state = _MOVES[op][1]
        if line.get("result") is not None:
            parent.result = shown_text(line["result"], texts=self._texts)
        if op == "ack":
            self._held[self.place(lane), place] = self.start(lane, "held", event, parent=place)

    def committed(self, line: Line, request: str, parent_id: str) -> None:
        """A parent became a turn of its session."""
        lane = self.lane(request, line["session"])
        place = self._parent(lane, parent_id)
        session = self.sessions[self.session(line["session"])]
        first = self._live_turns[self.session(line["session"])]
        kept = min(len(session.turns) - first + 1, int(self.settings["max_turns"]))
        says = f"{request}/{parent_id} is committed: turn {kept} of {session.id}"
        event = self.event({**line, "parent": parent_id}, "commit", says, word="COMMITTED")
        parent = lane.parents[place]
        parent.state = "COMMITTED"
        self._end_held(lane, place, event, "COMMITTED")
        session.turns.append(Turn(event, self.place(lane), place, parent.source, parent.result))
        if len(session.turns) - first > int(self.settings["max_turns"]):
            self._drop(session, first, event)
            self._live_turns[self.session(line["session"])] = first + 1

    def commit_failed(self, line: Line, request: str, parent_id: str) -> None:
        lane = self.lane(request, line["session"])
        place = self._parent(lane, parent_id)
        says = f"the commit of {request}/{parent_id} failed"
        event = self.event({**line, "parent": parent_id}, "commit", says, word="COMMIT_FAILED")
        lane.parents[place].state = "COMMIT_FAILED"
        self._end_held(lane, place, event, "COMMIT_FAILED")

    def _end_held(self, lane: Lane, parent: int, event: int, word: str) -> None:
        span = self._held.pop((self.place(lane), parent), None)
        if span is not None:
            span.end, span.word = event, word

    @staticmethod
    def _drop(session: Session, place: int, event: int) -> None:
        session.turns[place] = attrs.evolve(session.turns[place], until=event)

    def closed(self, line: Line) -> None:
        request, cause = line["request"], str(line["cause"])
        lane = self.lane(request, line["session"])
        states = line["states"]
        lost, unkept = states.get("DISCARDED", ()), states.get("ACCEPTED", ())
        says = f"{request} closes: {cause}"
        says += f"; {len(lost)} discarded" if lost else ""
        says += f"; {len(unkept)} accepted and never committed" if unkept else ""
        event = self.event(line, "close", says, word=cause)
        lane.cause = cause
        self._closings[self.place(lane)] = event
        for state, parents in states.items():
            for parent_id in parents:
                lane.parents[self._parent(lane, parent_id)].state = state
        for kind in ("open", "window", "waiting", "held"):
            self.end(lane, kind, event, cause)

    def session_ended(self, name: str, event: int) -> None:
        """What it remembered is gone."""
        place = self.session(name)
        session = self.sessions[place]
        for turn in range(self._live_turns[place], len(session.turns)):
            self._drop(session, turn, event)
        self._live_turns[place] = len(session.turns)

    def call_made(self, lane: Lane, call: str, event: int, says: str) -> None:
        self._calls[call] = (lane, self.start(lane, "call", event, says=says))

    def call_ended(self, call: str, event: int, word: str) -> None:
        _lane, span = self._calls.pop(call, (None, None))
        if span is not None:
            span.end, span.word = event, word

    def end_calls(self, lane: Lane, event: int, word: str) -> None:
        """End what the end of an execution cuts off."""
        for call in [call for call, (of, _span) in self._calls.items() if of is lane]:
            self.call_ended(call, event, word)
        for span in lane.spans:
            if span.kind == "pause" and span.end is None:
                span.end = event

    def translated(self, lane: Lane, unit: str, pieces: Sequence[Text]) -> None:
        """A unit has a valid translation: that of its parent is that of its units, one after another."""
        parents = self._parent_places[self.place(lane)]
        parent_id = unit if unit in parents else unit.rpartition(".")[0]
        place = parents.get(parent_id)
        if place is None or lane.parents[place].state == "COMMITTED":
            return
        units = self._units.setdefault((self.place(lane), parent_id), {})
        units[unit] = _joined(pieces)
        lane.parents[place].result = _joined([units[key] for key in sorted(units, key=_natural)], " ")


def end_of(lane: Lane) -> str:
    """What ended a request, behind "after"."""
    return "its window had ended" if lane.cause == "EXPIRED" else f"it had closed ({lane.cause})"


def _natural(unit: str) -> tuple[int, str]:
    number = unit.rpartition(".")[2]
    return (int(number), "") if number.isascii() and number.isdigit() else (0, unit)


def _after(late_us: int) -> str:
    return f"{duration(late_us)} after" if late_us else "at the instant in which"
