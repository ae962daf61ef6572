"""The examples of the documentation run as they stand and print what their comments say."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parent.parent / "docs"
PAGES = sorted(DOCS.glob("*.md"))


def examples() -> list[tuple[str, str]]:
    found = []
    for page in PAGES:
        blocks = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
        found += [(f"{page.stem}-{number}", block) for number, block in enumerate(blocks)]
    return found


def said(code: str) -> list[str]:
    """What the comments beside the prints say that they print, and those below that begin with a digit or an arrow."""
    lines: list[str] = []
    for line in code.splitlines():
        beside = re.search(r"print\(.*\)  # (.*)$", line)
        below = re.fullmatch(r"    # (\d .*)|\s*# → (.*)", line)
        if beside:
            lines.append(beside[1])
        elif below:
            lines.append(below[1] or below[2])
    return lines


@pytest.mark.parametrize("code", [code for _name, code in examples()], ids=[name for name, _code in examples()])
def test_an_example_prints_what_its_comments_say(code: str, capsys: pytest.CaptureFixture[str]) -> None:
    exec(compile(code, "docs", "exec"), {})
    assert capsys.readouterr().out.splitlines() == said(code)


def test_every_page_is_in_the_index() -> None:
    index = (DOCS / "index.md").read_text(encoding="utf-8")
    for page in PAGES:
        assert page.name == "index.md" or f"({page.name})" in index


def test_every_link_leads_somewhere() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), target
