"""The journal on the disk, and the thread that writes it: what a runtime did, as lines of JSON.

Rules. `note` appends to a queue and does nothing else: no lock, no file, no encoding. One thread takes the notes from
there, tells them as lines and writes these in groups; a group is with the operating system within about `_PAUSE_S` of
its first note, so that the process may end at any instant and loses no more than that. The files together never take
more than `max_bytes`: the newest is `path`, the older ones `path.1`, `path.2`, …, each with a head of its own. If the
queue is full, notes are left out and a line says how many: a journal that is slower than the program never slows it
down, and never tells less than it claims. What cannot be written is counted and logged once, and the program goes on.

Not promised: that what was flushed survives the loss of power; notes of a process that was killed in the last moment.
"""

from __future__ import annotations

import contextlib
import os
import platform
import secrets
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from itertools import zip_longest
from typing import Any, BinaryIO

import attrs

from ..protocol.errors import InvalidSetting
from ..protocol.participation import ProviderPolicy
from ..protocol.settings import Settings
from .dispatcher import Note
from .journal_lines import Lines, encode
from .reporting import report

__all__ = ["JOURNAL_FILES", "JOURNAL_VERSION", "JournalFile"]

JOURNAL_VERSION = 1
JOURNAL_FILES = 4
"""Files that a journal is kept in; the oldest goes when the newest is full."""
_SETTING = "journal"
_PAUSE_S = 0.02
"""How long the thread waits for more after the first note, so that it is not woken for each."""
_GROUP = 512
_MAX_QUEUED = 500_000
_KEY_BYTES = 16
_PART_BYTES = 4096
"""The least that a part of the journal may take: its head has to fit."""


class JournalFile:
    """A journal that is being written; raises `InvalidSetting` where that cannot be."""

    def __init__(self, settings: Settings, providers: Mapping[str, ProviderPolicy], now_us: Callable[[], int]) -> None:
        assert settings.journal is not None
        self._path = os.path.abspath(settings.journal)
        self._part_bytes = max(settings.journal_bytes // JOURNAL_FILES, _PART_BYTES)
        self._run = secrets.token_hex(8)
        self._lines = Lines(secrets.token_bytes(_KEY_BYTES), texts=settings.journal_texts)
        self._head = {
            "k": "head",
            "journal": JOURNAL_VERSION,
            "run": self._run,
            "python": platform.python_version(),
            "settings": attrs.asdict(settings, filter=lambda field, _value: not field.name.startswith("journal")),
            "providers": {name: attrs.asdict(policy) for name, policy in providers.items()},
        }
        self._now_us = now_us
        self._part = 0
        self._queue: deque[Note] = deque()
        self._lost = 0
        self._told_lost = 0
        self._failed = False
        self._idle = threading.Event()
        self._parked = False
        self._ending = threading.Event()
        self._thread: threading.Thread | None = None
        self._starting = threading.Lock()
        try:
            self._file = self._open()
        except OSError as error:
            raise InvalidSetting(_SETTING, f"cannot be written: {error.strerror or type(error).__name__}") from None

    def note(self, note: Note) -> None:
        """Take a note; from any thread, at once."""
        if len(self._queue) >= _MAX_QUEUED:
            self._lost += 1
            return
        self._queue.append(note)
        if self._parked:
            self._parked = False
            self._idle.set()
        elif self._thread is None:
            self._start()

    def close(self, timeout_s: float = 5.0) -> bool:
        """Write what was noted, and end; whether that was done within `timeout_s` seconds. Idempotent."""
        self._ending.set()
        self._idle.set()
        thread = self._thread
        if thread is None:
            self._drain()
        else:
            thread.join(max(0.0, timeout_s))
            if thread.is_alive():
                return False
        with contextlib.suppress(OSError):
            self._file.close()
        return True

    def _start(self) -> None:
        with self._starting:
            if self._thread is None and not self._ending.is_set():
                thread = threading.Thread(target=self._write, name="dragoman-journal", daemon=True)
                thread.start()
                self._thread = thread

    def _write(self) -> None:
        while True:
            ending = self._ending.is_set()
            self._drain()
            if ending:
                return
            self._idle.clear()
            self._parked = True
            if not self._queue and not self._ending.is_set():
                self._idle.wait()
            self._parked = False
            self._ending.wait(_PAUSE_S)

    def _drain(self) -> None:
        """Write what is in the queue now, in groups."""
        queue = self._queue
        while queue:
            notes = [queue.popleft() for _note in range(min(_GROUP, len(queue)))]
            told = [note for note, following in zip_longest(notes, notes[1:]) if not _repeats(note, following)]
            self._append([self._encoded(self._lines.line(note)) for note in told])
        lost = self._lost
        if lost != self._told_lost:
            self._append([self._encoded({"t": self._now_us(), "k": "lost", "notes": lost - self._told_lost})])
            self._told_lost = lost

    def _append(self, lines: list[bytes]) -> None:
        try:
            room = self._part_bytes - self._file.tell()
            group: list[bytes] = []
            for line in lines:
                if len(line) > room:
                    self._file.write(b"".join(group))
                    self._rotate()
                    room, group = self._part_bytes - self._file.tell(), []
                if len(line) > room:
                    self._lost += 1  # more than a whole part
                    continue
                group.append(line)
                room -= len(line)
            self._file.write(b"".join(group))
            self._file.flush()
        except (OSError, ValueError) as error:
            if not self._failed:
                self._failed = True
                report("ERROR", "the journal cannot be written: {error_type}", error_type=type(error).__name__)

    def _rotate(self) -> None:
        self._file.close()
        self._file = self._open()

    def _open(self) -> BinaryIO:
        """Begin the next part: the one before becomes the first of the older ones, and the oldest goes."""
        if os.path.exists(self._path) and not os.path.isfile(self._path):
            raise InvalidSetting(_SETTING, "is no regular file")
        if os.path.exists(self._path) and not _is_journal(self._path):
            raise InvalidSetting(_SETTING, "is a file that is no journal; it is left as it is")
        for number in range(JOURNAL_FILES - 1, 0, -1):
            older = self._path if number == 1 else f"{self._path}.{number - 1}"
            with contextlib.suppress(FileNotFoundError):
                os.replace(older, f"{self._path}.{number}")
        file = open(self._path, "xb")  # noqa: SIM115 (kept open as long as the runtime lives)
        self._part += 1
        clock = {"t": self._now_us(), "part": self._part, "wall": time.time()}
        file.write(self._encoded({**self._head, **clock}))
        file.flush()
        return file

    def _encoded(self, line: dict[str, Any]) -> bytes:
        return encode(line).encode("ascii") + b"\n"


def _repeats(note: Note, following: Note | None) -> bool:
    """Whether the next note says the same, a moment later: a call takes effect in several places one after another."""
    return following is not None and note[0] == following[0] == "took" and note[2] == following[2]


def _is_journal(path: str) -> bool:
    """Whether a file is empty, or begins as a journal does."""
    with open(path, "rb") as file:
        begins = file.read(24)
    return not begins or begins.startswith(b'{"k":"head","journal":')
