"""A trace of the actors in the format of Chrome's and Perfetto's timelines: a track an actor, arrows for messages.

Rules. Each run is a process, each actor a thread of it, each handled message a slice (`X`), and each message from one
actor to another an arrow (`s` to `f`). In virtual time no handler takes any, so each slice is one microsecond wide
and begins no earlier than the one before it ended; the true instant is in its arguments. Events stand by time.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

import attrs

from ..actors.tracing import OUTSIDE, Handled, Tracer

__all__ = ["trace"]

_LEAST_US = 1


@attrs.frozen
class _Slice:
    """A handled message, where it is drawn."""

    handled: Handled
    ts: int
    dur: int


def trace(runs: Sequence[tuple[str, Tracer]]) -> bytes:
    """The trace of some runs, each with its name: one JSON object in ASCII. Of texts it holds nothing."""
    named: list[dict[str, Any]] = []
    timed: list[dict[str, Any]] = []
    flows = 0
    for process, (name, tracer) in enumerate(runs, 1):
        slices = list(_placed(tracer))
        tracks = {actor: track for track, actor in enumerate(dict.fromkeys(one.handled.actor for one in slices), 1)}
        named += _names(process, name, tracks)
        timed += [_slice(process, tracks, one) for one in slices]
        by_number = {one.handled.number: one for one in slices}
        for one in slices:
            sender = by_number.get(one.handled.sent_while or 0)
            if sender is not None:
                flows += 1
                timed += _arrow(process, tracks, flows, sender, one)
    timed.sort(key=lambda event: event["ts"])
    left_out = sum(tracer.left_out for _name, tracer in runs)
    told = {"traceEvents": named + timed, "displayTimeUnit": "ms", "otherData": {"messages left out": left_out}}
    return json.dumps(told, separators=(",", ":")).encode("ascii")


def _placed(tracer: Tracer) -> Iterator[_Slice]:
    """What was handled, in the order of its beginnings, without an overlap in the track of an actor."""
    free: dict[str, int] = {}
    for handled in sorted(tracer.handled, key=lambda handled: handled.order):
        track = "" if tracer.virtual else handled.actor
        ts = max(handled.begin_us, free.get(track, 0))
        dur = _LEAST_US if tracer.virtual else max(handled.end_us - ts, _LEAST_US)
        free[track] = ts + dur
        yield _Slice(handled, ts, dur)


def _names(process: int, name: str, tracks: dict[str, int]) -> Iterator[dict[str, Any]]:
    yield {"ph": "M", "name": "process_name", "pid": process, "tid": 0, "ts": 0, "args": {"name": name}}
    for actor, track in tracks.items():
        told = {"ph": "M", "pid": process, "tid": track, "ts": 0}
        yield {**told, "name": "thread_name", "args": {"name": actor}}
        yield {**told, "name": "thread_sort_index", "args": {"sort_index": track}}


def _slice(process: int, tracks: dict[str, int], one: _Slice) -> dict[str, Any]:
    handled = one.handled
    return {
        "ph": "X",
        "cat": "message",
        "name": handled.message,
        "pid": process,
        "tid": tracks[handled.actor],
        "ts": one.ts,
        "dur": one.dur,
        "args": {
            "from": "outside" if handled.sender == OUTSIDE else handled.sender,
            "at": f"{handled.begin_us / 1e6:.6f} s",
            "waited": f"{max(0, handled.begin_us - handled.sent_us)} us",
            "number": handled.number,
        },
    }


def _arrow(process: int, tracks: dict[str, int], flow: int, sender: _Slice, one: _Slice) -> Iterator[dict[str, Any]]:
    """From the slice of the sender to that of the receiver, never back in time."""
    told = {"cat": "message", "name": one.handled.message, "pid": process, "id": flow}
    sent = min(max(one.handled.sent_us, sender.ts), sender.ts + sender.dur, max(one.ts, sender.ts))
    yield {**told, "ph": "s", "tid": tracks[sender.handled.actor], "ts": sent}
    yield {**told, "ph": "f", "bp": "e", "tid": tracks[one.handled.actor], "ts": max(one.ts, sent)}
