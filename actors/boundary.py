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

    def dispatch(self, parent_id: str, source: str, segments: tuple[str, ...]) -> tuple[Dispatched, str]:
        """Dispatch a complete parent: what became of it, and a word that says more."""
        clean = is_clean_result("".join(segments), source)
        if not clean:
            return _came_to(Dispatched.NOT_CLEAN)
        if self._feature is None:
            return _came_to(Dispatched.LEFT_TO_CALLER)
        try:
            replacements = self._feature.dispatch(parent_id, segments)
        except BaseException as fault:
            return _refusal(fault, applied=False)
        return _came_to(Dispatched.LEFT_TO_CALLER) if replacements is None else _apply(replacements)


def _came_to(dispatched: Dispatched) -> tuple[Dispatched, str]:
    return dispatched, dispatched.value


def _apply(replacements: Iterable[Replacement]) -> tuple[Dispatched, str]:
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
    return _came_to(Dispatched.APPLIED)


def _refusal(fault: BaseException, *, applied: bool) -> tuple[Dispatched, str]:
    """What a parent comes to whose feature raised; whatever it raised must not end the request."""
    if isinstance(fault, DispatchFailed):
        return _came_to(Dispatched.UNDELIVERABLE)
    if not isinstance(fault, ParentRefused):
        _note(fault)
        return _came_to(Dispatched.ROLLED_BACK if applied else Dispatched.FAULTY)
    dispatched = Dispatched.ROLLED_BACK if applied else Dispatched.REFUSED
    return dispatched, fault.reason or dispatched.value


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
