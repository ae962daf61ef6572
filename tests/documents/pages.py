"""Pages that other people wrote, as they lie on this machine."""

from __future__ import annotations

import hashlib
import sysconfig
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

__all__ = ["real_pages"]

_FOLDERS = (Path("/usr/share/doc"), Path(sysconfig.get_path("stdlib")), Path(sysconfig.get_path("purelib")))
_MOST_BYTES = 60_000
_OF_ONE_FOLDER = 2


def real_pages(most: int) -> list[Path]:
    """At most so many pages, the same ones on each run, from as many folders as there are."""
    by_folder: dict[Path, list[Path]] = {}
    for page in _pages():
        by_folder.setdefault(page.parent, []).append(page)
    chosen = [page for pages in by_folder.values() for page in islice(sorted(pages, key=_shuffled), _OF_ONE_FOLDER)]
    return sorted(islice(sorted(chosen, key=_shuffled), most))


def _pages() -> Iterator[Path]:
    for folder in _FOLDERS:
        for page in folder.rglob("*.html"):
            if page.is_file() and 0 < page.stat().st_size <= _MOST_BYTES:
                yield page


def _shuffled(page: Path) -> bytes:
    return hashlib.sha256(str(page).encode()).digest()
