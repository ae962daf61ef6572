"""Which shard each message of the face goes to.

Rules. What names a session goes to the shard of the session. What names a request goes to the shard where that request
was registered or started, as far as a bounded table remembers; for an id that it does not know it goes to the shard of
the id, which answers as a runtime does, or to all shards once the table has forgotten any. What names neither goes to
every shard, and the answers become one. All calls pass here one after another, so that whatever goes to several shards
has one place among them.

A request id is that of one request, whatever its session (`DUPLICATE_REQUEST`). So a registration whose id the table
knows on another shard than that of its session asks there first whether the id is taken; until that is answered, what
comes waits behind it. Registrations of ids that are used once, or in one session, never ask.

Not promised: that an id which the table has forgotten is not taken on another shard.
"""

from __future__ import annotations

import threading
from collections import OrderedDict, deque
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from typing import Any

import attrs

from ..actors.answering import ReplyTo
from ..actors.futures import Future
from ..actors.outside import Begin
from ..protocol.content_messages import (
    CountMiss,
    FetchContent,
    FollowUp,
    ReadCalls,
    ReadContinuity,
    RecordCall,
    Refer,
    RenderRefs,
)
from ..protocol.errors import InvalidArgument, UnknownCall
from ..protocol.execution_messages import AnswerCall, ReadOutcome, TimeOut
from ..protocol.governance_messages import ApplyRetention
from ..protocol.messages import (
    Acknowledge,
    Activate,
    ClaimTurn,
    ClearSession,
    Close,
    Configure,
    FailCommits,
    ReadHistory,
    ReadStatus,
    RefuseTaken,
    Register,
    Reject,
)
from ..protocol.outcomes import StartReply
from ..protocol.replies import RegisterReply
from ..protocol.statuses import RegisterStatus, StartStatus
from .errors import ShardLost
from .link import Beginning, Call, Change, Changing, Link
from .merging import Gathering, known, merged_continuity
from .rendezvous import Rendezvous
from .wire import SHARD, Begins

__all__ = ["Router"]

_OF_A_SESSION = (
    *(ReadHistory, ClaimTurn, ClearSession, FailCommits, RecordCall, Refer, FetchContent, FollowUp, ReadCalls),
    *(RenderRefs, CountMiss),
)
_OF_A_REQUEST = (Acknowledge, Reject, Activate, Close, ReadStatus, AnswerCall, TimeOut, ReadOutcome)
_REMEMBERED_SESSIONS = 65_536
"""Sessions whose shard need not be computed again."""

Route = Callable[[str, Any, "ReplyTo | None"], object]


class Router:
    """Puts every message into the link that it belongs to; from any thread. See the module."""

    def __init__(
        self,
        links: Sequence[Link],
        do: Callable[[Callable[[], object]], object],
        pickled: Callable[[object], bytes],
        *,
        max_routes: int,
        max_waiting: int,
    ) -> None:
        self.links = tuple(links)
        self._do = do
        self._pickled = pickled
        self._home = lru_cache(maxsize=_REMEMBERED_SESSIONS)(Rendezvous(len(links)).shard_of)
        self._max_routes = max_routes
        self._max_waiting = max_waiting
        self._shards: OrderedDict[str, int] = OrderedDict()
        self._has_forgotten = False
        # Taken again by a callback of a call that a closed link answers at once.
        self._routing = threading.RLock()
        self._asking = False
        self._held: deque[Callable[[], object]] = deque()
        self._routes: dict[type, Route] = {
            **dict.fromkeys(_OF_A_SESSION, self._to_session),
            **dict.fromkeys(_OF_A_REQUEST, self._to_request),
            Register: self._begin,
            Begin: self._begin,
            Configure: self._configure,
            ApplyRetention: self._apply,
            ReadContinuity: self._read_continuity,
        }

    def shard_of(self, session_id: str) -> int:
        """The shard of a session."""
        return self._home(session_id)

    def post(self, door: str, message: Any, reply_to: ReplyTo | None) -> None:
        """Send a message to the actor behind `door`, on the shard or the shards where it belongs."""
        route = self._routes.get(type(message))
        if route is None:
            raise InvalidArgument("message", f"{type(message).__name__} has no way to a shard")
        if type(message) is Begin:
            message = self._started(message)
        with self._routing:
            if not self._asking:
                route(door, message, reply_to)
            else:
                self._held.append(lambda: route(door, message, reply_to))

    def _started(self, begin: Begin) -> _Started:
        outside = begin.outside
        try:
            provider = None if outside.provider is None else self._pickled(outside.provider)
        except Exception as error:
            problem = f"goes to the process of its shard, and cannot be pickled: {type(error).__name__}"
            raise InvalidArgument("provider", problem) from None
        tells = outside.progress is not None
        return _Started(begin, Begins(plan=begin.plan, document=outside.document, provider=provider, tells=tells))

    def settle_parent(self, question: tuple[Any, ...], future: Future[Any]) -> None:
        """Send an ACK, as `(request, parent, result)`, or a rejection, as `(request, parent)`: the commonest calls."""
        with self._routing:
            if not self._asking:
                self._put_of_request(question[0], question, future)
            else:
                self._held.append(lambda: self._put_of_request(question[0], question, future))

    def to_each(self, message: object, replies_to: Sequence[ReplyTo]) -> None:
        """Send the same to every shard itself, which answers in its place of `replies_to`."""

        def put() -> None:
            for link, reply_to in zip(self.links, replies_to, strict=True):
                link.put(Call([SHARD, message], reply_to))

        with self._routing:
            if not self._asking:
                put()
            else:
                self._held.append(put)

    def _put_everywhere(self, item: Any, gathering: Gathering, change: Change | None = None) -> None:
        for link, place in zip(self.links, gathering.places, strict=True):
            link.put(Call(item, place) if change is None else Changing(item, place, change))

    def _to_session(self, door: str, message: Any, reply_to: ReplyTo | None) -> None:
        self.links[self._home(message.session_id)].put(Call([door, message], reply_to))

    def _to_request(self, door: str, message: Any, reply_to: ReplyTo | None) -> None:
        self._put_of_request(message.request_id, [door, message], reply_to)

    def _put_of_request(self, request_id: str, item: Any, reply_to: ReplyTo | None) -> None:
        shard = self._shards.get(request_id)
        if shard is not None:
            self._shards.move_to_end(request_id)
        elif self._has_forgotten and len(self.links) > 1:
            self._put_everywhere(item, Gathering(len(self.links), reply_to, known, (UnknownCall, ShardLost)))
            return
        else:
            shard = self._home(request_id)
        self.links[shard].put(Call(item, reply_to))

    def _begin(self, door: str, message: Any, reply_to: ReplyTo | None) -> None:
        """A request that comes to be, by `register`, `translate` or `direct`."""
        handoff = message.handoff
        shard = self._home(handoff.session_id or handoff.request_id)
        there = self._shards.get(handoff.request_id, shard)
        if there == shard:
            self._begin_there(shard, door, message, reply_to)
            return
        self._asking = True
        question = RefuseTaken(handoff, executes=isinstance(message, _Started))

        def decide(refusal: Any, error: BaseException | None) -> None:
            with self._routing:
                if error is None and refusal is not None:
                    begin = None
                else:
                    # The id is free, or whoever had it is lost with all that it held.
                    begin = lambda: self._begin_there(shard, door, message, reply_to)  # noqa: E731
                self._go_on(begin)
            if begin is None and reply_to is not None:
                reply_to.settle(refusal, None)

        self.links[there].put(Call(["coordinator", question], _Told(decide)))

    def _go_on(self, first: Callable[[], object] | None) -> None:
        """Route what was held, until something has to be asked again."""
        self._asking = False
        if first is not None:
            first()
        while self._held and not self._asking:
            self._held.popleft()()

    def _begin_there(self, shard: int, door: str, message: Any, reply_to: ReplyTo | None) -> None:
        link = self.links[shard]
        started = isinstance(message, _Started)
        if len(link) >= self._max_waiting:
            overloaded: Any = RegisterReply(RegisterStatus.OVERLOADED)
            if started:
                overloaded = StartReply(StartStatus.OVERLOADED)
            if reply_to is not None:
                # Not here: what is called back may come here again, in the middle of this.
                self._do(partial(reply_to.settle, overloaded, None))
            return
        shards = self._shards
        shards[message.handoff.request_id] = shard
        shards.move_to_end(message.handoff.request_id)
        if len(shards) > self._max_routes:
            shards.popitem(last=False)
            self._has_forgotten = True
        if started:
            link.put(Beginning([SHARD, message.begins], reply_to, message.begin.outside))
        else:
            link.put(Call([door, message], reply_to))

    def _configure(self, door: str, message: Configure, reply_to: ReplyTo | None) -> None:
        gathering = Gathering(len(self.links), reply_to, _first, ShardLost)
        enabled = message.history_enabled
        self._put_everywhere([door, message], gathering, lambda old: attrs.evolve(old, history_enabled=enabled))

    def _apply(self, door: str, message: ApplyRetention, reply_to: ReplyTo | None) -> None:
        gathering = Gathering(len(self.links), reply_to, _first, ShardLost)
        policy: dict[str, Any] = message.retention.settings
        self._put_everywhere([door, message], gathering, lambda old: attrs.evolve(old, **policy))

    def _read_continuity(self, door: str, message: ReadContinuity, reply_to: ReplyTo | None) -> None:
        merge = merged_continuity(message.budget_bytes)
        self._put_everywhere([door, message], Gathering(len(self.links), reply_to, merge))


class _Started:
    """An execution that is to begin: as its caller has it, and as it travels."""

    __slots__ = ("begin", "begins")

    def __init__(self, begin: Begin, begins: Begins) -> None:
        self.begin = begin
        self.begins = begins

    @property
    def handoff(self) -> Any:
        return self.begin.handoff


class _Told:
    """Where an answer goes that a function takes."""

    __slots__ = ("_take",)

    def __init__(self, take: Callable[[Any, BaseException | None], None]) -> None:
        self._take = take

    def settle(self, value: Any, error: BaseException | None) -> bool:
        self._take(value, error)
        return True


def _first(answers: Sequence[Any]) -> Any:
    return answers[0]
