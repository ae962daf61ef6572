"""Requests that the runtime executes itself, and the plan that it makes of one before it starts (C3.4, C4)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from typing import Any

import attrs

from .handoff import Handoff, Parent, exact, examine, plain
from .redaction import redacted
from .settings import Settings
from .statuses import Purpose
from .units import ParentPlan, Unit, fill_batches, plan_parent, unit_ids_clash

__all__ = ["DirectRequest", "Plan", "TranslationRequest", "plan_direct", "plan_translation"]


def _snapshot(parents: Any) -> Any:
    """The caller's mapping as it is now, as pairs of an id and its segments; such pairs may be given instead."""
    try:
        pairs = tuple(parents.items()) if isinstance(parents, Mapping) else parents
        if not isinstance(pairs, tuple) or not all(isinstance(pair, tuple) and len(pair) == 2 for pair in pairs):
            return None
        return tuple((parent_id, _segments(source)) for parent_id, source in pairs)
    except Exception:
        return None  # for `translate` to refuse


def _segments(source: Any) -> Any:
    if isinstance(source, str | Mapping | Set) or not isinstance(source, Iterable):
        return plain(source)
    return tuple(plain(segment) for segment in source)


def _shown(parents: object) -> str:
    return f"<{len(parents)} parents>" if isinstance(parents, tuple) else redacted(parents)


@attrs.frozen
class TranslationRequest:
    """A whole request: the parents of a session, to be translated by a provider.

    `parents` maps each id to its clean text, or to the list of its segments (the text nodes of one block), in source
    order. Anything can be put in; `Runtime.translate` refuses what is not valid with `INVALID_HANDOFF` and the reason.
    """

    request_id: str
    session_id: str
    parents: Mapping[str, str | Iterable[str]] = attrs.field(converter=_snapshot, repr=_shown)
    target_language: str
    source_language: str = attrs.field(default="en", kw_only=True)
    provider: str = attrs.field(default="openai", kw_only=True)
    mode: str = attrs.field(default="select-element", kw_only=True)
    purpose: str = attrs.field(default=Purpose.PRIMARY_TRANSLATION, kw_only=True)


@attrs.frozen
class DirectRequest:
    """One scalar call on the direct path: a single text without the life of a parent (C4)."""

    request_id: str
    session_id: str
    source: str = attrs.field(repr=redacted)
    target_language: str
    source_language: str = attrs.field(default="en", kw_only=True)
    provider: str = attrs.field(default="openai", kw_only=True)
    mode: str = attrs.field(default="select-element", kw_only=True)
    purpose: str = attrs.field(default=Purpose.PRIMARY_TRANSLATION, kw_only=True)


@attrs.frozen(kw_only=True)
class Plan:
    """A valid request, split into wire units and batches before anything is done.

    `history_until` names the last request whose turns go into its prompts; None for no limit.
    """

    handoff: Handoff
    source_language: str
    target_language: str
    parents: tuple[ParentPlan, ...]
    batches: tuple[tuple[Unit, ...], ...]
    direct: bool
    history_until: str | None = None


def plan_translation(request: TranslationRequest, settings: Settings, history_until: str | None = None) -> Plan | str:
    """The plan of a translation, or why it is not valid (C3.3): the first reason, naming the field."""
    found: Any = request.parents
    pairs = found if isinstance(found, tuple) else ()
    sources = tuple(
        Parent(plain(parent_id), order, source if isinstance(source, str) else _joined(source))
        for order, (parent_id, source) in enumerate(pairs)
    )
    if not isinstance(found, tuple):
        return "parents must map ids to a text or to a list of segments"
    handoff = _handoff(request, sources)
    reason = _examine(request, handoff)
    if reason is not None:
        return reason
    parents = tuple(
        plan_parent(parent.id, (parent.source,) if isinstance(source, str) else source, settings.batch_chars)
        for parent, (_id, source) in zip(sources, pairs, strict=True)
    )
    clash = unit_ids_clash(parents)
    if clash is not None:
        return f"parents: the id {clash!r} is also the id of a unit of a longer parent"
    units = tuple(unit for parent in parents for unit in parent.units)
    return Plan(
        handoff=handoff,
        source_language=exact(request.source_language),
        target_language=exact(request.target_language),
        parents=parents,
        batches=fill_batches(units, settings.batch_chars, settings.batch_units),
        direct=False,
        history_until=history_until,
    )


def plan_direct(request: DirectRequest) -> Plan | str:
    """The plan of a direct call, or why it is not valid: one unit, named as the request, never split."""
    source = plain(request.source)
    handoff = _handoff(request, (Parent(plain(request.request_id), 0, source),))
    reason = _examine(request, handoff)
    if reason is not None:
        return reason.replace("parents[0].source", "source").replace("parents[0].id", "request_id")
    parent = plan_parent(handoff.request_id, (source,), len(source))
    return Plan(
        handoff=handoff,
        source_language=exact(request.source_language),
        target_language=exact(request.target_language),
        parents=(parent,),
        batches=(parent.units,),
        direct=True,
    )


def _joined(segments: Any) -> Any:
    """The clean source of a parent of segments (C3.2): joined with nothing between; None if they are no texts."""
    if isinstance(segments, tuple) and segments and all(isinstance(segment, str) for segment in segments):
        return "".join(segments)
    return None


def _handoff(request: TranslationRequest | DirectRequest, parents: tuple[Parent, ...]) -> Handoff:
    return Handoff(
        plain(request.request_id),
        plain(request.session_id),
        plain(request.provider),
        plain(request.mode),
        parents,
        plain(request.purpose),
    )


def _examine(request: TranslationRequest | DirectRequest, handoff: Handoff) -> str | None:
    for name in ("source_language", "target_language"):
        value: object = plain(getattr(request, name))
        if not isinstance(value, str) or not value:
            return f"{name} must be text that is not empty"
    return examine(handoff, executed=True)
