"""The file of the durable feature history, and the thread that writes it (C13).

Rules. What `append` returned from is on the disk: the process may end at any instant without losing it or spoiling the
file. Whatever waits when the thread comes to it is written as one group, in one transaction; a group that fails is
tried again job by job, so that a bad entry fails alone. Jobs are done in the order in which they came; what the askers
have in flight is their bound. A file is ours, or becomes ours if it is new or empty; any other is refused, and left as
it is. Several processes may write to one file.

Not promised: an entry in a file that somebody deletes or replaces while it is open.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import attrs

from ..protocol.applied import AppliedKey, AppliedParent
from ..protocol.errors import ActorStopped, InvalidSetting
from .reporting import report

__all__ = ["Done", "HistoryFile", "HistoryWriter"]

Done = Callable[[Any, "Exception | None"], object]
"""Told the result of a job, or why there is none."""

_SETTING = "feature_history"
_APPLICATION_ID = 0x44726748
_SCHEMA = 2
_BUSY_TIMEOUT_S = 5.0
_CLAIMS = 100
"""How often to try for the moment in which nobody else has a new file open."""

_FIELDS = tuple(field.name for field in attrs.fields(AppliedParent))
_KEY = tuple(field.name for field in attrs.fields(AppliedKey))
_COLUMNS = (*_KEY, "source", "translated", "lengths")


def _declared(column: str) -> str:
    return f"{column} BLOB NOT NULL" + (" DEFAULT x''" if column == "lengths" else "")


_CREATE = (
    f"CREATE TABLE applied (place INTEGER PRIMARY KEY, {', '.join(map(_declared, _COLUMNS))})",
    f"CREATE INDEX applied_by_key ON applied ({', '.join(_KEY)})",
    f"PRAGMA application_id = {_APPLICATION_ID}",
    f"PRAGMA user_version = {_SCHEMA}",
)
_FROM_SCHEMA_1 = (
    f"ALTER TABLE applied ADD COLUMN {_declared('lengths')}",
    f"PRAGMA user_version = {_SCHEMA}",
)
"""The first schema did not tell the segments of a parent apart."""
_APPEND = f"INSERT INTO applied ({', '.join(_COLUMNS)}) VALUES ({', '.join('?' for _ in _COLUMNS)})"
_SELECT = f"SELECT {', '.join(_FIELDS)} FROM applied"
_READ = f"{_SELECT} ORDER BY place"
_READ_DOCUMENT = f"{_SELECT} WHERE document = ? ORDER BY place"
_FIND = f"{_SELECT} WHERE {' AND '.join(f'{column} = ?' for column in _KEY)} ORDER BY place DESC LIMIT 1"


class HistoryFile:
    """An open file of the feature history; raises `InvalidSetting` for one that cannot be that.

    Used by one thread at a time. What fails later raises `sqlite3.Error`, and leaves the file as it was.
    """

    def __init__(self, path: str) -> None:
        # An absolute path has none of the meanings that SQLite gives to some names.
        path = os.path.abspath(path)
        try:
            self._connection = _open(path)
        except InvalidSetting:
            raise
        except (sqlite3.Error, ValueError, OSError) as error:
            raise InvalidSetting(_SETTING, _problem(path, error)) from None

    @classmethod
    def check(cls, path: str) -> None:
        """Open the file, or make it, and close it again; raises `InvalidSetting`."""
        cls(path).close()

    def append(self, entries: Iterable[AppliedParent]) -> None:
        """Write all `entries`, in one transaction that is durable on return."""
        with _transaction(self._connection):
            self._connection.executemany(_APPEND, (_stored(entry, _COLUMNS) for entry in entries))

    def read(self, document: str | None = None) -> tuple[AppliedParent, ...]:
        """Every entry, or those of a document, in the order of application."""
        if document is None:
            return tuple(map(_entry, self._connection.execute(_READ)))
        return tuple(map(_entry, self._connection.execute(_READ_DOCUMENT, _texts_as_bytes((document,)))))

    def find(self, key: AppliedKey) -> AppliedParent | None:
        """The newest entry of `key`, or None."""
        row = self._connection.execute(_FIND, _stored(key, _KEY)).fetchone()
        return None if row is None else _entry(row)

    def close(self) -> None:
        self._connection.close()


def _open(path: str) -> sqlite3.Connection:
    if os.path.exists(path) and not os.path.isfile(path):
        raise InvalidSetting(_SETTING, "is no regular file")
    if os.path.exists(path) and os.path.getsize(path) == 1:
        # SQLite would take it for an empty file. Looking into it here would cancel the locks of this process.
        raise InvalidSetting(_SETTING, "is no SQLite database")
    # Under simulation another thread may close it than made it, though never two use it at once.
    connection = sqlite3.connect(path, timeout=_BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False)
    try:
        for attempt in itertools.count(1):
            _claim(connection)
            try:
                connection.execute("PRAGMA journal_mode = WAL").fetchone()
                break
            except sqlite3.OperationalError as error:
                # Here alone SQLite does not wait for others, that make the same file in the same moment.
                if attempt == _CLAIMS or not _is_busy(error):
                    raise
        connection.execute("PRAGMA synchronous = FULL")
    except BaseException:
        connection.close()
        raise
    return connection


def _claim(connection: sqlite3.Connection) -> None:
    """Make sure that the file is ours and can be written, and make its schema if it is empty."""
    with _transaction(connection, "EXCLUSIVE"):
        (application_id,) = connection.execute("PRAGMA application_id").fetchone()
        (schema,) = connection.execute("PRAGMA user_version").fetchone()
        (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if application_id == _APPLICATION_ID:
            if schema not in (1, _SCHEMA):
                raise InvalidSetting(_SETTING, f"has the schema {schema}; this version knows {_SCHEMA}")
            for statement in _FROM_SCHEMA_1 if schema == 1 else ():
                connection.execute(statement)
        elif application_id or schema or tables:
            raise InvalidSetting(_SETTING, "is a database of another program")
        else:
            for statement in _CREATE:
                connection.execute(statement)


@contextlib.contextmanager
def _transaction(connection: sqlite3.Connection, kind: str = "IMMEDIATE") -> Iterator[None]:
    connection.execute(f"BEGIN {kind}")
    try:
        yield
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def _problem(path: str, error: Exception) -> str:
    name = getattr(error, "sqlite_errorname", type(error).__name__)
    if name == "SQLITE_NOTADB":
        return "is no SQLite database"
    if name == "SQLITE_CANTOPEN" and not os.path.isdir(os.path.dirname(path)):
        return "is in a folder that does not exist"
    return f"cannot be opened for writing: {name}"


def _is_busy(error: Exception) -> bool:
    # The lower byte is the error, the upper ones its variants.
    return getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_BUSY


def _stored(value: AppliedKey | AppliedParent, columns: tuple[str, ...]) -> list[bytes]:
    """Texts as bytes: SQLite takes no lone surrogates, and Python allows them."""
    values = (getattr(value, column) for column in columns)
    return _texts_as_bytes(_written(value) if isinstance(value, tuple) else value for value in values)


def _texts_as_bytes(texts: Iterable[str]) -> list[bytes]:
    return [text.encode("utf-8", "surrogatepass") for text in texts]


def _written(lengths: tuple[tuple[int, int], ...]) -> str:
    return " ".join(f"{length},{translated}" for length, translated in lengths)


def _entry(row: tuple[bytes, ...]) -> AppliedParent:
    texts = {field: stored.decode("utf-8", "surrogatepass") for field, stored in zip(_FIELDS, row, strict=True)}
    pairs = (pair.split(",") for pair in texts.pop("lengths").split())
    return AppliedParent(**texts, lengths=tuple((int(length), int(translated)) for length, translated in pairs))


@attrs.frozen
class _Append:
    entries: tuple[AppliedParent, ...]
    done: Done


@attrs.frozen
class _Question:
    ask: Callable[[HistoryFile], Any]
    done: Done


class HistoryWriter:
    """Does jobs on the file at `path`, in a thread of its own that the first job starts; see the module for its rules.

    Each job ends with one call of its `done`, in that thread. `threaded=False` is for virtual time: each job is done
    at once, by the caller. The file is opened by the first job; while it cannot be, every job fails.
    """

    def __init__(self, path: str, *, threaded: bool = True) -> None:
        # What the path means must not depend on when the file is opened.
        self._path = os.path.abspath(path)
        self._threaded = threaded
        self._change = threading.Condition()
        self._waiting: list[_Append | _Question] = []
        self._when_ended: list[Callable[[], object]] = []
        self._ending = False
        self._ended = False
        self._thread: threading.Thread | None = None
        self._file: HistoryFile | None = None

    def append(self, entries: tuple[AppliedParent, ...], done: Done) -> None:
        """Write `entries`, all or none; the result is None."""
        self._take(_Append(entries, done))

    def ask(self, question: Callable[[HistoryFile], Any], done: Done) -> None:
        """Read from the file, such as by `HistoryFile.read`; the result is what `question` returns."""
        self._take(_Question(question, done))

    def end(self, when_ended: Callable[[], object] | None = None) -> None:
        """Take no more jobs; do what waits, close the file, and then call `when_ended`. Does not wait. Idempotent."""
        with self._change:
            self._ending = True
            if when_ended is not None:
                self._when_ended.append(when_ended)
            working = self._thread is not None and not self._ended
            self._change.notify()
        if not working:
            self._finish()

    def stop(self, timeout_s: float) -> bool:
        """`end`, and wait up to `timeout_s` seconds for the thread; whether it has ended."""
        self.end()
        if self._thread is None:
            return True
        self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def _take(self, job: _Append | _Question) -> None:
        refusal: Exception | None = None
        with self._change:
            if self._ending:
                refusal = ActorStopped("the writer of the feature history")
            elif self._threaded:
                try:
                    self._start()
                except RuntimeError as error:
                    refusal = error
                else:
                    self._waiting.append(job)
                    self._change.notify()
        if refusal is not None:
            _tell(job, None, refusal)
        elif not self._threaded:
            self._do([job])

    def _start(self) -> None:
        if self._thread is None:
            thread = threading.Thread(target=self._work, name="dragoman-feature-history", daemon=True)
            thread.start()
            self._thread = thread

    def _work(self) -> None:
        while True:
            with self._change:
                while not self._waiting and not self._ending:
                    self._change.wait()
                jobs, self._waiting = self._waiting, []
            if not jobs:
                break
            self._do(jobs)
        self._finish()

    def _finish(self) -> None:
        # What is in the file is safe, however closing it ends.
        with contextlib.suppress(sqlite3.Error):
            if self._file is not None:
                self._file.close()
        with self._change:
            self._ended = True
            calls, self._when_ended = self._when_ended, []
        for call in calls:
            call()

    def _do(self, jobs: list[_Append | _Question]) -> None:
        try:
            if self._file is None:
                self._file = HistoryFile(self._path)
        except Exception as error:
            for job in jobs:
                _tell(job, None, error)
            return
        group: list[_Append] = []
        for job in jobs:
            if isinstance(job, _Append):
                group.append(job)
                continue
            self._write(self._file, group)
            group = []
            _answer(self._file, job)
        self._write(self._file, group)

    def _write(self, file: HistoryFile, group: list[_Append]) -> None:
        if not group:
            return
        failure: Exception | None = None
        try:
            file.append([entry for job in group for entry in job.entries])
        except Exception as error:
            failure = error
        if failure is not None and len(group) > 1 and not _is_busy(failure):
            # Of a file that others lock, each job would wait as long as the group has.
            for job in group:
                self._write(file, [job])
            return
        for job in group:
            _tell(job, None, failure)


def _answer(file: HistoryFile, question: _Question) -> None:
    try:
        answer = question.ask(file)
    except Exception as error:
        _tell(question, None, error)
    else:
        _tell(question, answer, None)


def _tell(job: _Append | _Question, result: Any, error: Exception | None) -> None:
    try:
        job.done(result, error)
    except Exception as fault:
        report("ERROR", "a callback of the feature history raised {error_type}", error_type=type(fault).__name__)
