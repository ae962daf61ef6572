"""What a run came to, so that two runs can be compared: its replies, and everything that `then` could name.

Rules. An outcome is a set of parts, each with a name that a reader understands and a digest of what is so; texts stay
in the run. Refs and the tokens of markers are left out of the digests, since they are chance.

Some things that several sessions share are in no promised order. The coordinator says so of its limits (which of two
closed requests a full ledger forgets first, whether a registration finds the place of a request that closes), and the
gateway of what it knows of a provider (which key last succeeded, whether the circuit is open): see "Not promised" in
their modules. In a scenario where that may tell, a run without a serial order is `undecided` and not a failure.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from hashlib import blake2b

import attrs

from ..reports import Snapshot
from .execution_verbs import Direct, Translate
from .scenario import Scenario
from .stage import Stage
from .state import actual_of
from .verb import Loose, OfRequest, Verb
from .verbs import Register

__all__ = ["Names", "digest_of", "moment_parts", "sharing_tells", "state_parts"]

_CHANCE = re.compile(r"content:[a-z2-7]{26}|(?<=<dm-)[a-z2-7]{8}(?=-)", re.ASCII)

_OF_REQUESTS = ("handles", "closed", "calls", "outcomes", "document")
_OF_SESSIONS = ("history", "turn_counter", "call_records")


def digest_of(value: object) -> str:
    """A digest of anything that a reply or the state may hold; equal values have equal ones."""
    return blake2b(_canonical(value).encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()


def _canonical(value: object) -> str:
    if isinstance(value, Mapping):
        pairs = sorted((_canonical(key), _canonical(inner)) for key, inner in value.items())
        return "{" + ",".join(f"{key}:{inner}" for key, inner in pairs) + "}"
    if isinstance(value, list | tuple):
        return "[" + ",".join(map(_canonical, value)) + "]"
    if isinstance(value, str):
        return repr(_CHANCE.sub("*", str(value)))
    return f"{type(value).__name__} {value!r}"


@attrs.frozen
class Names:
    """What a scenario names."""

    requests: tuple[str, ...]
    sessions: tuple[str, ...]
    providers: tuple[str, ...]
    executes: bool
    proposes: bool

    @classmethod
    def of(cls, scenario: Scenario) -> Names:
        verbs = [step.verb for moment in scenario.timeline for step in moment.steps]
        requests = [name for verb in verbs for name in _named(verb, "request")]
        sessions = [name for verb in verbs for name in _named(verb, "session")]
        providers = [name for verb in verbs for name in _named(verb, "provider")]
        return cls(
            # A verb of one id alone has it as its request, `clear_session` too.
            requests=tuple(dict.fromkeys(requests)),
            sessions=tuple(
                dict.fromkeys([*sessions, *(verb.request for verb in verbs if isinstance(verb, OfRequest))])
            ),
            providers=tuple(dict.fromkeys([*providers, *scenario.providers])),
            executes=any(isinstance(verb, Translate | Direct) for verb in verbs),
            proposes=any(verb.what == "propose" for verb in verbs),
        )


def _named(verb: Verb, field: str) -> list[str]:
    name = getattr(verb, field, None)
    if isinstance(name, Loose):
        name = name.value
    return [name] if isinstance(name, str) else []


def sharing_tells(scenario: Scenario) -> bool:
    """Whether what several sessions share without a promised order may decide what happens; see the module."""
    verbs = [step.verb for moment in scenario.timeline for step in moment.steps]
    begins = [verb for verb in verbs if isinstance(verb, Register | Translate | Direct)]
    if len({verb.session for verb in begins}) < 2:
        return False
    settings = scenario.settings
    if len(begins) > min(settings.ledger_entries, settings.max_open_handles, settings.max_open_executions):
        return True
    executed = [verb for verb in begins if not isinstance(verb, Register)]
    shared = settings.circuit_failures > 0 or any(policy.keys > 1 for policy in scenario.providers.values())
    return shared and len({verb.session for verb in executed}) > 1


def moment_parts(index: int, snapshot: Snapshot) -> dict[str, str]:
    """What a runtime holds after the steps of one moment, as far as a look at it shows."""
    sessions = [
        (session.session_id, [(turn.user, turn.assistant) for turn in session.turns], session.turn_counter)
        for session in snapshot.sessions
    ]
    store = [(name, held.entries, held.bytes) for name, held in sorted(snapshot.store.sessions.items())]
    seen = (sessions, sorted(snapshot.open_requests), sorted(snapshot.running), sorted(snapshot.open_calls), store)
    return {f"the state after step {index}": digest_of(seen)}


def state_parts(names: Names, snapshot: Snapshot, stage: Stage) -> dict[str, str]:
    """Everything that `then` could name."""
    parts: dict[str, str] = {}
    for key, named in (
        *((key, names.sessions) for key in _OF_SESSIONS),
        *((key, names.requests) for key in _OF_REQUESTS if names.executes or key in ("handles", "closed")),
        ("store", names.sessions),
        ("stats", names.providers if names.executes else ()),
    ):
        found, default = actual_of(key, named, snapshot, stage)
        for name in (*named, "counters") if key == "store" else named:
            parts[f"{key} of {name}"] = digest_of(found.get(name, default))
    for key in ("open_handles", "sessions", *(("feature_history",) if names.executes else ())):
        parts[key] = digest_of(actual_of(key, (), snapshot, stage)[0])
    if names.proposes:
        parts["proposals"] = digest_of(actual_of("proposals", (), snapshot, stage)[0])
    return parts
