"""Documents as features: HTML, subtitles, Markdown and plain text, translated in place (C3.3).

They need the extra `documents`; without it, importing them raises `MissingExtra`.
"""

from __future__ import annotations

from ..missing import MissingExtra

try:
    from .document import Document
    from .html import HtmlDocument
    from .invalid import InvalidDocument
    from .markdown import MarkdownDocument
    from .plain import PlainText
    from .subtitles import Subtitles
except ModuleNotFoundError as missing:
    if (missing.name or "").startswith("dragoman"):
        raise
    raise MissingExtra("documents", "dragoman.documents") from None

__all__ = ["Document", "HtmlDocument", "InvalidDocument", "MarkdownDocument", "PlainText", "Subtitles"]
