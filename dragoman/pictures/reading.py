"""Makes a picture of the lines of a journal, whether they were kept in memory or come from a file.

Rules. A call at the face stands where it took effect; an ACK that committed something stands just before what it
committed. A request is a lane from the first that is told of it to its closing, or to its outcome where it takes no
part in any history. What the lines do not say is derived: a window ends by itself one `ack_window` after it began, and
a request waits for the earlier requests of its session that are open. A journal may begin in the middle: a request
whose beginning is missing gets its lane when it is first named.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import attrs

from ..actors.journal_reader import InvalidJournal
from .lanes import Lanes, shown_text
from .picture import Outcome, Picture
from .placing import placed
from .sentences import sentences
from .words import call_in_words, duration, names, reply_in_words

__all__ = ["picture_of"]

Line = Mapping[str, Any]
_DEFAULTS: dict[str, Any] = {"ack_window": 300.0, "max_turns": 10}
_BEGINS = {"register": "REGISTERED", "translate": "STARTED", "direct": "STARTED"}


def picture_of(
    lines: Iterable[Line],
    outcome: Outcome,
    *,
    settings: Mapping[str, Any] | None = None,
    left_out: int = 0,
    texts: bool = False,
    virtual: bool = False,
) -> Picture:
    """The picture of a run; `settings` are those of the runtime, unless the journal has a head that tells them.

    `texts`: show the texts that the lines hold, if they do; otherwise only their lengths. `virtual`: time began at 0,
    as in a simulation; otherwise it is told from the first line on. Raises `InvalidJournal` for lines that lack what
    their kind has.
    """
    reader = _Reader(_DEFAULTS | dict(settings or {}), texts=texts)
    lines = list(lines)
    try:
        for line, reply, step in placed(lines):
            reader.read(line, reply, step)
    except KeyError as error:
        raise InvalidJournal("the journal", f"a line lacks the key {error}") from None
    lanes = reader.lanes
    events = tuple(lanes.events)
    failures = tuple(
        failed if failed.step is None else attrs.evolve(failed, event=lanes.steps.get((failed.step, failed.line)))
        for failed in outcome.failures
    )
    outcome = attrs.evolve(outcome, failures=failures)
    begin_us = min((line["t"] for line in lines), default=0)
    picture = Picture(
        outcome=outcome,
        sessions=tuple(lanes.sessions),
        lanes=tuple(lanes.lanes),
        events=events,
        sentences=(),
        left_out=left_out + reader.lost,
        begin_us=0 if virtual else begin_us,
        texts=texts,
    )
    return attrs.evolve(picture, sentences=tuple(sentences(picture)))


class _Reader:
    """Reads the lines, one kind a method."""

    def __init__(self, settings: dict[str, Any], *, texts: bool) -> None:
        self.lanes = Lanes(settings, texts=texts)
        self.lost = 0
        self._texts = texts
        self._kinds: dict[str, Callable[[Line], None]] = {
            "head": self._read_head,
            "lost": self._read_lost,
            "step": self._read_step,
            "handle": self._read_handle,
            "settled": self._read_settled,
            "committed": self._read_committed,
            "closed": self.lanes.closed,
            "session": self._read_session,
            "execution": self._read_execution,
            "outcome": self._read_outcome,
            "made": self._read_made,
            "answer": self._read_answer,
            "dropped": self._read_dropped,
            "retry": self._read_retry,
            "fired": self._read_fired,
            "dispatched": self._read_dispatched,
        }

    def read(self, line: Line, reply: Line | None, step: Line | None) -> None:
        kind = line["k"]
        if kind in ("call", "acked"):
            self._read_face(line, reply, step)
        elif kind in self._kinds:
            self._kinds[kind](line)

    def _read_head(self, line: Line) -> None:
        self.lanes.settings |= {key: line["settings"][key] for key in _DEFAULTS if key in line.get("settings", {})}

    def _read_lost(self, line: Line) -> None:
        self.lost += int(line.get("notes", 0))

    def _read_step(self, line: Line) -> None:
        """A step that came to no call."""
        self.lanes.event(line, "step", f"step {line['step']}: {line['what']}", step=line)

    def _read_face(self, line: Line, reply: Line | None, step: Line | None) -> None:
        lanes, op = self.lanes, line["op"]
        answer = reply_in_words(line if line["k"] == "acked" else reply)
        if op in ("ack", "reject"):
            lanes.ack(line, answer, step)
            return
        request = line.get("request")
        if op in _BEGINS and reply is not None and answer == _BEGINS[op]:
            lane = lanes.begin(line)
            says = f"{request} {'is registered' if op == 'register' else 'starts'}: {_parents(lane.parents)}"
            event = lanes.event(line, op, says, word=answer, step=step, request=request)
            lanes.opened(lane, event)
            return
        says = f"{call_in_words(line)}{f': {answer}' if answer else ''}"
        lanes.event(line, "face", says, word=answer, step=step, request=request, session=line.get("session"))

    def _read_handle(self, line: Line) -> None:
        lanes, request, state = self.lanes, line["request"], line["state"]
        lane = lanes.lane(request)
        if state == "REGISTERED":
            if lanes.span(lane, "open") is None:
                event = lanes.event(line, "register", f"{request} is registered: {_parents(lane.parents)}", word=state)
                lanes.opened(lane, event)
            lanes.has_handle.add(id(lane))
        elif state == "ACTIVE":
            window_us = round(float(lanes.settings["ack_window"]) * 1e6)
            says = f"the ACK window of {request} begins: {duration(window_us)}"
            event = lanes.event(line, "window", says, word=state)
            lanes.start(lane, "window", event, until_us=line["t"] + window_us, says=says)
        elif state in ("COMPLETE", "COMPLETE_ACTIVE"):
            event = lanes.event(line, "complete", f"every parent of {request} has its ACK", word=state)
            lanes.end(lane, "window", event, state)
        elif state == "WAITING":
            earlier = lanes.earlier(lane)
            says = (
                f"{request} has something accepted and waits for {names([lanes.lanes[place].id for place in earlier])}"
            )
            event = lanes.event(line, "wait", says, word=state)
            lanes.start(lane, "waiting", event, lanes=earlier, says=says)
        elif state == "MAY_COMMIT":
            event = lanes.event(line, "turn", f"it is the turn of {request} to commit", word=state)
            lanes.end(lane, "waiting", event, state)
        elif state == "PASSING_OVER":
            lanes.event(line, "passing", f"{request} has waited too long: what holds it is passed over", word=state)

    def _read_settled(self, line: Line) -> None:
        for status, parents in line["acks"].items():
            for parent in parents:
                told = {**line, "op": "reject" if status == "REJECTED" else "ack", "parent": parent}
                self.lanes.ack(told, status, None, by_feature=True)

    def _read_committed(self, line: Line) -> None:
        request, failed = line["request"], set(line["failed"])
        for place, parent in enumerate(line["parents"]):
            if place in failed:
                self.lanes.commit_failed(line, request, parent)
            else:
                self.lanes.committed(line, request, parent)

    def _read_session(self, line: Line) -> None:
        state = str(line["state"])
        event = self.lanes.event(
            line, "session", f"session {line['session']}: {state}", word=state, session=line["session"]
        )
        if state != "OPENED":
            self.lanes.session_ended(line["session"], event)

    def _read_execution(self, line: Line) -> None:
        lanes, request, state = self.lanes, line["request"], line["state"]
        lane = lanes.lane(request)
        if state == "RUNNING":
            if lanes.span(lane, "open") is None:
                lanes.opened(lane, lanes.event(line, "register", f"{request} starts", word=state))
            return
        lanes.event(line, "execution", f"the execution of {request}: {state}", word=state)

    def _read_outcome(self, line: Line) -> None:
        lanes, request = self.lanes, line["request"]
        lane = lanes.lane(request)
        lane.outcome = {key: value for key, value in line.items() if key not in ("t", "k", "request")}
        word = str(line.get("error") or line["execution"])
        quality = f", {line['quality']}" if line.get("quality") else ""
        says = f"{request} ends as {line['execution']}{quality}"
        says += f": {line['error']}" if line.get("error") else ""
        event = lanes.event(line, "outcome", says, word=word)
        lanes.end_calls(lane, event, word)
        if id(lane) not in lanes.has_handle:
            lanes.end(lane, "open", event, word)

    def _read_made(self, line: Line) -> None:
        lanes, call = self.lanes, str(line["call"])
        request = call.rpartition("/")[0]
        recovery = line["purpose"] == "STRUCTURED_RECOVERY"
        what = "a recovery pass" if recovery else f"attempt {line['attempt']}"
        history = f", with {len(line['history'])} earlier turns" if line.get("history") else ""
        says = f"call {call} to {line['provider']}, key {line['key']}: {what} of {names(line['units'])}{history}"
        kind = "recovery" if recovery else "made"
        event = lanes.event(line, kind, says, request=request)
        lanes.call_made(lanes.lane(request), call, event, says)

    def _read_answer(self, line: Line) -> None:
        lanes, call = self.lanes, str(line["call"])
        request = call.rpartition("/")[0]
        lane = lanes.lane(request)
        error = line.get("error")
        if error is not None:
            word, says = str(error), f"call {call} fails: {error}"
        else:
            valid, invalid = line.get("valid", {}), line.get("invalid", {})
            for unit, pieces in valid.items():
                told = [pieces] if isinstance(pieces, str) else pieces
                lanes.translated(lane, unit, [shown_text(piece, texts=self._texts) for piece in told])
            word = "VIOLATED" if invalid or line.get("unsafe") else str(line.get("termination", ""))
            says = f"call {call} answers: {len(valid)} of {len(valid) + len(invalid)} valid"
            if invalid:
                says += f" ({names([f'{unit} {why}' for unit, why in invalid.items()])})"
        lanes.call_ended(call, lanes.event(line, "answer", says, word=word, request=request), word)

    def _read_dropped(self, line: Line) -> None:
        call = str(line["call"])
        request = call.rpartition("/")[0]
        event = self.lanes.event(line, "dropped", f"call {call} is dropped", word="DROPPED", request=request)
        self.lanes.call_ended(call, event, "DROPPED")

    def _read_retry(self, line: Line) -> None:
        lanes, request = self.lanes, line["request"]
        says = f"{request} tries batch {line['batch']} again in {duration(line['delay'])}"
        event = lanes.event(line, "retry", says, word="RETRY")
        lanes.start(
            lanes.lane(request), "pause", event, until_us=line["t"] + line["delay"], word=str(line["batch"]), says=says
        )

    def _read_fired(self, line: Line) -> None:
        lanes, request, timer = self.lanes, line["request"], str(line["timer"])
        event = lanes.event(line, "fired", f"the timer {timer} of {request} fires", word=timer)
        if timer.startswith("retry "):
            lanes.end_pause(lanes.lane(request), timer.removeprefix("retry "), event)

    def _read_dispatched(self, line: Line) -> None:
        request = line["request"]
        for word, parents in line["words"].items():
            for parent in parents:
                told = {**line, "parent": parent}
                self.lanes.event(told, "dispatched", f"{request}/{parent} goes to the feature: {word}", word=word)


def _parents(parents: Sequence[Any]) -> str:
    return f"{len(parents)} parent{'' if len(parents) == 1 else 's'}"
