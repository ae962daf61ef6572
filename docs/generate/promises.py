"""What each part does not promise, collected from the docstrings of the modules into the page of the guarantees."""

from __future__ import annotations

import ast
import re
from pathlib import Path

__all__ = ["filled_in", "not_promised"]

_ROOT = Path(__file__).resolve().parent.parent.parent
_FOLDERS = ("actors", "protocol", "dragoman")
_SAID = re.compile(r"^(?:What is n|N)ot promised: (.*?)(?:\n\n|\Z)", re.DOTALL | re.MULTILINE)
_BEGIN = "<!-- Made by `python -m docs.generate` from the docstrings of the modules. -->\n"
_END = "<!-- The end of what is made. -->\n"


def not_promised() -> dict[str, str]:
    """What each module says that it does not promise, by its path."""
    found: dict[str, str] = {}
    for folder in _FOLDERS:
        for file in sorted((_ROOT / folder).glob("*.py")):
            said = _SAID.search(ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or "")
            if said:
                found[file.relative_to(_ROOT).as_posix()] = " ".join(said[1].split())
    return found


def filled_in(text: str) -> str:
    """The page with the list between its two marks as it should be; `ValueError` if they are not there."""
    before, begin, rest = text.partition(_BEGIN)
    _old, end, after = rest.partition(_END)
    if not begin or not end:
        raise ValueError("the page has lost the marks around what is made")
    entries = "".join(f"- `{file}`: {said}\n" for file, said in not_promised().items())
    return f"{before}{begin}\n{entries}\n{end}{after}"
