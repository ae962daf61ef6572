"""Requests as the tests of sharding make them."""

from __future__ import annotations

from dragoman import Handoff, Parent, TranslationRequest
from dragoman.sharding import RayRuntime

__all__ = ["page", "request_of", "sessions_on"]


def page(request_id: str, session_id: str, *parents: str, mode: str = "select-element") -> Handoff:
    """A handoff whose sources are the ids of its parents."""
    found = tuple(Parent(parent, place, parent) for place, parent in enumerate(parents or ("p1",)))
    return Handoff(request_id, session_id, "openai", mode, found)


def request_of(request_id: str, session_id: str, *parents: str) -> TranslationRequest:
    return TranslationRequest(request_id, session_id, {parent: parent for parent in parents or ("p1",)}, "de")


def sessions_on(runtime: RayRuntime, shard: int, count: int = 1) -> list[str]:
    """The first sessions, in the order of their numbers, that belong to a shard."""
    found: list[str] = []
    number = 0
    while len(found) < count:
        if runtime.shard_of(f"s{number}") == shard:
            found.append(f"s{number}")
        number += 1
    return found
