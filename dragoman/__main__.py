"""The `dragoman` command: runs the command line, or says in one line what to install for it."""

from __future__ import annotations

import importlib.util
import sys

__all__ = ["main"]

_EXTRA = ("cattrs", "cyclopts", "rich", "yaml")


def main() -> None:
    """Run the command line with the arguments of the process."""
    if any(importlib.util.find_spec(name) is None for name in _EXTRA):
        sys.stderr.write("dragoman: the command line needs its extra: pip install 'dragoman[cli]'\n")
        sys.exit(2)
    from .cli import run

    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
