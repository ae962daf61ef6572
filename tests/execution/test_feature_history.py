"""The actor of the feature history: answers that are true, under real and under virtual time (C13)."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pykka
import pytest
from loguru import logger

from dragoman.actors.dispatcher import Dispatcher
from dragoman.actors.feature_history import FeatureHistory, FeatureHistorySnapshot
from dragoman.actors.futures import Future
from dragoman.actors.history_file import HistoryFile
from dragoman.actors.simulation import SimulatedDispatcher
from dragoman.actors.threads import ThreadDispatcher
from dragoman.protocol.applied import AppliedParent, FindApplied, ReadApplied, RecordApplied, Recorded
from dragoman.protocol.errors import ActorFailed, ActorStopped, InvalidSetting
from dragoman.protocol.messages import Inspect

from ..kernel.probes import PATIENCE_S, Block, dragoman_threads, end, in_threads, mailbox_of
from .entries import SOURCE, THREAD, TRANSLATED, bad_entry, entry, stored


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
def block() -> Iterator[Block]:
    made = Block()
    yield made
    made.release.set()


@pytest.fixture
def threaded() -> Iterator[ThreadDispatcher]:
    made = ThreadDispatcher()
    yield made
    end(made)


@pytest.fixture
def simulated() -> Iterator[SimulatedDispatcher]:
    made = SimulatedDispatcher()
    yield made
    end(made)


@pytest.fixture(params=["threaded", "simulated"])
def dispatcher(request: pytest.FixtureRequest) -> Dispatcher:
    made: Dispatcher = request.getfixturevalue(request.param)
    return made


@pytest.fixture
def lines() -> Iterator[list[str]]:
    """Every line that is logged, with all that a sink may show."""
    heard: list[str] = []
    logger.enable("dragoman")
    sinks = [
        logger.add(lambda line: heard.append(str(line)), level=0, backtrace=True, diagnose=True),
        logger.add(lambda line: heard.append(str(line)), level=0, serialize=True),
    ]
    yield heard
    for sink in sinks:
        logger.remove(sink)
    logger.disable("dragoman")


def later(history: pykka.ActorRef[Any], message: object) -> Any:
    """The future of an answer."""
    return history.ask(message, block=False)


def ask(history: pykka.ActorRef[Any], message: object) -> Any:
    return later(history, message).get(PATIENCE_S)


def record(history: pykka.ActorRef[Any], *entries: AppliedParent) -> Recorded:
    recorded: Recorded = ask(history, RecordApplied(entries))
    return recorded


def stop(history: pykka.ActorRef[Any]) -> None:
    assert history.stop(timeout=PATIENCE_S)


def test_what_is_recorded_is_read_and_found(path: str, dispatcher: Dispatcher) -> None:
    history = FeatureHistory.start(dispatcher, path)
    assert record(history, entry(1), entry(2)) == Recorded(failed=False)
    assert record(history, entry(1, translated="newer")) == Recorded(failed=False)
    assert ask(history, ReadApplied()) == (entry(1), entry(2), entry(1, translated="newer"))
    found = ask(history, FindApplied(entry(1).key))
    assert found.translated == "newer"
    assert ask(history, FindApplied(entry(3).key)) is None
    assert len(stored(path)) == 3
    stop(history)
    assert len(stored(path)) == 3


def test_without_a_path_nothing_is_kept_and_every_record_succeeds(dispatcher: Dispatcher) -> None:
    history = FeatureHistory.start(dispatcher, None)
    assert record(history, entry(1)) == Recorded(failed=False)
    assert ask(history, ReadApplied()) == ()
    assert ask(history, FindApplied(entry(1).key)) is None
    assert ask(history, Inspect()) == FeatureHistorySnapshot(enabled=False, entries_written=0, failed_writes=0)
    assert THREAD not in [thread.name for thread in dragoman_threads()]
    stop(history)


def test_a_record_of_nothing_succeeds(path: str, dispatcher: Dispatcher) -> None:
    history = FeatureHistory.start(dispatcher, path)
    assert record(history) == Recorded(failed=False)
    stop(history)


def test_a_failed_write_is_counted_logged_and_answered_as_such(
    path: str, dispatcher: Dispatcher, lines: list[str]
) -> None:
    history = FeatureHistory.start(dispatcher, path)
    assert record(history, entry(1), bad_entry(2)) == Recorded(failed=True)
    assert record(history, entry(3), entry(4)) == Recorded(failed=False)
    assert ask(history, Inspect()) == FeatureHistorySnapshot(enabled=True, entries_written=2, failed_writes=1)
    said = "the feature history could not be written: AttributeError in history_file.py, line "
    assert len([line for line in lines if said in line]) == 2, "once in each sink"
    assert dispatcher.counts().failed == 0
    stop(history)
    assert stored(path) == (entry(3), entry(4))


def test_a_read_that_fails_is_a_typed_error(
    path: str, dispatcher: Dispatcher, lines: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_file: HistoryFile, *_key: object) -> None:
        raise ValueError(SOURCE)

    monkeypatch.setattr(HistoryFile, "read", fail)
    monkeypatch.setattr(HistoryFile, "find", fail)
    history = FeatureHistory.start(dispatcher, path)
    for question in (ReadApplied(), FindApplied(entry(1).key)):
        with pytest.raises(ActorFailed) as caught:
            ask(history, question)
        assert caught.value.error_type == "ValueError"
        assert SOURCE not in str(caught.value)
    assert record(history, entry(1)) == Recorded(failed=False)
    assert dispatcher.counts().failed == 2
    assert lines
    assert not [line for line in lines if SOURCE in line]
    stop(history)


def test_no_text_is_logged(
    path: str, dispatcher: Dispatcher, lines: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_file: HistoryFile, entries: list[AppliedParent]) -> None:
        raise sqlite3.OperationalError(f"{entries[0].source} {entries[0].translated}")

    monkeypatch.setattr(HistoryFile, "append", fail)
    history = FeatureHistory.start(dispatcher, path)
    assert record(history, entry(1)) == Recorded(failed=True)
    stop(history)
    mailbox_of(history).tell(RecordApplied((entry(1),)))
    assert "OperationalError" in "".join(lines)
    assert "RecordApplied" in "".join(lines)
    assert not [line for line in lines if SOURCE in line or TRANSLATED in line]


def test_no_message_shows_text_to_an_observer(path: str, dispatcher: Dispatcher) -> None:
    seen: list[str] = []
    dispatcher.observer = lambda kind, actor, what: seen.append(f"{kind} {actor} {what!r}")
    history = FeatureHistory.start(dispatcher, path)
    record(history, entry(1), bad_entry(2))
    record(history, entry(1))
    ask(history, ReadApplied())
    ask(history, FindApplied(entry(1).key))
    stop(history)
    assert len(seen) >= 5
    assert not [line for line in seen if SOURCE in line or TRANSLATED in line]


def test_a_file_that_cannot_be_used_is_refused_at_once(path: str, dispatcher: Dispatcher) -> None:
    Path(path).write_text("something else")
    with pytest.raises(InvalidSetting) as caught:
        FeatureHistory.start(dispatcher, path)
    assert caught.value.field == "feature_history"


def test_a_lazy_one_makes_its_file_with_the_first_entry(path: str, dispatcher: Dispatcher) -> None:
    history = FeatureHistory.start(dispatcher, path, lazy=True)
    ask(history, Inspect())
    assert not Path(path).exists()
    assert record(history, entry(1)) == Recorded(failed=False)
    assert Path(path).exists()
    stop(history)


def test_a_lazy_one_fails_the_writes_to_a_file_that_cannot_be_used(path: str, dispatcher: Dispatcher) -> None:
    Path(path).write_text("something else")
    history = FeatureHistory.start(dispatcher, path, lazy=True)
    assert record(history, entry(1)) == Recorded(failed=True)
    stop(history)
    assert Path(path).read_text() == "something else"


def test_whoever_asks_after_the_stop_is_told_so(path: str, dispatcher: Dispatcher) -> None:
    history = FeatureHistory.start(dispatcher, path)
    record(history, entry(1))
    mailbox = mailbox_of(history)
    stop(history)
    for message in (RecordApplied((entry(2),)), ReadApplied(), FindApplied(entry(1).key)):
        future: Future[Any] = Future(dispatcher)
        mailbox.ask(message, future)
        with pytest.raises(ActorStopped):
            future.get(PATIENCE_S)
    assert stored(path) == (entry(1),)


def test_two_runtimes_may_write_to_one_file(path: str) -> None:
    dispatchers = [ThreadDispatcher(), ThreadDispatcher()]
    histories = [FeatureHistory.start(dispatcher, path) for dispatcher in dispatchers]

    def write(place: int) -> None:
        for number in range(40):
            made = entry(number, document=f"page {place}")
            assert record(histories[place], made) == Recorded(failed=False)

    in_threads(lambda: write(0), lambda: write(1))
    for history, dispatcher in zip(histories, dispatchers, strict=True):
        stop(history)
        end(dispatcher)
    entries = stored(path)
    assert len(entries) == 80
    for place in range(2):
        ours = [made.parent_id for made in entries if made.document == f"page {place}"]
        assert ours == [f"p{number}" for number in range(40)]


def test_a_record_is_durable_in_its_handler(path: str, simulated: SimulatedDispatcher) -> None:
    history = FeatureHistory.start(simulated, path)
    recorded = later(history, RecordApplied((entry(1),)))
    read = later(history, ReadApplied())
    simulated.run()
    assert recorded.get(0) == Recorded(failed=False)
    assert read.get(0) == (entry(1),)
    assert dragoman_threads() == []
    assert simulated.counts().sent == 2, "no message of its own, which a schedule would have to place"
    stop(history)


def test_another_thread_may_stop_it(path: str, simulated: SimulatedDispatcher) -> None:
    history = FeatureHistory.start(simulated, path)
    record(history, entry(1))
    in_threads(lambda: stop(history))
    assert not Path(f"{path}-wal").exists()


@pytest.fixture
def blocked(monkeypatch: pytest.MonkeyPatch, block: Block) -> Block:
    """A file whose first write takes until the block is let go."""
    append = HistoryFile.append

    def wait_once(file: HistoryFile, entries: Iterable[AppliedParent]) -> None:
        if not block.entered.is_set():
            block()
        append(file, entries)

    monkeypatch.setattr(HistoryFile, "append", wait_once)
    return block


def test_what_was_recorded_before_the_stop_is_written_and_answered(
    path: str, threaded: ThreadDispatcher, blocked: Block
) -> None:
    history = FeatureHistory.start(threaded, path)
    before = [later(history, RecordApplied((entry(number),))) for number in range(20)]
    assert blocked.entered.wait(PATIENCE_S)
    stops: list[Any] = [history.stop(block=False) for _ in range(2)]
    after = [later(history, message) for message in (RecordApplied((entry(20),)), ReadApplied())]
    for future in after:
        with pytest.raises(ActorStopped):
            future.get(PATIENCE_S)
    blocked.release.set()
    assert [future.get(PATIENCE_S) for future in before] == [Recorded(failed=False)] * 20
    for stopped in stops:
        assert stopped.get(PATIENCE_S)
    assert not history.is_alive()
    assert threaded.dead_letters() == {}
    assert THREAD not in [thread.name for thread in dragoman_threads()]
    assert stored(path) == tuple(entry(number) for number in range(20))


def test_a_write_that_hangs_holds_up_no_message(path: str, threaded: ThreadDispatcher, blocked: Block) -> None:
    history = FeatureHistory.start(threaded, path)
    recorded = later(history, RecordApplied((entry(1),)))
    assert blocked.entered.wait(PATIENCE_S)
    assert ask(history, Inspect()).entries_written == 0
    blocked.release.set()
    assert recorded.get(PATIENCE_S) == Recorded(failed=False)
    assert ask(history, Inspect()).entries_written == 1
    stop(history)


def test_whoever_waits_is_answered_though_the_actor_is_abandoned(
    path: str, threaded: ThreadDispatcher, blocked: Block
) -> None:
    history = FeatureHistory.start(threaded, path)
    recorded = later(history, RecordApplied((entry(1),)))
    assert blocked.entered.wait(PATIENCE_S)
    stopped: Any = history.stop(block=False)
    ask(history, Inspect())
    threaded.retire_all()
    with pytest.raises(ActorStopped):
        recorded.get(PATIENCE_S)
    assert stopped.get(PATIENCE_S)
    blocked.release.set()


def test_the_thread_of_an_abandoned_actor_writes_what_waits_and_ends(
    path: str, threaded: ThreadDispatcher, blocked: Block
) -> None:
    history = FeatureHistory.start(threaded, path)
    history.tell(RecordApplied((entry(1),)))
    assert blocked.entered.wait(PATIENCE_S)
    history.tell(RecordApplied((entry(2),)))
    ask(history, Inspect())
    threaded.retire_all()
    (thread,) = [thread for thread in dragoman_threads() if thread.name == THREAD]
    blocked.release.set()
    thread.join(PATIENCE_S)
    assert not thread.is_alive()
    assert stored(path) == (entry(1), entry(2))
