"""The writer of the feature history: one thread, groups, and an orderly end (C13)."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from dragoman.actors import history_file
from dragoman.actors.history_file import HistoryFile, HistoryWriter
from dragoman.protocol.applied import AppliedParent
from dragoman.protocol.errors import ActorStopped

from ..kernel.probes import PATIENCE_S, Block, Countdown, dragoman_threads
from .entries import THREAD, Lock, bad_entry, entry, stored


class Results:
    """What the writer tells of its jobs, by their numbers, in the order of telling."""

    def __init__(self, missing: int) -> None:
        self.told: list[tuple[int, Any, Exception | None]] = []
        self._missing = Countdown(missing)

    def of(self, number: int) -> Callable[[Any, Exception | None], None]:
        def done(result: Any, error: Exception | None) -> None:
            self.told.append((number, result, error))
            self._missing.count()

        return done

    def wait(self) -> list[tuple[int, Any, Exception | None]]:
        assert self._missing.wait() == 0, "jobs were never answered"
        return self.told

    def failed(self) -> list[int]:
        return [number for number, _result, error in self.wait() if error is not None]


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "applied.db")


@pytest.fixture(autouse=True)
def _no_thread_is_left() -> Iterator[None]:
    yield
    for thread in dragoman_threads():
        thread.join(PATIENCE_S)
    assert dragoman_threads() == []


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that others have locked is given up at once."""
    monkeypatch.setattr(history_file, "_BUSY_TIMEOUT_S", 0.0)


@pytest.fixture
def writer(path: str) -> Iterator[HistoryWriter]:
    made = HistoryWriter(path)
    yield made
    assert made.stop(PATIENCE_S)


@pytest.fixture
def block() -> Iterator[Block]:
    made = Block()
    yield made
    made.release.set()


@pytest.fixture
def appends(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many entries each transaction tried to write."""
    counts: list[int] = []
    append = HistoryFile.append

    def count(file: HistoryFile, entries: Iterable[AppliedParent]) -> None:
        group = list(entries)
        counts.append(len(group))
        append(file, group)

    monkeypatch.setattr(HistoryFile, "append", count)
    return counts


def hold(writer: HistoryWriter, block: Block) -> None:
    """Keep the thread of the writer until the block is let go, so that what comes meanwhile waits together."""
    writer.ask(block, lambda _result, _error: None)
    assert block.entered.wait(PATIENCE_S)


def test_what_waits_is_written_in_one_transaction(
    path: str, writer: HistoryWriter, block: Block, appends: list[int]
) -> None:
    results = Results(50)
    hold(writer, block)
    for number in range(50):
        writer.append((entry(number), entry(number)), results.of(number))
    block.release.set()
    assert results.wait() == [(number, None, None) for number in range(50)]
    assert appends == [100]
    assert stored(path) == tuple(entry(number // 2) for number in range(100))


def test_a_question_sees_what_came_before_it_and_no_more(writer: HistoryWriter, block: Block) -> None:
    results = Results(5)
    hold(writer, block)
    writer.append((entry(0),), results.of(0))
    writer.ask(HistoryFile.read, results.of(1))
    writer.append((entry(2),), results.of(2))
    writer.append((entry(3),), results.of(3))
    writer.ask(HistoryFile.read, results.of(4))
    block.release.set()
    assert results.wait() == [
        (0, None, None),
        (1, (entry(0),), None),
        (2, None, None),
        (3, None, None),
        (4, (entry(0), entry(2), entry(3)), None),
    ]


def test_a_bad_entry_fails_alone(path: str, writer: HistoryWriter, block: Block, appends: list[int]) -> None:
    results = Results(4)
    hold(writer, block)
    writer.append((entry(0),), results.of(0))
    writer.append((entry(1), bad_entry(1)), results.of(1))
    writer.append((entry(2),), results.of(2))
    writer.append((entry(3),), results.of(3))
    block.release.set()
    assert results.failed() == [1]
    assert [number for number, _result, _error in results.told] == [0, 1, 2, 3]
    assert stored(path) == (entry(0), entry(2), entry(3))
    assert appends == [5, 1, 2, 1, 1]


@pytest.mark.usefixtures("impatient")
def test_a_file_that_others_lock_is_waited_for_once_a_group(
    path: str, writer: HistoryWriter, block: Block, appends: list[int]
) -> None:
    results = Results(3)
    hold(writer, block)
    lock = Lock(path)
    for number in range(3):
        writer.append((entry(number),), results.of(number))
    block.release.set()
    assert results.failed() == [0, 1, 2]
    assert appends == [3]
    lock.release()
    after = Results(1)
    writer.append((entry(3),), after.of(3))
    assert after.failed() == []
    assert stored(path) == (entry(3),)


def test_a_question_that_fails_fails_alone(writer: HistoryWriter) -> None:
    results = Results(2)
    writer.ask(lambda file: file.no_such_thing, results.of(0))  # type: ignore[attr-defined]
    writer.append((entry(1),), results.of(1))
    assert results.failed() == [0]


def test_a_callback_that_raises_ends_nothing(writer: HistoryWriter) -> None:
    def fail(_result: Any, _error: Exception | None) -> None:
        raise ValueError

    results = Results(1)
    writer.append((entry(0),), fail)
    writer.append((entry(1),), results.of(1))
    assert results.failed() == []


def test_no_thread_starts_before_the_first_job(path: str, writer: HistoryWriter) -> None:
    assert dragoman_threads() == []
    assert not Path(path).exists()
    results = Results(1)
    writer.append((entry(1),), results.of(1))
    assert results.failed() == []
    assert [(thread.name, thread.daemon) for thread in dragoman_threads()] == [(THREAD, True)]


def test_a_thread_that_cannot_start_fails_the_job(writer: HistoryWriter, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    results = Results(2)
    with monkeypatch.context() as no_threads:
        no_threads.setattr(threading.Thread, "start", fail)
        writer.append((entry(1),), results.of(1))
    writer.append((entry(2),), results.of(2))
    assert results.failed() == [1]


def test_jobs_fail_while_the_file_cannot_be_opened(tmp_path: Path) -> None:
    path = tmp_path / "later" / "applied.db"
    writer = HistoryWriter(str(path))
    before, after = Results(1), Results(1)
    writer.append((entry(1),), before.of(1))
    assert before.failed() == [1]
    path.parent.mkdir()
    writer.append((entry(2),), after.of(2))
    assert after.failed() == []
    assert writer.stop(PATIENCE_S)
    assert stored(str(path)) == (entry(2),)


def test_a_path_means_what_it_meant_when_the_writer_was_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    writer = HistoryWriter("applied.db")
    monkeypatch.chdir(tmp_path / "elsewhere")
    results = Results(1)
    writer.append((entry(1),), results.of(1))
    assert results.failed() == []
    assert writer.stop(PATIENCE_S)
    assert stored(str(tmp_path / "applied.db")) == (entry(1),)


def test_ending_does_what_waits_then_closes_the_file_then_says_so(
    path: str, writer: HistoryWriter, block: Block
) -> None:
    results, over = Results(4), Countdown(2)
    writer.append((entry(3),), results.of(3))
    hold(writer, block)
    for number in range(3):
        writer.append((entry(number),), results.of(number))

    def ended() -> None:
        assert len(results.told) == 4
        assert not Path(f"{path}-wal").exists()
        over.count()

    assert Path(f"{path}-wal").exists()
    writer.end(ended)
    writer.end(ended)
    assert not writer.stop(0.0), "it does not wait beyond its time"
    block.release.set()
    assert over.wait() == 0
    assert results.failed() == []
    assert stored(path) == (entry(3), entry(0), entry(1), entry(2))


@pytest.mark.parametrize("threaded", [True, False])
@pytest.mark.parametrize("used", [True, False])
def test_a_writer_that_has_ended_says_so_to_whoever_comes(path: str, threaded: bool, used: bool) -> None:
    writer = HistoryWriter(path, threaded=threaded)
    before, after, over = Results(used), Results(2), Countdown(1)
    if used:
        writer.append((entry(0),), before.of(0))
    assert writer.stop(PATIENCE_S)
    writer.append((entry(1),), after.of(1))
    writer.ask(HistoryFile.read, after.of(2))
    assert [type(error) for _number, _result, error in after.told] == [ActorStopped, ActorStopped]
    writer.end(over.count)
    assert over.wait(0.0) == 0
    assert writer.stop(0.0)
    assert not Path(f"{path}-wal").exists()
