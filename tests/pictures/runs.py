"""Runs to make pictures of."""

from __future__ import annotations

from pathlib import Path

from dragoman.pictures import Capture, Picture
from dragoman.picturing import scenario_picture
from dragoman.scenarios import SHIPPED, replay_file

LATE = """
scenario: a late ACK, and a wait for it
about: r2 has all that it needs and waits for r1, of which one ACK comes after its window has ended.
settings: {ack_window: 5s}
timeline:
  - {at: 0s, register: {request: r1, session: s1, parents: {p1: Hello, p2: World, p3: How are you?}}}
  - {at: 0s, register: {request: r2, session: s1, parents: {p1: Moon}}}
  - {at: 200ms, activate: r1}
  - {at: 300ms, activate: r2}
  - {at: 1s, ack: {request: r1, parent: p1, result: Hallo}, expect: {committed: [p1]}}
  - {at: 1s, ack: {request: r2, parent: p1, result: Mond}, expect: {committed: []}}
  - {at: 2s, reject: {request: r1, parent: p2}}
  - {at: 6200ms, ack: {request: r1, parent: p3, result: Wie geht es dir?}, expect: EXPECTED}
  - {at: 2h, read_history: {session: s1}, expect: []}
"""
"""A scenario in which r2 waits 4.2 s, an ACK comes 1 s late, and two hours pass at the end."""

LONGEST = max((SHIPPED / "long").glob("*.yaml"), key=lambda path: path.stat().st_size)


def late(folder: Path, expected: str = "STALE") -> Picture:
    """The picture of `LATE`, whose late ACK is expected to be answered so."""
    path = folder / "late.yaml"
    path.write_text(LATE.replace("EXPECTED", expected), encoding="utf-8")
    return drawn(path)


def drawn(path: Path) -> Picture:
    """The picture of a scenario file."""
    capture = Capture(texts=True)
    result = replay_file(path, journal=capture)
    assert result.invalid is None
    assert result.source is not None
    return scenario_picture(capture, result.source, result)
