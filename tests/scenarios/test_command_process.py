"""The command as a process of its own: `python -m dragoman`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

GOOD = "scenario: gut gegrüßt\ntimeline:\n  - {at: 1s, activate: r1, expect: UNKNOWN_REQUEST}\n"


def dragoman(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """Run the command in `folder`."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "FORCE_", "COLUMNS"))}
    return subprocess.run(
        [sys.executable, "-m", "dragoman", *arguments],
        cwd=folder,
        env={**clean, **environment},
        capture_output=True,
        check=False,
        timeout=60,
    )


def test_the_command_replays_files_and_exits_with_its_status(tmp_path: Path) -> None:
    (tmp_path / "good.yaml").write_text(GOOD, encoding="utf-8")
    (tmp_path / "invalid.yaml").write_text("scenario: x\n", encoding="utf-8")
    done = dragoman(tmp_path, "replay", "good.yaml", "invalid.yaml", "--json", PYTHONUTF8="1")
    assert done.returncode == 2
    assert done.stderr == b""
    good, invalid = json.loads(done.stdout.decode())
    assert (good["scenario"], good["passed"]) == ("gut gegrüßt", True)
    assert invalid["invalid"] == "invalid.yaml:1:1: a scenario lacks the key timeline"


def test_an_output_that_knows_ascii_only_gets_the_whole_answer_all_the_same(tmp_path: Path) -> None:
    (tmp_path / "good.yaml").write_text(GOOD, encoding="utf-8")
    done = dragoman(tmp_path, "replay", "good.yaml", "--json", PYTHONIOENCODING="ascii")
    assert done.returncode == 0
    assert json.loads(done.stdout.decode())[0]["passed"]
