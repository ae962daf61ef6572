"""The content of one session by its names: refs, ids of calls, `REQUEST/PARENT`, and what waits for a reference (P).

Rules. A ref is made when it is first asked for, from chance, and opens content of this session only. A name leads to
the newest that was stored under it. A nested value that was not stored waits in a bounded area, the least recently
added out first.
"""

from __future__ import annotations

import base64
import math
from collections import OrderedDict
from collections.abc import Callable

import attrs
from cachetools import FIFOCache

from ..protocol.history import Turn, TurnRun, turn_name
from ..protocol.payloads import Payload
from ..protocol.records import CallRecord
from ..protocol.retention import MAX_WAITING
from ..protocol.statuses import MissReason, SkipReason
from .entry import Entry, SessionEntries

__all__ = ["CallContent", "SessionContents", "Waiting"]

_REF_PREFIX = "content:"
_REF_BITS = 136
_REF_CHARS = 26
"""5 bits of chance a character: 130 in a ref, and the last 6 bits go unused, since bytes are whole."""
_MAX_UNSTORED = 512
"""Turns of a session that were not stored and are known as such."""


@attrs.frozen
class Waiting:
    """A nested value that was not stored, and the depth at which it would be."""

    content: Payload
    depth: int


class CallContent:
    """What is known of the content of a recorded call: its entry, or why it has none."""

    __slots__ = ("entry", "is_error", "reason")

    def __init__(self, *, is_error: bool, reason: SkipReason | None) -> None:
        self.is_error = is_error
        self.reason = reason
        self.entry: Entry | None = None

    @property
    def is_there(self) -> bool:
        return self.entry is not None and self.entry.gone is None


class SessionContents:
    """Where each name of a session leads; see the module."""

    __slots__ = ("_numbered_turns", "_random_bits", "_turns", "_unstored_turns", "calls", "entries", "waiting")

    def __init__(self, session_id: str, random_bits: Callable[[int], int]) -> None:
        self.entries = SessionEntries(session_id)
        self.calls: dict[str, CallContent] = {}
        self.waiting: FIFOCache[str, Waiting] = FIFOCache(math.inf, getsizeof=lambda held: held.content.bytes)
        self._random_bits = random_bits
        self._turns: dict[str, Entry] = {}
        self._numbered_turns: dict[int, Entry] = {}
        self._unstored_turns: OrderedDict[str, None] = OrderedDict()

    def find(self, name: str, *, as_call: bool = False) -> Entry | MissReason:
        """What `name` leads to, there or gone, or why it leads nowhere; `as_call` if it can only be the id of one."""
        if not as_call and (entry := self.entries.by_ref.get(name)) is not None:
            return entry
        call = self.calls.get(name)
        if call is not None:
            return call.entry or MissReason.NOT_STORED
        if as_call:
            return MissReason.UNKNOWN
        turn = self._turns.get(name)
        if turn is not None:
            return turn
        return MissReason.NOT_STORED if name in self._unstored_turns else MissReason.UNKNOWN

    def has_content(self, record: CallRecord) -> bool:
        """Whether the content of a recorded call is there."""
        call = self.calls.get(record.id)
        return call is not None and call.is_there

    @property
    def knows_unstored_turns(self) -> bool:
        """Whether some turn is remembered as not stored."""
        return bool(self._unstored_turns)

    def add_turn(self, entry: Entry) -> None:
        """A turn was stored; one that has the same name is reached by its ref alone from now on."""
        self._turns[entry.name] = self._numbered_turns[entry.number] = entry
        self._unstored_turns.pop(entry.name, None)

    def add_unstored_turn(self, name: str) -> None:
        self._turns.pop(name, None)
        self._unstored_turns.pop(name, None)
        self._unstored_turns[name] = None
        if len(self._unstored_turns) > _MAX_UNSTORED:
            self._unstored_turns.popitem(last=False)

    def add_unstored_turns(self, turns: TurnRun) -> None:
        for parent_id in turns.parent_ids:
            self.add_unstored_turn(turn_name(turns.request_id, parent_id))

    def hold(self, call_id: str, held: Waiting, limit_bytes: int) -> None:
        """Keep a value for a later reference; one that does not fit at all pushes nothing out."""
        if held.content.bytes <= limit_bytes:
            self.waiting[call_id] = held
            self.trim_waiting(limit_bytes)

    def trim_waiting(self, limit_bytes: int) -> None:
        while len(self.waiting) > MAX_WAITING or self.waiting.currsize > limit_bytes:
            self.waiting.popitem()

    def forget_call(self, call_id: str) -> None:
        """Its record has left the list: what waits goes with it, what is stored is reached by its ref alone."""
        self.calls.pop(call_id, None)
        self.waiting.pop(call_id, None)

    def forget_turn(self, entry: Entry) -> None:
        """Its tombstone was given up."""
        if self._turns.get(entry.name) is entry:
            del self._turns[entry.name]
        if self._numbered_turns.get(entry.number) is entry:
            del self._numbered_turns[entry.number]

    def ref(self, entry: Entry) -> str:
        """The ref of an entry."""
        if entry.ref is None:
            chance = self._random_bits(_REF_BITS).to_bytes(_REF_BITS // 8, "big")
            entry.ref = _REF_PREFIX + base64.b32encode(chance)[:_REF_CHARS].decode("ascii").lower()
            self.entries.by_ref[entry.ref] = entry
        return entry.ref

    def with_ref(self, number: int, turn: Turn) -> Turn:
        """A turn with its ref; a tombstone has one as well, so that a look-up can say why it is in vain."""
        entry = self._numbered_turns.get(number)
        return turn if entry is None else attrs.evolve(turn, content_ref=self.ref(entry))

    def described(self, record: CallRecord) -> CallRecord:
        """A record with what is told of its content, also when that has gone."""
        call = self.calls.get(record.id)
        if call is None or call.entry is None:
            return attrs.evolve(record, reason=None if call is None else call.reason)
        kind, mode, digest = call.entry.facts()
        return CallRecord(
            record.id,
            record.role,
            record.method,
            record.depth,
            record.parent,
            record.status,
            content_ref=self.ref(call.entry),
            content_kind=kind,
            content_bytes=call.entry.size,
            content_digest=digest,
            content_mode=mode,
            time_s=record.time_s,
        )
