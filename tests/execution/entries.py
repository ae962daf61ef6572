"""Entries of the feature history that several tests write, and what they find of them."""

from __future__ import annotations

import sqlite3
from typing import Any

import attrs

from dragoman.actors.history_file import HistoryFile
from dragoman.protocol.applied import AppliedParent

SOURCE = "a source that no log may show"
TRANSLATED = "eine Übersetzung, die kein Log zeigen darf"
THREAD = "dragoman-feature-history"


def entry(number: int, **changes: Any) -> AppliedParent:
    made = AppliedParent(
        document="page",
        parent_id=f"p{number}",
        source=SOURCE,
        translated=TRANSLATED,
        source_language="en",
        target_language="de",
        provider="openai",
    )
    return attrs.evolve(made, **changes)


def bad_entry(number: int) -> AppliedParent:
    """One that nothing can write."""
    return entry(number, translated=None)


def stored(path: str) -> tuple[AppliedParent, ...]:
    """What a new reader finds in the file, which must be whole."""
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    connection.close()
    file = HistoryFile(path)
    entries = file.read()
    file.close()
    return entries


class Lock:
    """Another program, in the middle of its own writing."""

    def __init__(self, path: str) -> None:
        self._connection = sqlite3.connect(path, isolation_level=None)
        self._connection.execute("BEGIN IMMEDIATE")

    def release(self) -> None:
        self._connection.close()
