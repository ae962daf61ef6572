"""The handoff: the immutable identity and clean source of a request's logical parents (C2, C3.3).

`Handoff` and `Parent` accept anything, so that a caller's mistake is answered by `register` with a reason and not
by an exception half-way; `examine` is the one judge of what is valid.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import attrs

from .markers import contains_marker
from .redaction import redacted
from .statuses import Purpose

__all__ = ["Handoff", "Parent", "exact", "exact_handoff", "examine", "in_source_order", "is_plainly_valid", "plain"]


@attrs.frozen
class Parent:
    """A logical parent (C2): the semantic unit of translation, and one turn once it is accepted.

    `id` is its identity within the request, `order` its place in the source (an integer from 0, gaps allowed),
    `source` its clean text.
    """

    id: str
    order: int
    source: str = attrs.field(repr=redacted)


def _as_tuple(parents: Any) -> Any:
    if not isinstance(parents, Iterable) or isinstance(parents, str | bytes):
        return parents
    try:
        return tuple(parents)
    except Exception:
        return None  # for `register` to refuse


def _shown(parents: object) -> str:
    """Parents as a `repr` may show them: what is none shows its type only."""
    if not isinstance(parents, tuple):
        return redacted(parents)
    return f"({', '.join(repr(parent) if isinstance(parent, Parent) else redacted(parent) for parent in parents)})"


@attrs.frozen
class Handoff:
    """What the translating side tells the accepting side before it executes (C3.3).

    A request with its session, provider, mode, purpose and parents. Anything can be put in; `Runtime.register`
    refuses what is not valid with `INVALID_HANDOFF` and the reason.
    """

    request_id: str
    session_id: str
    provider: str
    mode: str
    parents: tuple[Parent, ...] = attrs.field(converter=_as_tuple, repr=_shown)
    purpose: str = Purpose.PRIMARY_TRANSLATION


def _missing_text(name: str, value: object) -> str | None:
    if not isinstance(value, str):
        return f"{name} must be text"
    return None if value else f"{name} must not be empty"


def _examine_parent(parent: object, place: int, ids: set[str], orders: set[int], *, executed: bool) -> str | None:
    where = f"parents[{place}]"
    if not isinstance(parent, Parent):
        return f"{where} must be a Parent with id, order and source"
    reason = _missing_text(f"{where}.id", parent.id) or _missing_text(f"{where}.source", parent.source)
    if reason:
        return reason
    if parent.id in ids:
        return f"{where}.id is taken by an earlier parent"
    if not isinstance(parent.order, int) or isinstance(parent.order, bool) or parent.order < 0:
        return f"{where}.order must be an integer of at least 0"
    if parent.order in orders:
        return f"{where}.order is taken by an earlier parent"
    if not executed and contains_marker(parent.source):
        return f"{where}.source contains a marker of the runtime's own grammar"
    ids.add(parent.id)
    orders.add(parent.order)
    return None


def examine(handoff: Handoff, *, executed: bool = False) -> str | None:
    """Why `handoff` is not valid (the first reason, naming the field), or None if it is (C2).

    With `executed`, for a request that the runtime executes itself: it may do without a session, and then takes no part
    (C3); and what looks like a marker in its sources is escaped on the wire.
    """
    purpose: object = handoff.purpose
    if not isinstance(purpose, str):
        return "purpose must be text"
    for name in ("request_id", "session_id", "provider", "mode"):
        value = getattr(handoff, name)
        reason = None if executed and name == "session_id" and value == "" else _missing_text(name, value)
        if reason:
            return reason
    parents: object = handoff.parents
    if not isinstance(parents, tuple):
        return "parents must be a sequence of Parent"
    if not parents:
        return "parents must hold at least one parent"
    ids: set[str] = set()
    orders: set[int] = set()
    for place, parent in enumerate(parents):
        reason = _examine_parent(parent, place, ids, orders, executed=executed)
        if reason:
            return reason
    return None


def exact(text: str) -> str:
    """`text` as a plain `str`: a subclass may show, compare and hash as something else."""
    return text if type(text) is str else str.__str__(text)


def plain(value: Any) -> Any:
    """A text as a plain `str`; what is no text stays as it is, for `examine` to refuse."""
    return exact(value) if isinstance(value, str) else value


def exact_handoff(handoff: Handoff) -> Handoff:
    """`handoff` with every text of it exact; what is no text stays as it is."""

    def plain_parent(parent: Any) -> Any:
        if type(parent) is Parent and type(parent.id) is str and type(parent.source) is str:
            return parent
        if not isinstance(parent, Parent):
            return parent
        return Parent(plain(parent.id), parent.order, plain(parent.source))

    parents: Any = handoff.parents
    return Handoff(
        plain(handoff.request_id),
        plain(handoff.session_id),
        plain(handoff.provider),
        plain(handoff.mode),
        tuple(map(plain_parent, parents)) if isinstance(parents, tuple) else parents,
        plain(handoff.purpose),
    )


def is_plainly_valid(handoff: Handoff) -> bool:
    """Whether a handoff is valid beyond doubt, exact, and in source order already; if not, it may be all the same."""
    purpose, parents = handoff.purpose, handoff.parents
    if type(purpose) is not str and type(purpose) is not Purpose:
        return False
    for text in (handoff.request_id, handoff.session_id, handoff.provider, handoff.mode):
        if type(text) is not str or not text:
            return False
    if type(parents) is not tuple:
        return False
    ids = set()
    last = -1
    for parent in parents:
        if type(parent) is not Parent:
            return False
        identity, order, source = parent.id, parent.order, parent.source
        if type(identity) is not str or type(order) is not int or type(source) is not str:
            return False
        if not identity or order <= last or not source or "<" in source:
            return False
        last = order
        ids.add(identity)
    return 0 < len(ids) == len(parents)


def in_source_order(handoff: Handoff) -> Handoff:
    """The valid `handoff` with its parents in source order (C15)."""
    parents = handoff.parents
    if all(parents[i].order < parents[i + 1].order for i in range(len(parents) - 1)):
        return handoff
    return attrs.evolve(handoff, parents=tuple(sorted(parents, key=lambda parent: parent.order)))
