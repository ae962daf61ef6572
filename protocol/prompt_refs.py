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
Earlier results, newest first: ref, role.method, kind, size. If a request builds on one, pick its line; unless kind \
and size answer it, call get_content(ref). On a miss follow its guidance: make nothing up."""
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

    `text` is what to add to it: the instructions, unless they were left out, and `lines`; empty without a line. `lines`
    holds the records, newest first, one a line; ids, kinds and sizes only. `shown` counts them, `omitted` those that
    are stored and did not fit. `growth` is the length of `text` by that of the conversation, where that was given.
    """

    lines: str
    text: str
    shown: int
    omitted: int
    growth: float | None = None

    @property
    def instructions(self) -> str:
        """How to use the lines, for a system prompt that has it once."""
        return INSTRUCTIONS


def line_of(record: CallRecord) -> str:
    """One record whose content is there, on one line whatever its names are."""
    kind = record.content_kind.value if record.content_kind is not None else "?"
    named = "".join(f"{record.role}.{record.method}".split())
    return f"{record.content_ref} {named} {kind} {record.content_bytes}B"


def render_refs(
    newest_first: Iterable[CallRecord],
    max_chars: int,
    conversation_chars: int | None,
    *,
    max_growth: float | None = None,
    instructions: bool = True,
) -> PromptRefs:
    """As many of the newest records as fit into `max_chars` characters of lines, line breaks counted.

    Where the conversation is known and `max_growth` is given, no more than that is added to it, the instructions
    counted; only the newest record stands there in any case. A record that would not even fit alone keeps none of those
    behind it from their place.
    """
    above = len(INSTRUCTIONS) + 1 if instructions else 0
    room = max_chars
    if conversation_chars and max_growth is not None:
        room = min(room, int(conversation_chars * max_growth) - above)
    lines: list[str] = []
    used = omitted = 0
    full = False
    for line in map(line_of, newest_first):
        needed = len(line) + bool(lines)
        if full or used + needed > (room if lines else max_chars):
            omitted += 1
            full = full or len(line) <= max_chars
            continue
        lines.append(line)
        used += needed
    block = "\n".join(lines)
    text = f"{INSTRUCTIONS}\n{block}" if block and instructions else block
    growth = len(text) / conversation_chars if conversation_chars else None
    return PromptRefs(lines=block, text=text, shown=len(lines), omitted=omitted, growth=growth)
