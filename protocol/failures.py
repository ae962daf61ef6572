"""The errors that a call can end with, and what the runtime does about each (C7): attempts, keys, circuit.

A name that stands in no table here is as good as any: it gets two attempts, stays with its key, and counts for the
circuit.
"""

from __future__ import annotations

from types import MappingProxyType

from .errors import DragomanError, InvalidArgument
from .settings import MAX_SECONDS, is_seconds

__all__ = [
    "API_RESPONSE_INVALID",
    "CIRCUIT_BREAKER_OPEN",
    "KEY_ERRORS",
    "POLICY",
    "PROVIDER_FAULT",
    "SHUT_DOWN",
    "TEXT_TOO_LONG",
    "TRANSLATION_TIMEOUT",
    "USER_CANCELLED",
    "ProviderError",
    "attempts_for",
    "counts_for_circuit",
    "is_error_name",
    "longest_delay_us",
]

API_RESPONSE_INVALID = "API_RESPONSE_INVALID"
CIRCUIT_BREAKER_OPEN = "CIRCUIT_BREAKER_OPEN"
POLICY = "POLICY"
TEXT_TOO_LONG = "TEXT_TOO_LONG"
USER_CANCELLED = "USER_CANCELLED"
TRANSLATION_TIMEOUT = "TRANSLATION_TIMEOUT"
PROVIDER_FAULT = "PROVIDER_FAULT"
"""A provider raised something else than `ProviderError`, or returned no `Completion`."""
SHUT_DOWN = "SHUT_DOWN"
"""The runtime was closed while the request ran."""

_ATTEMPTS = MappingProxyType(
    {
        "RATE_LIMIT_REACHED": 5,
        "NETWORK_ERROR": 4,
        "MODEL_OVERLOADED": 4,
        "SERVER_ERROR": 3,
        "QUOTA_EXCEEDED": 3,
        "HTTP_ERROR": 3,
        "API_KEY_INVALID": 1,
        "INSUFFICIENT_BALANCE": 1,
        "VALIDATION": 1,
        TEXT_TOO_LONG: 1,
        POLICY: 1,
        CIRCUIT_BREAKER_OPEN: 1,
        USER_CANCELLED: 1,
        TRANSLATION_TIMEOUT: 1,
    }
)
_ATTEMPTS_OF_ANY_OTHER = 2

KEY_ERRORS = frozenset({"API_KEY_INVALID", "QUOTA_EXCEEDED", "INSUFFICIENT_BALANCE", "RATE_LIMIT_REACHED"})
"""What another key of the same provider may not meet."""

_NEUTRAL_FOR_CIRCUIT = KEY_ERRORS | {"VALIDATION", TEXT_TOO_LONG, POLICY}

_LONGEST_DELAY_US = 30_000_000
_FIRST_DELAY_US = 2_000_000


def attempts_for(error: str) -> int:
    """How many attempts a batch gets in all whose last error this is."""
    return _ATTEMPTS.get(error, _ATTEMPTS_OF_ANY_OTHER)


def longest_delay_us(attempt: int) -> int:
    """The longest wait after attempt number `attempt` (from 1) has failed, in microseconds; the shortest is half."""
    return min(_LONGEST_DELAY_US, _FIRST_DELAY_US << (attempt - 1))


def counts_for_circuit(error: str) -> bool:
    """Whether a failed call speaks against the provider as such."""
    return error not in _NEUTRAL_FOR_CIRCUIT


def is_error_name(name: object) -> bool:
    """Whether `name` is written as error names are: capitals, digits and underscores."""
    return isinstance(name, str) and name.isascii() and name.isidentifier() and name == name.upper() and name != "_"


class ProviderError(DragomanError, RuntimeError):
    """Raised by a provider whose call failed: `name` is one of the contract's error names, or its own in capitals.

    `retry_after` is how many seconds the provider wants nobody to ask again (its `Retry-After`). The next attempt waits
    for that where it is longer than the back-off and fits the execution timeout. What to do: raise it in
    `Provider.complete`; a program never has to catch it, and finds the name in the outcome.
    """

    fields = ("name", "retry_after")

    def __init__(self, name: str, retry_after: float | None = None) -> None:
        if not is_error_name(name):
            raise InvalidArgument("name", "must be an error name in capitals, such as NETWORK_ERROR")
        if retry_after is not None and not is_seconds(retry_after):
            raise InvalidArgument("retry_after", f"must be a number of seconds from 0 to {MAX_SECONDS}")
        super().__init__(name)
        self.name = name
        self.retry_after = retry_after
