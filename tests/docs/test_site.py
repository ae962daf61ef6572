"""The site is built by one command, without a warning."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MISSING = [name for name in ("sphinx", "myst_parser", "furo") if importlib.util.find_spec(name) is None]

pytestmark = [
    pytest.mark.skipif(bool(MISSING), reason="the site needs its extra: pip install -e '.[docs]'"),
    pytest.mark.timeout(600),  # building it takes seconds alone, and longer beside other work
]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built site."""
    place = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-d", str(place / "cache"), "docs"]
    done = subprocess.run([*command, str(place / "html")], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return place / "html"


def test_the_contents_are_those_of_the_index(site: Path) -> None:
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    captions = re.findall(r'<span class="caption-text">([^<]*)</span>', (site / "index.html").read_text("utf-8"))
    assert captions == re.findall(r"^## (.*)", index, re.MULTILINE)


def test_a_link_to_a_file_beside_the_pages_leads_to_a_page(site: Path) -> None:
    index = (site / "index.html").read_text(encoding="utf-8")
    assert 'href="site/readme.html"' in index
    assert 'href="site/changes.html"' in index
    assert 'href="../translate.html"' in (site / "site" / "readme.html").read_text(encoding="utf-8")


def test_no_link_leads_nowhere(site: Path) -> None:
    for page in site.rglob("*.html"):
        for target in re.findall(r'href="([^"#?:]+)[^":]*"', page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_a_page_needs_no_network(site: Path) -> None:
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        assert not re.search(r'<(?:script|img|link)[^>]*(?:src|href)="(?:https?:)?//', text), page.name


def test_the_diagrams_are_drawn(site: Path) -> None:
    page = (site / "states.html").read_text(encoding="utf-8")
    assert page.count('<svg class="state-diagram"') == 7
    assert "stateDiagram" not in page


def test_the_reference_has_the_promises_of_the_runtime(site: Path) -> None:
    page = (site / "site" / "api.html").read_text(encoding="utf-8")
    for method in ("register", "acknowledge", "translate", "record_call"):
        assert f'id="dragoman.Runtime.{method}"' in page
