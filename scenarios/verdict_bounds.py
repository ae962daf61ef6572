"""Looks at the whole: the bounds that hold at every moment, and the conservation of messages at rest."""

from __future__ import annotations

from collections.abc import Iterator

from .verdict_breaches import BOUNDS, CONSERVATION, NO_FAULT, Breach
from .verdict_facts import Look, Rules

__all__ = ["breaches_of_look"]


def breaches_of_look(look: Look, rules: Rules) -> Iterator[Breach]:
    """What is wrong with one look by itself."""
    for count, limit, what in (
        (len(look.sessions), rules.max_sessions, "live sessions are more than max_sessions"),
        (len(look.open_requests), rules.max_open_handles, "open handles are more than max_open_handles"),
        (look.store_bytes, rules.store_total_bytes, "bytes of content are more than store_total_bytes"),
    ):
        if count > limit:
            yield Breach(BOUNDS, f"{count} {what} ({limit})")
    for session, turns, _counter in look.sessions:
        if len(turns) > rules.max_turns:
            yield Breach(BOUNDS, f"{session} keeps {len(turns)} turns, more than max_turns ({rules.max_turns})")
    for session, entries, held_bytes in look.store:
        if entries > rules.store_max_entries:
            yield Breach(BOUNDS, f"{session} has {entries} entries, more than store_max_entries")
        if held_bytes > rules.store_max_bytes:
            yield Breach(BOUNDS, f"{session} has {held_bytes} bytes of content, more than store_max_bytes")
    if look.failed:
        yield Breach(NO_FAULT, f"{look.failed} handlers failed")
    if look.at_rest:
        yield from _conservation(look)


def _conservation(look: Look) -> Iterator[Breach]:
    counted = f"{look.sent} sent, {look.handled} handled, {look.dead} dead, {look.queued} queued"
    if look.sent != look.handled + look.dead + look.queued:
        yield Breach(CONSERVATION, counted)
    elif look.queued:
        yield Breach(CONSERVATION, f"at rest, and not empty: {counted}")
    if look.store_bytes != sum(held for _session, _entries, held in look.store):
        yield Breach(CONSERVATION, "the store counts other bytes than its sessions hold")
