"""Runs looks in processes of their own; one that does not come back has met a fault."""

from __future__ import annotations

import json
import queue
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from itertools import chain
from math import inf
from pathlib import Path

from .looking import PATIENCE_S
from .ways import Caught, Missed, Way

__all__ = ["Pair", "look_apart"]

Pair = tuple[str, Way]
"""A mutant, and the way in which to look for it."""

_ROOT = Path(__file__).parents[2]


def look_apart(
    pairs: Sequence[Pair],
    *,
    patience_s: float,
    budget_s: float = inf,
    limits: Sequence[int] = (),
    answer_s: float = PATIENCE_S,
) -> Iterator[tuple[Pair, Caught | Missed | None]]:
    """What became of each pair, in turn; None if its process gave no sign for `patience_s` seconds.

    Raises `RuntimeError` if it ended without an answer: that tells nothing of a fault. A budget is processor time of
    the process that looks, since the machine may have other work; `limits` bound how much each pair is looked at;
    `answer_s` is how long a look waits for what should come at once.
    """
    left = list(pairs)
    while left:
        bounds = limits[-len(left) :] if limits else [""] * len(left)
        words = ((name, f"{way}:{bound}") for (name, way), bound in zip(left, bounds, strict=True))
        arguments = [str(budget_s), str(answer_s), *chain.from_iterable(words)]
        with subprocess.Popen(
            [sys.executable, "-m", "tests.mutants.looking", *arguments],
            cwd=_ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        ) as process:
            lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
            reader = threading.Thread(target=_read, args=(process, lines), daemon=True)
            reader.start()
            while left:
                pair = left.pop(0)
                try:
                    line = lines.get(timeout=patience_s)
                except queue.Empty:
                    process.kill()
                    yield pair, None
                    break
                if line is None:
                    raise RuntimeError(f"who looks for {pair} ended with {process.wait()}")
                yield pair, _found(line)
            process.kill()


def _read(process: subprocess.Popen[str], lines: queue.SimpleQueue[str | None]) -> None:
    assert process.stdout is not None
    for line in process.stdout:
        lines.put(line)
    lines.put(None)


def _found(line: str) -> Caught | Missed:
    told = json.loads(line)
    return Missed(told["looked_at"]) if "looked_at" in told else Caught(told["after"], told["by"])
