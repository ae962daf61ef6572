"""The circuit breaker of a provider (C7): after so many failures in a row it asks no more for a while.

Closed, it lets every call pass and counts failures in a row; any answer ends the row. Open, it lets none pass until the
cooldown is over. Then one call goes out as the probe: its answer closes the circuit, its failure opens it for another
cooldown, and if it ends without either (cancelled, or with an error that says nothing about the provider) the next
call is the probe. A call that was open when the circuit opened does not change it.
"""

from __future__ import annotations

from enum import StrEnum

from .failures import counts_for_circuit

__all__ = ["Circuit", "CircuitState", "Passage"]


class CircuitState(StrEnum):
    """What a circuit lets through (C7): every call, none, or one probe."""

    CLOSED = "CLOSED"
    """Every call goes out."""
    OPEN = "OPEN"
    """No call goes out until the cooldown has passed."""
    PROBING = "PROBING"
    """One call is out, and its answer decides; all others fail."""


class Passage(StrEnum):
    """How a call got through."""

    CALL = "CALL"
    PROBE = "PROBE"


class Circuit:
    """One provider's circuit; `failures` 0 is a wire that never breaks. Times are microseconds."""

    __slots__ = ("_cooldown_us", "_failures", "_opened_us", "_row", "state")

    def __init__(self, failures: int, cooldown_us: int) -> None:
        self._failures = failures
        self._cooldown_us = cooldown_us
        self._row = 0
        self._opened_us = 0
        self.state = CircuitState.CLOSED

    def enter(self, now_us: int) -> Passage | None:
        """How a call made now gets through; None if it may not be made."""
        if self.state is CircuitState.CLOSED:
            return Passage.CALL
        if self.state is CircuitState.OPEN and now_us - self._opened_us > self._cooldown_us:
            self.state = CircuitState.PROBING
            return Passage.PROBE
        return None

    def answered(self, passage: Passage) -> None:
        """A call was answered, whatever with."""
        if passage is Passage.PROBE:
            self.state = CircuitState.CLOSED
        if self.state is CircuitState.CLOSED:
            self._row = 0

    def failed(self, passage: Passage, error: str, now_us: int) -> None:
        """A call failed."""
        if not counts_for_circuit(error):
            self.ended(passage)
        elif passage is Passage.PROBE:
            self._open(now_us)
        elif self.state is CircuitState.CLOSED and self._failures:
            self._row += 1
            if self._row >= self._failures:
                self._open(now_us)

    def ended(self, passage: Passage) -> None:
        """A call ended without saying anything about the provider; after a probe the next call is one."""
        if passage is Passage.PROBE:
            self.state = CircuitState.OPEN

    def _open(self, now_us: int) -> None:
        self.state = CircuitState.OPEN
        self._opened_us = now_us
