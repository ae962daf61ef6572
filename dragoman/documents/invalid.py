"""What is no document that can be read."""

from __future__ import annotations

from ..protocol.errors import DragomanError

__all__ = ["InvalidDocument"]


class InvalidDocument(DragomanError, ValueError):
    """A document cannot be read: `document` names it, `problem` says why and where, never with its text.

    Raised as a document is made. What to do: correct the document at that place, or give its encoding.
    """

    fields = ("document", "problem")

    def __init__(self, document: str, problem: str) -> None:
        super().__init__(f"{document}: {problem}")
        self.document = document
        self.problem = problem
