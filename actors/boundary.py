"""The feature boundary of one request (C3.3): a translated parent is applied all or nothing, and acknowledged once.

The result is checked by the ACK's own rules before anything is applied. Replacements are applied in order; if one fails
those before it are undone in reverse. A fault in the application's code rejects the parent and nothing else; it is
logged by type and place.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from ..protocol.content import is_clean_result
from ..protocol.features import DispatchFailed, Feature, ParentRefused, Replacement
from . import interrupts
from .reporting import place_of, report

__all__ = ["Dispatched", "FeatureBoundary"]


class Dispatched(StrEnum):
    """What became of a parent at the boundary."""

    APPLIED = "APPLIED"
    LEFT_TO_CALLER = "LEFT_TO_CALLER"
    NOT_CLEAN = "NOT_CLEAN"
    REFUSED = "REFUSED"
    FAULTY = "FAULTY"
    ROLLED_BACK = "ROLLED_BACK"
    UNDELIVERABLE = "UNDELIVERABLE"


class FeatureBoundary:
    """Hands the parents of one request to its feature; without one, they are left to the caller."""

    __slots__ = ("_feature",)

    def __init__(self, feature: Feature | None) -> None:
        self._feature = feature

    def dispatch(self, parent_id: str, source: str, segments: tuple[str, ...]) -> Dispatched:
        """Dispatch a complete parent."""
        clean = is_clean_result("".join(segments), source)
        if not clean:
            return Dispatched.NOT_CLEAN
        if self._feature is None:
            return Dispatched.LEFT_TO_CALLER
        try:
            replacements = self._feature.dispatch(parent_id, segments)
        except BaseException as fault:
            return _refusal(fault, applied=False)
        return Dispatched.LEFT_TO_CALLER if replacements is None else _apply(replacements)


def _apply(replacements: Iterable[Replacement]) -> Dispatched:
    applied: list[Replacement] = []
    try:
        for replacement in replacements:
            replacement.apply()
            applied.append(replacement)
    except BaseException as fault:
        for replacement in reversed(applied):
            try:
                replacement.undo()
            except BaseException as second:
                _note(second)
        return _refusal(fault, applied=bool(applied))
    return Dispatched.APPLIED


def _refusal(fault: BaseException, *, applied: bool) -> Dispatched:
    """What a parent comes to whose feature raised; whatever it raised must not end the request."""
    if isinstance(fault, DispatchFailed):
        return Dispatched.UNDELIVERABLE
    refused = isinstance(fault, ParentRefused)
    if not refused:
        _note(fault)
    if applied:
        return Dispatched.ROLLED_BACK
    return Dispatched.REFUSED if refused else Dispatched.FAULTY


def _note(fault: BaseException) -> None:
    interrupts.keep(fault)
    module, line = place_of(fault)
    report(
        "ERROR",
        "a feature failed with {error_type} in {module}, line {line}",
        error_type=type(fault).__name__,
        module=module,
        line=line,
    )
