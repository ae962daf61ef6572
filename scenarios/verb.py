"""A verb of the timeline: what it takes, what it does to a runtime, and how its reply reads."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import attrs

from ..actors.futures import Future
from ..protocol.statuses import Purpose
from ..runtime import Runtime
from .reading import Name
from .stage import Stage

__all__ = [
    "LOOSE_MODE",
    "LOOSE_PROVIDER",
    "LOOSE_PURPOSE",
    "MODE",
    "PROVIDER",
    "PURPOSE",
    "Loose",
    "OfRequest",
    "Verb",
    "words",
]

PROVIDER = Name("openai")
MODE = Name("select-element")
PURPOSE = Name(Purpose.PRIMARY_TRANSLATION.value)


@attrs.frozen
class Loose:
    """A text of a handoff, or whatever stands in its place."""

    value: object


LOOSE_PROVIDER = Loose(PROVIDER)
LOOSE_MODE = Loose(MODE)
LOOSE_PURPOSE = Loose(PURPOSE)


class Verb:
    """A verb with its argument. `statuses`: the words that may be expected of it; `replies`: the keys of its reply."""

    what: ClassVar[str]
    statuses: ClassVar[frozenset[str]] = frozenset()
    replies: ClassVar[frozenset[str]] = frozenset()

    def post(self, stage: Stage) -> Future[Any] | None:
        """Send it; the future of its reply, or None where there is none."""
        raise NotImplementedError

    def read(self, answer: Any) -> Any:
        """The reply as `expect` compares it; one without keys as it is."""
        return answer if not self.replies else {name: _plain(getattr(answer, name)) for name in sorted(self.replies)}

    def read_error(self, error: Exception) -> Any:
        """The reply that an error stands for; None for one that is a failure of the step."""
        return None

    def ids(self) -> Iterator[object]:
        """The ids and names that it uses."""
        return iter(())

    def texts(self) -> Iterator[object]:
        """The content that it brings, which no log line may show."""
        return iter(())


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def words(*enums: type) -> frozenset[str]:
    """The words of some enums."""
    return frozenset(str(word) for enum in enums for word in enum)  # type: ignore[attr-defined]


class OfRequest(Verb):
    """A verb whose argument is a request id alone."""

    request: str

    call: ClassVar[Callable[[Runtime, str], Future[Any]]]
    replies = frozenset({"status"})

    def __init__(self, request: str) -> None:
        self.request = request

    def post(self, stage: Stage) -> Future[Any]:
        return type(self).call(stage.runtime, self.request)
