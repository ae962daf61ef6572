"""The pages of the documentation that are made from the product, so that they cannot say something else.

They are committed, because they should be readable without building anything. `python -m docs.generate` in the checkout
writes them anew; a test compares them with what the code says now.

Nothing of this is installed with the package, and nothing here changes what the package does.
"""

from __future__ import annotations

from pathlib import Path

from . import errors, promises, settings, states

__all__ = ["COMMAND", "DOCS", "pages"]

COMMAND = "python -m docs.generate"
"""What writes the pages anew, in the folder of the checkout."""

DOCS = Path(__file__).resolve().parent.parent


def pages() -> dict[Path, str]:
    """Each generated page by its file, as it should be."""
    guarantees = DOCS / "guarantees.md"
    return {
        DOCS / "settings.md": settings.page(),
        DOCS / "states.md": states.page(),
        DOCS / "errors.md": errors.page(),
        guarantees: promises.filled_in(guarantees.read_text(encoding="utf-8")),
    }
