"""The feature boundary (C3.3): how a translated parent reaches the application, and what may go wrong there.

A feature is the application's side of a request: a page, a subtitle file, a plain mapping. The runtime dispatches each
complete parent to it once. The feature reconstructs and validates, and answers with replacements; these are applied all
or nothing, undone in reverse if one fails, and the parent gets exactly one ACK: accepted, or rejected.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol, runtime_checkable

from .errors import DragomanError, InvalidArgument
from .failures import is_error_name

__all__ = ["DispatchFailed", "Feature", "ParentRefused", "Replacement"]


class DispatchFailed(DragomanError, RuntimeError):
    """Raised by a feature that can take nothing more of this request: its handle closes as `DISPATCH_FAILED` (C4).

    What to do: raise it in `Feature.dispatch`, for example when the document is gone; a program never has to catch it.
    """

    def __init__(self) -> None:
        super().__init__("the results of this request cannot be handed to the feature")


class ParentRefused(DragomanError, ValueError):
    """Raised by a feature that does not accept this parent: it is rejected, and nothing of it is applied (C3.3).

    `reason` is a word in capitals that says why, such as `STRUCTURE`; never a text. It goes into the diagnostics.
    What to do: raise it in `Feature.dispatch`; a program never has to catch it.
    """

    fields = ("reason",)

    def __init__(self, reason: str | None = None) -> None:
        if reason is not None and not is_error_name(reason):
            raise InvalidArgument("reason", "must be a word in capitals, such as STRUCTURE")
        super().__init__(
            "the feature does not accept the translation of this parent" + (f": {reason}" if reason else "")
        )
        self.reason = reason


@runtime_checkable
class Replacement(Protocol):
    """One change of the feature's own state. One that raises in `apply` must have changed nothing."""

    def apply(self) -> None: ...

    def undo(self) -> None: ...


@runtime_checkable
class Feature(Protocol):
    """The application's side of one request. Its methods are called one at a time, on a thread of the runtime.

    They must return at once. Any other exception than the two of this module rejects the parent as well. A feature may
    have an attribute `by_hand`: true if it is the application that acknowledges its parents, from the start.
    """

    @property
    def document(self) -> str:
        """What is translated: the identity under which the durable feature history keeps its parents."""
        ...

    def dispatch(self, parent_id: str, segments: tuple[str, ...]) -> Iterable[Replacement] | None:
        """Take a translated parent, as one text for each of its segments.

        Answers with the replacements that put it in, in order; None if the application applies and acknowledges the
        parent itself, by `Runtime.acknowledge` or `Runtime.reject`. Raises `ParentRefused` or `DispatchFailed`.
        """
        ...
