"""What happened in a journal, one thing after another: calls that took effect, answers of providers, timers that fired.

Each is an `Item`: a step of the timeline to be, or the firing of a timer that the timeline has to let happen by itself.
Items of one session follow one another as they took effect; their `track` is that session. With each item goes which
timers it starts and which it ends, so that instants can be found at which all of it happens in the same order again.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Mapping, Sequence

import attrs

from ..actors.journal_reader import Line
from ..protocol.participation import ProviderPolicy, participates
from ..protocol.settings import Settings, microseconds

__all__ = ["Item", "Timer", "items_of"]

NEVER = 2**62
_NOT_OPEN = ("STALE", "UNKNOWN_REQUEST", None)
"""What is answered to those who come too late."""
_USES = frozenset(
    {"register", "translate", "direct", "claim_turn", "read_history", "record_call", "fetch", "follow_up"}
)
"""Calls that use a session, if they come to something."""
_FIRINGS = frozenset({("closed", "EXPIRED"), ("session", "EXPIRED"), ("handle", "PASSING_OVER")})
"""What happens because a timer fired."""


@attrs.define(eq=False)
class Timer:
    """Something that falls due at a fixed time after the item that starts it."""

    name: tuple[str, ...]
    delay_us: int
    ended_by: Item | None = None
    """The item before which it must not fall due, or that is its firing."""
    due_us: int = NEVER
    number: int = 0
    """In the order of starting: of two that fall due at one instant the earlier started goes first."""
    is_over: bool = False


@attrs.define(eq=False)
class Item:
    """One thing that happened. `called` and `answered` are the lines between which it did, `place` is where."""

    kind: str
    """`call`, `answer`, or `due` for a timer."""
    line: Line
    called: int
    place: int
    answered: int
    track: str
    t_us: int
    begins: int = -1
    reply: Line | None = None
    starts: list[Timer] = attrs.field(factory=list)
    ends: list[Timer] = attrs.field(factory=list)
    due: Timer | None = None
    number: int = 0
    """In the order of taking effect."""
    is_late: bool = False
    """Whether it came too late for what is at its place."""
    instant_us: int = 0


def items_of(lines: Sequence[Line], settings: Settings, providers: Mapping[str, ProviderPolicy]) -> list[Item]:
    """The items of a journal in the order in which they took effect, each with its timers."""
    reading = _Reading(lines)
    _Timers(reading, settings, providers).find(lines)
    # A wait that ended as its request got its turn may still be told to be over; nothing comes of that.
    happened = (item for item in reading.items if item.due is not None or item.line["k"] != "handle")
    return sorted(happened, key=lambda item: (item.place, item.is_late))


class _Reading:
    """The items, and to which session each request belongs at which line."""

    def __init__(self, lines: Sequence[Line]) -> None:
        self.items: list[Item] = []
        self._calls: dict[int, Item] = {}
        self._sessions: dict[str, str] = {}
        for place, line in enumerate(lines):
            kind = line["k"]
            if kind == "close":
                break
            self._take(place, kind, line)
        # What never took effect, and was never answered, did not happen as far as anybody can tell.
        self.items = [item for item in self.items if item.place >= 0]
        self._put_behind_closing(lines)
        for item in self.items:
            item.t_us = lines[item.place]["t"]
        self._begun: dict[str, list[Item]] = defaultdict(list)
        for item in sorted(self.items, key=lambda item: item.begins):
            self._begun[item.track].append(item)
        self._begins = {track: [item.begins for item in begun] for track, begun in self._begun.items()}
        self._begins_us = {track: [lines[at]["t"] for at in begins] for track, begins in self._begins.items()}

    def _take(self, place: int, kind: str, line: Line) -> None:
        if kind == "call":
            self._calls[line["n"]] = item = Item("call", line, place, -1, NEVER, self._track(line), line["t"])
            self.items.append(item)
        elif kind == "took":
            if line["n"] in self._calls:
                item = self._calls[line["n"]]
                item.place = place
                # A request may have been registered since the call was made.
                item.track = self._track(item.line)
                if item.begins < 0:
                    item.begins = place
        elif kind == "reply":
            if line["n"] in self._calls:
                item = self._calls[line["n"]]
                item.answered, item.reply = place, line
        elif kind == "acked":
            self._at_once("call", place, line, reply=line)
        elif kind == "answer":
            self._at_once("answer", place, line)
        elif kind == "fired" or (kind, line.get("cause", line.get("state"))) in _FIRINGS:
            self._at_once("due", place, line)
        elif kind in ("handle", "execution") and "session" in line:
            self._sessions[line["request"]] = line["session"]

    def _put_behind_closing(self, lines: Sequence[Line]) -> None:
        """What a handle answered between its closing and the word of it to the others came too late for all of them."""
        closing: dict[str, int] = {}
        closed: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for place, line in enumerate(lines):
            if line["k"] == "handle" and line["state"] == "CLOSED":
                closing[line["request"]] = place
            elif line["k"] == "closed" and line["request"] in closing:
                closed[line["request"]].append((closing.pop(line["request"]), place))
        for item in self.items:
            for begun, ended in closed.get(item.line.get("request", ""), ()):
                came_late = item.reply is None or item.reply.get("status") in _NOT_OPEN
                if came_late and item.kind == "call" and begun < item.place < ended:
                    item.place, item.is_late = ended, True

    def _at_once(self, kind: str, place: int, line: Line, reply: Line | None = None) -> None:
        self.items.append(Item(kind, line, place, place, place, self._track(line), line["t"], place, reply))

    def _track(self, line: Line) -> str:
        session = line.get("session")
        if session is not None:
            return f"session {session}"
        request = line.get("request") or line.get("call", "").rpartition("/")[0]
        if not request:
            return ""
        known = self._sessions.get(request)
        return f"request {request}" if known is None else f"session {known}"

    def owner(self, track: str, place: int) -> Item | None:
        """The item of a track that was under way at a line."""
        begun = bisect_right(self._begins.get(track, ()), place)
        return self._begun[track][begun - 1] if begun else None

    def owner_at(self, track: str, t_us: int) -> Item | None:
        """The item of a track that was under way at an instant."""
        begun = bisect_right(self._begins_us.get(track, ()), t_us)
        return self._begun[track][begun - 1] if begun else None


class _Timers:
    """Which item starts and ends which timer."""

    def __init__(self, reading: _Reading, settings: Settings, providers: Mapping[str, ProviderPolicy]) -> None:
        self._reading = reading
        self._window_us = microseconds(settings.ack_window)
        self._timeout_us = microseconds(settings.execution_timeout)
        self._ttl_us = microseconds(settings.session_ttl)
        self._running: dict[tuple[str, ...], Timer] = {}
        self._dues = {item.place: item for item in reading.items if item.kind == "due"}
        self._tracks: dict[str, str] = {}
        self._calls: dict[int, Line] = {}
        self._history_enabled = settings.history_enabled
        self._eligible_modes = settings.eligible_modes
        self._providers = providers
        self._living: dict[str, tuple[Timer, Item] | None] = {}
        """The sessions that live, each with the timer of its last use and whoever used it."""

    def find(self, lines: Sequence[Line]) -> None:
        for place, line in enumerate(lines):
            kind = line["k"]
            if kind in ("handle", "execution"):
                request = line["request"]
                if "session" in line:
                    self._tracks[request] = f"session {line['session']}"
                (self._handle if kind == "handle" else self._execution)(place, request, line["state"])
            elif kind == "outcome":
                self._execution_over(place, line["request"])
            elif kind == "closed":
                self._end(place, line["request"], ("window", line["request"]), ("wait", line["request"]))
            elif kind == "retry":
                name = ("retry", line["request"], str(line["batch"]))
                self._start(place, line["request"], name, line["delay"])
            elif kind == "fired":
                timer, *batch = line["timer"].split(" ")
                self._end(place, line["request"], (timer, line["request"], *batch))
            elif kind == "session":
                self._session(place, line)
            elif kind == "close":
                break
            self._use(place, line)

    def _use(self, place: int, line: Line) -> None:
        """A session was used, as far as the lines tell: its life time begins anew."""
        kind, used = line["k"], None
        if kind == "call" and line["op"] == "configure":
            self._history_enabled = line["history_enabled"]
        elif kind == "call" and line["op"] in _USES and "session" in line:
            self._calls[line["n"]] = line
        elif kind == "reply" and line["n"] in self._calls:
            used = self._used_by(self._calls.pop(line["n"]), line)
        elif kind == "committed":
            used = line["session"]
        elif kind == "made":
            used = self._tracks.get(line["call"].rpartition("/")[0], "").partition(" ")[2]
        if used in self._living:
            self._live_on(used, self._reading.owner(f"session {used}", place))

    def _used_by(self, call: Line, reply: Line) -> str | None:
        """The session that a call has used, if it has: refusals and misses are no uses, nor what takes no part."""
        op = call["op"]
        if op in ("read_history", "claim_turn"):
            uses = "error" not in reply and self._takes_part(call)
        elif op == "record_call":
            uses = reply.get("reason") not in ("duplicate_call", "OVERLOADED")
        elif op == "follow_up":
            uses = reply.get("decision") == "FULL_FETCH"
        elif op == "fetch":
            uses = not {"miss", "error"} & reply.keys()
        else:
            uses = reply.get("status") in ("REGISTERED", "STARTED")
        return call["session"] if uses else None

    def _takes_part(self, call: Line) -> bool:
        return participates(
            provider=call["provider"],
            providers=self._providers,
            history_enabled=self._history_enabled,
            mode=call["mode"],
            eligible_modes=self._eligible_modes,
            purpose=call["purpose"],
            session_id=call["session"],
        )

    def _live_on(self, session: str, user: Item | None) -> None:
        before = self._living[session]
        if user is None or (before is not None and user is before[1]):
            return
        timer = Timer(("session", session), self._ttl_us + 1)
        user.starts.append(timer)
        if before is not None:
            user.ends.append(before[0])
            before[0].ended_by = user
        self._living[session] = timer, user

    def _handle(self, place: int, request: str, state: str) -> None:
        if state == "ACTIVE":
            self._start(place, request, ("window", request), self._window_us)
        elif state.startswith("COMPLETE"):
            self._end(place, request, ("window", request))
        elif state == "WAITING":
            self._start(place, request, ("wait", request), self._window_us)
        elif state in ("MAY_COMMIT", "PASSING_OVER"):
            self._end(place, request, ("wait", request))

    def _execution(self, place: int, request: str, state: str) -> None:
        if state == "RUNNING":
            self._start(place, request, ("timeout", request), self._timeout_us)

    def _execution_over(self, place: int, request: str) -> None:
        retries = [name for name in self._running if name[0] == "retry" and name[1] == request]
        self._end(place, request, ("timeout", request), *retries)

    def _session(self, place: int, line: Line) -> None:
        session = line["session"]
        if line["state"] == "OPENED":
            self._living[session] = None
            self._live_on(session, self._reading.owner(f"session {session}", place))
            return
        last = self._living.pop(session, None)
        ended = self._dues.get(place) or self._reading.owner(f"session {session}", place)
        if last is not None and ended is not None:
            last[0].ended_by = ended
            if ended.place == place and ended.kind == "due":
                self._expired(line, ended, *last)
            else:
                ended.ends.append(last[0])

    def _expired(self, line: Line, ended: Item, timer: Timer, user: Item) -> None:
        """The line tells the instant of the last use, which another may have made than the other lines tell."""
        other = self._reading.owner_at(f"session {line['session']}", line["used"])
        if other is not None and other is not ended and other.t_us != user.t_us:
            ended.ends.append(timer)
            timer = Timer(timer.name, timer.delay_us, ended)
            other.starts.append(timer)
        ended.due = timer

    def _owner(self, place: int, request: str) -> Item | None:
        if place in self._dues:
            return self._dues[place]
        return self._reading.owner(self._tracks.get(request, f"request {request}"), place)

    def _start(self, place: int, request: str, name: tuple[str, ...], delay_us: int) -> None:
        owner = self._owner(place, request)
        if owner is not None:
            timer = self._running[name] = Timer(name, delay_us)
            owner.starts.append(timer)

    def _end(self, place: int, request: str, *names: tuple[str, ...]) -> None:
        for name in names:
            timer = self._running.pop(name, None)
            owner = None if timer is None else self._owner(place, request)
            if timer is None or owner is None:
                continue
            timer.ended_by = owner
            if owner.place == place and owner.kind == "due" and owner.due is None:
                owner.due = timer
            else:
                owner.ends.append(timer)
