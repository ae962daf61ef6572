"""A translation that is interrupted or killed, in any moment: nothing that was accepted is lost or paid for again."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from dragoman.actors.history_file import HistoryFile

from ..providers.server import FaultServer, Recorded, translation_of

pytestmark = pytest.mark.skipif(os.name != "posix", reason="kills processes by signals")

SENTENCES = [f"This is sentence number {number} of the book." for number in range(1, 25)]
PATIENCE_S = 60


class Book:
    """A book, the command that translates it, and what is there between two runs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.out = folder / "book.de.txt"
        (folder / "book.txt").write_text("\n\n".join(SENTENCES) + "\n", encoding="utf-8")

    def begin(self, server: FaultServer) -> subprocess.Popen[str]:
        environment = {**os.environ, "OPENAI_API_KEY": "k", "XDG_STATE_HOME": str(self.folder / "state")}
        command = [sys.executable, "-m", "dragoman", "translate", "book.txt", "--to", "de", "--model", "m1"]
        options = ["--base-url", server.base_url, "--concurrency", "3", "--request-parents", "2"]
        process = subprocess.Popen(
            [*command, *options],
            cwd=self.folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        threading.Thread(target=lambda: (process.wait(), server.look_again()), daemon=True).start()
        return process

    @staticmethod
    def reached(server: FaultServer, process: subprocess.Popen[str], before: int, moment: int) -> bool:
        """Whether the moment has come: so many requests are there, or are answered, or there is nothing more to do."""
        seen = server.completions[before:]
        count = len(seen) if moment % 2 else sum(request.answered for request in seen)
        return count >= moment // 3 + 1 or process.poll() is not None

    def accepted(self) -> set[str]:
        """The sources of what the durable history holds; a reader beside it must find the file whole."""
        path = self.folder / "state" / "dragoman" / "feature-history.db"
        if not path.exists():
            return set()
        connection = sqlite3.connect(path)
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        connection.close()
        file = HistoryFile(str(path))
        entries = file.read()
        file.close()
        assert all(entry.translated == translation_of(entry.source) for entry in entries)
        return {entry.source for entry in entries}

    def names(self) -> list[str]:
        return sorted(path.name for path in self.folder.iterdir() if path.name != "state")


@pytest.fixture
def book(tmp_path: Path) -> Iterator[Book]:
    return Book(tmp_path)


def asked(requests: list[Recorded]) -> list[str]:
    return [text for request in requests for _unit, text in request.units or ()]


def remembered(requests: list[Recorded]) -> set[str]:
    """The sources that stood in prompts as accepted: what the program itself has said that it has."""
    return {message["content"] for request in requests for message in request.body["messages"][1:-1:2]}


def test_a_book_that_is_killed_over_and_over_is_paid_for_once_and_comes_out_the_same(book: Book) -> None:
    """At each request that the server has seen, and at each that it has answered, in turn."""
    paid: set[str] = set()
    with FaultServer(latency=0.01) as server:
        for moment in range(1, 14):
            before = len(server.completions)
            process = book.begin(server)

            server.wait_for(partial(book.reached, server, process, before, moment))
            process.kill()
            process.communicate(timeout=PATIENCE_S)
            seen = server.completions[before:]
            accepted = book.accepted()
            assert not paid & set(asked(seen)), "asked for again what had been accepted"
            assert paid <= accepted, "lost what had been accepted"
            assert remembered(seen) <= accepted, "showed as accepted what is not durable"
            paid = accepted
            assert book.names() in (["book.txt"], ["book.de.txt", "book.txt"]), "nothing half-written"
        before = len(server.completions)
        process = book.begin(server)
        _out, err = process.communicate(timeout=PATIENCE_S)
        assert (process.returncode, err) == (0, "")
        assert set(asked(server.completions[before:])) == set(SENTENCES) - paid
    assert len(paid) > 6, "the moments reach far into the book"
    whole = "\n\n".join(map(translation_of, SENTENCES)) + "\n"
    assert book.out.read_text(encoding="utf-8") == whole


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_writes_what_was_accepted_and_says_how_to_go_on(book: Book, number: signal.Signals) -> None:
    def holds(request: Recorded) -> bool:
        return request.path.endswith("completions") and "sentence number 1 " not in request.prompt

    with FaultServer(holds=holds) as server:
        process = book.begin(server)
        server.wait_for(lambda: len(server.completions) >= 4 or process.poll() is not None)
        process.send_signal(number)
        out, err = process.communicate(timeout=PATIENCE_S)
        server.wait_for(lambda: server.open_connections == 0)
        held = [request for request in server.completions if not request.answered]
        assert all(request.aborted for request in held)
        assert process.returncode == 130
        assert "interrupted with 2 of 24 translated" in err
        assert len(err.splitlines()) == 1
        assert "book.de.txt: 2 of 24 translated" in out
        shown = book.out.read_text(encoding="utf-8").strip().split("\n\n")
        assert shown == [*map(translation_of, SENTENCES[:2]), *SENTENCES[2:]]
        assert book.accepted() == set(SENTENCES[:2])
        server.release()
        process = book.begin(server)
        process.communicate(timeout=PATIENCE_S)
        assert process.returncode == 0
    assert book.out.read_text(encoding="utf-8") == "\n\n".join(map(translation_of, SENTENCES)) + "\n"


def test_a_second_interrupt_ends_it_at_once(book: Book) -> None:
    with FaultServer(holds=lambda request: request.path.endswith("completions")) as server:
        process = book.begin(server)
        server.wait_for(lambda: len(server.completions) >= 1 or process.poll() is not None)
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGINT)
        _out, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode in (130, -signal.SIGINT)
    assert "Traceback" not in err
