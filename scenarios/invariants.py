"""What holds at every step, whether the scenario says so or not (design 4, "standing invariants").

The checker sees only what crossed the public face: the steps with their replies, and a snapshot. It keeps books of its
own and shares no rule with the actors. A breach is told as text that names ids only.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from ..protocol.content_replies import StoreSnapshot
from ..protocol.history import Turn
from ..protocol.settings import Settings
from ..reports import Snapshot
from .continuity_verbs import Apply, Propose
from .execution_verbs import Direct, Translate
from .verb import Verb
from .verbs import Ack, Register

__all__ = ["InvariantChecker"]

_LIMITS = ("store_max_entries", "store_max_bytes", "store_total_bytes")


@attrs.define(eq=False)
class _Request:
    """One registration of a request id."""

    number: int
    session: str
    sources: dict[str, object]
    direct: bool = False
    places: dict[str, int] = attrs.field(init=False)
    accepted: dict[str, object] = attrs.field(factory=dict)
    written: set[str] = attrs.field(factory=set)
    was_closed: bool = False

    def __attrs_post_init__(self) -> None:
        self.places = {parent: place for place, parent in enumerate(self.sources)}

    def explains(self, turn: Turn) -> bool:
        """Whether `turn` may be the one turn of a parent of this request."""
        parent = turn.parent_id
        return (
            (self.direct or self.accepted.get(parent) == turn.assistant)
            and self.sources[parent] == turn.user
            and parent not in self.written
        )


@attrs.define(eq=False)
class _History:
    """What has been seen of one session: its turns of the last look, and how far each request has come."""

    turns: tuple[Turn, ...] = ()
    last_number: int = 0
    last_places: dict[int, int] = attrs.field(factory=dict)


class InvariantChecker:
    """Follows a run step by step; a look costs what has changed since the last one."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._requests: dict[str, list[_Request]] = {}
        self._translations: dict[int, _Request] = {}
        self._registered = 0
        self._histories: dict[str, _History] = {}
        self._open: set[str] = set()
        self._failed = 0
        self._limits = {name: getattr(settings, name) for name in _LIMITS}
        self._changes: dict[str, Mapping[str, Any]] = {}

    def saw(self, verb: Verb, reply: Any) -> None:
        """Take note of a step and its reply."""
        status = reply.get("status") if isinstance(reply, dict) else None
        if isinstance(verb, Register) and status == "REGISTERED":
            parents: Any = verb.parents.parents
            in_order = sorted(parents, key=lambda parent: parent.order)
            self._begin(verb.request, verb.session, {parent.id: parent.source for parent in in_order})
        elif isinstance(verb, Translate) and status == "STARTED":
            self._translations[id(verb)] = self._begin(verb.request, verb.session, dict(verb.sources()))
        elif isinstance(verb, Direct) and status == "STARTED":
            self._begin(verb.request, verb.session, {verb.request: verb.source.value}, direct=True)
        elif isinstance(verb, Ack) and status == "ACCEPTED" and verb.request in self._requests:
            self._requests[verb.request][-1].accepted.setdefault(verb.parent, verb.result.value)

        elif isinstance(verb, Propose) and status == "PROPOSED":
            change: Any = verb.change.value
            self._changes[verb.id] = change
        elif isinstance(verb, Apply) and status == "APPLIED":
            self._limits.update((name, value) for name, value in self._changes[verb.id].items() if name in _LIMITS)

    def _begin(self, request: str, session: str, sources: dict[str, object], *, direct: bool = False) -> _Request:
        self._registered += 1
        begun = _Request(self._registered, session, sources, direct)
        self._requests.setdefault(request, []).append(begun)
        self._open.add(request)
        return begun

    def accepted(self, verb: object, parent: str, text: str) -> None:
        """Take note of what the feature of the translation that `verb` began accepted, and therefore acknowledged."""
        self._translations[id(verb)].accepted.setdefault(parent, text)

    def check(self, snapshot: Snapshot) -> Iterator[str]:
        """The breaches since the last check."""
        live = {session.session_id for session in snapshot.sessions}
        for session in snapshot.sessions:
            history = self._histories.setdefault(session.session_id, _History())
            if session.turns is not history.turns:
                yield from self._check_session(session.session_id, history, session.turns)
        for gone in self._histories.keys() - live:
            del self._histories[gone]
        yield from self._check_bounds(snapshot)
        now_open = set(snapshot.open_requests)
        for request in self._open - now_open:
            for known in self._requests.get(request, ()):
                known.was_closed = True
        self._open = now_open

    def _check_session(self, session: str, history: _History, turns: tuple[Turn, ...]) -> Iterator[str]:
        kept = _overlap(history.turns, turns)
        history.turns = turns
        for turn in turns[kept:]:
            request = self._request_of(session, turn)
            if request is None:
                yield f"the turn of {turn.request_id}/{turn.parent_id} in {session} belongs to no registered parent"
                continue
            yield from self._check_new(turn, request)
            yield from self._check_order(session, history, request, turn.parent_id)

    def _request_of(self, session: str, turn: Turn) -> _Request | None:
        """The registration that a turn is of: an id may be registered anew, also within one step."""
        known = [
            request
            for request in self._requests.get(turn.request_id, ())
            if request.session == session and turn.parent_id in request.places
        ]
        explaining = [request for request in known if request.explains(turn)]
        if explaining:
            # One that had closed before this step commits nothing more, if another can have been meant.
            return next((request for request in explaining if not request.was_closed), explaining[-1])
        return known[-1] if known else None

    def _check_new(self, turn: Turn, request: _Request) -> Iterator[str]:
        parent = turn.parent_id
        where = f"{turn.request_id}/{parent}"
        if parent in request.written:
            yield f"{where} was committed twice"
        request.written.add(parent)
        if request.was_closed and not request.direct:
            yield f"{where} was committed after its handle had closed"
        if request.direct:
            pass
        elif parent not in request.accepted:
            yield f"{where} was committed without an ACK that was answered ACCEPTED"
        elif request.accepted[parent] != turn.assistant:
            yield f"{where} was committed with another text than the one that was accepted"
        if request.sources[parent] != turn.user:
            yield f"{where} was committed with another source than the registered one"

    def _check_order(self, session: str, history: _History, request: _Request, parent: str) -> Iterator[str]:
        if request.direct:
            return
        place = request.places[parent]
        if place <= history.last_places.get(request.number, -1):
            yield f"the turns of one request stand out of source order in {session}"
        history.last_places[request.number] = place
        if self._settings.commit_order == "session" and request.number < history.last_number:
            yield f"the requests of {session} stand out of the order of their registration"
        history.last_number = max(history.last_number, request.number)

    def _check_store(self, store: StoreSnapshot) -> Iterator[str]:
        entries, bytes_each, bytes_in_all = (self._limits[name] for name in _LIMITS)
        for session, held in store.sessions.items():
            if held.entries > entries:
                yield f"{session} has {held.entries} content entries, more than store_max_entries"
            if held.bytes > bytes_each:
                yield f"{session} has {held.bytes} bytes of content, more than store_max_bytes"
        total = sum(held.bytes for held in store.sessions.values())
        if total > bytes_in_all:
            yield f"{total} bytes of content are more than store_total_bytes"
        if total != store.bytes:
            yield f"the store counts {store.bytes} bytes, its sessions have {total}"

    def _check_bounds(self, snapshot: Snapshot) -> Iterator[str]:
        if len(snapshot.sessions) > self._settings.max_sessions:
            yield f"{len(snapshot.sessions)} live sessions are more than max_sessions"
        yield from self._check_store(snapshot.store)
        if any(len(session.turns) > self._settings.max_turns for session in snapshot.sessions):
            yield "a session keeps more than max_turns turns"
        if snapshot.open_handles > self._settings.max_open_handles:
            yield f"{snapshot.open_handles} open handles are more than max_open_handles"
        if len(snapshot.running) > self._settings.max_open_executions:
            yield f"{len(snapshot.running)} running executions are more than max_open_executions"
        running = set(snapshot.running)
        if any(call.rpartition("/")[0] not in running for call in snapshot.open_calls):
            yield "a call is open though its request is over"
        counts = snapshot.counts
        if counts.sent != counts.handled + counts.dead + counts.queued or counts.queued:
            yield (
                f"messages were lost: {counts.sent} sent, {counts.handled} handled, "
                f"{counts.dead} dead, {counts.queued} queued"
            )
        if counts.failed > self._failed:
            self._failed = counts.failed
            yield "an actor failed; see the log"


def _overlap(before: tuple[Turn, ...], now: tuple[Turn, ...]) -> int:
    """How many of the first turns of `now` are the last of `before`: the rest is new."""
    for kept in range(min(len(before), len(now)), 0, -1):
        if now[kept - 1] is before[-1] and all(map(operator.is_, before[len(before) - kept :], now[:kept])):
            return kept
    return 0
