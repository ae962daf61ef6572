"""The verdict and the product share nothing: read from the source."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

from ..packaging.test_imports import folder_of, imported

MODULES = sorted(folder_of("dragoman.scenarios").glob("verdict*.py"))


def imports(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {name for node in ast.walk(tree) for name in imported(node, "dragoman.scenarios")}


def test_the_modules_of_the_verdict_are_found() -> None:
    assert {"verdict", "verdict_spec", "verdict_search"} <= {path.stem for path in MODULES}


@pytest.mark.parametrize("path", MODULES, ids=[path.stem for path in MODULES])
def test_the_verdict_imports_nothing_of_the_product(path: Path) -> None:
    ours = {name for name in imports(path) if name.partition(".")[0] == "dragoman"}
    assert all(name.startswith("dragoman.scenarios.verdict") for name in ours), ours
    others = {name.partition(".")[0] for name in imports(path)} - {"dragoman"}
    assert others - sys.stdlib_module_names <= {"attrs"}
    assert not others & {"importlib", "inspect", "gc"}
