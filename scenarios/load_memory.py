"""The resident memory of this process."""

from __future__ import annotations

import os
import resource
import sys
from pathlib import Path

__all__ = ["resident_bytes"]

_STATM = Path("/proc/self/statm")


def resident_bytes() -> int:
    """The resident memory now; where that is not told, the greatest so far."""
    try:
        return int(_STATM.read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        greatest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return greatest if sys.platform == "darwin" else greatest * 1024
