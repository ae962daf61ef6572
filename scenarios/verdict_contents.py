"""What holds of recorded calls and their content in one session, whichever order its operations had.

Weaker than the specification of the conversation: what is evicted first is not judged. A value that comes back is the
one that was recorded under that id in this session, and not one that was dropped with it; a miss has a reason that may
be true; an id is recorded once; the list of calls holds what was recorded, in an order that respects real time.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import attrs

from .verdict_breaches import Breach
from .verdict_facts import Operation, Rules, shown

__all__ = ["ContentJudge"]

VALUE = "a look-up gives the value that was recorded, or says why not"
RECORDED = "a call is recorded once, and stored where the policy says so"

_MAX_CALLS = 200


@attrs.frozen(eq=False)
class _Recorded:
    operation: Operation
    stored: bool
    reason: str | None


class ContentJudge:
    """Follows one session. An answered `record` has the argument (value, bytes, nested, keep)."""

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self._called: dict[str, list[Operation]] = {}
        self._recorded: dict[str, list[_Recorded]] = {}
        self._referred: set[str] = set()
        self._clears: list[Operation] = []
        self._bytes = self._entries = 0

    def knows(self, request: str) -> bool:
        """Whether a request was started here: never."""
        return False

    def call(self, operation: Operation) -> None:
        if operation.kind == "record":
            self._called.setdefault(operation.parent, []).append(operation)
            self._bytes += operation.argument[1]
            self._entries += 1
        elif operation.kind == "refer":
            self._referred.add(operation.parent)
        elif operation.kind == "clear":
            self._clears.append(operation)

    def answer(self, operation: Operation) -> Iterator[Breach]:
        if operation.kind == "record":
            yield from self._record(operation)
        elif operation.kind == "fetch":
            yield from self._fetch(operation)
        elif operation.kind == "calls":
            yield from self._calls(operation)

    def _breach(self, promise: str, what: str, operation: Operation) -> Breach:
        beside = [recorded.operation for recorded in self._recorded.get(operation.parent, ())]
        beside += [clear for clear in self._clears if clear.called < operation.called]
        ordered = sorted({*beside[-6:], operation}, key=lambda one: one.called)
        return Breach(promise, what, tuple(map(shown, ordered)))

    def _record(self, operation: Operation) -> Iterator[Breach]:
        stored, reason = operation.reply
        _value, size, nested, keep = operation.argument
        self._recorded.setdefault(operation.parent, []).append(_Recorded(operation, stored, reason))
        if reason == "duplicate_call":
            if len(self._called[operation.parent]) == 1:
                yield self._breach(RECORDED, f"{operation.parent} is no id that was taken", operation)
        elif reason == "nested_capture_disabled":
            if not nested or keep:
                yield self._breach(RECORDED, f"{operation.parent} was to be stored", operation)
        elif reason == "entry_exceeds_max_bytes":
            if size <= min(self._rules.store_max_bytes, self._rules.store_total_bytes):
                yield self._breach(RECORDED, f"{operation.parent} is not too large", operation)
        elif stored and nested and not keep:
            yield self._breach(RECORDED, f"{operation.parent} is nested and was not to be stored", operation)
        elif not stored and reason != "OVERLOADED":
            yield self._breach(RECORDED, f"{operation.parent} was not stored, and has no reason", operation)
        others = [
            recorded.operation
            for recorded in self._recorded[operation.parent]
            if recorded.operation is not operation and recorded.reason not in ("duplicate_call", "OVERLOADED")
        ]
        if reason not in ("duplicate_call", "OVERLOADED") and others and not self._may_have_ended(others[0], operation):
            yield self._breach(RECORDED, f"{operation.parent} was recorded twice", operation)

    def _may_have_ended(self, recorded: Operation, operation: Operation) -> bool:
        """Whether the session may have ended between the two, or the record may have left its list."""
        if self._rules.crowded or operation.answered_at - recorded.called_at > self._rules.ttl_us:
            return True
        if self._entries >= _MAX_CALLS:
            return True
        return any(clear.called < operation.answered and recorded.called < _end(clear) for clear in self._clears)

    def _fetch(self, operation: Operation) -> Iterator[Breach]:
        what, told = operation.reply
        called = [record for record in self._called.get(operation.parent, ()) if record.called < operation.answered]
        if what == "value":
            same = [record for record in called if record.argument[0] == told]
            if not same:
                yield self._breach(VALUE, f"{operation.parent} was never recorded with that value here", operation)
            elif all(self._certainly_gone(record, operation) for record in same):
                yield self._breach(VALUE, f"{operation.parent} was dropped with its session and came back", operation)
            return
        certain = [
            recorded
            for recorded in self._recorded.get(operation.parent, ())
            if recorded.operation.answered < operation.called
            and recorded.reason not in ("duplicate_call", "OVERLOADED")
        ]
        if told == "unknown":
            if any(not self._may_have_ended(recorded.operation, operation) for recorded in certain):
                yield self._breach(VALUE, f"{operation.parent} is known", operation)
        elif not called:
            yield self._breach(VALUE, f"{operation.parent} is not known, and cannot be {told}", operation)
        elif told == "not_stored":
            unsaid = len(called) > len(self._recorded.get(operation.parent, ()))
            if not unsaid and all(recorded.stored for recorded in self._recorded[operation.parent]):
                yield self._breach(VALUE, f"{operation.parent} was stored", operation)
        elif told == "evicted" and not self._crowded_store():
            yield self._breach(VALUE, f"{operation.parent} was evicted, and there was room", operation)
        elif told == "expired":
            yield self._breach(VALUE, f"{operation.parent} expired, and no life time is set", operation)

    def _crowded_store(self) -> bool:
        rules = self._rules
        return (
            self._entries > rules.store_max_entries
            or self._bytes > min(rules.store_max_bytes, rules.store_total_bytes)
            or rules.crowded
        )

    def _certainly_gone(self, record: Operation, operation: Operation) -> bool:
        return any(
            clear.reply == "CLEARED" and 0 <= record.answered < clear.called and 0 <= clear.answered < operation.called
            for clear in self._clears
        )

    def _calls(self, operation: Operation) -> Iterator[Breach]:
        ids = operation.reply
        if len(set(ids)) < len(ids):
            yield self._breach(RECORDED, "an id stands twice in the list of calls", operation)
        firsts = []
        for call in ids:
            called = [record for record in self._called.get(call, ()) if record.called < operation.answered]
            if not called:
                yield self._breach(RECORDED, f"{call} stands in the list, and nobody recorded it", operation)
            firsts += called[:1] if len(called) == 1 else []
        for before, after in pairwise(firsts):
            if 0 <= after.answered < before.called:
                yield self._breach(RECORDED, "the list of calls is not in the order of recording", operation)


def _end(operation: Operation) -> float:
    return operation.answered if operation.answered >= 0 else float("inf")
