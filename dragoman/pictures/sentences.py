"""The answers in words: what failed, who waited for whom, which ACK came late, what was committed when."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from .lanes import end_of
from .picture import Event, Lane, Picture, Sentence, Span
from .words import count_of, duration, names

__all__ = ["TOPICS", "sentences"]

TOPICS = (
    "Failed",
    "Waited for its turn",
    "Came too late",
    "Refused",
    "Committed",
    "Ended early",
    "Tried again",
    "Forgotten",
)
"""The headings, in the order in which they stand."""
_GOOD_ENDS = frozenset({"NORMAL", "STOP"})
_REFUSALS = {
    "INVALID_RESULT": "no clean result",
    "CONFLICT": "against an earlier decision",
    "UNKNOWN_PARENT": "for no parent of that request",
    "DUPLICATE": "said before",
}
_EARLY = {
    "EXPIRED": "its ACK window ended",
    "CANCELLED": "it was cancelled",
    "TIMED_OUT": "its execution took too long",
    "DISPATCH_FAILED": "the feature could not take it",
    "EXECUTION_FAILED": "its execution failed",
    "CLEARED": "its session was cleared",
    "SESSION_EXPIRED": "its session expired",
    "PASSED_OVER": "it was never activated and held others up too long",
    "FAILED": "of a fault inside",
    "SHUT_DOWN": "the runtime was closed",
}


def sentences(picture: Picture) -> Iterator[Sentence]:
    """The sentences of a picture, by topic; within one by time."""
    for topic, tell in zip(
        TOPICS, (_failed, _waited, _late, _refused, _committed, _ended, _retried, _forgotten), strict=True
    ):
        for says, event in tell(picture):
            yield Sentence(topic, says, event)


Told = Iterator[tuple[str, int | None]]


def _at(picture: Picture, event: int) -> str:
    return duration(picture.events[event].at_us - picture.begin_us)


def _failed(picture: Picture) -> Told:
    for failed in picture.outcome.failures:
        where = "At the end" if failed.step is None else f"Step {failed.step}"
        yield f"{where} (line {failed.line}): {failed.message}", failed.event


def _waited(picture: Picture) -> Told:
    waits = [(span, lane) for lane in picture.lanes for span in lane.spans if span.kind == "waiting"]
    for span, lane in sorted(waits, key=lambda wait: wait[0].begin):
        holders = names([picture.lanes[place].id for place in span.lanes]) or "its turn"
        if span.end is None:
            yield f"{lane.id} still waits for {holders}, since {_at(picture, span.begin)}", span.begin
            continue
        took = picture.events[span.end].at_us - picture.events[span.begin].at_us
        if span.word != "MAY_COMMIT":
            yield f"{lane.id} waited {duration(took)} for {holders}, and closed before its turn: {span.word}", span.end
            continue
        last = _released_by(picture, span)
        cause = f", which closed at {_at(picture, span.end)} ({last.cause})" if last is not None else ""
        which = "" if last is None or len(span.lanes) == 1 else f"; the last was {last.id}"
        yield f"{lane.id} waited {duration(took)} for {holders}{which}{cause}", span.begin


def _released_by(picture: Picture, span: Span) -> Lane | None:
    """The request whose closing ended a wait: the one of those waited for that closed last."""
    last: tuple[int, Lane] | None = None
    for place in span.lanes:
        lane = picture.lanes[place]
        ends = [other.end for other in lane.spans if other.kind == "open" and other.end is not None]
        if ends and (last is None or ends[-1] > last[0]):
            last = ends[-1], lane
    return None if last is None else last[1]


def _late(picture: Picture) -> Told:
    """Late ACKs, by request: one by itself, many together."""
    by_lane: defaultdict[int | None, list[int]] = defaultdict(list)
    for place, event in enumerate(picture.events):
        if event.kind in ("ack", "reject") and event.word == "STALE":
            by_lane[event.lane].append(place)
    for lane_place, places in by_lane.items():
        first = picture.events[places[0]]
        if lane_place is None:
            yield f"{count_of(len(places), 'ACK')} for requests that were never open: STALE", places[0]
            continue
        lane = picture.lanes[lane_place]
        if len(places) == 1:
            yield f"The {_what(first)} of {_whom(picture, first, lane)} came {_late_by(first, lane)}: STALE", places[0]
            continue
        nearest, latest = duration(first.late_us or 0), duration(picture.events[places[-1]].late_us or 0)
        late = f"{nearest} to {latest}" if nearest != latest else nearest
        yield f"{len(places)} ACKs of {lane.id} came {late} after {end_of(lane)}: STALE", places[0]


def _what(event: Event) -> str:
    return "ACK" if event.kind == "ack" else "rejection"


def _whom(picture: Picture, event: Event, lane: Lane) -> str:
    return lane.id if event.parent is None else f"{lane.id}/{picture.lanes[event.lane or 0].parents[event.parent].id}"


def _late_by(event: Event, lane: Lane) -> str:
    if event.late_us:
        return f"{duration(event.late_us)} after {end_of(lane)}"
    return f"at the instant in which {end_of(lane)}, behind that"


def _refused(picture: Picture) -> Told:
    by_word: defaultdict[str, list[int]] = defaultdict(list)
    for place, event in enumerate(picture.events):
        if event.kind in ("ack", "reject") and event.word in _REFUSALS:
            by_word[event.word].append(place)
    for word, places in by_word.items():
        first = picture.events[places[0]]
        why = f"{_REFUSALS[word]}: {word}"
        if len(places) == 1 and first.lane is not None:
            whom = _whom(picture, first, picture.lanes[first.lane])
            yield f"The {_what(first)} of {whom} at {_at(picture, places[0])} was {why}", places[0]
        else:
            lanes = dict.fromkeys(
                picture.lanes[lane].id for e in places if (lane := picture.events[e].lane) is not None
            )
            yield f"{count_of(len(places), 'ACK')} of {names(list(lanes))} were {why}", places[0]


def _committed(picture: Picture) -> Told:
    for session in picture.sessions:
        runs: list[tuple[int, int, list[str]]] = []
        for turn in session.turns:
            at_us = picture.events[turn.event].at_us
            parent = picture.lanes[turn.lane].parents[turn.parent].id
            if runs and runs[-1][0] == turn.lane and picture.events[runs[-1][1]].at_us == at_us:
                runs[-1][2].append(parent)
            else:
                runs.append((turn.lane, turn.event, [parent]))
        if not runs:
            continue
        if len(runs) <= 3:
            told = "; ".join(
                f"{picture.lanes[lane].id} {names(parents)} at {_at(picture, event)}" for lane, event, parents in runs
            )
            yield f"{session.id}: {told}", runs[0][1]
        else:
            lanes = list(dict.fromkeys(picture.lanes[lane].id for lane, _event, _parents in runs))
            yield (
                f"{session.id}: {count_of(len(session.turns), 'turn')} of {names(lanes)}, "
                f"from {_at(picture, runs[0][1])} to {_at(picture, runs[-1][1])}",
                runs[0][1],
            )
    failed = [place for place, event in enumerate(picture.events) if event.word == "COMMIT_FAILED"]
    if failed:
        lanes = list(
            dict.fromkeys(picture.lanes[lane].id for e in failed if (lane := picture.events[e].lane) is not None)
        )
        yield f"{count_of(len(failed), 'commit')} of {names(lanes)} failed and left no turn", failed[0]


def _ended(picture: Picture) -> Told:
    for place, event in enumerate(picture.events):
        if event.kind != "close" or event.word == "COMPLETED" or event.lane is None:
            continue
        lane = picture.lanes[event.lane]
        unkept = [parent.id for parent in lane.parents if parent.state in ("DISCARDED", "ACCEPTED")]
        kept = sum(parent.state == "COMMITTED" for parent in lane.parents)
        lost = f"; {names(unkept)} never got into the history" if unkept else ""
        lost += f" ({kept} did)" if kept and unkept else ""
        yield f"{lane.id} closed at {_at(picture, place)} as {event.word}: {_EARLY.get(event.word, '')}{lost}", place


def _retried(picture: Picture) -> Told:
    recoveries: defaultdict[int, list[int]] = defaultdict(list)
    retries: defaultdict[int, list[int]] = defaultdict(list)
    failures: defaultdict[int, dict[str, None]] = defaultdict(dict)
    for place, event in enumerate(picture.events):
        if event.lane is None:
            continue
        if event.kind == "recovery":
            recoveries[event.lane].append(place)
        elif event.kind == "retry":
            retries[event.lane].append(place)
        elif event.kind == "answer" and event.word not in _GOOD_ENDS:
            failures[event.lane].setdefault(event.word)
    for place, lane in enumerate(picture.lanes):
        again, passes = retries[place], recoveries[place]
        told = [f"{len(again)} {'retry' if len(again) == 1 else 'retries'}"] if again else []
        told += [f"{len(passes)} recovery pass{'' if len(passes) == 1 else 'es'}"] if passes else []
        if lane.outcome is not None and lane.outcome.get("failover"):
            told.append("a failover to another key")
        if told:
            because = f" after {names(list(failures[place]))}" if failures[place] else ""
            yield f"{lane.id} needed {names(told)}{because}", min([*passes, *again], default=None)


def _forgotten(picture: Picture) -> Told:
    for place, event in enumerate(picture.events):
        if event.kind == "session" and event.word != "OPENED" and event.session is not None:
            turns = sum(turn.until == place for turn in picture.sessions[event.session].turns)
            name = picture.sessions[event.session].id
            yield f"{name} was {event.word} at {_at(picture, place)}, with {count_of(turns, 'turn')}", place
