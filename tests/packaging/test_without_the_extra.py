"""The command where its extra is not installed: one line that says what to install."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

EXTRA = ("yaml", "cattrs", "cyclopts", "rich")

AS_IF_MISSING = """
import runpy, sys
sys.modules.update(dict.fromkeys({missing!r}))
sys.argv = ["dragoman", "replay"]
runpy.run_module("dragoman", run_name="__main__")
"""


def without(missing: tuple[str, ...], folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the command in an interpreter in which the modules `missing` cannot be found."""
    return subprocess.run(
        [sys.executable, "-c", AS_IF_MISSING.format(missing=missing)],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


@pytest.mark.parametrize("missing", [EXTRA, *((name,) for name in EXTRA)], ids="-".join)
def test_the_command_says_in_one_line_what_to_install(tmp_path: Path, missing: tuple[str, ...]) -> None:
    done = without(missing, tmp_path)
    assert done.returncode != 0
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    assert "pip install" in line
    assert "dragoman[cli]" in line


def test_the_package_itself_does_not_need_the_extra(tmp_path: Path) -> None:
    code = f"""
import sys
sys.modules.update(dict.fromkeys({EXTRA!r}))
from dragoman import Handoff, Parent, Runtime
with Runtime() as runtime:
    runtime.register(Handoff("r1", "s1", "openai", "select-element", (Parent("p1", 0, "Hello"),))).get()
    print(runtime.acknowledge("r1", "p1", "Hallo").get().committed)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.stdout, done.stderr) == ("('p1',)\n", "")
