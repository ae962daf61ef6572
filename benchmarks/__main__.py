"""`python -m benchmarks`: take the figures, print the report, save it."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from .clock import CLOCKS, clock
from .measures import MEASURES
from .profiling import PROFILED, profile
from .report import as_text, save
from .sizes import SIZES
from .workload import make_workload

__all__ = ["main"]


def main(arguments: list[str] | None = None) -> None:
    """Take figures and report them. A figure above its limit is reported, and fails nothing."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="What the guarantees of Dragoman cost, as ratios within one run.",
    )
    parser.add_argument("--only", nargs="+", choices=MEASURES, metavar="NAME", help=f"of {', '.join(MEASURES)}")
    parser.add_argument("--runs", type=_runs, help="how often each figure is taken")
    parser.add_argument("--size", choices=SIZES, default="quick", help="how large (quick if nothing is said)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="where each value is saved")
    parser.add_argument("--clock", choices=CLOCKS, default="wall", help="time that passes, or of the processor")
    parser.add_argument("--profile", choices=PROFILED, help="profile one contestant instead")
    chosen = parser.parse_args(arguments)
    size = SIZES[chosen.size]
    clock.use(chosen.clock)
    if chosen.profile is not None:
        print(profile(chosen.profile, make_workload(size.requests, size.sessions, size.parents)))
        return
    figures = {}
    for name in chosen.only or MEASURES:
        print(f"{name} …", file=sys.stderr, flush=True)
        figures[name] = MEASURES[name](size, chosen.runs or size.runs)
        if chosen.json is not None:
            save(figures, chosen.json)
    print(as_text(figures))


def _runs(text: str) -> int:
    runs = int(text)
    if runs < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return runs


if __name__ == "__main__":
    main()
