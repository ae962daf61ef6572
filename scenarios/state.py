"""What is so at the end of a scenario, for each key of `then`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import attrs

from ..protocol.content_replies import StoreSnapshot
from ..reports import Snapshot
from .reading import Located
from .stage import Stage

__all__ = ["actual_of", "names_of"]


def actual_of(key: str, names: Sequence[str], snapshot: Snapshot, stage: Stage) -> tuple[Any, Any]:
    """What is so for a key of `then` that names `names`, and what stands for a name that never was."""
    if key == "open_handles":
        return snapshot.open_handles, None
    if key == "sessions":
        return [session.session_id for session in snapshot.sessions], None
    if key == "feature_history":
        entries = stage.runtime.feature_history().get()
        return [{"source": entry.source, "translated": entry.translated} for entry in entries], None
    if key == "history":
        return {
            session.session_id: [[turn.user, turn.assistant] for turn in session.turns] for session in snapshot.sessions
        }, []
    if key == "turn_counter":
        return {session.session_id: session.turn_counter for session in snapshot.sessions}, 0
    if key == "store":
        return _store(names, snapshot.store), 0
    if key == "call_records":
        return {session: _call_records(session, stage) for session in names}, []
    if key == "proposals":
        return dict(stage.runtime.proposals().get()), None
    if key == "stats":
        return _stats(names, stage), 0
    of_a_request, default = _OF_A_REQUEST[key]
    return {request: of_a_request(request, stage) for request in names}, default


def _stats(providers: Sequence[str], stage: Stage) -> dict[str, Any]:
    known = stage.runtime.statistics().get()
    stats = {}
    for provider in providers:
        found = known.get(provider)
        stats[provider] = {
            "calls": found.calls if found else 0,
            "errors": found.errors if found else 0,
            "by_purpose": _Counts(found.by_purpose if found else {}),
        }
    return stats


class _Counts(dict[str, int]):
    """Counts by name; what was never counted is 0."""

    def get(self, name: str, default: Any = 0) -> Any:
        return super().get(name, default or 0)


def _store(names: Sequence[str], store: StoreSnapshot) -> dict[str, Any]:
    held: dict[str, Any] = {session: {"entries": 0, "bytes": 0} for session in names}
    for session, content in store.sessions.items():
        held[session] = {"entries": content.entries, "bytes": content.bytes}
    return {**held, "counters": attrs.asdict(store.counters, filter=lambda _field, value: isinstance(value, int))}


def _call_records(session: str, stage: Stage) -> list[dict[str, Any]]:
    return [
        {
            "id": record.id,
            "role": record.role,
            "method": record.method,
            "depth": record.depth,
            "status": record.status,
            "kind": record.content_kind,
            "bytes": record.content_bytes,
            "has_ref": record.stored,
        }
        for record in stage.runtime.calls(session).get()
    ]


def _handles(request: str, stage: Stage) -> Any:
    return dict(stage.runtime.request_status(request).get().parents)


def _cause(request: str, stage: Stage) -> Any:
    return stage.runtime.request_status(request).get().cause


def _calls(request: str, stage: Stage) -> Any:
    return [
        {
            "purpose": call.purpose,
            "provider": call.provider,
            "key": call.key,
            "units": [unit.id for unit in call.units],
            "history": [[turn.user, turn.assistant] for turn in call.history],
        }
        for call in stage.calls(request)
    ]


def _outcome(request: str, stage: Stage) -> Any:
    outcome = stage.outcomes.get(request)
    if outcome is None:
        return None
    return {
        "execution": outcome.execution,
        "quality": outcome.quality,
        "error": outcome.error,
        "retries": outcome.retries,
        "failover": outcome.failover,
    }


def _document(request: str, stage: Stage) -> Any:
    return dict(stage.document(request))


_OF_A_REQUEST: dict[str, tuple[Callable[[str, Stage], Any], Any]] = {
    "handles": (_handles, None),
    "closed": (_cause, None),
    "calls": (_calls, []),
    "outcomes": (_outcome, None),
    "document": (_document, None),
}


def names_of(entry: Located) -> list[str]:
    """The names that an entry of `then` names, in whichever alternative, each once."""
    value = entry.value
    alternatives = getattr(value, "alternatives", None)
    if alternatives is not None:
        named = [name for one in alternatives for name in names_of(Located(one, entry.line))]
        return list(dict.fromkeys(named))
    return list(value) if isinstance(value, dict) else []
