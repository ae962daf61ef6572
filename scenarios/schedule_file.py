"""A schedule as a file: which scenario, which seed, which choices, and what they lead to. No text of the scenario.

Rules. A JSON object with exactly the keys below. `scenario` is the way to the scenario's file from the folder of this
one, with `/`; `sha256` is the digest of that file, so that a schedule is never taken for one of a scenario that has
changed. `order` is the digest of the run.
"""

from __future__ import annotations

import json
import os
import stat
from hashlib import sha256
from pathlib import Path
from typing import Any

import attrs

from ..protocol.errors import DragomanError
from .judging import Kind

__all__ = ["InvalidSchedule", "SavedSchedule", "file_digest", "load_schedule", "place_refused", "save_schedule"]

_VERSION = 1
_KEYS = {"version": int, "scenario": str, "sha256": str, "seed": int, "tape": list, "kind": str, "order": str}
_MAX_BYTES = 10_000_000


class InvalidSchedule(DragomanError):
    """A file that is no schedule."""

    fields = ("reason",)

    def __init__(self, reason: str) -> None:
        super().__init__(f"not a schedule: {reason}")
        self.reason = reason


@attrs.frozen
class SavedSchedule:
    """What such a file holds. `kind` is what was wrong with the run."""

    scenario: str
    sha256: str
    seed: int
    tape: tuple[int, ...]
    kind: Kind
    order: str

    def scenario_beside(self, file: Path) -> Path:
        """Where the scenario is, if this was read from `file`."""
        return Path(os.path.normpath(file.parent / self.scenario))


def file_digest(path: Path) -> str:
    """The digest of a scenario's file."""
    return sha256(path.read_bytes()).hexdigest()


def place_refused(file: Path) -> str | None:
    """Why no schedule may be written there; None if nothing is known against it.

    What is there already may be replaced if it is a schedule. Whether the folder may be written to is told by writing.
    """
    try:
        mode = file.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return None if file.parent.is_dir() else "it is in a folder that does not exist"
    except (OSError, ValueError) as error:
        return f"it cannot be looked at: {getattr(error, 'strerror', None) or error}"
    if stat.S_ISDIR(mode):
        return "it is a folder"
    if not stat.S_ISREG(mode):
        return "it exists and is no file"
    try:
        load_schedule(file)
    except OSError as error:
        return f"it exists and cannot be read: {error.strerror or type(error).__name__}"
    except InvalidSchedule as error:
        return f"it exists and is {error}"
    return None


def save_schedule(
    file: Path, scenario: Path, *, digest: str, seed: int, tape: tuple[int, ...], kind: Kind, order: str
) -> None:
    """Write a schedule of the scenario in the file `scenario`, whose digest is `digest`."""
    try:
        way = Path(os.path.relpath(scenario, file.parent)).as_posix()
    except ValueError:  # on another drive, to which no way leads
        way = scenario.absolute().as_posix()
    saved = SavedSchedule(way, digest, seed, tape, kind, order)
    file.write_text(json.dumps({"version": _VERSION, **attrs.asdict(saved)}, indent=2) + "\n", encoding="utf-8")


def load_schedule(file: Path) -> SavedSchedule:
    """Read a schedule; raises `InvalidSchedule`, or `OSError` if the file cannot be read."""
    with file.open("rb") as opened:
        body = opened.read(_MAX_BYTES + 1)
    if len(body) > _MAX_BYTES:
        raise InvalidSchedule("it is too large")
    try:
        found: Any = json.loads(body)
    except (ValueError, RecursionError):
        raise InvalidSchedule("it is not JSON") from None
    if not isinstance(found, dict):
        raise InvalidSchedule("it is not a JSON object")
    for key, wanted in _KEYS.items():
        if key not in found:
            raise InvalidSchedule(f"it lacks the key {key}")
        if not isinstance(found[key], wanted) or isinstance(found[key], bool):
            raise InvalidSchedule(f"{key} must be of the type {wanted.__name__}")
    unknown = sorted(found.keys() - _KEYS.keys())
    if unknown:
        raise InvalidSchedule(f"it has {len(unknown)} keys too many")
    if found["version"] != _VERSION:
        raise InvalidSchedule(f"version must be {_VERSION}")
    if not _names_a_file(found["scenario"]):
        raise InvalidSchedule("scenario must be the way to a file")
    tape = found["tape"]
    if not all(isinstance(choice, int) and not isinstance(choice, bool) and choice >= 0 for choice in tape):
        raise InvalidSchedule("tape must be a list of whole numbers of at least 0")
    if found["kind"] not in set(Kind):
        raise InvalidSchedule(f"kind must be one of {', '.join(Kind)}")
    return SavedSchedule(
        found["scenario"], found["sha256"], found["seed"], tuple(tape), Kind(found["kind"]), found["order"]
    )


def _names_a_file(way: str) -> bool:
    """Whether the file system could have such a file at all."""
    try:
        return bool(way) and b"\0" not in os.fsencode(way)
    except UnicodeEncodeError:
        return False
