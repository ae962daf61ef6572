"""The file of the feature history: what it keeps, and what it refuses (C13)."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.actors import history_file
from dragoman.actors.history_file import HistoryFile
from dragoman.protocol.applied import AppliedKey, AppliedParent
from dragoman.protocol.errors import InvalidSetting

from ..kernel.probes import in_threads
from .entries import Lock, bad_entry, entry, stored

any_text = st.text(st.characters(exclude_categories=()), max_size=20)
"""Any text that Python knows, with lone surrogates and NUL."""

_FIELDS = attrs.fields_dict(AppliedParent)
lengths = st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 10**6)), max_size=3).map(tuple)
entry_lists = st.lists(st.builds(AppliedParent, **{**dict.fromkeys(_FIELDS, any_text), "lengths": lengths}), max_size=4)


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "applied.db")


@pytest.fixture
def file(path: str) -> Iterator[HistoryFile]:
    made = HistoryFile(path)
    yield made
    made.close()


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that others have locked is given up at once."""
    monkeypatch.setattr(history_file, "_BUSY_TIMEOUT_S", 0.0)


@settings(max_examples=30)
@given(entry_lists, entry_lists)
def test_every_text_comes_back_as_it_was(first: list[AppliedParent], second: list[AppliedParent]) -> None:
    with TemporaryDirectory() as folder:
        path = str(Path(folder) / "applied.db")
        for entries in (first, second):
            file = HistoryFile(path)
            file.append(entries)
            file.close()
        assert stored(path) == (*first, *second)
        file = HistoryFile(path)
        for made in (*first, *second):
            found = file.find(made.key)
            assert found is not None
            assert found.key == made.key
        file.close()


def test_a_file_is_opened_again_and_appended_to(path: str) -> None:
    for number in (3, 1, 2):
        file = HistoryFile(path)
        file.append([entry(number)])
        file.close()
    assert stored(path) == (entry(3), entry(1), entry(2))


def test_an_entry_may_stand_in_it_twice_and_the_newest_is_found(file: HistoryFile) -> None:
    file.append([entry(1, translated="older"), entry(2), entry(1, translated="newer")])
    found = file.find(entry(1).key)
    assert found is not None
    assert found.translated == "newer"
    assert len(file.read()) == 3


@pytest.mark.parametrize("field", [field.name for field in attrs.fields(AppliedKey)])
def test_an_entry_is_found_by_the_whole_of_its_key(file: HistoryFile, field: str) -> None:
    file.append([entry(1)])
    key = entry(1).key
    assert file.find(key) == entry(1)
    assert file.find(attrs.evolve(key, **{field: "another"})) is None


def test_entries_are_appended_all_or_none(file: HistoryFile) -> None:
    with pytest.raises(AttributeError):
        file.append([entry(1), bad_entry(2)])
    assert file.read() == ()
    file.append([entry(3)])
    assert file.read() == (entry(3),)


def test_a_reader_beside_it_does_not_hold_it_up(path: str, file: HistoryFile) -> None:
    file.append([entry(1)])
    reader = sqlite3.connect(path, isolation_level=None)
    reader.execute("BEGIN")
    assert reader.execute("SELECT count(*) FROM applied").fetchone() == (1,)
    file.append([entry(2)])
    assert reader.execute("SELECT count(*) FROM applied").fetchone() == (1,)
    reader.close()


def test_every_commit_reaches_the_disk_before_it_returns(file: HistoryFile) -> None:
    """No test can cut the power: this is the setting on which it depends."""
    assert file._connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert file._connection.execute("PRAGMA synchronous").fetchone() == (2,)


@pytest.mark.parametrize("made_by", ["nobody", "touch", "sqlite"])
def test_a_new_or_empty_file_becomes_a_history(path: str, made_by: str) -> None:
    if made_by == "touch":
        Path(path).touch()
    if made_by == "sqlite":
        connection = sqlite3.connect(path)
        connection.execute("VACUUM")
        connection.close()
    HistoryFile.check(path)
    assert stored(path) == ()


def test_many_may_make_one_file_at_once(tmp_path: Path) -> None:
    for number in range(10):
        path = str(tmp_path / f"{number}.db")

        def write(path: str = path) -> None:
            file = HistoryFile(path)
            file.append([entry(1)])
            file.close()

        in_threads(*[write] * 6)
        assert stored(path) == (entry(1),) * 6


@pytest.mark.usefixtures("impatient")
def test_a_new_file_that_somebody_reads_in_the_wrong_moment_is_tried_again(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    claim, reader = history_file._claim, sqlite3.connect(path, isolation_level=None)
    claims = 0

    def claim_beside_the_reader(connection: sqlite3.Connection) -> None:
        nonlocal claims
        claims += 1
        if claims == 2:
            reader.close()
        claim(connection)
        if claims == 1:
            reader.execute("BEGIN")
            assert reader.execute("SELECT count(*) FROM applied").fetchone() == (0,)

    monkeypatch.setattr(history_file, "_claim", claim_beside_the_reader)
    HistoryFile.check(path)
    assert claims == 2


def refused(path: str) -> str:
    """The problem with the file, which is left as it is and is not named."""
    before = Path(path).read_bytes() if Path(path).is_file() else None
    with pytest.raises(InvalidSetting) as caught:
        HistoryFile.check(path)
    assert caught.value.field == "feature_history"
    assert path not in str(caught.value)
    assert Path(path).name not in str(caught.value)
    if before is not None:
        assert Path(path).read_bytes() == before
    return caught.value.problem


@pytest.mark.parametrize("body", [b"h", b"hello\n", b"hello\n" * 2000, b"SQLite format 3\0", bytes(4096)])
def test_a_file_that_is_no_database_is_refused(path: str, body: bytes) -> None:
    Path(path).write_bytes(body)
    assert refused(path) == "is no SQLite database"


@pytest.mark.parametrize(
    "owner",
    [
        "CREATE TABLE applied (place INTEGER PRIMARY KEY)",
        "CREATE VIEW only_this AS SELECT 1",
        "PRAGMA application_id = 7",
        "PRAGMA user_version = 1",
    ],
)
def test_a_database_of_another_program_is_refused(path: str, owner: str) -> None:
    connection = sqlite3.connect(path)
    connection.execute(owner)
    connection.close()
    assert refused(path) == "is a database of another program"


@pytest.mark.parametrize("schema", [0, 3, 1000])
def test_a_schema_of_another_version_is_refused(path: str, schema: int) -> None:
    HistoryFile.check(path)
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA user_version = {schema}")
    connection.close()
    assert refused(path) == f"has the schema {schema}; this version knows 2"


def test_a_file_of_the_first_schema_goes_on_with_its_entries_as_single_texts(path: str) -> None:
    HistoryFile.check(path)
    file = HistoryFile(path)
    file.append([entry(1)])
    file.close()
    connection = sqlite3.connect(path)
    connection.execute("ALTER TABLE applied DROP COLUMN lengths")
    connection.execute("PRAGMA user_version = 1")
    connection.close()
    file = HistoryFile(path)
    file.append([entry(2, source="ab c", translated="xyz", lengths=((2, 1), (2, 2)))])
    file.close()
    first, second = stored(path)
    assert first.segments == ((first.source, first.translated),)
    assert second.segments == (("ab", "x"), (" c", "yz"))


def test_a_folder_is_refused(tmp_path: Path) -> None:
    assert refused(str(tmp_path)) == "is no regular file"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this platform has no pipes in its file system")
def test_a_pipe_is_refused(path: str) -> None:
    os.mkfifo(path)
    assert refused(path) == "is no regular file"


def test_a_folder_that_does_not_exist_is_not_made(tmp_path: Path) -> None:
    assert refused(str(tmp_path / "missing" / "applied.db")) == "is in a folder that does not exist"
    assert list(tmp_path.iterdir()) == []


def test_a_place_inside_of_a_file_is_refused(path: str) -> None:
    Path(path).write_bytes(b"")
    assert refused(f"{path}/inside.db") == "is in a folder that does not exist"


def test_a_file_that_may_not_be_written_is_refused(path: str) -> None:
    HistoryFile.check(path)
    Path(path).chmod(0o400)
    if os.access(path, os.W_OK):
        pytest.skip("this user may write everywhere")
    assert refused(path) == "cannot be opened for writing: SQLITE_READONLY"


def test_a_name_that_no_file_can_have_is_refused(tmp_path: Path) -> None:
    assert refused(str(tmp_path / "a\0b")).startswith("cannot be opened for writing")


def test_a_name_that_means_memory_to_sqlite_is_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    HistoryFile.check(":memory:")
    assert (tmp_path / ":memory:").exists()


@pytest.mark.usefixtures("impatient")
def test_a_file_that_stays_locked_is_refused(path: str) -> None:
    HistoryFile.check(path)
    lock = Lock(path)
    assert refused(path) == "cannot be opened for writing: SQLITE_BUSY"
    lock.release()
    HistoryFile.check(path)
