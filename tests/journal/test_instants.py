"""Instants for what a journal tells: real timers are late, virtual ones are not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import attrs
import yaml

from dragoman import Settings
from dragoman.actors.journal_reader import Journal, Line
from dragoman.scenarios.journal_scenario import retell

from .kept import replayed

WINDOW_US = 1_000_000


class Told:
    """Lines of a journal, written by hand."""

    def __init__(self) -> None:
        self.lines: list[Line] = []
        self._number = 0

    def line(self, t: int, kind: str, **fields: Any) -> None:
        self.lines.append({"t": t, "k": kind, **fields})

    def call(self, t: int, op: str, reply: dict[str, Any], *, begins: int | None = None, **fields: Any) -> int:
        """A call that takes effect and is answered at once."""
        number = self.begin(t if begins is None else begins, op, **fields)
        self.line(t, "took", n=number)
        self.line(t, "reply", n=number, **reply)
        return number

    def begin(self, t: int, op: str, **fields: Any) -> int:
        self._number += 1
        self.line(t, "call", n=self._number, op=op, **fields)
        return self._number

    def register(self, t: int, request: str, session: str, parents: int = 1) -> None:
        number = self.begin(
            t,
            "register",
            request=request,
            session=session,
            provider="openai",
            mode="select-element",
            purpose="PRIMARY_TRANSLATION",
            parents={f"p{place}": f"5:5:{request} {place}" for place in range(1, parents + 1)},
        )
        self.line(t, "took", n=number)
        self.line(t, "session", session=session, state="OPENED")
        self.line(t, "handle", request=request, session=session, state="REGISTERED")
        self.line(t, "reply", n=number, status="REGISTERED")

    def activate(self, t: int, request: str) -> None:
        number = self.begin(t, "activate", request=request)
        self.line(t, "took", n=number)
        self.line(t, "handle", request=request, state="ACTIVE")
        self.line(t, "reply", n=number, status="ACTIVATED")

    def ack(self, t: int, request: str, parent: str, status: str) -> None:
        fields = {"request": request, "parent": parent, "result": f"3:3:{request} {parent}"}
        self.line(t, "acked", op="ack", status=status, **fields)

    def expire(self, t: int, request: str, session: str, states: dict[str, str]) -> None:
        self.line(t, "handle", request=request, state="CLOSED")
        told = {word: [parent for parent, state in states.items() if state == word] for word in states.values()}
        self.line(t, "closed", request=request, session=session, cause="EXPIRED", states=told)

    def journal(self) -> Journal:
        self.line(self.lines[-1]["t"], "close")
        head = {"settings": attrs.asdict(Settings(ack_window=WINDOW_US / 1e6)), "providers": {}}
        return Journal(head=head, lines=tuple(self.lines), places=("here",) * len(self.lines), whole=True, ended=True)


def test_what_came_before_a_late_timer_stands_before_its_instant(tmp_path: Path) -> None:
    told = Told()
    told.register(0, "r1", "s1", parents=2)
    told.activate(0, "r1")
    told.ack(WINDOW_US + 700, "r1", "p2", "ACCEPTED")  # the timer was due, and its thread came late
    told.expire(WINDOW_US + 900, "r1", "s1", {"p1": "DISCARDED", "p2": "ACCEPTED"})
    told.ack(WINDOW_US + 950, "r1", "p1", "STALE")
    retold = retell(told.journal(), "late")
    assert replayed(retold, tmp_path).failures == ()
    instants = [moment["at"] for moment in yaml.safe_load(retold.text)["timeline"]]
    assert instants[2:4] == ["0.999998s", "1.00095s"]
    assert retold.misplaced == 0


def test_timers_of_two_sessions_may_have_fired_in_another_order(tmp_path: Path) -> None:
    told = Told()
    told.register(0, "r1", "s1", parents=2)
    told.register(0, "r2", "s2", parents=2)
    told.activate(10, "r1")
    told.activate(20, "r2")
    told.expire(WINDOW_US + 30, "r2", "s2", {"p1": "DISCARDED", "p2": "DISCARDED"})
    told.ack(WINDOW_US + 40, "r1", "p2", "ACCEPTED")  # the handle of r1 was busy as its timer fired
    told.expire(WINDOW_US + 50, "r1", "s1", {"p1": "DISCARDED", "p2": "ACCEPTED"})
    retold = retell(told.journal(), "swapped")
    assert replayed(retold, tmp_path).failures == ()
    assert retold.misplaced == 0


def test_what_cannot_be_placed_is_counted() -> None:
    told = Told()
    told.register(0, "r1", "s1")
    told.register(0, "r2", "s1")
    told.activate(10, "r1")
    told.activate(20, "r2")
    told.expire(WINDOW_US + 30, "r2", "s1", {"p1": "DISCARDED"})
    told.expire(WINDOW_US + 40, "r1", "s1", {"p1": "DISCARDED"})
    assert retell(told.journal(), "within one session").misplaced == 1


def test_calls_that_were_under_way_at_the_same_time_stand_together() -> None:
    told = Told()
    told.register(0, "r1", "s1", parents=3)
    first = told.begin(10, "reject", request="r1", parent="p2")
    second = told.begin(11, "reject", request="r1", parent="p1")
    told.line(12, "took", n=second)
    told.line(13, "took", n=first)
    told.line(14, "reply", n=first, status="REJECTED", committed=[])
    told.line(15, "reply", n=second, status="REJECTED", committed=[])
    told.call(16, "reject", {"status": "REJECTED", "committed": []}, request="r1", parent="p3")
    retold = retell(told.journal(), "together")
    timeline = yaml.safe_load(retold.text)["timeline"]
    assert [step["reject"]["parent"] for step in timeline[1]["together"]] == ["p1", "p2"]
    assert timeline[2]["reject"]["parent"] == "p3"
    assert retold.together == 2


def test_a_call_that_nobody_answered_has_no_expectation() -> None:
    told = Told()
    told.register(0, "r1", "s1")
    number = told.begin(10, "reject", request="r1", parent="p1")
    told.line(11, "took", n=number)
    never = told.begin(12, "reject", request="r1", parent="p1")
    assert never
    timeline = yaml.safe_load(retell(told.journal(), "cut").text)["timeline"]
    assert [step for step in timeline if "reject" in step] == [
        {"at": "0.000011s", "reject": {"request": "r1", "parent": "p1"}}
    ]
