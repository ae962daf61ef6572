"""Writing a file whole or not at all: to a temporary file beside it, then into its place."""

from __future__ import annotations

import contextlib
import os
import secrets
from pathlib import Path

__all__ = ["is_writable_place", "write_whole"]


def write_whole(path: Path, content: bytes) -> None:
    """Make `content` the file at `path`, durable on return; raises `OSError` and leaves there what was before.

    A link stays one, and a file that is replaced keeps its mode.
    """
    path = Path(os.path.realpath(path))
    temporary = path.with_name(f".{path.name[:100]}.{secrets.token_hex(4)}.tmp")
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(descriptor)
        with contextlib.suppress(FileNotFoundError):
            os.chmod(temporary, path.stat().st_mode & 0o7777)
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
    _make_durable(path.parent)


def _make_durable(folder: Path) -> None:
    """The name of a new file is durable once its folder is; where a system has no way to say so, it is when it is."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def is_writable_place(path: Path) -> str | None:
    """Why no file can be written at `path`, as far as can be seen now; None if it can."""
    if path.exists() and not path.is_file():
        return "is no regular file"
    folder = Path(os.path.realpath(path)).parent
    if not folder.is_dir():
        return "is in a folder that does not exist"
    probe = folder / f".dragoman.{secrets.token_hex(4)}.tmp"
    try:
        os.close(os.open(probe, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        os.unlink(probe)
    except OSError as error:
        return f"cannot be written: {error.strerror}"
    return None
