"""Watching the log for content: no line may show source, translation or prompt text (C14)."""

from __future__ import annotations

from collections.abc import Iterable
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
    "a turn could not be written",
    "the runtime did not come to rest",
    "a feature failed with",
    "a progress callback raised",
    "the provider",
    "raised",
    "returned",
    "in the place of a Completion of texts",
    "the feature history could not be written",
    "a callback of the feature history raised",
    "the proposal",
    "content of",
    "content hit in",
    "content miss in",
    "was stored",
    "was not stored",
    "is gone",
    "bytes",
    "bytes, sha256",
    "is",
    "by",
    "the call",
    "was not recorded",
    *(word.value for words in (ContentKind, SkipReason, MissReason, ProposalState) for word in words),
)
"""What the package's own log lines say apart from their fields; a text that is part of it tells nothing."""


class LogWatch:
    """Collects the lines that the package logs while it is open, whatever the program has switched on."""

    def __init__(self) -> None:
        self._lines: list[str] = []
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

    def leaks(self, texts: Iterable[str], ids: Iterable[str]) -> bool:
        """Whether a line since the last look shows one of `texts`; what is part of an id does not count."""
        lines, self._lines = self._lines, []
        if not lines:
            return False
        names = (*ids, *OWN_WORDS)
        telling = [text for text in texts if len(text) >= _TELLING and not any(text in name for name in names)]
        return any(text in line or repr(text)[1:-1] in line for line in lines for text in telling)

    def _take(self, message: Message) -> None:
        record = message.record
        fields = " ".join(str(value) for value in record["extra"].values())
        self._lines.append(f"{record['message']} {fields}")
        if record["exception"] is not None:
            self._lines.append(str(record["exception"].value))
