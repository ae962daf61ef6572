"""The ways in which the server of these tests goes wrong."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum

__all__ = ["ALL", "MENDING", "Fault", "Plan", "picker"]


class Fault(StrEnum):
    """What is done to one request in the place of a good answer."""

    RATE_LIMIT = "rate_limit"
    WRONG_KEY = "wrong_key"
    NO_BALANCE = "no_balance"
    SERVER_ERROR = "server_error"
    OVERLOADED = "overloaded"
    HANG = "hang"
    SLOW = "slow"
    CUT_HEADERS = "cut_headers"
    CUT_BODY = "cut_body"
    HTML = "html"
    NO_CHOICES = "no_choices"
    NO_CONTENT = "no_content"
    FENCED = "fenced"
    PROSE = "prose"
    CUT_JSON = "cut_json"
    LENGTH = "length"
    FILTERED = "filtered"
    WRONG_IDS = "wrong_ids"
    DOUBLED_ID = "doubled_id"
    MISSING_ID = "missing_id"
    LOST_MARKERS = "lost_markers"
    OTHER_SCRIPT = "other_script"
    ECHO = "echo"


MENDING = (
    Fault.RATE_LIMIT,
    Fault.SERVER_ERROR,
    Fault.OVERLOADED,
    Fault.SLOW,
    Fault.CUT_HEADERS,
    Fault.CUT_BODY,
    Fault.FENCED,
    Fault.PROSE,
    Fault.CUT_JSON,
    Fault.LENGTH,
    Fault.WRONG_IDS,
    Fault.DOUBLED_ID,
    Fault.MISSING_ID,
    Fault.LOST_MARKERS,
)
"""Those that a retry or a recovery mends, and that are over at once."""

ALL = tuple(Fault)

Plan = float | Sequence[Fault | None] | Mapping[int, Fault] | Callable[[int, str], Fault | None]
"""A rate of requests; or the faults of the first requests in turn; or by the number of the request, from 1; or a choice
by the number and the text of the request."""


def picker(plan: Plan, kinds: Sequence[Fault], seed: int) -> Callable[[int, str, int], Fault | None]:
    """The choice of a fault for (number of the request, its text, how often that text was asked for before).

    Of a rate it depends on the text and on how often it came, so that no schedule of requests changes it.
    """
    if isinstance(plan, int | float):

        def by_rate(_number: int, text: str, before: int) -> Fault | None:
            drawn = hashlib.sha256(f"{seed}/{before}/{text}".encode()).digest()
            hit = int.from_bytes(drawn[:4], "big") < plan * 2**32
            return kinds[int.from_bytes(drawn[4:8], "big") % len(kinds)] if hit else None

        return by_rate
    if isinstance(plan, Mapping):
        return lambda number, _text, _before: plan.get(number)
    if isinstance(plan, Sequence):
        return lambda number, _text, _before: plan[number - 1] if number <= len(plan) else None
    return lambda number, text, _before: plan(number, text)
