"""What the source says about the members of a class, in the string literal below each."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Iterable, Sequence

__all__ = ["cell", "first_paragraph", "of_members", "table"]


def of_members(owner: type) -> dict[str, str]:
    """The text below each assignment in the body of `owner`, by its name; what has none is not there."""
    (definition,) = ast.parse(textwrap.dedent(inspect.getsource(owner))).body
    assert isinstance(definition, ast.ClassDef)
    found: dict[str, str] = {}
    for member, below in zip(definition.body, definition.body[1:], strict=False):
        text = below.value.value if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant) else None
        if isinstance(text, str):
            found.update((name, inspect.cleandoc(text)) for name in _assigned(member))
    return found


def _assigned(statement: ast.stmt) -> list[str]:
    targets: Sequence[ast.expr] = ()
    if isinstance(statement, ast.AnnAssign):
        targets = (statement.target,)
    elif isinstance(statement, ast.Assign):
        targets = statement.targets
    return [target.id for target in targets if isinstance(target, ast.Name)]


def first_paragraph(text: str | None) -> str:
    """The first paragraph of a docstring, in one line."""
    return " ".join(inspect.cleandoc(text or "").split("\n\n")[0].split())


def cell(text: str) -> str:
    """A text as the cell of a Markdown table: one line, no bars."""
    return " ".join(text.split()).replace("|", "\\|")


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(map(cell, line))} |" for line in lines)
