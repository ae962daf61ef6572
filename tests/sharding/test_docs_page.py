"""The example of the page about Ray runs as it stands, on a cluster, and prints what its comments say."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "ray.md"


@pytest.mark.usefixtures("cluster")
def test_the_example_prints_what_its_comments_say(capsys: pytest.CaptureFixture[str]) -> None:
    (code,) = re.findall(r"```python ray\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    exec(compile(code, "docs", "exec"), {})
    said = [line.partition("  # ")[2] for line in code.splitlines() if "  # " in line]
    assert capsys.readouterr().out.splitlines() == said == ["REGISTERED", "('p1',)"]
