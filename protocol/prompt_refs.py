"""Refs in a prompt: a line a record, how to use them, and what to say when one does not resolve (P phase 2).

A prompt carries refs in the place of payloads, within a budget of characters, so that it stays about as long as it was.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

import attrs

from .records import CallRecord
from .statuses import LowUtility, MissReason

__all__ = ["INSTRUCTIONS", "LOW_UTILITY_GUIDANCE", "MISS_GUIDANCE", "PromptRefs", "line_of", "render_refs"]

INSTRUCTIONS = """\
Earlier results, newest first: ref, call, role.method, kind, size. If a request builds on one: 1. tell that it does; \
2. pick the line it means; 3. if kind and size answer it, do not fetch; 4. else call get_content(ref) and use what it \
returns. If that is content_ref_not_found, say so and follow its guidance; never make up an earlier result."""
"""What stands above the lines: the order of reasoning of P phase 2, for the model."""

MISS_GUIDANCE: Mapping[MissReason, str] = MappingProxyType(
    {
        MissReason.EVICTED: "Say that the earlier result had to make room for newer ones, and offer to make it again. "
        "Do not write it from memory.",
        MissReason.EXPIRED: "Say that the earlier result was kept for a limited time that is over, and offer to make "
        "it again. Do not write it from memory.",
        MissReason.UNKNOWN: "Say that no earlier result is known under that name here, and ask which one is meant. "
        "Do not guess, and do not try other refs.",
        MissReason.NOT_STORED: "Say that the earlier result was made but not kept, and offer to make it again. "
        "Do not write it from memory.",
    }
)
"""What to say, and what not to make up, for each reason of a miss."""

LOW_UTILITY_GUIDANCE: Mapping[LowUtility, str] = MappingProxyType(
    {
        LowUtility.NO_FOLLOW_UP_INTENT: "Nothing said refers to an earlier result: answer it by itself.",
        LowUtility.NO_PRIOR_CONTENT: "There is no such earlier result: say so, and ask for it.",
    }
)


@attrs.frozen(kw_only=True)
class PromptRefs:
    """Refs for a prompt.

    `lines` holds the records, newest first, one a line; ids, kinds and sizes only. `shown` counts them, `omitted` those
    that are stored and did not fit. `growth` is the length of `text` by that of the conversation, where that was given.
    """

    lines: str
    shown: int
    omitted: int
    growth: float | None = None

    @property
    def text(self) -> str:
        """What to add to the system prompt: instructions and lines; empty without a line."""
        return f"{INSTRUCTIONS}\n{self.lines}" if self.lines else ""


def line_of(record: CallRecord) -> str:
    """One record whose content is there."""
    kind = record.content_kind.value if record.content_kind is not None else "?"
    return f"{record.content_ref} {record.id} {record.role}.{record.method} {kind} {record.content_bytes}B"


def render_refs(newest_first: Iterable[CallRecord], max_chars: int, conversation_chars: int | None) -> PromptRefs:
    """As many of the newest records as fit into `max_chars` characters, line breaks counted."""
    lines: list[str] = []
    left = max_chars
    omitted = 0
    for record in newest_first:
        line = " ".join(line_of(record).split())
        needed = len(line) + bool(lines)
        if omitted or needed > left:
            omitted += 1
            continue
        lines.append(line)
        left -= needed
    refs = PromptRefs(lines="\n".join(lines), shown=len(lines), omitted=omitted)
    if not conversation_chars:
        return refs
    return attrs.evolve(refs, growth=len(refs.text) / conversation_chars)
