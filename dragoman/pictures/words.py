"""Instants, durations, calls and replies in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["call_in_words", "count_of", "duration", "names", "reply_in_words"]

_FEW = 4
_UNITS = ((86_400_000_000, "d"), (3_600_000_000, "h"), (60_000_000, "min"))


def duration(us: int) -> str:
    """A time span as people say it: 800 µs, 12 ms, 4.2 s, 5 min 30 s, 2 h.

    From a minute on it is told in tenths of a second, from an hour on in full minutes.
    """
    if us < 0:
        return f"-{duration(-us)}"
    if 0 < us < 1_000:
        return f"{us} µs"
    if 0 < us < 1_000_000:
        return f"{_number(us / 1_000)} ms"
    if us >= 60_000_000:
        us = round(us, -5)
    for size, name in _UNITS:
        if us >= size:
            whole, rest = divmod(us, size)
            rest_s = rest / 1_000_000
            if name == "min":
                return f"{whole} min {_number(rest_s)} s" if rest_s else f"{whole} min"
            smaller, smaller_name = (3_600, "h") if name == "d" else (60, "min")
            more = int(rest_s // smaller)
            return f"{whole} {name} {more} {smaller_name}" if more else f"{whole} {name}"
    return f"{_number(us / 1_000_000)} s"


def _number(value: float) -> str:
    return f"{value:.3f}".rstrip("0").rstrip(".")


def names(of: Sequence[str], few: int = _FEW) -> str:
    """Some names in a sentence: a, b and c; of many the first ones, and how many more there are."""
    if len(of) > few + 1:
        return f"{', '.join(of[:few])} and {len(of) - few} more"
    if len(of) < 2:
        return "".join(of)
    return f"{', '.join(of[:-1])} and {of[-1]}"


def count_of(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def reply_in_words(reply: Mapping[str, Any] | None) -> str:
    """What a call was answered, in a word or two; empty where there is nothing to say."""
    if reply is None:
        return "not answered"
    for key in ("error", "miss", "decision", "status"):
        if reply.get(key) is not None:
            reason = reply.get("reason")
            return f"{reply[key]} ({reason})" if reason and key != "status" else str(reply[key])
    if "number" in reply:
        return str(reply["number"])
    if "turns" in reply:
        return count_of(len(reply["turns"]), "turn")
    if "rows" in reply:
        return count_of(int(reply["rows"]), "row")
    return ""


_CALLS = {
    "activate": "activate {request}",
    "cancel": "cancel {request}",
    "dispatch_failed": "the dispatch of {request} failed",
    "time_out": "time out {request}",
    "request_status": "what became of {request}?",
    "request_outcome": "the outcome of {request}?",
    "read_history": "read the history of {session}",
    "claim_turn": "claim a turn in {session}",
    "clear_session": "clear session {session}",
    "configure": "history enabled: {history_enabled}",
    "fail_commits": "injected fault: the next {times} commits into {session} fail",
    "answer_call": "the provider answers {call}",
    "record_call": "record a call in {session}",
    "register": "register {request}",
    "translate": "translate {request}",
    "direct": "call the provider directly for {request}",
}


def call_in_words(line: Mapping[str, Any]) -> str:
    told = _CALLS.get(line["op"])
    if told is None:
        where = line.get("session") or line.get("request") or line.get("id") or ""
        return f"{str(line['op']).replace('_', ' ')} {where}".rstrip()
    return told.format_map({"request": "?", "session": "?", "times": 1, "history_enabled": "?", "call": "?", **line})
