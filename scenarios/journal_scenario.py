"""A journal as a scenario: the same calls, answers and timers in virtual time, with what came of them expected."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from typing import Any

import attrs

from ..actors.journal_reader import InvalidJournal, Journal, Line
from ..protocol.errors import InvalidSetting
from ..protocol.participation import ProviderPolicy
from ..protocol.settings import Settings
from .flow_yaml import scenario_text
from .journal_end import End
from .journal_instants import Placed, place_in_time
from .journal_items import items_of
from .journal_steps import Steps, duration

__all__ = ["Retold", "retell"]

_DURATIONS = frozenset({"ack_window", "execution_timeout", "session_ttl", "circuit_cooldown", "store_ttl"})
_SURROGATE = re.compile(r"(?<!\\)(?:\\\\)*\\ud[89a-f]")
_ELSEWHERE = frozenset({"feature_history"})
"""Settings that say where to write, which no scenario may have."""


@attrs.frozen(kw_only=True)
class Retold:
    """A scenario that was made from a journal."""

    text: str = attrs.field(repr=False)
    """The file."""
    steps: int
    together: int
    """Steps that stand in a `together`: they were under way at the same time as others."""
    left_out: int
    """Calls and answers that the journal tells and the scenario does not: they belong to what began before it."""
    misplaced: int
    """Timers that could not be placed among the steps as they fired."""
    lost: int
    """Notes that the journal itself lost."""


def retell(journal: Journal, name: str, *, sessions: Collection[str] | None = None) -> Retold:
    """The scenario of a journal, or of some of its sessions. Raises `InvalidJournal`."""
    settings, lines = _settings(journal), journal.lines
    if sessions is not None:
        seen = {line.get("session") for line in lines}
        for session in sessions:
            if session not in seen:
                raise InvalidJournal("the journal", f"does not tell of a session {session!r}")
    try:
        items = items_of(lines, settings, _providers(journal))
        keeps = _keeper(journal, sessions)
        chosen = [item for item in items if keeps(item.track) and (sessions is None or not _is_refused(item.line))]
        placed = place_in_time(chosen)
        steps = Steps(lines, settings)
        timeline = _timeline(placed, steps)
        everything = sessions is None and journal.whole
        requests = {item.line["request"] for item in chosen if "request" in item.line}
        then = End(lines, settings).then(
            steps.story, lambda name: keeps(name) or _is_of(name, requests), everything=everything
        )
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise InvalidJournal("the journal", f"is not as one is written: {type(error).__name__}: {error}") from None
    document: dict[str, Any] = {"scenario": name, "settings": _as_scenario(settings)}
    if journal.head["providers"]:
        document["providers"] = journal.head["providers"]
    back_offs = _back_offs(journal, requests)
    if back_offs:
        document["back_offs"] = back_offs
    document = {key: entry for key, entry in document.items() if entry != {}}
    document |= {"timeline": timeline, "then": then}
    if not then:
        del document["then"]
    text = scenario_text(document)
    if _SURROGATE.search(text):
        problem = (
            "holds an id or a text with half a surrogate pair, which no scenario file can hold; take other sessions"
        )
        raise InvalidJournal("the journal", problem)
    count = [len(moment.get("together", "1")) for moment in timeline]
    return Retold(
        text=text,
        steps=sum(count),
        together=sum(number for number in count if number > 1),
        left_out=len(items) - len(chosen) if sessions is None else 0,
        misplaced=placed.misplaced,
        lost=journal.lost,
    )


def _is_refused(line: Line) -> bool:
    """Whether a call was refused before any actor saw it: then it is of no session."""
    return line["k"] == "call" and line["op"] in ("register", "translate", "direct") and "session" not in line


def _is_of(name: str, requests: Collection[str]) -> bool:
    kind, _space, request = name.partition(" ")
    return kind == "request" and request in requests


def _keeper(journal: Journal, sessions: Collection[str] | None) -> Callable[[str], bool]:
    """Which tracks go into the scenario: of a journal that lacks its beginning, those that begin in it."""
    first: dict[str, str] = {}
    for line in journal.lines:
        if line["k"] == "session":
            first.setdefault(f"session {line['session']}", line["state"])
    began = {track for track, state in first.items() if state == "OPENED"}

    def keeps(track: str) -> bool:
        kind, _space, name = track.partition(" ")
        if kind == "session" and sessions is not None and name not in sessions:
            return False
        if kind == "request":
            return journal.whole and sessions is None
        return journal.whole or not track or track in began

    return keeps


def _timeline(placed: Placed, steps: Steps) -> list[dict[str, Any]]:
    timeline: list[dict[str, Any]] = []
    for moment in placed.moments:
        made = [step for step in map(steps.step, moment.items) if step is not None]
        at = duration(moment.at_us)
        if len(made) == 1:
            timeline.append({"at": at, **made[0]})
        elif made:
            timeline.append({"at": at, "together": made})
    end = duration(placed.end_us)
    if not timeline or timeline[-1]["at"] != end:
        timeline.append({"at": end, "wait": None})
    return timeline


def _back_offs(journal: Journal, requests: Collection[str]) -> dict[str, list[str]]:
    """The waits before the retries of each request, which are drawn where nothing says them."""
    waits: dict[str, list[str]] = {}
    for line in journal.lines:
        if line["k"] == "retry" and line["request"] in requests:
            waits.setdefault(line["request"], []).append(duration(line["delay"]))
    return waits


def _settings(journal: Journal) -> Settings:
    told = journal.head["settings"]
    known = attrs.fields_dict(Settings).keys() - _ELSEWHERE
    try:
        return Settings(**{key: value for key, value in told.items() if key in known})
    except (InvalidSetting, TypeError) as error:
        raise InvalidJournal("the head of the journal", f"has bad settings: {error}") from None


def _providers(journal: Journal) -> dict[str, ProviderPolicy]:
    return {name: ProviderPolicy(**policy) for name, policy in journal.head["providers"].items()}


def _as_scenario(settings: Settings) -> Mapping[str, Any]:
    """The settings that are not the usual ones."""
    usual = Settings()
    told: dict[str, Any] = {}
    for key in attrs.fields_dict(Settings):
        value = getattr(settings, key)
        if value == getattr(usual, key):
            continue
        if key in _DURATIONS and value is not None:
            told[key] = duration(round(value * 1_000_000))
        else:
            told[key] = list(value) if isinstance(value, tuple) else value
    return told
