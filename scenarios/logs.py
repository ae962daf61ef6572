"""Watching the log for content: no line may show source, translation or prompt text (C14)."""

from __future__ import annotations

from collections.abc import Iterable
from types import TracebackType
from typing import TYPE_CHECKING

from loguru import logger

if TYPE_CHECKING:
    from loguru import Message

__all__ = ["LogWatch"]

_TELLING = 6
"""Shorter texts are too likely to stand in a line by chance."""


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
        names = tuple(ids)
        telling = [text for text in texts if len(text) >= _TELLING and not any(text in name for name in names)]
        return any(text in line for line in lines for text in telling)

    def _take(self, message: Message) -> None:
        # The fixed words of a line are the program's own; what could leak comes in by its fields.
        record = message.record
        self._lines.append(" ".join(str(value) for value in record["extra"].values()))
        if record["exception"] is not None:
            self._lines.append(str(record["exception"].value))
