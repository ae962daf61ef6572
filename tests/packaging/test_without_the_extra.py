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


def isolated(folder: Path, missing: tuple[str, ...], code: str) -> subprocess.CompletedProcess[str]:
    prelude = f"import sys\nsys.modules.update(dict.fromkeys({missing!r}))\n"
    return subprocess.run(
        [sys.executable, "-c", prelude + code], cwd=folder, capture_output=True, text=True, check=False, timeout=60
    )


@pytest.mark.parametrize("missing", ["pysubs2", "markdown_it"])
def test_documents_say_what_to_install(tmp_path: Path, missing: str) -> None:
    tried = "try:\n    import dragoman.documents\nexcept MissingExtra as error:\n    print(error)"
    code = f"from dragoman import MissingExtra\n{tried}"
    done = isolated(tmp_path, (missing,), code)
    assert (done.stdout, done.stderr) == ("dragoman.documents needs its extra: pip install 'dragoman[documents]'\n", "")
    done = isolated(
        tmp_path,
        (missing,),
        "from dragoman.cli import run\nsys.exit(run(['translate', 'x.html', '--to', 'de', '--model', 'm']))",
    )
    assert done.returncode == 2
    assert done.stderr == "dragoman: dragoman.documents needs its extra: pip install 'dragoman[documents]'\n"


@pytest.mark.parametrize(
    ("missing", "made", "extra"),
    [("openai", "OpenAIProvider('m', keys='k')", "openai"), ("llama_cpp", "LocalProvider()", "local")],
)
def test_a_provider_says_what_to_install_when_it_is_made(tmp_path: Path, missing: str, made: str, extra: str) -> None:
    code = f"from dragoman.providers import *\ntry:\n    {made}\nexcept MissingExtra as error:\n    print(error.extra)"
    done = isolated(tmp_path, (missing, "pysubs2", "langcodes"), code)
    assert (done.stdout, done.stderr) == (f"{extra}\n", "")


@pytest.mark.parametrize(
    ("missing", "made", "extra"),
    [
        ("prometheus_client", "PrometheusCollector(runtime)", "prometheus"),
        ("opentelemetry", "OpenTelemetryMetrics(runtime)", "opentelemetry"),
        ("opentelemetry", "Tracing(runtime)", "opentelemetry"),
    ],
)
def test_an_exporter_says_what_to_install_when_it_is_made(tmp_path: Path, missing: str, made: str, extra: str) -> None:
    code = (
        "from dragoman import Runtime\nfrom dragoman.metrics import *\nwith Runtime() as runtime:\n"
        f"    try:\n        {made}\n    except MissingExtra as error:\n        print(error.extra)\n"
        "    print(runtime.statistics().get().acceptance.registered)"
    )
    done = isolated(tmp_path, (missing,), code)
    assert (done.stdout, done.stderr) == (f"{extra}\n0\n", "")


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
