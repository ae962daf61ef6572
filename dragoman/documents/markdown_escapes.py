"""Writing text into Markdown: what it would read as markup is escaped, and ordinary prose is left as it is."""

from __future__ import annotations

import re
import string

from markdown_it.common.utils import normalizeReference

from .markdown_parser import References

__all__ = ["escaped", "escaped_everywhere"]

_PUNCTUATION = re.compile("[" + re.escape(string.punctuation) + "]")
_SPECIAL = re.compile(r"[\\`*_~\[\]<&!]")
_ENTITY = re.compile(r"&(?:#[xX][0-9a-fA-F]{1,6}|#[0-9]{1,7}|[a-zA-Z][a-zA-Z0-9]{1,31});")
_PLAIN_BRACKETS = re.compile(r"\[([^\[\]\\`*_<&!~|]+)\]")
_LINE_START = re.compile(r"#{1,6}(?=\s|\Z)|[-+](?![^\W_])|=+\s*\Z|>|\d{1,9}(?=[.)](?:\s|\Z))")
_CLOSING_HASHES = re.compile(r"(?:(?<=\s)|\A)(?=#+\Z)")


def escaped(
    text: str,
    before: str,
    after: str,
    references: References,
    *,
    line_start: bool,
    follows_definition: bool,
    ends_heading: bool,
) -> str:
    """`text` for a place between the characters `before` and `after`, with as few backslashes as will mostly do.

    `line_start`: it stands at the start of a line, which with `follows_definition` is the one behind a link reference
    definition. What comes out is to be parsed again: some places need `escaped_everywhere`.
    """
    kept = _plain_brackets(text, after, references)

    def one(found: re.Match[str]) -> str:
        at = found.start()
        previous = text[at - 1] if at else before
        following = text[at + 1] if at + 1 < len(text) else after
        last = at + 1 == len(text)
        if at in kept or _is_plain(found[0], previous, following, last, starts=line_start and at == 0):
            return found[0]
        if found[0] == "&" and not (last or _ENTITY.match(text, at)):
            return "&"
        return "\\" + found[0]

    written = _SPECIAL.sub(one, text)
    if line_start:
        written = _at_line_start(written, follows_definition)
    return _CLOSING_HASHES.sub(r"\\", written, count=1) if ends_heading else written


def escaped_everywhere(text: str) -> str:
    """`text` with each character escaped that can be a part of markup."""
    # Behind a backslash of its own, and as the border of a cell, these two would not be only themselves.
    return _PUNCTUATION.sub(lambda found: {"\\": "&#92;", "|": "&#124;"}.get(found[0], "\\" + found[0]), text)


def _is_plain(character: str, previous: str, following: str, last: bool, *, starts: bool) -> bool:
    """Whether a special character between these two can be no markup; at the edges of a block they are empty."""
    alone = not (previous.strip() or following.strip() or starts)
    match character:
        case "\\":
            return not last and following not in string.punctuation and following != "\n"
        case "*":
            return alone
        case "_":
            return alone or (previous.isalnum() and following.isalnum())
        case "~":
            return following != "~" and (not previous.strip() or previous == "(")
        case "<":
            return not (following.isalpha() or following in "/!?") if following and not last else not following.strip()
        case "!":
            return not (last and following == "[")
    return False


def _plain_brackets(text: str, after: str, references: References) -> frozenset[int]:
    """Where brackets stand that are neither a link nor a definition."""
    kept: set[int] = set()
    for found in _PLAIN_BRACKETS.finditer(text):
        following = text[found.end()] if found.end() < len(text) else after
        if following not in ("(", "[", ":") and normalizeReference(found[1]) not in references:
            kept.update((found.start(), found.end() - 1))
    return frozenset(kept)


def _at_line_start(written: str, follows_definition: bool) -> str:
    found = _LINE_START.match(written)
    if found is not None:
        at = found.end() if found[0].isdigit() else 0
        return f"{written[:at]}\\{written[at:]}"
    # Such a line could be read as the title of the definition.
    return f"\\{written}" if follows_definition and written.startswith(('"', "'", "(")) else written
