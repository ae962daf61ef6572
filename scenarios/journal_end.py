"""What was true at the end of a journal: the `then` of the timeline that is made from it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..actors.journal_reader import Line
from ..protocol.settings import Settings, microseconds
from .journal_story import Story

__all__ = ["End"]

_SURELY = 0.9
"""Part of a life time within which something is surely still there, whatever virtual time does to the instants."""
_ACKED = {"ACCEPTED": "ACCEPTED", "REJECTED": "REJECTED"}


class End:
    """Follows the states of handles, sessions and executions to the last line."""

    def __init__(self, lines: Sequence[Line], settings: Settings) -> None:
        self._settings = settings
        self._end_us = lines[-1]["t"] if lines else 0
        self._states: dict[str, dict[str, str]] = {}
        self._causes: dict[str, tuple[str, int]] = {}
        self._ledger: dict[str, None] = {}
        self._called: dict[int, Line] = {}
        self._named: dict[str, list[str]] = {}
        self._sessions: dict[str, list[tuple[str, str]]] = {}
        self._outcomes: dict[str, dict[str, Any]] = {}
        self._made: dict[str, list[Line]] = defaultdict(list)
        take: dict[str, Callable[[Line], None]] = {
            "call": self._call,
            "reply": self._reply,
            "acked": lambda line: self._acked(line, line["status"]),
            "settled": self._settled,
            "handle": self._handle,
            "closed": self._closed,
            "session": self._session,
            "committed": self._committed,
            "execution": self._execution,
            "outcome": self._outcome,
            "made": lambda line: self._made[line["call"].rpartition("/")[0]].append(line),
        }
        for line in lines:
            if line["k"] == "close":
                self._end_us = line["t"]
                break
            if line["k"] in take:
                take[line["k"]](line)

    def then(self, story: Story, keeps: Callable[[str], bool], *, everything: bool) -> dict[str, Any]:
        """The entries of `then`, of the requests and sessions that `keeps` says; `everything` if that is all."""
        then: dict[str, Any] = {}
        histories = {
            session: story.turns(turns) for session, turns in self._sessions.items() if keeps(f"session {session}")
        }
        then["history"] = {session: turns for session, turns in histories.items() if turns is not None}
        remembered = {request for request in self._states if keeps(f"request {request}") and self._is_known(request)}
        then["handles"] = {request: self._states[request] for request in self._states if request in remembered}
        then["closed"] = {
            request: self._causes[request][0] if request in self._causes else None
            for request in self._states
            if request in remembered
        }
        then["outcomes"] = {
            request: outcome for request, outcome in self._outcomes.items() if keeps(f"request {request}")
        }
        calls = {request: self._calls(made, story) for request, made in self._made.items()}
        then["calls"] = {request: made for request, made in calls.items() if keeps(f"request {request}")}
        if everything:
            then["open_handles"] = len(self._states) - len(self._causes)
        return {key: entry for key, entry in then.items() if entry != {}}

    def _is_known(self, request: str) -> bool:
        """Whether the runtime surely still knows what became of a request."""
        if request not in self._causes:
            return True
        age_us = self._end_us - self._causes[request][1]
        return age_us <= _SURELY * microseconds(self._settings.session_ttl)

    def _enter(self, request: str) -> None:
        """A request is over, or its execution is: it is the newest that is remembered, and the oldest may go."""
        self._ledger.pop(request, None)
        self._ledger[request] = None
        while len(self._ledger) > self._settings.ledger_entries:
            forgotten = next(iter(self._ledger))
            del self._ledger[forgotten]
            if forgotten in self._causes:
                del self._causes[forgotten], self._states[forgotten]

    def _calls(self, made: Sequence[Line], story: Story) -> list[dict[str, Any]]:
        rows = []
        for line in made:
            row = {key: line[key] for key in ("purpose", "provider", "key", "units")}
            history = story.turns(line["history"], self._settings.prompt_chars)
            rows.append(row if history is None else {**row, "history": history})
        return rows

    def _call(self, line: Line) -> None:
        self._called[line["n"]] = line
        if line["op"] in ("register", "translate") and "request" in line:
            self._named[line["request"]] = list(line["parents"])

    def _reply(self, line: Line) -> None:
        called = self._called.pop(line["n"], None)
        if called is None:
            return
        if called["op"] in ("register", "translate") and line.get("status") in ("REGISTERED", "STARTED"):
            states = self._states.get(called["request"])
            if states is not None and called["request"] not in self._causes:
                # Of two registrations of one id the one that was let in tells the parents.
                self._states[called["request"]] = {
                    parent: states.get(parent, "PENDING") for parent in called["parents"]
                }
        elif called["op"] in ("ack", "reject"):
            self._acked(called, line.get("status"))

    def _acked(self, line: Line, status: str | None) -> None:
        states = self._states.get(line["request"])
        if states is None or line["request"] in self._causes or status not in _ACKED:
            return
        if states.get(line["parent"]) == "PENDING":
            states[line["parent"]] = _ACKED[status]

    def _settled(self, line: Line) -> None:
        for status, parents in line["acks"].items():
            for parent in parents:
                self._acked({"request": line["request"], "parent": parent}, status)

    def _handle(self, line: Line) -> None:
        if line["state"] == "REGISTERED":
            request = line["request"]
            self._causes.pop(request, None)
            self._outcomes.pop(request, None)
            self._states.pop(request, None)
            self._states[request] = dict.fromkeys(self._named.get(request, ()), "PENDING")

    def _closed(self, line: Line) -> None:
        request = line["request"]
        states = {parent: state for state, parents in line["states"].items() for parent in parents}
        # In the order of the parents, as far as it is known.
        self._states[request] = {parent: states[parent] for parent in (*self._states.get(request, {}), *states)}
        self._causes[request] = line["cause"], line["t"]
        self._enter(request)

    def _session(self, line: Line) -> None:
        self._sessions.pop(line["session"], None)
        if line["state"] == "OPENED":
            self._sessions[line["session"]] = []

    def _committed(self, line: Line) -> None:
        states: Mapping[str, str] = self._states.get(line["request"], {})
        failed = set(line["failed"])
        for place, parent in enumerate(line["parents"]):
            if parent in states and line["request"] not in self._causes:
                self._states[line["request"]][parent] = "COMMIT_FAILED" if place in failed else "COMMITTED"
            if place not in failed and line["session"] in self._sessions:
                self._sessions[line["session"]].append((line["request"], parent))
        turns = self._sessions.get(line["session"])
        if turns is not None:
            del turns[: max(0, len(turns) - self._settings.max_turns)]

    def _execution(self, line: Line) -> None:
        if line["state"] == "RUNNING":
            self._made.pop(line["request"], None)
            self._outcomes.pop(line["request"], None)

    def _outcome(self, line: Line) -> None:
        told = {key: line.get(key) for key in ("execution", "quality", "error", "retries", "failover")}
        self._outcomes[line["request"]] = told
        self._enter(line["request"])
