"""Looks for mutants in a process of its own, which a mutant may leave in pieces.

`python -m tests.mutants.looking BUDGET_S PATIENCE_S MUTANT WAY[:LIMIT] [MUTANT WAY[:LIMIT] …]` prints one JSON object a
line: what became of each pair, in turn. A mutant of the name `none` plants nothing.
"""

from __future__ import annotations

import json
import os
import sys
from contextlib import ExitStack

import pytest
from loguru import logger

from .mutants import MUTANTS
from .ways import Caught, Missed, Way, look_for, prepare

__all__ = ["CONTROL", "look_at"]

CONTROL = "none"
PATIENCE_S = 4.0
"""How long somebody waits for an answer that should come at once."""


def look_at(
    name: str,
    way: Way,
    *,
    limit: int | None = None,
    budget_s: float | None = None,
    suite: str | None = None,
    patience_s: float = PATIENCE_S,
) -> Caught | Missed:
    """Plant a mutant, look in a way, and take it out again; as for a mutant of `suite`, or of its own."""
    with ExitStack() as stack:
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        prepare(patch, patience_s)
        if name != CONTROL:
            suite = suite or MUTANTS[name].suite
            MUTANTS[name].plant(patch)
        return look_for(way, suite or "acceptance", limit=limit, budget_s=budget_s)


def main(arguments: list[str]) -> None:
    logger.remove()
    budget_s, patience_s, pairs = float(arguments[0]), float(arguments[1]), arguments[2:]
    for name, asked in zip(pairs[::2], pairs[1::2], strict=True):
        way, _colon, limit = asked.partition(":")
        found = look_at(name, Way(way), limit=int(limit) if limit else None, budget_s=budget_s, patience_s=patience_s)
        told = {"mutant": name, "way": way}
        if isinstance(found, Caught):
            told |= {"after": found.after, "by": found.by}
        else:
            told |= {"looked_at": found.looked_at}
        sys.stdout.write(json.dumps(told) + "\n")
        sys.stdout.flush()
    # Not the usual end: a thread that a mutant has left waiting for ever must not hold it.
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1:])
