"""What an earlier run has paid for: accepted parents of the durable feature history, put in again (C13)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import attrs

from .actors.boundary import Dispatched, FeatureBoundary
from .protocol.applied import AppliedParent
from .protocol.features import Feature
from .protocol.redaction import redacted

__all__ = ["Resumed", "resume"]


@attrs.frozen
class Resumed:
    """A parent that was accepted in an earlier run, as it would be acknowledged: its clean texts."""

    source: str = attrs.field(repr=redacted)
    translated: str = attrs.field(repr=redacted)


def resume(
    document: Feature,
    parents: Mapping[str, tuple[str, ...]],
    entries: Iterable[AppliedParent],
    *,
    languages: tuple[str, str],
    provider: str,
) -> dict[str, Resumed]:
    """Apply to `document` what `entries` hold of its `parents`; the parents that were applied, by their ids.

    An entry counts if its languages (source, target) and provider are these, and its source is that of the parent,
    segment by segment; it serves one parent. The newest entry of a parent's own id goes first. Where a document was
    edited and its parents are numbered anew, entries will do that are no parent's own. The document judges each as it
    judges a new one.
    """
    left: dict[tuple[str, ...], dict[str, AppliedParent]] = {}
    for entry in entries:
        if (entry.source_language, entry.target_language, entry.provider) == (*languages, provider):
            source = tuple(before for before, _after in entry.segments)
            left.setdefault(source, {})[entry.parent_id] = entry
    own = {parent_id: left.get(source, {}).pop(parent_id, None) for parent_id, source in parents.items()}
    boundary = FeatureBoundary(document)
    resumed: dict[str, Resumed] = {}
    for parent_id, source in parents.items():
        others = left.get(source)
        found = own[parent_id] or (others.pop(next(iter(others))) if others else None)
        if found is None:
            continue
        translated = tuple(after for _before, after in found.segments)
        dispatched, _word = boundary.dispatch(parent_id, found.source, translated)
        if dispatched is Dispatched.APPLIED:
            resumed[parent_id] = Resumed(found.source, found.translated)
    return resumed
