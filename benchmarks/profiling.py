"""Where the time of the acceptance workload goes: one contestant under cProfile, by the accepted parent.

The profiler makes every call dearer, and short ones most of all: read the counts and the order, not the sum. The time
that a thread waits stands at `acquire`.
"""

from __future__ import annotations

import cProfile
import io
import pstats
import sys
import threading

from dragoman import Settings

from .contestants import RUNTIME_CONTESTANTS, Contestant, plain
from .workload import Workload

__all__ = ["PROFILED", "profile"]

PROFILED: dict[str, Contestant] = {"plain": plain, **RUNTIME_CONTESTANTS}


def profile(contestant: str, workload: Workload, top: int = 40) -> str:
    """The functions that took most time in themselves, in microseconds and calls for one accepted parent.

    The threads of the contestant are counted with its own, where Python can profile several at once (before 3.12).
    """
    profiles: list[cProfile.Profile] = []
    original = threading.Thread.run

    def run(thread: threading.Thread) -> None:
        of_thread = cProfile.Profile()
        profiles.append(of_thread)
        of_thread.runcall(original, thread)

    if sys.version_info < (3, 12):
        threading.Thread.run = run  # type: ignore[assignment,method-assign]
    try:
        own = cProfile.Profile()
        profiles.append(own)
        own.runcall(PROFILED[contestant], workload, Settings())
    finally:
        threading.Thread.run = original  # type: ignore[method-assign]
    for one in profiles:
        one.create_stats()
    counted = [one for one in profiles if one.stats]
    return _text(pstats.Stats(*counted, stream=io.StringIO()), workload.accepted, top)


def _text(stats: pstats.Stats, parents: int, top: int) -> str:
    rows = sorted(stats.stats.items(), key=lambda row: row[1][2], reverse=True)  # type: ignore[attr-defined]
    lines = [f"{'own us':>8}  {'all us':>8}  {'calls':>7}  by the accepted parent"]
    for (file, line, name), (_primitive, calls, own_s, all_s, _callers) in rows[:top]:
        where = f"{'/'.join(file.split('/')[-2:])}:{line} {name}" if line else name
        lines.append(f"{own_s / parents * 1e6:8.3f}  {all_s / parents * 1e6:8.3f}  {calls / parents:7.2f}  {where}")
    return "\n".join(lines)
