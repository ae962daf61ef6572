"""Runs looks in processes of their own, and takes a process that does not come back for a fault that was noticed."""

from __future__ import annotations

import json
import queue
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

from .ways import Caught, Missed, Way

__all__ = ["Pair", "look_apart"]

Pair = tuple[str, Way]

_ROOT = Path(__file__).parents[2]


def look_apart(
    pairs: Sequence[Pair], *, budget_s: float, patience_s: float
) -> Iterator[tuple[Pair, Caught | Missed | None]]:
    """What became of each pair, in turn; None if its process gave no sign for `patience_s` seconds, or died.

    A budget is processor time of the process that looks, since the machine may have other work.
    """
    left = list(pairs)
    while left:
        arguments = [str(budget_s), *(word for name, way in left for word in (name, way.value))]
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
                line = _next(lines, patience_s)
                pair = left.pop(0)
                if line is None:
                    process.kill()
                    yield pair, None
                    break
                yield pair, _found(line)
            process.kill()


def _read(process: subprocess.Popen[str], lines: queue.SimpleQueue[str | None]) -> None:
    assert process.stdout is not None
    for line in process.stdout:
        lines.put(line)
    lines.put(None)


def _next(lines: queue.SimpleQueue[str | None], patience_s: float) -> str | None:
    try:
        return lines.get(timeout=patience_s)
    except queue.Empty:
        return None


def _found(line: str) -> Caught | Missed:
    told = json.loads(line)
    return Missed(told["looked_at"]) if "looked_at" in told else Caught(told["after"], told["by"])
