"""The journal on the disk: what is in it, what is not, how much there is, and what a crash leaves."""

from __future__ import annotations

import gc
import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from loguru import logger

from dragoman import (
    Call,
    Handoff,
    InvalidSetting,
    Outcome,
    Parent,
    Runtime,
    ScriptedProvider,
    Settings,
    SimulatedDispatcher,
    TextDocument,
    TranslationRequest,
)
from dragoman.actors import journal_file
from dragoman.actors.journal_file import JOURNAL_FILES
from dragoman.actors.journal_reader import InvalidJournal, read_journal

SECRETS = ("Bernina", "Zephyr", "Quagga", "Fjordland", "Yttrium", "Basalt", "Okapi", "Xanadu", "Wombat", "Kestrel")


def use_everything(runtime: Runtime) -> None:
    """Calls of each kind, with texts that must not be in the journal."""
    parents = (Parent("p1", 0, "Bernina Zephyr"), Parent("p2", 1, "Quagga"))
    runtime.register(Handoff("r1", "s1", "openai", "select-element", parents)).get()
    runtime.activate("r1").get()
    runtime.acknowledge("r1", "p1", "Fjordland").get()
    runtime.reject("r1", "p2").get()
    runtime.acknowledge("r1", "p2", "Yttrium").get()
    calls = ScriptedProvider()
    page = {"title": "Basalt", "line": ["Okapi ", "Xanadu"]}
    feature = TextDocument(page)
    translation = runtime.translate(TranslationRequest("r2", "s1", page, "de"), provider=calls, feature=feature)
    translation.started.get()
    runtime.respond("r2/1", translations={"title": "Wombat"}).get()
    runtime.respond("r2/2", translations={"line": ["Kestrel ", "Umbra"]}).get()
    translation.get()
    record = runtime.record_call("s1", Call("c1"), Outcome.ok({"Plover": "Vortex"})).get()
    runtime.content("s1", record.content_ref).get()
    runtime.follow_up("s1", "put the last Gnu in a table").get()
    runtime.propose("q1", "mira", {"store_max_entries": 3}, "Isthmus", "Juniper").get()
    runtime.messages("s1", system="Tundra", user="Umbra").get()


def test_no_text_and_no_ref_is_in_it(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    with Runtime(Settings(journal=path, maintainers=["mira"])) as runtime:
        use_everything(runtime)
        ref = runtime.calls("s1").get()[0].content_ref
    told = path.read_text(encoding="ascii")
    for secret in (*SECRETS, "Plover", "Vortex", "Gnu", "Isthmus", "Juniper", "Tundra", "Umbra"):
        assert secret not in told
    assert ref is not None
    assert ref not in told
    assert ref.removeprefix("content:") not in told


def test_texts_are_in_it_where_that_was_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    with Runtime(Settings(journal=path, journal_texts=True)) as runtime:
        use_everything(runtime)
    told = path.read_text(encoding="ascii")
    for secret in SECRETS:
        assert secret in told


def test_digests_of_two_journals_differ_and_those_of_one_do_not(tmp_path: Path) -> None:
    digests = []
    for number in range(2):
        path = tmp_path / f"journal {number}"
        with Runtime(Settings(journal=path)) as runtime:
            runtime.register(Handoff("r1", "s1", "openai", "select-element", (Parent("p1", 0, "yes"),))).get()
            runtime.acknowledge("r1", "p1", "yes").get()
        lines = read_journal(path).lines
        source = next(line for line in lines if line.get("op") == "register")["parents"]["p1"]
        result = next(line for line in lines if line.get("op") == "ack")["result"]
        assert source == result
        digests.append(source.split(":")[2])
    assert digests[0] != digests[1]


def test_its_head_holds_settings_and_providers(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    with Runtime(Settings(journal=path, ack_window=7.0)):
        pass
    journal = read_journal(path)
    assert journal.head["settings"]["ack_window"] == 7.0
    assert "journal" not in journal.head["settings"]
    assert (journal.whole, journal.ended, journal.lost) == (True, True, 0)


def test_virtual_time_is_told_in_microseconds(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    dispatcher = SimulatedDispatcher()
    with Runtime(Settings(journal=path), dispatcher=dispatcher) as runtime:
        dispatcher.advance(1_500_000)
        runtime.claim_turn("s1").get()
    assert [line["t"] for line in read_journal(path).lines if line["k"] == "call"] == [1_500_000]


def test_its_files_never_take_more_than_they_may(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    limit = 100_000
    with Runtime(Settings(journal=path, journal_bytes=limit)) as runtime:
        for number in range(2_000):
            runtime.claim_turn(f"s{number % 7}").get()
    files = sorted(tmp_path.iterdir())
    assert len(files) == JOURNAL_FILES
    assert sum(file.stat().st_size for file in files) <= limit
    journal = read_journal(path)
    assert not journal.whole
    assert journal.ended
    assert journal.lines[-1]["k"] == "close"
    calls = [line["n"] for line in journal.lines if line["k"] == "call"]
    assert calls == list(range(calls[0], 2_001))


def test_a_line_that_no_part_has_room_for_is_counted_and_left_out(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    many = tuple(Parent(f"p{number}", number, "text") for number in range(1_000))
    with Runtime(Settings(journal=path, journal_bytes=0)) as runtime:
        runtime.register(Handoff("r1", "s1", "openai", "select-element", many)).get()
        runtime.claim_turn("s1").get()
    journal = read_journal(path)
    assert journal.lost >= 1
    assert journal.lines[-1]["k"] in ("close", "lost")


def test_a_second_run_begins_anew_and_keeps_the_first_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    for session in ("first", "second"):
        with Runtime(Settings(journal=path)) as runtime:
            runtime.claim_turn(session).get()
    sessions = {line["session"] for line in read_journal(path).lines if "session" in line}
    assert sessions == {"second"}
    assert '"first"' in (tmp_path / "journal.1").read_text(encoding="ascii")


@pytest.mark.parametrize("content", [b"something of mine\n", b'{"k":"other"}\n'])
def test_a_file_that_is_no_journal_is_refused_and_left_alone(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_bytes(content)
    with pytest.raises(InvalidSetting, match=r"journal: .*no journal"):
        Runtime(Settings(journal=path))
    assert path.read_bytes() == content
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("place", ["", "missing/journal"])
def test_a_place_where_nothing_can_be_written_is_refused(place: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidSetting, match="journal"):
        Runtime(Settings(journal=tmp_path / place))


def test_a_full_disk_is_told_once_and_the_runtime_goes_on(tmp_path: Path) -> None:
    lines: list[str] = []
    logger.enable("dragoman")
    sink = logger.add(lambda message: lines.append(message.record["message"]), level="ERROR", filter="dragoman")
    try:
        with Runtime(Settings(journal=tmp_path / "journal")) as runtime:
            assert runtime._journal is not None
            runtime._journal._file.close()
            assert [runtime.claim_turn("s1").get() for _claim in range(5)] == [1, 2, 3, 4, 5]
    finally:
        logger.remove(sink)
        logger.disable("dragoman")
    assert lines == ["the journal cannot be written: ValueError"]


def test_what_there_is_no_room_for_is_counted_and_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal_file, "_MAX_QUEUED", 10)
    path = tmp_path / "journal"
    # Under virtual time the thread that writes does not get in between: nothing waits.
    with Runtime(Settings(journal=path), dispatcher=SimulatedDispatcher()) as runtime:
        assert runtime._journal is not None
        runtime._journal._thread = threading.current_thread()
        for _claim in range(20):
            runtime.claim_turn("s1").get()
        runtime._journal._thread = None
    journal = read_journal(path)
    noted = len(journal.lines) - 1
    assert journal.lost > 0
    assert noted <= 10
    assert journal.lines[-1]["k"] == "lost"


def test_a_forgotten_runtime_takes_its_thread_along(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    runtime = Runtime(Settings(journal=path))
    runtime.claim_turn("s1").get()
    assert runtime._journal is not None
    thread = runtime._journal._thread
    assert thread is not None
    del runtime
    gc.collect()
    thread.join(30)
    assert not thread.is_alive()
    assert [line["op"] for line in read_journal(path).lines if line["k"] == "call"] == ["claim_turn"]


KILLED = """
import os, signal, sys, time
from dragoman import Runtime, Settings

runtime = Runtime(Settings(journal=sys.argv[1]))
for number in range(200):
    runtime.claim_turn("s1").get()
deadline = time.monotonic() + 60
while b'"number":200' not in open(sys.argv[1], "rb").read():
    assert time.monotonic() < deadline
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system has no SIGKILL")
def test_a_process_that_is_killed_leaves_what_was_flushed(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    ended = subprocess.run([sys.executable, "-c", KILLED, os.fspath(path)], check=False, timeout=100)
    assert ended.returncode == -signal.SIGKILL
    journal = read_journal(path)
    assert not journal.ended
    assert [line["number"] for line in journal.lines if line["k"] == "reply"] == list(range(1, 201))


def test_a_line_that_was_cut_off_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    with Runtime(Settings(journal=path)) as runtime:
        runtime.claim_turn("s1").get()
    whole = path.read_bytes()
    path.write_bytes(whole[:-5])
    assert [line["k"] for line in read_journal(path).lines][-1] == "reply"


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (b"nonsense", "not JSON"),
        (b"[1]", "lacks k or t"),
        (b'{"k":"call"}', "lacks k or t"),
        (b'{"k":"surprise","t":1}', "surprise"),
        (b'{"k":"took","t":1}', "has to have n"),
        (b'{"k":"closed","t":1,"request":"r1"}', "has to have session"),
    ],
)
def test_a_damaged_line_is_named(line: bytes, problem: str, tmp_path: Path) -> None:
    path = tmp_path / "journal"
    with Runtime(Settings(journal=path)) as runtime:
        runtime.claim_turn("s1").get()
    rows = path.read_bytes().split(b"\n")
    rows[2] = line
    path.write_bytes(b"\n".join(rows))
    with pytest.raises(InvalidJournal, match=problem) as caught:
        read_journal(path)
    assert caught.value.place == f"{path}:3"


def test_each_line_is_an_object_of_json(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    with Runtime(Settings(journal=path, maintainers=["mira"])) as runtime:
        use_everything(runtime)
    for row in path.read_bytes().splitlines():
        line = json.loads(row)
        assert isinstance(line["k"], str)
        assert isinstance(line["t"], int)
