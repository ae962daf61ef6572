"""Imports run one way, and what must not be imported is not: read from the source (design 1 and 3)."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

PACKAGES = (
    *("dragoman", "dragoman.protocol", "dragoman.actors", "dragoman.scenarios"),
    *("dragoman.documents", "dragoman.metrics", "dragoman.pictures", "dragoman.providers", "dragoman.sharding"),
)

THIRD_PARTY = {
    "dragoman.protocol": {"attrs", "attr"},
    "dragoman.actors": {"attrs", "attr", "pykka", "loguru", "cachetools"},
    "dragoman": {"attrs", "attr", "loguru", "cyclopts", "rich", "langcodes"},
    "dragoman.documents": {"attrs", "attr", "justhtml", "markdown_it", "pysubs2"},
    "dragoman.metrics": {"attrs", "attr", "opentelemetry", "prometheus_client"},
    "dragoman.pictures": {"attrs", "attr"},
    "dragoman.providers": {"attrs", "attr", "llama_cpp", "numpy", "openai"},
    "dragoman.scenarios": {"attrs", "attr", "loguru", "yaml", "cattrs"},
    "dragoman.sharding": {"attrs", "attr"},
}
MAY_IMPORT = {
    "dragoman.protocol": {"dragoman.protocol"},
    "dragoman.actors": {"dragoman.protocol", "dragoman.actors"},
    "dragoman": {"dragoman.protocol", "dragoman.actors", "dragoman"},
    "dragoman.scenarios": {"dragoman.protocol", "dragoman.actors", "dragoman", "dragoman.scenarios"},
    "dragoman.documents": {"dragoman.protocol", "dragoman", "dragoman.documents"},
    "dragoman.metrics": {"dragoman.protocol", "dragoman.actors", "dragoman", "dragoman.metrics"},
    "dragoman.pictures": {"dragoman.protocol", "dragoman.actors", "dragoman.pictures"},
    "dragoman.providers": {"dragoman.protocol", "dragoman", "dragoman.providers"},
    "dragoman.sharding": {"dragoman.protocol", "dragoman.actors", "dragoman", "dragoman.sharding"},
}
COMMANDS = {"cli", "document_files", "exploring", "loading", "picturing", "terminal", "timelines", "translating"}
"""The modules of the command line: they alone import its libraries, scenarios, documents, pictures, providers."""
NEEDS_AN_EXTRA = {"langcodes", "llama_cpp", "numpy", "openai", "opentelemetry", "prometheus_client"}
"""Libraries of extras that are imported when they are needed, so that what does not need them does without."""
ONLY_IN_COMMANDS = {"cyclopts", "rich"}

CLOCKS_AND_CHANCE = {"time", "random", "secrets", "uuid", "threading"}
KERNEL = {
    *("futures", "mailbox", "dispatcher", "threads", "parking", "running", "interrupts", "simulation"),
    "measuring",
}
EDGES = {"io_loop", "history_file", "journal_file"}
TRACING = {"tracing"}
"""Which tells the threads apart that it traces."""
"""The modules that have a use for one of these, of the kernel and of the two edges that own a thread; no actor has."""


def folder_of(package: str) -> Path:
    spec = find_spec(package)
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent


def modules_of(package: str) -> list[Path]:
    return sorted(folder_of(package).glob("*.py"))


MODULES = [(package, path) for package in PACKAGES for path in modules_of(package)]

each_module = pytest.mark.parametrize(("package", "path"), MODULES, ids=[f"{pkg}.{path.stem}" for pkg, path in MODULES])


def imported(node: ast.AST, package: str) -> Iterator[str]:
    """The full names of the modules that an import statement names."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        base = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
        name = ".".join([*base, *([node.module] if node.module else [])])
        yield from ([name] if node.module else [f"{name}.{alias.name}" for alias in node.names])


def imports(package: str, path: Path) -> list[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return [name for node in ast.walk(tree) for name in imported(node, package)]


def package_of(module: str) -> str:
    """The package of ours that a module belongs to."""
    return next((package for package in PACKAGES[1:] if f"{module}.".startswith(f"{package}.")), "dragoman")


def first(name: str) -> str:
    return name.partition(".")[0]


@each_module
def test_imports_run_one_way(package: str, path: Path) -> None:
    ours = {package_of(name) for name in imports(package, path) if first(name) == "dragoman"}
    if package == "dragoman" and path.stem in COMMANDS:
        ours -= {"dragoman.scenarios", "dragoman.documents", "dragoman.pictures", "dragoman.providers"}
    assert ours <= MAY_IMPORT[package]


@each_module
def test_only_what_is_a_dependency_of_the_package_is_imported(package: str, path: Path) -> None:
    others = {first(name) for name in imports(package, path)} - sys.stdlib_module_names - {"dragoman"}
    allowed = THIRD_PARTY[package] - (set() if path.stem in COMMANDS else ONLY_IN_COMMANDS)
    assert others <= allowed


@each_module
def test_imports_inside_the_package_are_relative(package: str, path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    absolute = [node for node in ast.walk(tree) if not isinstance(node, ast.ImportFrom) or not node.level]
    assert not [name for node in absolute for name in imported(node, package) if first(name) == "dragoman"]


def at_module_level(statements: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements that run when a module is imported, what is for the type checker alone left out."""
    for statement in statements:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if isinstance(statement, ast.If) and ast.unparse(statement.test).endswith("TYPE_CHECKING"):
            yield from at_module_level(statement.orelse)
            continue
        yield statement
        for name in ("body", "orelse", "finalbody"):
            yield from at_module_level(getattr(statement, name, []))
        for handler in getattr(statement, "handlers", []):
            yield from at_module_level(handler.body)


@pytest.mark.parametrize("command", ["cli", "exploring", "loading", "timelines"])
def test_the_command_line_imports_the_scenarios_only_when_it_runs_them(command: str) -> None:
    path = folder_of("dragoman") / f"{command}.py"
    assert "dragoman.scenarios" in {package_of(name) for name in imports("dragoman", path)}
    tree = ast.parse(path.read_text(encoding="utf-8"))
    early = [name for node in at_module_level(tree.body) for name in imported(node, "dragoman")]
    assert "dragoman.scenarios" not in {package_of(name) for name in early if first(name) == "dragoman"}


@each_module
def test_what_an_extra_brings_is_imported_when_it_is_needed(package: str, path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    early = {first(name) for node in at_module_level(tree.body) for name in imported(node, package)}
    assert not early & NEEDS_AN_EXTRA


def test_no_clock_no_chance_and_no_thread_in_the_protocol() -> None:
    for path in modules_of("dragoman.protocol"):
        assert not CLOCKS_AND_CHANCE & {first(name) for name in imports("dragoman.protocol", path)}, path.name


def test_no_clock_no_chance_and_no_thread_in_an_actor_outside_of_the_kernel() -> None:
    found = {path.stem for path in modules_of("dragoman.actors")}
    assert found >= KERNEL | EDGES | TRACING
    for path in modules_of("dragoman.actors"):
        if path.stem not in KERNEL | EDGES | TRACING:
            assert not CLOCKS_AND_CHANCE & {first(name) for name in imports("dragoman.actors", path)}, path.name


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("import time", ["time"]),
        ("import os.path as p, time", ["os.path", "time"]),
        ("from ..protocol.errors import X", ["dragoman.protocol.errors"]),
        ("from ..protocol import errors", ["dragoman.protocol"]),
        ("from .mailbox import X", ["dragoman.actors.mailbox"]),
        ("from . import interrupts", ["dragoman.actors.interrupts"]),
        ("from .. import runtime", ["dragoman.runtime"]),
        ("def f():\n    from ..runtime import X", ["dragoman.runtime"]),
    ],
)
def test_this_reading_of_imports_finds_them_all(source: str, expected: list[str]) -> None:
    assert [name for node in ast.walk(ast.parse(source)) for name in imported(node, "dragoman.actors")] == expected
