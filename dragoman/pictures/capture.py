"""Keeps the notes of a run for a picture: the first ones up to a bound, and the number of those that came after."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Iterator
from typing import Any

from ..actors.dispatcher import Note
from ..actors.journal_lines import Lines

__all__ = ["MAX_NOTES", "Capture"]

MAX_NOTES = 100_000
"""Notes that a capture keeps unless it is told otherwise; a page of so many still opens in a browser."""
_KEY_BYTES = 16


class Capture:
    """A journal in memory: set it as `dispatcher.journal`, or tell each note to it.

    A bound of `max_notes`; what comes after it is counted. The first ones are kept, not the newest: a picture whose
    requests have no beginning explains nothing. `texts` for the test data of a scenario alone.
    """

    def __init__(self, *, texts: bool = False, max_notes: int = MAX_NOTES) -> None:
        self.texts = texts
        self.left_out = 0
        self._max_notes = max_notes
        self._notes: list[Note] = []
        self._counting = threading.Lock()

    def __call__(self, note: Note) -> None:
        # An append is atomic; that some threads may pass the bound together costs a few notes more.
        if len(self._notes) < self._max_notes:
            self._notes.append(note)
        else:
            with self._counting:
                self.left_out += 1

    def __len__(self) -> int:
        return len(self._notes)

    def lines(self) -> Iterator[dict[str, Any]]:
        """The notes as a journal tells them, each made when it is taken; the steps of a scenario among them."""
        lines = Lines(secrets.token_bytes(_KEY_BYTES), texts=self.texts)
        for note in self._notes:
            if note[0] == "step":
                _kind, at_us, step, line, what = note
                yield {"t": at_us, "k": "step", "step": step, "line": line, "what": what}
            else:
                yield lines.line(note)
