"""The page of the errors and statuses: what the public names say of themselves."""

from __future__ import annotations

import inspect
from enum import StrEnum

import dragoman
from dragoman import DragomanError, documents, providers
from dragoman.protocol import failures
from dragoman.protocol.failures import (
    KEY_ERRORS,
    PROVIDER_FAULT,
    SHUT_DOWN,
    attempts_for,
    counts_for_circuit,
    longest_delay_us,
)

from .docstrings import first_paragraph, of_members, table

__all__ = ["error_names", "exceptions", "meanings", "page", "vocabularies"]

_MEANINGS = {
    "RATE_LIMIT_REACHED": "too many calls; `retry_after` is waited for",
    "NETWORK_ERROR": "no connection, a cut one, or no answer in time",
    "MODEL_OVERLOADED": "the model has no room now",
    "SERVER_ERROR": "the endpoint failed",
    "QUOTA_EXCEEDED": "what this key may use is used up",
    "HTTP_ERROR": "any other answer that is none",
    "API_KEY_INVALID": "the key is wrong, or may not do this",
    "INSUFFICIENT_BALANCE": "the account of this key is empty",
    "VALIDATION": "the endpoint does not take such a request",
    "TEXT_TOO_LONG": "a text is longer than the provider takes",
    "POLICY": "the provider refuses the content",
    "CIRCUIT_BREAKER_OPEN": "the circuit of the provider is open; no call was made",
    "USER_CANCELLED": "somebody called `cancel`; ends the execution",
    "TRANSLATION_TIMEOUT": "`execution_timeout` is over; ends the execution",
    "API_RESPONSE_INVALID": "answers broke the wire format, also after recovery, which the circuit does not count; "
    "or a response was none",
    "PROVIDER_FAULT": "the provider raised something else than `ProviderError`, or gave no `Completion`",
    "COMMAND_FAILED": "of `CommandProvider`: the program ended with an error",
    "COMMAND_TIMED_OUT": "of `CommandProvider`: the program did not answer in time",
    "SHUT_DOWN": "the runtime was closed; ends the execution",
}

_OF_COMMANDS = ("COMMAND_FAILED", "COMMAND_TIMED_OUT")
_ENDS = {failures.USER_CANCELLED, failures.TRANSLATION_TIMEOUT, SHUT_DOWN}

_HEAD = """\
# Errors and statuses

Made by `python -m docs.generate` from the docstrings of the public names.

What a program must expect is a reply with a status, not an exception: a late ACK is answered `STALE`, a repeated one
`DUPLICATE`. Exceptions are for wrong arguments, for the end of the runtime, for a wait that was too short, for faults
inside, and for `content`, where any value may be a result. None of their messages holds a source, a translation or a
prompt. What to do about the common ones: [troubleshooting](troubleshooting.md).

## Exceptions

Each also is the standard type that one would catch without knowing Dragoman. All can be pickled and copied.
"""

_STATUSES = """\
## Statuses

Each is a `StrEnum`: compare with the member or with its spelling, `reply.status == "STALE"`.
"""

_NAMES = """\
## Error names of calls

What a provider fails with, what the runtime does about it, and what an outcome tells in `error`. *Attempts* are those
that a batch gets in all when this was its last error. *Next key* means that another key of the provider is asked before
the batch waits. *Circuit* means that the failure counts towards `circuit_failures`. A name of your own gets the row of
"any other".

Before the next attempt a batch waits: after the first one up to DELAYS, and at least half of that. Where the
provider asks for more (`retry_after`), it waits as long as that, if the execution timeout leaves so much time.
"""


def exceptions() -> list[type[DragomanError]]:
    """Every exception that `dragoman`, its documents and its providers export, the base first."""
    named = [getattr(face, name) for face in (dragoman, documents, providers) for name in face.__all__]
    kinds = {kind for kind in named if isinstance(kind, type) and issubclass(kind, DragomanError)}
    return sorted(kinds, key=lambda kind: (kind is not DragomanError, kind.__name__))


def vocabularies() -> list[type[StrEnum]]:
    """Every enumeration of words that `dragoman` exports."""
    named = [getattr(dragoman, name) for name in dragoman.__all__]
    return [kind for kind in named if isinstance(kind, type) and issubclass(kind, StrEnum)]


def error_names() -> list[str]:
    """The names that the runtime knows (the rows of the retries, and what it gives itself) and its own providers'."""
    given = failures.API_RESPONSE_INVALID, PROVIDER_FAULT, SHUT_DOWN
    return list(dict.fromkeys([*failures._ATTEMPTS, *given, *_OF_COMMANDS]))


def meanings() -> dict[str, str]:
    """What each error name means."""
    return dict(_MEANINGS)


def _exception(kind: type[DragomanError]) -> str:
    bases = ", ".join(f"`{_spelled(base)}`" for base in kind.__bases__)
    fields = ", ".join(f"`{name}`" for name in kind.fields)
    place = next(face.__name__ for face in (dragoman, documents, providers) if kind.__name__ in face.__all__)
    origin = "" if place == "dragoman" else f"From `{place}`. "
    lines = [f"### {kind.__name__}\n", f"{origin}Bases: {bases}." + (f" Fields: {fields}." if fields else "") + "\n"]
    return "\n".join([*lines, inspect.cleandoc(kind.__doc__ or ""), ""])


def _spelled(base: type) -> str:
    package = base.__module__.partition(".")[0]
    return base.__name__ if package in ("builtins", "dragoman") else f"{package}.{base.__name__}"


def _vocabulary(kind: type[StrEnum]) -> str:
    said = of_members(kind)
    rows = [(f"`{member.value}`", said.get(name, "")) for name, member in kind.__members__.items()]
    return f"### {kind.__name__}\n\n{first_paragraph(kind.__doc__)}\n\n{table(('value', 'means'), rows)}\n"


def _names() -> str:
    waits = range(1, max(map(attempts_for, error_names())))
    delays = [f"{longest_delay_us(attempt) // 1_000_000}" for attempt in waits]
    return _NAMES.replace("DELAYS", f"{delays[0]} seconds, then {', '.join(delays[1:])}")


def _retries() -> str:
    known = sorted((name for name in error_names() if name not in _ENDS), key=lambda name: -attempts_for(name))
    rows = [(f"`{name}`", _MEANINGS[name], *_policy(name)) for name in known]
    rows.append(("any other", "a name of your own", *_policy("ANY_OTHER")))
    rows += [(f"`{name}`", _MEANINGS[name], "–", "–", "–") for name in error_names() if name in _ENDS]
    return table(("name", "means", "attempts", "next key", "circuit"), rows) + "\n"


def _policy(name: str) -> tuple[str, str, str]:
    yes = {True: "yes", False: "no"}
    if name == failures.CIRCUIT_BREAKER_OPEN:
        return str(attempts_for(name)), "no", "no"
    return str(attempts_for(name)), yes[name in KEY_ERRORS], yes[counts_for_circuit(name)]


def page() -> str:
    """The whole page."""
    parts = [_HEAD, *map(_exception, exceptions()), _STATUSES, *map(_vocabulary, vocabularies()), _names(), _retries()]
    return "\n".join(parts)
