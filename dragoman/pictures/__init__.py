"""Pictures of a run: what its journal tells, as one page that explains itself."""

from __future__ import annotations

from ..actors.journal_reader import InvalidJournal, read_journal
from .capture import Capture
from .page import page
from .picture import Failed, Outcome, Picture
from .reading import picture_of
from .trace import trace

__all__ = ["Capture", "Failed", "InvalidJournal", "Outcome", "Picture", "page", "picture_of", "read_journal", "trace"]
