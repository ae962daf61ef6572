"""The `dragoman` command: runs the command line, or says in one line what to install for it."""

from __future__ import annotations

import importlib.util
import sys

__all__ = ["main"]

_EXTRA = ("cattrs", "cyclopts", "rich", "yaml")
_INTERRUPTED = 130
"""As in `terminal`, which cannot be imported without the extra."""


def main() -> None:
    """Run the command line with the arguments of the process."""
    if any(importlib.util.find_spec(name) is None for name in _EXTRA):
        sys.stderr.write("dragoman: the command line needs its extra: pip install 'dragoman[cli]'\n")
        sys.exit(2)
    try:
        from .cli import run

        status = run(sys.argv[1:])
    except KeyboardInterrupt:  # while it was being imported, or before `run` could tell it
        sys.stderr.write("dragoman: interrupted\n")
        status = _INTERRUPTED
    sys.exit(status)


if __name__ == "__main__":
    main()
