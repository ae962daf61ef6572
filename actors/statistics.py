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
from .mailbox import Envelope

__all__ = ["Statistics"]


class Statistics(Actor):
    """Owns the counters of every provider."""

    def __init__(self, dispatcher: Dispatcher) -> None:
        super().__init__(dispatcher)
        self._purposes: dict[str, Counter[str]] = {}
        self._errors: Counter[str] = Counter()

    @handles(CountCall)
    def _count_call(self, message: CountCall, _envelope: Envelope[Any]) -> None:
        self._purposes.setdefault(message.provider, Counter())[message.purpose] += 1

    @handles(CountError)
    def _count_error(self, message: CountError, _envelope: Envelope[Any]) -> None:
        self._errors[message.provider] += 1

    @handles(Inspect)
    def _inspect(self, _message: Inspect, _envelope: Envelope[Any]) -> FrozenMapping[ProviderStatistics]:
        return FrozenMapping(
            {
                provider: ProviderStatistics(
                    calls=purposes.total(),
                    errors=self._errors[provider],
                    by_purpose=WordMapping(purposes),
                )
                for provider, purposes in self._purposes.items()
            }
        )
