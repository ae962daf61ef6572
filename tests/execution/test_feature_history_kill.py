"""The feature history under `kill -9`: nothing that was acknowledged is lost, and the file stays whole (C13).

Run as a program, this module is the writer that gets killed: it says `begin`, then the number of each entry once that
is acknowledged. The entries are large enough that kills also strike while SQLite moves its log into the file.
"""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dragoman.actors.feature_history import FeatureHistory
from dragoman.actors.futures import Future
from dragoman.actors.history_file import HistoryFile
from dragoman.actors.threads import ThreadDispatcher
from dragoman.protocol.applied import AppliedParent, RecordApplied, Recorded

PATIENCE_S = 20.0
IN_FLIGHT = 8
ENTRIES = 3000

pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this platform has no SIGKILL")


def entry(life: str, number: int) -> AppliedParent:
    return AppliedParent(
        document=life,
        parent_id=str(number),
        source=f"source {number}",
        translated=f"{number} " * (6000 if number % 3 == 0 else 1),
        source_language="en",
        target_language="de",
        provider="openai",
    )


def say(text: object) -> None:
    os.write(1, f"{text}\n".encode())


def sayer(number: int) -> Callable[[Future[Recorded]], None]:
    def say_it(future: Future[Recorded]) -> None:
        if not future.get().failed:
            say(number)

    return say_it


def write_until_killed(path: str, life: str) -> None:
    """Bounded, for the case that nobody is left to kill it."""
    say("begin")
    dispatcher = ThreadDispatcher()
    history: Any = FeatureHistory.start(dispatcher, path)
    waiting: deque[Future[Recorded]] = deque()
    for number in range(ENTRIES):
        future = history.ask(RecordApplied((entry(life, number),)), block=False)
        future.add_done_callback(sayer(number))
        waiting.append(future)
        if len(waiting) == IN_FLIGHT:
            waiting.popleft().get(PATIENCE_S)
    sys.stdin.read()


def acknowledged_before_the_kill(path: Path, life: str, lines: int) -> list[int]:
    """Start a writer and kill it when it has written that many lines; the entries that it said were acknowledged."""
    command = [sys.executable, __file__, str(path), life]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as writer:
        assert writer.stdout is not None
        said = [writer.stdout.readline() for _ in range(lines)]
        writer.send_signal(signal.SIGKILL)
        said += writer.stdout.readlines()
        assert writer.wait(PATIENCE_S) == -signal.SIGKILL
    assert said[0] == b"begin\n"
    return [int(line) for line in said[1:]]


def entries_of(path: Path) -> tuple[AppliedParent, ...]:
    file = HistoryFile(str(path))
    entries = file.read()
    file.close()
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    connection.close()
    return entries


def check(entries: tuple[AppliedParent, ...], life: str, acknowledged: list[int]) -> None:
    """All that was acknowledged is there, and nothing but the first of what was sent, in order."""
    assert entries == tuple(entry(life, number) for number in range(len(entries)))
    assert set(acknowledged) <= set(range(len(entries)))
    assert len(entries) <= len(acknowledged) + IN_FLIGHT


@pytest.mark.parametrize("lines", [1, 2, 3, 10, 60, 250, 900])
def test_what_was_acknowledged_outlives_a_kill(tmp_path: Path, lines: int) -> None:
    path = tmp_path / "applied.db"
    acknowledged = acknowledged_before_the_kill(path, "only", lines)
    assert len(acknowledged) >= lines - 1
    check(entries_of(path), "only", acknowledged)


def test_one_file_outlives_many_kills(tmp_path: Path) -> None:
    path = tmp_path / "applied.db"
    before: tuple[AppliedParent, ...] = ()
    for life in range(8):
        # Nobody opens the file between two lives: the next one mends it.
        acknowledged = acknowledged_before_the_kill(path, str(life), 1 + life * 20)
        copy = tmp_path / f"copy-{life}"
        copy.mkdir()
        for part in tmp_path.glob("applied.db*"):
            (copy / part.name).write_bytes(part.read_bytes())
        entries = entries_of(copy / path.name)
        assert entries[: len(before)] == before
        check(entries[len(before) :], str(life), acknowledged)
        before = entries


if __name__ == "__main__":
    write_until_killed(*sys.argv[1:])
