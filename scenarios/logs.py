"""Watching the log for content: no line may show source, translation or prompt text (C14)."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from types import TracebackType
from typing import TYPE_CHECKING

from loguru import logger

from ..protocol.statuses import ContentKind, MissReason, ProposalState, SkipReason

if TYPE_CHECKING:
    from loguru import Message

__all__ = ["OWN_WORDS", "LogWatch"]

_TELLING = 6
"""Shorter texts are too likely to stand in a line by chance."""

OWN_WORDS = (
    "dead letter",
    "actor",
    "failed with",
    "in",
    "line",
    "stopped",
    "closed",
    "the event loop closed before an answer that was awaited on it",
    "a callback of a future raised",
    "a worker survived",
    "the timers survived",
    "a turn could not be written",
    "the runtime did not come to rest",
    "a feature failed with",
    "a progress callback raised",
    "the provider",
    "raised",
    "returned",
    "in the place of a Completion of texts",
    "the feature history could not be written",
    "the journal cannot be written",
    "a callback of the feature history raised",
    "the proposal",
    "content",
    "bytes, digest",
    "is",
    "by",
    "the call",
    "was not recorded",
    *(word.value for words in (ContentKind, SkipReason, MissReason, ProposalState) for word in words),
)
"""What the package's own log lines say apart from their fields; a text that is part of it tells nothing."""


_OWN = frozenset({*OWN_WORDS, ""})
_NO_TEXT = re.compile(r"\w+\.py|[0-9a-f]{64}|content:[a-z2-7]{26}|-?[0-9.]+|None")
"""Fields that cannot be content: modules, digests, refs, numbers."""


class LogWatch:
    """Collects the lines that the package logs while it is open, whatever the program has switched on.

    `messages` holds them as they were since the last look.
    """

    def __init__(self) -> None:
        self.messages: list[str] = []
        self._lines: list[str] = []
        self._quoted: dict[str, str] = {}
        self._sink: int | None = None

    def __enter__(self) -> LogWatch:
        logger.enable("dragoman")
        self._sink = logger.add(self._take, level=0, filter="dragoman", format="{message}", catch=False)
        return self

    def __exit__(
        self, _type: type[BaseException] | None, _error: BaseException | None, _traceback: TracebackType | None
    ) -> None:
        if self._sink is not None:
            logger.remove(self._sink)
        logger.disable("dragoman")

    def leaks(self, texts: Iterable[str], ids: Collection[str]) -> bool:
        """Whether a line since the last look shows one of `texts`; what is part of an id does not count."""
        lines, self._lines, self.messages = "\0".join(self._lines), [], []
        if not lines:
            return False
        shown = (text for text in texts if len(text) >= _TELLING and self._stands_in(lines, text))
        return any(not any(text in name for name in (*ids, *OWN_WORDS)) for text in shown)

    def _stands_in(self, lines: str, text: str) -> bool:
        if text in lines:
            return True
        quoted = self._quoted.get(text)
        if quoted is None:
            quoted = self._quoted[text] = repr(text)[1:-1]
        return quoted in lines

    def _take(self, message: Message) -> None:
        """Keep what a line says beyond what the package always says, each field by itself."""
        record = message.record
        fields = [str(value) for value in record["extra"].values()]
        said = record["message"]
        self.messages.append(said)
        for value in sorted(filter(None, fields), key=len, reverse=True):
            said = said.replace(value, "\0")
        if not all(piece.strip(" :,/") in _OWN for piece in said.split("\0")):
            self._lines.append(record["message"])
        self._lines += (value for value in fields if not _NO_TEXT.fullmatch(value))
        if record["exception"] is not None:
            self._lines.append(str(record["exception"].value))
