"""The statistics of physical calls, apart from history (C13): counts alone, no payload."""

from __future__ import annotations

from collections import Counter
from typing import Any

from ..protocol.execution_messages import CountCall, CountError
from ..protocol.mappings import FrozenMapping, WordMapping
from ..protocol.messages import Inspect
from ..protocol.replies import ProviderStatistics
from .actor import Actor, handles
from .dispatcher import Dispatcher
from .error_names import ErrorNames
from .mailbox import Envelope

__all__ = ["Statistics"]


class Statistics(Actor):
    """Owns the counters of every provider."""

    def __init__(self, dispatcher: Dispatcher) -> None:
        super().__init__(dispatcher)
        self._purposes: dict[str, Counter[str]] = {}
        self._errors: dict[str, ErrorNames] = {}

    @handles(CountCall)
    def _count_call(self, message: CountCall, _envelope: Envelope[Any]) -> None:
        self._purposes.setdefault(message.provider, Counter())[message.purpose] += 1

    @handles(CountError)
    def _count_error(self, message: CountError, _envelope: Envelope[Any]) -> None:
        self._errors.setdefault(message.provider, ErrorNames()).add(message.error)

    @handles(Inspect)
    def _inspect(self, _message: Inspect, _envelope: Envelope[Any]) -> FrozenMapping[ProviderStatistics]:
        return FrozenMapping(
            {
                provider: _statistics(purposes, self._errors.get(provider, ErrorNames()))
                for provider, purposes in self._purposes.items()
            }
        )


def _statistics(purposes: Counter[str], errors: ErrorNames) -> ProviderStatistics:
    return ProviderStatistics(
        calls=purposes.total(),
        errors=errors.total,
        by_purpose=WordMapping(purposes),
        errors_by_name=WordMapping(errors.counts),
    )
